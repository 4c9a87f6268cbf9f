"""The frontier as one crawl of one source sees it: each method is one transaction."""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from sqlalchemy.orm import Session

from newscrawl.items import Hints, Visit
from newscrawl.storage.frontier import listings, queue, taking
from newscrawl.storage.frontier.listings import KnownListing, Reading
from newscrawl.storage.frontier.queue import Offer, Offered, Outcome, Settlement
from newscrawl.storage.frontier.schedule import Schedule
from newscrawl.storage.frontier.taking import Claim, Waiting

if TYPE_CHECKING:
    from newscrawl.storage.database import Database

_FAILURES: frozenset[Outcome] = frozenset({"failed", "died", "deferred", "hopeless"})


def utc_now() -> datetime:
    """Return the present moment."""
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class Frontier:
    """What a crawl of a source has to do, which takes no page twice from the moment it `began`.
    It is `careful` where those before it were cut off one after the other. Its methods may be
    called from any thread; each raises StorageError."""

    database: "Database"
    source_id: int
    run_id: int
    schedule: Schedule
    careful: bool = False
    began: datetime | None = None
    clock: Callable[[], datetime] = utc_now

    # Pages ---------------------------------------------------------------------------------

    def offer(self, listing_id: int | None, offers: Sequence[Offer]) -> Offered:
        """Queue the articles of a listing that are new to us."""
        return self.database.write(
            lambda session: queue.offer(
                session.connection(), self.source_id, listing_id, offers, self.clock()
            )
        )

    def tell(self, offers: Sequence[Offer]) -> None:
        """Add what a further listing says of articles that were offered already."""
        self.database.write(lambda session: queue.tell(session.connection(), offers, self.clock()))

    def hints(self, queue_id: int) -> Hints:
        """Return what listings have told of a page by now."""
        with self.database.reading() as session:
            return taking.hints_of(session.connection(), queue_id)

    def take(self, limit: int, since: datetime | None = None) -> list[Waiting]:
        """Return the next pages to be asked for, none of them twice in a run.

        New ones come before revisits, the newest before all; those known to be older than
        `since` stay in the queue.
        """
        claim = self._claim(since)
        return self.database.write(
            lambda session: taking.take(session.connection(), claim, limit, self.clock())
        )

    def take_suspect(self, since: datetime | None = None) -> Waiting | None:
        """Return the next page that may have killed a crawl, for one that is busy with nothing
        else; more `deaths` than MOST_DEATHS, and it is to be given up."""
        claim = self._claim(since)
        return self.database.write(
            lambda session: taking.take_suspect(session.connection(), claim, self.clock())
        )

    def waiting(self, since: datetime | None = None) -> int:
        """Return how many pages could still be taken."""
        with self.database.reading() as session:
            return taking.count_due(session.connection(), self._claim(since), self.clock())

    def _claim(self, since: datetime | None = None) -> Claim:
        return Claim(
            source_id=self.source_id,
            run_id=self.run_id,
            began=self.began,
            since=since,
            careful=self.careful,
        )

    def settlement(
        self, visit: Visit, outcome: Outcome, reason: str, *, published: datetime | None = None
    ) -> Settlement:
        """Return what is to be written of a page that was asked for.

        `published` is what the page itself says. The validators of `visit` are those that the
        answer came with.
        """
        now = self.clock()
        deferred_to = self.schedule.deferred_to(visit.born, now)
        if outcome == "deferred" and deferred_to is not None:
            return _deferred(visit, deferred_to)
        answered = outcome in {"read", "closed"}
        failures = visit.failures + 1 if outcome in _FAILURES else 0
        due_at = self._due_at(visit, outcome, published or visit.born, now)
        if outcome == "postponed" or (failures and due_at and visit.first):
            state = "pending"
        else:
            state = "failed" if failures and visit.first else "done"
        columns = {
            "to_state": state,
            "to_reason": reason,
            "to_due_at": due_at,
            "to_keep_hints": due_at is not None,
            "to_moment": published,
            "to_visits": int(answered),
            "to_attempts": failures,
            "to_deaths": _deaths(visit, outcome),
            "to_visited_at": now if answered else None,
            "to_etag": queue.validator(visit.etag),
            "to_last_modified": queue.validator(visit.last_modified),
        }
        return Settlement(queue_id=visit.queue_id, first=visit.first, columns=columns)

    def _due_at(
        self, visit: Visit, outcome: Outcome, born: datetime, now: datetime
    ) -> datetime | None:
        if outcome == "read":
            return self.schedule.revisit_at(born, now)
        if outcome in {"failed", "died", "deferred"}:
            return self.schedule.retry_at(visit.failures + 1, now)
        return now if outcome == "postponed" else None

    def settle(self, *settlements: Settlement) -> None:
        """Write what came of pages without an article; `Database.save` does it for the others."""
        self.database.write(lambda session: queue.settle(session.connection(), settlements))

    # Feeds and sitemaps --------------------------------------------------------------------

    def listings(self, urls: Collection[str], parent_id: int | None = None) -> list[KnownListing]:
        """Return what is known of feeds and sitemaps; with `parent_id`, all those of an index."""
        return self.database.write(
            lambda session: listings.known_listings(
                session.connection(), self.source_id, urls, parent_id
            )
        )

    def children(self, listing_id: int) -> list[KnownListing]:
        """Return the sitemaps that an index listed when it was last read."""
        with self.database.reading() as session:
            return listings.children(session.connection(), listing_id)

    def read(self, listing_id: int, reading: Reading) -> None:
        """Write what a listing said, once all of its articles have been offered."""
        self.database.write(
            lambda session: listings.record_reading(
                session.connection(), listing_id, reading, self.schedule, self.clock()
            )
        )

    def unchanged(self, listing_id: int) -> None:
        """Write that a listing says what it said before."""
        self.database.write(
            lambda session: listings.record_unchanged(
                session.connection(), listing_id, self.schedule, self.clock()
            )
        )

    def broken(self, listing_id: int) -> None:
        """Write that a listing couldn't be read."""
        self.database.write(
            lambda session: listings.record_failure(
                session.connection(), listing_id, self.schedule, self.clock()
            )
        )

    def finish(self, listing_ids: Iterable[int]) -> datetime:
        """Give back what was taken and not come to; write and return when the source is due again,
        by these listings."""

        def work(session: Session) -> datetime:
            connection = session.connection()
            taking.give_back(connection, self._claim())
            return listings.record_poll(
                connection, self.source_id, listing_ids, self.schedule, self.clock()
            )

        return self.database.write(work)


def _deferred(visit: Visit, due_at: datetime) -> Settlement:
    """A page that was not asked for is what it was before, and only waits."""
    columns = {
        "to_state": "pending" if visit.first else "done",
        "to_reason": queue.UNREACHABLE_ROBOTS,
        "to_due_at": due_at,
        "to_keep_hints": True,
        "to_moment": None,
        "to_visits": 0,
        "to_attempts": visit.failures,
        "to_deaths": _deaths(visit, "deferred"),
        "to_visited_at": None,
        "to_etag": queue.validator(visit.etag),
        "to_last_modified": queue.validator(visit.last_modified),
    }
    return Settlement(queue_id=visit.queue_id, first=visit.first, columns=columns)


def _deaths(visit: Visit, outcome: Outcome) -> int:
    """How many deaths are still to be held against a page. Its own visit has added one that has
    not come about, unless it "died"."""
    if outcome in {"read", "closed"}:
        return 0
    return max(visit.deaths, 1) if outcome == "died" else max(visit.deaths - 1, 0)
