"""The session that the parts of one crawl share, `CrawlSession.of(crawler)`, and the arguments of
the crawl (`-a NAME=VALUE`).

Spiders, middlewares, pipelines and extensions get the session from the crawler, and set no
attributes on each other.
"""

import asyncio
import logging
import signal
import tempfile
import threading
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Final, Literal, Protocol, Self

from scrapy import signals
from scrapy.crawler import Crawler

from newscrawl.config import SettingError, seconds
from newscrawl.items import Memory, Versions
from newscrawl.sources import Source, UrlError, web_url
from newscrawl.storage import Database, StorageError, open_database
from newscrawl.storage.batch import Writer
from newscrawl.storage.frontier.listings import Reading, schedule_of
from newscrawl.storage.frontier.queue import Frontier, open_frontier
from newscrawl.storage.leases import MAX_UNRENEWED, MonitorsLease, SourceLease, boot_time
from newscrawl.storage.saved_state import memory_of

logger = logging.getLogger(__name__)

# Reasons to end a crawl early (Scrapy's `finish_reason`).
StopReason = Literal[
    "archive_failed",
    "database_failed",
    "export_failed",
    "lease_lost",
    "monitor_gone",
    "queue_failed",
]
# Ours, in KiB, of each crawl: four times as much, which speeds up writers of thousands of pages, is
# full after 5,000 pages (make bench-crawl).
SQLITE_CACHE: Final = 16_384
_ATTRIBUTE: Final = "newscrawl_session"
# Ours: seconds for a renewal that is late, because the crawl's event loop hung.
_LATE_SECONDS: Final = 2.0


class SourceSpider(Protocol):
    """The spider of a source of the registry, as the other parts of a crawl use it."""

    source: ClassVar[Source]

    @property
    def since(self) -> datetime | None:
        """Return the moment before which articles are not wanted, if one was given."""

    @property
    def hosts(self) -> Collection[str]:
        """Return the hosts of the source's home page, feeds and sitemaps."""

    @property
    def named_addresses(self) -> set[tuple[str, int]]:
        """Hosts and ports that the operator named, which may be private ones."""

    def covers(self, url: str) -> bool:
        """Return whether a URL belongs to the source."""

    def is_article_url(self, url: str) -> bool:
        """Return whether a URL that a listing names may be an article."""

    def oldest(self, *, archive: bool) -> datetime | None:
        """Return the moment before which a listing's articles are not wanted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlRun:
    """The run of a crawl in the database, with the queue of its source's pages."""

    id: int
    database: Database
    frontier: Frontier


class CrawlSession:
    """The source, clock, database, run, queue and template memory of one crawl.

    `spider` is None while a spider of another project crawls. Until `start_run`, `run` is None.
    """

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._database: Database | None = None
        self._lease: CrawlLease | None = None
        self._stopping: asyncio.Task[None] | None = None
        # A replay of an archive sets it to the archive's time.
        self.clock: Callable[[], datetime] = lambda: datetime.now(UTC)
        self.spider: SourceSpider | None = None
        self.memory = Memory()
        self.run: CrawlRun | None = None
        # What finds articles and mentions; MentionsPipeline sets it.
        self.versions: Versions | None = None
        # Writes all pending documents in one batch; StoragePipeline sets it.
        self.flush: Callable[[], None] = lambda: None
        # Set by RobotsMiddleware: whether robots.txt, as far as it is known, allows a URL.
        self.allows: Callable[[str], Awaitable[bool]] | None = None
        # The ids of the feeds and sitemaps of this crawl: the source is due when one of them is.
        self.polled: list[int] = []
        # Readings of listings that have rolled over, by their ids: they are recorded with the gap.
        self.late_readings: list[tuple[int, Reading]] = []

    @classmethod
    def of(cls, crawler: Crawler) -> Self:
        """Return the session of a crawler, the same one for all its parts."""
        attributes = vars(crawler)
        if _ATTRIBUTE not in attributes:
            attributes[_ATTRIBUTE] = cls(crawler)
        session: Self = attributes[_ATTRIBUTE]
        return session

    @cached_property
    def writer(self) -> Writer:
        """Return the thread that writes to the database; it ends a crawl whose database fails."""
        return Writer(lambda error: self.stop("database_failed", str(error)))

    @property
    def frontier(self) -> Frontier:
        """Return the queue of the source's pages and listings."""
        if self.run is None:
            raise RuntimeError("the crawl has no run yet: its spider has not been opened")
        return self.run.frontier

    def count(self, name: str, amount: int = 1) -> None:
        """Add to the statistic `newscrawl/NAME` of the crawl."""
        if amount:
            self._crawler.stats.inc_value(f"newscrawl/{name}", amount)

    def note(self, name: str, text: str) -> None:
        """Keep a text as the statistic `newscrawl/NAME`; the first one stays."""
        stats = self._crawler.stats
        stats.set_value(f"newscrawl/{name}", stats.get_value(f"newscrawl/{name}", text))

    # The database --------------------------------------------------------------------------

    def open(self, spider: SourceSpider) -> Database:
        """Open the database and take the source's lease, before the first request.

        Raise SettingError if that fails, SourceBusyError if another process crawls the source.
        """
        settings = self._crawler.settings
        schedule_of(settings)
        length = timedelta(
            seconds=seconds("NEWSCRAWL_LEASE", settings["NEWSCRAWL_LEASE"], above_zero=True)
        )
        slug = spider.source.slug
        try:
            with interruptible(), ExitStack() as on_failure:
                database = self._register_source(settings["NEWSCRAWL_DATABASE_URL"], spider.source)
                on_failure.callback(database.close)
                self.memory = memory_of(database, slug)
                holder = settings.get("NEWSCRAWL_LEASE_HOLDER")  # the monitor that started us
                lease = SourceLease(database, slug, length)
                if holder:
                    lease = MonitorsLease(database, slug, length, holder)
                self._lease = CrawlLease(self, slug, lease)
                self._lease.take(self._crawler)
                on_failure.pop_all()
        except StorageError as error:
            raise SettingError(str(error)) from error
        database.lock_wait.is_closing = lambda: not self._crawler.crawling or self.is_stopping
        self._database = database
        return database

    def start_run(self) -> CrawlRun:
        """Start the run of the opened database; raise StorageError."""
        if self._database is None or self.spider is None:
            raise RuntimeError("no database is open")
        with interruptible():
            return self._start_run(self._database, self.spider.source.slug)

    def start_run_without_storage(self) -> None:
        """Start a run in a temporary database, for a crawl without StoragePipeline: its articles go
        to feed exports only, and each crawl fetches all pages again."""
        if self.spider is None:
            raise RuntimeError("only a source of the registry has a queue")
        folder = tempfile.TemporaryDirectory(prefix="newscrawl-")
        database = self._register_source(
            f"sqlite:///{Path(folder.name, 'queue')}", self.spider.source
        )
        self._start_run(database, self.spider.source.slug)

        def close() -> None:
            self.writer.close()
            database.close()
            folder.cleanup()

        self._crawler.signals.connect(close, signal=signals.spider_closed, weak=False)

    @property
    def may_send(self) -> bool:
        """Return whether no other process may be crawling the source by now. Check it right before
        each request is sent."""
        return self._lease is None or self._lease.is_fresh

    def release_lease(self) -> None:
        """Release the lease of the source; raise StorageError."""
        if self._lease is not None:
            self._lease.release()

    def _register_source(self, url: str, source: Source) -> Database:
        database = open_database(url, cache=SQLITE_CACHE)
        database.register_source(*source.stored_facts)
        return database

    def _start_run(self, database: Database, slug: str) -> CrawlRun:
        number = database.start_run(slug, self.versions)
        frontier = open_frontier(database, slug, number, schedule_of(self._crawler.settings))
        frontier = replace(frontier, clock=self.clock, began=self.clock())
        self.run = CrawlRun(id=number, database=database, frontier=frontier)
        return self.run

    # The end ---------------------------------------------------------------------------------

    @property
    def is_closing(self) -> bool:
        """Return whether the crawl is closing, or not open. Check it every
        CLOSING_CHECK_SECONDS."""
        slot: Any = self._crawler.engine and self._crawler.engine._slot
        return slot is None or slot.closing is not None

    @property
    def is_stopping(self) -> bool:
        """Return whether `stop` was called."""
        return self._stopping is not None

    def stop(self, reason: StopReason, message: str, *, cause: BaseException | None = None) -> None:
        """End the crawl early, with one line in the log; later calls do nothing."""
        if self._stopping is None and self._crawler.engine is not None:
            logger.critical("The crawl stops: %s", message, exc_info=cause)
            closing = self._crawler.engine.close_spider_async(reason=reason)
            self._stopping = asyncio.create_task(closing)


class CrawlLease:
    """The lease of a crawl on its source, so that no other process crawls it.

    The crawl's own event loop renews it, or reads whether the monitor has: a crawl that hangs
    loses it, and one that can't renew it stops before it expires. `is_fresh` is computed by a clock
    that goes on while the process is stopped or the machine sleeps.
    """

    def __init__(self, session: CrawlSession, slug: str, lease: SourceLease) -> None:
        self._session = session
        self._slug = slug
        self._lease = lease
        length = lease.length.total_seconds()
        self._longest = length * MAX_UNRENEWED
        # The rest of a lease is for the responses to requests that were sent.
        self._rest = length - self._longest
        self._fresh_until = 0.0
        self._renewing: asyncio.Task[None] | None = None

    @property
    def is_fresh(self) -> bool:
        """Return whether the lease was renewed, and will not expire soon."""
        return boot_time() < self._fresh_until

    def take(self, crawler: Crawler) -> None:
        """Take it; raise SourceBusyError if another process crawls the source."""
        self._lease.take()
        self._renew_now()
        crawler.signals.connect(self._start_renewing, signal=signals.spider_opened)

    def release(self) -> None:
        """Release the lease, if it is still ours; raise StorageError."""
        if self._renewing is not None:
            self._renewing.cancel()
        self._lease.release()

    def _start_renewing(self) -> None:
        self._renewing = asyncio.create_task(self._keep())

    async def _keep(self) -> None:
        """Renew the lease until it is lost, and stop the crawl then."""
        lost = ""
        while not lost:
            await asyncio.sleep(self._lease.length.total_seconds() / self._lease.renewals)
            lost = await self._renew()
        self._session.stop("lease_lost", lost)

    def _renew_now(self) -> bool:
        """Renew the lease; return False if it is lost."""
        began = boot_time()
        valid = self._lease.renew()
        if valid:
            self._fresh_until = began + valid - self._rest
        return bool(valid)

    async def _renew(self) -> str:
        """Renew the lease; return why it is lost, or an empty text."""
        remaining = max(self._fresh_until - boot_time(), _LATE_SECONDS)
        # Nobody can take a lease from a locked SQLite database either: the crawl waits for it.
        timeout = remaining if self._lease.is_on_server else None
        try:
            if not await asyncio.wait_for(asyncio.to_thread(self._renew_now), timeout):
                return f"another process has taken over {self._slug}, or may soon"
        except StorageError as error:
            logger.warning("%s: the lease is not renewed: %s", self._slug, error)
        except TimeoutError:
            logger.warning("%s: the lease is not renewed: the database doesn't answer", self._slug)
        else:
            return ""
        if self.is_fresh:
            return ""
        return (
            f"its lease of {self._slug} could not be renewed for {self._longest:g} seconds, and "
            "another process may crawl it soon"
        )


@contextmanager
def interruptible() -> Iterator[None]:
    """Let SIGTERM and Ctrl-C end the process at once.

    For work in the event loop's thread that may wait long for a locked database, since the loop
    handles no signal meanwhile. No data are lost: the crawl has not begun.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    numbers = (signal.SIGTERM, signal.SIGINT)
    before = [(number, signal.signal(number, signal.SIG_DFL)) for number in numbers]
    try:
        yield
    finally:
        for number, handler in before:
            signal.signal(number, handler if handler is not None else signal.SIG_DFL)


_EXAMPLE = "scrapy crawl ft -a since=2026-11-01 -a limit=100 -a feeds=URL,URL -a sitemaps=URL"


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlArguments:
    """The options of one crawl. Feeds or sitemaps given here replace all those of the source.

    With `only_due`, feeds and sitemaps that were polled too recently to have new entries are
    skipped.
    """

    since: datetime | None = None
    limit: int | None = None
    feeds: tuple[str, ...] = ()
    sitemaps: tuple[str, ...] = ()
    only_due: bool = False


def parse_arguments(options: Mapping[str, str]) -> CrawlArguments:
    """Parse the arguments of a command line; raise SettingError for an invalid one."""
    parsers: dict[str, Callable[[str], Any]] = {
        "since": _since,
        "limit": _limit,
        "feeds": _urls,
        "sitemaps": _urls,
        "polls": _only_due,
    }
    fields = {"polls": "only_due"}
    values: dict[str, Any] = {}
    for name, text in options.items():
        if name.startswith("_"):
            continue  # Scrapyd adds its job's number as _job
        if name not in parsers:
            raise SettingError(f"-a {name}=: unknown argument; as in {_EXAMPLE}")
        try:
            values[fields.get(name, name)] = parsers[name](text.strip())
        except ValueError as error:
            shown = "..." if "@" in text else text  # may be a password
            raise SettingError(f"-a {name}={shown}: {error}; as in {_EXAMPLE}") from None
    return CrawlArguments(**values)


def _since(text: str) -> datetime:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise ValueError("not a date, such as 2026-11-01 or 2026-11-01T09:30+01:00") from None
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    if moment > datetime.now(UTC):
        raise ValueError("is in the future")
    return moment


def _limit(text: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text) == 0:
        raise ValueError("not a whole number above 0")
    return int(text)


def _only_due(text: str) -> bool:
    if text not in {"all", "due"}:
        raise ValueError("write all (every feed and sitemap) or due (only those that are due)")
    return text == "due"


def _urls(text: str) -> tuple[str, ...]:
    parts = [part.strip() for part in text.split(",") if part.strip()]
    if not parts:
        raise ValueError("contains no URL")
    try:
        return tuple(dict.fromkeys(map(web_url, parts)))
    except UrlError as error:
        raise ValueError(str(error)) from None
