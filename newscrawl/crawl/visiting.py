"""The helper process of newscrawl.sources.visits, which fetches single pages with the middlewares
of a crawl: `python -m newscrawl.crawl.visiting NUMBER`, the number of its connection's file.

It has neither pipelines nor a database, ends with its parent, and retries nothing: a person waits.
"""

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from multiprocessing.connection import Connection
from typing import Any, Final, Literal

from scrapy import Request, Spider, signals
from scrapy.crawler import AsyncCrawlerProcess, Crawler
from scrapy.exceptions import StopDownload
from scrapy.http.request import NO_CALLBACK
from scrapy.settings import Settings
from w3lib.encoding import http_content_type_encoding

from newscrawl.config import SettingError
from newscrawl.crawl.errors import (
    DisallowedByRobotsError,
    PrivateAddressError,
    RobotsUnreachableError,
    cause_of_error,
)
from newscrawl.crawl.listings import header
from newscrawl.crawl.middlewares import RobotsMiddleware
from newscrawl.items import RobotsPolicy
from newscrawl.sources.sitemaps import MAX_BYTES
from newscrawl.sources.visits import FetchResult, Refusal, Visit

_PERMANENT: Final = {301, 308}
_OVERRIDES: Final[dict[str, Any]] = {
    "ADDONS": {},
    "NEWSCRAWL_ARCHIVE": "",
    "ITEM_PIPELINES": {},
    "EXTENSIONS": {
        "scrapy.extensions.throttle.AutoThrottle": None,
        "newscrawl.crawl.extensions.CrawlDelayThrottle": 0,
    },
    "SPIDER_LOADER_CLASS": "scrapy.spiderloader.SpiderLoader",
    "SPIDER_MODULES": [],
    "LOG_ENABLED": False,
    "RETRY_TIMES": 0,
    "CONCURRENT_REQUESTS_PER_DOMAIN": 1,
}


class VisitingSpider(Spider):
    """Fetches what its parent process asks for, and sends each answer as soon as it is there."""

    name = "visits"

    def __init__(self, connection: "Connection[Any, Any]") -> None:
        super().__init__()
        self._connection = connection
        self._running: set[asyncio.Task[None]] = set()

    async def start(self) -> AsyncIterator[Any]:
        """Begin each visit; yield nothing, as the engine's scheduler knows no order of visits."""
        self.crawler.signals.connect(_cut, signal=signals.bytes_received)
        while True:
            try:
                visit: Visit = await asyncio.to_thread(self._connection.recv)
            except (EOFError, OSError):
                os._exit(0)  # the parent has ended
            task = asyncio.create_task(self._answer(visit))
            self._running.add(task)
            task.add_done_callback(self._running.discard)
        yield  # type: ignore[unreachable]  # what makes this function a generator

    async def _answer(self, visit: Visit) -> None:
        answer: FetchResult | RobotsPolicy | Refusal
        kind: Literal["private", "disallowed", "failed"]
        try:
            if visit.robots:
                middleware = self.crawler.get_downloader_middleware(RobotsMiddleware)
                if middleware is None:
                    raise RuntimeError("ROBOTSTXT_OBEY is off")  # noqa: TRY301
                answer = await middleware.policy(visit.url)
            else:
                answer = await self._page(visit)
        except Exception as error:  # noqa: BLE001 - whatever it is, the parent waits for the reason
            disallowed = isinstance(error, DisallowedByRobotsError) or (
                isinstance(error, RobotsUnreachableError) and error.answered
            )
            private = isinstance(error, PrivateAddressError)
            kind = "private" if private else "disallowed" if disallowed else "failed"
            answer = Refusal(kind, cause_of_error(error).reason)
        self._connection.send((visit.number, answer))

    async def _page(self, visit: Visit) -> FetchResult:
        request = Request(visit.url, callback=NO_CALLBACK)
        if visit.cut_at is not None:
            # The limit is for the decompressed body, of which a part is enough.
            request.meta.update(newscrawl_cut_at=visit.cut_at, download_maxsize=MAX_BYTES)
        response = await self.crawler.engine.download_async(request)
        redirects = response.meta.get("redirect_reasons", [])
        content_type = header(response, "Content-Type")
        return FetchResult(
            asked=visit.url,
            url=response.url,
            status=response.status,
            content_type=content_type,
            encoding=http_content_type_encoding(content_type) if content_type else None,
            body=response.body[: visit.cut_at],
            moved=bool(redirects) and _PERMANENT.issuperset(redirects),
        )


def _cut(data: bytes, request: Request) -> None:
    """End the download of a page of which enough was received."""
    limit = request.meta.get("newscrawl_cut_at")
    if limit is not None:
        request.meta["newscrawl_received"] = request.meta.get("newscrawl_received", 0) + len(data)
        if request.meta["newscrawl_received"] > limit:
            raise StopDownload(fail=False)


def main() -> None:
    """Fetch pages until the parent ends; send the reason where the settings can't work."""
    connection: Connection[Any, Any] = Connection(int(sys.argv[1]))
    settings = Settings(connection.recv() | _OVERRIDES)
    process = AsyncCrawlerProcess(settings)
    crawler: Crawler = process.create_crawler(VisitingSpider)
    task = process.crawl(crawler, connection=connection)
    process.start(install_signal_handlers=False)
    error = task.exception()
    if isinstance(error, SettingError):
        connection.send((None, error))
    elif error is not None:
        raise error


if __name__ == "__main__":
    main()
