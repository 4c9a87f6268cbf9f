"""How a crawl ends when it is told to: at once before it has begun, and soon afterwards.

No server that is silent, and no host that is to rest, holds up the end.
"""

import asyncio
import signal
import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic
from typing import Any, Final

from scrapy import Request
from scrapy.core.downloader import Downloader
from scrapy.crawler import Crawler
from scrapy.exceptions import DownloadTimeoutError
from scrapy.http import Response

# Ours: seconds between two looks at whether the crawl is to end, and those that a download which
# has begun is given then. With less than ten in all, SIGTERM is enough for whoever stops a crawl.
LOOK_EVERY: Final = 0.5
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
        while not (await asyncio.wait({download}, timeout=LOOK_EVERY))[0]:
            if not is_closing(self.crawler):
                continue
            closing_since = closing_since or monotonic()
            has_begun = any(request in slot.transferring for slot in self.slots.values())
            if has_begun and monotonic() - closing_since < _GRACE:
                continue
            for slot in self.slots.values():
                # What waits there has nobody any more who waits for it.
                slot.queue = deque(one for one in slot.queue if one[0] is not request)
            download.cancel()
            await asyncio.wait({download}, timeout=LOOK_EVERY)
            raise DownloadTimeoutError("the crawl is to end")
        return download.result()


def is_closing(crawler: Crawler) -> bool:
    """Return whether the crawl is to end: Scrapy tells nobody of that before all callbacks have
    ended, so whoever waits for something long looks here every LOOK_EVERY seconds."""
    slot: Any = crawler.engine and crawler.engine._slot
    return slot is None or slot.closing is not None


@contextmanager
def ended_by_signals() -> Iterator[None]:
    """Let SIGTERM and Ctrl-C end the process at once: it may wait long for a locked database in
    the thread of the event loop, which hears of no signal meanwhile. Nothing is lost by that, since
    nothing has begun."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    numbers = (signal.SIGTERM, signal.SIGINT)
    before = [(number, signal.signal(number, signal.SIG_DFL)) for number in numbers]
    try:
        yield
    finally:
        for number, handler in before:
            signal.signal(number, handler if handler is not None else signal.SIG_DFL)
