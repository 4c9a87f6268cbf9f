"""What is wrong with a source today, judged by its own past."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import Literal

from newscrawl.monitoring.expecting import (
    LEAST_PAGES,
    Change,
    changed_level,
    changed_share,
    expected_articles,
)
from newscrawl.storage.incidents import Incident
from newscrawl.storage.listing_health import ListingHealth
from newscrawl.storage.source_stats import DailySourceStats

Kind = Literal[
    "unreachable",
    "feed_failed",
    "blocked",
    "stale",
    "missing",
    "not_crawled",
    "layout_changed",
    "drift",
    "quarantined",
]

# Ours: crawls that fail in a row before it is called so, and articles that were to be expected
# while none came (by chance that happens once in a thousand times: e to the -7).
FAILURES = 3
AWAITED = 7.0
# Ours: revisions of one source in the quarantine that are no longer single pages gone wrong. It
# takes no history, so that a source is told of on its first day.
MANY_QUARANTINED = 5
# Several measures that move at once are one cause: the page is built otherwise.
_TOGETHER = 2

_WORDS: Mapping[str, str] = {
    "characters": "length of texts",
    "text_share": "part of the page that is text",
    "dropped": "pages without an article",
    "undated": "articles without a date",
    "untitled": "articles without a headline",
    "confidence": "confidence of the extraction",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceRecord:
    """What is known of a source: its days with the oldest first, its coverage by day, how many
    crawls failed in a row and what the last one said, how its feeds and sitemaps fare, and how many
    revisions are in the quarantine."""

    slug: str
    days: Sequence[DailySourceStats] = ()
    coverage: Mapping[date, str] = field(default_factory=dict)
    failures: int = 0
    note: str = ""
    listings: ListingHealth = field(default_factory=ListingHealth)
    quarantined: int = 0


@dataclass(frozen=True, slots=True)
class Verdict:
    """`incident` is None where all is well."""

    source: str
    kind: Kind
    incident: Incident | None = None


def judge(record: SourceRecord, today: date) -> list[Verdict]:
    """The verdict on each kind of incident that can be told; kinds that can't are left out."""
    judges: tuple[Callable[[SourceRecord, date], list[Verdict]], ...] = (
        _unreachable,
        _feed_failed,
        _blocked,
        _not_crawled,
        _missing,
        _stale,
        _drifted,
        _quarantined,
    )
    return [verdict for one in judges for verdict in one(record, today)]


def _verdict(
    kind: Kind, record: SourceRecord, note: str | None, facts: Mapping[str, object] | None = None
) -> Verdict:
    if note is None:
        return Verdict(record.slug, kind)
    return Verdict(
        record.slug, kind, Incident(kind=kind, source=record.slug, note=note, facts=facts or {})
    )


def _unreachable(record: SourceRecord, _today: date) -> list[Verdict]:
    if 0 < record.failures < FAILURES:
        return []
    if not record.failures:
        return [_verdict("unreachable", record, None)]
    note = f"{record.failures} crawls failed in a row; the last one: {record.note or 'no reason'}"
    return [_verdict("unreachable", record, note, {"failures": record.failures})]


def _feed_failed(record: SourceRecord, _today: date) -> list[Verdict]:
    """Tell of a feed or sitemap that is lost while another one works: where none does, the crawls
    fail, and say so themselves."""
    lost = [one for one in record.listings.failed if one.failures >= FAILURES]
    if not record.listings.working:
        return []
    if not lost:
        return [_verdict("feed_failed", record, None)]
    first = max(lost, key=lambda one: one.failures)
    last = f"last read on {first.last_read:%Y-%m-%d}" if first.last_read else "never read before"
    more = f"; so did {len(lost) - 1} more" if len(lost) > 1 else ""
    note = f"{first.url} failed {first.failures} times in a row, {last}{more}"
    facts = {"listings": {one.url: one.failures for one in lost}}
    return [_verdict("feed_failed", record, note, facts)]


def _blocked(record: SourceRecord, today: date) -> list[Verdict]:
    state = _latest_state(record, today)
    if state == "blocked_by_robots":
        note = "robots.txt or the server refuses us"
        return [_verdict("blocked", record, note, {"state": state})]
    now = _telling_day(record, today, lambda one: one.fetched + one.refused)
    if now is None:
        return [_verdict("blocked", record, None)] if state == "ok" else []
    before = [(one.refused, one.fetched + one.refused) for one in _before(record, now.day)]
    change = changed_share("refused", now.refused, now.fetched + now.refused, before)
    if change is None:
        return [_verdict("blocked", record, None)]
    note = f"{change.now:.0%} of the pages are refused, usually {change.before:.0%}"
    return [_verdict("blocked", record, note, _facts(change))]


def _not_crawled(record: SourceRecord, today: date) -> list[Verdict]:
    """Nobody looked yesterday, though the source was looked at before."""
    yesterday = today - timedelta(days=1)
    if not any(day < yesterday for day in record.coverage):
        return []
    if yesterday in record.coverage or today in record.coverage:
        return [_verdict("not_crawled", record, None)]
    last = max(record.coverage)
    note = f"no crawl has ended since {last}"
    return [_verdict("not_crawled", record, note, {"last_day": last.isoformat()})]


def _missing(record: SourceRecord, today: date) -> list[Verdict]:
    """Yesterday brought far fewer articles than such days do."""
    yesterday = today - timedelta(days=1)
    found = next((one for one in record.days if one.day == yesterday), None)
    expected = expected_articles(record.days, yesterday)
    if found is None or expected is None or found.runs <= found.failed_runs:
        return []
    if not expected.missed_by(found.new):
        return [_verdict("missing", record, None)]
    note = f"{found.new} new articles on {yesterday}, {expected.number:.0f} were to be expected"
    facts = {"day": yesterday.isoformat(), "found": found.new, "expected": expected.number}
    return [_verdict("missing", record, note, facts)]


def _stale(record: SourceRecord, today: date) -> list[Verdict]:
    """Full days without any new article, though crawls went well and so many were awaited."""
    if _latest_state(record, today) == "stale_feed":
        note = "the feeds and sitemaps list nothing that is recent"
        return [_verdict("stale", record, note, {"state": "stale_feed"})]
    last = max((one.day for one in record.days if one.new), default=None)
    if last is None:
        return []
    quiet = [one.day for one in record.days if last < one.day < today and one.runs]
    awaited = 0.0
    for day in quiet:
        expected = expected_articles([one for one in record.days if one.day <= last], day)
        if expected is None:
            return []
        awaited += expected.number
    if awaited < AWAITED:
        return [_verdict("stale", record, None)]
    note = f"no new article since {last}, {awaited:.0f} were to be expected"
    return [_verdict("stale", record, note, {"last_day": last.isoformat(), "expected": awaited})]


def _drifted(record: SourceRecord, today: date) -> list[Verdict]:
    now = _telling_day(record, today, lambda one: one.read + one.dropped)
    if now is None:
        return []
    changes = _changes(now, _before(record, now.day))
    facts = {one.measure: {"now": one.now, "before": one.before} for one in changes}
    facts_and_day = {"day": now.day.isoformat(), **facts}
    told = "; ".join(map(_told, changes)) + f" (on {now.day})"
    together = len(changes) >= _TOGETHER
    return [
        _verdict("layout_changed", record, told if together else None, facts_and_day),
        _verdict("drift", record, told if changes and not together else None, facts_and_day),
    ]


def _quarantined(record: SourceRecord, _today: date) -> list[Verdict]:
    """Other pages stand in the place of articles, or somebody has left them undecided."""
    number = record.quarantined
    if number < MANY_QUARANTINED:
        return [_verdict("quarantined", record, None)]
    note = f"{number:,} articles would have become worse: newscrawl articles --quarantined"
    return [_verdict("quarantined", record, note, {"revisions": number})]


def _changes(now: DailySourceStats, before: Sequence[DailySourceStats]) -> list[Change]:
    def level(name: str) -> Change | None:
        values = [getattr(one, name) for one in before if one.read >= LEAST_PAGES]
        known = [value for value in values if value is not None]
        value = getattr(now, name) if now.read >= LEAST_PAGES else None
        return changed_level(name, value, known)

    def share(name: str, whole: Callable[[DailySourceStats], int]) -> Change | None:
        pairs = [(getattr(one, name), whole(one)) for one in before]
        return changed_share(name, getattr(now, name), whole(now), pairs)

    found = (
        level("characters"),
        level("text_share"),
        level("confidence"),
        share("dropped", lambda one: one.read + one.dropped),
        share("undated", lambda one: one.read),
        share("untitled", lambda one: one.read),
    )
    return [change for change in found if change is not None]


def _told(change: Change) -> str:
    shown = "{:,.0f}" if change.measure == "characters" else "{:.0%}"
    now, before = shown.format(change.now), shown.format(change.before)
    return f"{_WORDS[change.measure]}: {now}, usually {before}"


def _facts(change: Change) -> dict[str, object]:
    return {change.measure: {"now": change.now, "before": change.before}}


def _before(record: SourceRecord, day: date) -> list[DailySourceStats]:
    return [one for one in record.days if one.day < day]


def _telling_day(
    record: SourceRecord, today: date, pages: Callable[[DailySourceStats], int]
) -> DailySourceStats | None:
    """Today or yesterday, the newer of them that has pages enough to tell anything."""
    recent = [one for one in record.days if today - one.day <= timedelta(days=1)]
    return next((one for one in reversed(recent) if pages(one) >= LEAST_PAGES), None)


def _latest_state(record: SourceRecord, today: date) -> str | None:
    yesterday = today - timedelta(days=1)
    return record.coverage.get(today) or record.coverage.get(yesterday)
