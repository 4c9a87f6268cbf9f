"""The articles, sources and days that a scope means, as conditions of a query."""

from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from typing import Any, TypeVarTuple

from sqlalchemy import ColumnElement, Select, exists, func, or_, select
from sqlalchemy.orm import Session

from newscrawl.storage.documents import COUNTED_KINDS
from newscrawl.storage.models import Article, Company, Coverage, DailySource, Source
from newscrawl.storage.queries.periods import local_day, midnight, zone_of
from newscrawl.storage.queries.rows import Scope

_Columns = TypeVarTuple("_Columns")

_ONE_DAY = timedelta(days=1)


def scoped(
    query: Select[*_Columns], scope: Scope, *, every_kind: bool = False
) -> Select[*_Columns]:
    """A query over articles, joined to their sources and kept to the scope; to those that
    count unless `every_kind` is set."""
    query = query.join(Source, Source.id == Article.source_id).where(*_articles_within(scope))
    for column, value in (
        (Source.slug, scope.source),
        (Source.country, scope.country),
        (Article.language, scope.language),
        (Article.section, scope.section),
    ):
        if value is not None:
            query = query.where(column == value)
    if every_kind:
        return query
    return query.where(or_(Article.kind.in_(COUNTED_KINDS), Article.access != "open"))


def _articles_within(scope: Scope) -> list[ColumnElement[bool]]:
    """The days, by their index; in other zones than UTC the exact moments besides."""
    zone = zone_of(scope)
    if zone.key == "UTC":
        return between(Article.day, scope)
    moment = func.coalesce(Article.published_at, Article.first_seen_at)
    conditions = []
    if scope.since is not None:
        conditions += [Article.day >= scope.since - _ONE_DAY, moment >= midnight(scope.since, zone)]
    if scope.until is not None:
        end = midnight(scope.until + _ONE_DAY, zone)
        conditions += [Article.day <= scope.until + _ONE_DAY, moment < end]
    return conditions


def between(day: Any, scope: Scope) -> list[ColumnElement[bool]]:
    """The scope's days, where `day` is a column of UTC days."""
    conditions: list[ColumnElement[bool]] = []
    if scope.since is not None:
        conditions.append(day >= scope.since)
    if scope.until is not None:
        conditions.append(day <= scope.until)
    return conditions


def covered_within(scope: Scope) -> list[ColumnElement[bool]]:
    """As `between` over days of coverage, which are UTC days: with one more on either side
    where the scope's zone is another, to be told apart by `local_day`."""
    if zone_of(scope).key == "UTC":
        return between(Coverage.day, scope)
    wider = Scope(
        since=scope.since and scope.since - _ONE_DAY, until=scope.until and scope.until + _ONE_DAY
    )
    return between(Coverage.day, wider)


def watched(scope: Scope) -> list[ColumnElement[bool]]:
    """The scope's sources: those of its language, and those that had an article in it."""
    conditions: list[ColumnElement[bool]] = []
    if scope.source is not None:
        conditions.append(Source.slug == scope.source)
    if scope.country is not None:
        conditions.append(Source.country == scope.country)
    if scope.language is not None:
        writes = exists().where(
            DailySource.source_id == Source.id,
            DailySource.language == scope.language,
            DailySource.read > 0,
        )
        conditions.append(or_(Source.language == scope.language, writes))
    return conditions


def source_ids(session: Session, scope: Scope) -> list[int] | None:
    """The sources that a scope names; None where it names none, so that all are meant."""
    if scope.source is None and scope.country is None:
        return None
    query = select(Source.id)
    if scope.source is not None:
        query = query.where(Source.slug == scope.source)
    if scope.country is not None:
        query = query.where(Source.country == scope.country)
    return sorted(session.scalars(query))


def company_id(session: Session, name: str) -> int:
    """A company's number; 0, which no company has, for one that was never mentioned."""
    return session.scalar(select(Company.id).where(Company.name == name)) or 0


def first_days(session: Session, scope: Scope) -> dict[str, date]:
    """For each source in scope the first day for which a crawl was recorded."""
    first = (
        select(func.min(Coverage.day))
        .where(Coverage.source_id == Source.id)
        .correlate(Source)
        .scalar_subquery()
    )
    zone = zone_of(scope)
    rows = session.execute(select(Source.slug, first).where(*watched(scope)))
    return {slug: local_day(day, zone) for slug, day in rows if day is not None}


def last_day(scope: Scope) -> date:
    """The scope's last day that has begun: nobody can have looked at those to come."""
    today = (scope.now or datetime.now(UTC)).astimezone(zone_of(scope)).date()
    return min(scope.until or today, today)


def days(first: date, last: date) -> Iterator[date]:
    """Each day from the first to the last, both included."""
    for number in range((last - first).days + 1):
        yield first + timedelta(days=number)
