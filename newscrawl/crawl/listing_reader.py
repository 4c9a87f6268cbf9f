"""Feeds, sitemaps and section pages of a crawl are read in a process with limits."""

import asyncio
from collections.abc import Callable
from typing import TypeVar

from scrapy import signals
from scrapy.crawler import Crawler

from newscrawl.crawl.ending import LOOK_EVERY, is_closing
from newscrawl.workers import Limits, WorkerProcess

Result = TypeVar("Result")

# Ours: a sitemap of 50 MB whose XML is broken takes 10 s and 600 MB, feeds a tenth of it; a busy
# machine may take four times as long by the clock.
LISTING_LIMITS = Limits(seconds=20, megabytes=768, patience=80.0)


class ListingReader:
    """Reads one listing at a time, apart from the event loop.

    A crawl that is told to stop doesn't wait for it: Scrapy tells nobody of that before all
    callbacks have ended, so it is looked at while a listing is being read.
    """

    def __init__(self, crawler: Crawler, limits: Limits = LISTING_LIMITS) -> None:
        self._crawler = crawler
        self._worker = WorkerProcess(limits)
        self._turn = asyncio.Lock()
        crawler.signals.connect(self._close, signal=signals.spider_closed)

    async def read(self, work: Callable[..., Result], *arguments: object) -> Result:
        """Return what the work returns; raises what it raises, WorkExceededError or
        WorkStoppedError."""
        async with self._turn:
            running = asyncio.ensure_future(asyncio.to_thread(self._worker.run, work, *arguments))
            while not running.done():
                await asyncio.wait({running}, timeout=LOOK_EVERY)
                if is_closing(self._crawler):
                    self._worker.stop()
            return running.result()

    async def _close(self) -> None:
        await asyncio.to_thread(self._worker.close)
