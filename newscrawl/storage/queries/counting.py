"""Counts of mentions, each beside how far it can be trusted."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from typing import cast

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from newscrawl.storage import models
from newscrawl.storage.database import Database
from newscrawl.storage.models import Company, Source
from newscrawl.storage.queries.ledgers import (
    Ledger,
    companies_ledger,
    grouped,
    hits_of,
    ledger,
)
from newscrawl.storage.queries.periods import bounds_of, zone_of
from newscrawl.storage.queries.reaching import UNKNOWN, is_period, period_key, reaches
from newscrawl.storage.queries.rows import (
    By,
    Clutter,
    CompanyCount,
    Group,
    Hits,
    MentionCount,
    Period,
    Scope,
)


def mention_counts(
    database: Database,
    by: By,
    *,
    company: str | None = None,
    scope: Scope | None = None,
    stories: bool = False,
) -> list[MentionCount]:
    """How often the company, or any, was mentioned, by period, source, country, language or
    section; with `stories` also how many stories that makes.

    Periods come without holes from `since`, or the first day known, to `until`, or today if that
    is earlier, and are those of the scope's zone. Sources, countries and languages come with what
    is watched, mentioned there or not; sections with those that had an article. Coverage is kept
    by UTC days: an hour has that of its day, and a day of another zone that of the UTC day it
    shares most hours with. Raises QuestionError for an unknown zone, and for a `by` that is
    neither.
    """
    scope = (scope or Scope()).at_now()
    with database.reading() as session:
        looked = reaches(session, by, scope)
        hits = hits_by(session, by, company, scope, stories=stories)
    nothing = Hits(stories=0) if stories else Hits()
    rows = [
        MentionCount(
            key=key, hits=None if reach.level == "none" else hits.get(key, nothing), reach=reach
        )
        for key, reach in looked.items()
    ]
    if is_period(by):
        return rows
    return sorted(rows, key=lambda row: (-row.hits.articles if row.hits else 1, row.key))


def company_ranking(
    database: Database,
    *,
    scope: Scope | None = None,
    limit: int | None = None,
    stories: bool = False,
) -> list[CompanyCount]:
    """The companies in the order of the articles that mention them, most first."""
    scope = (scope or Scope()).at_now()
    with database.reading() as session:
        names = dict(session.execute(select(Company.id, Company.name)).all())
        found = companies_ledger(session, scope)
        key = found.table.company_id
        hits = {
            number: hits_of(sums)
            for number, *sums in session.execute(found.select(key, *found.hits()).group_by(key))
        }
        # Sorted here, since the databases differ in the order of names.
        order = sorted(
            (number for number in hits if hits[number].articles),
            key=lambda number: (-hits[number].articles, -hits[number].mentions, names[number]),
        )[:limit]
        sources = _sources_of(session, order, scope)
        told = _stories_of(session, order, scope) if stories else {}
    return [
        CompanyCount(
            company=names[number],
            hits=replace(hits[number], stories=told.get(number, 0) if stories else None),
            sources=sources[number],
        )
        for number in order
    ]


def clutter(
    database: Database, *, company: str | None = None, scope: Scope | None = None
) -> Clutter:
    """Mentions of the company, or of any, that stand outside the articles and count for nothing.
    They are known by day, source, country and language; a section or zone is not looked at."""
    scope = replace((scope or Scope()).at_now(), section=None, zone="UTC")
    with database.reading() as session:
        found = ledger(session, scope, by=None, company=company)
        sums = func.sum(found.table.clutter), func.sum(found.table.cluttered)
        mentions, pages = session.execute(found.select(*sums)).one()
    return Clutter(mentions=int(mentions or 0), pages=int(pages or 0))


def hits_by(
    session: Session, by: By, company: str | None, scope: Scope, *, stories: bool = False
) -> dict[str, Hits]:
    """The hits of each period or group that has any."""
    if not is_period(by):
        return _grouped_hits(session, cast("Group", by), company, scope, stories=stories)
    period = cast("Period", by)
    hits = _hits_over_time(session, period, company, scope)
    if not stories:
        return hits
    told = ledger(session, scope, by=by, company=company, stories=True)
    return {
        key: replace(found, stories=_stories_in(session, told, key, period, scope))
        for key, found in hits.items()
    }


def _stories_in(session: Session, told: Ledger, key: str, by: Period, scope: Scope) -> int:
    """The number of stories in a period: no sum of its days, since a story may last for days."""
    start, end = bounds_of(key, by, zone_of(scope))
    minute = told.table.minute
    query = told.select(told.stories()).where(minute >= start, minute < end)
    return session.scalar(query) or 0


def _hits_over_time(
    session: Session, by: Period, company: str | None, scope: Scope
) -> dict[str, Hits]:
    found = ledger(session, scope, by=by, company=company)
    moment = found.moment
    hits: dict[str, Hits] = defaultdict(Hits)
    for when, *sums in session.execute(found.select(moment, *found.hits()).group_by(moment)):
        hits[period_key(found, when, by, scope)] += hits_of(sums)
    return hits


def _grouped_hits(
    session: Session, by: Group, company: str | None, scope: Scope, *, stories: bool
) -> dict[str, Hits]:
    found = ledger(session, scope, by=by, company=company, stories=stories)
    told = [found.stories()] if stories else []
    hits = {}
    for group, *sums in session.execute(grouped(found, by, *found.hits(), *told)):
        number = int(sums.pop()) if stories else None
        hits[group or UNKNOWN] = replace(hits_of(sums), stories=number)
    return hits


def _sources_of(session: Session, companies: Sequence[int], scope: Scope) -> dict[int, int]:
    """The number of sources that name each company: one look into the index for each pair."""
    found = companies_ledger(session, scope, by="source")
    named = (
        select(1)
        .where(*found.conditions)
        .where(found.table.company_id == Company.id, found.table.source_id == Source.id)
        .correlate(Company, Source)
    )
    if found.table is models.DailyCompanySource:
        named = named.where(found.table.articles > 0)
    query = (
        select(Company.id, func.count(Source.id))
        .join(Source, named.exists())
        .where(Company.id.in_(companies))
        .group_by(Company.id)
    )
    return dict(session.execute(query).all())


def _stories_of(session: Session, companies: Sequence[int], scope: Scope) -> dict[int, int]:
    told = companies_ledger(session, scope, stories=True)
    key = told.table.company_id
    query = told.select(key, told.stories()).where(key.in_(companies)).group_by(key)
    return dict(session.execute(query).all())
