"""Scrapy's downloader, which lets no server and no rest hold up the end of a crawl."""

import asyncio
from collections import deque
from time import monotonic
from typing import Any, Final

from scrapy import Request
from scrapy.core.downloader import Downloader
from scrapy.exceptions import DownloadTimeoutError
from scrapy.http import Response

# Ours: seconds between two looks at whether the crawl is to end, and those that a download which
# has begun is given then. With less than ten in all, SIGTERM is enough for whoever stops a crawl.
_LOOK_EVERY: Final = 0.5
_GRACE: Final = 4.0


class EndingDownloader(Downloader):
    """Ends what is on its way when the crawl is to end.

    Scrapy waits for it: for a server that is silent by DOWNLOAD_TIMEOUT, for a host that is to rest
    by its Retry-After. What is ended so is asked for again by the next crawl.
    """

    async def _enqueue_request(self, request: Request) -> Response:
        """Return the response; raise DownloadTimeoutError where the end of the crawl came first."""
        download = asyncio.ensure_future(super()._enqueue_request(request))
        closing_since: float | None = None
        while not (await asyncio.wait({download}, timeout=_LOOK_EVERY))[0]:
            if not self._is_closing():
                continue
            closing_since = closing_since or monotonic()
            has_begun = any(request in slot.transferring for slot in self.slots.values())
            if has_begun and monotonic() - closing_since < _GRACE:
                continue
            for slot in self.slots.values():
                # What waits there has nobody any more who waits for it.
                slot.queue = deque(one for one in slot.queue if one[0] is not request)
            download.cancel()
            await asyncio.wait({download}, timeout=_LOOK_EVERY)
            raise DownloadTimeoutError("the crawl is to end")
        return download.result()

    def _is_closing(self) -> bool:
        slot: Any = self.crawler.engine and self.crawler.engine._slot
        return slot is None or slot.closing is not None
