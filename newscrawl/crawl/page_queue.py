"""Pages come from the queue in the database, a few at a time; what came of each goes back there."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from typing import Any

from scrapy import Request, Spider, signals
from scrapy.exceptions import DontCloseSpider

from newscrawl.crawl.errors import Cause
from newscrawl.items import Visit
from newscrawl.storage import StorageError
from newscrawl.storage.frontier import MAX_CRASHES, DequeuedPage, FetchOutcome, Frontier
from newscrawl.storage.writing import Writer

# Pages taken from the queue at once, and the number on their way below which more are taken:
# enough to keep any polite crawl busy, few enough to keep memory flat.
BATCH = 100
LOW_WATER = 50
_DEADLY = Cause("deadly", f"{MAX_CRASHES} crawls crashed when they read nothing else", final=True)


# Not an ABC: zope.interface leaves `__provides__` on abc.ABC, which a spider's attributes, read one
# by one for the names of exported files, would then hold without a value.
class QueueSpider(Spider):
    """Asks for what waits in the queue, until nothing does or the limit is reached.

    Whoever opens the database sets `frontier`, `writer` and `settle_all`, by which all pages are
    settled that wait for it, before the spider starts.
    """

    frontier: Frontier
    writer: Writer
    settle_all: Callable[[], None]

    def __init__(self) -> None:
        super().__init__()
        self._limit = 0
        self._on_their_way = 0
        self._taking = False
        self._nothing_left = False
        self._looking: asyncio.Task[None] | None = None
        self._closing: asyncio.Task[None] | None = None

    def watch_queue(self) -> None:
        """Hear of the moments at which the queue matters."""
        self.crawler.signals.connect(self._when_idle, signal=signals.spider_idle)

    @property
    def since(self) -> datetime | None:
        """The moment before which articles are of no interest, where one was given."""
        return None

    def article_request(self, waiting: DequeuedPage) -> Request:
        """Return the request for a page of the queue, with it as `waiting` in its cb_kwargs."""
        raise NotImplementedError

    async def refill(self) -> None:
        """Take more pages from the queue if few are on their way."""
        self._nothing_left = False
        if self._taking or self._on_their_way > LOW_WATER or self._limit <= 0:
            return
        self._taking = True
        try:
            pages = await self.writer.do(self.frontier.dequeue, self._next_batch(), self.since)
        except StorageError:
            return  # the crawl is being stopped
        finally:
            self._taking = False
        self._send(pages)

    async def with_new_hints(self, waiting: DequeuedPage) -> DequeuedPage:
        """Return the page with what listings have told of it since it was asked for, too."""
        try:
            hints = await self.writer.do(self.frontier.hints, waiting.visit.queue_id)
        except StorageError:
            return waiting  # the crawl is being stopped
        return replace(waiting, hints=hints)

    def on_its_way_no_more(self) -> None:
        """A page of the queue got its answer, or will get none."""
        self._on_their_way -= 1

    def _next_batch(self) -> int:
        return min(BATCH, self._limit)

    def _send(self, pages: list[DequeuedPage]) -> None:
        self._limit -= len(pages)
        if self.crawler.engine.spider is None:
            return  # closed meanwhile: they wait for the next crawl
        self._on_their_way += len(pages)
        self.count("requested", len(pages))
        self.count("revisits", sum(not page.visit.first for page in pages))
        for page in pages:
            self.crawler.engine.crawl(self.article_request(page))

    def _when_idle(self) -> None:
        """Have it looked whether anything is left to do, before the crawl ends; nothing else
        happens meanwhile, but the event loop goes on."""
        self._on_their_way = 0
        if self._nothing_left:
            self._nothing_left = False
            return
        if self._looking is None:
            self._looking = asyncio.create_task(self._look_for_more())
            self._looking.add_done_callback(self._looked)
        raise DontCloseSpider

    async def _look_for_more(self) -> None:
        self.settle_all()
        with suppress(StorageError):  # the crawl is being stopped
            if requests := await self.last_resort():
                for request in requests:
                    self.crawler.engine.crawl(request)
            elif self._limit > 0 and (pages := await self._left()):
                self._send(pages)
            else:
                waiting = await self.writer.do(self.frontier.count_waiting, self.since)
                self.crawler.stats.set_value("newscrawl/over_limit", waiting)
                self._nothing_left = True

    def _looked(self, task: "asyncio.Task[None]") -> None:
        self._looking = None
        engine: Any = self.crawler.engine
        if not task.cancelled() and (error := task.exception()) is not None:
            self.logger.critical("The crawl stops: its queue failed", exc_info=error)
            self._closing = asyncio.create_task(engine.close_spider_async(reason="queue_failed"))
        elif engine._slot is not None:
            engine._slot.nextcall.schedule()  # or else it would be idle until the next heartbeat

    async def last_resort(self) -> list[Request]:
        """Return what is asked for when nothing else is to be done, if anything."""
        return []

    async def _left(self) -> list[DequeuedPage]:
        """Take what is left: last of all what may have killed crawls, page by page."""
        pages = await self.writer.do(self.frontier.dequeue, self._next_batch(), self.since)
        while not pages:
            suspect = await self.writer.do(self.frontier.dequeue_quarantined, self.since)
            if suspect is None or suspect.visit.crash_count <= MAX_CRASHES:
                return [suspect] if suspect else []
            self.failed(suspect.visit, suspect.fetch_url, _DEADLY)
        return pages

    def mark_done(self, visit: Visit, outcome: FetchOutcome, reason: str) -> None:
        """Have it written what came of a page from which no article comes."""
        self.writer.later(
            self.frontier.mark_done, self.frontier.fetch_result(visit, outcome, reason)
        )

    def failed(self, visit: Visit, url: str, cause: Cause) -> None:
        """Count and report a page that couldn't be fetched; it is tried again where that helps."""
        self.count("pages_failed")
        self.count(f"pages_failed/{cause.kind}")
        self.logger.warning("Can't fetch %s: %s", url, cause.reason)
        self.mark_done(visit, "hopeless" if cause.final else "failed", cause.kind)

    def deferred(self, visit: Visit, cause: Cause) -> None:
        """Count a page that nobody may ask for yet; it waits, and no try is held against it.

        Why was logged when the host's robots.txt was asked for, once for all its pages.
        """
        self.count("pages_deferred")
        self.mark_done(visit, "deferred", cause.kind)

    def count(self, name: str, amount: int = 1) -> None:
        """Add to one of the crawl's statistics."""
        if amount:
            self.crawler.stats.inc_value(f"newscrawl/{name}", amount)


def conditions(etag: str | None, last_modified: str | None) -> dict[str, Any]:
    """Return the headers of a conditional request; none where no validator is known."""
    headers = {"If-None-Match": etag, "If-Modified-Since": last_modified}
    return {name: value for name, value in headers.items() if value}
