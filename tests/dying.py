"""Readers and extensions that crash, hang or exceed limits; worker processes import them."""

import asyncio
import os
import signal
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from itertools import count
from typing import Any, Self

from scrapy import Request, signals
from scrapy.core.downloader.handlers.http11 import HTTP11DownloadHandler
from scrapy.crawler import Crawler
from scrapy.exceptions import DontCloseSpider
from scrapy.http import Response

from newscrawl.crawl.extraction_pool import MAX_MEGABYTES
from newscrawl.crawl.listings import ListingProcess
from newscrawl.items import Document, Page
from newscrawl.reading import PageReader
from newscrawl.workers import Limits
from pipelines.extraction import ExtractionPipeline
from tests.working import read_for_ever


class MortalReader(PageReader):
    """A reader whose process is killed by a page that contains "deadly"."""

    def read(self, page: Page) -> Document:
        if b"deadly" in page.html:
            os.kill(os.getpid(), signal.SIGKILL)
        if b"endless" in page.html:
            time.sleep(60)
        return super().read(page)


class MortalExtraction(ExtractionPipeline):
    """The extraction pipeline with a MortalReader."""

    def __init__(self, crawler: Crawler, reader: PageReader, processes: int) -> None:
        mortal = MortalReader(method=reader.method, min_characters=reader.min_characters)
        super().__init__(crawler, mortal, processes)


class PlacedReader(PageReader):
    """A reader that stores in the section where it ran, and fails on marked pages."""

    def read(self, page: Page) -> Document:
        if page.html == b"poison" or page.html.endswith(b"poisoned end"):
            os.kill(os.getpid(), signal.SIGKILL)
        if page.html == b"greedy":
            bytearray(2 * MAX_MEGABYTES * 1024 * 1024)
        if page.html == b"endless":
            time.sleep(60)
        time.sleep(0.005)  # so that pages queue up
        document = super().read(page)
        where = f"{os.getpid()} {threading.current_thread().name}"
        return replace(document, article=replace(document.article, section=where))


class MortalListings:
    """An extension with which a feed that contains "deadly" kills the crawl."""

    @classmethod
    def from_crawler(cls, _crawler: Crawler) -> Self:
        """Replace the reading of feeds."""
        usual = ListingProcess.read

        async def read(self: ListingProcess, work: Callable[..., Any], *arguments: Any) -> Any:
            if b"deadly" in arguments[0]:
                os.kill(os.getpid(), signal.SIGKILL)
            return await usual(self, work, *arguments)

        ListingProcess.read = read  # type: ignore[method-assign]
        return cls()


class EndlessListings:
    """An extension with which parsing a feed that contains "endless" never ends.

    The limit of the process is ENDLESS_SECONDS."""

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Replace the reading of feeds."""
        usual = ListingProcess.read
        seconds = crawler.settings.getint("ENDLESS_SECONDS")
        limits = Limits(seconds=seconds, megabytes=768, clock_seconds=600.0)

        limited = ListingProcess(crawler, limits)

        async def read(_self: ListingProcess, work: Callable[..., Any], *arguments: Any) -> Any:
            is_endless = b"endless" in arguments[0]
            return await usual(limited, read_for_ever if is_endless else work, *arguments)

        ListingProcess.read = read  # type: ignore[method-assign]
        return cls()


class HangingLoop:
    """An extension with which the event loop of a crawl hangs at the first article."""

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Build it and connect the signal."""
        extension = cls()
        crawler.signals.connect(extension.hang, signal=signals.item_scraped)
        return extension

    def hang(self) -> None:
        """Block the event loop for an hour."""
        time.sleep(3600)


class HangingCrawl:
    """An extension with which a crawl stays idle forever, while its event loop runs."""

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Build it and connect the signal."""
        extension = cls()
        crawler.signals.connect(extension.stay, signal=signals.spider_idle)
        return extension

    def stay(self) -> None:
        """Keep the spider open."""
        raise DontCloseSpider


class LateSending:
    """An extension with which every second request is sent 0.4 seconds after its turn, as where
    connecting takes long."""

    @classmethod
    def from_crawler(cls, _crawler: Crawler) -> Self:
        """Replace the download of a request."""
        usual = HTTP11DownloadHandler.download_request
        numbers = count()

        async def late(self: HTTP11DownloadHandler, request: Request) -> Response:
            if next(numbers) % 2 == 0:
                await asyncio.sleep(0.4)
            return await usual(self, request)

        HTTP11DownloadHandler.download_request = late
        return cls()
