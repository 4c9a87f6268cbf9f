"""Deletion of rows that are no longer needed.

Pruning keeps a database that is used for years from growing by more than its articles:

- A **page of the queue** that will not be requested again, once an article is stored under its
address, or once no feed or sitemap has listed it for `keep`. Stored articles are never fetched
again: their addresses are kept with them, and a stored address is not queued.
- A **feed or sitemap** that no crawl of its source has requested since, such as those of a past
  day.
- A **run** without an article of its own; one with articles loses its counts, which are summed in
  the days of its source.
- A **monitor** that has ended, an **incident** that is over, a copy of a **robots.txt** that was
  not read since, a **revision** that has left the quarantine, the record of a **sent notice**.

Rows are selected in pieces, by their ids, and deleted in short transactions: crawls continue
meanwhile, and an interrupted pruning starts again the next day.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Select,
    and_,
    delete,
    exists,
    func,
    null,
    or_,
    select,
    update,
)
from sqlalchemy.orm import Session, aliased

from newscrawl.storage import models
from newscrawl.storage.database import Database
from newscrawl.storage.deletion import erase_deleted
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
# The record that a listing still has a page may be this old: a shorter time would delete the page.
MIN_KEEP = 2 * NAMED_AGAIN
# Ours: rows that are examined in a piece, rows that are deleted in one transaction, and seconds of
# the pause after it, in which others may write.
_PIECE, _AT_ONCE, _PAUSE = 10_000, 1_000, 0.01

Stopping = Callable[[], bool]
Report = Callable[[int, int], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class PruneResult:
    """The number of deleted rows; some of the `runs` have lost only their counts."""

    pages: int = 0
    listings: int = 0
    runs: int = 0
    monitors: int = 0
    incidents: int = 0
    robots_policies: int = 0
    revisions: int = 0
    sent_notices: int = 0

    @property
    def counts(self) -> dict[str, int]:
        """Return the numbers by their names."""
        return {column.name: getattr(self, column.name) for column in fields(self)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Pruning:
    """Deletes rows older than `keep`. `is_stopping` is called between two pieces of work, and
    `report` with the number of rows done and of all."""

    database: Database
    keep: timedelta
    now: datetime = field(default_factory=lambda: datetime.now(UTC))
    is_stopping: Stopping = lambda: False
    report: Report = lambda _done, _of: None

    def __post_init__(self) -> None:
        if self.keep < MIN_KEEP:
            raise ValueError(f"keep {self.keep}: less than {MIN_KEEP}")

    def run(self) -> PruneResult:
        """Delete the rows; only a part of them if it is stopped. Raise StorageError."""
        return PruneResult(
            pages=self._drop(FrontierUrl, self._old_page()),
            listings=self._drop(Listing, self._old_listing(), at_once=1),
            runs=self._drop(Run, self._empty_run()) + self._clear_runs(),
            monitors=self._drop_all(models.Worker, models.Worker.seen_at < self._limit),
            incidents=self._drop(Incident, Incident.recovered_at < self._limit),
            robots_policies=self._drop_all(
                models.RobotsPolicy, models.RobotsPolicy.fetched_at < self._limit
            ),
            revisions=self._drop(QuarantinedRevision, QuarantinedRevision.closed_at < self._limit),
            sent_notices=self._drop(models.SentNotice, models.SentNotice.sent_at < self._limit),
        )

    @property
    def _limit(self) -> datetime:
        return self.now - self.keep

    # What is deleted ---------------------------------------------------------------------------

    def _old_page(self) -> ColumnElement[bool]:
        seen_at = func.coalesce(FrontierUrl.visited_at, FrontierUrl.discovered_at)
        stored = exists().where(ArticleUrl.url == FrontierUrl.url)
        listed_at = func.coalesce(FrontierUrl.named_at, FrontierUrl.discovered_at)
        # A listing that has had new entries since would have listed the page again.
        silent = exists().where(
            Listing.id == FrontierUrl.listing_id,
            or_(Listing.changed_at > self._limit + NAMED_AGAIN, Listing.next_poll_at < self._limit),
        )
        unnamed = and_(
            listed_at < self._limit,
            FrontierUrl.source_id.in_(self._crawled_sources()),
            or_(FrontierUrl.listing_id.is_(None), silent),
        )
        return and_(FrontierUrl.due_at.is_(None), seen_at < self._limit, or_(stored, unnamed))

    def _old_listing(self) -> ColumnElement[bool]:
        return and_(
            Listing.next_poll_at < self._limit, Listing.source_id.in_(self._crawled_sources())
        )

    def _crawled_sources(self) -> Select[int]:
        """Return the sources that were crawled since; rows of other sources are not deleted."""
        return select(Poll.source_id).where(Poll.polled_at >= self._limit)

    def _old_run(self) -> ColumnElement[bool]:
        """Return the condition of an old run. The last run of each source is kept for its time."""
        later = aliased(Run)
        return and_(
            Run.started_at < self._limit,
            exists().where(later.source_id == Run.source_id, later.id > Run.id),
        )

    def _empty_run(self) -> ColumnElement[bool]:
        return and_(self._old_run(), ~exists().where(Article.run_id == Run.id))

    # How ---------------------------------------------------------------------------------------

    def _drop(self, table: Any, condition: ColumnElement[bool], *, at_once: int = _AT_ONCE) -> int:
        """Delete the rows, each only if the condition still holds; return their number."""
        dropped = 0
        for numbers in self._find_ids(table, condition):
            for start in range(0, len(numbers), at_once):
                chosen = numbers[start : start + at_once]
                dropped += self._write(delete(table).where(table.id.in_(chosen), condition))
        return dropped

    def _drop_all(self, table: Any, condition: ColumnElement[bool]) -> int:
        """Delete the rows of a table so small that one statement suffices."""
        return self._write(delete(table).where(condition))

    def _clear_runs(self) -> int:
        condition = and_(self._old_run(), Run.counts.is_not(None))
        cleared = 0
        for numbers in self._find_ids(Run, condition):
            chosen = update(Run).where(Run.id.in_(numbers)).values(counts=null())
            cleared += self._write(chosen)
        return cleared

    def _find_ids(self, table: Any, condition: ColumnElement[bool]) -> Iterator[Sequence[int]]:
        """Yield the ids of the rows, piece by piece through the whole table."""
        with self.database.reading() as session:
            last = session.scalar(select(func.max(table.id))) or 0
        done = 0
        while done < last and not self.is_stopping():
            ahead = select(table.id).where(table.id > done).order_by(table.id).limit(_PIECE)
            with self.database.reading() as session:
                end = session.scalar(select(func.max(ahead.subquery().c.id))) or last
                query = select(table.id).where(table.id > done, table.id <= end, condition)
                numbers = session.scalars(query).all()
            if numbers:
                yield numbers
            done = end
            self.report(done, last)

    def _write(self, statement: Any) -> int:
        def work(session: Session) -> int:
            # These rows aren't in the session.
            options = {"synchronize_session": False}
            result: Any = session.execute(statement, execution_options=options)
            return int(result.rowcount)

        changed = self.database.write(work)
        time.sleep(_PAUSE)
        return changed


def prune_daily(
    database: Database, keep: timedelta, is_stopping: Stopping = lambda: False
) -> PruneResult | None:
    """Delete old rows, unless that was done within a day, on this machine or another; return the
    numbers, or None. Raise StorageError."""
    now = datetime.now(UTC)
    if not database.write(lambda session: _claim(session, now)):
        return None
    pruned = Pruning(database=database, keep=keep, now=now, is_stopping=is_stopping).run()
    database.write(lambda session: _note(session, pruned))
    erase_deleted(database, is_stopping)
    return pruned


def _claim(session: Session, now: datetime) -> bool:
    """Return whether this process is to prune: one of several at the same time does."""
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


def _note(session: Session, pruned: PruneResult) -> None:
    row = session.get(models.Progress, TASK)
    if row is not None:
        row.counts = pruned.counts
        row.updated_at = row.finished_at = datetime.now(UTC)
