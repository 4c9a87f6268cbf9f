"""The watch: whatever is due goes into the queue, and workers crawl what they take from it."""

import logging
import os
import platform
import signal
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from importlib.metadata import version
from uuid import uuid4

from huey.api import Huey
from huey.consumer import Consumer, ConsumerStopped

from newscrawl.monitoring.attending import Attendant, Limits
from newscrawl.monitoring.crawling import Command
from newscrawl.monitoring.queue import queue_errors
from newscrawl.storage import Database, StorageError
from newscrawl.storage.frontier import due_sources
from newscrawl.storage.leases import Leases, SourceFacts, Terms, sign, sign_on

logger = logging.getLogger(__name__)

# Ours: a queue that is short follows what is most overdue, and one of twice the workers keeps
# them busy between two looks at what is due.
_QUEUED_PER_WORKER = 2


def _nothing() -> None:
    """Inspect nothing."""


def _never() -> bool:
    return False


def _leave_it(_stopping: Callable[[], bool]) -> None:
    """Tidy nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What a watch does: `sources` are those it watches, `neighbours` which of
    them share a host, `workers` how many it crawls at once.

    `pause` and `inspect_every` are seconds between two looks at what is due, and between two
    calls of `inspect` and `tidy`, which is told how to learn that it must stop. With `once`, it
    ends when nothing is due any more.
    """

    sources: Sequence[SourceFacts]
    neighbours: Mapping[str, Collection[str]]
    workers: int
    command: Command
    terms: Terms
    limits: Limits = field(default_factory=Limits)
    once: bool = False
    pause: float = 10.0
    inspect_every: float = 300.0
    inspect: Callable[[], None] = _nothing
    tidy: Callable[[Callable[[], bool]], None] = _leave_it


class Watch:
    """Plans and crawls until it is told to stop (SIGTERM, SIGINT), or once."""

    def __init__(self, database: Database, queue: Huey, plan: Plan) -> None:
        self.name = f"{platform.node()}:{os.getpid()}:{uuid4().hex[:8]}"
        self.failed: list[str] = []
        self._database = database
        self._plan = plan
        self._slugs = [source.slug for source in plan.sources]
        self._leases = Leases(database, self.name, plan.terms, plan.neighbours)
        self._queue = queue
        self._crawl_later = queue.task(name="crawl")(self.crawl)
        self._inspect_later = queue.task(name="inspect", priority=1)(self.inspect)
        self._tidy_later = queue.task(name="tidy")(self.tidy)
        self._next_inspection = 0.0
        self._consumer = _Consumer(queue, self.round, plan)
        database.patience.hurried = self._consumer.stop_flag.is_set
        self._attendant = Attendant(
            self._leases, plan.command, plan.limits, self._consumer.stop_flag.is_set
        )

    def run(self) -> None:
        """Works until the end; running crawls end in order before it returns."""
        self._leases.enrol(self._plan.sources)
        host, workers = platform.node(), self._plan.workers
        sign_on(self._database, self.name, host, os.getpid(), workers, version("newscrawl"))
        try:
            self._consumer.run()
            if self._plan.once:
                self.inspect()
                self._tidy(_never)
        finally:
            sign(self._database, self.name, stopped=True)

    def round(self) -> int:
        """Puts what is due into the queue, the longest due first; gives the number of sources."""
        sign(self._database, self.name)
        room = self._plan.workers * _QUEUED_PER_WORKER - self._queue.pending_count()
        due = self._due() if room > 0 else []
        placed = self._leases.place(due, room) if due else []
        for slug in placed:
            self._crawl_later(slug)
        if not self._plan.once and time.monotonic() >= self._next_inspection:
            self._next_inspection = time.monotonic() + self._plan.inspect_every
            self._inspect_later()
            self._tidy_later()
        return len(placed)

    def _due(self) -> list[str]:
        """What is worth a crawl; what one has left undone needs no rest before the next."""
        now = datetime.now(UTC)
        cut_off = set(self._leases.interrupted()).intersection(self._slugs)
        undone = due_sources(self._database, now, cut_off, rest=timedelta(0))
        due = (*undone, *due_sources(self._database, now, self._slugs))
        return list(dict.fromkeys(one.slug for one in due))

    def crawl(self, slug: str) -> None:
        """Crawls a source that came out of the queue, if it is still due and nobody else does."""
        try:
            if self._consumer.stop_flag.is_set() or slug not in self._slugs:
                self._leases.give_back(slug)  # whoever plans puts it into the queue again
            elif self._leases.take(slug):
                self._crawl_ours(slug)
            else:
                self._leases.give_back(slug)
        except StorageError as error:
            logger.error("%s: %s", slug, error)  # noqa: TRY400 - one line says it all

    def inspect(self) -> None:
        """Looks for what has gone wrong, and tells of it."""
        try:
            self._plan.inspect()
        except StorageError as error:
            logger.error("No inspection: %s", error)  # noqa: TRY400

    def tidy(self) -> None:
        """Forgets what is needed no more, if it is time."""
        self._tidy(self._consumer.stop_flag.is_set)

    def _tidy(self, stopping: Callable[[], bool]) -> None:
        try:
            self._plan.tidy(stopping)
        except StorageError as error:
            logger.error("Nothing is forgotten: %s", error)  # noqa: TRY400

    def _crawl_ours(self, slug: str) -> None:
        if not due_sources(self._database, datetime.now(UTC), [slug], rest=timedelta(0)):
            self._leases.give_back(slug)
            return
        logger.info("%s: the crawl starts", slug)
        ended = self._attendant.run(slug)
        self._leases.release(slug, ended.outcome, ended.code, ended.note)
        if ended.outcome == "failed":
            self.failed.append(slug)
            logger.warning("%s: failed: %s", slug, ended.note)
        else:
            logger.info("%s: %s: %s", slug, ended.outcome, ended.note)


class _Consumer(Consumer):  # type: ignore[misc]
    """huey's workers, which also plan: in the main thread, at every pause."""

    def __init__(self, queue: Huey, plan_round: Callable[[], int], plan: Plan) -> None:
        # A quarter of the pause at most, so that what is put into a file is soon taken.
        delay = max(plan.pause / 4, 0.1)
        super().__init__(
            queue,
            workers=plan.workers,
            periodic=False,
            max_delay=delay,
            graceful_signal="TERM",
        )
        self._plan_round = plan_round
        self._pause = plan.pause
        self._once = plan.once
        self._next_round = 0.0
        self._failures: tuple[type[Exception], ...] = (StorageError, *queue_errors())

    def start(self) -> None:
        """Start; to be told so by a terminal ends the work as orderly as SIGTERM does."""
        super().start()
        for number in (signal.SIGINT, signal.SIGHUP):
            signal.signal(number, lambda *_: signal.raise_signal(signal.SIGTERM))

    def loop(self, health_check_ts: float | None = None) -> float | None:
        """Plan when it is time; with `once`, end when there is nothing left to plan or crawl."""
        idle = self._once and not self.huey.pending_count() and not self.huey._tasks_in_flight
        if idle or time.monotonic() >= self._next_round:
            placed = self._try_round()
            if idle and not placed:
                self.stop(graceful=True)
                raise ConsumerStopped
        checked: float | None = super().loop(health_check_ts)
        return checked

    def _try_round(self) -> int:
        self._next_round = time.monotonic() + self._pause
        try:
            return self._plan_round()
        except self._failures as error:
            # The database may come back; a single round has no time for that.
            if self._once:
                self.stop(graceful=True)
                raise
            logger.error("Nothing is planned: %s", " ".join(str(error).split()))  # noqa: TRY400
            return 0
