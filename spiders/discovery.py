"""A source's home and section pages, read as a last resort: where no feed or sitemap works."""

from collections.abc import AsyncIterator
from datetime import datetime
from typing import ClassVar

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.http import Response

from newscrawl.crawl.listing_reader import ListingReader
from newscrawl.sources import Source
from newscrawl.sources.links import Judged, judge_page
from newscrawl.storage.frontier import KnownListing, Reading, publishing_interval
from newscrawl.workers import WorkExceededError, WorkStoppedError
from spiders.arguments import CrawlArguments
from spiders.listings import ListingSpider, header


class SectionSpider(ListingSpider):
    """Takes pages for listings once nothing else lists a source's articles.

    A page's links are judged by address and words (`newscrawl.sources.links`). A home page leads to
    section pages as well, unless the registry names them; sections lead to articles alone.
    """

    source: ClassVar[Source]
    arguments: CrawlArguments

    def __init__(self) -> None:
        super().__init__()
        self._last_resort = False

    def watch_listings(self, crawler: Crawler) -> None:
        """Begin to read listings."""
        self.reader = ListingReader(crawler)

    async def last_resort(self) -> list[Request]:
        """Return requests for the home or section pages, once, where no listing works."""
        given = self.arguments.feeds or self.arguments.sitemaps
        if self._last_resort or given or self._listings_work():
            return []
        self._last_resort = True
        return await self._section_requests()

    def _listings_work(self) -> bool:
        """Whether a feed or sitemap could be read, and had an article of the last days."""
        stats = self.crawler.stats
        read = stats.get_value("newscrawl/listings_read", 0)
        rested = stats.get_value("newscrawl/listings_rested", 0)
        newest: datetime | None = stats.get_value("newscrawl/newest_entry")
        stale = newest is not None and self.clock() - newest > self._recent
        return bool(read or rested) and not stale

    async def _section_requests(self) -> list[Request]:
        named = self.source.on(self.clock().date()).sections
        known = await self.writer.do(self.frontier.listings, [*named, self.source.home])
        self.polled += [one.id for one in known]
        requests = []
        for one in known:
            if self.arguments.only_due and one.next_poll_at and one.next_poll_at > self.clock():
                self.count("listings_rested")
                continue
            requests.append(self._request(one, archive=False, nesting=1 if named else 0))
        self.logger.info("No feed or sitemap works: reading %d pages for links", len(known))
        return requests

    async def _changed(
        self, response: Response, known: KnownListing, nesting: int, body_hash: str
    ) -> AsyncIterator[Request]:
        if not self._last_resort:
            async for request in super()._changed(response, known, nesting, body_hash):
                yield request
            return
        content_type = header(response, "Content-Type")
        try:
            judged = await self.reader.read(judge_page, response.body, response.url, content_type)
        except WorkStoppedError:
            return  # the crawl is being stopped
        except WorkExceededError as error:
            self._broken(known, f"Can't use {response.url}: it {error}")
            return
        self.count("listings_read")
        self.count("sections_read")
        if nesting == 0:
            async for request in self._sections(judged, known):
                yield request
        found = await self._queue(judged.articles, known.id, None)
        reading = Reading(
            etag=header(response, "ETag"),
            last_modified=header(response, "Last-Modified"),
            body_hash=body_hash,
            cutoff=None,
            offered=found.offered,
            fresh=found.fresh,
            newest_at=None,
            interval=publishing_interval((), None, self.clock()),
        )
        # Last of all: whoever is killed before must read this page again.
        await self.writer.do(self.frontier.record_reading, known.id, reading)

    async def _sections(self, judged: Judged, home: KnownListing) -> AsyncIterator[Request]:
        covered = [url for url in judged.sections if self.covers(url)]
        for section in await self.writer.do(self.frontier.listings, covered, home.id):
            yield self._request(section, archive=False, nesting=1)
