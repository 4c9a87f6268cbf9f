"""Work that kills its process; a module of its own, since each worker process imports it."""

import os
import signal
from dataclasses import replace
from typing import Self

from scrapy.crawler import Crawler
from scrapy.http import Response

from newscrawl.items import Document, Page
from newscrawl.reading import PageReader
from pipelines.extraction import ExtractionPipeline
from spiders import listings


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
        return super().read(page)


class MortalExtraction(ExtractionPipeline):
    """Has pages read by a MortalReader."""

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """As its parent does."""
        made = super().from_crawler(crawler)
        usual = made._recipe.reader
        reader = MortalReader(method=usual.method, least=usual.least)
        made._recipe = replace(made._recipe, reader=reader)
        return made


class MortalListings:
    """An extension by which a crawl dies of a feed that says so."""

    @classmethod
    def from_crawler(cls, _crawler: Crawler) -> Self:
        """Put it in the way of every feed."""
        usual = listings._read_listing

        def read(response: Response) -> object:
            if b"deadly" in response.body:
                os.kill(os.getpid(), signal.SIGKILL)
            return usual(response)

        listings._read_listing = read  # type: ignore[assignment]
        return cls()
