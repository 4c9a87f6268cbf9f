"""Read pages outside the event loop: in a thread, or in processes if many arrive at once.

A polite crawl gets a page or two a second, which a thread can read. Crawls of many hosts and
replays of an archive get more pages than one core can both download and read, so processes read
them, and the crawl's own core downloads and stores. Reading a page means extracting its article
and, with a registry of companies, finding the companies in it.
"""

import asyncio
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from newscrawl.config import SettingError
from newscrawl.items import Document, Page
from newscrawl.mentions import Companies, load_companies, with_mentions
from newscrawl.reading import NoArticleError, PageReader, Reason
from newscrawl.workers import (
    Limits,
    WorkerProcesses,
    WorkStoppedError,
    task_of,
    until_closing,
)

# Ours: the number of waiting pages above which processes are started. A polite crawl never has two.
BACKLOG = 8
# Ours: seconds, of a processor and of the clock; a page takes two processor seconds at most, and
# the processor may be busy.
MAX_SECONDS = 60
# Ours: MiB that a process may allocate after its start: a page takes 300 at most, models, tables
# and companies, which are loaded with the first page, 400.
MAX_MEGABYTES = 1280
# Ours: larger pages, 1 in 300 of the development corpus, are read in a process, so that an unknown
# attack can't stop the crawl.
LARGE_PAGE_BYTES = 2 * 1024 * 1024
# Ours: bytes that are read of a page that killed two processes; the mean page has 210,000 bytes.
REDUCED_BYTES = 256 * 1024
# Ours: seconds that reading a page may still take when the crawl is closing.
CLOSING_GRACE = 4.0
# Ours: a crawl's own process can't download more pages than four processes read (make bench-crawl).
MAX_PROCESSES = 4

# A document, or the reason and the message of a NoArticleError.
ReadResult = Document | tuple[Reason, str]


class WorkerDiedError(Exception):
    """The process that read a page ended: out of memory or time, or by a crash of a parser."""


@dataclass(frozen=True, slots=True)
class PageWorker:
    """Reads pages, and finds companies in them if it has a registry."""

    reader: PageReader
    companies: Companies | None = None

    def read(self, page: Page) -> ReadResult:
        """Return the document of a page without the page's bytes, or why it has no article; such a
        result is cheap to send to another process."""
        try:
            document = self.reader.read(page)
        except NoArticleError as error:
            return error.reason, str(error)
        if self.companies is not None:
            document = with_mentions(document, self.companies)
        return replace(document, page=replace(document.page, html=b""))


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerConfig:
    """The configuration from which a process builds its worker.

    With `find_companies`, companies are found by the file `registry`, or else by the bundled one.
    """

    reader: PageReader
    find_companies: bool = False
    registry: Path | None = None
    max_seconds: int = MAX_SECONDS

    def worker(self) -> PageWorker:
        """Build the worker; without companies if the registry can no longer be read."""
        if not self.find_companies:
            return PageWorker(self.reader)
        try:
            return PageWorker(self.reader, load_companies(self.registry))
        except (OSError, ValueError):
            return PageWorker(self.reader)


@dataclass(frozen=True, slots=True)
class _RemoteRead:
    """`read` of a worker that each process builds when it gets this."""

    config: WorkerConfig

    def __reduce__(self) -> Any:
        return _build, (self.config,)

    def __call__(self, page: Page) -> ReadResult:
        return self.config.worker().read(page)


def _build(config: WorkerConfig) -> Callable[[Page], ReadResult]:
    return config.worker().read


class ExtractionPool:
    """Reads pages outside the event loop, in a thread or in at most `processes` processes.

    The thread uses the `companies` that the crawl has already loaded. Soon after `is_closing`
    returns True, processes that are still reading are killed.
    """

    def __init__(
        self,
        config: WorkerConfig,
        processes: int,
        companies: Companies | None = None,
        is_closing: Callable[[], bool] = lambda: False,
    ) -> None:
        self._is_closing = is_closing
        self._worker = PageWorker(config.reader, companies)
        self._thread = ThreadPoolExecutor(1, "extraction")
        limits = Limits(
            seconds=config.max_seconds,
            megabytes=MAX_MEGABYTES,
            clock_seconds=config.max_seconds,
        )
        self._processes = WorkerProcesses(task_of(_RemoteRead(config)), processes, limits)
        self._has_processes = processes > 0
        self._has_started = False
        self._waiting = 0

    async def read(self, page: Page) -> Document:
        """Return the page with its article; raise NoArticleError or WorkerDiedError."""
        self._waiting += 1
        try:
            result = await self._result(page)
        finally:
            self._waiting -= 1
        if isinstance(result, tuple):
            raise NoArticleError(*result)
        # The bytes of the page were not sent back.
        return replace(result, page=replace(result.page, html=page.html))

    def start(self) -> None:
        """Start the processes at once, for a crawl that will read many pages at a time."""
        self._has_started = self._has_processes
        self._processes.start()

    def close(self) -> None:
        """Stop the thread and the processes."""
        self._thread.shutdown()
        self._processes.close()

    async def _result(self, page: Page) -> ReadResult:
        """Read a page in a process if many wait, or if it may crash."""
        loop = asyncio.get_running_loop()
        is_suspect = page.attempt is not None and page.attempt.crash_count > 0
        is_suspect |= len(page.html) > LARGE_PAGE_BYTES
        is_busy = self._has_started or self._waiting > BACKLOG
        if not self._has_processes or not (is_suspect or is_busy):
            try:
                return await loop.run_in_executor(self._thread, self._worker.read, page)
            except MemoryError:
                raise WorkerDiedError("out of memory") from None
        self._has_started = True
        reduced = replace(page, html=page.html[:REDUCED_BYTES])
        # After a crash it is read again, and then its beginning.
        attempts = (page, page, *([reduced] if reduced.html != page.html else []))
        reading = asyncio.wrap_future(self._processes.submit(*attempts))
        try:
            result: ReadResult | None = await until_closing(
                reading, self._is_closing, self._processes.stop, CLOSING_GRACE
            )
        except WorkStoppedError:
            raise WorkerDiedError("the crawl ended while the page was being read") from None
        if result is None:
            raise WorkerDiedError("the page crashed the process that read it")
        return result


def process_count(setting: object) -> int:
    """Return the value of NEWSCRAWL_EXTRACTION_PROCESSES; raise SettingError for an invalid one.

    "auto" is one process for each core, MAX_PROCESSES at most. The crawl's own process needs less
    than half a core for each of them, so that all cores are used.
    """
    text = str(setting).strip()
    if text == "auto":
        return min(len(os.sched_getaffinity(0)), MAX_PROCESSES)
    if not text.isascii() or not text.isdigit():
        name = "NEWSCRAWL_EXTRACTION_PROCESSES"
        raise SettingError(f"{name}={text}: neither a whole number nor auto")
    return int(text)
