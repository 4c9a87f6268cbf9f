"""Extensions of Scrapy's engine: request rate, parent process, progress, log lines, and the end of
downloads when a crawl is closing."""

import asyncio
import logging
import os
import stat
import sys
from collections import deque
from collections.abc import Mapping
from time import monotonic
from typing import Any, Final

from scrapy import Request, Spider, signals
from scrapy.core.downloader import Downloader, Slot
from scrapy.crawler import Crawler
from scrapy.exceptions import DownloadTimeoutError, NotConfigured
from scrapy.extensions.throttle import AutoThrottle
from scrapy.http import Response
from scrapy.logformatter import LogFormatter, LogFormatterResult
from scrapy.robotstxt import RobotParser
from scrapy.utils.httpobj import urlparse_cached
from twisted.python.failure import Failure

from newscrawl.config import seconds
from newscrawl.crawl.session import CrawlSession
from newscrawl.items import ArticleItem, Document, Page
from newscrawl.workers import CLOSING_CHECK_SECONDS

logger = logging.getLogger(__name__)


def slot_of(host: str | None) -> str:
    """Return the name of a host's slot: with and without `www.` it is one site, with one delay."""
    return (host or "").removeprefix("www.")


class CrawlDelayThrottle(AutoThrottle):
    """AutoThrottle with the Crawl-delay of robots.txt as its minimum."""

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._crawl_delays: dict[str, float] = {}
        self._longest = seconds(
            "NEWSCRAWL_CRAWL_DELAY_MAX", crawler.settings["NEWSCRAWL_CRAWL_DELAY_MAX"]
        )
        self._agent: str = crawler.settings["ROBOTSTXT_USER_AGENT"]
        crawler.signals.connect(self._robots_parsed, signal=signals.robots_parsed)

    def _robots_parsed(self, robotparser: RobotParser, request: Request) -> None:
        delay = robotparser.crawl_delay(self._agent)
        if not delay or not 0 < delay <= self._longest:
            return  # none, invalid, or so long that the middleware forbids all requests
        key = slot_of(urlparse_cached(request).hostname)
        delay = max(delay, self._min_delay(), self._crawl_delays.get(key, 0.0))
        self._crawl_delays[key] = delay
        downloader = self.crawler.engine.downloader
        # For future slots (Scrapy forgets idle ones) and for the present one. No jitter: it would
        # shorten the delay as often as lengthen it.
        downloader.per_slot_settings[key] = {"delay": delay, "jitter": 0.0, "concurrency": 1}
        if slot := downloader.slots.get(key):
            slot.delay, slot.jitter, slot.concurrency = max(slot.delay, delay), 0.0, 1

    def _adjust_delay(self, slot: Slot, latency: float, response: Response) -> None:
        super()._adjust_delay(slot, latency, response)
        key = slot_of(urlparse_cached(response).hostname)
        slot.delay = max(slot.delay, self._crawl_delays.get(key, 0.0))


# Statistics that change with each request, response, page or stored item; not those that change
# with time alone (log_count, memusage).
_ACTIVITY = ("downloader/", "item_", "newscrawl/", "offsite/", "response_", "retry/", "scheduler/")
# Seconds between two checks of them.
_PERIOD = 1.0


class MonitorLink:
    """The link of a crawl to `newscrawl monitor`, which started it: standard input.

    A byte is written to it if the counts have changed since the last check. This runs in the event
    loop, so a crawl whose loop hangs reports nothing. It closes with the monitor, whatever ended
    it: the crawl then has NEWSCRAWL_PARENT_GRACE seconds to end; later, the source's lease expires
    and another worker crawls it.
    """

    def __init__(self, crawler: Crawler) -> None:
        if not crawler.settings.get("NEWSCRAWL_PARENT_GRACE"):
            raise NotConfigured
        self._crawler = crawler
        self._grace = seconds("NEWSCRAWL_PARENT_GRACE", crawler.settings["NEWSCRAWL_PARENT_GRACE"])
        self._reporting: asyncio.Task[None] | None = None
        crawler.signals.connect(self.start, signal=signals.engine_started)
        crawler.signals.connect(self.stop, signal=signals.engine_stopped)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> "MonitorLink":
        """Build it; raise NotConfigured if no monitor has started the crawl."""
        return cls(crawler)

    def start(self) -> None:
        """Start watching and reporting."""
        monitor = sys.stdin.fileno()
        asyncio.get_running_loop().add_reader(monitor, self._monitor_exited)
        if stat.S_ISSOCK(os.fstat(monitor).st_mode):  # not the pipe of another program
            self._reporting = asyncio.create_task(self._report(monitor))

    def stop(self) -> None:
        """Stop watching and reporting."""
        asyncio.get_running_loop().remove_reader(sys.stdin.fileno())
        if self._reporting is not None:
            self._reporting.cancel()

    def _monitor_exited(self) -> None:
        if os.read(sys.stdin.fileno(), 4096):
            return
        loop = asyncio.get_running_loop()
        loop.remove_reader(sys.stdin.fileno())
        # Stored data is complete: an abrupt end loses nothing.
        loop.call_later(self._grace, os._exit, 1)
        message = "the monitor that started it has ended"
        CrawlSession.of(self._crawler).stop("monitor_gone", message)

    async def _report(self, monitor: int) -> None:
        os.set_blocking(monitor, False)
        before = -1.0
        while True:
            await asyncio.sleep(_PERIOD)
            now = activity_count(self._crawler.stats.get_stats())
            if now == before:
                continue
            before = now
            try:
                os.write(monitor, b".")
            except BlockingIOError:
                continue  # the monitor has unread bytes
            except OSError:
                return  # the monitor has ended


def activity_count(stats: Mapping[str, Any]) -> float:
    """Return a number that changes with every activity of the crawl."""
    return sum(
        value
        for name, value in stats.items()
        if name.startswith(_ACTIVITY) and isinstance(value, int | float)
    )


class ShortLogFormatter(LogFormatter):
    """Scrapy's messages about items, with the item's URL in place of its bytes."""

    def scraped(
        self, item: Any, response: Response | Failure | None, spider: Spider
    ) -> LogFormatterResult:
        """Log an item that passed all pipelines."""
        return super().scraped(_name(item), response, spider)

    def dropped(
        self,
        item: Any,
        exception: BaseException,
        response: Response | Failure | None,
        spider: Spider,
    ) -> LogFormatterResult:
        """Log an item that was dropped, with its reason, on one line."""
        logged = super().dropped(_name(item), exception, response, spider)
        reason = {"reason": type(exception).__name__, "exception": exception, "item": _name(item)}
        return {**logged, "msg": "Dropped (%(reason)s) %(item)s: %(exception)s", "args": reason}

    def item_error(
        self,
        item: Any,
        exception: BaseException,
        response: Response | Failure | None,
        spider: Spider,
    ) -> LogFormatterResult:
        """Log an item on which a pipeline failed."""
        return super().item_error(_name(item), exception, response, spider)


def _name(item: Any) -> str:
    if isinstance(item, Document):
        return item.page.url
    return item.url if isinstance(item, (Page, ArticleItem)) else type(item).__name__


# Ours: seconds that a running download may still take when the crawl is closing. A crawl then ends
# less than ten seconds after SIGTERM, before service managers send SIGKILL.
_CLOSING_GRACE: Final = 4.0


# Ours: rounds of the event loop after which a request that was given to its connection has been
# sent: TLS takes one to encrypt it, the socket another one.
_ROUNDS_UNTIL_SENT: Final = 3


class EndingDownloader(Downloader):
    """Ends all downloads when the crawl is closing, and counts the delay from when a request is
    sent.

    Scrapy waits for downloads: up to DOWNLOAD_TIMEOUT for a server that doesn't respond, up to its
    Retry-After for an overloaded one. The next crawl requests those pages again.

    Scrapy counts the delay from its decision to send. Where connecting takes long, or the machine
    is busy, the server would see the next request earlier by that time.
    """

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        slots = self.per_slot_settings.items()
        self.per_slot_settings = {slot_of(name): settings for name, settings in slots}
        self._downloads: dict[asyncio.Task[Response], Request] = {}
        # One task for all downloads: a timer for each costs a hundredth of a crawl's time.
        self._watching: asyncio.Task[None] | None = None
        # The request of a slot with a delay that was begun and is not sent yet.
        self._unsent: dict[Slot, Request] = {}
        self._confirming: set[asyncio.Task[None]] = set()
        crawler.signals.connect(self._stop_watching, signal=signals.spider_closed)

    def get_slot_key(self, request: Request) -> str:
        """Return the name of the request's slot."""
        return slot_of(super().get_slot_key(request))

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

    def request_written(self, host: str) -> None:
        """Note that a request was given to its connection to the host."""
        slot = self.slots.get(slot_of(host))
        if slot is not None and slot in self._unsent:
            request = self._unsent[slot]

            async def confirm() -> None:
                for _ in range(_ROUNDS_UNTIL_SENT):
                    await asyncio.sleep(0)
                self._record_sending(slot, request)

            confirming = asyncio.create_task(confirm())
            self._confirming.add(confirming)
            confirming.add_done_callback(self._confirming.discard)

    def _record_sending(self, slot: Slot, request: Request) -> None:
        if self._unsent.get(slot) is request:
            del self._unsent[slot]
            # Later than now during the pause of a Retry-After.
            slot.lastseen = max(slot.lastseen, monotonic())
            self._process_queue(slot)

    def _process_queue(self, slot: Slot) -> None:
        """Begin the next request, unless one that was begun is not sent yet."""
        if slot not in self._unsent:
            super()._process_queue(slot)

    async def _download(self, slot: Slot, request: Request) -> Response:
        if slot.delay:
            self._unsent[slot] = request
        try:
            return await super()._download(slot, request)
        finally:
            self._record_sending(slot, request)  # if it never was

    async def _watch(self) -> None:
        session = CrawlSession.of(self.crawler)
        while not session.is_closing:
            await asyncio.sleep(CLOSING_CHECK_SECONDS)
        deadline = monotonic() + _CLOSING_GRACE
        while True:
            slots = self.slots.values()
            transferring = {request for slot in slots for request in slot.transferring}
            if monotonic() >= deadline:
                transferring = set()
            ended = {
                download: request
                for download, request in self._downloads.items()
                if request not in transferring
            }
            requests = set(ended.values())
            for slot in slots if ended else ():
                # No caller waits for the requests queued there any longer.
                slot.queue = deque(entry for entry in slot.queue if entry[0] not in requests)
            for download in ended:
                del self._downloads[download]
                download.cancel()
            await asyncio.sleep(CLOSING_CHECK_SECONDS)

    def _stop_watching(self) -> None:
        if self._watching is not None:
            self._watching.cancel()
