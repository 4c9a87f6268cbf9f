"""newscrawl mentions: how often companies were in the news."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from newscrawl.cli.arguments import (
    CompaniesOption,
    DatabaseOption,
    Format,
    FormatOption,
    InputError,
    LanguageOption,
    SinceOption,
    SourceOption,
    UntilOption,
    companies_from,
    company_of,
    open_for_reading,
    scope_of,
)

if TYPE_CHECKING:
    from newscrawl.storage.queries import CompanyCount, MentionCount, Reach, Scope

Grouping = Literal["company", "day", "week", "month", "source", "language"]

CompanyOption = Annotated[
    str | None,
    typer.Option("--company", "-c", help="A company's name or alias; else all.", metavar="NAME"),
]
ByOption = Annotated[
    Grouping | None,
    typer.Option(
        help="A row for each company, day, week, month, source or language; else for each day, "
        "or without --company for each company.",
        metavar="WHAT",
    ),
]

_HEADINGS = {"week": "week of"}

EXAMPLE = "Example: newscrawl mentions --company Siemens --since 30d --by week"


def mentions(
    company: CompanyOption = None,
    by: ByOption = None,
    since: SinceOption = None,
    until: UntilOption = None,
    source: SourceOption = None,
    language: LanguageOption = None,
    limit: Annotated[
        int | None, typer.Option(min=1, help="So many companies, the most mentioned first.")
    ] = None,
    form: FormatOption = "table",
    database: DatabaseOption = None,
    companies: CompaniesOption = None,
) -> None:
    """Count mentions of companies, by company, day, week, month, source or language.

    An article counts for the UTC day it was published. "headline" and "body" count
    occurrences, "articles" the articles they stand in; "teaser" are those of the articles
    that show only headline and standfirst (paywall, robots.txt). Where nobody looked there is
    no 0 but "no coverage": empty in CSV, null in JSON.

    Exit code 1 where nothing was found.
    """
    from newscrawl.storage import queries

    by = by or ("day" if company else "company")
    if limit is not None and by != "company":
        raise InputError(f"--limit goes with --by company, not with --by {by}")
    with open_for_reading(database) as store:
        if company is not None:
            company = company_of(company, companies_from(companies), queries.company_names(store))
        scope = scope_of(store, since, until, source, language)
        reach = queries.reach(store, scope=scope)
        if by == "company":
            ranked = queries.company_ranking(store, scope=scope)
            chosen = [row for row in ranked if company in {None, row.company}]
            found = _show_ranking(chosen[:limit], form, _span(scope), reach)
        else:
            counts = queries.mention_counts(store, by, company=company, scope=scope)
            title = f"{company or 'All companies'} by {by}{_span(scope)}"
            found = _show_counts(counts, by, form, title, reach)
    if not found:
        _say_nothing(company, reach)
        raise typer.Exit(1)


def _show_ranking(rows: "Sequence[CompanyCount]", form: Format, span: str, reach: "Reach") -> int:
    from newscrawl.cli.output import Column, render

    columns = (
        Column(key="company", heading="company", wide=True),
        Column(key="articles", heading="articles", number=True),
        Column(key="headline", heading="headline", number=True),
        Column(key="body", heading="body", number=True),
        Column(key="teaser", heading="teaser", number=True),
        Column(key="sources", heading="sources", number=True),
    )
    records = [
        {
            "company": row.company,
            "articles": row.hits.articles,
            "headline": row.hits.in_title,
            "body": row.hits.in_body,
            "teaser": row.hits.limited,
            "sources": row.sources,
        }
        for row in rows
    ]
    title = f"Companies in the news{span}"
    render(records, columns, form, title=title, note=_foundation(reach))
    return len(records)


def _show_counts(
    rows: "Sequence[MentionCount]", by: str, form: Format, title: str, reach: "Reach"
) -> int:
    from newscrawl.cli.output import Column, level, render

    columns = (
        Column(key=by, heading=_HEADINGS.get(by, by), show=_key, wide=by in {"source", "language"}),
        Column(key="articles", heading="articles", number=True),
        Column(key="headline", heading="headline", number=True),
        Column(key="body", heading="body", number=True),
        Column(key="teaser", heading="teaser", number=True),
        Column(key="read", heading="read", number=True),
        Column(key="coverage", heading="coverage", show=level),
        Column(key="covered", heading="covered", table=False),
        Column(key="expected", heading="expected", table=False),
    )
    records = [_record(by, row) for row in rows]
    if form == "table":
        records = _gaps_drawn_together(by, records)
    render(records, columns, form, title=title, note=_foundation(reach))
    return sum(row.hits.articles for row in rows if row.hits)


def _record(by: str, row: "MentionCount") -> dict[str, object]:
    return {
        by: row.key,
        "articles": row.hits and row.hits.articles,
        "headline": row.hits and row.hits.in_title,
        "body": row.hits and row.hits.in_body,
        "teaser": row.hits and row.hits.limited,
        "read": row.reach.read,
        "coverage": row.reach.level,
        "covered": row.reach.covered,
        "expected": row.reach.expected,
    }


def _gaps_drawn_together(by: str, records: list[dict[str, object]]) -> list[dict[str, object]]:
    """The rows of a series, with each run of three or more periods without coverage as one."""
    if by not in {"day", "week", "month"}:
        return records
    drawn: list[dict[str, object]] = []
    gap: list[dict[str, object]] = []
    for record in [*records, None]:
        if record is not None and record["coverage"] == "none":
            gap.append(record)
            continue
        drawn += gap if len(gap) < 3 else [{**gap[0], by: (gap[0][by], "to", gap[-1][by])}]
        gap = []
        if record is not None:
            drawn.append(record)
    return drawn


def _key(value: object) -> str:
    return "{} {}\n{}".format(*value) if isinstance(value, tuple) else str(value)


def _span(scope: "Scope") -> str:
    if scope.since is None and scope.until is None:
        return ""
    if scope.since is None:
        return f", until {scope.until}"
    return f", {scope.since} to {scope.until or 'today'}"


def _foundation(reach: "Reach") -> str:
    text = f"Articles read: {reach.read:,}. Days of sources covered: {reach.covered:,} of "
    text += f"{reach.expected:,}."
    return text + (f" Days before any crawl: {reach.unwatched:,}." if reach.unwatched else "")


def _say_nothing(company: str | None, reach: "Reach") -> None:
    from newscrawl.cli.output import say

    whom = company or "any company"
    if reach.level == "none":
        say(f"No coverage: nothing was crawled there, so nothing is known of {whom}.")
    else:
        say(f"No mention of {whom} in {reach.read:,} articles (coverage: {reach.level}).")
