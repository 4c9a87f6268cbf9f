"""The articles, sources and days that a scope means, as conditions of a query."""

from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from typing import TypeVarTuple

from sqlalchemy import ColumnElement, Select, exists, func, or_, select
from sqlalchemy.orm import InstrumentedAttribute, Session

from newscrawl.storage.documents import COUNTED_KINDS
from newscrawl.storage.models import Article, Coverage, Source
from newscrawl.storage.queries.rows import Scope

_Columns = TypeVarTuple("_Columns")


def scoped(
    query: Select[*_Columns], scope: Scope, *, every_kind: bool = False
) -> Select[*_Columns]:
    """A query over articles, joined to their sources and kept to the scope; to those that
    count unless `every_kind` is set."""
    query = query.join(Source, Source.id == Article.source_id).where(*between(Article.day, scope))
    if scope.source is not None:
        query = query.where(Source.slug == scope.source)
    if scope.language is not None:
        query = query.where(Article.language == scope.language)
    if every_kind:
        return query
    return query.where(or_(Article.kind.in_(COUNTED_KINDS), Article.access != "open"))


def between(day: InstrumentedAttribute[date], scope: Scope) -> list[ColumnElement[bool]]:
    """The scope's days."""
    conditions = []
    if scope.since is not None:
        conditions.append(day >= scope.since)
    if scope.until is not None:
        conditions.append(day <= scope.until)
    return conditions


def watched(scope: Scope) -> list[ColumnElement[bool]]:
    """The scope's sources: those of its language, and those that had an article in it."""
    conditions = []
    if scope.source is not None:
        conditions.append(Source.slug == scope.source)
    if scope.language is not None:
        writes = exists().where(Article.source_id == Source.id, Article.language == scope.language)
        conditions.append(or_(Source.language == scope.language, writes))
    return conditions


def first_days(session: Session, scope: Scope) -> dict[str, date]:
    """For each source in scope the first day for which a crawl was recorded."""
    query = (
        select(Source.slug, func.min(Coverage.day))
        .select_from(Coverage)
        .join(Source, Source.id == Coverage.source_id)
        .where(*watched(scope))
        .group_by(Source.slug)
    )
    return dict(session.execute(query).all())


def last_day(scope: Scope) -> date:
    """The scope's last day, or today."""
    return scope.until or datetime.now(UTC).date()


def days(first: date, last: date) -> Iterator[date]:
    """Each day from the first to the last, both included."""
    for number in range((last - first).days + 1):
        yield first + timedelta(days=number)
