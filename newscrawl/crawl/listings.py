"""Feeds, sitemaps and section pages: requesting them, and queueing the pages that they list."""

import asyncio
import logging
from collections.abc import (
    AsyncIterator,
    Callable,
    Collection,
    Iterable,
    Iterator,
)
from dataclasses import dataclass, field, fields, replace
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Final, TypeVar, get_args

from scrapy import Request, signals
from scrapy.crawler import Crawler
from scrapy.http import Response
from twisted.python.failure import Failure

from newscrawl.config import days
from newscrawl.crawl.errors import (
    UNUSABLE,
    Cause,
    DisallowedByRobotsError,
    RobotsUnreachableError,
    cause_of,
    unusable,
)
from newscrawl.crawl.gaps import DAY_AND_ZONE, GapCloser, Gaps, Reach, RolledOver, addresses
from newscrawl.crawl.page_queue import PageQueue, conditions
from newscrawl.crawl.session import (
    CrawlArguments,
    CrawlSession,
    SourceSpider,
)
from newscrawl.items import Hints
from newscrawl.sources import (
    Entry,
    Feed,
    FeedError,
    Sitemap,
    SitemapError,
)
from newscrawl.sources.front_pages import classify_links
from newscrawl.sources.sitemaps import LIMITS, MAX_BYTES, read_listing
from newscrawl.sources.urls import address_of, canonical_if_valid, main_addresses
from newscrawl.storage import StorageError
from newscrawl.storage.frontier.listings import KnownListing, Reading, publishing_interval
from newscrawl.storage.frontier.queue import FrontierEntry
from newscrawl.workers import (
    Limits,
    WorkerProcess,
    WorkExceededError,
    WorkStoppedError,
    until_closing,
)

logger = logging.getLogger(__name__)

Result = TypeVar("Result")

# An index of indexes is rare; a third level has no use.
MAX_NESTING: Final = 2
# Ours: sitemaps that a crawl reads; the newest of an index come first.
MAX_SITEMAPS: Final = 30
# Google's news sitemaps list the articles of two days.
NEWS_SITEMAP_DAYS: Final = timedelta(days=2)
# Entries that are queued in one transaction.
_BATCH: Final = 200
_NOT_MODIFIED: Final = 304


class ListingProcess:
    """Parses one listing at a time, in a process with limits, outside the event loop.

    A closing crawl doesn't wait for it.
    """

    def __init__(self, crawler: Crawler, limits: Limits = LIMITS) -> None:
        self._session = CrawlSession.of(crawler)
        self._worker = WorkerProcess(limits)
        self._turn = asyncio.Lock()

        async def close() -> None:
            await asyncio.to_thread(self._worker.close)

        crawler.signals.connect(close, signal=signals.spider_closed, weak=False)

    async def read(self, work: Callable[..., Result], *arguments: object) -> Result:
        """Return the result of the work; raise its exception, WorkExceededError or
        WorkStoppedError."""
        async with self._turn:
            running = asyncio.to_thread(self._worker.run, work, *arguments)
            return await until_closing(running, lambda: self._session.is_closing, self._worker.stop)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Listing:
    """A feed, sitemap or section page to request: `known` is the result of the last reading.

    With `is_comparable`, an unchanged listing has no new entries. One that `is_fallback` is read in
    place of others, and its failure is no fault of the source. One that is read to close a gap that
    begins at `gap_since` is not compared with earlier readings, and its reading is not recorded.
    """

    known: KnownListing
    reach: Reach
    nesting: int = 0
    is_comparable: bool = False
    is_section: bool = False
    is_fallback: bool = False
    gap_since: datetime | None = None
    # Whether its failure is recorded before it is parsed.
    is_failure_recorded: bool = False


@dataclass(slots=True)
class _ListingResult:
    """The articles in a listing: `fresh` ones are new to the queue. The listing has brought
    `since_last` since its last reading; `reaches_back` if it has others that were known then."""

    urls: set[str]
    entry_count: int = 0
    fresh: int = 0
    newest: datetime | None = None
    since_last: set[str] = field(default_factory=set)
    reaches_back: bool = False


class Listings:
    """Requests feeds and sitemaps if they have changed, and queues the articles that they list.

    If none of them works, section pages are read instead. If one has rolled over, sitemaps and then
    section pages are read to close the gap.
    """

    def __init__(
        self, crawler: Crawler, spider: SourceSpider, queue: PageQueue, arguments: CrawlArguments
    ) -> None:
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
        self._sitemaps_left = MAX_SITEMAPS
        recent = "NEWSCRAWL_RECENT_DAYS"
        self._recent = days(recent, crawler.settings[recent])
        self._reads_sections = False
        self._is_named = bool(arguments.feeds or arguments.sitemaps)
        self._gaps = Gaps(crawler)
        # The feeds and sitemaps that need not be read to close a gap, and the kinds of those that
        # may still be read.
        self._requested: set[str] = set()
        self._gap_closers: Iterator[GapCloser] = iter(get_args(GapCloser))
        self._has_feeds = False
        # The pages that are read in place of feeds and sitemaps that fail.
        self._fallbacks: set[int] = set()

    async def requests(
        self, urls: Collection[str], archives: Collection[str]
    ) -> AsyncIterator[Request]:
        """Yield requests for feeds and sitemaps; `archives` list old articles too."""
        self._has_feeds = bool(urls)
        listings = await self._session.writer.do(self._session.frontier.listings, urls)
        self._session.polled = [previous.id for previous in listings]
        for previous in listings:
            if self._is_not_due(previous):
                self._count_unchanged(previous, "rested")
                continue
            if previous.checked_at:
                self._requested.add(previous.url)
            listing = _Listing(known=previous, reach=self._gaps.new_reach())
            yield self._request(listing, archive=previous.url in archives, allow_offsite=True)

    async def last_resort(self) -> list[Request]:
        """Return requests for the home page or section pages, once, if no listing works; or for
        listings that may close a gap."""
        stats = self._crawler.stats
        read = stats.get_value("newscrawl/listings_read", 0)
        rested = stats.get_value("newscrawl/listings_rested", 0)
        newest: datetime | None = stats.get_value("newscrawl/newest_entry")
        is_stale = newest is not None and self._session.clock() - newest > self._recent
        is_fruitless = is_stale or not (read or rested)
        if not self._reads_sections and not self._is_named and is_fruitless:
            self._reads_sections = True
            return await self._section_requests()
        return await self._gap_requests()

    def _is_not_due(self, listing: KnownListing) -> bool:
        """Return whether only due listings are wanted, and this one is not due."""
        schedule, now = self._session.frontier.schedule, self._session.clock()
        return self._arguments.only_due and not schedule.is_due(listing.next_poll_at, now)

    def _request(self, listing: _Listing, *, archive: bool, allow_offsite: bool = False) -> Request:
        previous = listing.known
        comparable = listing.gap_since is None and previous.covers(
            self._spider.oldest(archive=archive)
        )
        return Request(
            previous.url,
            headers=conditions(previous.etag, previous.last_modified) if comparable else {},
            callback=self.parse,
            errback=self.failed,
            priority=10,
            cb_kwargs={"listing": replace(listing, is_comparable=comparable)},
            # A listing that is read to close a gap may have been read as a page of the home page.
            dont_filter=listing.gap_since is not None,
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
        self._count_unchanged(listing.known, "read", "unchanged")
        frontier = self._session.frontier
        for child in await self._session.writer.do(frontier.children, listing.known.id):
            if self._sitemaps_left > 0:
                self._sitemaps_left -= 1
                child_listing = replace(listing, known=child, nesting=listing.nesting + 1)
                yield self._request(child_listing, archive=True)
        self._session.writer.later(frontier.record_unchanged, listing.known.id)
        self._poll_again(listing)

    def _count_unchanged(self, listing: KnownListing, *counted_as: str) -> None:
        for name in counted_as:
            self._session.count(f"listings_{name}")
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
        if listing.is_fallback or (not frontier.careful and not listing.known.failures):
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
        entries = parsed.entries
        if listing.gap_since:
            entries = await self._gaps.missed(entries, listing.reach, listing.gap_since)
            skipped_before = None
        result = await self._enqueue(entries, listing, skipped_before)
        # What a news sitemap, which lists two days, had at its last reading has become older since.
        oldest, last = self._session.clock() - NEWS_SITEMAP_DAYS, listing.known
        if isinstance(parsed, Sitemap) and last.newest_at and last.checked_at:
            result.reaches_back |= last.newest_at < oldest < last.checked_at
        moments = [entry.moment for entry in parsed.entries if entry.moment]
        interval_of_feed = parsed.interval if isinstance(parsed, Feed) else None
        interval = publishing_interval(moments, interval_of_feed, self._session.clock())
        reading = _make_reading(response, body_hash, result, skipped_before, interval)
        await self._record(listing, reading, result)

    async def _record(self, listing: _Listing, reading: Reading, result: _ListingResult) -> None:
        """Record the reading last, so that a crawl that is killed before repeats it; that of a
        listing that has rolled over with the gap."""
        previous, frontier = listing.known, self._session.frontier
        if listing.gap_since:
            return
        has_rolled = previous.entry_count and result.since_last and not result.reaches_back
        if previous.checked_at and has_rolled and not listing.is_fallback:
            rolled = RolledOver(
                listing_id=previous.id,
                url=previous.url,
                since=previous.checked_at,
                reading=reading,
                articles=result.since_last,
                reach=listing.reach,
            )
            self._gaps.add(rolled)
            return
        await self._session.writer.do(frontier.record_reading, previous.id, reading)
        self._poll_again(listing)

    def _poll_again(self, listing: _Listing) -> None:
        """Let the source be due with a fallback that works."""
        if listing.known.id in self._fallbacks:
            self._session.polled.append(listing.known.id)

    async def _descend(
        self, children: Collection[Entry], index: _Listing
    ) -> AsyncIterator[Request]:
        nesting = index.nesting + 1
        if children and nesting > MAX_NESTING:
            deep = unusable(SitemapError("is nested too deeply; it is not followed"))
            self._record_broken(replace(index, is_failure_recorded=False), deep)
            return
        oldest = self._spider.oldest(archive=True)
        if index.gap_since:
            oldest = index.gap_since - DAY_AND_ZONE
        chosen: dict[str, Entry] = {}
        for child in newest_first(children):
            if oldest and child.modified and child.modified < oldest:
                continue
            if len(chosen) == self._sitemaps_left:
                self._session.count("sitemaps_over_limit")
                continue
            chosen[child.url] = child
        self._sitemaps_left -= len(chosen)
        frontier = self._session.frontier
        for previous in await self._session.writer.do(
            frontier.listings, list(chosen), index.known.id
        ):
            modified = chosen[previous.url].modified
            if (
                modified
                and previous.checked_at
                and previous.checked_at - modified > DAY_AND_ZONE
                and previous.covers(oldest)
                and not index.gap_since
            ):
                self._count_unchanged(previous, "read", "unchanged")
                continue
            yield self._request(replace(index, known=previous, nesting=nesting), archive=True)

    # Into the queue ----------------------------------------------------------------------------

    async def _enqueue(
        self, entries: Iterable[Entry], listing: _Listing, oldest: datetime | None
    ) -> _ListingResult:
        """Queue the articles that are new."""
        result = _ListingResult(urls=listing.reach.urls)
        newest = newest_first(entries)
        writer, frontier = self._session.writer, self._session.frontier
        for start in range(0, len(newest), _BATCH):
            repeated: list[FrontierEntry] = []
            batch = newest[start : start + _BATCH]
            new = list(self._new_entries(batch, oldest, result, repeated))
            if repeated:
                await writer.do(frontier.add_hints, repeated)
            enqueued = await writer.do(frontier.enqueue, listing.known.id, new)
            self._session.count("known", enqueued.known)
            self._session.count("revisits_announced", enqueued.changed)
            result.fresh += enqueued.fresh
            await self._compare(batch, listing, result)
            await self._queue.refill()
        return result

    async def _compare(
        self, entries: Iterable[Entry], listing: _Listing, result: _ListingResult
    ) -> None:
        """Compare the entries with the last reading of their listing."""
        last, newest = listing.known.checked_at, listing.known.newest_at
        if last is None or listing.gap_since or result.reaches_back:
            return
        urls = addresses(entries, newest and min(newest, last))
        frontier = self._session.frontier
        overlap = await self._session.writer.do(frontier.overlap, listing.known.id, urls, last)
        result.since_last |= overlap.since
        result.reaches_back = bool(overlap.before)
        listing.reach.reaches_back |= result.reaches_back

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
            url = canonical_if_valid(entry.url)
            if url is None:
                self._session.count("urls_refused")
                continue
            if not self._spider.is_article_url(entry.url):
                continue
            hints = _hint_bits(entry.hints)
            result.urls.add(url)
            if url in self._seen:
                if hints & ~self._seen[url]:
                    self._seen[url] |= hints
                    repeated.append(_frontier_entry(entry, url))
                continue
            if not self._spider.covers(url):
                self._session.count("offsite")
                host = address_of(url)[0]
                if host not in self._other_sites:
                    self._other_sites.add(host)
                    logger.info("Links to %s are not followed: it is another site", host)
                continue
            self._seen[url] = hints
            self._session.count("found")
            result.entry_count += 1
            yield _frontier_entry(entry, url)

    # Section pages -----------------------------------------------------------------------------

    async def _section_requests(self, gap_since: datetime | None = None) -> list[Request]:
        source = self._spider.source
        sections = source.on(self._session.clock().date()).sections
        pages = await self._session.writer.do(
            self._session.frontier.listings, [*sections, source.home]
        )
        if gap_since is None:
            logger.info("No feed or sitemap has recent articles: reading %d pages", len(pages))
            if self._has_feeds:
                self._fallbacks = {page.id for page in pages}
            else:
                self._session.count("sections_only")
                self._session.polled += [page.id for page in pages]
        requests = []
        for page in pages:
            listing = _Listing(
                known=page,
                reach=self._gaps.new_reach(is_section=True),
                # If the registry names sections, the home page need not link to them.
                nesting=1 if sections else 0,
                is_section=True,
                is_fallback=self._has_feeds or gap_since is not None,
                gap_since=gap_since,
            )
            if gap_since is None and self._is_not_due(page):
                self._count_unchanged(page, "rested")
                self._poll_again(listing)
                continue
            requests.append(self._request(listing, archive=False))
        return requests

    async def _read_section(
        self, response: Response, listing: _Listing, body_hash: str
    ) -> AsyncIterator[Request]:
        """Queue the links of a home or section page that look like articles.

        A home page yields requests for section pages as well; a section page yields none.
        """
        # Not `response.css`: without the limits of article pages, 300,000 attributes in a tag take
        # parsel more than 20 s of processor time.
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
            urls = [url for url in links.sections if self._spider.covers(url)]
            frontier = self._session.frontier
            sections = await self._session.writer.do(frontier.listings, urls, listing.known.id)
            for section in sections:
                yield self._request(replace(listing, known=section, nesting=1), archive=False)
        if listing.gap_since:
            await self._gaps.reach_back(links.articles, listing.reach, listing.gap_since)
        result = await self._enqueue(links.articles, listing, None)
        result.newest = None
        interval = publishing_interval((), None, self._session.clock())
        reading = _make_reading(response, body_hash, result, None, interval)
        await self._record(listing, reading, result)

    # Gaps ----------------------------------------------------------------------------------------

    async def _gap_requests(self) -> list[Request]:
        """Return requests for the next listings that may close a gap; settle the gaps when they are
        closed, or no such listing is left.

        After killed crawls nothing is read that isn't necessary; the next crawl finds the gap.
        """
        if self._session.frontier.careful:
            return []
        while not self._is_named and await self._gaps.are_open():
            kind = next(self._gap_closers, None)
            if kind is None:
                break
            if requests := await self._closing_requests(kind):
                return requests
        await self._gaps.settle()
        return []

    async def _closing_requests(self, kind: GapCloser) -> list[Request]:
        since = self._gaps.since
        if kind == "sections":
            return [] if self._reads_sections else await self._section_requests(since)
        urls = await self._gaps.sitemaps(kind, self._spider.source)
        urls = [url for url in urls if url not in self._requested][: self._sitemaps_left]
        self._requested.update(urls)
        self._sitemaps_left -= len(urls)
        requests = []
        for sitemap in await self._session.writer.do(self._session.frontier.listings, urls):
            listing = _Listing(
                known=sitemap, reach=self._gaps.new_reach(), is_fallback=True, gap_since=since
            )
            is_registered = kind != "stated_sitemaps"
            requests.append(self._request(listing, archive=True, allow_offsite=is_registered))
        return requests

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
        elif not listing.gap_since:
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
        did = "use" if cause.kind == UNUSABLE else "read"
        logger.warning("Can't %s %s: %s", did, url, cause.reason)
        if listing.is_fallback:
            self._session.count("fallbacks_failed")
            return
        self._session.count(counted_as)
        if counted_as == "listings_failed":
            self._session.count(f"listings_failed/{cause.kind}")
            self._session.note("listing_fault", cause.of(url))
            self._session.note(f"listing_fault/{listing.known.id}", cause.of(url))
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
    return sum(bool(getattr(hints, hint.name)) << place for place, hint in enumerate(fields(hints)))


def newest_first(entries: Iterable[Entry]) -> list[Entry]:
    """Return the entries by date; those without a date come last, in their order."""
    return sorted(entries, key=lambda entry: -entry.moment.timestamp() if entry.moment else 0.0)


def header(response: Response, name: str) -> str | None:
    """Return a header of the response as text."""
    value = response.headers.get(name)
    return value.decode("latin-1") if value else None
