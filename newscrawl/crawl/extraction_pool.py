"""Read pages outside the event loop: in a thread, or in processes if many arrive at once.

A polite crawl gets a page or two a second, which a thread can read. Crawls of many hosts and
replays of an archive get more pages than one core can both download and read, so processes read
them, and the crawl's own core downloads and stores. Reading a page means extracting its article
and, with a registry of companies, finding the companies in it.
"""

import asyncio
import os
import signal
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from dataclasses import dataclass, replace
from multiprocessing import get_context, parent_process
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any, Final

from newscrawl.config import SettingError
from newscrawl.items import Document, Page
from newscrawl.mentions import Companies, load_companies, with_mentions
from newscrawl.reading import NoArticleError, PageReader, Reason
from newscrawl.workers import killing, limit_memory, reduce_garbage_collection

# Ours: the number of waiting pages above which processes are started. A polite crawl never has two.
BACKLOG = 8
# Ours: wall-clock seconds; a page takes two processor seconds at most, and the processor may be
# busy.
MAX_SECONDS = 60
# Ours: MiB that a process may allocate after its start: a page takes 300 at most, and models and
# tables, which are loaded with the first pages, 150.
MAX_MEGABYTES = 1024
# Ours: larger pages, 1 in 300 of the development corpus, are read in a process, so that an unknown
# attack can't stop the crawl.
LARGE_PAGE_BYTES = 2 * 1024 * 1024
# Ours: bytes that are read of a page that killed two processes; the mean page has 210,000 bytes.
REDUCED_BYTES = 256 * 1024
# Ours: seconds that reading a page may still take when the crawl is closing, and seconds between
# two checks.
CLOSING_GRACE, _CHECK_SECONDS = 4.0, 0.5
# Ours: seconds in which a process starts, twenty times those on an idle machine.
_STARTING_SECONDS = 60.0
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


class ExtractionPool:
    """Reads pages outside the event loop, in a thread or in at most `processes` processes.

    The thread uses the `companies` that the crawl has already loaded. When `is_closing` returns
    True, processes that are still reading are killed.
    """

    def __init__(
        self,
        config: WorkerConfig,
        processes: int,
        companies: Companies | None = None,
        is_closing: Callable[[], bool] = lambda: False,
    ) -> None:
        self._config = config
        self._is_closing = is_closing
        self._worker = PageWorker(config.reader, companies)
        self._processes = processes
        self._thread = ThreadPoolExecutor(1, "extraction")
        self._pool: ProcessPoolExecutor | None = None
        self._waiting = 0
        # How many pages the processes have read, and whether those of this pool have read one.
        self._results = 0
        self._has_started = False
        self._one_at_a_time = asyncio.Lock()
        self._is_ended = False

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
        if self._processes and self._pool is None:
            self._pool = self._start_pool()
            for _ in range(self._processes):
                self._pool.submit(_do_nothing)

    def close(self) -> None:
        """Stop the thread and the processes."""
        self._thread.shutdown()
        if self._pool is not None:
            with killing(_processes_of(self._pool), CLOSING_GRACE):
                self._pool.shutdown(cancel_futures=True)

    async def _result(self, page: Page) -> ReadResult:
        if not self._needs_process(page):
            try:
                return await _run(self._thread, self._worker.read, page)
            except MemoryError:
                raise WorkerDiedError("out of memory") from None
        with suppress(BrokenProcessPool, MemoryError):
            return await self._read_in_pool(page)
        # One of the pages killed a process. Each is now read alone to find which one.
        async with self._one_at_a_time:
            with suppress(BrokenProcessPool, MemoryError):
                return await self._read_in_pool(page)
            if len(page.html) > REDUCED_BYTES:
                with suppress(BrokenProcessPool, MemoryError):
                    return await self._read_in_pool(replace(page, html=page.html[:REDUCED_BYTES]))
        raise WorkerDiedError("the page crashed the process that read it")

    def _needs_process(self, page: Page) -> bool:
        """Return whether to read a page in a process: because many wait, or because it may
        crash."""
        if not self._processes:
            return False
        is_suspect = page.attempt is not None and page.attempt.crash_count > 0
        is_suspect |= len(page.html) > LARGE_PAGE_BYTES
        return is_suspect or self._pool is not None or self._waiting > BACKLOG

    async def _read_in_pool(self, page: Page) -> ReadResult:
        if self._is_ended:
            raise WorkerDiedError("the crawl ended while the page was being read")
        pool = self._pool
        if pool is None:
            pool = self._pool = self._start_pool()
        try:
            return await self._unless_stuck(pool, _run(pool, _read_in_process, page))
        except BrokenProcessPool:
            if self._pool is pool:
                self._pool = None
            raise

    async def _unless_stuck(
        self, pool: ProcessPoolExecutor, result: Coroutine[Any, Any, ReadResult]
    ) -> ReadResult:
        """Return the result; kill the processes CLOSING_GRACE seconds after the crawl closes, or
        when they have read no page for longer than a page may take, after their start: a stopped
        process (SIGSTOP) doesn't end itself."""
        reading = asyncio.ensure_future(result)
        left, waited, results = CLOSING_GRACE, 0.0, self._results
        while not reading.done():
            await asyncio.wait({reading}, timeout=_CHECK_SECONDS)
            left -= _CHECK_SECONDS if self._is_closing() else 0
            waited = waited + _CHECK_SECONDS if results == self._results else 0.0
            results = self._results
            limit = self._config.max_seconds + CLOSING_GRACE
            limit += 0 if self._has_started else _STARTING_SECONDS
            is_stuck = waited > limit
            if (left <= 0 or is_stuck) and not reading.done():
                self._is_ended = left <= 0
                _kill(pool)
        self._results += 1
        read = reading.result()
        self._has_started = True
        return read

    def _start_pool(self) -> ProcessPoolExecutor:
        self._has_started = False
        # Not forked: the crawl has threads, and their locks would stay locked in the fork.
        context = get_context("spawn")
        return ProcessPoolExecutor(self._processes, context, _initialise, (self._config,))


def _kill(pool: ProcessPoolExecutor) -> None:
    """Kill the processes of a pool; callers that wait for them get BrokenProcessPool."""
    for process in _processes_of(pool):
        process.kill()


def _processes_of(pool: ProcessPoolExecutor) -> list[BaseProcess]:
    return list((pool._processes or {}).values())


async def _run(executor: Executor, read: Callable[[Page], ReadResult], page: Page) -> ReadResult:
    return await asyncio.get_running_loop().run_in_executor(executor, read, page)


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


# In a worker process: its worker and the maximum seconds for a page, sent once.
_STATE: Final[list[tuple[PageWorker, int]]] = []


def _read_in_process(page: Page) -> ReadResult:
    # The signal interrupts a page that takes too long: nothing else interrupts a parser in C.
    worker, max_seconds = _STATE[0]
    signal.alarm(max_seconds)
    try:
        return worker.read(page)
    finally:
        signal.alarm(0)


def _do_nothing() -> None:
    """Do nothing: submitting it starts a process."""


def _initialise(config: WorkerConfig) -> None:
    """Ignore interrupts, which are for the crawl, and end with the crawl, even if it is killed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = parent_process()
    if parent is not None:
        threading.Thread(target=_exit_after, args=(parent.join,), daemon=True).start()
    _STATE[:] = [(config.worker(), config.max_seconds)]
    reduce_garbage_collection()
    limit_memory(MAX_MEGABYTES)


def _exit_after(ended: Callable[[], None]) -> None:
    ended()
    os._exit(1)
