"""Feeds, sitemaps and section pages: requests for them, and the pages that they list."""

import asyncio
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, fields
from datetime import datetime, timedelta
from hashlib import sha256
from typing import ClassVar, TypeVar

from scrapy import Request, signals
from scrapy.crawler import Crawler
from scrapy.http import Response
from twisted.python.failure import Failure

from newscrawl.crawl.arguments import CrawlArguments
from newscrawl.crawl.errors import DisallowedByRobotsError, RobotsUnreachableError, cause_of
from newscrawl.crawl.page_queue import QueueSpider, conditions
from newscrawl.crawl.shutdown import LOOK_EVERY, is_closing
from newscrawl.items import Hints
from newscrawl.sources import (
    Entry,
    Feed,
    FeedError,
    Sitemap,
    SitemapError,
    Source,
    UrlError,
    canonical_url,
)
from newscrawl.sources.addresses import address_of
from newscrawl.sources.links import Judged, judge_page
from newscrawl.sources.listings import read_listing
from newscrawl.sources.sitemaps import MAX_BYTES
from newscrawl.sources.twins import main_addresses
from newscrawl.storage import StorageError
from newscrawl.storage.frontier import FrontierEntry, KnownListing, Reading, publishing_interval
from newscrawl.workers import Limits, WorkerProcess, WorkExceededError, WorkStoppedError

Result = TypeVar("Result")

# Ours: a sitemap of 50 MB whose XML is broken takes 10 s and 600 MB, feeds a tenth of it; a busy
# machine may take four times as long by the clock.
LISTING_LIMITS = Limits(seconds=20, megabytes=768, patience=80.0)


class ListingReader:
    """Reads one listing at a time, apart from the event loop.

    A crawl that is told to stop doesn't wait for it: Scrapy tells nobody of that before all
    callbacks have ended, so it is looked at while a listing is being read.
    """

    def __init__(self, crawler: Crawler, limits: Limits = LISTING_LIMITS) -> None:
        self._crawler = crawler
        self._worker = WorkerProcess(limits)
        self._turn = asyncio.Lock()
        crawler.signals.connect(self._close, signal=signals.spider_closed)

    async def read(self, work: Callable[..., Result], *arguments: object) -> Result:
        """Return what the work returns; raises what it raises, WorkExceededError or
        WorkStoppedError."""
        async with self._turn:
            running = asyncio.ensure_future(asyncio.to_thread(self._worker.run, work, *arguments))
            while not running.done():
                await asyncio.wait({running}, timeout=LOOK_EVERY)
                if is_closing(self._crawler):
                    self._worker.stop()
            return running.result()

    async def _close(self) -> None:
        await asyncio.to_thread(self._worker.close)


# An index that lists indexes is rare, a third level has no use.
MAX_NESTING = 2
_BATCH = 200
_NOT_MODIFIED = 304
# A sitemap that says it was last modified longer than this before we read it has not changed
# since, even where it tells the day alone, in whatever time zone.
_DAY_AND_ZONE = timedelta(hours=38)


@dataclass(slots=True)
class _Found:
    """What a listing has brought so far."""

    offered: int = 0
    fresh: int = 0
    newest: datetime | None = None


class ListingSpider(QueueSpider):
    """Reads the listings that a subclass names, and queues what it wants of their articles."""

    clock: Callable[[], datetime]
    # Set by whoever builds the spider.
    reader: ListingReader

    def __init__(self) -> None:
        super().__init__()
        # The feeds and sitemaps of this crawl, by their numbers: when they are due, the source is.
        self.polled: list[int] = []
        # The articles that listings of this crawl have named, and how much they told of each.
        self._seen: dict[str, int] = {}
        self._strangers: set[str] = set()
        self._by_itself = asyncio.Lock()
        self._sitemaps_left = 0
        self._recent = timedelta()

    def wants(self, url: str) -> bool:
        """Whether a URL that a feed or sitemap lists may be an article."""
        raise NotImplementedError

    def covers(self, url: str) -> bool:
        """Whether a URL is of this source."""
        raise NotImplementedError

    def oldest(self, *, archive: bool) -> datetime | None:
        """Return the moment before which articles are left, in an archive or in a feed."""
        raise NotImplementedError

    async def listing_requests(
        self, urls: Collection[str], archives: Collection[str], *, only_due: bool
    ) -> AsyncIterator[Request]:
        """Ask for feeds and sitemaps; `archives` are those of them that list old articles too."""
        known = await self.writer.do(self.frontier.listings, urls)
        self.polled = [one.id for one in known]
        for one in known:
            if only_due and one.next_poll_at and one.next_poll_at > self.clock():
                self.count("listings_rested")
                self._count_as_before(one)
                continue
            yield self._request(one, archive=one.url in archives, allow_offsite=True)

    def _request(
        self,
        known: KnownListing,
        *,
        archive: bool,
        nesting: int = 0,
        allow_offsite: bool = False,
    ) -> Request:
        enough = known.says_enough(self.oldest(archive=archive))
        return Request(
            known.url,
            headers=conditions(known.etag, known.last_modified) if enough else {},
            callback=self.parse_listing,
            errback=self.listing_failed,
            priority=10,
            cb_kwargs={"known": known, "nesting": nesting, "enough": enough},
            meta={
                "download_maxsize": MAX_BYTES,
                "allow_offsite": allow_offsite,
                "handle_httpstatus_list": [_NOT_MODIFIED] if enough else [],
            },
        )

    async def parse_listing(
        self, response: Response, known: KnownListing, nesting: int, enough: bool
    ) -> AsyncIterator[Request]:
        """Queue what a feed or sitemap lists; nothing of it is parsed where nothing has changed."""
        body_hash = sha256(response.body).hexdigest()
        try:
            if response.status == _NOT_MODIFIED or (enough and body_hash == known.body_hash):
                requests = self._unchanged(known, nesting)
            else:
                requests = self._changed(response, known, nesting, body_hash)
            async for request in requests:
                yield request
            await self.refill()
        except StorageError:
            return  # the crawl is being stopped

    async def _unchanged(self, known: KnownListing, nesting: int) -> AsyncIterator[Request]:
        self.count("listings_read")
        self.count("listings_unchanged")
        self._count_as_before(known)
        children = await self.writer.do(self.frontier.children, known.id)
        for child in children:
            if self._sitemaps_left > 0:
                self._sitemaps_left -= 1
                yield self._request(child, archive=True, nesting=nesting + 1)
        self.writer.later(self.frontier.record_unchanged, known.id)

    def _count_as_before(self, known: KnownListing) -> None:
        if known.newest_at:
            self.crawler.stats.max_value("newscrawl/newest_entry", known.newest_at)
        self.count("unchanged_entries", known.offered)

    async def _changed(
        self, response: Response, known: KnownListing, nesting: int, body_hash: str
    ) -> AsyncIterator[Request]:
        """Read it; where crawls were cut off, by itself, and noted as one that failed until it is
        read: should this crawl die of it, it rests, and the next one gets past it."""
        if not self.frontier.careful and not known.failures:
            async for request in self._read(response, known, nesting, body_hash):
                yield request
            return
        async with self._by_itself:
            await self.writer.do(self.frontier.record_failure, known.id)
            async for request in self._read(response, known, nesting, body_hash, is_noted=True):
                yield request

    async def _read(
        self,
        response: Response,
        known: KnownListing,
        nesting: int,
        body_hash: str,
        *,
        is_noted: bool = False,
    ) -> AsyncIterator[Request]:
        try:
            content_type = header(response, "Content-Type")
            listing = await self.reader.read(
                read_listing, response.body, response.url, content_type
            )
        except WorkStoppedError:
            return  # the crawl is being stopped
        except (FeedError, SitemapError, WorkExceededError) as error:
            message = f"Can't use {response.url}: it {error}"
            self._broken(known, message, is_noted=is_noted)
            return
        self.count("listings_read")
        self.count("urls_refused", listing.unusable)
        archive = isinstance(listing, Sitemap)
        if isinstance(listing, Sitemap):
            if listing.damage:
                self.count("listings_damaged")
                self.logger.warning("Sitemap %s %s", response.url, listing.damage)
            async for request in self._descend(listing.children, known, nesting + 1):
                yield request
        cutoff = self.oldest(archive=archive)
        found = await self._queue(listing.entries, known.id, cutoff)
        moments = [entry.moment for entry in listing.entries if entry.moment]
        reading = Reading(
            etag=header(response, "ETag"),
            last_modified=header(response, "Last-Modified"),
            body_hash=body_hash,
            cutoff=cutoff,
            offered=found.offered,
            fresh=found.fresh,
            newest_at=found.newest,
            interval=publishing_interval(moments, _told_interval(listing), self.clock()),
        )
        # Last of all: whoever is killed before must read this listing again.
        await self.writer.do(self.frontier.record_reading, known.id, reading)

    async def _descend(
        self, children: Collection[Entry], index: KnownListing, nesting: int
    ) -> AsyncIterator[Request]:
        if children and nesting > MAX_NESTING:
            self._broken(index, f"Sitemap index {index.url} is nested too deeply; it is left")
            return
        oldest = self.oldest(archive=True)
        wanted: dict[str, Entry] = {}
        for child in newest_first(children):
            if oldest and child.modified and child.modified < oldest:
                continue
            if len(wanted) == self._sitemaps_left:
                self.count("sitemaps_over_limit")
                continue
            wanted[child.url] = child
        self._sitemaps_left -= len(wanted)
        for known in await self.writer.do(self.frontier.listings, list(wanted), index.id):
            modified = wanted[known.url].modified
            if (
                modified
                and known.checked_at
                and known.checked_at - modified > _DAY_AND_ZONE
                and known.says_enough(oldest)
            ):
                self.count("listings_read")
                self.count("listings_unchanged")
                self._count_as_before(known)
                continue
            yield self._request(known, archive=True, nesting=nesting)

    async def _queue(
        self, entries: Iterable[Entry], listing_id: int, oldest: datetime | None
    ) -> _Found:
        """Put the articles that are new to us into the queue."""
        found = _Found()
        waiting = newest_first(entries)
        for start in range(0, len(waiting), _BATCH):
            more: list[FrontierEntry] = []
            offers = list(self._offers(waiting[start : start + _BATCH], oldest, found, more))
            if more:
                await self.writer.do(self.frontier.add_hints, more)
            offered = await self.writer.do(self.frontier.enqueue, listing_id, offers)
            self.count("known", offered.known)
            self.count("revisits_told", offered.changed)
            found.fresh += offered.fresh
            await self.refill()
        return found

    def _offers(
        self,
        entries: Iterable[Entry],
        oldest: datetime | None,
        found: _Found,
        more: list[FrontierEntry],
    ) -> Iterator[FrontierEntry]:
        """Yield what is named for the first time; `more` is told of what was named before."""
        for entry in entries:
            if entry.moment:
                found.newest = max(found.newest or entry.moment, entry.moment)
                self.crawler.stats.max_value("newscrawl/newest_entry", entry.moment)
            if oldest and entry.moment and entry.moment < oldest:
                self.count("too_old")
                continue
            try:
                url = canonical_url(entry.url)
            except UrlError:
                self.count("urls_refused")
                continue
            if not self.wants(entry.url):
                continue
            told = _told(entry.hints)
            if url in self._seen:
                if told & ~self._seen[url]:
                    self._seen[url] |= told
                    more.append(_offer(entry, url))
                continue
            if not self.covers(url):
                self._refuse_host(address_of(url)[0])
                continue
            self._seen[url] = told
            self.count("found")
            found.offered += 1
            yield _offer(entry, url)

    def _refuse_host(self, host: str) -> None:
        self.count("offsite")
        if host not in self._strangers:
            self._strangers.add(host)
            self.logger.info("Links to %s are not followed: it is another site", host)

    def listing_failed(self, failure: Failure) -> None:
        """Count and report a feed or sitemap that couldn't be fetched."""
        request: Request = failure.request  # type: ignore[attr-defined]
        known: KnownListing = request.cb_kwargs["known"]
        message = f"Can't read {known.url}: {cause_of(failure).reason}"
        closed = isinstance(failure.value, DisallowedByRobotsError)
        if isinstance(failure.value, RobotsUnreachableError):
            self.count("listings_unreachable_robots")
        self._broken(known, message, "listings_disallowed" if closed else "listings_failed")

    def _broken(
        self,
        known: KnownListing,
        message: str,
        counted_as: str = "listings_failed",
        *,
        is_noted: bool = False,
    ) -> None:
        self.count(counted_as)
        self.logger.warning("%s", message)
        if not is_noted:
            self.writer.later(self.frontier.record_failure, known.id)

    def listing_met_twice(self, known: KnownListing, *, circle: bool) -> None:
        """Leave a feed or sitemap that redirects to itself, or to another one of this crawl."""
        if circle:
            self._broken(known, f"Can't read {known.url}: it redirects in a circle")
        else:
            self.writer.later(self.frontier.record_unchanged, known.id)


def _offer(entry: Entry, url: str) -> FrontierEntry:
    return FrontierEntry(
        url=url,
        fetch_url=entry.url,
        hints=entry.hints,
        moment=entry.moment,
        modified=entry.modified,
        twin_of=main_addresses(url),
    )


def _told(hints: Hints) -> int:
    """Return what a listing told of an article, a bit for each of the hints."""
    return sum(bool(getattr(hints, one.name)) << place for place, one in enumerate(fields(hints)))


def newest_first(entries: Iterable[Entry]) -> list[Entry]:
    """Return the entries by date, those without one last and as they came."""
    return sorted(entries, key=lambda entry: -entry.moment.timestamp() if entry.moment else 0.0)


def _told_interval(listing: Feed | Sitemap) -> timedelta | None:
    return listing.interval if isinstance(listing, Feed) else None


def header(response: Response, name: str) -> str | None:
    """Return a header of the response as text."""
    value = response.headers.get(name)
    return value.decode("latin-1") if value else None


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
