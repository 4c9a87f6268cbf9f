"""newscrawl mentions: how often companies were in the news, and companies compared."""

import re
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Annotated, Literal, get_args

import typer

from newscrawl import answers, storage
from newscrawl.cli.arguments import (
    CompanyOption,
    InputError,
    QueryContext,
    company_names_of,
    complete_company,
    source_catalog,
    takes_companies,
)
from newscrawl.cli.output import (
    Column,
    columns_of,
    records_of,
    render,
    show,
    write_json,
    write_note,
)
from newscrawl.items import By, Counted, Period
from newscrawl.text import count_of

if TYPE_CHECKING:
    from newscrawl.storage.queries import (
        CoMention,
        Completeness,
        Proof,
        ProvenArticle,
        Scope,
    )

Grouping = Literal["company", By]

ByOption = Annotated[
    Grouping | None,
    typer.Option(
        help="A row for each company, hour, day, week, month, quarter, year, source, country, "
        "language, section, or group or tier of sources; else for each day, or without --company "
        "for each company.",
        metavar="WHAT",
    ),
]
ShareOption = Annotated[
    list[str] | None,
    typer.Option(
        "--share",
        help="Share of voice: each of these companies against all of them; give it twice or more.",
        metavar="NAME",
        autocompletion=complete_company,
    ),
]
MeasureOption = Annotated[
    Counted,
    typer.Option(
        help="What --share and --explain count: articles, mentions or stories; --explain also of "
        "headline, body, read (all articles), and of what is left out: boilerplate (menus and "
        "teasers), doubtful (words that may mean the company), paywalled, disallowed, refused, "
        "unreadable, corrected and kind (pages that are not articles).",
        metavar="WHAT",
    ),
]
ExplainOption = Annotated[
    bool,
    typer.Option(
        "--explain",
        help="Explain the number: articles, sentences with rule and score, what was left "
        "out and why.",
    ),
]
BesideOption = Annotated[
    str | None,
    typer.Option(
        help="With --explain: only articles that mention this company, too.",
        metavar="NAME",
        autocompletion=complete_company,
    ),
]
OffsetOption = Annotated[
    int, typer.Option(min=0, help="With --explain: leave out the first articles.")
]
LeastSureOption = Annotated[
    bool,
    typer.Option(
        "--least-sure",
        help="With --explain: first the articles whose mentions have the lowest score, not the "
        "newest.",
    ),
]

_PERIODS = frozenset(get_args(Period))
_MAX_DAYS_OF_HOURS = 3660  # ours: ten years take some ten seconds
_HEADINGS = {"week": "week of"}
# Why the rows don't add up to the number of all articles.
_OF_CATALOG = {
    "group": " A source counts in each of its groups, and without a group in none.",
    "tier": " Sources without a tier are not listed.",
}
_HOUR = re.compile(r"(\d{4}-\d\d-\d\d)T(\d\d:\d\d)\S*")
_COMPANIONS = 20  # companies that --with lists without --limit
_EXPLAINED = 20  # articles that --explain lists without --limit
_SHARED = ("articles", "mentions", "stories")  # what shares count

EXAMPLE = "Example: newscrawl mentions --company Siemens --since 30d --by week"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Options:
    """The options of the command in addition to its scope."""

    company: str | None
    by: Grouping | None
    share: Sequence[str]
    together: bool
    limit: int | None
    stories: bool
    measure: Counted
    explain: bool
    beside: str | None
    offset: int
    least_sure: bool

    def check(self) -> None:
        """Raise InputError for options that don't go together."""
        if self.explain:
            self._check_explain()
            return
        if self.beside is not None or self.offset or self.least_sure:
            raise InputError("--beside, --offset and --least-sure need --explain: add it")
        if self.measure not in _SHARED:
            raise InputError(f"--measure {self.measure} needs --explain: add it")
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
            raise InputError(f"--limit needs --by company, not {other}")

    def _check_explain(self) -> None:
        others = {"--share": self.share, "--with": self.together, "--by": self.by}
        others["--stories"] = self.stories
        if given := next((name for name, value in others.items() if value), None):
            raise InputError(f"--explain explains one number: leave {given} out")
        unpaired = self.company is None or self.measure not in {*_SHARED, "headline", "body"}
        if self.beside is not None and unpaired:
            raise InputError("--beside needs --company NAME, and articles or mentions of it")
        if self.least_sure and (unpaired or self.measure == "stories"):
            raise InputError("--least-sure needs --company NAME, and articles or mentions of it")
        if self.measure == "doubtful" and self.company is None:
            raise InputError("--measure doubtful needs a company: add --company NAME")


StoriesOption = Annotated[
    bool, typer.Option("--stories", help="Also count stories: near copies count once.")
]
TogetherOption = Annotated[
    bool, typer.Option("--with", help="The companies mentioned in the same articles.")
]
MaxCompaniesOption = Annotated[
    int | None,
    typer.Option(
        "--limit",
        "-n",
        min=1,
        help="Maximum number of companies, the most mentioned first, or of articles to explain.",
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
    explain: ExplainOption = False,
    beside: BesideOption = None,
    offset: OffsetOption = 0,
    least_sure: LeastSureOption = False,
) -> None:
    """Count mentions of companies: over time, by company, source, country, language, section, or
    group or tier of sources.

    An article counts at its time of publication. "headline" and "body" count occurrences,
    "articles" the articles that contain them; "limited" are the articles with only headline and
    introduction (paywall, robots.txt). Without a crawl, the count is not 0 but "no coverage": empty
    in CSV, null in JSON.

    Without --since, periods begin with the day of the first crawl.

    Exit code 1 if nothing was found.
    """
    options = _Options(
        company=company,
        by=by,
        share=share or [],
        together=together,
        limit=limit,
        stories=stories,
        measure=measure,
        explain=explain,
        beside=beside,
        offset=offset,
        least_sure=least_sure,
    )
    options.check()
    given = [*options.share, *(one for one in (company, beside) if one is not None)]
    names = company_names_of(given, query)
    if by in {"group", "tier"}:
        query = replace(query, scope=replace(query.scope, catalog=source_catalog()))
    asked = query
    if (by or ("day" if names else "")) in _PERIODS and not explain:
        query = _since_the_watch_began(asked, names[0] if company else None)
    if not _show(query, names, options, since_first_crawl=query is not asked):
        raise typer.Exit(1)


def _show(
    query: QueryContext, names: "list[str]", options: _Options, *, since_first_crawl: bool
) -> bool:
    """Show the answer to the options; return whether there is one."""
    if options.by == "hour":
        _check_hours(query.scope)
    if options.explain:
        return _show_proof(query, names, options)
    if options.share:
        return _show_shares(query, names, options)
    if options.together:
        return _show_companions(query, names[0], options)
    if (options.by or ("day" if names else "company")) == "company":
        return _show_ranking(query, names, options)
    return _show_counts(query, names, options, since_first_crawl=since_first_crawl)


def _since_the_watch_began(query: QueryContext, company: str | None) -> QueryContext:
    """Return the question with the first crawl as the default of its first day: older articles that
    sites still list would add years of empty periods."""
    first = storage.queries.first_watched_day(query.database, company, scope=query.scope)
    if query.scope.since or first is None or (query.scope.until and first > query.scope.until):
        return query
    return replace(query, scope=replace(query.scope, since=first))


def _check_hours(scope: "Scope") -> None:
    from newscrawl.storage.scope import today

    last = scope.until or today(scope)
    if scope.since and (last - scope.since).days > _MAX_DAYS_OF_HOURS:
        raise InputError(
            f"--by hour would give {24 * ((last - scope.since).days + 1):,} rows: ask for "
            f"{_MAX_DAYS_OF_HOURS:,} days at most, or --by day"
        )


def _show_ranking(query: QueryContext, names: Sequence[str], options: _Options) -> bool:
    company = names[0] if names else None
    ranked = storage.queries.company_ranking(
        query.database, scope=query.scope, stories=options.stories
    )
    if company is not None:
        members = query.scope.members(company)
        shown = {one.chain[-1] for each in members for one in query.scope.ownerships(each)}
        shown.add(company)
        ranked = [row for row in ranked if row.company in shown]
    rows = ranked[: options.limit]
    completeness, note = _basis(query, company)
    show(
        rows,
        storage.queries.CompanyCount,
        query.output_format,
        title=f"Companies in the news{_span(query.scope)}",
        note=note,
        without=() if options.stories else ("stories",),
    )
    if not rows:
        write_note(answers.words.no_mention(company or "any company", completeness))
    return bool(rows)


def _show_counts(
    query: QueryContext, names: Sequence[str], options: _Options, *, since_first_crawl: bool
) -> bool:
    company = names[0] if names else None
    by = "day" if options.by is None or options.by == "company" else options.by
    counts = storage.queries.mention_counts(
        query.database, by, company=company, scope=query.scope, stories=options.stories
    )
    key, *columns = columns_of(
        storage.queries.MentionCount, without=() if options.stories else ("stories",)
    )
    sources = query.source_names if by == "source" else {}
    key = replace(
        key,
        key=by,
        heading=_HEADINGS.get(by, by),
        show=lambda value: sources.get(str(value)) or _key(value),
        wide=by not in _PERIODS,
    )
    if by in _PERIODS:  # too wide for their tables
        columns = [replace(one, table=one.table and one.key != "share") for one in columns]
    if options.stories and by == "hour":  # too wide together with it
        columns = [replace(one, table=one.table and one.key != "read") for one in columns]
    records = [{by: record.pop("key"), **record} for record in records_of(counts)]
    completeness, note = _basis(query, company)
    note += _OF_CATALOG.get(by, "")
    if query.output_format == "table" and by in _PERIODS:
        note += _mark_partial(by, records)
        note += _older_articles(query, company) if since_first_crawl else ""
        records = _join_gaps(by, records)
    title = f"{company or 'All companies'} by {by}{_span(query.scope)}"
    render(records, [key, *columns], query.output_format, title=title, note=note)
    mentioned = any(row.hits and row.hits.articles for row in counts)
    if not mentioned:
        write_note(answers.words.no_mention(company or "any company", completeness))
    return mentioned


def _older_articles(query: QueryContext, company: str | None) -> str:
    """Return a note on the articles dated before the first crawl, where the periods begin."""
    assert query.scope.since is not None  # noqa: S101 - the day of the first crawl
    scope = replace(query.scope, since=None, until=query.scope.since - timedelta(days=1))
    years = storage.queries.mention_counts(query.database, "year", company=company, scope=scope)
    found = {row.key: row.hits.articles for row in years if row.hits and row.hits.articles}
    if not found:
        return ""
    older = sum(found.values())
    which = "1 article is" if older == 1 else f"{older:,} articles are"
    return f" {which} dated before the first crawl: --since {min(found)}-01-01 counts them too."


def _basis(query: QueryContext, company: str | None) -> "tuple[Completeness, str]":
    """Return how complete counts are, and a note that says so."""
    completeness = storage.queries.completeness(query.database, company=company, scope=query.scope)
    boilerplate = storage.queries.boilerplate(query.database, company=company, scope=query.scope)
    note = answers.words.coverage(completeness) + query.note
    if boilerplate.mentions:
        note += f" {answers.words.around_articles(boilerplate.mentions)}"
    return completeness, note


def _show_shares(query: QueryContext, names: Sequence[str], options: _Options) -> bool:
    by = None if options.by == "company" else options.by
    measure = next(one for one in get_args(storage.queries.Measure) if one == options.measure)
    shares = storage.queries.share_of_voice(
        query.database, names, by=by, measure=measure, scope=query.scope
    )
    named = {"key": by or "", "number": options.measure}
    columns = [
        replace(one, key=named.get(one.key, one.key), heading=named.get(one.key, one.heading))
        for one in columns_of(storage.queries.Share, without=() if by else ("key", "days_left_out"))
    ]
    records = [
        {named.get(key, key): value for key, value in record.items()}
        for record in records_of(shares)
    ]
    completeness = storage.queries.completeness(query.database, scope=query.scope)
    title = f"Share of voice by {options.measure}{_span(query.scope)}"
    note = (
        answers.words.coverage(completeness)
        + " Shares are of the sum of these, rounded."
        + query.note
    )
    note += _OF_CATALOG.get(by or "", "")
    if query.output_format == "table" and by is not None and by in _PERIODS:
        note += _mark_partial(by, records)
    render(records, columns, query.output_format, title=title, note=note)
    mentioned = any(row.number for row in shares)
    if not mentioned:
        write_note(answers.words.no_mention(" or ".join(dict.fromkeys(names)), completeness))
    return mentioned


def _show_companions(query: QueryContext, company: str, options: _Options) -> bool:
    limit, stories = options.limit or _COMPANIONS, options.stories
    rows = storage.queries.co_mentions(
        query.database, company, scope=query.scope, limit=limit, stories=stories
    )
    completeness = storage.queries.completeness(query.database, company=company, scope=query.scope)
    *columns, share = columns_of(storage.queries.CoMention, without=() if stories else ("stories",))
    shown = [replace(one, company=_with_kind(one)) for one in rows]
    columns.append(replace(share, heading=f"of {company}'s"))
    title = f"Mentioned with {company}{_span(query.scope)}"
    note = answers.words.coverage(completeness) + query.note
    listed = shown if query.output_format == "table" else rows
    render(records_of(listed), columns, query.output_format, title=title, note=note)
    if not rows:
        write_note(answers.words.no_mention(f"a company together with {company}", completeness))
    return bool(rows)


def _with_kind(row: "CoMention") -> str:
    return row.company if row.kind == "company" else f"{row.company} ({row.kind})"


# --- Explain a number ---

_PROVEN = ("day", "source", "adds", "company", "rule", "score", "sentence")
_FOR_FILES = ("section", "surface", "title", "url")


def _show_proof(query: QueryContext, names: Sequence[str], options: _Options) -> bool:
    """Write the explanation of a number; return whether it is above 0."""

    found = storage.queries.proof(
        query.database,
        query.versions,
        counted=options.measure,
        company=names[0] if names else None,
        beside=names[1] if names[1:] else None,
        order="least-sure" if options.least_sure else "newest",
        scope=query.scope,
        limit=options.limit or _EXPLAINED,
        offset=options.offset,
    )
    if query.output_format == "json":
        write_json(asdict(found))
        return bool(found.number)
    sources = query.source_names
    shown_as: dict[str, Callable[[object], str]] = {
        "source": lambda slug: sources.get(str(slug), str(slug)),
        "score": lambda score: "" if score is None else f"{score:.2f}",
    }
    one_company = len(query.scope.members(names[0])) == 1 if names else False
    shown = [
        Column(
            key=name,
            heading=name,
            number=name in {"adds", "score"},
            wide=name in {"sentence", "source"},
            show=shown_as.get(name),
            table=name != "company" or not one_company or options.beside is not None,
        )
        for name in _PROVEN
    ]
    shown += [Column(key=name, heading=name, table=False) for name in _FOR_FILES]
    whom = f" of {' and '.join(names)}" if names else ""
    render(
        [row for article in found.articles for row in _proven_rows(article)],
        shown,
        query.output_format,
        title=f"{options.measure.capitalize()}{whom}: {found.number:,}{_span(query.scope)}",
        note=_proof_note(query, found, options.offset) + query.note,
    )
    if not found.number:
        _write_nothing(query, names, options.measure)
    return bool(found.number)


def _write_nothing(query: QueryContext, names: Sequence[str], measure: Counted) -> None:
    """Write why nothing is listed in the proof of a number."""
    from newscrawl.storage.queries.proof_target import LEFT_OUT

    if measure in LEFT_OUT:
        write_note("Nothing is left out for this reason.")
        return
    company = names[0] if names else None
    completeness = storage.queries.completeness(query.database, company=company, scope=query.scope)
    write_note(answers.words.no_mention(" and ".join(names) or "any company", completeness))


def _proven_rows(proven: "ProvenArticle") -> list[dict[str, object]]:
    """Return a row for each mention of an article, or one for the article; `adds` is in the
    first one."""
    row = proven.article
    article = {"day": row.day, "source": row.source, "title": row.title, "url": row.url}
    mentions = [
        {
            "company": one.company,
            "rule": one.rule,
            "score": one.score,
            "section": one.section,
            "surface": one.surface,
            "sentence": sentence.snippet.text,
        }
        for sentence in proven.sentences
        for one in sentence.mentions
    ]
    around = [{"company": name, "sentence": row.title} for name, _ in proven.boilerplate]
    first, *others = mentions or around or [{"sentence": row.title}]
    return [{**article, **first, "adds": proven.number}, *({**article, **one} for one in others)]


def _proof_note(query: QueryContext, found: "Proof", offset: int) -> str:
    """Return what a number leaves out, and the versions in use, as a note under the table."""
    listed = f"Articles {offset + 1:,} to {offset + len(found.articles):,} of {found.total:,}."
    covered = sum(one.completeness.covered for one in found.coverage)
    expected = sum(one.completeness.expected for one in found.coverage)
    sources = count_of(len(found.coverage), "source")
    read = f"Source-days read: {covered:,} of {expected:,} in {sources}."
    saved = {row.name for row in storage.queries.saved_queries(query.database)}
    does = answers.words.does_of(found.company in saved)
    reasons = [
        answers.words.unread_texts(found.left_out, one.reason, "these articles")
        if found.counted == "read" and one.reason in answers.words.BARRIERS
        else answers.words.left_out_notice(one, found.company or "a company", does)
        for one in found.left_out
    ]
    left_out = "".join(f" {reason}" for reason in reasons)
    shown = storage.queries.versions_text(found.article_versions.items())
    made = f" These articles were found with {shown}." if shown else ""
    versions = found.versions
    used = f"In use: newscrawl {versions.program}, companies {versions.companies}, models of "
    return f"{listed} {read}{left_out}{made} {used}extraction {versions.extraction}."


def _span(scope: "Scope") -> str:
    """Return the scope's days, as the end of a title."""
    zone = "" if scope.zone == "UTC" else f" ({scope.zone})"
    if scope.since is None and scope.until is None:
        return zone
    if scope.since is None:
        return f", until {scope.until}{zone}"
    return f", {scope.since} to {scope.until or 'today'}{zone}"


def _mark_partial(by: str, records: list[dict[str, object]]) -> str:
    """Mark the periods of which only some days are counted, and return a note about the mark: their
    smaller numbers are not a decrease."""
    partial = [record for record in records if record["days_left_out"]]
    for record in partial:
        record[by] = f"{record[by]}*"
    return f" * Not all days of this {by} are counted." if partial else ""


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
    # An hour without its offset from UTC, since the title has the time zone.
    hour = _HOUR.fullmatch(str(value))
    return f"{hour[1]} {hour[2]}" if hour else str(value)
