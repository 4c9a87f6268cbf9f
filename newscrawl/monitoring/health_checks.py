"""Inspect the sources: compare their health with their own past, record each fault as an incident,
and deliver new ones.

An incident is delivered once when it opens, and once when it is over.

The expected articles of a day and measures of pages are computed from the source's past. All limits
here are ours. Chance alone exceeds those of the numbers about once in years of a source's days (3
to 4 standard deviations); a real change exceeds them on its first day.
"""

import logging
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from itertools import groupby
from math import sqrt
from statistics import median

from newscrawl.monitoring.alerts import find_alerts, pending_alerts, structure_in_use
from newscrawl.monitoring.delivery import (
    Channel,
    Delivery,
    Notice,
    PendingNotice,
    deliver_pending,
    recipient_channels,
)
from newscrawl.storage import Database
from newscrawl.storage.company_alerts import watched_companies
from newscrawl.storage.source_stats import (
    HISTORY_DAYS,
    DailySourceStats,
    ListingHealth,
    coverage_by_day,
    daily_source_stats,
    listing_health,
    refresh_source_stats,
)
from newscrawl.storage.status import (
    Incident,
    IncidentKind,
    SourceStatus,
    claim_unreported,
    record_incidents,
    release_unreported,
    watch_status,
)

# Minimum days of history for an expectation; minimum days of one weekday, below which all weekdays
# are taken together.
MIN_DAYS = 7
MIN_WEEKDAYS = 3
# Minimum pages of a day that is assessed.
MIN_PAGES = 10
# Standard deviations beyond which a number of articles, or a measure of pages, is no longer chance.
ARTICLE_SIGMAS = 3.0
PAGE_SIGMAS = 4.0
# Smaller changes are not an incident, even if they are certain: half of the articles, a fifth of
# the pages, a factor of two in lengths.
ARTICLE_PART = 0.5
PAGE_PART = 0.2
FACTOR = 2.0
# Standard deviations of a normal distribution in one median absolute deviation.
_MAD_SIGMA = 1.4826


@dataclass(frozen=True, slots=True)
class ArticleBaseline:
    """A number of articles, and its standard deviation."""

    number: float
    deviation: float

    def is_missed_by(self, articles: int) -> bool:
        """Return whether a day's articles are fewer than chance allows, and far fewer."""
        low = self.number - ARTICLE_SIGMAS * self.deviation
        return articles < low and articles < self.number * ARTICLE_PART


def expected_articles(history: Sequence[DailySourceStats], day: date) -> ArticleBaseline | None:
    """Return the new articles expected of a full day: the median of the same weekday, or of all
    days. Days without a successful run are skipped. None if the history is too short."""
    read = [stats for stats in history if stats.day < day and stats.runs > stats.failed_runs]
    if len(read) < MIN_DAYS:
        return None
    same_weekday = [stats.new for stats in read if stats.day.weekday() == day.weekday()]
    numbers = same_weekday if len(same_weekday) >= MIN_WEEKDAYS else [stats.new for stats in read]
    middle = median(numbers)
    spread = _MAD_SIGMA * median(abs(number - middle) for number in numbers)
    # Articles vary at least as much as in Poisson's distribution.
    return ArticleBaseline(middle, max(spread, sqrt(middle), 1.0))


@dataclass(frozen=True, slots=True)
class Change:
    """A measure of pages that has changed: `now` against the median `before`."""

    measure: str
    now: float
    before: float


def changed_share(
    measure: str, part: int, total: int, before: Sequence[tuple[int, int]]
) -> Change | None:
    """Return the change of a share of pages that has risen beyond chance, or None.

    `before` holds parts and wholes of earlier days.
    """
    shares = [p / w for p, w in before if w >= MIN_PAGES]
    if total < MIN_PAGES or len(shares) < MIN_DAYS:
        return None
    usual, now = median(shares), part / total
    # One page in twenty may always differ, so that a usual share of 0 is not an absolute limit.
    chance = sqrt(max(usual * (1 - usual), 0.05 * 0.95) / total)
    spread = max(chance, _MAD_SIGMA * median(abs(share - usual) for share in shares))
    if now - usual > max(PAGE_PART, PAGE_SIGMAS * spread):
        return Change(measure, now, usual)
    return None


def changed_level(measure: str, now: float | None, before: Sequence[float]) -> Change | None:
    """Return the change of a level (a length, a share) by a factor of two that exceeds its usual
    variation, or None."""
    if now is None or len(before) < MIN_DAYS:
        return None
    usual = median(before)
    if not usual:
        return None
    spread = _MAD_SIGMA * median(abs(value - usual) for value in before)
    is_beyond_spread = abs(now - usual) > PAGE_SIGMAS * spread
    if is_beyond_spread and not usual / FACTOR < now < usual * FACTOR:
        return Change(measure, now, usual)
    return None


# All ours. A source is unreachable after MIN_FAILURES failed crawls in a row, and stale when
# MIN_AWAITED articles were expected and none came (by chance once in a thousand times: e^-7).
MIN_FAILURES = 3
MIN_AWAITED = 7.0
# The number of quarantined revisions of one source that single broken pages don't explain. The
# check needs no history: it works on a source's first day.
MIN_QUARANTINED = 5
# Measures that change on the same day have one cause: a new layout of the site.
_MIN_LAYOUT_CHANGES = 2
# An incident that more than half of the sources have at once, five at least, is not the sources'
# fault; a monitor is behind when a tenth of its sources are late.
_COMMON_PART = 0.5
_BEHIND_PART = 0.1
_MIN_COMMON = 5

_BLOCKED: Mapping[str, str] = {
    "blocked_by_robots": "robots.txt forbids us",
    "refused": "HTTP 403: the site refuses us",
}
_MEASURES: Mapping[str, str] = {
    "characters": "length of texts",
    "text_share": "part of the page that is text",
    "dropped": "pages without an article",
    "undated": "articles without a date",
    "untitled": "articles without a headline",
    "confidence": "confidence of the extraction",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceRecord:
    """What the checks of a source need: its status, its days, the oldest first, its coverage by
    day, and the health of its feeds and sitemaps."""

    status: SourceStatus
    days: Sequence[DailySourceStats] = ()
    coverage: Mapping[date, str] = field(default_factory=dict)
    listings: ListingHealth = field(default_factory=ListingHealth)


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The result of a check: `incident` is None if the source is healthy."""

    source: str
    kind: IncidentKind
    incident: Incident | None = None


# The result of a check: a kind of incident, its note (None if the source is healthy), and facts.
_Finding = tuple[IncidentKind, str | None, Mapping[str, object]]


def group_incidents(
    results: Iterable[CheckResult], slugs: Sequence[str], statuses: Iterable[SourceStatus]
) -> tuple[list[Incident], set[str]]:
    """Return the incidents to be recorded, and the causes that are over.

    An incident that most sources have at once becomes one incident of the monitor instead.
    """
    results = list(results)
    incidents = [result.incident for result in results if result.incident]
    number = Counter(incident.kind for incident in incidents)
    least = max(_MIN_COMMON, len(slugs) * _COMMON_PART)
    common = {kind for kind, sources in number.items() if sources >= least}
    of_sources = [incident for incident in incidents if incident.kind not in common]
    of_monitor = [
        Incident(
            kind=kind,
            source=None,
            note=f"{number[kind]} of {len(slugs)} sources at once: the network, or this machine?",
            facts={"sources": number[kind], "of": len(slugs)},
        )
        for kind in sorted(common)
    ]
    late = [status.source for status in statuses if status.late and not status.running_since]
    if len(late) >= max(_MIN_COMMON, len(slugs) * _BEHIND_PART):
        note = f"{len(late)} of {len(slugs)} sources are late: "
        of_monitor.append(
            Incident(
                kind="behind",
                source=None,
                note=note + "more workers, or a longer poll interval",
                facts={"late": len(late), "of": len(slugs)},
            )
        )
    cleared = {f"{result.source}/{result.kind}" for result in results if not result.incident}
    cleared |= {f"watch/{kind}" for kind in {result.kind for result in results} | {"behind"}}
    return of_sources + of_monitor, cleared - {incident.cause for incident in of_monitor}


def check(record: SourceRecord, today: date) -> list[CheckResult]:
    """Return a result for each kind of incident that can be assessed."""
    checks: tuple[Callable[[SourceRecord, date], Iterator[_Finding]], ...] = (
        _unreachable,
        _feed_failed,
        _check_blocking,
        _not_crawled,
        _incomplete,
        _missing,
        _stale,
        _check_drift,
        _check_quarantine,
    )
    slug = record.status.source
    findings = [finding for check in checks for finding in check(record, today)]
    is_blocked = any(kind == "blocked" and note is not None for kind, note, _ in findings)
    return [
        CheckResult(
            slug,
            kind,
            None if note is None else Incident(kind=kind, source=slug, note=note, facts=facts),
        )
        for kind, note, facts in findings
        # Crawls that fail because the site refuses their pages have one cause, and one incident.
        if note is None or not (is_blocked and kind == "unreachable")
    ]


def _unreachable(record: SourceRecord, _today: date) -> Iterator[_Finding]:
    failures = record.status.failures
    note = f"{record.status.failure_note or 'no reason'}; {failures} crawls failed in a row"
    if not 0 < failures < MIN_FAILURES:
        yield "unreachable", note if failures else None, {"failures": failures}


def _feed_failed(record: SourceRecord, _today: date) -> Iterator[_Finding]:
    """Find feeds and sitemaps that fail while others work; if none works, the crawls fail, and
    `_unreachable` reports it."""
    lost = [listing for listing in record.listings.failed if listing.failures >= MIN_FAILURES]
    if not record.listings.working:
        return
    note = None
    if lost:
        first = max(lost, key=lambda listing: listing.failures)
        last = "never read before"
        if first.last_read:
            last = f"last read on {first.last_read:%Y-%m-%d}"
        more = f"; so did {len(lost) - 1} more" if len(lost) > 1 else ""
        cause = f"{first.fault}; " if first.fault else ""
        note = f"{cause}{first.url} failed {first.failures} times in a row, {last}{more}"
    yield "feed_failed", note, {"listings": {listing.url: listing.failures for listing in lost}}


def _check_blocking(record: SourceRecord, today: date) -> Iterator[_Finding]:
    state = _latest_state(record, today)
    # While no crawl succeeds, `_unreachable` reports the refusal.
    note = _BLOCKED.get(state or "")
    if note and not (state == "refused" and record.status.failures):
        yield "blocked", note, {"state": state}
        return
    now = _latest_day(record, today, lambda stats: stats.fetched + stats.refused)
    if now is None:
        if state in {"ok", "incomplete"}:
            yield "blocked", None, {}
        return
    before = [(stats.refused, stats.fetched + stats.refused) for stats in _before(record, now.day)]
    change = changed_share("refused", now.refused, now.fetched + now.refused, before)
    if change is None:
        yield "blocked", None, {}
    else:
        note = f"{change.now:.0%} of the pages are refused, usually {change.before:.0%}"
        yield "blocked", note, {change.measure: {"now": change.now, "before": change.before}}


def _not_crawled(record: SourceRecord, today: date) -> Iterator[_Finding]:
    """Find a source that was crawled before, but neither yesterday nor today."""
    yesterday = today - timedelta(days=1)
    if any(day < yesterday for day in record.coverage):
        last = max(record.coverage)
        is_crawled = yesterday in record.coverage or today in record.coverage
        note = None if is_crawled else f"no crawl has ended since {last}"
        yield "not_crawled", note, {"last_day": last.isoformat()}


def _incomplete(record: SourceRecord, today: date) -> Iterator[_Finding]:
    """Find a source whose feed has rolled over, until a day on which it has not."""
    state = _latest_state(record, today)
    if state in {"incomplete", "ok", "paywalled"}:
        note = record.status.coverage_note if state == "incomplete" else None
        yield "incomplete", note, {"state": state}


def _missing(record: SourceRecord, today: date) -> Iterator[_Finding]:
    """Find a source with far fewer articles yesterday than on such days before."""
    yesterday = today - timedelta(days=1)
    day = next((stats for stats in record.days if stats.day == yesterday), None)
    expected = expected_articles(record.days, yesterday)
    if day is None or expected is None or day.runs <= day.failed_runs:
        return
    note = f"{day.new} new articles on {yesterday}, {expected.number:.0f} were to be expected"
    facts = {"day": yesterday.isoformat(), "found": day.new, "expected": expected.number}
    yield "missing", note if expected.is_missed_by(day.new) else None, facts


def _stale(record: SourceRecord, today: date) -> Iterator[_Finding]:
    """Find a source without a new article for full days, though its crawls succeeded."""
    if _latest_state(record, today) == "stale_feed":
        note = "the feeds and sitemaps list nothing that is recent"
        yield "stale", note, {"state": "stale_feed"}
        return
    last = max((stats.day for stats in record.days if stats.new), default=None)
    if last is None:
        return
    read = [stats.day for stats in record.days if stats.runs > stats.failed_runs]
    without_new = [day for day in read if last < day < today]
    awaited = 0.0
    for day in without_new:
        expected = expected_articles([stats for stats in record.days if stats.day <= last], day)
        if expected is None:
            return
        awaited += expected.number
    note = f"no new article since {last}, {awaited:.0f} were to be expected"
    facts = {"last_day": last.isoformat(), "expected": awaited}
    yield "stale", None if awaited < MIN_AWAITED else note, facts


def _check_drift(record: SourceRecord, today: date) -> Iterator[_Finding]:
    now = _latest_day(record, today, lambda stats: stats.read + stats.dropped)
    if now is None:
        return
    changes = _changes(now, _before(record, now.day))
    facts = {change.measure: {"now": change.now, "before": change.before} for change in changes}
    facts_and_day = {"day": now.day.isoformat(), **facts}
    notes = []
    for change in changes:
        shown = "{:,.0f}" if change.measure == "characters" else "{:.0%}"
        values = f"{shown.format(change.now)}, usually {shown.format(change.before)}"
        notes.append(f"{_MEASURES[change.measure]}: {values}")
    note = f"{'; '.join(notes)} (on {now.day})"
    is_layout = len(changes) >= _MIN_LAYOUT_CHANGES
    yield "layout_changed", note if is_layout else None, facts_and_day
    yield "drift", note if changes and not is_layout else None, facts_and_day


def _check_quarantine(record: SourceRecord, _today: date) -> Iterator[_Finding]:
    """Find a source whose pages no longer contain their articles, or whose new versions are
    quarantined."""
    number = record.status.quarantined
    note = f"{number:,} articles would have become worse: newscrawl articles --quarantined"
    yield "quarantined", note if number >= MIN_QUARANTINED else None, {"revisions": number}


def _changes(now: DailySourceStats, before: Sequence[DailySourceStats]) -> list[Change]:
    def level(name: str) -> Change | None:
        values = [getattr(stats, name) for stats in before if stats.read >= MIN_PAGES]
        measured = [value for value in values if value is not None]
        value = getattr(now, name) if now.read >= MIN_PAGES else None
        return changed_level(name, value, measured)

    def share(name: str, total: Callable[[DailySourceStats], int]) -> Change | None:
        pairs = [(getattr(stats, name), total(stats)) for stats in before]
        return changed_share(name, getattr(now, name), total(now), pairs)

    changes = (
        level("characters"),
        level("text_share"),
        level("confidence"),
        share("dropped", lambda stats: stats.read + stats.dropped),
        share("undated", lambda stats: stats.read),
        share("untitled", lambda stats: stats.read),
    )
    return [change for change in changes if change is not None]


def _before(record: SourceRecord, day: date) -> list[DailySourceStats]:
    return [stats for stats in record.days if stats.day < day]


def _latest_day(
    record: SourceRecord, today: date, pages: Callable[[DailySourceStats], int]
) -> DailySourceStats | None:
    """Return the newer of today and yesterday that has enough pages to assess."""
    recent = [stats for stats in record.days if today - stats.day <= timedelta(days=1)]
    return next((stats for stats in reversed(recent) if pages(stats) >= MIN_PAGES), None)


def _latest_state(record: SourceRecord, today: date) -> str | None:
    yesterday = today - timedelta(days=1)
    return record.coverage.get(today) or record.coverage.get(yesterday)


logger = logging.getLogger(__name__)

# Runs are counted again from shortly before the last inspection, because clocks differ.
_OVERLAP = timedelta(minutes=5)
# All ours: the number of incidents of one kind that are reported singly, and the number of sources
# that a notice of more incidents names.
_MAX_SINGLE = 5
_MAX_NAMED = 30
# The words for an incident of each kind, and for its end.
_INCIDENT_WORDS: Mapping[str, tuple[str, str]] = {
    "unreachable": ("can't be crawled", "can be crawled again"),
    "feed_failed": ("has lost a feed or sitemap", "has all its feeds and sitemaps again"),
    "blocked": ("refuses us", "refuses us no longer"),
    "stale": ("has nothing new", "has new articles again"),
    "incomplete": ("lacks articles", "lacks no further articles"),
    "missing": ("has too few articles", "has as many articles as usual again"),
    "not_crawled": ("was not crawled", "is crawled again"),
    "layout_changed": ("has changed its pages", "gives articles as usual again"),
    "drift": ("gives other articles than usual", "gives articles as usual again"),
    "quarantined": ("has other pages in place of articles", "has its articles again"),
    "behind": ("falls behind", "has caught up"),
}


class Inspector:
    """Inspects all sources at each call, as of the clock."""

    def __init__(
        self,
        database: Database,
        slugs: Collection[str],
        channels: Sequence[Channel],
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._database = database
        self._slugs = tuple(slugs)
        self._channels = channels
        self._clock = clock
        self._last: datetime | None = None

    def __call__(self) -> None:
        """Record and deliver the sources' incidents, then the alerts about watched companies."""
        now = self._clock()
        ended_after = self._last and min(self._last, now) - _OVERLAP
        refresh_source_stats(self._database, now, ended_after=ended_after)
        self._last = now
        statuses = watch_status(self._database, self._slugs).sources
        since = now.date() - timedelta(days=HISTORY_DAYS)
        days = daily_source_stats(self._database, since)
        coverage = coverage_by_day(self._database, since)
        listings = listing_health(self._database, now)
        records = [
            SourceRecord(
                status=status,
                days=days.get(status.source, ()),
                coverage=coverage.get(status.source, {}),
                listings=listings.get(status.source, ListingHealth()),
            )
            for status in statuses
            if status.last_start or status.failures
        ]
        results = [result for record in records for result in check(record, now.date())]
        slugs = [record.status.source for record in records]
        record_incidents(self._database, *group_incidents(results, slugs, statuses))
        self._deliver(pending_incidents(self._database))
        if watched_companies(self._database):
            structure = structure_in_use()
            find_alerts(self._database, structure=structure)
            more = recipient_channels(self._database, structure.groups)
            self._deliver(pending_alerts(self._database, structure), more)

    def _deliver(self, pending: Iterable[PendingNotice], more: Sequence[Channel] = ()) -> None:
        for failure in deliver_pending(pending, (*self._channels, *more)).failed:
            logger.error("No notice by %s: %s", failure.channel, failure.reason)


def pending_incidents(database: Database) -> Iterator[PendingNotice]:
    """Yield the notices of new incidents and of recoveries.

    A notice that no channel but the log could deliver is pending again at the next inspection.
    """
    opened, recovered = claim_unreported(database)
    for incidents, over in ((opened, False), (recovered, True)):
        ordered = sorted(incidents, key=lambda incident: (incident.kind, incident.id or 0))
        for _, same_kind in groupby(ordered, key=lambda incident: incident.kind):
            group = list(same_kind)
            for part in [group] if len(group) > _MAX_SINGLE else [[each] for each in group]:

                def acknowledge(
                    delivery: Delivery, part: list[Incident] = part, over: bool = over
                ) -> None:
                    if delivery.is_lost:
                        release_unreported(database, part, recoveries=over)

                yield PendingNotice(
                    notice=incident_notice(part, over=over), acknowledge=acknowledge
                )


def incident_notice(group: Sequence[Incident], *, over: bool) -> Notice:
    """Return the notice of an incident, or of many of a kind; `over` for that of their end."""
    first = group[0]
    words = _INCIDENT_WORDS.get(first.kind, (first.kind.replace("_", " "), "is well again"))[over]
    incidents = [
        {
            "source": incident.source,
            "cause": incident.cause,
            "note": incident.note,
            "opened_at": incident.opened_at,
            "recovered_at": incident.recovered_at,
            **incident.facts,
        }
        for incident in group
    ]
    facts = {"kind": first.kind, "incidents": incidents}
    if len(group) > 1:
        lines = [
            f"{incident.source or 'the monitor'}: {incident.note}"
            for incident in group[:_MAX_NAMED]
        ]
        omitted = len(group) - len(lines)
        return Notice(
            subject=f"{len(group)} sources: {words}",
            text="\n".join([*lines, *([f"and {omitted} more"] if omitted else [])]),
            event="recovered" if over else "opened",
            cause=f"many/{first.kind}",
            facts=facts,
        )
    if over and first.recovered_at and first.opened_at:
        lasted = first.recovered_at - first.opened_at
        hours = max(lasted.total_seconds(), 0.0) / 3600  # the clock may have been set back
        text = f"It lasted {hours:.1f} hours. The incident was: {first.note}"
    else:
        see = f"newscrawl status --source {first.source}" if first.source else "newscrawl status"
        text = f"{first.note}.\nOpen since {first.opened_at:%Y-%m-%d %H:%M} UTC. See: {see}"
    return Notice(
        subject=f"{first.source or 'The monitor'} {words}",
        text=text,
        event="recovered" if over else "opened",
        cause=first.cause,
        facts=facts,
    )
