"""The frontier for one crawl of one source: each method is one transaction."""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TypeVar

from sqlalchemy import Connection, select

from newscrawl.items import FetchAttempt, Hints, copy_fields
from newscrawl.storage.database import Database
from newscrawl.storage.errors import StorageError
from newscrawl.storage.frontier import gaps, listings, queue
from newscrawl.storage.frontier.gaps import GapEstimate, Overlap
from newscrawl.storage.frontier.listings import KnownListing, Reading, Schedule
from newscrawl.storage.frontier.queue import (
    Claim,
    DequeuedPage,
    EnqueueCounts,
    FetchOutcome,
    FetchResult,
    FrontierEntry,
)
from newscrawl.storage.models import Source

_FAILURES: frozenset[FetchOutcome] = frozenset({"failed", "crashed", "deferred", "hopeless"})

Result = TypeVar("Result")


def utc_now() -> datetime:
    """Return the current time."""
    return datetime.now(UTC)


def open_frontier(database: Database, slug: str, run_id: int, schedule: Schedule) -> "Frontier":
    """Return the frontier of a registered source for one of its runs; raise StorageError."""
    with database.reading() as session:
        source_id = session.scalar(select(Source.id).where(Source.slug == slug))
        if source_id is None:
            raise StorageError(f"no source {slug!r} in the database: register_source adds it")
        careful = queue.were_killed(session.connection(), source_id, run_id)
    return Frontier(
        database=database, source_id=source_id, run_id=run_id, schedule=schedule, careful=careful
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Frontier:
    """The queue and the listings of a source, for one run of it.

    No page is dequeued twice since the run `began`. The frontier is `careful` if the runs before it
    were killed one after the other. Methods are thread-safe and raise StorageError.
    """

    database: Database
    source_id: int
    run_id: int
    schedule: Schedule
    careful: bool = False
    began: datetime | None = None
    clock: Callable[[], datetime] = utc_now

    # Pages ---------------------------------------------------------------------------------

    def enqueue(self, listing_id: int | None, entries: Sequence[FrontierEntry]) -> EnqueueCounts:
        """Add the articles of a listing that are neither stored nor queued."""
        return self._write(
            lambda connection: queue.enqueue(
                connection, self.source_id, listing_id, entries, self.clock()
            )
        )

    def add_hints(self, entries: Sequence[FrontierEntry]) -> None:
        """Add the hints of a further listing to articles that are queued already."""
        self._write(lambda connection: queue.add_hints(connection, entries, self.clock()))

    def hints(self, queue_id: int) -> Hints:
        """Return the hints that listings have given for a page so far."""
        with self.database.reading() as session:
            return queue.hints_of(session.connection(), queue_id)

    def dequeue(self, limit: int, since: datetime | None = None) -> list[DequeuedPage]:
        """Return the next pages to fetch, none of them twice in a run.

        New pages come before revisits, the newest first; pages that are older than `since` stay in
        the queue.
        """
        claim = self._claim(since)
        return self._write(lambda connection: queue.dequeue(connection, claim, limit, self.clock()))

    def dequeue_quarantined(self, since: datetime | None = None) -> DequeuedPage | None:
        """Return the next page that may have killed a crawl, for a crawl that fetches nothing else
        meanwhile; the caller gives up one with a `crash_count` above MAX_CRASHES."""
        claim = self._claim(since)
        return self._write(
            lambda connection: queue.dequeue_quarantined(connection, claim, self.clock())
        )

    def count_waiting(self, since: datetime | None = None) -> int:
        """Return how many pages could still be dequeued."""
        with self.database.reading() as session:
            return queue.count_due(session.connection(), self._claim(since), self.clock())

    def fetch_result(
        self,
        attempt: FetchAttempt,
        outcome: FetchOutcome,
        reason: str,
        *,
        published: datetime | None = None,
    ) -> FetchResult:
        """Return the result of a page that was fetched or deferred.

        `published` is the date on the page itself. The validators of `attempt` are those of the
        response.
        """
        now = self.clock()
        deferred_to = self.schedule.deferred_to(attempt.born, now)
        if outcome == "deferred" and deferred_to is not None:
            return _defer(attempt, deferred_to)
        answered = outcome in {"read", "closed"}
        failures = attempt.failures + 1 if outcome in _FAILURES else 0
        due_at = self._due_at(attempt, outcome, published or attempt.born, now)
        if outcome == "postponed" or (failures and due_at and attempt.first):
            state = "pending"
        else:
            state = "failed" if failures and attempt.first else "done"
        columns = {
            "to_state": state,
            "to_reason": reason,
            "to_due_at": due_at,
            "to_keep_hints": due_at is not None,
            "to_moment": published,
            "to_visits": int(answered),
            "to_attempts": failures,
            "to_crash_count": _crash_count(attempt, outcome),
            "to_visited_at": now if answered else None,
            "to_etag": queue.validator(attempt.etag),
            "to_last_modified": queue.validator(attempt.last_modified),
        }
        return FetchResult(queue_id=attempt.queue_id, first=attempt.first, columns=columns)

    def mark_done(self, *results: FetchResult) -> None:
        """Write the results of pages without an article; `batch.write_batch` writes the others."""
        self._write(lambda connection: queue.mark_done(connection, results))

    def _due_at(
        self, attempt: FetchAttempt, outcome: FetchOutcome, born: datetime, now: datetime
    ) -> datetime | None:
        if outcome == "read":
            return self.schedule.revisit_at(born, now)
        if outcome in {"failed", "crashed", "deferred"}:
            return self.schedule.retry_at(attempt.failures + 1, now)
        return now if outcome == "postponed" else None

    def _claim(self, since: datetime | None = None) -> Claim:
        return copy_fields(Claim, self, since=since)

    def _write(self, work: Callable[[Connection], Result]) -> Result:
        return self.database.transact(work)

    # Feeds and sitemaps --------------------------------------------------------------------

    def listings(self, urls: Collection[str], parent_id: int | None = None) -> list[KnownListing]:
        """Return the state of feeds and sitemaps; with `parent_id`, of all those of an index."""
        return self._write(
            lambda connection: listings.known_listings(connection, self.source_id, urls, parent_id)
        )

    def children(self, listing_id: int) -> list[KnownListing]:
        """Return the sitemaps in an index at its last reading."""
        with self.database.reading() as session:
            return listings.children(session.connection(), listing_id)

    def record_reading(self, listing_id: int, reading: Reading) -> None:
        """Record the reading of a listing, after all of its articles were queued."""
        self._write(
            lambda connection: listings.record_reading(
                connection, listing_id, reading, self.schedule, self.clock()
            )
        )

    def record_unchanged(self, listing_id: int) -> None:
        """Record that a listing is unchanged."""
        self._write(
            lambda connection: listings.record_unchanged(
                connection, listing_id, self.schedule, self.clock()
            )
        )

    def record_failure(self, listing_id: int) -> None:
        """Record that a listing couldn't be read."""
        self._write(
            lambda connection: listings.record_failure(
                connection, listing_id, self.schedule, self.clock()
            )
        )

    # Gaps ----------------------------------------------------------------------------------

    def overlap(self, listing_id: int | None, urls: Collection[str], since: datetime) -> Overlap:
        """Return which pages of a listing were known at `since`, and which it has brought later."""
        with self.database.reading() as session:
            return gaps.overlap(session.connection(), listing_id, urls, since)

    def estimate_gap(self, articles: Collection[str], since: datetime) -> GapEstimate:
        """Return how many articles the source has published since, and how many are known, these
        among them."""
        with self.database.reading() as session:
            return gaps.estimate_gap(
                session.connection(), self.source_id, articles, since, self.clock()
            )

    def finish(self, listing_ids: Iterable[int]) -> datetime:
        """Return dequeued pages without a result to the queue; record and return when the source is
        due again, by these listings."""

        def work(connection: Connection) -> datetime:
            queue.return_to_queue(connection, self._claim())
            return listings.record_poll(
                connection, self.source_id, listing_ids, self.schedule, self.clock()
            )

        return self._write(work)


def _defer(attempt: FetchAttempt, due_at: datetime) -> FetchResult:
    """Return the result of a page that was not requested: it keeps its state and waits."""
    columns = {
        "to_state": "pending" if attempt.first else "done",
        "to_reason": queue.UNREACHABLE_ROBOTS,
        "to_due_at": due_at,
        "to_keep_hints": True,
        "to_moment": None,
        "to_visits": 0,
        "to_attempts": attempt.failures,
        "to_crash_count": _crash_count(attempt, "deferred"),
        "to_visited_at": None,
        "to_etag": queue.validator(attempt.etag),
        "to_last_modified": queue.validator(attempt.last_modified),
    }
    return FetchResult(queue_id=attempt.queue_id, first=attempt.first, columns=columns)


def _crash_count(attempt: FetchAttempt, outcome: FetchOutcome) -> int:
    """Return the crashes of a page. `dequeue_quarantined` counts one in advance, which is
    subtracted unless the page "crashed"."""
    if outcome in {"read", "closed"}:
        return 0
    crashes = attempt.crash_count
    return max(crashes, 1) if outcome == "crashed" else max(crashes - 1, 0)
