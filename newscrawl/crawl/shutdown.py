"""A downloader that ends its downloads when the crawl is closing."""

import asyncio
from collections import deque
from time import monotonic
from typing import Final

from scrapy import Request
from scrapy.core.downloader import Downloader
from scrapy.exceptions import DownloadTimeoutError
from scrapy.http import Response

from newscrawl.crawl.session import CLOSING_CHECK_SECONDS, CrawlSession

# Ours: seconds that a download which has begun may still take when the crawl is closing. A crawl
# then ends less than ten seconds after SIGTERM, which is what those who stop it wait for.
_GRACE: Final = 4.0


class EndingDownloader(Downloader):
    """Ends all downloads when the crawl is closing.

    Scrapy waits for them: up to DOWNLOAD_TIMEOUT for a silent server, up to its Retry-After for an
    overloaded one. The next crawl requests those pages again.
    """

    async def _enqueue_request(self, request: Request) -> Response:
        """Return the response; raise DownloadTimeoutError where the crawl closes before."""
        download = asyncio.ensure_future(super()._enqueue_request(request))
        session = CrawlSession.of(self.crawler)
        closing_since: float | None = None
        while not (await asyncio.wait({download}, timeout=CLOSING_CHECK_SECONDS))[0]:
            if not session.is_closing:
                continue
            closing_since = closing_since or monotonic()
            has_begun = any(request in slot.transferring for slot in self.slots.values())
            if has_begun and monotonic() - closing_since < _GRACE:
                continue
            for slot in self.slots.values():
                # Nothing waits any more for what is queued there.
                slot.queue = deque(one for one in slot.queue if one[0] is not request)
            download.cancel()
            await asyncio.wait({download}, timeout=CLOSING_CHECK_SECONDS)
            raise DownloadTimeoutError("the crawl is closing")
        return download.result()
