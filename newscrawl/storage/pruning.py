"""What a watch may forget, so that a database that is used for years grows by its articles alone.

- A **page of the queue** that nobody will ask for again, when an article is stored under its
  address, or when no feed or sitemap has named it for so long: then none can have it asked for
  again. Articles that were seen are never fetched again by that: their addresses are kept with
  them, and an address that stands there is not queued.
- A **feed or sitemap** that no crawl of its source has asked for since, as those of a day gone by.
- A **run** without an article of its own; one with articles loses its counts, which the days of its
  source hold added up.
- A **monitor** that is gone, an **incident** that is over, a copy of a **robots.txt** that nobody
  has read since, a **revision** that has left the quarantine.

Rows are looked for a piece at a time, by their numbers, and dropped in short transactions: crawls
go on meanwhile, and who is broken off begins anew the next day.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, Select, and_, delete, exists, func, null, or_, select, update
from sqlalchemy.orm import Session, aliased

from newscrawl.storage import models
from newscrawl.storage.database import Database
from newscrawl.storage.frontier.queue import NAMED_AGAIN
from newscrawl.storage.models import (
    Article,
    ArticleUrl,
    FrontierUrl,
    Incident,
    Listing,
    Poll,
    QuarantinedRevision,
    Run,
)

TASK = "prune"
EVERY = timedelta(days=1)
# A page that is still named has been seen to be so within this time: less would drop it.
LEAST = 2 * NAMED_AGAIN
# Ours: rows that are looked at in a piece, rows that are dropped in one transaction, and the
# seconds after it in which others may write.
_PIECE, _AT_ONCE, _PAUSE = 10_000, 1_000, 0.01

Stopping = Callable[[], bool]
Report = Callable[[int, int], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pruned:
    """How many rows were dropped; of `runs` some may have lost their counts only."""

    pages: int = 0
    listings: int = 0
    runs: int = 0
    monitors: int = 0
    incidents: int = 0
    robots_policies: int = 0
    revisions: int = 0

    @property
    def counts(self) -> dict[str, int]:
        """The numbers by their names."""
        return {one.name: getattr(self, one.name) for one in fields(self)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Pruning:
    """What is forgotten is older than `keep`. `stopping` is asked between two pieces of work, and
    `report` hears how much of it is done, of how much."""

    database: Database
    keep: timedelta
    now: datetime = field(default_factory=lambda: datetime.now(UTC))
    stopping: Stopping = lambda: False
    report: Report = lambda _done, _of: None

    def __post_init__(self) -> None:
        if self.keep < LEAST:
            raise ValueError(f"keep {self.keep}: less than {LEAST}")

    def run(self) -> Pruned:
        """Forget it; what was stopped is done in part. Raises StorageError."""
        return Pruned(
            pages=self._drop(FrontierUrl, self._forgotten_page()),
            listings=self._drop(Listing, self._forgotten_listing(), at_once=1),
            runs=self._drop(Run, self._empty_run()) + self._clear_runs(),
            monitors=self._drop_all(models.Worker, models.Worker.seen_at < self._limit),
            incidents=self._drop(Incident, Incident.recovered_at < self._limit),
            robots_policies=self._drop_all(
                models.RobotsPolicy, models.RobotsPolicy.fetched_at < self._limit
            ),
            revisions=self._drop(QuarantinedRevision, QuarantinedRevision.closed_at < self._limit),
        )

    @property
    def _limit(self) -> datetime:
        return self.now - self.keep

    # What is forgotten -------------------------------------------------------------------------

    def _forgotten_page(self) -> ColumnElement[bool]:
        seen = func.coalesce(FrontierUrl.visited_at, FrontierUrl.discovered_at)
        stored = exists().where(ArticleUrl.url == FrontierUrl.url)
        named = func.coalesce(FrontierUrl.named_at, FrontierUrl.discovered_at)
        # What has brought something new since would have named the page again, if it still did.
        silent = exists().where(
            Listing.id == FrontierUrl.listing_id,
            or_(Listing.changed_at > self._limit + NAMED_AGAIN, Listing.next_poll_at < self._limit),
        )
        unnamed = and_(
            named < self._limit,
            FrontierUrl.source_id.in_(self._watched()),
            or_(FrontierUrl.listing_id.is_(None), silent),
        )
        return and_(FrontierUrl.due_at.is_(None), seen < self._limit, or_(stored, unnamed))

    def _forgotten_listing(self) -> ColumnElement[bool]:
        return and_(Listing.next_poll_at < self._limit, Listing.source_id.in_(self._watched()))

    def _watched(self) -> Select[int]:
        """The sources that are crawled: a watch that rests forgets nothing."""
        return select(Poll.source_id).where(Poll.polled_at >= self._limit)

    def _old_run(self) -> ColumnElement[bool]:
        """The last run of each source is kept: it tells when that was."""
        later = aliased(Run)
        return and_(
            Run.started_at < self._limit,
            exists().where(later.source_id == Run.source_id, later.id > Run.id),
        )

    def _empty_run(self) -> ColumnElement[bool]:
        return and_(self._old_run(), ~exists().where(Article.run_id == Run.id))

    # How ---------------------------------------------------------------------------------------

    def _drop(self, table: Any, condition: ColumnElement[bool], *, at_once: int = _AT_ONCE) -> int:
        """Drop the rows, each only if the condition still holds; their number."""
        dropped = 0
        for numbers in self._found(table, condition):
            for start in range(0, len(numbers), at_once):
                chosen = numbers[start : start + at_once]
                dropped += self._write(delete(table).where(table.id.in_(chosen), condition))
        return dropped

    def _drop_all(self, table: Any, condition: ColumnElement[bool]) -> int:
        """As `_drop`, for a table so small that one statement does it."""
        return self._write(delete(table).where(condition))

    def _clear_runs(self) -> int:
        condition = and_(self._old_run(), Run.counts.is_not(None))
        cleared = 0
        for numbers in self._found(Run, condition):
            chosen = update(Run).where(Run.id.in_(numbers)).values(counts=null())
            cleared += self._write(chosen)
        return cleared

    def _found(self, table: Any, condition: ColumnElement[bool]) -> Iterator[Sequence[int]]:
        """The numbers of the rows that are meant, piece by piece through the whole table."""
        with self.database.reading() as session:
            last = session.scalar(select(func.max(table.id))) or 0
        done = 0
        while done < last and not self.stopping():
            ahead = select(table.id).where(table.id > done).order_by(table.id).limit(_PIECE)
            with self.database.reading() as session:
                end = session.scalar(select(func.max(ahead.subquery().c.id))) or last
                asked = select(table.id).where(table.id > done, table.id <= end, condition)
                numbers = session.scalars(asked).all()
            if numbers:
                yield numbers
            done = end
            self.report(done, last)

    def _write(self, statement: Any) -> int:
        def work(session: Session) -> int:
            # Nothing of these rows is in the session.
            options = {"synchronize_session": False}
            found: Any = session.execute(statement, execution_options=options)
            return int(found.rowcount)

        changed = self.database.write(work)
        time.sleep(_PAUSE)
        return changed


def prune_daily(
    database: Database, keep: timedelta, stopping: Stopping = lambda: False
) -> Pruned | None:
    """Forget what is older, if nobody has within a day, on this machine or another; what was
    dropped, or None. Raises StorageError."""
    now = datetime.now(UTC)
    if not database.write(lambda session: _claim(session, now)):
        return None
    pruned = Pruning(database=database, keep=keep, now=now, stopping=stopping).run()
    database.write(lambda session: _note(session, pruned))
    return pruned


def _claim(session: Session, now: datetime) -> bool:
    """Whether it is our turn; of several that ask at once, one has it."""
    table = models.Progress
    mine = update(table).where(table.task == TASK, table.started_at <= now - EVERY)
    begun: Any = session.execute(
        mine.values(started_at=now, updated_at=now, finished_at=None),
        execution_options={"synchronize_session": False},
    )
    if begun.rowcount or session.get(table, TASK) is not None:
        return bool(begun.rowcount)
    session.add(table(task=TASK, position=0, counts={}, started_at=now, updated_at=now))
    return True


def _note(session: Session, pruned: Pruned) -> None:
    row = session.get(models.Progress, TASK)
    if row is not None:
        row.counts = pruned.counts
        row.updated_at = row.finished_at = datetime.now(UTC)
