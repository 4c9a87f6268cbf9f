"""The queue of a source's pages, which is in the database; a crawl dequeues a few at a time."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from typing import Any, Final

from scrapy import Request, signals
from scrapy.crawler import Crawler
from scrapy.exceptions import DontCloseSpider

from newscrawl.crawl.errors import Cause
from newscrawl.crawl.middlewares import RETRY_REASON
from newscrawl.crawl.session import CrawlSession
from newscrawl.items import FetchAttempt
from newscrawl.storage import StorageError
from newscrawl.storage.frontier.queue import MAX_CRASHES, DequeuedPage, FetchOutcome

logger = logging.getLogger(__name__)

# Pages dequeued at once, and the number of pending requests below which more are dequeued: enough
# to keep any polite crawl busy, few enough to keep memory constant.
BATCH: Final = 100
LOW_WATER: Final = 50
_DEADLY: Final = Cause(
    "deadly", f"{MAX_CRASHES} crawls crashed while they read only this page", final=True
)


async def _no_requests() -> list[Request]:
    return []


class PageQueue:
    """Requests the pages of the queue until none is left or the limit is reached.

    `request_for` makes the request for a page. When no page is left, `last_resort` returns further
    requests, or none: then the crawl ends.
    """

    def __init__(
        self, crawler: Crawler, request_for: Callable[[DequeuedPage], Request], limit: int
    ) -> None:
        self._crawler = crawler
        self._session = CrawlSession.of(crawler)
        self._request_for = request_for
        self._limit = limit
        self.last_resort: Callable[[], Awaitable[list[Request]]] = _no_requests
        self._pending = 0
        self._requested: set[str] = set()
        self._is_dequeuing = False
        self._is_empty = False
        self._search: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Keep the crawl open while pages are left."""
        self._crawler.signals.connect(self._spider_idle, signal=signals.spider_idle)

    async def refill(self) -> None:
        """Dequeue more pages if few requests are pending."""
        self._is_empty = False
        if self._is_dequeuing or self._pending > LOW_WATER or self._limit <= 0:
            return
        self._is_dequeuing = True
        try:
            pages = await self._dequeue()
        except StorageError:
            return  # the crawl is closing
        finally:
            self._is_dequeuing = False
        self._request(pages)

    async def with_new_hints(self, page: DequeuedPage) -> DequeuedPage:
        """Return the page with the hints that listings have added since it was dequeued."""
        frontier = self._session.frontier
        try:
            hints = await self._session.writer.do(frontier.hints, page.attempt.queue_id)
        except StorageError:
            return page  # the crawl is closing
        return replace(page, hints=hints)

    def request_finished(self) -> None:
        """Decrement the pending requests: one has a response, or will get none."""
        self._pending -= 1

    def has_requested(self, url: str) -> bool:
        """Return whether a page of the queue was requested under this URL in this crawl."""
        return url in self._requested

    def follow_again(self, redirect: Request) -> None:
        """Follow a redirect to a URL that redirects of other pages have led to before."""
        meta = {**redirect.meta, RETRY_REASON: True}
        self._crawler.engine.crawl(redirect.replace(dont_filter=True, meta=meta))

    def mark_done(self, attempt: FetchAttempt, outcome: FetchOutcome, reason: str) -> None:
        """Record the outcome of a page without an article."""
        frontier = self._session.frontier
        result = frontier.fetch_result(attempt, outcome, reason)
        self._session.writer.later(frontier.mark_done, result)

    def mark_failed(self, attempt: FetchAttempt, url: str, cause: Cause) -> None:
        """Count and log a page that couldn't be fetched; it is retried unless its cause is
        final."""
        self._session.count("pages_failed")
        self._session.count(f"pages_failed/{cause.kind}")
        logger.warning("Can't fetch %s: %s", url, cause.reason)
        self.mark_done(attempt, "hopeless" if cause.final else "failed", cause.kind)

    def mark_deferred(self, attempt: FetchAttempt, cause: Cause) -> None:
        """Count a page that may not be fetched yet; this is not counted as a failed attempt.

        The cause was logged once for all pages of the host, when its robots.txt was requested.
        """
        self._session.count("pages_deferred")
        self.mark_done(attempt, "deferred", cause.kind)

    @property
    def _since(self) -> datetime | None:
        spider = self._session.spider
        return spider.since if spider else None

    async def _dequeue(self) -> list[DequeuedPage]:
        frontier = self._session.frontier
        count = min(BATCH, self._limit)
        return await self._session.writer.do(frontier.dequeue, count, self._since)

    def _request(self, pages: list[DequeuedPage]) -> None:
        self._limit -= len(pages)
        if self._crawler.engine.spider is None:
            return  # closed meanwhile: the next crawl dequeues them
        self._pending += len(pages)
        self._session.count("requested", len(pages))
        self._session.count("revisits", sum(not page.attempt.first for page in pages))
        for page in pages:
            request = self._request_for(page)
            self._requested.add(request.url)
            self._crawler.engine.crawl(request)

    # When no request is left -------------------------------------------------------------------

    def _spider_idle(self) -> None:
        """Keep the crawl open while a task dequeues more pages."""
        self._pending = 0
        if self._is_empty:
            self._is_empty = False
            return
        if self._search is None:
            self._search = asyncio.create_task(self._dequeue_more())
            self._search.add_done_callback(self._search_done)
        raise DontCloseSpider

    async def _dequeue_more(self) -> None:
        self._session.flush()
        with suppress(StorageError):  # the crawl is closing
            if requests := await self.last_resort():
                for request in requests:
                    self._crawler.engine.crawl(request)
            elif self._limit > 0 and (pages := await self._dequeue_last()):
                self._request(pages)
            else:
                frontier = self._session.frontier
                waiting = await self._session.writer.do(frontier.count_waiting, self._since)
                self._crawler.stats.set_value("newscrawl/over_limit", waiting)
                self._is_empty = True

    def _search_done(self, task: "asyncio.Task[None]") -> None:
        self._search = None
        engine: Any = self._crawler.engine
        if not task.cancelled() and (error := task.exception()) is not None:
            self._session.stop("queue_failed", "its queue failed", cause=error)
        elif engine._slot is not None:
            engine._slot.nextcall.schedule()  # otherwise it waits for the next heartbeat

    async def _dequeue_last(self) -> list[DequeuedPage]:
        """Dequeue the remaining pages; last of all those that may have killed crawls, one at a
        time."""
        pages = await self._dequeue()
        while not pages:
            frontier = self._session.frontier
            suspect = await self._session.writer.do(frontier.dequeue_quarantined, self._since)
            if suspect is None or suspect.attempt.crash_count <= MAX_CRASHES:
                return [suspect] if suspect else []
            self.mark_failed(suspect.attempt, suspect.fetch_url, _DEADLY)
        return pages


def conditions(etag: str | None, last_modified: str | None) -> dict[str, Any]:
    """Return the headers of a conditional request; empty without known validators."""
    headers = {"If-None-Match": etag, "If-Modified-Since": last_modified}
    return {name: value for name, value in headers.items() if value}
