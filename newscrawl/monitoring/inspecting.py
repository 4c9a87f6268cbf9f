"""An inspection: what went wrong with which source, written down and told once for each cause."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from datetime import UTC, datetime, timedelta

from newscrawl.monitoring.alerts import tell
from newscrawl.monitoring.judging import SourceRecord, Verdict, judge
from newscrawl.monitoring.notify import Channel
from newscrawl.storage import Database
from newscrawl.storage.incidents import Incident, record_incidents
from newscrawl.storage.listing_health import ListingHealth, listing_health
from newscrawl.storage.source_stats import (
    HISTORY_DAYS,
    coverage_by_day,
    daily_source_stats,
    refresh_source_stats,
)
from newscrawl.storage.watching import SourceStatus, watch_status

# Ours: what more than half of the sources have at once, and no fewer than five, is not the
# sources' fault; and a watch is behind when a tenth of its sources are late.
_COMMON_PART = 0.5
_BEHIND_PART = 0.1
_LEAST = 5
# Runs are added up anew from a little before the last inspection: clocks differ.
_OVERLAP = timedelta(minutes=5)


def current_time() -> datetime:
    """Return the moment of an inspection."""
    return datetime.now(UTC)


class Inspector:
    """Inspects the sources again and again, as of the clock; `channels` are told what is new."""

    def __init__(
        self,
        database: Database,
        slugs: Collection[str],
        channels: Sequence[Channel],
        clock: Callable[[], datetime] = current_time,
    ) -> None:
        self._database = database
        self._slugs = tuple(slugs)
        self._channels = channels
        self._clock = clock
        self._last: datetime | None = None

    def __call__(self) -> None:
        """Inspect the sources."""
        now = self._clock()
        since = self._last and self._last - _OVERLAP
        refresh_source_stats(self._database, now, ended_after=since)
        self._last = now
        statuses = watch_status(self._database, self._slugs).sources
        records = _records(self._database, statuses, now)
        incidents, cleared = weigh(
            [verdict for record in records for verdict in judge(record, now.date())],
            [record.slug for record in records],
            statuses,
        )
        record_incidents(self._database, incidents, cleared)
        tell(self._database, self._channels)


def _records(
    database: Database, statuses: Iterable[SourceStatus], now: datetime
) -> list[SourceRecord]:
    since = now.date() - timedelta(days=HISTORY_DAYS)
    days, coverage = daily_source_stats(database, since), coverage_by_day(database, since)
    listings = listing_health(database, now)
    return [
        SourceRecord(
            slug=one.slug,
            days=days.get(one.slug, ()),
            coverage=coverage.get(one.slug, {}),
            failures=one.failures,
            note=one.note,
            listings=listings.get(one.slug, ListingHealth()),
            quarantined=one.quarantined,
        )
        for one in statuses
        if one.last_start or one.failures
    ]


def weigh(
    verdicts: Iterable[Verdict], slugs: Sequence[str], statuses: Iterable[SourceStatus]
) -> tuple[list[Incident], set[str]]:
    """The incidents to be written down, and the causes that are over.

    An incident of most sources becomes one of the watch: then nothing is said of each of them.
    """
    verdicts = list(verdicts)
    incidents = [one.incident for one in verdicts if one.incident]
    number = Counter(incident.kind for incident in incidents)
    least = max(_LEAST, len(slugs) * _COMMON_PART)
    common = {kind for kind, sources in number.items() if sources >= least}
    own = [incident for incident in incidents if incident.kind not in common]
    of_watch = [
        Incident(
            kind=kind,
            source=None,
            note=f"{number[kind]} of {len(slugs)} sources at once: the network, or this machine?",
            facts={"sources": number[kind], "of": len(slugs)},
        )
        for kind in sorted(common)
    ]
    of_watch += _behind(slugs, statuses)
    cleared = {f"{one.source}/{one.kind}" for one in verdicts if not one.incident}
    cleared |= {f"watch/{kind}" for kind in {one.kind for one in verdicts} | {"behind"}}
    return own + of_watch, cleared - {incident.cause for incident in of_watch}


def _behind(slugs: Sequence[str], statuses: Iterable[SourceStatus]) -> list[Incident]:
    late = [one.slug for one in statuses if one.late and not one.running_since]
    if len(late) < max(_LEAST, len(slugs) * _BEHIND_PART):
        return []
    note = f"{len(late)} of {len(slugs)} sources are late: more workers, or a longer poll interval"
    return [
        Incident(kind="behind", source=None, note=note, facts={"late": len(late), "of": len(slugs)})
    ]
