"""What Scrapy alone does with the same pages: it downloads them, and that is all."""

from collections.abc import AsyncIterator
from pathlib import Path

from scrapy import Request, Spider
from scrapy.http import Response


class BareSpider(Spider):
    """Asks for each URL of a file (`-a urls=FILE`), and does nothing with what comes."""

    name = "bare"
    urls = ""

    async def start(self) -> AsyncIterator[Request]:
        """Ask for all of them."""
        for url in Path(self.urls).read_text().split():
            yield Request(url, callback=self.parse, errback=self.leave)

    def parse(self, response: Response) -> None:
        """Count nothing, keep nothing."""

    def leave(self, _failure: object) -> None:
        """Leave what failed."""
