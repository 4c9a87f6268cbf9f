"""How each source fared day by day: the counts of its runs, added up."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from functools import partial

from sqlalchemy import delete, func, insert, select
from sqlalchemy.orm import Session

from newscrawl.storage.database import Database
from newscrawl.storage.models import Coverage, Run, Source, SourceStats

# Ours: as far back as a source's own habits are looked for.
HISTORY_DAYS = 56
# A run that has not ended after so long was killed.
_KILLED_AFTER = timedelta(hours=6)
_DROPPED = "item_dropped_reasons_count/"
# Drops that tell of the page; `TooOld` and the like tell of what was asked for.
_DROPS = ("NotAnArticle", "Empty", "TooShort", "NotHtml", "ConsentOrPaywall")
_REFUSALS = ("HTTP 401", "HTTP 403", "HTTP 429", "HTTP 451")


@dataclass(frozen=True, slots=True, kw_only=True)
class DailySourceStats:
    """A source on a UTC day. `new` articles were found, `read` pages gave an article (without
    teasers of paywalled ones), `dropped` ones none, `failed` ones didn't come, `refused` ones
    may not be read. `characters` is the median length of texts, `text_share` their part of the
    pages; both are None where nothing was read."""

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
    """Adds up the runs of the newest days again; gives the number of source-days written.

    Days are those since the last one known, or of the whole history where none is. With
    `ended_after` only sources of which a run has ended since then are looked at.
    """

    sums = _added_up(database, now, ended_after)
    by_day: dict[date, list[dict[str, object]]] = defaultdict(list)
    for (source_id, day), found in sums.items():
        by_day[day].append(found.row(source_id, day))
    for day, rows in by_day.items():
        database.write(partial(_replace, day=day, rows=rows))
    return len(sums)


def _added_up(
    database: Database, now: datetime, ended_after: datetime | None
) -> "dict[tuple[int, date], _Sum]":
    """The sums by source and day. They are only read here: that may take a while, and a
    transaction that writes would keep crawls from storing."""
    oldest = now.date() - timedelta(days=HISTORY_DAYS)
    sums: dict[tuple[int, date], _Sum] = defaultdict(_Sum)
    with database.reading() as session:
        last = session.scalar(select(func.max(SourceStats.day)))
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


def _replace(session: Session, day: date, rows: list[dict[str, object]]) -> None:
    sources = [row["source_id"] for row in rows]
    session.execute(
        delete(SourceStats).where(SourceStats.day == day, SourceStats.source_id.in_(sources))
    )
    session.execute(insert(SourceStats), rows)


def daily_source_stats(database: Database, since: date) -> dict[str, list[DailySourceStats]]:
    """Each source's days, the oldest first."""
    query = (
        select(Source.slug, SourceStats)
        .join(SourceStats, SourceStats.source_id == Source.id)
        .where(SourceStats.day >= since)
        .order_by(SourceStats.day)
    )
    found: dict[str, list[DailySourceStats]] = defaultdict(list)
    with database.reading() as session:
        for slug, row in session.execute(query):
            found[slug].append(_day(row))
    return dict(found)


def _day(row: SourceStats) -> DailySourceStats:
    share = row.text_characters / row.page_characters if row.page_characters else None
    return DailySourceStats(
        day=row.day,
        runs=row.runs,
        failed_runs=row.failed_runs,
        new=row.new,
        fetched=row.fetched,
        failed=row.failed,
        refused=row.refused,
        dropped=row.dropped,
        read=row.read,
        undated=row.undated,
        untitled=row.untitled,
        characters=row.characters,
        confidence=row.confidence,
        text_share=share,
    )


@dataclass(slots=True)
class _Sum:
    """The runs of a source on a day, as they are added up."""

    runs: int = 0
    failed_runs: int = 0
    counts: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    # Pairs of a run's median and the number of pages it is of.
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
        for name, value in _sums_of(counts, count("pages_disallowed")).items():
            self.counts[name] += value
        if read := count("vitals/read"):
            self.characters.append((count("vitals/characters"), read))
            self.confidence.append((count("vitals/confidence") / 1000, read))

    def row(self, source_id: int, day: date) -> dict[str, object]:
        return {
            "source_id": source_id,
            "day": day,
            "runs": self.runs,
            "failed_runs": self.failed_runs,
            "characters": _median(self.characters),
            "confidence": _median(self.confidence),
            **{name: self.counts[name] for name in (*_NAMES, "failed", "refused", "dropped")},
        }


_NAMES: Mapping[str, str] = {
    "new": "articles_new",
    "fetched": "pages_fetched",
    "read": "vitals/read",
    "undated": "vitals/undated",
    "untitled": "vitals/untitled",
    "page_characters": "vitals/page_characters",
    "text_characters": "vitals/text_characters",
}


def _sums_of(counts: Mapping[str, int], disallowed: int) -> dict[str, int]:
    found = {name: int(counts.get(f"newscrawl/{key}", 0)) for name, key in _NAMES.items()}
    refused = sum(int(counts.get(f"newscrawl/pages_failed/{kind}", 0)) for kind in _REFUSALS)
    return {
        **found,
        "failed": int(counts.get("newscrawl/pages_failed", 0)),
        "refused": refused + disallowed,
        "dropped": sum(int(counts.get(f"{_DROPPED}{reason}", 0)) for reason in _DROPS),
    }


def _median(weighted: Iterable[tuple[float, int]]) -> float | None:
    """The value at which half of the weight is reached."""
    ordered = sorted(weighted)
    half, reached = sum(weight for _, weight in ordered) / 2, 0
    for value, weight in ordered:
        reached += weight
        if reached >= half:
            return value
    return None


def articles_so_far(database: Database) -> dict[str, int]:
    """How many new articles each source has brought since its days are kept."""
    query = (
        select(Source.slug, func.sum(SourceStats.new))
        .join(SourceStats, SourceStats.source_id == Source.id)
        .group_by(Source.slug)
    )
    with database.reading() as session:
        return {slug: int(number) for slug, number in session.execute(query)}


def coverage_by_day(database: Database, since: date) -> dict[str, dict[date, str]]:
    """Each source's states on the days since then that a crawl of it was recorded."""
    query = (
        select(Source.slug, Coverage.day, Coverage.state)
        .join(Coverage, Coverage.source_id == Source.id)
        .where(Coverage.day >= since)
    )
    found: dict[str, dict[date, str]] = defaultdict(dict)
    with database.reading() as session:
        for slug, day, state in session.execute(query):
            found[slug][day] = state
    return dict(found)
