"""Feeds, sitemaps and section pages: requesting them, and queueing the pages that they list."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, fields, replace
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Final, TypeVar

from scrapy import Request, signals
from scrapy.crawler import Crawler
from scrapy.http import Response
from twisted.python.failure import Failure

from newscrawl.config import whole_number
from newscrawl.crawl.errors import (
    UNUSABLE,
    Cause,
    DisallowedByRobotsError,
    RobotsUnreachableError,
    cause_of,
    unusable,
)
from newscrawl.crawl.page_queue import PageQueue, conditions
from newscrawl.crawl.session import (
    CLOSING_CHECK_SECONDS,
    CrawlArguments,
    CrawlSession,
    SourceSpider,
)
from newscrawl.items import Hints
from newscrawl.sources import Entry, Feed, FeedError, Sitemap, SitemapError, UrlError, canonical_url
from newscrawl.sources.front_pages import ClassifiedLinks, classify_links
from newscrawl.sources.sitemaps import MAX_BYTES, read_listing
from newscrawl.sources.urls import address_of, main_addresses
from newscrawl.storage import StorageError
from newscrawl.storage.frontier import FrontierEntry, KnownListing, Reading, publishing_interval
from newscrawl.workers import Limits, WorkerProcess, WorkExceededError, WorkStoppedError

logger = logging.getLogger(__name__)

Result = TypeVar("Result")

# Ours: a sitemap of 50 MB with broken XML takes 10 s and 600 MB, feeds a tenth of it; on a busy
# machine it may take four times as long.
LISTING_LIMITS: Final = Limits(seconds=20, megabytes=768, clock_seconds=80.0)
# An index of indexes is rare; a third level has no use.
MAX_NESTING: Final = 2
# Entries that are queued in one transaction.
_BATCH: Final = 200
_NOT_MODIFIED: Final = 304
# A sitemap whose stated modification is older than our last reading by more than this has not
# changed since, even if only the day is stated, in any time zone.
_DAY_AND_ZONE: Final = timedelta(hours=38)


class ListingProcess:
    """Parses one listing at a time, in a process with limits, outside the event loop.

    A closing crawl doesn't wait for it.
    """

    def __init__(self, crawler: Crawler, limits: Limits = LISTING_LIMITS) -> None:
        self._session = CrawlSession.of(crawler)
        self._worker = WorkerProcess(limits)
        self._turn = asyncio.Lock()
        crawler.signals.connect(self._close, signal=signals.spider_closed)

    async def read(self, work: Callable[..., Result], *arguments: object) -> Result:
        """Return the result of the work; raise its exception, WorkExceededError or
        WorkStoppedError."""
        async with self._turn:
            running = asyncio.ensure_future(asyncio.to_thread(self._worker.run, work, *arguments))
            while not running.done():
                await asyncio.wait({running}, timeout=CLOSING_CHECK_SECONDS)
                if self._session.is_closing:
                    self._worker.stop()
            return running.result()

    async def _close(self) -> None:
        await asyncio.to_thread(self._worker.close)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Listing:
    """A feed, sitemap or section page to request: `known` is the result of the last reading.

    With `is_comparable`, an unchanged listing has no new entries.
    """

    known: KnownListing
    nesting: int = 0
    is_comparable: bool = False
    is_section: bool = False
    # Whether its failure is recorded before it is parsed.
    is_failure_recorded: bool = False


@dataclass(slots=True)
class _ListingResult:
    """The articles in a listing: `fresh` ones are new to the queue."""

    entry_count: int = 0
    fresh: int = 0
    newest: datetime | None = None


class Listings:
    """Requests feeds and sitemaps if they have changed, and queues the articles that they list.

    If none of them works, section pages are read instead.
    """

    def __init__(
        self, crawler: Crawler, spider: SourceSpider, queue: PageQueue, arguments: CrawlArguments
    ) -> None:
        def number(name: str) -> int:
            return whole_number(name, crawler.settings[name])

        self._crawler = crawler
        self._session = CrawlSession.of(crawler)
        self._spider = spider
        self._queue = queue
        self._arguments = arguments
        self.process = ListingProcess(crawler)
        # The articles in listings of this crawl, with the hints that each had (_hint_bits).
        self._seen: dict[str, int] = {}
        self._other_sites: set[str] = set()
        self._one_at_a_time = asyncio.Lock()
        self._sitemaps_left = number("NEWSCRAWL_SITEMAPS")
        self._recent = timedelta(days=number("NEWSCRAWL_RECENT_DAYS"))
        self._reads_sections = False

    async def requests(
        self, urls: Collection[str], archives: Collection[str]
    ) -> AsyncIterator[Request]:
        """Yield requests for feeds and sitemaps; `archives` list old articles too."""
        known = await self._session.writer.do(self._session.frontier.listings, urls)
        self._session.polled = [one.id for one in known]
        for one in known:
            if self._is_not_due(one):
                self._session.count("listings_rested")
                self._count_unchanged(one)
            else:
                yield self._request(one, archive=one.url in archives, allow_offsite=True)

    async def last_resort(self) -> list[Request]:
        """Return requests for the home page or section pages, once, if no listing works."""
        is_named = self._arguments.feeds or self._arguments.sitemaps
        if self._reads_sections or is_named or self._listings_work():
            return []
        self._reads_sections = True
        return await self._section_requests()

    def _is_not_due(self, listing: KnownListing) -> bool:
        """Return whether only due listings are wanted, and this one is not due."""
        schedule, now = self._session.frontier.schedule, self._session.clock()
        return self._arguments.only_due and not schedule.is_due(listing.next_poll_at, now)

    def _request(
        self,
        known: KnownListing,
        *,
        archive: bool,
        nesting: int = 0,
        is_section: bool = False,
        allow_offsite: bool = False,
    ) -> Request:
        comparable = known.covers(self._spider.oldest(archive=archive))
        listing = _Listing(
            known=known, nesting=nesting, is_comparable=comparable, is_section=is_section
        )
        return Request(
            known.url,
            headers=conditions(known.etag, known.last_modified) if comparable else {},
            callback=self.parse,
            errback=self.failed,
            priority=10,
            cb_kwargs={"listing": listing},
            meta={
                "download_maxsize": MAX_BYTES,
                "allow_offsite": allow_offsite,
                "handle_httpstatus_list": [_NOT_MODIFIED] if comparable else [],
            },
        )

    async def parse(self, response: Response, listing: _Listing) -> AsyncIterator[Request]:
        """Queue the articles of a listing, and yield requests for the listings in it.

        An unchanged listing is not parsed.
        """
        body_hash = sha256(response.body).hexdigest()
        is_same = listing.is_comparable and body_hash == listing.known.body_hash
        try:
            if response.status == _NOT_MODIFIED or is_same:
                requests = self._reuse(listing)
            elif listing.is_section:
                requests = self._read_section(response, listing, body_hash)
            else:
                requests = self._process(response, listing, body_hash)
            async for request in requests:
                yield request
            await self._queue.refill()
        except StorageError:
            return  # the crawl is closing

    async def _reuse(self, listing: _Listing) -> AsyncIterator[Request]:
        self._session.count("listings_read")
        self._session.count("listings_unchanged")
        self._count_unchanged(listing.known)
        frontier = self._session.frontier
        for child in await self._session.writer.do(frontier.children, listing.known.id):
            if self._sitemaps_left > 0:
                self._sitemaps_left -= 1
                yield self._request(
                    child,
                    archive=True,
                    nesting=listing.nesting + 1,
                    is_section=listing.is_section,
                )
        self._session.writer.later(frontier.record_unchanged, listing.known.id)

    def _count_unchanged(self, listing: KnownListing) -> None:
        if listing.newest_at:
            self._crawler.stats.max_value("newscrawl/newest_entry", listing.newest_at)
        self._session.count("unchanged_entries", listing.entry_count)

    async def _process(
        self, response: Response, listing: _Listing, body_hash: str
    ) -> AsyncIterator[Request]:
        """Parse a feed or sitemap.

        After killed crawls listings are parsed one at a time, and the failure is recorded before:
        if this crawl is killed too, the listing waits, and the next crawl parses the others.
        """
        frontier = self._session.frontier
        if not frontier.careful and not listing.known.failures:
            async for request in self._read_listing(response, listing, body_hash):
                yield request
            return
        async with self._one_at_a_time:
            await self._session.writer.do(frontier.record_failure, listing.known.id)
            listing = replace(listing, is_failure_recorded=True)
            async for request in self._read_listing(response, listing, body_hash):
                yield request

    async def _read_listing(
        self, response: Response, listing: _Listing, body_hash: str
    ) -> AsyncIterator[Request]:
        try:
            content_type = header(response, "Content-Type")
            parsed = await self.process.read(
                read_listing, response.body, response.url, content_type
            )
        except WorkStoppedError:
            return  # the crawl is closing
        except (FeedError, SitemapError, WorkExceededError) as error:
            self._record_broken(listing, unusable(error), response.url)
            return
        self._session.count("listings_read")
        self._session.count("urls_refused", parsed.unusable)
        if isinstance(parsed, Sitemap):
            if parsed.damage:
                self._session.count("listings_damaged")
                logger.warning("Sitemap %s %s", response.url, parsed.damage)
            async for request in self._descend(parsed.children, listing):
                yield request
        skipped_before = self._spider.oldest(archive=isinstance(parsed, Sitemap))
        found = await self._enqueue(parsed.entries, listing.known.id, skipped_before)
        moments = [entry.moment for entry in parsed.entries if entry.moment]
        stated = parsed.interval if isinstance(parsed, Feed) else None
        interval = publishing_interval(moments, stated, self._session.clock())
        await self._record(
            listing, _make_reading(response, body_hash, found, skipped_before, interval)
        )

    async def _record(self, listing: _Listing, reading: Reading) -> None:
        """Record the reading last, so that a crawl that is killed before repeats it."""
        frontier = self._session.frontier
        await self._session.writer.do(frontier.record_reading, listing.known.id, reading)

    async def _descend(
        self, children: Collection[Entry], index: _Listing
    ) -> AsyncIterator[Request]:
        nesting = index.nesting + 1
        if children and nesting > MAX_NESTING:
            deep = unusable(SitemapError("is nested too deeply; it is not followed"))
            self._record_broken(replace(index, is_failure_recorded=False), deep)
            return
        oldest = self._spider.oldest(archive=True)
        wanted: dict[str, Entry] = {}
        for child in newest_first(children):
            if oldest and child.modified and child.modified < oldest:
                continue
            if len(wanted) == self._sitemaps_left:
                self._session.count("sitemaps_over_limit")
                continue
            wanted[child.url] = child
        self._sitemaps_left -= len(wanted)
        frontier = self._session.frontier
        for known in await self._session.writer.do(frontier.listings, list(wanted), index.known.id):
            modified = wanted[known.url].modified
            if (
                modified
                and known.checked_at
                and known.checked_at - modified > _DAY_AND_ZONE
                and known.covers(oldest)
            ):
                self._session.count("listings_read")
                self._session.count("listings_unchanged")
                self._count_unchanged(known)
                continue
            yield self._request(known, archive=True, nesting=nesting)

    # Into the queue ----------------------------------------------------------------------------

    async def _enqueue(
        self, entries: Iterable[Entry], listing_id: int, oldest: datetime | None
    ) -> _ListingResult:
        """Queue the articles that are new."""
        found = _ListingResult()
        newest = newest_first(entries)
        writer, frontier = self._session.writer, self._session.frontier
        for start in range(0, len(newest), _BATCH):
            repeated: list[FrontierEntry] = []
            batch = newest[start : start + _BATCH]
            new = list(self._new_entries(batch, oldest, found, repeated))
            if repeated:
                await writer.do(frontier.add_hints, repeated)
            enqueued = await writer.do(frontier.enqueue, listing_id, new)
            self._session.count("known", enqueued.known)
            self._session.count("revisits_announced", enqueued.changed)
            found.fresh += enqueued.fresh
            await self._queue.refill()
        return found

    def _new_entries(
        self,
        entries: Iterable[Entry],
        oldest: datetime | None,
        result: _ListingResult,
        repeated: list[FrontierEntry],
    ) -> Iterator[FrontierEntry]:
        """Yield articles that are new in this crawl.

        Articles that an earlier listing had, with fewer hints, are added to `repeated`.
        """
        for entry in entries:
            if entry.moment:
                result.newest = max(result.newest or entry.moment, entry.moment)
                self._crawler.stats.max_value("newscrawl/newest_entry", entry.moment)
            if oldest and entry.moment and entry.moment < oldest:
                self._session.count("too_old")
                continue
            try:
                url = canonical_url(entry.url)
            except UrlError:
                self._session.count("urls_refused")
                continue
            if not self._spider.is_article_url(entry.url):
                continue
            hints = _hint_bits(entry.hints)
            if url in self._seen:
                if hints & ~self._seen[url]:
                    self._seen[url] |= hints
                    repeated.append(_frontier_entry(entry, url))
                continue
            if not self._spider.covers(url):
                self._refuse_host(address_of(url)[0])
                continue
            self._seen[url] = hints
            self._session.count("found")
            result.entry_count += 1
            yield _frontier_entry(entry, url)

    def _refuse_host(self, host: str) -> None:
        self._session.count("offsite")
        if host not in self._other_sites:
            self._other_sites.add(host)
            logger.info("Links to %s are not followed: it is another site", host)

    # Section pages -----------------------------------------------------------------------------

    def _listings_work(self) -> bool:
        """Return whether a feed or sitemap could be read and had a recent article."""
        stats = self._crawler.stats
        read = stats.get_value("newscrawl/listings_read", 0)
        rested = stats.get_value("newscrawl/listings_rested", 0)
        newest: datetime | None = stats.get_value("newscrawl/newest_entry")
        is_stale = newest is not None and self._session.clock() - newest > self._recent
        return bool(read or rested) and not is_stale

    async def _section_requests(self) -> list[Request]:
        source = self._spider.source
        sections = source.on(self._session.clock().date()).sections
        known = await self._session.writer.do(
            self._session.frontier.listings, [*sections, source.home]
        )
        self._session.polled += [one.id for one in known]
        requests = []
        for one in known:
            if self._is_not_due(one):
                self._session.count("listings_rested")
                continue
            # If the registry names sections, the home page need not link to them.
            nesting = 1 if sections else 0
            requests.append(self._request(one, archive=False, nesting=nesting, is_section=True))
        logger.info("No feed or sitemap has recent articles: reading links of %d pages", len(known))
        return requests

    async def _read_section(
        self, response: Response, listing: _Listing, body_hash: str
    ) -> AsyncIterator[Request]:
        """Queue the links of a home or section page that look like articles.

        A home page yields requests for section pages as well; a section page yields none.
        """
        # Not `response.css`: a start tag with 300,000 attributes takes parsel more than 20 s of
        # processor time, and the parser with the limits of article pages 0.1 s.
        content_type = header(response, "Content-Type")
        try:
            links = await self.process.read(
                classify_links, response.body, response.url, content_type
            )
        except WorkStoppedError:
            return  # the crawl is closing
        except WorkExceededError as error:
            self._record_broken(listing, unusable(error), response.url)
            return
        self._session.count("listings_read")
        self._session.count("sections_read")
        if listing.nesting == 0:
            async for request in self._sections(links, listing.known):
                yield request
        found = await self._enqueue(links.articles, listing.known.id, None)
        found.newest = None
        interval = publishing_interval((), None, self._session.clock())
        await self._record(listing, _make_reading(response, body_hash, found, None, interval))

    async def _sections(self, links: ClassifiedLinks, home: KnownListing) -> AsyncIterator[Request]:
        covered = [url for url in links.sections if self._spider.covers(url)]
        frontier = self._session.frontier
        for section in await self._session.writer.do(frontier.listings, covered, home.id):
            yield self._request(section, archive=False, nesting=1, is_section=True)

    # Failures ------------------------------------------------------------------------------------

    def failed(self, failure: Failure) -> None:
        """Count and log a listing that couldn't be fetched."""
        request: Request = failure.request  # type: ignore[attr-defined]
        listing: _Listing = request.cb_kwargs["listing"]
        is_disallowed = isinstance(failure.value, DisallowedByRobotsError)
        if isinstance(failure.value, RobotsUnreachableError):
            self._session.count("listings_unreachable_robots")
        counted_as = "listings_disallowed" if is_disallowed else "listings_failed"
        self._record_broken(listing, cause_of(failure), counted_as=counted_as)

    def redirect_loop(self, request: Request) -> None:
        """Record a listing that redirects to itself, or to another one of this crawl."""
        listing: _Listing = request.cb_kwargs["listing"]
        if request.url in request.meta.get("redirect_urls", []):
            circle = Cause("redirect loop", "it redirects to itself")
            self._record_broken(listing, circle)
        else:
            frontier = self._session.frontier
            self._session.writer.later(frontier.record_unchanged, listing.known.id)

    def _record_broken(
        self,
        listing: _Listing,
        cause: Cause,
        url: str | None = None,
        counted_as: str = "listings_failed",
    ) -> None:
        url = url or listing.known.url
        self._session.count(counted_as)
        if counted_as == "listings_failed":
            self._session.count(f"listings_failed/{cause.kind}")
            self._session.note("listing_fault", cause.of(url))
        did = "use" if cause.kind == UNUSABLE else "read"
        logger.warning("Can't %s %s: %s", did, url, cause.reason)
        if not listing.is_failure_recorded:
            frontier = self._session.frontier
            self._session.writer.later(frontier.record_failure, listing.known.id)


def _make_reading(
    response: Response,
    body_hash: str,
    result: _ListingResult,
    skipped_before: datetime | None,
    interval: timedelta | None,
) -> Reading:
    return Reading(
        etag=header(response, "ETag"),
        last_modified=header(response, "Last-Modified"),
        body_hash=body_hash,
        skipped_before=skipped_before,
        entry_count=result.entry_count,
        fresh=result.fresh,
        newest_at=result.newest,
        interval=interval,
    )


def _frontier_entry(entry: Entry, url: str) -> FrontierEntry:
    return FrontierEntry(
        url=url,
        fetch_url=entry.url,
        hints=entry.hints,
        moment=entry.moment,
        modified=entry.modified,
        twin_of=main_addresses(url),
    )


def _hint_bits(hints: Hints) -> int:
    """Return which hints a listing has for an article, one bit for each."""
    return sum(bool(getattr(hints, one.name)) << place for place, one in enumerate(fields(hints)))


def newest_first(entries: Iterable[Entry]) -> list[Entry]:
    """Return the entries by date; those without a date come last, in their order."""
    return sorted(entries, key=lambda entry: -entry.moment.timestamp() if entry.moment else 0.0)


def header(response: Response, name: str) -> str | None:
    """Return a header of the response as text."""
    value = response.headers.get(name)
    return value.decode("latin-1") if value else None
