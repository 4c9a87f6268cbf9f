"""Who reads pages: a thread at a crawl's usual pace, processes of their own where pages pile up.

A polite crawl of one site brings a page or two a second; a thread reads them with ease. Many hosts
at once, or a replay from an archive, bring more than one core can both download and read: then
processes take the reading over, and the crawl keeps its core for downloads and storage.
"""

import asyncio
import os
import signal
import threading
from collections.abc import Callable
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace
from multiprocessing import get_context, parent_process

from newscrawl.items import Document, Page
from newscrawl.reading import NoArticleError, PageReader, Reason
from newscrawl.settings import SettingError

# Ours: pages that wait when the thread can't keep up any more. A polite crawl never has two.
BACKLOG = 8

Verdict = Document | tuple[Reason, str]


class ReaderDiedError(Exception):
    """The process that read a page ended over it: out of memory, or a fault of a parser."""


class Readers:
    """Reads pages beside the event loop; `processes` of them at most, 0 for a thread alone."""

    def __init__(self, reader: PageReader, processes: int) -> None:
        self._reader = reader
        self._processes = processes
        self._thread = ThreadPoolExecutor(1, "extraction")
        self._pool: ProcessPoolExecutor | None = None
        self._waiting = 0
        self._alone = asyncio.Lock()

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

    def close(self) -> None:
        """Let the thread and the processes go."""
        self._thread.shutdown()
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)

    async def _verdict(self, page: Page) -> Verdict:
        if self._pool is None and (not self._processes or self._waiting <= BACKLOG):
            return await self._run(self._thread, page)
        try:
            return await self._run_apart(page)
        except BrokenProcessPool:
            pass
        # One of the pages that were being read broke it. Each is read alone now, to tell which.
        async with self._alone:
            try:
                return await self._run_apart(page)
            except BrokenProcessPool:
                raise ReaderDiedError("the process that read the page died of it") from None

    async def _run_apart(self, page: Page) -> Verdict:
        pool = self._pool
        if pool is None:
            # Not forked: the crawl has threads, and what they hold would stay held.
            context = get_context("spawn")
            pool = self._pool = ProcessPoolExecutor(self._processes, context, initializer=_begin)
        try:
            return await self._run(pool, page)
        except BrokenProcessPool:
            if self._pool is pool:
                self._pool = None
            raise

    async def _run(self, executor: Executor, page: Page) -> Verdict:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(executor, judge, self._reader, page)


def judge(reader: PageReader, page: Page) -> Verdict:
    """Read a page; the verdict can be sent from process to process, and leaves its bytes out."""
    try:
        document = reader.read(page)
    except NoArticleError as error:
        return error.reason, str(error)
    return replace(document, page=replace(document.page, html=b""))


def processes_of(setting: object) -> int:
    """Return how many processes NEWSCRAWL_READERS means; SettingError where it can't be meant.

    "auto" are as many as there are cores besides the one that the crawl itself keeps busy.
    """
    text = str(setting).strip()
    if text == "auto":
        return max(len(os.sched_getaffinity(0)) - 1, 1)
    if not text.isascii() or not text.isdigit():
        raise SettingError(f"NEWSCRAWL_READERS={text}: neither a whole number nor auto")
    return int(text)


def _begin() -> None:
    """Leave interrupts to the crawl, and end when it ends, even if it was killed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = parent_process()
    if parent is not None:
        threading.Thread(target=_follow, args=(parent.join,), daemon=True).start()


def _follow(ended: Callable[[], None]) -> None:
    ended()
    os._exit(1)
