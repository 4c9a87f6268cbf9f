"""newscrawl mentions: how often companies were in the news."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Literal

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
    scope_of,
)

if TYPE_CHECKING:
    from newscrawl.mentions import Companies
    from newscrawl.storage import Database
    from newscrawl.storage.queries import By, CompanyCount, Completeness, MentionCount, Scope

Grouping = Literal[
    "company",
    "hour",
    "day",
    "week",
    "month",
    "quarter",
    "year",
    "source",
    "country",
    "language",
    "section",
]
Measure = Literal["articles", "mentions", "stories"]

CompanyOption = Annotated[
    str | None,
    typer.Option("--company", "-c", help="A company's name or alias; else all.", metavar="NAME"),
]
ByOption = Annotated[
    Grouping | None,
    typer.Option(
        help="A row for each company, hour, day, week, month, quarter, year, source, country, "
        "language or section; else for each day, or without --company for each company.",
        metavar="WHAT",
    ),
]
ShareOption = Annotated[
    list[str] | None,
    typer.Option(
        "--share",
        help="Share of voice: each of these companies against all of them; give it twice or more.",
        metavar="NAME",
    ),
]
MeasureOption = Annotated[
    Measure, typer.Option(help="What shares are of: articles, mentions or stories.", metavar="WHAT")
]

_PERIODS = {"hour", "day", "week", "month", "quarter", "year"}
_MOST_DAYS_OF_HOURS = 3660  # ours: ten years are some ten seconds
_HEADINGS = {"week": "week of"}
_HOUR = re.compile(r"(\d{4}-\d\d-\d\d)T(\d\d:\d\d)\S*")

EXAMPLE = "Example: newscrawl mentions --company Siemens --since 30d --by week"


def mentions(
    company: CompanyOption = None,
    by: ByOption = None,
    stories: Annotated[
        bool, typer.Option("--stories", help="Also count stories: near copies count once.")
    ] = False,
    share: ShareOption = None,
    measure: MeasureOption = "articles",
    together: Annotated[
        bool, typer.Option("--with", help="The companies named in the same articles.")
    ] = False,
    since: SinceOption = None,
    until: UntilOption = None,
    zone: ZoneOption = "UTC",
    source: SourceOption = None,
    country: CountryOption = None,
    language: LanguageOption = None,
    section: SectionOption = None,
    limit: Annotated[
        int | None, typer.Option(min=1, help="So many companies, the most mentioned first.")
    ] = None,
    form: ExportOption = "table",
    database: DatabaseOption = None,
    companies: CompaniesOption = None,
) -> None:
    """Count mentions of companies: over time, by source, country, language, section or company.

    An article counts for the moment it was published. "headline" and "body" count
    occurrences, "articles" the articles they stand in; "teaser" are those of the articles
    that show only headline and standfirst (paywall, robots.txt). Where nobody looked there is
    no 0 but "no coverage": empty in CSV, null in JSON.

    Exit code 1 where nothing was found.
    """
    from newscrawl.cli.comparing import show_companions, show_shares

    _check(company=company, share=share or [], together=together, by=by, limit=limit)
    with open_for_reading(database) as store:
        given = [*(share or []), *([company] if company is not None else [])]
        names = _names(given, companies, store)
        scope = scope_of(
            store, since, until, source, language, country=country, section=section, zone=zone
        )
        if by == "hour":
            _check_hours(scope)
        if share:
            kind = None if by == "company" else by
            found = show_shares(store, names, kind, measure, scope, form)
        elif together:
            found = show_companions(store, names[0], scope, limit or 20, form)
        else:
            asked = _Asked(names[0] if names else None, stories, limit)
            found = _count(store, asked, by, scope, form)
    if not found:
        raise typer.Exit(1)


def span(scope: "Scope") -> str:
    """The scope's days, as a title goes on."""
    zone = "" if scope.zone == "UTC" else f" ({scope.zone})"
    if scope.since is None and scope.until is None:
        return zone
    if scope.since is None:
        return f", until {scope.until}{zone}"
    return f", {scope.since} to {scope.until or 'today'}{zone}"


def foundation(reach: "Completeness") -> str:
    """What counts rest on, as a note under a table."""
    text = f"Articles read: {reach.read:,}. Source-days read: {reach.covered:,} of "
    text += f"{reach.expected:,}."
    if reach.unwatched:
        days = "The first day lies" if reach.unwatched == 1 else f"{reach.unwatched:,} days lie"
        text += f" {days} before the first crawl."
    return text


def say_nothing(whom: str, reach: "Completeness") -> None:
    """Tells "no mention" from "no coverage"."""
    from newscrawl.cli.output import say

    if reach.level == "none":
        say(f"No coverage: nothing was crawled there, so nothing is known of {whom}.")
    else:
        say(f"No mention of {whom} in {reach.read:,} articles (coverage: {reach.level}).")


@dataclass(frozen=True, slots=True)
class _Asked:
    company: str | None
    stories: bool
    limit: int | None


def _check(
    *,
    company: str | None,
    share: Sequence[str],
    together: bool,
    by: Grouping | None,
    limit: int | None,
) -> None:
    """Raises InputError for options that don't go together."""
    if share and (company or together):
        raise InputError("--share names the companies itself: leave --company and --with out")
    if len(share) == 1:
        raise InputError("--share needs two companies or more: --share Siemens --share Bosch")
    if together and not company:
        raise InputError("--with needs a company: add --company NAME")
    if together and by:
        raise InputError(f"--with lists companies: leave --by {by} out")
    if limit is not None and not together and (share or (by or "company") != "company"):
        raise InputError(
            f"--limit goes with --by company, not with {'--share' if share else f'--by {by}'}"
        )


def _check_hours(scope: "Scope") -> None:
    last = scope.until or (scope.now or datetime.now(UTC)).date()
    if scope.since and (last - scope.since).days > _MOST_DAYS_OF_HOURS:
        raise InputError(
            f"--by hour would give {24 * ((last - scope.since).days + 1):,} rows: ask for "
            f"{_MOST_DAYS_OF_HOURS:,} days at most, or --by day"
        )


def _names(given: Sequence[str], file: "CompaniesOption", store: "Database") -> list[str]:
    """The names in the registry or the database that are meant."""
    from newscrawl.storage import queries

    # A file that was named is read even if nothing is asked of it: a fault in it must be told.
    if not given and file is None:
        return []
    registry: Companies = companies_from(file)
    stored = queries.company_names(store)
    return [company_of(name, registry, stored) for name in given]


def _count(
    store: "Database", asked: _Asked, by: Grouping | None, scope: "Scope", form: ExportFormat
) -> bool:
    from newscrawl.storage import queries

    company = asked.company
    by = by or ("day" if company else "company")
    reach = queries.completeness(store, scope=scope)
    boilerplate = queries.boilerplate(store, company=company, scope=scope)
    note = foundation(reach)
    if boilerplate.mentions:
        note += f" Not counted, in menus and teasers: {boilerplate.mentions:,}."
    if by == "company":
        ranked = queries.company_ranking(store, scope=scope, stories=asked.stories)
        chosen = [row for row in ranked if company in {None, row.company}]
        title = f"Companies in the news{span(scope)}"
        found = _show_ranking(chosen[: asked.limit], form, title, note)
    else:
        counts = queries.mention_counts(
            store, by, company=company, scope=scope, stories=asked.stories
        )
        title = f"{company or 'All companies'} by {by}{span(scope)}"
        found = _show_counts(counts, by, form, title, note)
    if not found:
        say_nothing(company or "any company", reach)
    return found > 0


def _show_ranking(rows: "Sequence[CompanyCount]", form: ExportFormat, title: str, note: str) -> int:
    from newscrawl.cli.output import Column, render

    stories = any(row.hits.stories is not None for row in rows)
    columns = (
        Column(key="company", heading="company", wide=True),
        Column(key="articles", heading="articles", number=True),
        *((Column(key="stories", heading="stories", number=True),) if stories else ()),
        Column(key="headline", heading="headline", number=True),
        Column(key="body", heading="body", number=True),
        Column(key="teaser", heading="teaser", number=True),
        Column(key="sources", heading="sources", number=True),
    )
    records = [
        {
            "company": row.company,
            "articles": row.hits.articles,
            "stories": row.hits.stories,
            "headline": row.hits.in_title,
            "body": row.hits.in_body,
            "teaser": row.hits.limited,
            "sources": row.sources,
        }
        for row in rows
    ]
    render(records, columns, form, title=title, note=note)
    return len(records)


def _show_counts(
    rows: "Sequence[MentionCount]", by: "By", form: ExportFormat, title: str, note: str
) -> int:
    from newscrawl.cli.output import Column, level, render

    stories = any(row.hits and row.hits.stories is not None for row in rows)
    columns = (
        Column(key=by, heading=_HEADINGS.get(by, by), show=_key, wide=by not in _PERIODS),
        Column(key="articles", heading="articles", number=True),
        *((Column(key="stories", heading="stories", number=True),) if stories else ()),
        Column(key="headline", heading="headline", number=True),
        Column(key="body", heading="body", number=True),
        Column(key="teaser", heading="teaser", number=True),
        # Hours and stories leave no room for it.
        Column(key="read", heading="read", number=True, table=not (stories and by == "hour")),
        Column(key="coverage", heading="coverage", show=level),
        Column(key="covered", heading="covered", table=False),
        Column(key="expected", heading="expected", table=False),
    )
    records = [_record(by, row) for row in rows]
    if form == "table":
        records = _gaps_drawn_together(by, records)
    render(records, columns, form, title=title, note=note)
    return sum(row.hits.articles for row in rows if row.hits)


def _record(by: str, row: "MentionCount") -> dict[str, object]:
    return {
        by: row.key,
        "articles": row.hits and row.hits.articles,
        "stories": row.hits and row.hits.stories,
        "headline": row.hits and row.hits.in_title,
        "body": row.hits and row.hits.in_body,
        "teaser": row.hits and row.hits.limited,
        "read": row.completeness.read,
        "coverage": row.completeness.level,
        "covered": row.completeness.covered,
        "expected": row.completeness.expected,
    }


def _gaps_drawn_together(by: str, records: list[dict[str, object]]) -> list[dict[str, object]]:
    """The rows of a series, with each run of three or more periods without coverage as one."""
    if by not in _PERIODS:
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
    if isinstance(value, tuple):
        first, to, last = value
        if _HOUR.fullmatch(str(last)):
            return f"{_key(first)}\n{to} {_key(last)[5:]}"
        return f"{first} {to}\n{last}"
    # An hour as people write it; its distance from UTC tells nothing that the title doesn't.
    hour = _HOUR.fullmatch(str(value))
    return f"{hour[1]} {hour[2]}" if hour else str(value)
