"""From a source's feeds and sitemaps to its article pages."""

import asyncio
from collections.abc import AsyncIterator, Callable, Collection, Iterator
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from functools import cache
from typing import Any, ClassVar, Self
from urllib.parse import urlsplit

from scrapy import Request, signals
from scrapy.crawler import Crawler
from scrapy.exceptions import CloseSpider
from scrapy.http import Response
from scrapy.settings import BaseSettings
from twisted.python.failure import Failure
from w3lib.encoding import http_content_type_encoding

from newscrawl.config import user_agent, whole_number
from newscrawl.crawl.arguments import parse_arguments
from newscrawl.crawl.errors import Cause, DisallowedByRobotsError, RobotsUnreachableError, cause_of
from newscrawl.crawl.items import REFUSALS, page_from
from newscrawl.crawl.listings import SectionSpider, header, newest_first
from newscrawl.crawl.middlewares import AGAIN
from newscrawl.crawl.page_queue import conditions
from newscrawl.crawl.parsing import PageParser, is_listing
from newscrawl.items import Access, ArticleItem, Hints, Page, Visit
from newscrawl.reading import NoArticleError
from newscrawl.sources import (
    Entry,
    FeedError,
    Sitemap,
    SitemapError,
    Source,
    UrlError,
    canonical_url,
    site_name,
)
from newscrawl.sources.addresses import address_of
from newscrawl.sources.listings import read_listing
from newscrawl.storage import StorageError
from newscrawl.storage.frontier import DequeuedPage
from newscrawl.workers import WorkExceededError, WorkStoppedError

# Ours: requests that `scrapy parse` makes of a listing, which it prints.
PARSED_AT_MOST = 100
# Dated URLs are written out for so many days at most.
MAX_DAYS = 31
_NOT_MODIFIED = 304


def current_time() -> datetime:
    """Return the moment, as a crawl of today sees it; a replay has the archive's."""
    return datetime.now(UTC)


class NewsSpider(SectionSpider):
    """Crawls one source. The spider loader gives each subclass its `source`.

    A site that needs more overrides `wants` (which URLs are articles) or `access_of` (how to
    tell a paywall).
    """

    source: ClassVar[Source]
    named_by_operator: ClassVar[bool] = False

    def __init__(self, **given: str) -> None:
        super().__init__()
        self.arguments = parse_arguments(given)
        self.clock: Callable[[], datetime] = current_time
        urls = (self.source.home, *self.source.feeds, *self.source.sections, *self.listings)
        self._hosts = {address_of(url)[0] for url in urls}
        self._name = site_name(self.source.home)

    @classmethod
    def update_settings(cls, settings: BaseSettings) -> None:
        """Let the user agent name the contact, wherever that was set."""
        super().update_settings(settings)
        agent = user_agent(settings.get("NEWSCRAWL_CONTACT"))
        settings.set("USER_AGENT", agent, priority="spider")

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> Self:
        """Build the spider; SettingError for an argument or setting that can't work."""
        spider = super().from_crawler(crawler, *args, **kwargs)

        def number(name: str) -> int:
            return whole_number(name, crawler.settings[name])

        spider.watch_listings(crawler)
        spider._limit = spider.arguments.limit or number("NEWSCRAWL_LIMIT")
        spider._sitemaps_left = number("NEWSCRAWL_SITEMAPS")
        spider._recent = timedelta(days=number("NEWSCRAWL_RECENT_DAYS"))
        crawler.signals.connect(spider.request_dropped, signal=signals.request_dropped)
        return spider

    @property
    def since(self) -> datetime | None:
        """The moment before which articles are of no interest, where one was given."""
        return self.arguments.since

    @property
    def hosts(self) -> Collection[str]:
        """The hosts of the source's home page, feeds and sitemaps."""
        return self._hosts

    @property
    def named_addresses(self) -> set[tuple[str, int]]:
        """Hosts and ports that the operator himself named, which may be private ones."""
        urls = {*self.arguments.feeds, *self.arguments.sitemaps}
        if self.named_by_operator:
            urls |= {self.source.home, *self.source.sections, *self.listings}
        return set(map(address_of, urls))

    async def start(self) -> AsyncIterator[Request]:
        """Ask for the feeds and sitemaps, and for what waits in the queue from crawls before."""
        if not self.settings["NEWSCRAWL_CONTACT"]:
            self.logger.warning(
                "NEWSCRAWL_CONTACT is not set; name a URL or an e-mail address under which sites "
                "can reach you"
            )
        if not hasattr(self, "frontier"):
            self.logger.critical(
                "The crawl stops: its queue is in the database, and "
                "pipelines.storage.StoragePipeline is not among ITEM_PIPELINES"
            )
            raise CloseSpider("no_storage")
        # Not before: other commands have the spider start with requests of theirs, without a queue.
        self.watch_queue()
        archives = set(self.listings) - {
            *self.source.on(*self._days()).feeds,
            *self.arguments.feeds,
        }
        try:
            requests = self.listing_requests(
                self.listings, archives, only_due=self.arguments.only_due
            )
            async for request in requests:
                yield request
        except StorageError:
            return  # the crawl is being stopped
        await self.refill()

    def covers(self, url: str) -> bool:
        """Whether a URL is of this source: its name under any top-level domain, or a feed's host.

        The BBC's listings at bbc.co.uk lead to bbc.com as well.
        """
        if address_of(url)[0] in self._hosts:
            return True
        return self._name is not None and site_name(url) == self._name

    # What a site may need otherwise ----------------------------------------------------------

    def wants(self, url: str) -> bool:  # noqa: ARG002 - for those who override it
        """Whether a URL that a feed or sitemap lists may be an article."""
        return True

    def access_of(self, response: Response) -> Access:
        """Whether the response is the page that was asked for, or one that stands before it."""
        return REFUSALS.get(response.status, "open")

    # Feeds and sitemaps ----------------------------------------------------------------------

    @property
    def listings(self) -> tuple[str, ...]:
        """The feeds and sitemaps to ask for, dated ones written out."""
        if self.arguments.feeds or self.arguments.sitemaps:
            return (*self.arguments.feeds, *self.arguments.sitemaps)
        source = self.source.on(*self._days())
        short = (*source.feeds, *source.news_sitemaps)
        # Ordinary sitemaps list whole archives: for when an archive is asked for, or nothing else
        # is there.
        return (*short, *source.sitemaps) if self.since or not short else short

    def _days(self) -> list[date]:
        today = self.clock().date()
        first = self.since.date() if self.since else today - timedelta(days=1)
        span = min((today - first).days, MAX_DAYS - 1)
        return [today - timedelta(days=back) for back in range(span + 1)]

    def oldest(self, *, archive: bool) -> datetime | None:
        """Return the moment before which pages are left; an archive may be asked for by name."""
        recent = self.clock() - self._recent
        usual = recent if archive and not self.arguments.sitemaps else None
        return self.since or usual

    # Articles --------------------------------------------------------------------------------

    def article_request(self, waiting: DequeuedPage) -> Request:
        """Return the request for a page of the queue, on condition that it has changed."""
        return Request(
            waiting.fetch_url,
            headers=conditions(waiting.visit.etag, waiting.visit.last_modified),
            callback=self.parse_article,
            errback=self.article_failed,
            cb_kwargs={"waiting": waiting},
            meta={"handle_httpstatus_list": [*REFUSALS, _NOT_MODIFIED], AGAIN: waiting.again},
            dont_filter=waiting.again,
        )

    async def parse_article(
        self, response: Response, waiting: DequeuedPage | None = None
    ) -> AsyncIterator[Page | ArticleItem | Request]:
        """Yield the page, or what the feed said of it where the page is kept from us."""
        if waiting is None:  # of no queue: `scrapy parse -c parse_article`
            async for found in self.parse(response):
                yield found
            return
        self.on_its_way_no_more()
        if self.access_of(response) != "open":
            waiting = await self.with_new_hints(waiting)
        for page in self._answer(response, waiting):
            yield page
        await self.refill()

    def _answer(self, response: Response, waiting: DequeuedPage) -> Iterator[Page]:
        visit = replace(
            waiting.visit,
            etag=header(response, "ETag"),
            last_modified=header(response, "Last-Modified"),
        )
        if response.status == _NOT_MODIFIED and visit.first:
            # Of a page that we never had, and asked for without conditions.
            self.failed(visit, waiting.fetch_url, Cause("HTTP 304", "the server answered 304"))
            return
        if response.status == _NOT_MODIFIED:
            self.count("revisits_unmodified")
            self.mark_done(waiting.visit, "read", "unmodified")
            return
        access = self.access_of(response)
        if access != "open":
            told = self._instead(waiting, access, response.status)
            yield from (replace(page, fetched_at=self._fetched_at(response)) for page in told)
            return
        self.count("pages_fetched")
        yield Page(
            url=visit.url,
            source=self.source.slug,
            html=response.body,
            fetched_at=self._fetched_at(response),
            encoding=http_content_type_encoding(header(response, "Content-Type")),
            language=self._language(waiting.hints),
            status=response.status,
            hints=waiting.hints,
            final_url=self._final_url(response),
            visit=visit,
        )

    def _final_url(self, response: Response) -> str | None:
        """Return the canonical URL that redirects led to, where they led to another page."""
        if not response.meta.get("redirect_urls") or not urlsplit(response.url).path.strip("/"):
            return None
        try:
            return canonical_url(response.url)
        except UrlError:
            return None

    async def article_failed(self, failure: Failure) -> AsyncIterator[Page]:
        """Report a page that couldn't be fetched; one that mustn't be is told by its feed."""
        request: Request = failure.request  # type: ignore[attr-defined]
        waiting: DequeuedPage = request.cb_kwargs["waiting"]
        self.on_its_way_no_more()
        if isinstance(failure.value, DisallowedByRobotsError):
            waiting = await self.with_new_hints(waiting)
            for page in self._instead(waiting, "disallowed", 0):
                yield page
        elif isinstance(failure.value, RobotsUnreachableError):
            self.deferred(waiting.visit, cause_of(failure))
        else:
            self.failed(waiting.visit, waiting.fetch_url, cause_of(failure))
        await self.refill()

    def request_dropped(self, request: Request) -> None:
        """Report a redirect that leads where this crawl has been already."""
        before: list[str] = request.meta.get("redirect_urls", [])
        if "known" in request.cb_kwargs:
            self.listing_met_twice(request.cb_kwargs["known"], circle=request.url in before)
            return
        if "waiting" not in request.cb_kwargs:
            return  # of another command
        visit: Visit = request.cb_kwargs["waiting"].visit
        self.on_its_way_no_more()
        if request.url in before:
            circle = Cause("redirect loop", "it redirects in a circle", final=True)
            self.failed(visit, before[0], circle)
            return
        self.count("pages_met_twice")
        self.logger.info("%s leads to a page of this crawl: %s", visit.url, request.url)
        self.mark_done(visit, "closed", "alias")

    def _instead(self, waiting: DequeuedPage, access: Access, status: int) -> Iterator[Page]:
        self.count(f"pages_{access}")
        url, hints = waiting.visit.url, waiting.hints
        if not hints.title:
            self.logger.info("%s is %s, and no feed tells its headline", url, access)
            self.count("pages_untold")
            self.mark_done(waiting.visit, "closed", access)
            return
        yield Page(
            url=url,
            source=self.source.slug,
            html=b"",
            fetched_at=self.clock(),
            language=self._language(hints),
            status=status,
            access=access,
            hints=hints,
            visit=waiting.visit,
        )

    # One page by itself -----------------------------------------------------------------------

    async def parse(
        self, response: Response, hints: Hints | None = None
    ) -> AsyncIterator[ArticleItem | Request]:
        """Yield the article of a page, or requests for those that a feed or sitemap lists.

        For `scrapy parse`, contracts and the shell. A crawl takes its pages from the queue, and
        makes articles of them in the item pipelines.
        """
        if is_listing(response):
            for request in await self._listed(response):
                yield request
            return
        hints = hints or Hints()
        access = self.access_of(response)
        if access != "open" and not hints.title:
            self.logger.warning("%s is %s, and no feed tells its headline", response.url, access)
            return
        page = replace(
            page_from(response, self.source.slug, access=access),
            fetched_at=self._fetched_at(response),
            language=self._language(hints),
            hints=hints,
        )
        try:
            yield await asyncio.to_thread(self._parser().item, page)
        except NoArticleError as error:
            self.logger.warning("%s is dropped (%s): %s", response.url, error.reason, error)

    async def parse_newest(self, response: Response) -> AsyncIterator[ArticleItem]:
        """Yield the newest article that a feed or sitemap lists."""
        for request in (await self._listed(response))[:1]:
            page = await self.crawler.engine.download_async(request)
            async for item in self.parse(page, **request.cb_kwargs):
                if not isinstance(item, Request):
                    yield item

    async def _listed(self, response: Response) -> list[Request]:
        try:
            content_type = header(response, "Content-Type")
            listing = await self.reader.read(
                read_listing, response.body, response.url, content_type
            )
        except WorkStoppedError:
            return []  # the command is being stopped
        except (FeedError, SitemapError, WorkExceededError) as error:
            self.logger.warning("Can't use %s: it %s", response.url, error)
            return []
        most = self.arguments.limit or PARSED_AT_MOST
        entries = newest_first(listing.entries)
        wanted = [entry for entry in entries if self._may_be_article(entry, response.url)]
        if left := len(entries) - len(wanted):
            self.logger.info("%d of %d entries are left: not of this source", left, len(entries))
        # Whoever names a listing names its host, too.
        meta = {"handle_httpstatus_list": [*REFUSALS], "allow_offsite": True}
        pages = [
            Request(entry.url, callback=self.parse, cb_kwargs={"hints": entry.hints}, meta=meta)
            for entry in wanted[:most]
        ]
        children = listing.children if isinstance(listing, Sitemap) else ()
        deeper = [Request(child.url, callback=self.parse, meta=meta) for child in children[:most]]
        return pages + deeper

    def _may_be_article(self, entry: Entry, listing_url: str) -> bool:
        try:
            url = canonical_url(entry.url)
        except UrlError:
            return False
        is_near = self.covers(url) or address_of(url)[0] == address_of(listing_url)[0]
        return is_near and self.wants(entry.url)

    @cache  # noqa: B019 - a process has a spider or two
    def _parser(self) -> PageParser:  # no property: feed exports read all that a spider has
        return PageParser.of(self.settings)

    def _fetched_at(self, response: Response) -> datetime:
        """Return when the server answered, as the archive has it where there is one."""
        archived: datetime | None = response.meta.get("fetched_at")
        return archived or self.clock()

    def _language(self, hints: Hints) -> str | None:
        languages = self.source.languages
        return languages[0] if len(languages) == 1 else hints.language
