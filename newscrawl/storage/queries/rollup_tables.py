"""The table that a count is read from: the smallest one that knows all that a question asks for;
and the counts that several questions read from it.

Days by company, over all sources, answer most questions in a few hundred rows. A scope with a
source, country or language needs the days by source; a section, a time zone, an hour or a count
of stories needs the articles themselves, one narrow row for each (storage/models/rollups.py).
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from typing import Any, Literal, TypeVarTuple

from sqlalchemy import (
    CTE,
    ColumnElement,
    Date,
    Integer,
    Select,
    and_,
    case,
    cast,
    column,
    func,
    literal,
    not_,
    or_,
    select,
    values,
)
from sqlalchemy.orm import Session, aliased
from sqlalchemy.types import TypeEngine

from newscrawl.storage import models
from newscrawl.storage.models import Company, Source
from newscrawl.storage.ownership import Tenure
from newscrawl.storage.queries.questions import about
from newscrawl.storage.scope import (
    QUARTER,
    By,
    Group,
    Scope,
    between,
    first_minute,
    minutes_of,
    source_ids,
    stored_language,
    zone_of,
)

Grain = Literal["day", "source", "article"]
Columns = TypeVarTuple("Columns")

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Hits:
    """Articles with a mention, and occurrences in them.

    Stories don't add up: one that is reported on two days counts on each, and once for both.
    """

    articles: int = 0
    stories: int | None = field(default=None, metadata=about("null where they were not asked for"))
    in_title: int = field(default=0, metadata=about("occurrences in headlines", column="headline"))
    in_body: int = field(
        default=0,
        metadata=about(
            "occurrences in texts, or in standfirsts of limited articles", column="body"
        ),
    )
    limited: int = field(
        default=0,
        metadata=about("articles of which headline and standfirst alone are known"),
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

    def hits(self) -> list[ColumnElement[int]]:
        """Return the sums that `hits_of` takes."""
        table = self.table
        if self.grain != "article":
            return [
                _sum(column)
                for column in (table.articles, table.limited, table.in_title, table.in_body)
            ]
        named = table.in_title + table.in_body
        occurrences = [_sum(table.in_title), _sum(table.in_body)]
        if table is models.CountedArticle:  # which also has articles without a company
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
    session: Session,
    scope: Scope,
    *,
    by: By | None,
    company: str | None,
    stories: bool = False,
    days: Sequence[CompanyDays] = (),
) -> RollupTable:
    """Return the table with the counts of a company or group, or of all articles if there is
    none. `days` are the companies that count under the name, if others than usual.

    Its days may be UTC days although the scope has a zone, unless `by` is a period or the scope
    has a first or last day: a question that reads local days of groups needs `by="hour"`.
    """
    table_of = _OF_ALL if company is None else _OF_COMPANIES
    grain = _grain(scope, by, stories=stories)
    table = table_of[grain]
    conditions = _conditions(session, table, grain, scope)
    if company is not None:
        days = _mentioned_companies(session, days or company_days(session, company, scope), scope)
        if days != [CompanyDays(days[0].number)]:
            return union_table(session, scope, {days[0].number: days})
        conditions.append(table.company_id == days[0].number)
    return RollupTable(table, grain, tuple(conditions))


def union_table(
    session: Session, scope: Scope, unions: Mapping[int, Sequence[CompanyDays]]
) -> RollupTable:
    """Return a table with a row for each article that mentions one or more companies of a union,
    with their occurrences together, as if these were one company with the number of the union.

    On days on which a company doesn't count for a union, it has no rows."""
    table = models.Appearance
    summed = {"company_id", "in_title", "in_body"}
    same = [column for column in table.__table__.c if column.name not in summed]
    members = UnionMembers(table, unions)
    rows = select(members.union.label("company_id"), table.in_title, table.in_body, *same)
    conditions = _conditions(session, table, "article", scope)
    found = members.join(rows, only_members=True).where(*conditions).subquery().c
    key = [found.company_id, *(found[column.name] for column in same)]
    sums = [func.sum(found[name]).label(name) for name in ("in_title", "in_body")]
    articles = select(*key, *sums).group_by(*key).subquery()
    return RollupTable(aliased(table, articles, adapt_on_names=True), "article", ())


def company_days(session: Session, name: str, scope: Scope) -> list[CompanyDays]:
    """Return the companies that count under a name, with their days; 0, which no company has, if
    none of them was ever mentioned."""
    found = scope.tenures(name)
    query = select(Company.name, Company.id).where(Company.name.in_([one.company for one in found]))
    numbers = dict(session.execute(query).all())
    days = [
        CompanyDays(numbers[one.company], one.first, one.last)
        for one in found
        if one.company in numbers
    ]
    return sorted(days, key=lambda one: one.number) or [CompanyDays(0)]


def _mentioned_companies(
    session: Session, days: Sequence[CompanyDays], scope: Scope
) -> Sequence[CompanyDays]:
    """Return the companies that were mentioned in the scope's days at all, or the first one: the
    numbers of one company are read from smaller tables than those of several together."""
    if not days[1:]:
        return days
    table = models.DailyCompany
    query = select(table.company_id).distinct().where(*between(table.day, scope.widened()))
    query = query.where(table.company_id.in_([one.number for one in days]), table.articles > 0)
    numbers = set(session.scalars(query))
    return [one for one in days if one.number in numbers] or [CompanyDays(days[0].number)]


def families(session: Session, scope: Scope) -> dict[str, list[CompanyDays]]:
    """Return the companies that count under the name of each owner, but for owners that count
    alone. There are none without `subsidiaries`."""
    if not scope.subsidiaries:
        return {}
    owned: dict[str, list[CompanyDays]] = {}
    alone = {}
    for number, name in session.execute(select(Company.id, Company.name)):
        for one in scope.ownerships(name):
            owned.setdefault(one.chain[-1], []).append(CompanyDays(number, one.first, one.last))
        alone[name] = [CompanyDays(number)]
    return {owner: days for owner, days in owned.items() if days != alone.get(owner)}


def counts_on(
    company: Any, table: Any, days: Iterable[CompanyDays], *, negated: bool = False
) -> ColumnElement[bool]:
    """Return the condition that a company, by a column of its number, counts on the day of a row of
    a table, or with `negated` that it doesn't."""
    always = {one.number for one in days if one == CompanyDays(one.number)}
    alternatives: list[ColumnElement[bool]] = [company.in_(always)]
    alternatives += [
        and_(company == one.number, *_on_days(table, one))
        for one in days
        if one.number not in always
    ]
    return not_(or_(*alternatives)) if negated else or_(*alternatives)


class UnionMembers:
    """The companies of unions, to be joined to the rows of a table with companies by day or minute.

    A join takes one lookup for a row, an expression with an alternative for each company as many
    comparisons as there are companies.
    """

    def __init__(self, table: Any, unions: Mapping[int, Sequence[CompanyDays]]) -> None:
        self.union: ColumnElement[int] = table.company_id
        """The number of the union for which the company of a row counts, else its own."""
        numbers = {one.number for days in unions.values() for one in days}
        self._may_be_member = table.company_id.in_(numbers)
        self._members: CTE | None = None
        if unions:
            self._members = _member_rows(table, unions)
            self.union = func.coalesce(self._members.c.union_id, table.company_id)
            self._is_member = _is_member(table, self._members)

    def join(self, query: Select[*Columns], *, only_members: bool = False) -> Select[*Columns]:
        """Return the query with the unions of its rows, or with `only_members` without the rows of
        companies that count for none."""
        if only_members:
            # The numbers by themselves: databases use no index for a join with days.
            query = query.where(self._may_be_member)
        if self._members is None:
            return query
        return query.join(self._members, self._is_member, isouter=not only_members)


def _member_rows(table: Any, unions: Mapping[int, Sequence[CompanyDays]]) -> CTE:
    """Return a row for each company of a union and each of its periods: by minutes as the table has
    them, or by days."""
    by_minute = hasattr(table, "minute")
    rows = []
    for union, days in unions.items():
        for one in days:
            first = one.first or date.min
            after = one.last + timedelta(days=1) if one.last else date.max
            moments = (first_minute(first), first_minute(after)) if by_minute else (first, after)
            rows.append((one.number, union, *moments))
    moment: type[TypeEngine[Any]] = Integer if by_minute else Date
    columns = (
        column("number", Integer),
        column("union_id", Integer),
        column("first", moment),
        column("after", moment),
    )
    given = values(*columns).data(rows).cte()
    # SQLite makes an index for a join only of rows that it keeps and of columns of one type.
    number = cast(given.c.number, Integer).label("number")
    chosen = select(number, given.c.union_id, given.c.first, given.c.after)
    return chosen.cte().prefix_with("MATERIALIZED")


def _is_member(table: Any, members: CTE) -> ColumnElement[bool]:
    moment = table.minute if hasattr(table, "minute") else table.day
    is_same = members.c.number == table.company_id
    return and_(is_same, moment >= members.c.first, moment < members.c.after)


def _on_days(table: Any, one: CompanyDays) -> Iterator[ColumnElement[bool]]:
    """Yield the conditions for the days of a company in a table of minutes or days."""
    if not hasattr(table, "minute"):
        if one.first is not None:
            yield table.day >= one.first
        if one.last is not None:
            yield table.day <= one.last
        return
    if one.first is not None:
        yield table.minute >= first_minute(one.first)
    if one.last is not None:
        yield table.minute < first_minute(one.last + timedelta(days=1))


def companies_table(
    session: Session, scope: Scope, *, by: By | None = None, stories: bool = False
) -> RollupTable:
    """Return the table of every company, to be grouped by its `company_id`."""
    grain = _grain(scope, by, stories=stories)
    table = _OF_COMPANIES[grain]
    return RollupTable(table, grain, tuple(_conditions(session, table, grain, scope)))


def grouped(rollup: RollupTable, by: Group, *columns: Any) -> Any:
    """Return a query with a row for each group; sources and countries have their names."""
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
    narrowed = scope.narrows_sources or scope.language is not None
    if narrowed or by in {"source", "country", "language", "group", "tier"}:
        return "source"
    return "day"


def _conditions(
    session: Session, table: Any, grain: Grain, scope: Scope
) -> list[ColumnElement[bool]]:
    conditions: list[ColumnElement[bool]] = []
    if grain == "article":
        conditions += minutes_within(table, scope)
        if scope.section is not None:
            conditions.append(table.section == scope.section)
    else:
        conditions += between(table.day, scope)
    if grain == "day":
        return conditions
    if (sources := source_ids(session, scope)) is not None:
        conditions.append(table.source_id.in_(sources))
    if scope.language is not None:
        conditions.append(table.language == stored_language(scope.language))
    return conditions


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


# --- Counts ---


def hits_of(numbers: Sequence[int | None]) -> Hits:
    """Return hits from the sums of `RollupTable.hits`."""
    articles, limited, in_title, in_body = (int(number or 0) for number in numbers)
    return Hits(articles=articles, limited=limited, in_title=in_title, in_body=in_body)


def unions_of(
    session: Session, scope: Scope
) -> tuple[dict[int, list[CompanyDays]], dict[int, str]]:
    """Return the companies that count together by the number of their union, and the names of
    owners by the number of a union, or of the one company that counts for the owner.

    Unions have numbers below 0, which no company has.
    """
    unions, names = {}, {}
    for place, (owner, days) in enumerate(families(session, scope).items(), start=1):
        if days == [CompanyDays(days[0].number)]:
            names[days[0].number] = owner
        else:
            unions[-place], names[-place] = days, owner
    return unions, names


def hits_by_company(
    session: Session, scope: Scope, unions: Mapping[int, Sequence[CompanyDays]]
) -> dict[int, Hits]:
    """Return the hits of each company, and of each union in place of those of its companies."""
    hits = _hits_in(session, companies_table(session, scope))
    several: dict[int, Sequence[CompanyDays]] = {}
    for number, days in unions.items():
        named = [one for one in days if one.number in hits]
        if len(named) == 1 and named[0] == CompanyDays(named[0].number):
            # The numbers of a union are those of the only company of it that was mentioned.
            hits[number] = hits.pop(named[0].number)
        elif named:
            several[number] = days
    if not several:
        return hits
    members = {one.number for days in several.values() for one in days}
    alone = {number: one for number, one in hits.items() if number not in members}
    return alone | _hits_of_unions(session, scope, several, members)


def _hits_of_unions(
    session: Session,
    scope: Scope,
    unions: Mapping[int, Sequence[CompanyDays]],
    members: Collection[int],
) -> dict[int, Hits]:
    """Return the hits of each union, and of its companies on days on which they don't count for it.

    Occurrences add up, so they are read from the smallest table; articles that name several
    companies are counted once, from the articles' own rows.
    """
    rollup = companies_table(session, scope)
    table = rollup.table
    joined = UnionMembers(table, unions)
    rows = rollup.select(joined.union.label("company_id"), table.in_title, table.in_body)
    found = joined.join(rows).where(table.company_id.in_(members)).subquery().c
    query = select(found.company_id, _sum(found.in_title), _sum(found.in_body))
    occurrences = {
        number: sums for number, *sums in session.execute(query.group_by(found.company_id))
    }
    each = models.Appearance
    joined = UnionMembers(each, unions)
    conditions = _conditions(session, each, "article", scope)
    distinct = (
        joined.join(select(joined.union.label("company_id"), each.article_id, each.limited))
        .where(*conditions, each.company_id.in_(members))
        .distinct()
        .subquery()
        .c
    )
    articles = select(distinct.company_id, func.count(), _sum(distinct.limited))
    return {
        number: hits_of((count, limited, *occurrences[number]))
        for number, count, limited in session.execute(articles.group_by(distinct.company_id))
    }


def _hits_in(session: Session, rollup: RollupTable) -> dict[int, Hits]:
    """Return the hits of each company in a table that has any."""
    key = rollup.table.company_id
    rows = session.execute(rollup.select(key, *rollup.hits()).group_by(key))
    hits = {number: hits_of(sums) for number, *sums in rows}
    return {number: one for number, one in hits.items() if one.articles}


def hits_by_name(
    session: Session, names: Sequence[str], scope: Scope, *, stories: bool = False
) -> dict[str, Hits | None]:
    """Return the hits of each of the companies or groups, None where it has none."""
    rollup = companies_table(session, scope, stories=stories)
    extra = [rollup.stories()] if stories else []
    query = (
        rollup.select(Company.name, *rollup.hits(), *extra)
        .join(Company, Company.id == rollup.table.company_id)
        .where(Company.name.in_(names))
        .group_by(Company.name)
    )
    hits: dict[str, Hits | None] = dict.fromkeys(names)
    for name, *sums in session.execute(query):
        number = int(sums.pop()) if stories else None
        hits[name] = replace(hits_of(sums), stories=number)
    for name in names:
        if scope.tenures(name) != [Tenure(name)]:
            hits[name] = _union_hits(session, name, scope, stories=stories)
    return hits


def listed_hits(session: Session, names: Sequence[str], scope: Scope) -> dict[str, Hits | None]:
    """Return the hits of each of the companies as a list of companies has them, None where it has
    none: with `subsidiaries` a company counts for itself only on days without an owner."""
    if not scope.subsidiaries:
        return hits_by_name(session, names, scope)
    unions, owners = unions_of(session, scope)
    known = dict(session.execute(select(Company.id, Company.name)).all()) | owners
    hits = {known[number]: one for number, one in hits_by_company(session, scope, unions).items()}
    return {name: hits.get(name) for name in names}


def _union_hits(session: Session, name: str, scope: Scope, *, stories: bool) -> Hits | None:
    """Return the hits of a company with its subsidiaries or of a group, None where it has none."""
    rollup = rollup_table(session, scope, by=None, company=name, stories=stories)
    extra = [rollup.stories()] if stories else []
    sums = list(session.execute(rollup.select(*rollup.hits(), *extra)).one())
    number = int(sums.pop()) if stories else None
    hits = replace(hits_of(sums), stories=number)
    return hits if hits.articles else None


def sources_by_company(session: Session, companies: Sequence[int], scope: Scope) -> dict[int, int]:
    """Return the number of sources that mention each company: one index lookup for each pair.

    With LIMIT, since PostgreSQL would make a join of a mere EXISTS, and read all companies.
    """
    rollup = companies_table(session, scope, by="source")
    named = (
        select(literal(1))
        .where(*rollup.conditions)
        .where(rollup.table.company_id == Company.id, rollup.table.source_id == Source.id)
        .correlate(Company, Source)
        .limit(1)
    )
    if rollup.table is models.DailyCompanySource:
        named = named.where(rollup.table.articles > 0)
    query = (
        select(Company.id, func.count(Source.id))
        .join(Source, named.scalar_subquery().is_not(None))
        .where(Company.id.in_(companies))
        .group_by(Company.id)
    )
    return dict(session.execute(query).all())


def sources_by_union(
    session: Session, unions: Mapping[int, Sequence[CompanyDays]], scope: Scope
) -> dict[int, int]:
    """Return the number of sources that mention a company of each union."""
    if not unions:
        return {}
    rollup = companies_table(session, scope, by="source")
    table = rollup.table
    members = UnionMembers(table, unions)
    rows = rollup.select(members.union.label("company_id"), table.source_id)
    rows = members.join(rows, only_members=True)
    if table is models.DailyCompanySource:
        rows = rows.where(table.articles > 0)
    found = rows.distinct().subquery().c
    query = select(found.company_id, func.count()).group_by(found.company_id)
    return dict(session.execute(query).all())


def stories_by_company(
    session: Session,
    companies: Sequence[int],
    unions: Mapping[int, Sequence[CompanyDays]],
    scope: Scope,
) -> dict[int, int]:
    tables = [companies_table(session, scope, stories=True)]
    if unions:
        tables.append(union_table(session, scope, unions))
    counted: dict[int, int] = {}
    for rollup in tables:
        key = rollup.table.company_id
        query = rollup.select(key, rollup.stories()).where(key.in_(companies)).group_by(key)
        counted |= dict(session.execute(query).all())
    return counted
