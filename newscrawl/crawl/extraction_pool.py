"""Who reads pages: a thread at a crawl's usual pace, processes of their own where pages pile up.

A polite crawl of one site brings a page or two a second; a thread reads them with ease. Many hosts
at once, or a replay from an archive, bring more than one core can both download and read: then
processes take the reading over, and the crawl keeps its core for downloads and storage.

To read a page is to take its article out of it and, where a registry of companies is given, to
look for them in it: both take long, so neither may hold up the event loop.
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
from pathlib import Path
from typing import Any, Final

from newscrawl.config import SettingError
from newscrawl.items import Document, Page
from newscrawl.mentions import Companies, load_companies, with_mentions
from newscrawl.reading import NoArticleError, PageReader, Reason
from newscrawl.workers import limit_memory, reduce_garbage_collection

# Ours: pages that wait when the thread can't keep up any more. A polite crawl never has two.
BACKLOG = 8
# Ours: seconds by the clock; any page takes two of a processor, which others may want, too.
LONGEST = 60
# Ours: MiB that a process may take for pages beside what it starts with; a page takes 300 at most,
# and what the first ones bring to stay (models, tables) half as much.
MEGABYTES = 1024
# Ours: larger pages, 1 in 300 of the development corpus, are read apart: what there is of tricks
# that nobody knows yet needs room.
LARGE = 2 * 1024 * 1024
# Ours: what is read of a page that killed its reader twice; the mean page has 210,000 bytes.
REDUCED = 256 * 1024
# Ours: seconds that pages which are being read may go on for where the crawl is to end, and between
# two looks at whether it is.
GRACE, _LOOK = 4.0, 0.5
# Ours: a crawl's own process brings no more pages than so many processes read (make bench-crawl).
MOST = 4

Verdict = Document | tuple[Reason, str]


class ReaderDiedError(Exception):
    """The process that read a page ended over it: out of memory, by a fault of a parser, or out of
    time."""


@dataclass(frozen=True, slots=True)
class AppState:
    """All that a page is read with."""

    reader: PageReader
    companies: Companies | None = None

    def judge(self, page: Page) -> Verdict:
        """Read a page; the verdict can be sent from process to process, and leaves its bytes
        out."""
        try:
            document = self.reader.read(page)
        except NoArticleError as error:
            return error.reason, str(error)
        if self.companies is not None:
            document = with_mentions(document, self.companies)
        return replace(document, page=replace(document.page, html=b""))


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """What a process needs to set up a desk of its own; with `searches`, companies are looked for
    by the file `registry`, or by the bundled ones. A page may take `longest` seconds."""

    reader: PageReader
    searches: bool = False
    registry: Path | None = None
    longest: int = LONGEST

    def desk(self) -> AppState:
        """Set one up. Where the registry can't be read any more, documents stay unsearched."""
        if not self.searches:
            return AppState(self.reader)
        try:
            return AppState(self.reader, load_companies(self.registry))
        except (OSError, ValueError):
            return AppState(self.reader)


class Readers:
    """Reads pages beside the event loop; `processes` of them at most, 0 for a thread alone.

    The thread uses the `companies` that the crawl has loaded already. Where `is_closing` says that
    the crawl is to end, processes that go on reading are ended.
    """

    def __init__(
        self,
        recipe: Recipe,
        processes: int,
        companies: Companies | None = None,
        is_closing: Callable[[], bool] = lambda: False,
    ) -> None:
        self._recipe = recipe
        self._is_closing = is_closing
        self._desk = AppState(recipe.reader, companies)
        self._processes = processes
        self._thread = ThreadPoolExecutor(1, "extraction")
        self._pool: ProcessPoolExecutor | None = None
        self._waiting = 0
        self._alone = asyncio.Lock()
        self._is_ended = False

    async def read(self, page: Page) -> Document:
        """Return the page with its article; raises NoArticleError or ReaderDiedError."""
        self._waiting += 1
        try:
            verdict = await self._verdict(page)
        finally:
            self._waiting -= 1
        if isinstance(verdict, tuple):
            raise NoArticleError(*verdict)
        # The bytes of the page stayed here: they need not travel twice.
        return replace(verdict, page=replace(verdict.page, html=page.html))

    def begin(self) -> None:
        """Start the processes at once, for a crawl in which pages will pile up."""
        if self._processes and self._pool is None:
            self._pool = self._begun()
            for _ in range(self._processes):
                self._pool.submit(_be_there)

    def close(self) -> None:
        """Let the thread and the processes go."""
        self._thread.shutdown()
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)

    async def _verdict(self, page: Page) -> Verdict:
        if not self._needs_process(page):
            try:
                return await _run(self._thread, self._desk.judge, page)
            except MemoryError:
                raise ReaderDiedError("no memory is left to read the page with") from None
        with suppress(BrokenProcessPool, MemoryError):
            return await self._run_apart(page)
        # One of the pages that were being read broke it. Each is read alone now, to tell which.
        async with self._alone:
            with suppress(BrokenProcessPool, MemoryError):
                return await self._run_apart(page)
            if len(page.html) > REDUCED:
                with suppress(BrokenProcessPool, MemoryError):
                    return await self._run_apart(replace(page, html=page.html[:REDUCED]))
        raise ReaderDiedError("the process that read the page died of it")

    def _needs_process(self, page: Page) -> bool:
        """Whether a page is read apart: where pages pile up, and where it may kill who reads it."""
        if not self._processes:
            return False
        is_suspect = page.visit is not None and page.visit.crash_count > 0
        is_suspect |= len(page.html) > LARGE
        return is_suspect or self._pool is not None or self._waiting > BACKLOG

    async def _run_apart(self, page: Page) -> Verdict:
        if self._is_ended:
            raise ReaderDiedError("the crawl ended while the page was being read")
        pool = self._pool
        if pool is None:
            pool = self._pool = self._begun()
        try:
            return await self._watched(pool, _run(pool, _judge, page))
        except BrokenProcessPool:
            if self._pool is pool:
                self._pool = None
            raise

    async def _watched(
        self, pool: ProcessPoolExecutor, verdict: Coroutine[Any, Any, Verdict]
    ) -> Verdict:
        """Wait for a verdict of a pool, and no longer than `GRACE` once the crawl is to end."""
        reading = asyncio.ensure_future(verdict)
        left = GRACE
        while not reading.done():
            await asyncio.wait({reading}, timeout=_LOOK)
            left -= _LOOK if self._is_closing() else 0
            if left <= 0 and not reading.done():
                self._is_ended = True
                _kill(pool)
        return reading.result()

    def _begun(self) -> ProcessPoolExecutor:
        # Not forked: the crawl has threads, and what they hold would stay held.
        context = get_context("spawn")
        return ProcessPoolExecutor(self._processes, context, _begin, (self._recipe,))


def _kill(pool: ProcessPoolExecutor) -> None:
    """End the processes of a pool, whatever they do; who waits for them hears of it."""
    for process in list((pool._processes or {}).values()):
        process.kill()


async def _run(executor: Executor, judge: Callable[[Page], Verdict], page: Page) -> Verdict:
    return await asyncio.get_running_loop().run_in_executor(executor, judge, page)


def processes_of(setting: object) -> int:
    """Return how many processes NEWSCRAWL_READERS means; SettingError where it can't be meant.

    "auto" are as many as there are cores, but no more than MOST. The crawl's own process needs
    less than half a core for each reader, so that none of the cores waits for another.
    """
    text = str(setting).strip()
    if text == "auto":
        return min(len(os.sched_getaffinity(0)), MOST)
    if not text.isascii() or not text.isdigit():
        raise SettingError(f"NEWSCRAWL_READERS={text}: neither a whole number nor auto")
    return int(text)


# In a process that reads: what it reads with, sent once and not with each page.
_HELD: Final[list[tuple[AppState, int]]] = []


def _judge(page: Page) -> Verdict:
    # Who takes too long is ended by the signal: a parser in C listens to nothing else.
    desk, longest = _HELD[0]
    signal.alarm(longest)
    try:
        return desk.judge(page)
    finally:
        signal.alarm(0)


def _be_there() -> None:
    """Nothing to do: a process is started when it first has something to do."""


def _begin(recipe: Recipe) -> None:
    """Leave interrupts to the crawl, and end when it ends, even if it was killed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = parent_process()
    if parent is not None:
        threading.Thread(target=_follow, args=(parent.join,), daemon=True).start()
    _HELD[:] = [(recipe.desk(), recipe.longest)]
    reduce_garbage_collection()
    limit_memory(MEGABYTES)


def _follow(ended: Callable[[], None]) -> None:
    ended()
    os._exit(1)
