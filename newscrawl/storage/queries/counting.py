"""Counts of mentions, each beside how far it can be trusted."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence, Set
from dataclasses import replace
from datetime import date, timedelta
from typing import Any, Literal

from sqlalchemy import Select, case, distinct, func, select
from sqlalchemy.orm import Session

from newscrawl.storage.database import CoverageState, Database
from newscrawl.storage.models import Article, Company, Coverage, Mention, Source
from newscrawl.storage.queries.rows import By, CompanyCount, Hits, MentionCount, Reach, Scope
from newscrawl.storage.queries.scoping import (
    between,
    days,
    first_days,
    last_day,
    scoped,
    watched,
)

Period = Literal["day", "week", "month"]

# The states in which a source was read. A stale feed was reached, but what it left out we
# don't know.
COVERED: tuple[CoverageState, ...] = ("ok", "paywalled")

UNKNOWN_LANGUAGE = "unknown"


def mention_counts(
    database: Database, by: By, *, company: str | None = None, scope: Scope | None = None
) -> list[MentionCount]:
    """How often the company, or any, was mentioned, by day, week, month, source or language.

    Periods come without holes from `since`, or the first day known, to `until`, or today.
    Sources and languages come with what is watched, mentioned there or not.
    """
    scope = scope or Scope()
    with database.reading() as session:
        if by == "source":
            return _by_source(session, company, scope)
        if by == "language":
            return _by_language(session, company, scope)
        return _by_period(session, by, company, scope)


def company_ranking(
    database: Database, *, scope: Scope | None = None, limit: int | None = None
) -> list[CompanyCount]:
    """The companies in the order of the articles that mention them, most first."""
    scope = scope or Scope()
    query = _hits(Company.name, None, scope).add_columns(func.count(distinct(Article.source_id)))
    with database.reading() as session:
        rows = [
            CompanyCount(company=name, hits=_hits_of(numbers), sources=sources)
            for name, *numbers, sources in session.execute(query)
        ]
    # Sorted here, since the databases differ in the order of names.
    return sorted(rows, key=lambda row: (-row.hits.articles, -row.hits.mentions, row.company))[
        :limit
    ]


def reach(database: Database, *, scope: Scope | None = None) -> Reach:
    """What all counts of this scope rest on."""
    scope = scope or Scope()
    with database.reading() as session:
        days = _by_period(session, "day", None, scope)
    return sum((day.reach for day in days), Reach())


def _by_period(
    session: Session, by: Period, company: str | None, scope: Scope
) -> list[MentionCount]:
    hits = _grouped_hits(session, Article.day, company, scope)
    read = _grouped_read(session, Article.day, scope)
    covered = _grouped_coverage(session, Coverage.day, scope)
    watched_since = Counter(first_days(session, scope).values())
    known = [*read, *watched_since]
    start = scope.since or min(known, default=None)
    if start is None:
        return []
    expected = sum(number for day, number in watched_since.items() if day < start)
    periods: dict[str, tuple[Hits, Reach]] = {}
    for day in days(start, last_day(scope)):
        expected += watched_since.get(day, 0)
        looked = Reach(
            read=read.get(day, 0),
            covered=covered.get(day, 0),
            expected=expected,
            unwatched=0 if expected else 1,
        )
        key = _period(day, by)
        before = periods.get(key, (Hits(), Reach()))
        periods[key] = (before[0] + hits.get(day, Hits()), before[1] + looked)
    return [_count(key, hits, looked) for key, (hits, looked) in periods.items()]


def _by_source(session: Session, company: str | None, scope: Scope) -> list[MentionCount]:
    watched_sources = {slug: {slug} for slug in first_days(session, scope)}
    return _by_group(session, Source.slug, watched_sources, company, scope)


def _by_language(session: Session, company: str | None, scope: Scope) -> list[MentionCount]:
    """A source is watched for its own language and for those it had articles in."""
    key = func.coalesce(Article.language, UNKNOWN_LANGUAGE)
    seen = scoped(select(key, Source.slug).select_from(Article), scope).distinct()
    sources: dict[str, set[str]] = defaultdict(set)
    for language, slug in [*session.execute(seen), *session.execute(_own_languages(scope))]:
        sources[language].add(slug)
    return _by_group(session, key, sources, company, scope)


def _own_languages(scope: Scope) -> Select[str, str]:
    query = select(Source.language, Source.slug).where(*watched(scope))
    return query if scope.language is None else query.where(Source.language == scope.language)


def _by_group(
    session: Session,
    key: Any,
    sources: Mapping[str, Set[str]],
    company: str | None,
    scope: Scope,
) -> list[MentionCount]:
    """Rows for each value of `key`, which is watched by these sources."""
    hits = _grouped_hits(session, key, company, scope)
    read = _grouped_read(session, key, scope)
    covered = _grouped_coverage(session, Source.slug, scope)
    firsts = first_days(session, scope)
    rows = []
    for group in {*read, *sources}:
        crawled = sources.get(group, set()) & firsts.keys()
        if group not in read and not crawled:
            continue
        looked = replace(
            _watch([firsts[slug] for slug in crawled], scope),
            read=read.get(group, 0),
            covered=sum(covered.get(slug, 0) for slug in crawled),
        )
        rows.append(_count(group, hits.get(group, Hits()), looked))
    return sorted(rows, key=lambda row: (-row.hits.articles if row.hits else 1, row.key))


def _watch(firsts: Sequence[date], scope: Scope) -> Reach:
    """What sources that are watched since these days were to give."""
    if not firsts:
        return Reach()
    end = last_day(scope)
    since = scope.since or min(firsts)
    expected = sum(max(0, (end - max(first, since)).days + 1) for first in firsts)
    return Reach(expected=expected, unwatched=max(0, (min(*firsts, end) - since).days))


def _count(key: str, hits: Hits, looked: Reach) -> MentionCount:
    return MentionCount(key=key, hits=None if looked.level == "none" else hits, reach=looked)


def _hits(key: Any, company: str | None, scope: Scope) -> Select[Any]:
    """Of the mentions in scope, for each value of `key`: the numbers that `_hits_of` takes."""
    title = case((Mention.section == "title", 1), else_=0)
    limited = case((Article.access != "open", Mention.article_id))
    query = scoped(
        select(
            key,
            func.count(distinct(Mention.article_id)),
            func.count(distinct(limited)),
            func.sum(title),
            func.count(),
        )
        .select_from(Mention)
        .join(Company, Company.id == Mention.company_id)
        .join(Article, Article.id == Mention.article_id),
        scope,
    )
    if company is not None:
        query = query.where(Company.name == company)
    return query.group_by(key)


def _hits_of(numbers: Sequence[int]) -> Hits:
    found, limited, in_title, mentions = numbers
    return Hits(articles=found, limited=limited, in_title=in_title, in_body=mentions - in_title)


def _grouped_hits(session: Session, key: Any, company: str | None, scope: Scope) -> dict[Any, Hits]:
    rows = session.execute(_hits(key, company, scope))
    return {group: _hits_of(numbers) for group, *numbers in rows}


def _grouped_read(session: Session, key: Any, scope: Scope) -> dict[Any, int]:
    query = scoped(select(key, func.count()).select_from(Article), scope).group_by(key)
    return dict(session.execute(query).all())


def _grouped_coverage(session: Session, key: Any, scope: Scope) -> dict[Any, int]:
    """For each value of `key` the number of source-days that were read."""
    query = (
        select(key, func.count())
        .select_from(Coverage)
        .join(Source, Source.id == Coverage.source_id)
        .where(Coverage.state.in_(COVERED), *watched(scope), *between(Coverage.day, scope))
        .group_by(key)
    )
    return dict(session.execute(query).all())


def _period(day: date, by: Period) -> str:
    if by == "month":
        return f"{day:%Y-%m}"
    return (day if by == "day" else day - timedelta(days=day.weekday())).isoformat()
