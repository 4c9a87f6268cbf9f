"""The table that a count is read from: the smallest one that knows all that a question asks for.

Days by company, over all sources, answer most questions in a few hundred rows. A scope with a
source, country or language needs the days by source; a section, a time zone, an hour or a count
of stories needs the articles themselves, one narrow row for each (storage/models/rollups.py).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from sqlalchemy import ColumnElement, Select, case, func, literal, select
from sqlalchemy.orm import Session, aliased

from newscrawl.storage import models
from newscrawl.storage.models import Source
from newscrawl.storage.scope import (
    QUARTER,
    By,
    Group,
    Scope,
    between,
    company_ids,
    minutes_of,
    source_ids,
    zone_of,
)

Grain = Literal["day", "source", "article"]

_PERIODS = frozenset({"hour", "day", "week", "month", "quarter", "year"})
_OF_ALL: dict[Grain, type[Any]] = {
    "day": models.DailyTotal,
    "source": models.DailySource,
    "article": models.CountedArticle,
}
_OF_COMPANIES: dict[Grain, type[Any]] = {
    "day": models.DailyCompany,
    "source": models.DailyCompanySource,
    "article": models.Appearance,
}


@dataclass(frozen=True, slots=True)
class RollupTable:
    """A table, its grain, and the conditions that limit it to a scope.

    Tables with the grain "article" have a column `minute`, and the others a column `day`.
    """

    table: Any
    grain: Grain
    conditions: tuple[ColumnElement[bool], ...]

    @property
    def moment(self) -> Any:
        """The column that periods are made of: a UTC day, or a quarter of an hour."""
        return self.table.minute // QUARTER if self.grain == "article" else self.table.day

    def hits(self) -> list[ColumnElement[int]]:
        """Return the sums that `counts._hits_of` takes."""
        table = self.table
        if self.grain != "article":
            return [
                _sum(column)
                for column in (table.articles, table.limited, table.in_title, table.in_body)
            ]
        named = table.in_title + table.in_body
        occurrences = [_sum(table.in_title), _sum(table.in_body)]
        if table is models.CountedArticle:  # which has articles that name no company, too
            return [_sum(_if(named > 0, 1)), _sum(_if(named > 0, table.limited)), *occurrences]
        return [func.count(), _sum(table.limited), *occurrences]

    def read(self) -> ColumnElement[int]:
        """Return the number of articles that count; for tables of all companies only."""
        return func.count() if self.grain == "article" else _sum(self.table.read)

    def stories(self) -> ColumnElement[int]:
        """Return the number of stories; for tables of articles only."""
        story: ColumnElement[Any] = self.table.story_id
        if self.table is models.CountedArticle:
            story = _if(self.table.in_title + self.table.in_body > 0, story)
        return func.count(story.distinct())

    def select(self, *columns: Any) -> Select[Any]:
        """Return a query of the columns within the scope."""
        return select(*columns).select_from(self.table).where(*self.conditions)


def rollup_table(
    session: Session, scope: Scope, *, by: By | None, company: str | None, stories: bool = False
) -> RollupTable:
    """Return the table of the counts of one company or group, or without one that of all
    articles."""
    table_of = _OF_ALL if company is None else _OF_COMPANIES
    grain = _grain(scope, by, stories=stories)
    table = table_of[grain]
    conditions = _conditions(session, table, grain, scope)
    if company is not None:
        ids = company_ids(session, company, scope)
        if ids[1:]:
            return union_table(session, scope, {ids[0]: ids})
        conditions.append(table.company_id == ids[0])
    return RollupTable(table, grain, tuple(conditions))


def union_table(session: Session, scope: Scope, unions: Mapping[int, Sequence[int]]) -> RollupTable:
    """Return a table with a row for each article that mentions one or more companies of a union,
    with their occurrences together, as if these were one company with the number of the union."""
    table = models.Appearance
    numbers = {member: union for union, members in unions.items() for member in members}
    summed = {"company_id", "in_title", "in_body"}
    same = [column for column in table.__table__.c if column.name not in summed]
    union = case(numbers, value=table.company_id).label("company_id")
    # A query within the query, since PostgreSQL can't group by an expression with parameters.
    rows = select(union, table.in_title, table.in_body, *same)
    conditions = _conditions(session, table, "article", scope)
    found = rows.where(*conditions, table.company_id.in_(numbers)).subquery().c
    key = [found.company_id, *(found[column.name] for column in same)]
    sums = [func.sum(found[name]).label(name) for name in ("in_title", "in_body")]
    articles = select(*key, *sums).group_by(*key).subquery()
    return RollupTable(aliased(table, articles, adapt_on_names=True), "article", ())


def companies_table(
    session: Session, scope: Scope, *, by: By | None = None, stories: bool = False
) -> RollupTable:
    """Return the table of every company, to be grouped by its `company_id`."""
    grain = _grain(scope, by, stories=stories)
    table = _OF_COMPANIES[grain]
    return RollupTable(table, grain, tuple(_conditions(session, table, grain, scope)))


def grouped(rollup: RollupTable, by: Group, *columns: Any) -> Any:
    """Return a query with a row for each group; sources and countries bear their names."""
    if by in {"source", "country"}:
        key: Any = Source.slug if by == "source" else Source.country
        join = Source.id == rollup.table.source_id
        return rollup.select(key, *columns).join(Source, join).group_by(key)
    key = getattr(rollup.table, by)
    return rollup.select(key, *columns).group_by(key)


def _grain(scope: Scope, by: By | None, *, stories: bool) -> Grain:
    """Return the coarsest grain that answers a question."""
    if stories or scope.section is not None or by in {"hour", "section"}:
        return "article"
    if zone_of(scope).key != "UTC" and (scope.since or scope.until or by in _PERIODS):
        return "article"
    narrowed = any(each is not None for each in (scope.source, scope.country, scope.language))
    if narrowed or by in {"source", "country", "language"}:
        return "source"
    return "day"


def _conditions(
    session: Session, table: Any, grain: Grain, scope: Scope
) -> list[ColumnElement[bool]]:
    conditions: list[ColumnElement[bool]] = []
    if grain == "article":
        since, until = minutes_of(scope)
        if since is not None:
            conditions.append(table.minute >= since)
        if until is not None:
            conditions.append(table.minute < until)
        if scope.section is not None:
            conditions.append(table.section == scope.section)
    else:
        conditions += between(table.day, scope)
    if grain == "day":
        return conditions
    if (sources := source_ids(session, scope)) is not None:
        conditions.append(table.source_id.in_(sources))
    if scope.language is not None:
        conditions.append(table.language == scope.language)
    return conditions


def _sum(column: Any) -> ColumnElement[int]:
    return func.coalesce(func.sum(column), literal(0))


def _if(condition: Any, value: Any) -> ColumnElement[Any]:
    return case((condition, value))
