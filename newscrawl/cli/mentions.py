"""newscrawl mentions: how often companies were in the news, and companies compared."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from newscrawl.cli.arguments import (
    CompanyOption,
    InputError,
    QueryContext,
    company_names_of,
    takes_companies,
)

if TYPE_CHECKING:
    from newscrawl.storage.queries import Completeness, Scope

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
_MAX_DAYS_OF_HOURS = 3660  # ours: ten years take some ten seconds
_HEADINGS = {"week": "week of"}
_HOUR = re.compile(r"(\d{4}-\d\d-\d\d)T(\d\d:\d\d)\S*")
_COMPANIONS = 20  # companies that --with lists where --limit says nothing else

EXAMPLE = "Example: newscrawl mentions --company Siemens --since 30d --by week"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Options:
    """The options of the command beside its scope."""

    company: str | None
    by: Grouping | None
    share: Sequence[str]
    together: bool
    limit: int | None
    stories: bool
    measure: Measure

    def check(self) -> None:
        """Raise InputError for options that don't go together."""
        if self.share and (self.company or self.together):
            raise InputError("--share names the companies itself: leave --company and --with out")
        if len(self.share) == 1:
            raise InputError("--share needs two companies or more: --share Siemens --share Bosch")
        if self.together and not self.company:
            raise InputError("--with needs a company: add --company NAME")
        if self.together and self.by:
            raise InputError(f"--with lists companies: leave --by {self.by} out")
        if self.limit is None or self.together:
            return
        if self.share or (self.by or "company") != "company":
            other = "--share" if self.share else f"--by {self.by}"
            raise InputError(f"--limit goes with --by company, not with {other}")


StoriesOption = Annotated[
    bool, typer.Option("--stories", help="Also count stories: near copies count once.")
]
TogetherOption = Annotated[
    bool, typer.Option("--with", help="The companies mentioned in the same articles.")
]
MaxCompaniesOption = Annotated[
    int | None,
    typer.Option(
        "--limit", "-n", min=1, help="Maximum number of companies, the most mentioned first."
    ),
]


@takes_companies
def mentions(
    query: QueryContext,
    company: CompanyOption = None,
    by: ByOption = None,
    stories: StoriesOption = False,
    share: ShareOption = None,
    measure: MeasureOption = "articles",
    together: TogetherOption = False,
    limit: MaxCompaniesOption = None,
) -> None:
    """Count mentions of companies: over time, by source, country, language, section or company.

    An article counts for the moment it was published. "headline" and "body" count
    occurrences, "articles" the articles they are in; "limited" are those of the articles
    that show only headline and standfirst (paywall, robots.txt). Where nothing was crawled there
    is no 0 but "no coverage": empty in CSV, null in JSON.

    Exit code 1 where nothing was found.
    """
    options = _Options(
        company=company,
        by=by,
        share=share or [],
        together=together,
        limit=limit,
        stories=stories,
        measure=measure,
    )
    options.check()
    given = [*options.share, *([company] if company is not None else [])]
    names = company_names_of(given, query)
    if by == "hour":
        _check_hours(query.scope)
    if share:
        shown = _show_shares(query, names, options)
    elif together:
        shown = _show_companions(query, names[0], limit or _COMPANIONS)
    elif (by or ("day" if names else "company")) == "company":
        shown = _show_ranking(query, names, options)
    else:
        shown = _show_counts(query, names, options)
    if not shown:
        raise typer.Exit(1)


def _check_hours(scope: "Scope") -> None:
    from newscrawl.storage.scope import today

    last = scope.until or today(scope)
    if scope.since and (last - scope.since).days > _MAX_DAYS_OF_HOURS:
        raise InputError(
            f"--by hour would give {24 * ((last - scope.since).days + 1):,} rows: ask for "
            f"{_MAX_DAYS_OF_HOURS:,} days at most, or --by day"
        )


def _show_ranking(query: QueryContext, names: Sequence[str], options: _Options) -> bool:
    from newscrawl.cli.output import show
    from newscrawl.storage import queries

    company = names[0] if names else None
    ranked = queries.company_ranking(query.database, scope=query.scope, stories=options.stories)
    if company is not None:
        members = query.scope.members(company)
        shown = {one.chain[-1] for each in members for one in query.scope.ownerships(each)}
        ranked = [row for row in ranked if row.company in shown]
    rows = ranked[: options.limit]
    completeness, note = _basis(query, company)
    show(
        rows,
        queries.CompanyCount,
        query.output_format,
        title=f"Companies in the news{_span(query.scope)}",
        note=note,
        without=() if options.stories else ("stories",),
    )
    if not rows:
        _write_no_result(company or "any company", completeness)
    return bool(rows)


def _show_counts(query: QueryContext, names: Sequence[str], options: _Options) -> bool:
    from newscrawl.cli.output import columns_of, records_of, render
    from newscrawl.storage import queries

    company = names[0] if names else None
    by = "day" if options.by is None or options.by == "company" else options.by
    counts = queries.mention_counts(
        query.database, by, company=company, scope=query.scope, stories=options.stories
    )
    key, *columns = columns_of(
        queries.MentionCount, without=() if options.stories else ("stories",)
    )
    key = replace(key, key=by, heading=_HEADINGS.get(by, by), show=_key, wide=by not in _PERIODS)
    if options.stories and by == "hour":  # which leave no room for it
        columns = [replace(one, table=one.table and one.key != "read") for one in columns]
    records = [{by: record.pop("key"), **record} for record in records_of(counts)]
    if query.output_format == "table" and by in _PERIODS:
        records = _join_gaps(by, records)
    completeness, note = _basis(query, company)
    title = f"{company or 'All companies'} by {by}{_span(query.scope)}"
    render(records, [key, *columns], query.output_format, title=title, note=note)
    mentioned = any(row.hits and row.hits.articles for row in counts)
    if not mentioned:
        _write_no_result(company or "any company", completeness)
    return mentioned


def _basis(query: QueryContext, company: str | None) -> "tuple[Completeness, str]":
    """Return how complete counts are, and a note that says so."""
    from newscrawl.cli.output import completeness_note
    from newscrawl.storage import queries

    completeness = queries.completeness(query.database, scope=query.scope)
    boilerplate = queries.boilerplate(query.database, company=company, scope=query.scope)
    note = completeness_note(completeness) + query.note
    if boilerplate.mentions:
        note += f" Not counted, in menus and teasers: {boilerplate.mentions:,}."
    return completeness, note


def _show_shares(query: QueryContext, names: Sequence[str], options: _Options) -> bool:
    from newscrawl.cli.output import columns_of, completeness_note, records_of, render
    from newscrawl.storage import queries

    by = None if options.by == "company" else options.by
    shares = queries.share_of_voice(
        query.database, names, by=by, measure=options.measure, scope=query.scope
    )
    named = {"key": by or "", "number": options.measure}
    columns = [
        replace(one, key=named.get(one.key, one.key), heading=named.get(one.key, one.heading))
        for one in columns_of(queries.Share, without=() if by else ("key",))
    ]
    records = [
        {named.get(key, key): value for key, value in record.items()}
        for record in records_of(shares)
    ]
    completeness = queries.completeness(query.database, scope=query.scope)
    title = f"Share of voice by {options.measure}{_span(query.scope)}"
    render(
        records,
        columns,
        query.output_format,
        title=title,
        note=completeness_note(completeness) + query.note,
    )
    mentioned = any(row.number for row in shares)
    if not mentioned:
        _write_no_result(" or ".join(dict.fromkeys(names)), completeness)
    return mentioned


def _show_companions(query: QueryContext, company: str, limit: int) -> bool:
    from newscrawl.cli.output import columns_of, completeness_note, records_of, render
    from newscrawl.storage import queries

    rows = queries.co_mentions(query.database, company, scope=query.scope, limit=limit)
    completeness = queries.completeness(query.database, scope=query.scope)
    *columns, share = columns_of(queries.CoMention)
    columns.append(replace(share, heading=f"of {company}'s"))
    title = f"Mentioned beside {company}{_span(query.scope)}"
    note = completeness_note(completeness) + query.note
    render(records_of(rows), columns, query.output_format, title=title, note=note)
    if not rows:
        _write_no_result(f"a company beside {company}", completeness)
    return bool(rows)


def _span(scope: "Scope") -> str:
    """Return the scope's days, as a title goes on."""
    zone = "" if scope.zone == "UTC" else f" ({scope.zone})"
    if scope.since is None and scope.until is None:
        return zone
    if scope.since is None:
        return f", until {scope.until}{zone}"
    return f", {scope.since} to {scope.until or 'today'}{zone}"


def _write_no_result(whom: str, completeness: "Completeness") -> None:
    """Say whether there was no mention or no coverage."""
    from newscrawl.cli.output import write_note

    if completeness.level == "none":
        write_note(f"No coverage: nothing was crawled there, so nothing is known of {whom}.")
    else:
        write_note(
            f"No mention of {whom} in {completeness.read:,} articles "
            f"(coverage: {completeness.level})."
        )


def _join_gaps(by: str, records: list[dict[str, object]]) -> list[dict[str, object]]:
    """Return the records with each run of three or more periods without coverage as one."""
    joined: list[dict[str, object]] = []
    gap: list[dict[str, object]] = []
    for record in [*records, None]:
        if record is not None and record["coverage"] == "none":
            gap.append(record)
            continue
        joined += gap if len(gap) < 3 else [{**gap[0], by: (gap[0][by], "to", gap[-1][by])}]
        gap = []
        if record is not None:
            joined.append(record)
    return joined


def _key(value: object) -> str:
    if isinstance(value, tuple):
        first, to, last = value
        if _HOUR.fullmatch(str(last)):
            return f"{_key(first)}\n{to} {_key(last)[5:]}"
        return f"{first} {to}\n{last}"
    # An hour as people write it; its distance from UTC tells nothing that the title doesn't.
    hour = _HOUR.fullmatch(str(value))
    return f"{hour[1]} {hour[2]}" if hour else str(value)
