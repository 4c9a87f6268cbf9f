"""From a source's feeds and sitemaps to its article pages."""

import asyncio
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Iterator
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from typing import Any, ClassVar, Self

from scrapy import Request, Spider, signals
from scrapy.crawler import Crawler
from scrapy.http import Response
from scrapy.settings import BaseSettings
from twisted.python.failure import Failure
from w3lib.encoding import http_content_type_encoding

from newscrawl.items import Access, Hints, Page
from newscrawl.settings import user_agent, whole_number
from newscrawl.sources import (
    Entry,
    Feed,
    FeedError,
    Sitemap,
    SitemapError,
    Source,
    UrlError,
    canonical_url,
    parse_feed,
    parse_sitemap,
    site_name,
)
from newscrawl.sources.sitemaps import MAX_BYTES, looks_like_sitemap, unpack
from spiders.arguments import parse_arguments
from spiders.failures import Cause, cause_of
from spiders.guard import address_of
from spiders.politeness import DisallowedByRobotsError

# Answers that refuse the page itself, and what they mean for the article behind it.
REFUSALS: dict[int, Access] = {401: "paywalled", 402: "paywalled", 403: "disallowed"}
# An index that lists indexes is rare, a third level has no use.
MAX_NESTING = 2
# Dated URLs are written out for so many days at most.
MAX_DAYS = 31
_BATCH = 200


def current_time() -> datetime:
    """Return the moment, as a crawl of today sees it; a replay has the archive's."""
    return datetime.now(UTC)


def nothing_known(_urls: Collection[str]) -> set[str]:
    """Return the stored ones among canonical URLs, for a spider without a database: none."""
    return set()


class NewsSpider(Spider):
    """Crawls one source. The spider loader gives each subclass its `source`.

    A site that needs more overrides `wants` (which URLs are articles) or `access_of` (how to
    tell a paywall). `known` is set by whoever stores articles: the URLs that it need not see again.
    """

    source: ClassVar[Source]
    named_by_operator: ClassVar[bool] = False
    known: Callable[[Collection[str]], set[str]]

    def __init__(self, **given: str) -> None:
        super().__init__()
        self.arguments = parse_arguments(given)
        self.known = nothing_known
        self.clock: Callable[[], datetime] = current_time
        urls = (self.source.home, *self.source.feeds, *self.listings)
        self._hosts = {address_of(url)[0] for url in urls}
        self._name = site_name(self.source.home)
        self._seen: set[str] = set()
        self._strangers: set[str] = set()
        self._limit = 0
        self._sitemaps_left = 0
        self._recent = timedelta()

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
            urls |= {self.source.home, *self.listings}
        return set(map(address_of, urls))

    async def start(self) -> AsyncIterator[Request]:
        """Ask for the feeds and sitemaps."""
        if not self.settings["NEWSCRAWL_CONTACT"]:
            self.logger.warning(
                "NEWSCRAWL_CONTACT is not set; name a URL or an e-mail address under which sites "
                "can reach you"
            )
        for url in self.listings:
            yield self._listing_request(url, allow_offsite=True)

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

    def _listing_request(
        self, url: str, *, nesting: int = 0, allow_offsite: bool = False
    ) -> Request:
        return Request(
            url,
            callback=self.parse_listing,
            errback=self.listing_failed,
            priority=10,
            cb_kwargs={"nesting": nesting},
            meta={"download_maxsize": MAX_BYTES, "allow_offsite": allow_offsite},
        )

    async def parse_listing(self, response: Response, nesting: int) -> AsyncIterator[Request]:
        """Follow what a feed or sitemap lists."""
        try:
            # In a thread: the parsing of a long one must not stop the downloads.
            listing = await asyncio.to_thread(_read_listing, response)
        except (FeedError, SitemapError) as error:
            self._count("listings_failed")
            self.logger.warning("Can't use %s: it %s", response.url, error)
            return
        self._count("listings_read")
        self._count("urls_refused", listing.unusable)
        if isinstance(listing, Sitemap):
            if listing.damage:
                self._count("listings_damaged")
                self.logger.warning("Sitemap %s %s", response.url, listing.damage)
            for request in self._descend(listing.children, response.url, nesting + 1):
                yield request
        archive = isinstance(listing, Sitemap)
        async for request in self._follow(listing.entries, archive=archive):
            yield request

    def _descend(self, children: Collection[Entry], url: str, nesting: int) -> Iterator[Request]:
        if children and nesting > MAX_NESTING:
            self._count("listings_failed")
            self.logger.warning("Sitemap index %s is nested too deeply; it is left", url)
            return
        oldest = self._oldest(archive=True)
        for child in _newest_first(children):
            if oldest and child.modified and child.modified < oldest:
                continue
            if self._sitemaps_left <= 0:
                self._count("sitemaps_over_limit")
                continue
            self._sitemaps_left -= 1
            yield self._listing_request(child.url, nesting=nesting)

    def _oldest(self, *, archive: bool) -> datetime | None:
        """Return the moment before which pages are left; an archive may be asked for by name."""
        recent = self.clock() - self._recent
        usual = recent if archive and not self.arguments.sitemaps else None
        return self.since or usual

    def listing_failed(self, failure: Failure) -> None:
        """Count and report a feed or sitemap that couldn't be fetched."""
        request: Request = failure.request  # type: ignore[attr-defined]
        if isinstance(failure.value, DisallowedByRobotsError):
            self._count("listings_disallowed")
        else:
            self._count("listings_failed")
        self.logger.warning("Can't read %s: %s", request.url, cause_of(failure).reason)

    # Articles --------------------------------------------------------------------------------

    async def _follow(self, entries: Iterable[Entry], *, archive: bool) -> AsyncIterator[Request]:
        """Yield a request for each article that is new to us, the newest first."""
        oldest = self._oldest(archive=archive)
        waiting = _newest_first(entries)
        for start in range(0, len(waiting), _BATCH):
            if self._limit <= 0:
                self._count("over_limit", len(waiting) - start)
                return
            offered = dict(self._offered(waiting[start : start + _BATCH], oldest))
            known = await asyncio.to_thread(self.known, list(offered))
            self._count("known", len(known))
            fresh = [(url, entry) for url, entry in offered.items() if url not in known]
            asked = fresh[: self._limit]
            self._count("over_limit", len(fresh) - len(asked))
            self._limit -= len(asked)
            self._count("requested", len(asked))
            for url, entry in asked:
                yield self._article_request(url, entry)

    def _offered(
        self, entries: Iterable[Entry], oldest: datetime | None
    ) -> Iterator[tuple[str, Entry]]:
        for entry in entries:
            if entry.moment:
                self.crawler.stats.max_value("newscrawl/newest_entry", entry.moment)
            if oldest and entry.moment and entry.moment < oldest:
                self._count("too_old")
                continue
            try:
                url = canonical_url(entry.url)
            except UrlError:
                self._count("urls_refused")
                continue
            if url in self._seen or not self.wants(entry.url):
                continue
            if not self.covers(url):
                self._refuse_host(address_of(url)[0])
                continue
            self._seen.add(url)
            self._count("found")
            yield url, entry

    def _refuse_host(self, host: str) -> None:
        self._count("offsite")
        if host not in self._strangers:
            self._strangers.add(host)
            self.logger.info("Links to %s are not followed: it is another site", host)

    def _article_request(self, url: str, entry: Entry) -> Request:
        return Request(
            entry.url,
            callback=self.parse_article,
            errback=self.article_failed,
            cb_kwargs={"url": url, "hints": entry.hints},
            meta={"handle_httpstatus_list": list(REFUSALS)},
        )

    def parse_article(self, response: Response, url: str, hints: Hints) -> Iterator[Page]:
        """Yield the page, or what the feed said of it where the page is kept from us."""
        access = self.access_of(response)
        if access != "open":
            page = self._instead(url, hints, access, response.status)
            yield from (replace(told, fetched_at=self._fetched_at(response)) for told in page)
            return
        self._count("pages_fetched")
        header = response.headers.get("Content-Type", b"")
        yield Page(
            url=url,
            source=self.source.slug,
            html=response.body,
            fetched_at=self._fetched_at(response),
            encoding=http_content_type_encoding(header.decode("latin-1") if header else None),
            language=self._language(hints),
            status=response.status,
            hints=hints,
        )

    def article_failed(self, failure: Failure) -> Iterator[Page]:
        """Report a page that couldn't be fetched; one that mustn't be is told by its feed."""
        request: Request = failure.request  # type: ignore[attr-defined]
        if isinstance(failure.value, DisallowedByRobotsError):
            yield from self._instead(**request.cb_kwargs, access="disallowed", status=0)
            return
        asked: list[str] = request.meta.get("redirect_urls") or [request.url]
        self._failed(asked[0], cause_of(failure))

    def request_dropped(self, request: Request) -> None:
        """Report a redirect that leads where this crawl has been already."""
        before: list[str] = request.meta.get("redirect_urls", [])
        if request.url in before and request.callback == self.parse_listing:
            self._count("listings_failed")
            self.logger.warning("Can't read %s: it redirects in a circle", before[0])
        elif request.url in before:
            self._failed(before[0], Cause("redirect loop", "it redirects in a circle"))
        elif before:
            self._count("pages_met_twice")
            self.logger.info("%s redirects to a page of this crawl: %s", before[0], request.url)

    def _failed(self, url: str, cause: Cause) -> None:
        self._count("pages_failed")
        self._count(f"pages_failed/{cause.kind}")
        self.logger.warning("Can't fetch %s: %s", url, cause.reason)

    def _instead(self, url: str, hints: Hints, access: Access, status: int) -> Iterator[Page]:
        self._count(f"pages_{access}")
        if not hints.title:
            self.logger.info("%s is %s, and no feed tells its headline", url, access)
            self._count("pages_untold")
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
        )

    def _fetched_at(self, response: Response) -> datetime:
        """Return when the server answered, as the archive has it where there is one."""
        archived: datetime | None = response.meta.get("fetched_at")
        return archived or self.clock()

    def _language(self, hints: Hints) -> str | None:
        languages = self.source.languages
        return languages[0] if len(languages) == 1 else hints.language

    def _count(self, name: str, amount: int = 1) -> None:
        if amount:
            self.crawler.stats.inc_value(f"newscrawl/{name}", amount)


def _read_listing(response: Response) -> Feed | Sitemap:
    body = unpack(response.body)
    if looks_like_sitemap(body):
        return parse_sitemap(body, response.url)
    header = response.headers.get("Content-Type")
    content_type = header.decode("latin-1") if header else None
    return parse_feed(body, response.url, content_type=content_type)


def _newest_first(entries: Iterable[Entry]) -> list[Entry]:
    """Return the entries by date, those without one last and as they came."""
    return sorted(entries, key=lambda entry: -entry.moment.timestamp() if entry.moment else 0.0)
