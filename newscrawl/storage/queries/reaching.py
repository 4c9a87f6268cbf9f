"""What counts rest on: how many articles were read, and which days of which sources covered."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import replace
from datetime import UTC, date, datetime
from typing import Any, cast, get_args

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from newscrawl.storage.database import CoverageState, Database
from newscrawl.storage.errors import QuestionError
from newscrawl.storage.models import Coverage, Source
from newscrawl.storage.queries.ledgers import Ledger, grouped, ledger
from newscrawl.storage.queries.periods import hours_of, key_of, local_day, local_time, zone_of
from newscrawl.storage.queries.rows import By, Group, Period, Reach, Scope
from newscrawl.storage.queries.scoping import covered_within, days, first_days, last_day, watched

# The states in which a source was read. A stale feed was reached, but what it left out we
# don't know.
COVERED: tuple[CoverageState, ...] = ("ok", "paywalled")

# The key of articles whose language or section is not known.
UNKNOWN = "unknown"


def reach(database: Database, *, scope: Scope | None = None) -> Reach:
    """What all counts of this scope rest on."""
    with database.reading() as session:
        return reach_of(session, (scope or Scope()).at_now())


def reach_of(session: Session, scope: Scope) -> Reach:
    """As `reach`, within a session."""
    read = _read_over_time(session, "day", scope)
    return sum((looked for _, looked in _by_day(session, scope, read)), Reach())


def reaches(session: Session, by: By, scope: Scope) -> dict[str, Reach]:
    """The reach of each period, in order and without holes, or of each group, by its name."""
    if is_period(by):
        return _over_time(session, cast("Period", by), scope)
    return _by_group(session, cast("Group", by), scope)


def is_period(by: By) -> bool:
    """Whether `by` is a period, and not a group; raises QuestionError where it is neither."""
    periods, groups = get_args(Period), get_args(Group)
    if by not in periods and by not in groups:
        raise QuestionError(f"can't count by {by!r}: choose among {', '.join(periods + groups)}")
    return by in periods


def period_key(found: Ledger, when: Any, by: Period, scope: Scope) -> str:
    """The key of the period in which a ledger's `moment` lies."""
    return key_of(local_time(when, zone_of(scope)) if found.grain == "article" else when, by)


# --- Over time ---


def _over_time(session: Session, by: Period, scope: Scope) -> dict[str, Reach]:
    """The reach of each period, from the first that is known or asked for to the last that has
    begun; of later ones those of which something is known."""
    if by == "hour":
        return _by_hour(session, scope)
    periods: dict[str, Reach] = {}
    for day, looked in _by_day(session, scope, _read_over_time(session, "day", scope)):
        key = key_of(day, by)
        periods[key] = periods.get(key, Reach()) + looked
    return periods


def _by_hour(session: Session, scope: Scope) -> dict[str, Reach]:
    read = _read_over_time(session, "hour", scope)
    read_on: Counter[str] = Counter()
    for key, number in read.items():
        read_on[key[:10]] += number
    now = scope.now or datetime.now(UTC)
    hours: dict[str, Reach] = {}
    for day, looked in _by_day(session, scope, read_on):
        for hour in hours_of(day, zone_of(scope)):
            key = key_of(hour, "hour")
            # Nobody can know yet that an hour to come is without news.
            if key in read or datetime.fromisoformat(key) <= now:
                hours[key] = replace(looked, read=read.get(key, 0))
    return hours


def _by_day(
    session: Session, scope: Scope, read: Mapping[str, int]
) -> Iterator[tuple[date, Reach]]:
    """Yield the reach of each local day, given the articles read on each."""
    covered = _covered_by_day(session, scope)
    watched_since = Counter(first_days(session, scope).values())
    known = [*map(date.fromisoformat, read), *watched_since]
    start = scope.since or min(known, default=None)
    if start is None:
        return
    expected = sum(number for day, number in watched_since.items() if day < start)
    last = last_day(scope)
    for day in days(start, scope.until or last):
        expected += watched_since.get(day, 0)
        looked = Reach(
            read=read.get(day.isoformat(), 0),
            covered=covered.get(day, 0),
            expected=expected if day <= last else covered.get(day, 0),
            unwatched=0 if expected else 1,
        )
        # Nobody can have looked at a day to come; an article may bear its date all the same.
        if day <= last or looked.level != "none":
            yield day, looked


def _covered_by_day(session: Session, scope: Scope) -> dict[date, int]:
    """For each local day the number of sources that were read."""
    query = (
        select(Coverage.day, func.count())
        .where(Coverage.state.in_(COVERED), *covered_within(scope))
        .group_by(Coverage.day)
    )
    if conditions := watched(scope):
        query = query.join(Source, Source.id == Coverage.source_id).where(*conditions)
    zone = zone_of(scope)
    return {local_day(day, zone): number for day, number in session.execute(query)}


def _read_over_time(session: Session, by: Period, scope: Scope) -> dict[str, int]:
    found = ledger(session, scope, by=by, company=None)
    moment = found.moment
    read: Counter[str] = Counter()
    for when, number in session.execute(found.select(moment, found.read()).group_by(moment)):
        read[period_key(found, when, by, scope)] += number
    return read


# --- By source, country, language, section ---


def _by_group(session: Session, by: Group, scope: Scope) -> dict[str, Reach]:
    read = _grouped_read(session, by, scope)
    sources = _sources_by(session, by, scope)
    covered = _covered_by_source(session, scope)
    firsts = first_days(session, scope)
    found = {}
    for group in sorted({*read, *sources}):
        crawled = sources.get(group, set()) & firsts.keys()
        if group not in read and not crawled:
            continue
        found[group] = replace(
            _watch([firsts[slug] for slug in crawled], scope),
            read=read.get(group, 0),
            covered=sum(covered.get(slug, 0) for slug in crawled),
        )
    return found


def _grouped_read(session: Session, by: Group, scope: Scope) -> dict[str, int]:
    found = ledger(session, scope, by=by, company=None)
    rows = session.execute(grouped(found, by, found.read()))
    return {group or UNKNOWN: number for group, number in rows if number}


def _sources_by(session: Session, by: Group, scope: Scope) -> Mapping[str, Set[str]]:
    """For each group the sources that are watched for it. A source is watched for its own
    language and for those it had articles in, and for the sections it had articles in."""
    sources: dict[str, set[str]] = defaultdict(set)
    if by in {"source", "country"}:
        key: Any = Source.slug if by == "source" else Source.country
        for group, slug in session.execute(select(key, Source.slug).where(*watched(scope))):
            sources[group].add(slug)
        return sources
    found = ledger(session, scope, by=by, company=None)
    column = getattr(found.table, by)
    written = found.select(column, Source.slug).join(Source, Source.id == found.table.source_id)
    if found.grain == "source":
        written = written.where(found.table.read > 0)
    for group, slug in session.execute(written.distinct()):
        sources[group or UNKNOWN].add(slug)
    if by == "language":
        own = select(Source.language, Source.slug).where(*watched(scope))
        if scope.language is not None:
            own = own.where(Source.language == scope.language)
        for group, slug in session.execute(own):
            sources[group].add(slug)
    return sources


def _covered_by_source(session: Session, scope: Scope) -> dict[str, int]:
    query = (
        select(Source.slug, Coverage.day)
        .join(Source, Source.id == Coverage.source_id)
        .where(Coverage.state.in_(COVERED), *watched(scope), *covered_within(scope))
    )
    zone = zone_of(scope)
    if zone.key == "UTC":
        counted = query.with_only_columns(Source.slug, func.count()).group_by(Source.slug)
        return dict(session.execute(counted).all())
    first, last = scope.since or date.min, scope.until or date.max
    return Counter(
        slug for slug, day in session.execute(query) if first <= local_day(day, zone) <= last
    )


def _watch(firsts: Sequence[date], scope: Scope) -> Reach:
    """What sources that are watched since these days were to give."""
    if not firsts:
        return Reach()
    end = last_day(scope)
    since = scope.since or min(firsts)
    expected = sum(max(0, (end - max(first, since)).days + 1) for first in firsts)
    return Reach(expected=expected, unwatched=max(0, (min(*firsts, end) - since).days))
