"""Inspect the sources: check their health, record incidents, and deliver what is new.

An incident is delivered once when it opens, and once when it is over.
"""

import logging
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import groupby

from newscrawl.monitoring.alerts import find_alerts, pending_alerts
from newscrawl.monitoring.delivery import (
    Channel,
    Delivery,
    Notice,
    PendingNotice,
    deliver_pending,
)
from newscrawl.monitoring.health_checks import SourceRecord, check, group_incidents
from newscrawl.storage import Database
from newscrawl.storage.company_alerts import watched_companies
from newscrawl.storage.incidents import (
    Incident,
    claim_unreported,
    record_incidents,
    release_unreported,
)
from newscrawl.storage.source_stats import (
    HISTORY_DAYS,
    ListingHealth,
    coverage_by_day,
    daily_source_stats,
    listing_health,
    refresh_source_stats,
)
from newscrawl.storage.status import SourceStatus, watch_status

logger = logging.getLogger(__name__)

# Runs are added up again from a little before the last inspection: clocks differ.
_OVERLAP = timedelta(minutes=5)
# All ours: the number of incidents of one kind that are reported singly, and the number of sources
# that a notice of more incidents names.
_MAX_SINGLE = 5
_MAX_NAMED = 30
# The words for an incident of each kind, and for its end.
_WORDS: Mapping[str, tuple[str, str]] = {
    "unreachable": ("can't be crawled", "can be crawled again"),
    "feed_failed": ("has lost a feed or sitemap", "has all its feeds and sitemaps again"),
    "blocked": ("refuses us", "refuses us no longer"),
    "stale": ("has nothing new", "has new articles again"),
    "missing": ("has too few articles", "has as many articles as usual again"),
    "not_crawled": ("was not crawled", "is crawled again"),
    "layout_changed": ("has changed its pages", "gives articles as usual again"),
    "drift": ("gives other articles than usual", "gives articles as usual again"),
    "quarantined": ("has other pages in place of articles", "has its articles again"),
    "behind": ("falls behind", "has caught up"),
}


def current_time() -> datetime:
    """Return the time of an inspection."""
    return datetime.now(UTC)


class Inspector:
    """Inspects all sources at each call, as of the clock."""

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
        """Record and deliver the sources' incidents, then the alerts about watched companies."""
        self._record_incidents()
        self._deliver(pending_incidents(self._database))
        if watched_companies(self._database):
            find_alerts(self._database)
            self._deliver(pending_alerts(self._database))

    def _record_incidents(self) -> None:
        now = self._clock()
        since = self._last and self._last - _OVERLAP
        refresh_source_stats(self._database, now, ended_after=since)
        self._last = now
        statuses = watch_status(self._database, self._slugs).sources
        records = _records(self._database, statuses, now)
        incidents, cleared = group_incidents(
            [result for record in records for result in check(record, now.date())],
            [record.slug for record in records],
            statuses,
        )
        record_incidents(self._database, incidents, cleared)

    def _deliver(self, pending: Iterable[PendingNotice]) -> None:
        for failure in deliver_pending(pending, self._channels).failed:
            logger.error("No notice by %s: %s", failure.channel, failure.reason)


def _records(
    database: Database, statuses: Iterable[SourceStatus], now: datetime
) -> list[SourceRecord]:
    since = now.date() - timedelta(days=HISTORY_DAYS)
    days, coverage = daily_source_stats(database, since), coverage_by_day(database, since)
    listings = listing_health(database, now)
    return [
        SourceRecord(
            slug=one.source,
            days=days.get(one.source, ()),
            coverage=coverage.get(one.source, {}),
            failures=one.failures,
            note=one.failure_note,
            listings=listings.get(one.source, ListingHealth()),
            quarantined=one.quarantined,
        )
        for one in statuses
        if one.last_start or one.failures
    ]


def pending_incidents(database: Database) -> Iterator[PendingNotice]:
    """Yield the notices of new incidents and of recoveries.

    A notice that no channel but the log could deliver is pending again at the next inspection.
    """
    opened, recovered = claim_unreported(database)
    for incidents, over in ((opened, False), (recovered, True)):
        for group in _groups(incidents):
            yield PendingNotice(
                notice=incident_notice(group, over=over),
                acknowledge=partial(_acknowledge, database, group, over=over),
            )


def _acknowledge(
    database: Database, group: Sequence[Incident], delivery: Delivery, *, over: bool
) -> None:
    if delivery.is_lost:
        release_unreported(database, group, recoveries=over)


def _groups(incidents: Iterable[Incident]) -> list[list[Incident]]:
    """Return the incidents of each notice: one, or many of a kind at once."""
    ordered = sorted(incidents, key=lambda one: (one.kind, one.id or 0))
    groups: list[list[Incident]] = []
    for _, same_kind in groupby(ordered, key=lambda one: one.kind):
        together = list(same_kind)
        groups += [together] if len(together) > _MAX_SINGLE else [[one] for one in together]
    return groups


def incident_notice(group: Sequence[Incident], *, over: bool) -> Notice:
    """Return the notice of an incident, or of many of a kind; `over` for that of their end."""
    first = group[0]
    words = _WORDS.get(first.kind, (first.kind.replace("_", " "), "is well again"))[over]
    facts = {"kind": first.kind, "incidents": [_facts(one) for one in group]}
    if len(group) > 1:
        named = [f"{one.source or 'the monitor'}: {one.note}" for one in group[:_MAX_NAMED]]
        rest = len(group) - len(named)
        return Notice(
            subject=f"{len(group)} sources: {words}",
            text="\n".join([*named, *([f"and {rest} more"] if rest else [])]),
            event="recovered" if over else "opened",
            cause=f"many/{first.kind}",
            facts=facts,
        )
    return Notice(
        subject=f"{first.source or 'The monitor'} {words}",
        text=_text(first, over=over),
        event="recovered" if over else "opened",
        cause=first.cause,
        facts=facts,
    )


def _text(incident: Incident, *, over: bool) -> str:
    if over and incident.recovered_at and incident.opened_at:
        hours = (incident.recovered_at - incident.opened_at).total_seconds() / 3600
        return f"It lasted {hours:.1f} hours. The incident was: {incident.note}"
    see = f"newscrawl status --source {incident.source}" if incident.source else "newscrawl status"
    return f"{incident.note}.\nOpen since {incident.opened_at:%Y-%m-%d %H:%M} UTC. See: {see}"


def _facts(incident: Incident) -> dict[str, object]:
    return {
        "source": incident.source,
        "cause": incident.cause,
        "note": incident.note,
        "opened_at": incident.opened_at,
        "recovered_at": incident.recovered_at,
        **incident.facts,
    }
