"""NewsSpider: from a source's feeds and sitemaps to its article pages."""

from collections.abc import AsyncIterator, Collection, Iterator
from dataclasses import replace
from datetime import date, datetime, timedelta
from functools import cached_property
from typing import Any, ClassVar, Self
from urllib.parse import urlsplit

from scrapy import Request, Spider, signals
from scrapy.crawler import Crawler
from scrapy.http import Response
from scrapy.settings import BaseSettings
from twisted.python.failure import Failure
from w3lib.encoding import http_content_type_encoding

from newscrawl.config import days, user_agent, whole_number
from newscrawl.crawl.conversion import REFUSALS, SinglePageParser, is_listing
from newscrawl.crawl.errors import Cause, DisallowedByRobotsError, RobotsUnreachableError, cause_of
from newscrawl.crawl.listings import Listings, header
from newscrawl.crawl.middlewares import RETRY_REASON
from newscrawl.crawl.page_queue import PageQueue, conditions
from newscrawl.crawl.session import CrawlSession, parse_arguments
from newscrawl.items import Access, ArticleItem, FetchAttempt, Hints, Page
from newscrawl.sources import Source, site_name
from newscrawl.sources.urls import address_of, canonical_if_valid
from newscrawl.storage import StorageError
from newscrawl.storage.frontier.queue import DequeuedPage

# Maximum number of days for which dated URLs are built.
MAX_DAYS = 31
_NOT_MODIFIED = 304
_CIRCLE = Cause("redirect loop", "it redirects to itself", final=True)
# A 203 is a 200 from a proxy. Of other 2xx none is a whole page: 206 is a part that nobody asked
# for, 204 and 205 are empty, and some firewalls send 202 with a challenge for browsers.
_WHOLE = frozenset({200, 203})


class NewsSpider(Spider):
    """Crawls one source; the spider loader gives each subclass its `source`.

    Its parts are `queue` (the pages to request), `listings` (feeds, sitemaps and section pages) and
    `session` (shared with middlewares and pipelines). A spider of a site overrides `is_article_url`
    (which URLs are articles) or `access_of` (which responses are paywalls).
    """

    source: ClassVar[Source]
    named_by_operator: ClassVar[bool] = False

    session: CrawlSession
    queue: PageQueue
    listings: Listings
    _single: SinglePageParser
    _recent: timedelta

    def __init__(self, **arguments: str) -> None:
        super().__init__()
        self.arguments = parse_arguments(arguments)
        self._site = site_name(self.source.home)

    @classmethod
    def update_settings(cls, settings: BaseSettings) -> None:
        """Add the contact to the user agent, wherever it was set."""
        super().update_settings(settings)
        agent = user_agent(settings.get("NEWSCRAWL_CONTACT"))
        settings.set("USER_AGENT", agent, priority="spider")

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> Self:
        """Build the spider; raise SettingError for an invalid argument or setting."""
        spider = super().from_crawler(crawler, *args, **kwargs)
        limit = whole_number("NEWSCRAWL_LIMIT", crawler.settings["NEWSCRAWL_LIMIT"])
        recent = crawler.settings["NEWSCRAWL_RECENT_DAYS"]
        spider._recent = days("NEWSCRAWL_RECENT_DAYS", recent)
        spider.session = CrawlSession.of(crawler)
        spider.session.spider = spider
        arguments = spider.arguments
        spider.queue = PageQueue(crawler, spider.article_request, arguments.limit or limit)
        spider.listings = Listings(crawler, spider, spider.queue, arguments)
        spider.queue.last_resort = spider.listings.last_resort
        spider._single = SinglePageParser(crawler, spider, spider.listings.process)
        crawler.signals.connect(spider.request_dropped, signal=signals.request_dropped)
        return spider

    @property
    def since(self) -> datetime | None:
        """Return the moment before which articles are not wanted, if one was given."""
        return self.arguments.since

    @cached_property
    def hosts(self) -> Collection[str]:
        """Return the hosts of the source's home page, feeds and sitemaps."""
        urls = (self.source.home, *self.source.feeds, *self.source.sections, *self.listing_urls)
        return {address_of(url)[0] for url in urls}

    @property
    def named_addresses(self) -> set[tuple[str, int]]:
        """Hosts and ports that the operator named, which may be private ones."""
        urls = {*self.arguments.feeds, *self.arguments.sitemaps}
        if self.named_by_operator:
            urls |= {self.source.home, *self.source.sections, *self.listing_urls}
        return set(map(address_of, urls))

    async def start(self) -> AsyncIterator[Request]:
        """Request the feeds and sitemaps, and the pages in the queue from earlier crawls."""
        if not self.settings["NEWSCRAWL_CONTACT"]:
            self.logger.warning(
                "NEWSCRAWL_CONTACT is not set; name a URL or an e-mail address under which sites "
                "can reach you"
            )
        if self.session.run is None:
            self.session.start_run_without_storage()
        # Not earlier: other commands start the spider with their own requests, without a queue.
        self.queue.start()
        recent = {*self.source.on(*self._days()).feeds, *self.arguments.feeds}
        archives = set(self.listing_urls) - recent
        try:
            async for request in self.listings.requests(self.listing_urls, archives):
                yield request
        except StorageError:
            return  # the crawl is closing
        await self.queue.refill()

    def covers(self, url: str) -> bool:
        """Return whether a URL is of this source: on its domain name under any top-level domain, or
        on a listing's host.

        The BBC's listings at bbc.co.uk lead to bbc.com as well.
        """
        if address_of(url)[0] in self.hosts:
            return True
        return self._site is not None and site_name(url) == self._site

    # Overridden by spiders of sites ----------------------------------------------------------

    def is_article_url(self, url: str) -> bool:  # noqa: ARG002 - for those who override it
        """Return whether a URL that a feed or sitemap lists may be an article."""
        return True

    def access_of(self, response: Response) -> Access:
        """Return "open" if the response is the requested page, or why it may not be read."""
        return REFUSALS.get(response.status, "open")

    # Feeds and sitemaps ----------------------------------------------------------------------

    @property
    def listing_urls(self) -> tuple[str, ...]:
        """Return the feeds and sitemaps to request, with dates filled in."""
        if self.arguments.feeds or self.arguments.sitemaps:
            return (*self.arguments.feeds, *self.arguments.sitemaps)
        source = self.source.on(*self._days())
        short = (*source.feeds, *source.news_sitemaps)
        # Ordinary sitemaps list whole archives: they are read if an archive is wanted, or if the
        # source has nothing else.
        return (*short, *source.sitemaps) if self.since or not short else short

    def _days(self) -> list[date]:
        today = self.session.clock().date()
        first = self.since.date() if self.since else today - timedelta(days=1)
        span = min((today - first).days, MAX_DAYS - 1)
        return [today - timedelta(days=back) for back in range(span + 1)]

    def oldest(self, *, archive: bool) -> datetime | None:
        """Return the moment before which pages are not wanted; `archive` lists old ones too.

        All articles of a sitemap given with -a are wanted.
        """
        recent = self.session.clock() - self._recent
        usual = recent if archive and not self.arguments.sitemaps else None
        return self.since or usual

    # Articles --------------------------------------------------------------------------------

    def article_request(self, page: DequeuedPage) -> Request:
        """Return the request for a page of the queue, conditional on a change since the last
        response."""
        return Request(
            page.fetch_url,
            headers=conditions(page.attempt.etag, page.attempt.last_modified),
            callback=self.parse_article,
            errback=self.article_failed,
            cb_kwargs={"queued": page},
            meta={"handle_httpstatus_list": [*REFUSALS, _NOT_MODIFIED], RETRY_REASON: page.again},
            dont_filter=page.again,
        )

    async def parse_article(
        self, response: Response, queued: DequeuedPage | None = None
    ) -> AsyncIterator[Page | ArticleItem | Request]:
        """Yield the page, or its hints if it may not be read."""
        if queued is None:  # `scrapy parse -c parse_article`
            async for result in self.parse(response):
                yield result
            return
        self.queue.request_finished()
        if self.access_of(response) != "open":
            queued = await self.queue.with_new_hints(queued)
        for page in self._pages(response, queued):
            yield page
        await self.queue.refill()

    def _pages(self, response: Response, queued: DequeuedPage) -> Iterator[Page]:
        attempt = replace(
            queued.attempt,
            etag=header(response, "ETag"),
            last_modified=header(response, "Last-Modified"),
        )
        if response.status == _NOT_MODIFIED and attempt.first:
            # A 304 to a request without a condition: we have no earlier copy of the page.
            cause = Cause("HTTP 304", "the server answered 304")
            self.queue.mark_failed(attempt, queued.fetch_url, cause)
            return
        if response.status == _NOT_MODIFIED:
            self.session.count("revisits_unmodified")
            self.queue.mark_done(queued.attempt, "read", "unmodified")
            return
        access = self.access_of(response)
        if access != "open":
            for page in self._from_hints(queued, access, response.status):
                yield replace(page, fetched_at=self._fetched_at(response))
            return
        if response.status not in _WHOLE:
            status = response.status
            cause = Cause(f"HTTP {status}", f"the server answered {status}, not with a whole page")
            self.queue.mark_failed(attempt, queued.fetch_url, cause)
            return
        self.session.count("pages_fetched")
        # Redirects that led to a front page lost the article.
        is_moved = response.meta.get("redirect_urls") and urlsplit(response.url).path.strip("/")
        yield Page(
            url=attempt.url,
            source=self.source.slug,
            html=response.body,
            fetched_at=self._fetched_at(response),
            encoding=http_content_type_encoding(header(response, "Content-Type")),
            language=self._language(queued.hints),
            status=response.status,
            hints=queued.hints,
            final_url=canonical_if_valid(response.url) if is_moved else None,
            attempt=attempt,
        )

    def _from_hints(self, queued: DequeuedPage, access: Access, status: int) -> Iterator[Page]:
        """Yield a page with the hints of listings, if it may not be read itself."""
        self.session.count(f"pages_{access}")
        url, hints = queued.attempt.url, queued.hints
        if not hints.title:
            self.logger.info("%s is %s, and no feed has its headline", url, access)
            self.session.count("pages_without_headline")
            self.queue.mark_done(queued.attempt, "closed", access)
            return
        yield Page(
            url=url,
            source=self.source.slug,
            html=b"",
            fetched_at=self.session.clock(),
            language=self._language(hints),
            status=status,
            access=access,
            hints=hints,
            attempt=queued.attempt,
        )

    async def article_failed(self, failure: Failure) -> AsyncIterator[Page]:
        """Record a page that couldn't be fetched; yield its hints if robots.txt forbids it."""
        request: Request = failure.request  # type: ignore[attr-defined]
        queued: DequeuedPage = request.cb_kwargs["queued"]
        self.queue.request_finished()
        if isinstance(failure.value, DisallowedByRobotsError):
            queued = await self.queue.with_new_hints(queued)
            for page in self._from_hints(queued, "disallowed", 0):
                yield page
        elif isinstance(failure.value, RobotsUnreachableError):
            self.queue.mark_deferred(queued.attempt, cause_of(failure))
        else:
            cause = cause_of(failure)
            if request.url in request.meta.get("redirect_urls", ()):
                cause = _CIRCLE
            if cause.kind == _CIRCLE.kind and queued.attempt.first:
                queued = await self.queue.with_new_hints(queued)
            if cause.kind == _CIRCLE.kind and queued.attempt.first and queued.hints.title:
                self.logger.warning("Can't fetch %s: %s", queued.fetch_url, cause.reason)
                for page in self._from_hints(queued, "unreadable", 0):
                    yield page
            else:
                self.queue.mark_failed(queued.attempt, queued.fetch_url, cause)
        await self.queue.refill()

    def request_dropped(self, request: Request) -> None:
        """Record a redirect to a URL that this crawl has requested before."""
        if "listing" in request.cb_kwargs:
            self.listings.redirect_loop(request)
            return
        if "queued" not in request.cb_kwargs:
            return  # a request of another command
        attempt: FetchAttempt = request.cb_kwargs["queued"].attempt
        before: list[str] = request.meta.get("redirect_urls", [])
        if before and request.url not in before and not self.queue.has_requested(request.url):
            # A URL that many pages redirect to is more often a login page or a notice than an
            # article.
            self.queue.follow_again(request)
            return
        if request.url in before and attempt.first:
            # The next redirect ends the request, so that the listing's hints are stored.
            last = {**request.meta, "redirect_times": self.settings.getint("REDIRECT_MAX_TIMES")}
            self.queue.follow_again(request.replace(meta=last))
            return
        self.queue.request_finished()
        if request.url in before:
            self.queue.mark_failed(attempt, before[0], _CIRCLE)
            return
        self.session.count("pages_duplicate")
        self.logger.info("%s leads to a page of this crawl: %s", attempt.url, request.url)
        self.queue.mark_done(attempt, "closed", "alias")

    def _fetched_at(self, response: Response) -> datetime:
        """Return the time of the server's response; in a replay, that of the archived one."""
        archived: datetime | None = response.meta.get("fetched_at")
        return archived or self.session.clock()

    def _language(self, hints: Hints) -> str | None:
        languages = self.source.languages
        return languages[0] if len(languages) == 1 else hints.language

    # One page by itself ----------------------------------------------------------------------

    async def parse(
        self, response: Response, hints: Hints | None = None
    ) -> AsyncIterator[ArticleItem | Request]:
        """Yield the article of a page, or requests for those that a feed or sitemap lists.

        For `scrapy parse`, contracts and the shell. A crawl takes its pages from the queue, and its
        item pipelines extract the articles.
        """
        if is_listing(response):
            for request in await self._single.listed(response, self.parse, self.arguments.limit):
                yield request
            return
        page = self._single.page(response, self.access_of(response), hints or Hints())
        if page is not None:
            async for item in self._single.article(page):
                yield item

    async def parse_newest(self, response: Response) -> AsyncIterator[ArticleItem]:
        """Yield the newest article that a feed or sitemap lists."""
        listed = await self._single.listed(response, self.parse, self.arguments.limit)
        for request in listed[:1]:
            page = await self.crawler.engine.download_async(request)
            async for item in self.parse(page, **request.cb_kwargs):
                if not isinstance(item, Request):
                    yield item
