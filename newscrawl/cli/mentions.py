"""newscrawl mentions: how often companies were in the news, and companies compared."""

import re
from collections.abc import Callable
from dataclasses import asdict, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Annotated, Literal, get_args

import typer

from newscrawl import answers, storage
from newscrawl.cli.arguments import (
    InputError,
    QueryContext,
    company_names_of,
    source_catalog,
    takes_companies,
)
from newscrawl.cli.output import (
    Column,
    columns_of,
    exit_if,
    exit_without,
    for_files,
    records_of,
    render,
    write_json,
)
from newscrawl.items import By, Counted, Measure, Period, Reason
from newscrawl.storage.scope import today
from newscrawl.text import count_of

if TYPE_CHECKING:
    from newscrawl.answers.proof import NumberProof
    from newscrawl.storage.queries import ProvenArticle, Scope

Grouping = Literal["company", By]


_PERIODS = frozenset(get_args(Period))
_MAX_DAYS_OF_HOURS = 3660  # ours: ten years take some ten seconds
_HEADINGS = {"week": "week of"}
# Why the rows don't add up to the number of all articles.
_OF_GROUPS = " A source counts in each of its groups, and without a group in none."
_HOUR = re.compile(r"(\d{4}-\d\d-\d\d)T(\d\d:\d\d)\S*")

EXAMPLE = "Example: newscrawl mentions --company Siemens --since 30d --by week"
SHARE_EXAMPLE = "Example: newscrawl share Siemens Bosch --since 30d --by week"
TOGETHER_EXAMPLE = "Example: newscrawl together Siemens --since 30d"
PROOF_EXAMPLE = "Example: newscrawl proof --company Siemens --since 7d --measure headline"


@takes_companies
def mentions(
    query: QueryContext,
    company: str | None = None,
    by: Grouping | None = None,
    stories: bool = False,
    limit: Annotated[int | None, typer.Option(min=1)] = None,
) -> None:
    """Count mentions of companies: over time, by company, source, country, language, section, or
    group of sources.

    An article counts at its time of publication. "headline" and "body" count occurrences,
    "articles" the articles that contain them; "limited" are the articles with only headline and
    introduction (paywall, robots.txt). Without a crawl, the count is not 0 but "no coverage": empty
    in CSV, null in JSON.

    Without --since, periods begin with the day of the first crawl.

    Exit code 1 if nothing was found.

    --by WHAT: A row for each company, hour, day, week, month, quarter, year, source, country,
        language, section, or group of sources; else for each day, or without --company for each
        company.
    --stories: Also count stories: near copies count once.
    --limit, -n: Maximum number of companies, the most mentioned first.
    """
    name = None if company is None else company_names_of([company], query)[0]
    grouping: Grouping = by or ("day" if name else "company")
    if grouping == "company":
        ranked = storage.queries.company_ranking(query.database, scope=query.scope, stories=stories)
        if name is not None:
            members = query.scope.members(name)
            shown = {
                ownership.chain[-1]
                for each in members
                for ownership in query.scope.ownerships(each)
            }
            shown.add(name)
            ranked = [row for row in ranked if row.company in shown]
        rows = ranked[:limit]
        columns = columns_of(storage.queries.CompanyCount, without=() if stories else ("stories",))
        title = "Companies in the news"
        _show(query, records_of(rows), columns, title, company=name, mentioned=rows)
        return
    if limit is not None:
        raise InputError(f"--limit needs --by company, not --by {grouping}")
    _show_counts(_prepare(query, name, grouping), query, name, grouping, stories=stories)


def _prepare(query: QueryContext, company: str | None, by: By) -> QueryContext:
    """Return the question with what a grouping needs: the catalog of sources, or a first day."""
    if by == "group":
        return replace(query, scope=replace(query.scope, catalog=source_catalog()))
    if by not in _PERIODS:
        return query
    # Older articles that sites still list would add years of empty periods before the first crawl.
    first = storage.queries.first_watched_day(query.database, company, scope=query.scope)
    if not (query.scope.since or first is None or first > (query.scope.until or first)):
        query = replace(query, scope=replace(query.scope, since=first))
    if by == "hour":
        since, last = query.scope.since, query.scope.until or today(query.scope)
        if since and (last - since).days > _MAX_DAYS_OF_HOURS:
            raise InputError(
                f"--by hour would give {24 * ((last - since).days + 1):,} rows: ask for "
                f"{_MAX_DAYS_OF_HOURS:,} days at most, or --by day"
            )
    return query


def _show_counts(
    query: QueryContext, question: QueryContext, company: str | None, by: By, *, stories: bool
) -> None:
    """Write the counts of periods or groups; `question` is the question as it was written."""
    counts = storage.queries.mention_counts(
        query.database, by, company=company, scope=query.scope, stories=stories
    )
    key, *columns = columns_of(
        storage.queries.MentionCount, without=() if stories else ("stories",)
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
        columns = [
            replace(column, table=column.table and column.key != "share") for column in columns
        ]
    if stories and by == "hour":  # too wide together with it
        columns = [
            replace(column, table=column.table and column.key != "read") for column in columns
        ]
    records = [{by: record.pop("key"), **record} for record in records_of(counts)]
    note = _OF_GROUPS if by == "group" else ""
    if query.output_format == "table" and by in _PERIODS:
        note += _mark_partial(by, records)
        note += _older_articles(query, company) if query is not question else ""
        records = _join_gaps(by, records)
    title = f"{company or 'All companies'} by {by}"
    mentioned = any(row.hits and row.hits.articles for row in counts)
    _show(query, records, [key, *columns], title, company=company, note=note, mentioned=mentioned)


def _older_articles(query: QueryContext, company: str | None) -> str:
    """Return a note on the articles dated before the first crawl, where the periods begin."""
    assert query.scope.since is not None  # noqa: S101 - the day of the first crawl
    scope = replace(query.scope, since=None, until=query.scope.since - timedelta(days=1))
    years = storage.queries.mention_counts(query.database, "year", company=company, scope=scope)
    by_year = {row.key: row.hits.articles for row in years if row.hits and row.hits.articles}
    if not by_year:
        return ""
    option = f"--since {min(by_year)}-01-01"
    return f" {answers.words.older_articles(sum(by_year.values()), query.scope.since, option)}"


def _show(
    query: QueryContext,
    records: list[dict[str, object]],
    columns: list[Column],
    title: str,
    *,
    company: str | None,
    whom: str = "",
    note: str = "",
    limit: int | None = None,
    mentioned: object,
) -> None:
    """Write numbers with how complete they are below a table; the exit code is 1 if nothing is
    `mentioned`, of a company or of what the words `whom` say. Without these, hits outside of
    articles are named, too."""
    reading = query.reading(company)
    text = answers.words.coverage(reading) + query.note
    if not whom:
        boilerplate = storage.queries.boilerplate(
            query.database, company=company, scope=query.scope
        )
        if boilerplate.mentions:
            text += f" {answers.words.around_articles(boilerplate.mentions)}"
    title += _span(query.scope)
    render(records, columns, query.output_format, title=title, note=text + note, limit=limit)
    whom = whom or company or "any company"
    exit_without(mentioned, answers.words.no_mention(whom, reading))


@takes_companies
def share(
    query: QueryContext, names: list[str], by: Grouping | None = None, measure: Measure = "articles"
) -> None:
    """Compare companies: the share of each in the sum of all of them (share of voice).

    Without --by, there is one share for each company; without --since, periods begin with the day
    of the first crawl.

    Exit code 1 if nothing was found.

    names NAME...: Companies, groups or saved queries, two or more.
    --by WHAT: A row for each company, hour, day, week, month, quarter, year, source, country,
        language, section, or group of sources; else for each company.
    --measure WHAT: What is counted: articles, mentions or stories.
    """
    companies = company_names_of(names, query)
    by = None if by == "company" else by
    question, query = query, _prepare(query, None, by) if by else query
    shares = storage.queries.share_of_voice(
        query.database, companies, by=by, measure=measure, scope=query.scope
    )
    headings = {"key": by or "", "number": measure}
    columns = [
        replace(
            column,
            key=headings.get(column.key, column.key),
            heading=headings.get(column.key, column.heading),
        )
        for column in columns_of(
            storage.queries.Share, without=() if by else ("key", "days_left_out")
        )
    ]
    records = [
        {headings.get(key, key): value for key, value in record.items()}
        for record in records_of(shares)
    ]
    note = " Shares are of the sum of these, rounded." + (_OF_GROUPS if by == "group" else "")
    if query.output_format == "table" and by is not None and by in _PERIODS:
        note += _mark_partial(by, records)
        note += _older_articles(query, None) if query is not question else ""
    _show(
        query,
        records,
        columns,
        f"Share of voice by {measure}",
        company=None,
        whom=" or ".join(dict.fromkeys(companies)),
        note=note,
        mentioned=any(row.number for row in shares),
    )


@takes_companies
def together(query: QueryContext, company: str, stories: bool = False, limit: int = 20) -> None:
    """List the companies that are mentioned in the same articles as a company, most articles first.

    Exit code 1 if there is none.

    company NAME: A company, group or saved query.
    --stories: Also count stories: near copies count once.
    """
    (company,) = company_names_of([company], query)
    rows = storage.queries.co_mentions(
        query.database, company, scope=query.scope, limit=limit + 1, stories=stories
    )
    *columns, share_ = columns_of(
        storage.queries.CoMention, without=() if stories else ("stories",)
    )
    columns.append(replace(share_, heading=f"of {company}'s"))
    shown = [
        row if row.kind == "company" else replace(row, company=f"{row.company} ({row.kind})")
        for row in rows
    ]
    listed = shown if query.output_format == "table" else rows
    title, whom = f"Mentioned with {company}", f"a company together with {company}"
    records = records_of(listed)
    _show(query, records, columns, title, company=company, whom=whom, limit=limit, mentioned=rows)


# --- The proof of a number ---

_PROVEN = ("day", "source", "adds", "company", "rule", "score", "sentence")
_FOR_FILES = ("section", "surface", "title", "url")


@takes_companies
def proof(
    query: QueryContext,
    company: str | None = None,
    measure: Counted = "articles",
    beside: str | None = None,
    least_sure: bool = False,
    limit: int = 20,
    offset: Annotated[int, typer.Option(min=0)] = 0,
) -> None:
    """Show what is behind a number: articles, sentences with rule and score, what was left out and
    why.

    Exit code 1 if the number is 0.

    --measure WHAT: What the number counts: articles, mentions, headline, body, stories, read (all
        articles); and of what is left out: boilerplate (menus and teasers), doubtful (words that
        may mean the company), paywalled, disallowed, refused, unreadable, corrected and kind (pages
        that are not articles).
    --beside NAME: Only articles that mention this company, too.
    --least-sure: First the articles whose mentions have the lowest score, not the newest.
    --offset: Leave out the first articles.
    """
    names = company_names_of([name for name in (company, beside) if name is not None], query)
    from newscrawl.answers.proof import number_proof

    proven = number_proof(
        query.database,
        query.versions,
        counted=measure,
        company=names[0] if company is not None else None,
        beside=names[-1] if beside is not None else None,
        order="least-sure" if least_sure else "newest",
        scope=query.scope,
        limit=limit,
        offset=offset,
    )
    answer = proven.proof
    if query.output_format == "json":
        write_json(asdict(answer))
        exit_if(not answer.number)
        return
    sources = query.source_names
    shown_as: dict[str, Callable[[object], str]] = {
        "source": lambda slug: sources.get(str(slug), str(slug)),
        "score": lambda score: "" if score is None else f"{score:.2f}",
    }
    one_company = len(query.scope.members(names[0])) == 1 if names else False
    columns = [
        Column(
            name,
            number=name in {"adds", "score"},
            wide=name in {"sentence", "source"},
            show=shown_as.get(name),
            table=name != "company" or not one_company or beside is not None,
        )
        for name in _PROVEN
    ]
    columns += for_files(*_FOR_FILES)
    whom = f" of {' and '.join(names)}" if names else ""
    render(
        [row for article in answer.articles for row in _proven_rows(article)],
        columns,
        query.output_format,
        title=f"{measure.capitalize()}{whom}: {answer.number:,}{_span(query.scope)}",
        note=_proof_note(proven, offset) + query.note,
    )
    if answer.number:
        return
    whom = " and ".join(names) or "any company"
    nothing = answers.words.no_mention(whom, query.reading(answer.company))
    left_out = measure in get_args(Reason)
    exit_without(False, "Nothing is left out for this reason." if left_out else nothing)


def _proven_rows(proven: "ProvenArticle") -> list[dict[str, object]]:
    """Return a row for each mention of an article, or one for the article; `adds` is in the
    first one."""
    row = proven.article
    article = {"day": row.day, "source": row.source, "title": row.title, "url": row.url}
    mentions = [
        {
            "company": mention.company,
            "rule": mention.rule,
            "score": mention.score,
            "section": mention.section,
            "surface": mention.surface,
            "sentence": sentence.snippet.text,
        }
        for sentence in proven.sentences
        for mention in sentence.mentions
    ]
    around = [{"company": name, "sentence": row.title} for name, _ in proven.boilerplate]
    first, *further = mentions or around or [{"sentence": row.title}]
    return [
        {**article, **first, "adds": proven.number},
        *({**article, **row_of_mention} for row_of_mention in further),
    ]


def _proof_note(proven: "NumberProof", offset: int) -> str:
    """Return what a number leaves out, and the versions in use, as a note under the table."""
    number = proven.proof
    listed = f"Articles {offset + 1:,} to {offset + len(number.articles):,} of {number.total:,}."
    listed = listed if number.articles else "No articles."
    covered = sum(source.completeness.covered for source in number.coverage)
    expected = sum(source.completeness.expected for source in number.coverage)
    sources = count_of(len(number.coverage), "source")
    read = f"Source-days read: {covered:,} of {expected:,} in {sources}."
    left_out = "".join(f" {notice}" for notice in proven.left_out())
    shown = storage.queries.versions_text(number.article_versions.items())
    found_with = f" These articles were found with {shown}." if shown else ""
    versions = number.versions
    used = f"In use: newscrawl {versions.program}, companies {versions.companies}, models of "
    return f"{listed} {read}{left_out}{found_with} {used}extraction {versions.extraction}."


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
