"""Select the table for a count: the smallest one with all facts that the question needs.

Days by company, over all sources, answer most questions in a few hundred rows. A scope with a
source, country or language needs the days by source; a section those by section, which all
companies together have; a section of one company, a time zone, an hour or a count of stories needs
the articles themselves, one narrow row for each (storage/models/articles.py).
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from typing import Any, Literal, TypeVarTuple

from sqlalchemy import (
    CTE,
    BindParameter,
    ColumnElement,
    Date,
    Integer,
    Select,
    and_,
    bindparam,
    case,
    cast,
    func,
    literal,
    not_,
    or_,
    select,
    type_coerce,
)
from sqlalchemy.dialects import postgresql
from sqlalchemy.orm import Session, aliased

from newscrawl.storage import models
from newscrawl.storage.models import Company, Source
from newscrawl.storage.queries.questions import about
from newscrawl.storage.scope import (
    QUARTER,
    By,
    Group,
    Period,
    Scope,
    first_minute,
    key_of_day,
    local_time,
    minutes_of,
    period_of,
    zone_of,
)
from newscrawl.storage.scope_conditions import (
    between,
    let_through,
    of_articles,
    source_ids,
    stored_language,
)

Grain = Literal["day", "source", "section", "article"]
Columns = TypeVarTuple("Columns")
ColumnTypes = Mapping[str, type[Date | Integer]]

_PERIODS = frozenset({"hour", "day", "week", "month", "quarter", "year"})
_OF_ALL: dict[Grain, type[Any]] = {
    "day": models.DailyTotal,
    "source": models.DailySource,
    "section": models.DailySection,
    "article": models.CountedArticle,
}
_OF_COMPANIES: dict[Grain, type[Any]] = {
    "day": models.DailyCompany,
    "source": models.DailyCompanySource,
    "article": models.Appearance,
}

# Made once: most questions need it, and it takes longer to write than to run.
_NAMES: BindParameter[str] = bindparam("names", expanding=True)
_BY_NAME = select(Company.name, Company.id).where(Company.name.in_(_NAMES))


@dataclass(frozen=True, slots=True, kw_only=True)
class Hits:
    """Articles with a mention, and occurrences in them.

    Stories don't add up: one that is reported on two days counts on each, and once for both.
    """

    articles: int = 0
    stories: int | None = field(default=None, metadata=about("null if they were not requested"))
    in_title: int = field(default=0, metadata=about("occurrences in headlines", column="headline"))
    in_body: int = field(
        default=0,
        metadata=about(
            "occurrences in texts, or in introductions of limited articles", column="body"
        ),
    )
    limited: int = field(
        default=0,
        metadata=about("articles of which headline and introduction alone are known"),
    )
    mentions: int = field(
        init=False, default=0, metadata=about("in_title and in_body together", shown="nowhere")
    )

    def __post_init__(self) -> None:
        object.__setattr__(self, "mentions", self.in_title + self.in_body)

    def __add__(self, other: "Hits") -> "Hits":
        return Hits(
            articles=self.articles + other.articles,
            limited=self.limited + other.limited,
            in_title=self.in_title + other.in_title,
            in_body=self.in_body + other.in_body,
        )


@dataclass(frozen=True, slots=True)
class CompanyDays:
    """A company by number, with the UTC days, both included, on which it counts; None is open."""

    number: int
    first: date | None = None
    last: date | None = None

    @property
    def is_always(self) -> bool:
        """Return whether it counts on all days."""
        return self.first is None and self.last is None

    @property
    def days(self) -> tuple[date, date]:
        """Return its first day, and the first one after the last."""
        after = self.last + timedelta(days=1) if self.last else date.max
        return self.first or date.min, after

    @property
    def minutes(self) -> tuple[int, int]:
        """Return the first minute of its days, and the first one after them."""
        first, after = self.days
        return first_minute(first), first_minute(after)


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
        """Return the column of which periods are made: a UTC day, or a quarter of an hour."""
        return self.table.minute // QUARTER if self.grain == "article" else self.table.day

    def period(self, moment: Any, by: Period, scope: Scope) -> str:
        """Return the key of the period in which a `moment` of the table lies."""
        if self.grain == "article":
            return period_of(local_time(moment, zone_of(scope)), by)
        return key_of_day(moment, by)

    def hits(self) -> list[ColumnElement[int]]:
        """Return the sums that `hits_of` takes."""
        table = self.table
        if self.grain != "article":
            return [
                _sum(column)
                for column in (table.articles, table.limited, table.in_title, table.in_body)
            ]
        in_article = table.in_title + table.in_body
        occurrences = [_sum(table.in_title), _sum(table.in_body)]
        if table is models.CountedArticle:  # which also has articles without a company
            return [
                _sum(_if(in_article > 0, 1)),
                _sum(_if(in_article > 0, table.limited)),
                *occurrences,
            ]
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
    session: Session,
    scope: Scope,
    *,
    by: By | None,
    company: str | Sequence[CompanyDays] | None,
    stories: bool = False,
) -> RollupTable:
    """Return the table with the counts of a company or group, by its name or its `company_days`,
    or of all articles if there is none.

    Its days may be UTC days although the scope has a zone, unless `by` is a period or the scope
    has a first or last day: a question that reads local days of groups needs `by="hour"`.
    """
    if company is None:
        return _table(session, scope, _OF_ALL, by, stories=stories)
    rollup = companies_table(session, scope, by=by, stories=stories)
    days = company_days(session, company, scope) if isinstance(company, str) else company
    days = _mentioned_companies(session, days, scope)
    if days[1:] or not days[0].is_always:
        return union_table(session, scope, {days[0].number: days})
    of_company = rollup.table.company_id == days[0].number
    return replace(rollup, conditions=(*rollup.conditions, of_company))


def union_table(
    session: Session, scope: Scope, unions: Mapping[int, Sequence[CompanyDays]]
) -> RollupTable:
    """Return a table with a row for each article that mentions one or more companies of a union,
    with their occurrences together, as if these were one company with the number of the union.

    On days on which a company doesn't count for a union, it has no rows."""
    table = models.Appearance
    summed = {"company_id", "in_title", "in_body"}
    same = [column for column in table.__table__.c if column.name not in summed]
    members = UnionMembers(session, table, unions)
    rows = select(members.union.label("company_id"), table.in_title, table.in_body, *same)
    within = companies_table(session, scope, by="hour").conditions
    of_members = members.join(rows, only_members=True).where(*within).subquery().c
    key = [of_members.company_id, *(of_members[column.name] for column in same)]
    sums = [func.sum(of_members[name]).label(name) for name in ("in_title", "in_body")]
    articles = select(*key, *sums).group_by(*key).subquery()
    return RollupTable(aliased(table, articles, adapt_on_names=True), "article", ())


def subjects_of(
    session: Session, names: Iterable[str], scope: Scope
) -> dict[str, list[CompanyDays]]:
    """Return the companies that count under each name, with their days; 0, which no company has, if
    none of them was ever mentioned."""
    tenures = {name: scope.tenures(name) for name in names}
    companies = [tenure.company for each in tenures.values() for tenure in each]
    numbers = dict(session.execute(_BY_NAME, {"names": companies}).all()) if companies else {}
    subjects = {
        name: [
            CompanyDays(numbers[tenure.company], tenure.first, tenure.last)
            for tenure in each
            if tenure.company in numbers
        ]
        for name, each in tenures.items()
    }
    return {
        name: sorted(days, key=lambda day: day.number) or [CompanyDays(0)]
        for name, days in subjects.items()
    }


def company_days(session: Session, name: str, scope: Scope) -> list[CompanyDays]:
    """Return the companies that count under a name, as `subjects_of` does."""
    return subjects_of(session, [name], scope)[name]


def _mentioned_companies(
    session: Session, days: Sequence[CompanyDays], scope: Scope
) -> Sequence[CompanyDays]:
    """Return the companies that were mentioned in the scope's days at all, or the first one: the
    numbers of one company are read from smaller tables than those of several together."""
    if not days[1:]:
        return days
    table = models.DailyCompany
    query = select(table.company_id).distinct().where(*between(table.day, scope.widened()))
    query = query.where(table.company_id.in_([day.number for day in days]), table.articles > 0)
    numbers = set(session.scalars(query))
    return [day for day in days if day.number in numbers] or [CompanyDays(days[0].number)]


def families(session: Session, scope: Scope) -> dict[str, list[CompanyDays]]:
    """Return the companies that count under the name of each owner, but for owners that count
    alone. Empty without `subsidiaries`."""
    if not scope.subsidiaries:
        return {}
    owned: dict[str, list[CompanyDays]] = {}
    alone = {}
    for number, name in session.execute(select(Company.id, Company.name)):
        for ownership in scope.ownerships(name):
            owned.setdefault(ownership.chain[-1], []).append(
                CompanyDays(number, ownership.first, ownership.last)
            )
        alone[name] = [CompanyDays(number)]
    return {owner: days for owner, days in owned.items() if days != alone.get(owner)}


def counts_on(
    company: Any, table: Any, days: Iterable[CompanyDays], *, negated: bool = False
) -> ColumnElement[bool]:
    """Return the condition that a company, by a column of its number, counts on the day of a row of
    a table, or with `negated` that it doesn't."""
    always = {day.number for day in days if day.is_always}
    alternatives: list[ColumnElement[bool]] = [company.in_(always)]
    by_minute = hasattr(table, "minute")
    moment = table.minute if by_minute else table.day
    for day in (day for day in days if day.number not in always):
        first, after = day.minutes if by_minute else day.days
        conditions = [company == day.number]
        conditions += [moment >= first] if day.first else []
        conditions += [moment < after] if day.last else []
        alternatives.append(and_(*conditions))
    return not_(or_(*alternatives)) if negated else or_(*alternatives)


class UnionMembers:
    """The companies of unions, to be joined to the rows of a table with companies by day or minute.

    A join takes one lookup for a row, while an expression with an alternative for each company
    takes a comparison for each.
    """

    def __init__(
        self, session: Session, table: Any, unions: Mapping[int, Sequence[CompanyDays]]
    ) -> None:
        self.union: ColumnElement[int] = table.company_id
        """The number of the union for which the company of a row counts, else its own."""
        self._company = table.company_id
        self._numbers = {day.number for days in unions.values() for day in days}
        self._members: CTE | None = None
        if unions:
            by_minute = hasattr(table, "minute")
            moment = Integer if by_minute else Date
            columns: ColumnTypes = {
                "number": Integer,
                "union_id": Integer,
                "first": moment,
                "after": moment,
            }
            rows = [
                (day.number, union, *(day.minutes if by_minute else day.days))
                for union, days in unions.items()
                for day in days
            ]
            self._members = given_rows(session, columns, rows)
            self.union = func.coalesce(self._members.c.union_id, table.company_id)
            self._is_member = _is_member(table, self._members)

    def join(self, query: Select[*Columns], *, only_members: bool = False) -> Select[*Columns]:
        """Return the query with the unions of its rows, or with `only_members` without the rows of
        companies that count for none."""
        if only_members:
            # The numbers by themselves: databases use no index for a join with days.
            query = query.where(self._company.in_(self._numbers))
        if self._members is None:
            return query
        return query.join(self._members, self._is_member, isouter=not only_members)


def given_rows(
    session: Session,
    columns: ColumnTypes,
    rows: Sequence[Sequence[int | date]],
) -> CTE:
    """Return rows of numbers and days as a table, each of which would be a parameter of its own in
    VALUES."""
    if session.get_bind().dialect.name == "postgresql":
        arrays = (
            bindparam(None, [row[place] for row in rows], type_=postgresql.ARRAY(kind()))
            for place, kind in enumerate(columns.values())
        )
        unnested = func.unnest(*arrays).table_valued(*columns).render_derived().c
        chosen: list[Any] = [type_coerce(unnested[name], kind) for name, kind in columns.items()]
    else:
        value = func.json_each(json.dumps(rows, default=date.isoformat)).table_valued("value").c
        parts = (func.json_extract(value.value, f"$[{place}]") for place in range(len(columns)))
        # SQLite makes an index for a join only of rows that it keeps and of columns of one type.
        chosen = [
            cast(part, kind) if issubclass(kind, Integer) else type_coerce(part, kind)
            for part, kind in zip(parts, columns.values(), strict=True)
        ]
    labelled = (column.label(name) for column, name in zip(chosen, columns, strict=True))
    return select(*labelled).cte().prefix_with("MATERIALIZED")


def _is_member(table: Any, members: CTE) -> ColumnElement[bool]:
    moment = table.minute if hasattr(table, "minute") else table.day
    is_same = members.c.number == table.company_id
    return and_(is_same, moment >= members.c.first, moment < members.c.after)


def companies_table(
    session: Session, scope: Scope, *, by: By | None = None, stories: bool = False
) -> RollupTable:
    """Return the table of every company, to be grouped by its `company_id`."""
    return _table(session, scope, _OF_COMPANIES, by, stories=stories)


def grouped(
    session: Session, rollup: RollupTable, by: Group, scope: Scope, *columns: Any
) -> Iterable[Any]:
    """Return a row for each group that has any, the group first; sources and countries have their
    names."""
    key: Any = Source.slug if by == "source" else Source.country
    number: Any = Source.id
    if by not in {"source", "country", "group"}:
        key = getattr(rollup.table, by)
        return session.execute(rollup.select(key, *columns).group_by(key))
    names: Mapping[Any, str] | None = None
    if by == "group":
        ids = dict(session.execute(select(Source.slug, Source.id)).all())
        names = dict(enumerate(scope.sources_by_group))
        members = [
            (place, ids[slug])
            for place, name in names.items()
            for slug in scope.sources_by_group[name]
            if slug in ids
        ]
        key, number = given_rows(session, {"place": Integer, "source_id": Integer}, members).c
    of_source = rollup.table.source_id
    if by != "source" and rollup.grain == "article":  # whose stories may be those of two sources
        query = rollup.select(key, *columns).join(number.table, number == of_source).group_by(key)
    else:
        # By number first: names would be compared for each day.
        labelled = [column.label(f"sum_{place}") for place, column in enumerate(columns)]
        each = rollup.select(of_source, *labelled).group_by(of_source).subquery().c
        sums = [func.sum(each[column.name]) for column in labelled]
        joined = select(key, *sums).join(each.source_id.table, each.source_id == number)
        query = joined.group_by(key)
    rows = session.execute(query)
    return rows if names is None else ((names[place], *sums) for place, *sums in rows)


def _table(
    session: Session,
    scope: Scope,
    tables: Mapping[Grain, type[Any]],
    by: By | None,
    *,
    stories: bool,
) -> RollupTable:
    """Return the table with the coarsest grain that answers a question."""
    grain: Grain = "day"
    narrowed = scope.narrows_sources or scope.language is not None
    if narrowed or by in {"source", "country", "language", "group"}:
        grain = "source"
    if scope.section is not None or by == "section":
        grain = "section" if "section" in tables else "article"
    is_local = zone_of(scope).key != "UTC" and (scope.since or scope.until or by in _PERIODS)
    if stories or by == "hour" or is_local or scope.narrows_articles:
        grain = "article"
    table = tables[grain]
    conditions = [
        *(minutes_within(table, scope) if grain == "article" else between(table.day, scope))
    ]
    if grain == "day":
        return RollupTable(table, grain, tuple(conditions))
    if limits := of_articles(scope):
        conditions.append(table.article_id.in_(select(models.Article.id).where(*limits)))
    if scope.section is not None:
        conditions.append(table.section == scope.section)
    if (sources := source_ids(session, scope)) is not None:
        conditions.append(table.source_id.in_(sources))
    if scope.language is not None:
        conditions.append(table.language == stored_language(scope.language))
    if scope.among is not None:
        conditions.append(let_through(scope.among, table.source_id, table.language))
    return RollupTable(table, grain, tuple(conditions))


def minutes_within(table: Any, scope: Scope) -> Iterator[ColumnElement[bool]]:
    """Yield the conditions for the days of a scope, for a table of minutes."""
    since, until = minutes_of(scope)
    if since is not None:
        yield table.minute >= since
    if until is not None:
        yield table.minute < until


def _sum(column: Any) -> ColumnElement[int]:
    return func.coalesce(func.sum(column), literal(0))


def _if(condition: Any, value: Any) -> ColumnElement[Any]:
    return case((condition, value))


def hits_of(numbers: Iterable[int]) -> Hits:
    """Return hits from the sums of `RollupTable.hits`."""
    articles, limited, in_title, in_body = map(int, numbers)
    return Hits(articles=articles, limited=limited, in_title=in_title, in_body=in_body)
