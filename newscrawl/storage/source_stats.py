"""Statistics of sources: the sums of their runs by day, their last check, and their listings."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from functools import partial
from typing import Literal

from sqlalchemy import Integer, delete, func, insert, select
from sqlalchemy.orm import Session

from newscrawl.items import copy_fields
from newscrawl.storage.database import Database, reads, source_number, writes
from newscrawl.storage.models import Coverage, Listing, Run, Source, SourceCheckup, SourceStats

# Ours: how far back a source's history is used.
HISTORY_DAYS = 56
# A run that has not ended after this time was killed.
_KILLED_AFTER = timedelta(hours=6)
_DROPPED = "item_dropped_reasons_count/"
# Drops caused by the page; others, such as `TooOld`, depend on the request.
_DROPS = ("NotAnArticle", "Empty", "TooShort", "NotHtml", "ConsentOrPaywall")
_REFUSALS = ("HTTP 401", "HTTP 403", "HTTP 429", "HTTP 451")


@dataclass(frozen=True, slots=True, kw_only=True)
class DailySourceStats:
    """A source on a UTC day: `new` articles, `read` pages with the text of an
    article, `dropped` pages without one, `failed` pages without a response, `refused` pages that
    may not be read. `characters` is the median length of texts, `text_share` their part of the
    pages; both are None if nothing was read."""

    day: date
    runs: int = 0
    failed_runs: int = 0
    new: int = 0
    fetched: int = 0
    failed: int = 0
    refused: int = 0
    dropped: int = 0
    read: int = 0
    undated: int = 0
    untitled: int = 0
    characters: float | None = None
    confidence: float | None = None
    text_share: float | None = None


def refresh_source_stats(
    database: Database, now: datetime, *, ended_after: datetime | None = None
) -> int:
    """Sum up the runs of the newest days again; return the number of source-days written.

    These are the days since the last one stored, or the whole history if there is none. With
    `ended_after`, only sources with a run that has ended since then are updated.
    """

    def replace_day(day: date, rows: list[dict[str, object]], session: Session) -> None:
        sources = [row["source_id"] for row in rows]
        of_day = delete(SourceStats).where(SourceStats.day == day)
        session.execute(of_day.where(SourceStats.source_id.in_(sources)))
        session.execute(insert(SourceStats), rows)

    sums = _sum_days(database, now, ended_after)
    by_day: dict[date, list[dict[str, object]]] = defaultdict(list)
    for (source_id, day), total in sums.items():
        by_day[day].append(total.row(source_id, day))
    for day, rows in by_day.items():
        database.write(partial(replace_day, day, rows))
    return len(sums)


@reads
def _sum_days(
    session: Session, now: datetime, ended_after: datetime | None
) -> "dict[tuple[int, date], _Sum]":
    """Return the sums by source and day. They are computed outside of the transaction that writes
    them, so that crawls don't wait for it."""
    oldest = now.date() - timedelta(days=HISTORY_DAYS)
    sums: dict[tuple[int, date], _Sum] = defaultdict(_Sum)
    # A later day was stored while the clock was wrong.
    until_today = SourceStats.day <= now.date()
    last = session.scalar(select(func.max(SourceStats.day)).where(until_today))
    first = max(last - timedelta(days=1), oldest) if last else oldest
    begin = datetime.combine(first, time(), UTC)
    query = select(Run.source_id, Run.started_at, Run.finished_at, Run.counts)
    query = query.where(Run.started_at >= begin)
    if ended_after is not None:
        touched = select(Run.source_id).where(
            Run.started_at >= begin, Run.finished_at >= ended_after
        )
        query = query.where(Run.source_id.in_(touched))
    for source_id, started, finished, counts in session.execute(
        query.execution_options(yield_per=500)
    ):
        sums[source_id, started.date()].add(started, finished, counts or {}, now)
    return sums


@reads
def daily_source_stats(session: Session, since: date) -> dict[str, list[DailySourceStats]]:
    """Return each source's days, the oldest first."""
    query = (
        select(Source.slug, SourceStats)
        .join(SourceStats, SourceStats.source_id == Source.id)
        .where(SourceStats.day >= since)
        .order_by(SourceStats.day)
    )
    days: dict[str, list[DailySourceStats]] = defaultdict(list)
    for slug, row in session.execute(query):
        text, page = row.text_characters, row.page_characters
        share = text / page if page else None
        days[slug].append(copy_fields(DailySourceStats, row, text_share=share))
    return dict(days)


@dataclass(slots=True)
class _Sum:
    """The sums of a source's runs on a day."""

    runs: int = 0
    failed_runs: int = 0
    counts: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    # Pairs of a run's median and its number of pages.
    characters: list[tuple[float, int]] = field(default_factory=list)
    confidence: list[tuple[float, int]] = field(default_factory=list)

    def add(
        self, started: datetime, finished: datetime | None, counts: Mapping[str, int], now: datetime
    ) -> None:
        self.runs += 1
        if finished is None:
            self.failed_runs += now - started > _KILLED_AFTER
            return

        def count(name: str) -> int:
            return int(counts.get(f"newscrawl/{name}", 0))

        listings = ("listings_read", "listings_unchanged", "listings_rested")
        self.failed_runs += not any(map(count, listings))
        sums = {name: count(key) for name, key in _NAMES.items()}
        sums["refused"] = count("pages_disallowed") + count("pages_refused")
        sums["refused"] += sum(count(f"pages_failed/{kind}") for kind in _REFUSALS)
        sums["dropped"] = sum(int(counts.get(f"{_DROPPED}{reason}", 0)) for reason in _DROPS)
        sums["dropped"] += count("pages_unreadable")
        for name, value in sums.items():
            self.counts[name] += value
        if read := count("extraction/articles"):
            self.characters.append((count("extraction/median_characters"), read))
            self.confidence.append((count("extraction/median_confidence") / 1000, read))

    def row(self, source_id: int, day: date) -> dict[str, object]:
        return {
            "source_id": source_id,
            "day": day,
            "runs": self.runs,
            "failed_runs": self.failed_runs,
            "characters": _median(self.characters),
            "confidence": _median(self.confidence),
            **{name: self.counts[name] for name in (*_NAMES, "refused", "dropped")},
        }


_NAMES: Mapping[str, str] = {
    "new": "articles_new",
    "fetched": "pages_fetched",
    "failed": "pages_failed",
    "read": "extraction/articles",
    "undated": "extraction/undated",
    "untitled": "extraction/untitled",
    "page_characters": "extraction/page_characters",
    "text_characters": "extraction/text_characters",
}


def _median(weighted: Iterable[tuple[float, int]]) -> float | None:
    """Return the value at which half of the weight is reached."""
    ordered = sorted(weighted)
    half, reached = sum(weight for _, weight in ordered) / 2, 0
    for value, weight in ordered:
        reached += weight
        if reached >= half:
            return value
    return None


@reads
def articles_so_far(session: Session) -> dict[str, int]:
    """Return the number of new articles of each source since its first stored day, those of the
    crawls included that have ended since the last inspection."""
    new = func.coalesce(Run.counts["newscrawl/articles_new"].as_integer(), 0, type_=Integer())
    last = session.scalar(select(func.max(SourceStats.day)))
    # A later inspection sums up the last two days again.
    first = last - timedelta(days=1) if last else date.min
    queries = (
        select(SourceStats.source_id, func.sum(SourceStats.new))
        .where(SourceStats.day < first)
        .group_by(SourceStats.source_id),
        select(Run.source_id, func.sum(new))
        .where(Run.started_at >= datetime.combine(first, time(), UTC))
        .group_by(Run.source_id),
    )
    sums: dict[int, int] = defaultdict(int)
    for query in queries:
        for source_id, number in session.execute(query):
            sums[source_id] += int(number)
    slugs = session.execute(select(Source.id, Source.slug))
    return {slug: sums[number] for number, slug in slugs if number in sums}


@reads
def coverage_by_day(session: Session, since: date) -> dict[str, dict[date, str]]:
    """Return each source's states by day, of the days since then on which it was crawled."""
    query = (
        select(Source.slug, Coverage.day, Coverage.state)
        .join(Coverage, Coverage.source_id == Source.id)
        .where(Coverage.day >= since)
    )
    states: dict[str, dict[date, str]] = defaultdict(dict)
    for slug, day, state in session.execute(query):
        states[slug][day] = state
    return dict(states)


CheckState = Literal["reachable", "moved", "stale", "no feed", "blocked", "unreachable"]
# States in which a crawl finds articles.
HEALTHY: tuple[CheckState, ...] = ("reachable", "moved")


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkup:
    """The result of one check of a source: `working` of the `listings` could be read, `newest_at`
    is the time of their newest article, `moved_to` the new address of a home page that has moved
    permanently."""

    slug: str
    state: CheckState
    note: str = ""
    listings: int = 0
    working: int = 0
    newest_at: datetime | None = None
    moved_to: str | None = None

    @property
    def is_healthy(self) -> bool:
        """Return whether a crawl would find articles."""
        return self.state in HEALTHY


@dataclass(frozen=True, slots=True, kw_only=True)
class LastCheckup(Checkup):
    """The last check of a source, and the time of the last one that found it healthy."""

    checked_at: datetime
    last_ok: datetime | None


@writes
def record_checkups(
    session: Session, checkups: Collection[Checkup], *, at: datetime | None = None
) -> None:
    """Store the results for registered sources, in one transaction; raise StorageError for
    others."""
    moment = at or datetime.now(UTC)
    for checkup in checkups:
        values = asdict(checkup)
        number = source_number(session, values.pop("slug"))
        last_ok = {"last_ok": moment} if checkup.is_healthy else {}
        session.merge(SourceCheckup(source_id=number, checked_at=moment, **values, **last_ok))


@reads
def last_checkups(session: Session) -> dict[str, LastCheckup]:
    """Return the last check of each source that was ever checked, by slug."""
    query = select(Source.slug, SourceCheckup).join(Source, Source.id == SourceCheckup.source_id)
    return {slug: copy_fields(LastCheckup, row, slug=slug) for slug, row in session.execute(query)}


# Ours: a listing whose next poll was due longer ago is no longer polled (it has left the registry,
# or nothing is crawled), and is ignored. NEWSCRAWL_POLL_MAX is six hours.
_ABANDONED = timedelta(days=2)


@dataclass(frozen=True, slots=True, kw_only=True)
class FailedListing:
    """A feed or sitemap that failed several times in a row; `last_read` is None if it was never
    read. `fault` is the cause of its last failure, if a crawl of the last days noted it."""

    url: str
    failures: int
    last_read: datetime | None
    fault: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListingHealth:
    """The listings that a source names itself: the number of working ones, and the failed ones."""

    working: int = 0
    failed: tuple[FailedListing, ...] = ()


@reads
def listing_health(session: Session, now: datetime) -> Mapping[str, ListingHealth]:
    """Return the health of each source's listings, by slug; sitemaps of an index are left out."""
    query = (
        select(Source.slug, Listing)
        .join(Listing, Listing.source_id == Source.id)
        .where(Listing.parent_id.is_(None), Listing.next_poll_at > now - _ABANDONED)
        .order_by(Source.slug, Listing.id)
    )
    working: dict[str, int] = defaultdict(int)
    failed: dict[str, list[FailedListing]] = defaultdict(list)
    for slug, listing in session.execute(query).all():
        if listing.failures:
            fault = Run.counts[f"newscrawl/listing_fault/{listing.id}"].as_string()
            recent = (Run.source_id == listing.source_id, Run.finished_at > now - _ABANDONED)
            last_fault = (
                select(fault).where(*recent, fault.is_not(None)).order_by(Run.id.desc()).limit(1)
            )
            failed[slug].append(
                FailedListing(
                    url=listing.url,
                    failures=listing.failures,
                    last_read=listing.checked_at,
                    fault=session.scalar(last_fault) or "",
                )
            )
        else:
            working[slug] += 1
    return {
        slug: ListingHealth(working=working[slug], failed=tuple(failed[slug]))
        for slug in sorted({*working, *failed})
    }
