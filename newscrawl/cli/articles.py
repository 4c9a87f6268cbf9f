"""newscrawl articles: the articles behind the numbers."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from newscrawl.cli.arguments import (
    CompaniesOption,
    CountryOption,
    DatabaseOption,
    ExportFormat,
    ExportOption,
    InputError,
    LanguageOption,
    SectionOption,
    SinceOption,
    SourceOption,
    UntilOption,
    ZoneOption,
    companies_from,
    company_of,
    open_for_reading,
    refuse_options,
    scope_of,
)

if TYPE_CHECKING:
    from rich.text import Text

    from newscrawl.storage.queries import ArticleRow

EXAMPLE = "Example: newscrawl articles --company Siemens --since 7d --format csv"


# What chooses articles by their mentions.
_NOT_QUARANTINED = ("company", "companies", "every_kind", "sentences")


def articles(
    context: typer.Context,
    company: Annotated[
        str | None,
        typer.Option(
            "--company", "-c", help="Only articles that mention this company.", metavar="NAME"
        ),
    ] = None,
    since: SinceOption = None,
    until: UntilOption = None,
    zone: ZoneOption = "UTC",
    source: SourceOption = None,
    country: CountryOption = None,
    language: LanguageOption = None,
    section: SectionOption = None,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, help="So many, at most.")] = 20,
    every_kind: Annotated[
        bool, typer.Option("--all-kinds", help="Also stored pages that are no articles.")
    ] = False,
    sentences: Annotated[
        bool, typer.Option("--sentences", help="With --company: show the sentences that name it.")
    ] = False,
    quarantined: Annotated[
        bool,
        typer.Option(
            "--quarantined",
            help="Only articles of which a revisit brought a worse version, which was not applied.",
        ),
    ] = False,
    form: ExportOption = "table",
    database: DatabaseOption = None,
    companies: CompaniesOption = None,
) -> None:
    """List stored articles, the newest first, with the companies they mention.

    With --quarantined, list what is in the quarantine instead: `newscrawl revisions apply` or
    `discard` takes the numbers of the first column.

    Exit code 1 where there is none.
    """
    if quarantined:
        refuse_options(context, _NOT_QUARANTINED, "has no meaning with --quarantined")
    from newscrawl.cli.found import show_found
    from newscrawl.cli.output import say
    from newscrawl.storage import queries

    if sentences and company is None:
        raise InputError("--sentences are those that name a company: add --company NAME")
    with open_for_reading(database) as store:
        scope = scope_of(
            store, since, until, source, language, country=country, section=section, zone=zone
        )
        if company is not None:
            company = company_of(company, companies_from(companies), queries.company_names(store))
        if quarantined:
            from newscrawl.cli.quarantined import show_quarantined

            show_quarantined(store, scope, limit, form)
            return
        title = f"Articles that mention {company}" if company else "Articles"
        if sentences and company:
            found = queries.company_articles(store, company, scope=scope, limit=limit)
            show_found(found, form, title)
        else:
            rows = queries.articles(
                store, company=company, scope=scope, limit=limit, every_kind=every_kind
            )
            _show(rows, form, title)
    if not (found if sentences else rows):
        say("No such article.")
        raise typer.Exit(1)


def _show(rows: "Sequence[ArticleRow]", form: ExportFormat, title: str) -> None:
    from newscrawl.cli.output import Column, render

    columns = (
        Column(key="day", heading="day"),
        Column(key="source", heading="source", table=False),
        Column(key="article", heading="article", wide=True),
        Column(key="headline", heading="head", number=True),
        Column(key="body", heading="body", number=True),
        *(
            Column(key=key, heading=key, table=False)
            for key in (
                "url",
                "title",
                "published_at",
                "language",
                "access",
                "kind",
                "revision",
                "companies",
            )
        ),
    )
    if form != "table":
        columns = tuple(column for column in columns if column.key != "article")
    render([_record(row) for row in rows], columns, form, title=title)


def _record(row: "ArticleRow") -> dict[str, object]:
    return {
        "day": row.day,
        "source": row.source,
        "article": _entry(row),
        "headline": row.in_title,
        "body": row.in_body,
        "url": row.url,
        "title": row.title,
        "published_at": row.published_at,
        "language": row.language,
        "access": row.access,
        "kind": row.kind,
        "revision": row.revision,
        "companies": row.companies,
    }


def _entry(row: "ArticleRow") -> "Text":
    """Headline, then source, companies and what is odd about the article, then its address."""
    from rich.text import Text

    from newscrawl.cli.output import printable

    odd = row.kind if row.access == "open" else f"{row.access}: headline and standfirst"
    facts = [
        row.source,
        row.language,
        odd if odd != "article" else None,
        f"version {row.revision}" if row.revision > 1 else None,
        ", ".join(row.companies),
    ]
    return Text.assemble(
        (printable(row.title or "(no headline)"), "bold"),
        "\n",
        printable(" · ".join(filter(None, facts))),
        "\n",
        (printable(row.url), "dim"),
    )
