"""Put due sources into a queue, from which workers take and crawl them.

The queue is kept by huey: in a file or in PostgreSQL.
"""

import json
import logging
import os
import platform
import re
import signal
import sqlite3
import time
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from importlib.metadata import version
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

from huey import PostgresHuey, SqliteHuey
from huey.api import Huey
from huey.consumer import Consumer, ConsumerStopped
from huey.exceptions import ConfigurationError
from huey.registry import Message
from huey.serializer import Serializer

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

# Ours: a short queue contains the most overdue sources only, and one of twice the workers keeps
# them busy between two rounds.
_QUEUED_PER_WORKER = 2
_QUEUE_NAME = "newscrawl"
_POSTGRES = re.compile(r"postgres(?:ql)?(?:\+psycopg)?://")
_SQLITE = re.compile(r"sqlite(?:\+pysqlite)?:///?")
# Seconds that a worker waits for a task before it checks whether it is to stop.
_READ_TIMEOUT = 1
_RETRY_PAUSE = 0.2
# Ours: seconds that a monitor, when it ends, waits for the alert or digest that is being sent.
_LONGEST_LETTER = 30
_NOTICE_ERRORS = (StorageError, SettingError, CompaniesError)


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

    def __init__(self, database: Database, queue: Huey, plan: MonitorPlan) -> None:
        self.name = f"{platform.node()}:{os.getpid()}:{uuid4().hex[:8]}"
        self.failed: set[str] = set()
        self._database = database
        self._plan = plan
        self._slugs = [source.slug for source in plan.sources]
        self._leases = Leases(database, self.name, plan.terms, plan.same_host)
        self._queue = queue
        self._crawl_later = queue.task(name="crawl")(self.crawl)
        self._prune_later = queue.task(name="prune")(self.prune)
        self._next_inspection = 0.0
        self._inspection = Thread(target=self.inspect, daemon=True)
        self._consumer = _Consumer(queue, self, plan)
        self._stopping: Callable[[], bool] = self._consumer.stop_flag.is_set
        database.lock_wait.is_closing = self._stopping
        self._supervisor = Supervisor(self._leases, plan.command, plan.limits, self._stopping)

    def run(self) -> None:
        """Work until the end; running crawls are ended in order before this returns."""
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
            self._consumer.run()
            if self._plan.once:
                self.inspect()
                self._prune(never)
        finally:
            self._supervisor.close()
            if self._inspection.is_alive():
                self._inspection.join(_LONGEST_LETTER)
            self._consumer.close()
            record_heartbeat(self._database, self.name, stopped=True)

    def schedule(self) -> int:
        """Queue the sources that are due, the most overdue first, and return their number."""
        record_heartbeat(self._database, self.name)
        tasks = self._queue.pending()
        queued = {str(slug) for task in tasks for slug in task.args}
        room = self._plan.workers * _QUEUED_PER_WORKER - len(tasks)
        due: dict[str, None] = {}
        if room > 0:
            now = datetime.now(UTC)
            # An interrupted crawl is resumed without a pause.
            interrupted = set(self._leases.interrupted_sources()).intersection(self._slugs)
            unfinished = due_sources(self._database, now, interrupted, pause=timedelta(0))
            polls = (*unfinished, *due_sources(self._database, now, self._slugs))
            due = {poll.slug: None for poll in polls if poll.slug not in queued}
        placed = self._leases.place(list(due), room) if due else []
        for slug in placed:
            self._crawl_later(slug)
        if not self._plan.once and time.monotonic() >= self._next_inspection:
            self._next_inspection = time.monotonic() + self._plan.inspect_every
            # In a thread of its own: a slow mail server must not keep a worker from its crawls.
            if not self._inspection.is_alive():
                self._inspection = Thread(target=self.inspect, daemon=True)
                self._inspection.start()
            self._prune_later()
        return len(placed)

    def has_queued_sources(self) -> bool:
        """Return whether a source waits for a worker: huey counts neither as pending nor as running
        what a worker has read from the queue and not yet begun."""
        return not {*self._slugs}.isdisjoint(self._leases.queued_sources())

    def crawl(self, slug: str) -> None:
        """Crawl a source from the queue if it is still due and no other monitor crawls it."""
        try:
            if self._stopping() or slug not in self._slugs:
                self._leases.cancel(slug)  # the next round of another monitor queues it again
            elif self._leases.take(slug):
                self._crawl_leased(slug)
            else:
                self._leases.cancel(slug)
        except StorageError as error:
            logger.error("%s: %s", slug, error)  # noqa: TRY400 - one line says it all

    def inspect(self) -> None:
        """Inspect the sources, report new incidents and alerts, and send the digests that are
        due."""
        try:
            self._plan.inspect()
        except _NOTICE_ERRORS as error:
            logger.error("No inspection: %s", error)  # noqa: TRY400
        try:
            self._plan.send_digests(never if self._plan.once else self._stopping)
        except _NOTICE_ERRORS as error:
            logger.error("No digest: %s", error)  # noqa: TRY400

    def prune(self) -> None:
        """Delete rows that are no longer needed, if it is time."""
        self._prune(self._stopping)

    def _prune(self, stopping: Callable[[], bool]) -> None:
        try:
            self._plan.prune(stopping)
        except StorageError as error:
            logger.error("Nothing is pruned: %s", error)  # noqa: TRY400

    def _crawl_leased(self, slug: str) -> None:
        if not due_sources(self._database, datetime.now(UTC), [slug], pause=timedelta(0)):
            self._leases.release_unused(slug)
            return
        logger.info("%s: the crawl starts", slug)
        result = self._supervisor.run(slug)
        self._leases.release(slug, result.outcome, result.code, result.note)
        if result.outcome == "failed":
            self.failed.add(slug)
            logger.warning("%s: failed: %s", slug, result.note)
        else:
            logger.info("%s: %s: %s", slug, result.outcome, result.note)


class _Consumer(Consumer):  # type: ignore[misc]
    """huey's workers; the main thread also schedules at every pause."""

    def __init__(self, queue: Huey, monitor: Monitor, plan: MonitorPlan) -> None:
        # A worker polls a queue in a file: at least four times in a pause.
        delay = max(plan.pause / 4, 0.1)
        super().__init__(
            queue,
            workers=plan.workers,
            periodic=False,
            max_delay=delay,
            graceful_signal="TERM",
        )
        self._monitor = monitor
        self._pause = plan.pause
        self._once = plan.once
        self._next_round = 0.0
        self._failures: tuple[type[Exception], ...] = (StorageError, *queue_errors())

    def start(self) -> None:
        """Start the monitor; SIGINT and SIGHUP end the work as orderly as SIGTERM does."""
        super().start()
        for number in (signal.SIGINT, signal.SIGHUP):
            signal.signal(number, lambda *_: signal.raise_signal(signal.SIGTERM))

    def close(self) -> None:
        """Close the connection to the queue, which huey leaves open when it ends."""
        if self.scheduler.is_alive():
            # A running consumer would open the connection again.
            self.scheduler.join(2 * _READ_TIMEOUT)
        with suppress(*self._failures):
            self.huey.storage.close()

    def loop(self, health_check_ts: float | None = None) -> float | None:
        """Schedule when it is time; with `once`, stop when nothing is left to crawl."""
        idle = self._once and not self.huey.pending_count() and not self.huey._tasks_in_flight
        if idle or time.monotonic() >= self._next_round:
            self._next_round = time.monotonic() + self._pause
            try:
                is_done = not self._monitor.schedule() and not (
                    self._once and self._monitor.has_queued_sources()
                )
            except self._failures as error:
                # The database may recover; a single round can't wait for that.
                if self._once:
                    self.stop(graceful=True)
                    raise
                logger.error("Nothing is scheduled: %s", " ".join(str(error).split()))  # noqa: TRY400
                is_done = False
            if idle and is_done:
                self.stop(graceful=True)
                raise ConsumerStopped
        checked: float | None = super().loop(health_check_ts)
        return checked


def same_host_sources(sources: Iterable[Source]) -> Mapping[str, frozenset[str]]:
    """Return, for each source that shares a host with others, the slugs of those others.

    Two crawls at a time must not send requests to one host.
    """
    at_host: dict[str, set[str]] = defaultdict(set)
    for source in sources:
        for url in (source.home, *source.feeds, *source.sitemaps, *source.news_sitemaps):
            at_host[urlsplit(url).netloc.removeprefix("www.")].add(source.slug)
    sharing: dict[str, set[str]] = defaultdict(set)
    for slugs in at_host.values():
        for slug in slugs:
            sharing[slug] |= slugs - {slug}
    return {slug: frozenset(neighbours) for slug, neighbours in sharing.items() if neighbours}


class QueueError(Exception):
    """The queue can't be reached any more: one line that says why."""


class QueueErrorFilter(logging.Filter):
    """Logs an unreachable queue in one line, once a minute at most; huey logs each attempt with a
    traceback."""

    def __init__(self, pause: float = 60.0) -> None:
        super().__init__()
        self._pause = pause
        self._logged_at = float("-inf")

    def filter(self, record: logging.LogRecord) -> bool:
        error = record.exc_info[1] if record.exc_info else None
        if not isinstance(error, queue_errors()):
            return True
        now = time.monotonic()
        if now - self._logged_at < self._pause:
            return False
        self._logged_at = now
        record.msg, record.args, record.exc_info = queue_error_line(error), (), None
        return True


def queue_error_line(error: Exception) -> str:
    """Return the message of an unreachable queue, in one line."""
    return f"the queue can't be reached: {' '.join(str(error).split())}"


def queue_errors() -> tuple[type[Exception], ...]:
    """Return the exceptions of an unreachable queue; huey defines none of its own."""
    errors: list[type[Exception]] = [sqlite3.Error]
    with suppress(ImportError):
        import psycopg  # noqa: PLC0415 - an extra

        errors.append(psycopg.Error)
    return tuple(errors)


class JsonSerializer(Serializer):  # type: ignore[misc]
    """Tasks as JSON. huey's default, pickle, would let anybody who can write into the queue run
    any code; our tasks are a name and a few strings."""

    def _serialize(self, data: Message) -> bytes:
        return json.dumps([data.id, data.name, data.args, data.kwargs, data.priority]).encode()

    def _deserialize(self, data: bytes) -> Message:
        number, name, args, kwargs, priority = json.loads(data)
        return Message(
            id=number,
            name=name,
            args=args,
            kwargs=kwargs,
            priority=priority,
            retries=0,
            retry_delay=0,
            retry_backoff=0,
        )


def open_queue(database_url: str) -> Huey:
    """Return the queue in the place of a database that was opened before: a file next to that of
    SQLite, or tables in PostgreSQL. Raise SettingError if it can't be opened."""
    options: dict[str, Any] = {"results": False, "serializer": JsonSerializer()}
    try:
        if _SQLITE.match(database_url):
            path = Path(_SQLITE.sub("", database_url.partition("?")[0]))
            file = str(path.with_suffix(".queue.sqlite"))
            try:
                return SqliteHuey(_QUEUE_NAME, filename=file, **options)
            except (sqlite3.Error, OSError) as error:
                raise SettingError(f"can't open the queue {file}: {error}") from error
        return _postgres_queue(_POSTGRES.sub("postgresql://", database_url), options)
    except ConfigurationError as error:
        raise SettingError(
            "the queue needs a driver that is not installed: pip install 'newscrawl[postgres]'"
        ) from error


def _postgres_queue(dsn: str, options: dict[str, Any]) -> Huey:
    """Open the queue in PostgreSQL. Of workers that start at the same moment only one can create
    its tables, even with "if not exists"; the others find them at their second try."""
    import psycopg  # noqa: PLC0415 - an extra: SQLite needs none

    while True:
        try:
            return PostgresHuey(
                _QUEUE_NAME,
                dsn=dsn,
                table_prefix="newscrawl_queue",
                read_timeout=_READ_TIMEOUT,
                **options,
            )
        except (  # the error names the table, its type or its name, by chance
            psycopg.errors.DuplicateTable,
            psycopg.errors.DuplicateObject,
            psycopg.errors.UniqueViolation,
        ):
            time.sleep(_RETRY_PAUSE)
        except psycopg.Error as error:
            cause = " ".join(str(error).split())
            raise SettingError(f"can't reach the queue in PostgreSQL: {cause}") from error
