"""Crawl the sources that are due, the most overdue first, some at a time; inspect them, send
digests and delete what is no longer needed.

Monitors share the sources through the leases in the database (newscrawl.storage.leases): a monitor
takes a source when one of its workers is free.
"""

import logging
import os
import platform
import signal
import time
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from importlib.metadata import version
from threading import Thread
from urllib.parse import urlsplit
from uuid import uuid4

from newscrawl.config import SettingError
from newscrawl.items import Origin
from newscrawl.mentions import CompaniesError
from newscrawl.monitoring.digests import never
from newscrawl.monitoring.supervisor import CrawlCommand, CrawlLimits, Supervisor
from newscrawl.sources import Source
from newscrawl.storage import Database, StorageError
from newscrawl.storage.frontier.listings import due_sources
from newscrawl.storage.leases import (
    Leases,
    LeaseTerms,
    WorkerFacts,
    record_heartbeat,
    record_worker_start,
)

logger = logging.getLogger(__name__)

# Ours: the longest seconds until a monitor sees a signal or the end of a crawl, and so the least
# between two rounds, where crawls end as soon as they have begun.
_CHECK_EVERY = 0.5
# Ours: seconds that a monitor, when it ends, waits for the alert or digest that is being sent.
_LONGEST_LETTER = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class MonitorPlan:
    """What a monitor does.

    `workers` is the number of sources crawled at a time; `same_host` maps a source to the sources
    that share a host with it. `pause` and `inspect_every` are the seconds between two rounds, and
    between two calls of `inspect`, `prune` and `send_digests`; the last two receive a function that
    returns whether they must stop. `digests` says when digests are sent, as the setting does. With
    `once`, the monitor ends when no source is due any more.
    """

    sources: Sequence[Origin]
    same_host: Mapping[str, Collection[str]]
    workers: int
    command: CrawlCommand
    terms: LeaseTerms
    limits: CrawlLimits = field(default_factory=CrawlLimits)
    once: bool = False
    pause: float = 10.0
    inspect_every: float = 300.0
    inspect: Callable[[], None] = lambda: None
    prune: Callable[[Callable[[], bool]], None] = lambda _stopping: None
    send_digests: Callable[[Callable[[], bool]], None] = lambda _stopping: None
    digests: str = ""


class Monitor:
    """Schedules and crawls sources until SIGTERM or SIGINT; with `once`, until none is due."""

    def __init__(self, database: Database, plan: MonitorPlan) -> None:
        self.name = f"{platform.node()}:{os.getpid()}:{uuid4().hex[:8]}"
        self.failed: set[str] = set()
        self._database = database
        self._plan = plan
        self._slugs = [source.slug for source in plan.sources]
        self._leases = Leases(database, self.name, plan.terms, plan.same_host)
        self._workers = ThreadPoolExecutor(plan.workers, "crawl")
        self._crawling: set[str] = set()
        self._has_crawl_ended = False
        self._next_inspection = 0.0
        self._inspection = Thread(target=self.inspect, daemon=True)
        # No Event, whose lock the main thread may hold when a signal comes.
        self._is_stopping = False
        self._stopping: Callable[[], bool] = lambda: self._is_stopping
        database.lock_wait.is_closing = self._stopping
        self._supervisor = Supervisor(self._leases, plan.command, plan.limits, self._stopping)

    def run(self) -> set[str]:
        """Work until the end, and return the sources of which a crawl failed; running crawls are
        ended in order before."""
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, lambda *_: self.stop())
        self._leases.register(self._plan.sources)
        facts = WorkerFacts(
            host=platform.node(),
            pid=os.getpid(),
            slots=self._plan.workers,
            version=version("newscrawl"),
            digests=self._plan.digests,
        )
        record_worker_start(self._database, self.name, facts)
        try:
            while self.begin_round() and not self._is_stopping:
                self.wait()
            if self._plan.once:
                self.inspect()
        finally:
            self.stop()
            self._workers.shutdown()
            self._supervisor.close()
            if self._inspection.is_alive():
                self._inspection.join(_LONGEST_LETTER)
            record_heartbeat(self._database, self.name, stopped=True)
        return self.failed

    def stop(self) -> None:
        """Begin no further crawl, and end those that run."""
        self._is_stopping = True

    def begin_round(self) -> bool:
        """Begin the crawls that are due, and return whether there may be further ones."""
        self._has_crawl_ended = False
        # A crawl that ends meanwhile leaves a worker for a source that found none.
        was_crawling = bool(self._crawling)
        try:
            return bool(self.schedule() or was_crawling or not self._plan.once)
        except StorageError as error:
            # The database may recover; a single round can't wait for that.
            if self._plan.once:
                raise
            logger.error("Nothing is scheduled: %s", error)  # noqa: TRY400 - one line says it all
            return True

    def wait(self) -> None:
        """Wait for the next round: until the pause is over or a crawl has ended."""
        end = time.monotonic() + self._plan.pause
        is_over = False
        while not is_over:
            time.sleep(min(_CHECK_EVERY, self._plan.pause))
            is_over = self._is_stopping or self._has_crawl_ended or time.monotonic() >= end

    def schedule(self) -> int:
        """Begin to crawl as many sources as workers are free, the most overdue first, and return
        their number."""
        record_heartbeat(self._database, self.name)
        room = self._plan.workers - len(self._crawling)
        due: dict[str, None] = {}
        if room > 0:
            now = datetime.now(UTC)
            # An interrupted crawl is resumed without a pause.
            interrupted = set(self._leases.interrupted_sources()).intersection(self._slugs)
            unfinished = due_sources(self._database, now, interrupted, pause=timedelta(0))
            polls = (*unfinished, *due_sources(self._database, now, self._slugs))
            due = {poll.slug: None for poll in polls if poll.slug not in self._crawling}
        placed = self._leases.place(list(due), room) if due else []
        for slug in placed:
            self._crawling.add(slug)
            self._workers.submit(self.crawl, slug)
        if not self._plan.once and time.monotonic() >= self._next_inspection:
            self._next_inspection = time.monotonic() + self._plan.inspect_every
            # In a thread of its own: a slow mail server must not keep a worker from its crawls.
            if not self._inspection.is_alive():
                self._inspection = Thread(target=self.inspect, daemon=True)
                self._inspection.start()
        return len(placed)

    def crawl(self, slug: str) -> None:
        """Crawl a source if it is still due and no other monitor crawls it."""
        try:
            if self._is_stopping or not self._leases.take(slug):
                self._leases.cancel(slug)  # the next round, of any monitor, places it again
            elif not due_sources(self._database, datetime.now(UTC), [slug], pause=timedelta(0)):
                self._leases.release_unused(slug)
            else:
                logger.info("%s: the crawl starts", slug)
                result = self._supervisor.run(slug)
                self._leases.release(slug, result.outcome, result.code, result.note)
                if result.outcome == "failed":
                    self.failed.add(slug)
                    logger.warning("%s: failed: %s", slug, result.note)
                else:
                    logger.info("%s: %s: %s", slug, result.outcome, result.note)
        except StorageError as error:
            self.failed.add(slug)
            logger.error("%s: %s", slug, error)  # noqa: TRY400 - one line says it all
        except Exception:  # a pool's thread would keep it to itself
            self.failed.add(slug)
            logger.exception("%s: the monitor failed", slug)
        finally:
            self._crawling.discard(slug)
            self._has_crawl_ended = True

    def inspect(self) -> None:
        """Inspect the sources, report new incidents and alerts, send the digests that are due, and
        delete rows that are no longer needed, if it is time."""
        stopping = never if self._plan.once else self._stopping
        for failure, work in (
            ("No inspection", self._plan.inspect),
            ("No digest", partial(self._plan.send_digests, stopping)),
            ("Nothing is pruned", partial(self._plan.prune, stopping)),
        ):
            try:
                work()
            except (StorageError, SettingError, CompaniesError) as error:
                logger.error("%s: %s", failure, error)  # noqa: TRY400


def same_host_sources(sources: Iterable[Source]) -> Mapping[str, frozenset[str]]:
    """Return, for each source that shares a host with others, the slugs of those others.

    Two crawls at a time must not send requests to one host.
    """
    at_host: dict[str, set[str]] = defaultdict(set)
    for source in sources:
        for url in source.urls:
            at_host[urlsplit(url).netloc.removeprefix("www.")].add(source.slug)
    sharing: dict[str, set[str]] = defaultdict(set)
    for slugs in at_host.values():
        for slug in slugs:
            sharing[slug] |= slugs - {slug}
    return {slug: frozenset(neighbours) for slug, neighbours in sharing.items() if neighbours}
