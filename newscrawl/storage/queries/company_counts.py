"""The counts of companies that several questions read: hits, sources and stories of each company,
and of unions, which are companies that count together.

The hits of a union are the sums of its companies' daily hits, minus the articles that name several
of them and would count several times. Those few are found by the pairs of companies in an article
(`company_pairs`); otherwise all articles of all companies would have to be compared.
"""

from collections import defaultdict
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date
from itertools import combinations
from math import isqrt
from operator import add
from typing import Any, TypeVar

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
    families,
    given_rows,
    hits_of,
    minutes_within,
    rollup_table,
    subjects_of,
    union_table,
)
from newscrawl.storage.scope import QUARTER, Period, Scope, day_of_minute
from newscrawl.storage.scope_conditions import source_ids, validate_in

Unions = Mapping[int, Sequence[CompanyDays]]
# What is counted, by any key: a company, or several that count together, with their days.
Subject = TypeVar("Subject", bound=Hashable)
Subjects = Mapping[Subject, Sequence[CompanyDays]]
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
            if one.is_always:
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


def hits_over_time(
    session: Session, subjects: Subjects[Subject], scope: Scope, by: Period | None
) -> dict[Subject, dict[str, Hits]]:
    """Return the hits of each subject in each period that has any, or "" for the whole scope."""
    rollup = companies_table(session, scope, by=by)
    company, moment = rollup.table.company_id, rollup.moment if by else literal(0)
    sums: dict[Subject, dict[str, list[int]]] = {subject: {} for subject in subjects}

    def count(subject: Subject, when: Any, numbers: list[int]) -> None:
        key, in_periods = rollup.period(when, by, scope) if by else "", sums[subject]
        in_periods[key] = [*map(add, in_periods[key], numbers)] if key in in_periods else numbers

    alone, unions = _alone_and_unions(subjects)
    if alone:
        rows = rollup.select(company, moment, *rollup.hits()).where(company.in_(alone))
        for number, when, *numbers in session.execute(rows.group_by(company, moment)):
            for subject in alone[number]:
                count(subject, when, numbers)
    if unions:
        keys, numbered = list(unions), dict(enumerate(unions.values()))
        members = UnionMembers(session, rollup.table, numbered)
        rows = rollup.select(members.union, moment, *rollup.hits())
        rows = members.join(rows, only_members=True).group_by(members.union, moment)
        for place, when, *numbers in session.execute(rows):
            count(keys[place], when, numbers)
        repeated = _repeated(session, numbered, scope, rollup if by else None)
        for (place, when), less in repeated.items():
            count(keys[place], when, [less.articles, less.limited, 0, 0])
    return {
        subject: {key: hits_of(numbers) for key, numbers in in_periods.items()}
        for subject, in_periods in sums.items()
    }


def _alone_and_unions(
    subjects: Subjects[Subject],
) -> tuple[dict[int, list[Subject]], dict[Subject, Sequence[CompanyDays]]]:
    """Return the subjects that are one company on all days, by its number, and the others."""
    alone: dict[int, list[Subject]] = defaultdict(list)
    unions = {}
    for subject, days in subjects.items():
        if days[0].is_always and not days[1:]:
            alone[days[0].number].append(subject)
        else:
            unions[subject] = days
    return alone, unions


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


def hits_by_subject(
    session: Session, subjects: Subjects[Subject], scope: Scope, *, stories: bool = False
) -> dict[Subject, Hits | None]:
    """Return the hits of each subject, None if it has none."""
    in_scope = hits_over_time(session, subjects, scope, None)
    counted = stories_of(session, subjects, scope) if stories else {}
    return {
        key: hits and replace(hits, stories=counted.get(key, 0) if stories else None)
        for key, hits in ((key, each.get("")) for key, each in in_scope.items())
    }


def hits_by_name(
    session: Session, names: Iterable[str], scope: Scope, *, stories: bool = False
) -> dict[str, Hits | None]:
    """Return the hits of each of the companies or groups, None if it has none."""
    return hits_by_subject(session, subjects_of(session, names, scope), scope, stories=stories)


@reads
def count_stories(session: Session, company: str, scope: Scope) -> int:
    """Return the number of a company's stories: it is not the sum of those of several days."""
    hits = hits_by_name(session, [company], validate_in(session, scope), stories=True)[company]
    return (hits.stories if hits else 0) or 0


def listed_companies(
    session: Session, scope: Scope, only: Collection[str] | None = None
) -> dict[str, tuple[Sequence[CompanyDays], Hits]]:
    """Return the companies and saved queries of a list, or some of them, with their days and hits:
    with `subsidiaries` a company counts for itself only on days without an owner."""
    unions, owners = unions_of(session, scope)
    names = dict(session.execute(select(Company.id, Company.name)).all()) | owners
    if only is not None:
        chosen = {number for number, name in names.items() if name in only}
        unions = {
            union: days
            for union, days in unions.items()
            if union in chosen or any(day.number in chosen for day in days)
        }
    hits = hits_by_company(session, scope, unions)
    return {
        names[number]: (unions.get(number) or [CompanyDays(number)], company_hits)
        for number, company_hits in hits.items()
        if company_hits.articles
    }


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


def sources_of(session: Session, subjects: Subjects[Subject], scope: Scope) -> dict[Subject, int]:
    """Return the number of sources that mention each subject."""
    keys = list(subjects)
    apart: Unions = dict(enumerate(subjects.values()))
    counted = dict.fromkeys(apart, 0)
    if companies_table(session, scope, by="source").grain == "source" and not scope.language:
        alone, apart = _alone_and_unions(apart)
        query = select(CompanySource.company_id, func.count())
        for company, number in session.execute(_within_days(session, query, alone, scope)):
            for place in alone.get(company, ()):
                counted[place] = number
        undated = {
            place: {each.number for each in days}
            for place, days in apart.items()
            if all(each.is_always for each in days)
        }
        # PostgreSQL would sort the sources of all companies to count those of unions.
        table, numbers = CompanySource, set().union(*undated.values())
        texts = select(table.company_id, func.aggregate_strings(cast(table.source_id, Text), ","))
        listed = session.execute(_within_days(session, texts, numbers, scope)) if numbers else ()
        sources_by_number = {company: sources.split(",") for company, sources in listed}
        for place, companies in undated.items():
            sources = (sources_by_number.get(number, ()) for number in companies)
            counted[place] = len(set().union(*sources))
        apart = {place: days for place, days in apart.items() if place not in undated}
    if apart:
        rows = _in_sources(session, apart, scope).distinct().subquery().c
        query = select(rows.union_id, func.count()).group_by(rows.union_id)
        counted |= dict(session.execute(query).all())
    return {keys[place]: number for place, number in counted.items()}


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


def stories_of(session: Session, subjects: Subjects[Subject], scope: Scope) -> dict[Subject, int]:
    """Return the number of stories of each subject that has any."""
    alone, unions = _alone_and_unions(subjects)
    tables = [(companies_table(session, scope, stories=True), alone)] if alone else []
    if unions:
        union = union_table(session, scope, dict(enumerate(unions.values())))
        tables.append((union, {place: [key] for place, key in enumerate(unions)}))
    counted: dict[Subject, int] = {}
    for rollup, keys in tables:
        company = rollup.table.company_id
        query = rollup.select(company, rollup.stories()).where(company.in_(keys)).group_by(company)
        for number, stories in session.execute(query):
            for key in keys[number]:
                counted[key] = stories
    return counted
