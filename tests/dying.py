"""Work that kills its process; a module of its own, since each worker process imports it."""

import os
import signal
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Self

from scrapy import signals
from scrapy.crawler import Crawler
from scrapy.exceptions import DontCloseSpider

from newscrawl.crawl.listings import ListingProcess
from newscrawl.items import Document, Page
from newscrawl.reading import PageReader
from newscrawl.workers import Limits
from pipelines.extraction import ExtractionPipeline


def square_or_die(number: int) -> int:
    """The square of a number; 7 ends the process."""
    if number == 7:
        os._exit(1)
    return number * number


class MortalReader(PageReader):
    """Dies of a page that says so, as one does that runs out of memory."""

    def read(self, page: Page) -> Document:
        if b"deadly" in page.html:
            os.kill(os.getpid(), signal.SIGKILL)
        if b"endless" in page.html:
            time.sleep(60)
        return super().read(page)


class MortalExtraction(ExtractionPipeline):
    """Has pages read by a MortalReader."""

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """As its parent does."""
        made = super().from_crawler(crawler)
        usual = made._config.reader
        reader = MortalReader(method=usual.method, min_characters=usual.min_characters)
        made._config = replace(made._config, reader=reader)
        return made


class MortalListings:
    """An extension by which a crawl dies of a feed that says so."""

    @classmethod
    def from_crawler(cls, _crawler: Crawler) -> Self:
        """Put it in the way of every feed."""
        usual = ListingProcess.read

        async def read(self: ListingProcess, work: Callable[..., Any], *arguments: Any) -> Any:
            if b"deadly" in arguments[0]:
                os.kill(os.getpid(), signal.SIGKILL)
            return await usual(self, work, *arguments)

        ListingProcess.read = read  # type: ignore[method-assign]
        return cls()


class EndlessListings:
    """An extension by which a feed that says so is never read to its end; it may take
    ENDLESS_SECONDS of a processor."""

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Put it in the way of every feed."""
        usual = ListingProcess.read
        seconds = crawler.settings.getint("ENDLESS_SECONDS")
        limits = Limits(seconds=seconds, megabytes=768, clock_seconds=600.0)

        async def read(self: ListingProcess, work: Callable[..., Any], *arguments: Any) -> Any:
            is_endless = b"endless" in arguments[0]
            self._worker._limits = limits
            return await usual(self, read_for_ever if is_endless else work, *arguments)

        ListingProcess.read = read  # type: ignore[method-assign]
        return cls()


class HangingLoop:
    """An extension by which a crawl's event loop hangs with the first article, deaf to SIGTERM."""

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Wait for the first article."""
        made = cls()
        crawler.signals.connect(made.hang, signal=signals.item_scraped)
        return made

    def hang(self) -> None:
        """Do nothing for an hour."""
        time.sleep(3600)


class HangingCrawl:
    """An extension by which a crawl waits for ever with nothing to do, while its loop goes on."""

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Keep the crawl from its end."""
        made = cls()
        crawler.signals.connect(made.stay, signal=signals.spider_idle)
        return made

    def stay(self) -> None:
        """Have it wait for more."""
        raise DontCloseSpider


def read_for_ever(_body: bytes, _url: str, _content_type: str | None = None) -> None:
    """Read a feed that never ends, in Python."""
    while True:
        pass


def eat_memory(_body: bytes, _url: str, _content_type: str | None = None) -> None:
    """Read a feed that takes all of the memory."""
    kept = []
    while True:
        kept.append(bytearray(1 << 24))
