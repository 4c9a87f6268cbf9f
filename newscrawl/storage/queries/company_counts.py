"""The counts of companies that several questions read: hits, sources and stories of each company,
and of unions, which are companies that count together.

The hits of a union are the sums of its companies' daily hits, minus the articles that name several
of them and would count several times. Those few are found by the pairs of companies in an article
(`company_pairs`); otherwise all articles of all companies would have to be compared.
"""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date
from itertools import combinations
from math import isqrt
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Date,
    Integer,
    Select,
    Text,
    and_,
    cast,
    func,
    literal,
    or_,
    select,
)
from sqlalchemy.orm import Session

from newscrawl.storage import models
from newscrawl.storage.database import reads
from newscrawl.storage.models import Company, CompanyPair, CompanySource
from newscrawl.storage.queries.rollup_tables import (
    Columns,
    ColumnTypes,
    CompanyDays,
    Hits,
    RollupTable,
    UnionMembers,
    companies_table,
    company_days,
    families,
    given_rows,
    hits_of,
    minutes_within,
    rollup_table,
    union_table,
)
from newscrawl.storage.scope import QUARTER, By, Scope, Tenure, day_of_minute
from newscrawl.storage.scope_conditions import source_ids, validate_in

Unions = Mapping[int, Sequence[CompanyDays]]
_DAY = 24 * 60
# Ours: the number of companies above which a comparison with a list takes longer than reading all.
FEW = 200


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


def hits_by_company(session: Session, scope: Scope, unions: Unions) -> dict[int, Hits]:
    """Return the hits of each company, and of each union in place of those of its companies."""
    rollup = companies_table(session, scope)
    key = rollup.table.company_id
    rows = session.execute(rollup.select(key, *rollup.hits()).group_by(key))
    by_number = {number: hits_of(sums) for number, *sums in rows}
    hits = {
        number: company_hits for number, company_hits in by_number.items() if company_hits.articles
    }
    mentioned = {
        union: mentioned_days
        for union, days in unions.items()
        if (mentioned_days := [day for day in days if day.number in hits])
    }
    united: dict[int, Hits] = defaultdict(Hits)
    dated: dict[int, list[CompanyDays]] = defaultdict(list)
    for union, days in mentioned.items():
        for one in days:
            if one == CompanyDays(one.number):
                united[union] += hits.pop(one.number)
            else:
                dated[union].append(one)
    if dated:
        numbers = {day.number for days in dated.values() for day in days}
        hits = {
            number: company_hits for number, company_hits in hits.items() if number not in numbers
        }
        members = UnionMembers(session, rollup.table, dated)
        query = members.join(rollup.select(members.union, *rollup.hits())).where(
            rollup.table.company_id.in_(numbers)
        )
        for number, *sums in session.execute(query.group_by(members.union)):
            united[number] += hits_of(sums)
    for (union, _), less in _repeated(session, mentioned, scope, None).items():
        united[union] += less
    return hits | {
        number: company_hits for number, company_hits in united.items() if company_hits.articles
    }


def union_hits_over_time(
    session: Session, unions: Unions, scope: Scope, by: By
) -> tuple[RollupTable, dict[int, dict[Any, Hits]]]:
    """Return the hits of each union at each moment of the table that they are read from."""
    rollup = companies_table(session, scope, by=by)
    hits: dict[int, dict[Any, Hits]] = {union: defaultdict(Hits) for union in unions}
    for union, when, moment_hits in _union_sums(session, unions, rollup, rollup.moment):
        hits[union][when] = moment_hits
    for (union, when), moment_hits in _repeated(session, unions, scope, rollup).items():
        hits[union][when] += moment_hits
    return rollup, hits


def _union_sums(
    session: Session, unions: Unions, rollup: RollupTable, moment: Any
) -> Iterator[tuple[int, Any, Hits]]:
    """Yield the sums of each union's companies at each moment."""
    members = UnionMembers(session, rollup.table, unions)
    rows = rollup.select(members.union, moment, *rollup.hits())
    query = members.join(rows, only_members=True).group_by(members.union, moment)
    for union, when, *sums in session.execute(query):
        yield union, when, hits_of(sums)


def _repeated(
    session: Session, unions: Unions, scope: Scope, rollup: RollupTable | None
) -> dict[tuple[int, Any], Hits]:
    """Return, below 0, the articles that count once for each further company of a union that they
    name: by union and moment of a table, or None."""
    rows = list(_pairs_of(unions))
    if not rows:
        return {}
    names = ("number", "other", "union_id", "first", "after")
    pairs = given_rows(session, dict.fromkeys(names, Integer), rows).c
    pair = CompanyPair
    key = pairs.union_id, pair.article_id, pair.minute, pair.limited
    articles_of_pairs = (
        select(*key, func.count().label("found"), func.min(pair.other_id).label("least"))
        .join(pair, and_(pair.company_id == pairs.number, pair.other_id == pairs.other))
        .where(pair.minute >= pairs.first, pair.minute < pairs.after)
        .where(*minutes_within(pair, scope))
        .group_by(*key)
    )
    if scope.narrows:
        counted = rollup_table(session, scope, by="hour", company=None)
        same = counted.table.article_id == pair.article_id, counted.table.minute == pair.minute
        articles_of_pairs = articles_of_pairs.join(counted.table, and_(*same)).where(
            *counted.conditions
        )
    each = articles_of_pairs.subquery().c
    length = QUARTER if rollup is not None and rollup.grain == "article" else _DAY
    moment: ColumnElement[Any] = each.minute // length if rollup is not None else literal(0)
    crowded = (each.least == 0).label("crowded")
    groups = each.union_id, moment.label("moment"), each.found, crowded
    query = select(*groups, func.count(), func.sum(each.limited)).group_by(*groups)
    less: dict[tuple[int, Any], Hits] = defaultdict(Hits)
    for union, place, number, is_crowded, articles, limited in session.execute(query):
        further = (number if is_crowded else ((1 + isqrt(1 + 8 * number)) // 2)) - 1
        when = day_of_minute(place * _DAY) if length == _DAY else place
        when = None if rollup is None else when
        less[union, when] += Hits(articles=-further * articles, limited=-further * int(limited))
    return less


def _pairs_of(unions: Unions) -> Iterator[tuple[int, int, int, int, int]]:
    """Yield the pairs of companies in each union, with the first minute on which both count for it
    and the first one after; and each company, as `company_pairs` has those of crowded articles."""
    for union, days in unions.items():
        if len({day.number for day in days}) < 2:
            continue
        in_order = sorted(days, key=lambda day: day.number)
        for one in in_order:
            yield one.number, 0, union, *one.minutes
        for one, later_day in combinations(in_order, 2):
            (first, after), (begin, end) = one.minutes, later_day.minutes
            if one.number != later_day.number and max(first, begin) < min(after, end):
                yield one.number, later_day.number, union, max(first, begin), min(after, end)


def hits_by_name(
    session: Session, names: Sequence[str], scope: Scope, *, stories: bool = False
) -> dict[str, Hits | None]:
    """Return the hits of each of the companies or groups, None if it has none."""
    if not names:
        return {}
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


@reads
def count_stories(session: Session, company: str, scope: Scope) -> int:
    """Return the number of a company's stories: it is not the sum of those of several days."""
    hits = hits_by_name(session, [company], validate_in(session, scope), stories=True)[company]
    return (hits.stories if hits else 0) or 0


def listed_hits(session: Session, names: Sequence[str], scope: Scope) -> dict[str, Hits | None]:
    """Return the hits of each of the companies as a list of companies has them, None if it has
    none: with `subsidiaries` a company counts for itself only on days without an owner."""
    if not scope.subsidiaries:
        return hits_by_name(session, names, scope)
    unions, owners = unions_of(session, scope)
    names_by_number = dict(session.execute(select(Company.id, Company.name)).all()) | owners
    listed = {number for number, name in names_by_number.items() if name in names}
    unions = {
        union: days
        for union, days in unions.items()
        if union in listed or any(day.number in listed for day in days)
    }
    hits = {
        names_by_number[number]: company_hits
        for number, company_hits in hits_by_company(session, scope, unions).items()
    }
    return {name: hits.get(name) for name in names}


def _union_hits(session: Session, name: str, scope: Scope, *, stories: bool) -> Hits | None:
    """Return the hits of a company with its subsidiaries or of a group, None if it has none."""
    unions = {0: company_days(session, name, scope)}
    sums = _union_sums(session, unions, companies_table(session, scope), literal(0))
    hits = sum((union_hits for _, _, union_hits in sums), Hits())
    hits = sum(_repeated(session, unions, scope, None).values(), hits)
    if not hits.articles:
        return None
    if not stories:
        return hits
    rollup = rollup_table(session, scope, by=None, company=name, stories=True)
    return replace(hits, stories=session.scalar(rollup.select(rollup.stories())) or 0)


def sources_by_company(session: Session, companies: Sequence[int], scope: Scope) -> dict[int, int]:
    """Return the number of sources that mention each company, and others if these are many."""
    if companies_table(session, scope, by="source").grain == "article" or scope.language:
        return sources_by_union(
            session, {company: [CompanyDays(company)] for company in companies}, scope
        )
    if not companies:
        return {}
    query = select(CompanySource.company_id, func.count())
    return dict(session.execute(_within_days(session, query, companies, scope)).all())


def _of_sources(session: Session, scope: Scope) -> list[ColumnElement[bool]]:
    numbers = source_ids(session, scope)
    return [] if numbers is None else [CompanySource.source_id.in_(numbers)]


def _named_between(first: Any, last: Any) -> ColumnElement[bool]:
    """Return the condition that the source mentions the company on one of the days.

    The days are looked up only if its first and its last mention lie outside them. With LIMIT,
    since PostgreSQL would convert a plain EXISTS to a join and read all companies.
    """
    pair, table = CompanySource, models.DailyCompanySource
    mention = (
        select(literal(1))
        .where(table.company_id == pair.company_id, table.source_id == pair.source_id)
        .where(table.day >= first, table.day <= last, table.articles > 0)
        .limit(1)
        .scalar_subquery()
    )
    return or_(
        and_(pair.first_day >= first, pair.first_day <= last),
        and_(pair.last_day >= first, pair.last_day <= last),
        and_(pair.first_day < first, pair.last_day > last, mention.is_not(None)),
    )


def sources_by_union(session: Session, unions: Unions, scope: Scope) -> dict[int, int]:
    """Return the number of sources that mention a company of each union."""
    counted_apart = dict(unions)
    counted: dict[int, int] = {}
    if companies_table(session, scope, by="source").grain == "source" and not scope.language:
        whole_unions = {
            u for u, days in counted_apart.items() if days == [CompanyDays(o.number) for o in days]
        }
        # PostgreSQL would sort the sources of all companies to count those of unions.
        table, numbers = CompanySource, {o.number for u in whole_unions for o in counted_apart[u]}
        texts = select(table.company_id, func.aggregate_strings(cast(table.source_id, Text), ","))
        listed = session.execute(_within_days(session, texts, numbers, scope)) if numbers else ()
        sources_by_number = {company: set(sources.split(",")) for company, sources in listed}
        for union in whole_unions:
            sources = (sources_by_number.get(day.number, set()) for day in counted_apart.pop(union))
            counted[union] = len(set().union(*sources))
    if counted_apart:
        sources_of_unions = _in_sources(session, counted_apart, scope).distinct().subquery().c
        query = select(sources_of_unions.union_id, func.count()).group_by(
            sources_of_unions.union_id
        )
        counted |= dict(session.execute(query).all())
    return counted


def sources_naming(session: Session, days: Sequence[CompanyDays], scope: Scope) -> set[int]:
    """Return the sources that mention one of the companies on days on which it counts."""
    in_sources = _in_sources(session, {0: days}, scope)
    return {source for _, source in session.execute(in_sources.distinct())}


def _within_days(
    session: Session, query: Select[*Columns], companies: Collection[int], scope: Scope
) -> Select[*Columns]:
    """Return a query of the sources of companies within a scope, by company."""
    first, last = literal(scope.since or date.min), literal(scope.until or date.max)
    if len(companies) <= FEW:
        query = query.where(CompanySource.company_id.in_(companies))
    query = query.where(_named_between(first, last), *_of_sources(session, scope))
    return query.group_by(CompanySource.company_id)


def _in_sources(session: Session, unions: Unions, scope: Scope) -> Select[int, int]:
    """Return a query of the sources that mention the companies of each union."""
    rollup = companies_table(session, scope, by="source")
    if rollup.grain == "article" or scope.language:
        table = rollup.table
        members = UnionMembers(session, table, unions)
        rows = members.join(
            rollup.select(members.union.label("union_id"), table.source_id), only_members=True
        )
        return rows.where(table.articles > 0) if table is models.DailyCompanySource else rows
    columns: ColumnTypes = {"number": Integer, "union_id": Integer, "first": Date, "last": Date}
    union_rows = given_rows(
        session,
        columns,
        [
            (
                day.number,
                union,
                max(day.first or date.min, scope.since or date.min),
                min(day.last or date.max, scope.until or date.max),
            )
            for union, days in unions.items()
            for day in days
        ],
    ).c
    return (
        select(union_rows.union_id, CompanySource.source_id)
        .join(CompanySource, CompanySource.company_id == union_rows.number)
        .where(_named_between(union_rows.first, union_rows.last), *_of_sources(session, scope))
    )


def stories_by_company(
    session: Session,
    companies: Sequence[int],
    unions: Unions,
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
