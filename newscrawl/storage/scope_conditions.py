"""The conditions of SQL that limit articles, sources and coverage to a `Scope`."""

from collections.abc import Callable
from dataclasses import replace
from datetime import date, timedelta
from typing import Any, TypeVarTuple

from sqlalchemy import ColumnElement, Select, and_, exists, false, func, not_, or_, select, true
from sqlalchemy.orm import Session

from newscrawl.items import UNKNOWN
from newscrawl.storage.database import reads
from newscrawl.storage.documents import COUNTED_KINDS
from newscrawl.storage.models import Article, Coverage, DailySource, Source
from newscrawl.storage.scope import (
    FILTERS,
    Scope,
    local_day,
    midnight,
    usual_spelling,
    zone_of,
)
from newscrawl.storage.search_language import And, Filter, Node, Or, Without

_ONE_DAY = timedelta(days=1)
_Columns = TypeVarTuple("_Columns")


@reads
def validate_in(session: Session, scope: Scope) -> Scope:
    """Return the valid scope, with source and country as they are written in the database; raise
    QuestionError for those that it does not have."""
    scope = scope.validate()
    usual: dict[str, Any] = {}
    for name, column in (("source", Source.slug), ("country", Source.country)):
        if text := getattr(scope, name):
            usual[name] = usual_spelling(text, sorted({*session.scalars(select(column))}), name)
    return replace(scope, **usual)


def articles_within(
    query: Select[*_Columns], scope: Scope, *, every_kind: bool = False
) -> Select[*_Columns]:
    """Return a query over articles, joined to their sources and limited to the scope; to
    articles that count unless `every_kind` is set."""
    query = query.join(Source, Source.id == Article.source_id).where(*_published_within(scope))
    query = query.where(*_of_sources(scope))
    for column, value in (
        (func.coalesce(Article.language, ""), stored_language(scope.language)),
        (Article.section, scope.section),
    ):
        if value is not None:
            query = query.where(column == value)
    query = query.where(*of_articles(scope))
    if scope.among is not None:
        language = func.coalesce(Article.language, "")
        query = query.where(let_through(scope.among, Article.source_id, language))
    if every_kind:
        return query
    return query.where(or_(Article.kind.in_(COUNTED_KINDS), Article.access != "open"))


def of_articles(scope: Scope) -> list[ColumnElement[bool]]:
    """Return the conditions of the filters that only the articles themselves can answer."""
    return [
        filter_.condition(Article, value)
        for name, filter_ in FILTERS.items()
        if filter_.condition is not None and (value := getattr(scope, name)) is not None
    ]


def stored_language(language: str | None) -> str | None:
    """Return a language in the tables' form: "" if unknown."""
    return "" if language == UNKNOWN else language


def _published_within(scope: Scope) -> list[ColumnElement[bool]]:
    """Return conditions on the indexed day; in other zones than UTC on the exact moment, too."""
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
    """Return the conditions for the scope's days, where `day` is a column of UTC days."""
    conditions: list[ColumnElement[bool]] = []
    if scope.since is not None:
        conditions.append(day >= scope.since)
    if scope.until is not None:
        conditions.append(day <= scope.until)
    return conditions


def covered_within(scope: Scope) -> list[ColumnElement[bool]]:
    """Return `between` for days of coverage, which are UTC days: with one more on either side
    where the scope's zone is another, for `local_day` to decide."""
    if zone_of(scope).key == "UTC":
        return between(Coverage.day, scope)
    return between(Coverage.day, scope.widened())


def sources_within(scope: Scope) -> list[ColumnElement[bool]]:
    """Return the conditions for the scope's sources: of a language, those that are written in it
    and those that had an article in it."""
    conditions = _of_sources(scope)
    if scope.language is not None:
        conditions.append(_written_in(scope.language))
    return conditions


def source_ids(session: Session, scope: Scope) -> list[int] | None:
    """Return the sources that a scope is limited to; None for all."""
    if not scope.narrows_sources:
        return None
    return sorted(session.scalars(select(Source.id).where(*_of_sources(scope))))


def _of_sources(scope: Scope) -> list[ColumnElement[bool]]:
    """Return the conditions for the sources of a scope."""
    conditions: list[ColumnElement[bool]] = []
    if (slugs := scope.slugs) is not None:
        conditions.append(Source.slug.in_(sorted(slugs)))
    if scope.country is not None:
        conditions.append(Source.country == scope.country)
    if scope.among is not None:
        conditions.append(_matches(scope.among, _of_source, certain=False))
    return conditions


def let_through(query: Node, source_id: Any, language: Any) -> ColumnElement[bool]:
    """Return the condition for articles, by columns of their source and language, that the filters
    of a query let through."""

    def of_article(one: Filter, _certain: bool) -> ColumnElement[bool]:
        if one.name == "language":
            return and_(language == stored_language(one.value))
        return and_(source_id.in_(select(Source.id).where(_of_source(one, True))))

    return _matches(query, of_article, certain=False)


def _of_source(one: Filter, certain: bool) -> ColumnElement[bool]:
    if one.name != "language":
        return and_((Source.slug if one.name == "source" else Source.country) == one.value)
    if certain:  # a source may be written in several languages
        return false()
    return _written_in(one.value)


def _written_in(language: str) -> ColumnElement[bool]:
    """Return the condition for sources that are written in a language or had an article in it."""
    writes = exists().where(
        DailySource.source_id == Source.id,
        DailySource.language == stored_language(language),
        DailySource.read > 0,
    )
    return or_(Source.language == language, writes)


def _matches(
    node: Node, condition: Callable[[Filter, bool], ColumnElement[bool]], *, certain: bool
) -> ColumnElement[bool]:
    """Return the condition for what matches a query whatever its words are if that is `certain`,
    and otherwise for what matches it with the right words; `condition` is that of one filter."""
    match node:
        case Filter():
            return condition(node, certain)
        case And():
            return and_(*(_matches(part, condition, certain=certain) for part in node.parts))
        case Or():
            return or_(*(_matches(part, condition, certain=certain) for part in node.parts))
        case Without():
            included, excluded = node.parts
            refused = _matches(excluded, condition, certain=not certain)
            return and_(_matches(included, condition, certain=certain), not_(refused))
    return false() if certain else true()


def first_days(session: Session, scope: Scope) -> dict[str, date]:
    """Return for each source in scope the first day for which a crawl was recorded."""
    first = (
        select(func.min(Coverage.day))
        .where(Coverage.source_id == Source.id)
        .correlate(Source)
        .scalar_subquery()
    )
    zone = zone_of(scope)
    rows = session.execute(select(Source.slug, first).where(*sources_within(scope)))
    return {slug: local_day(day, zone) for slug, day in rows if day is not None}
