"""A downloader that ends its downloads when the crawl is closing."""

import asyncio
from collections import deque
from time import monotonic
from typing import Final

from scrapy import Request, signals
from scrapy.core.downloader import Downloader
from scrapy.crawler import Crawler
from scrapy.exceptions import DownloadTimeoutError
from scrapy.http import Response

from newscrawl.crawl.session import CLOSING_CHECK_SECONDS, CrawlSession

# Ours: seconds that a running download may still take when the crawl is closing. A crawl then ends
# less than ten seconds after SIGTERM, before service managers send SIGKILL.
_CLOSING_GRACE: Final = 4.0


class EndingDownloader(Downloader):
    """Ends all downloads when the crawl is closing.

    Scrapy waits for them: up to DOWNLOAD_TIMEOUT for a server that doesn't respond, up to its
    Retry-After for an overloaded one. The next crawl requests those pages again.
    """

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._downloads: dict[asyncio.Task[Response], Request] = {}
        # One task for all downloads: a timer for each costs a hundredth of a crawl's time.
        self._watching: asyncio.Task[None] | None = None
        crawler.signals.connect(self._stop_watching, signal=signals.spider_closed)

    async def _enqueue_request(self, request: Request) -> Response:
        """Return the response; raise DownloadTimeoutError if the crawl closes before."""
        if self._watching is None:
            self._watching = asyncio.create_task(self._watch())
        download = asyncio.ensure_future(super()._enqueue_request(request))
        self._downloads[download] = request
        try:
            return await download
        except asyncio.CancelledError:
            if download in self._downloads:
                raise  # the caller was cancelled
            raise DownloadTimeoutError("the crawl is closing") from None
        finally:
            self._downloads.pop(download, None)

    async def _watch(self) -> None:
        session = CrawlSession.of(self.crawler)
        while not session.is_closing:
            await asyncio.sleep(CLOSING_CHECK_SECONDS)
        deadline = monotonic() + _CLOSING_GRACE
        while True:
            self._end_downloads(also_begun=monotonic() >= deadline)
            await asyncio.sleep(CLOSING_CHECK_SECONDS)

    def _end_downloads(self, *, also_begun: bool) -> None:
        transferring = {request for slot in self.slots.values() for request in slot.transferring}
        ended = {
            download: request
            for download, request in self._downloads.items()
            if also_begun or request not in transferring
        }
        if not ended:
            return
        requests = set(ended.values())
        for slot in self.slots.values():
            # No caller waits any more for the requests queued there.
            slot.queue = deque(one for one in slot.queue if one[0] not in requests)
        for download in ended:
            del self._downloads[download]
            download.cancel()

    def _stop_watching(self) -> None:
        if self._watching is not None:
            self._watching.cancel()
