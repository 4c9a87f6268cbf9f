"""A spider of Scrapy alone, which downloads the same pages and nothing more."""

from collections.abc import AsyncIterator
from pathlib import Path

from scrapy import Request, Spider
from scrapy.http import Response


class BareSpider(Spider):
    """Request each URL of a file (`-a urls=FILE`), and drop the responses."""

    name = "bare"
    urls = ""

    async def start(self) -> AsyncIterator[Request]:
        """Request all of them."""
        for url in Path(self.urls).read_text().split():
            yield Request(url, callback=self.parse, errback=self.leave)

    def parse(self, response: Response) -> None:
        """Do nothing."""

    def leave(self, _failure: object) -> None:
        """Ignore a failure."""
