"""One page or listing for `scrapy parse`, `check` and `shell`; nothing is stored."""

import asyncio
import logging
import re
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from functools import cached_property
from typing import Any, Final

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.http import JsonResponse, Response, XmlResponse

from newscrawl.crawl.addon import companies_of, reader_of
from newscrawl.crawl.conversion import REFUSALS, article_item, page_from
from newscrawl.crawl.listings import ListingProcess, header, newest_first
from newscrawl.crawl.session import CrawlSession, SourceSpider
from newscrawl.items import Access, ArticleItem, Hints, Page
from newscrawl.mentions import with_mentions
from newscrawl.reading import NoArticleError
from newscrawl.sources import Entry, FeedError, Sitemap, SitemapError, UrlError, canonical_url
from newscrawl.sources.sitemaps import read_listing
from newscrawl.sources.urls import address_of
from newscrawl.workers import WorkExceededError, WorkStoppedError

logger = logging.getLogger(__name__)

# Ours: requests of a listing that `scrapy parse` prints and sends.
MAX_REQUESTS: Final = 100
# Ours: the root element of a listing comes after a declaration and a comment or two.
_HEAD: Final = 2_048
_ROOT: Final = re.compile(rb"<(?:\w+:)?(?:rss|feed|RDF|urlset|sitemapindex)[\s>]")
_GZIP: Final = b"\x1f\x8b"


class SinglePageParser:
    """Makes the same item of a page as a crawl, but without knowledge of other pages of the source,
    and the requests of a listing."""

    def __init__(self, crawler: Crawler, spider: SourceSpider, process: ListingProcess) -> None:
        self._crawler = crawler
        self._spider = spider
        self._process = process

    async def article(self, page: Page) -> AsyncIterator[ArticleItem]:
        """Yield the item of a page, if it has an article."""
        try:
            reader, companies = self._extraction
            document = await asyncio.to_thread(reader.read, page)
            yield article_item(with_mentions(document, companies))
        except NoArticleError as error:
            logger.warning("%s is dropped (%s): %s", page.url, error.reason, error)

    def page(self, response: Response, access: Access, hints: Hints) -> Page | None:
        """Return the page of a response; None if it may not be read and no feed lists it."""
        if access != "open" and not hints.title:
            logger.warning("%s is %s, and no feed has its headline", response.url, access)
            return None
        page = page_from(response, self._spider.source.slug, access=access)
        languages = self._spider.source.languages
        return replace(
            page,
            fetched_at=response.meta.get("fetched_at") or CrawlSession.of(self._crawler).clock(),
            language=languages[0] if len(languages) == 1 else hints.language,
            hints=hints,
        )

    async def listed(
        self, response: Response, callback: Callable[..., Any], limit: int | None
    ) -> list[Request]:
        """Return requests for the entries of a feed or sitemap, the newest article first."""
        content_type = header(response, "Content-Type")
        try:
            listing = await self._process.read(
                read_listing, response.body, response.url, content_type
            )
        except WorkStoppedError:
            return []  # the command is ending
        except (FeedError, SitemapError, WorkExceededError) as error:
            logger.warning("Can't use %s: it %s", response.url, error)
            return []
        limit = limit or MAX_REQUESTS
        entries = newest_first(listing.entries)
        chosen = [entry for entry in entries if self._may_be_article(entry, response.url)]
        if omitted := len(entries) - len(chosen):
            logger.info("%d of %d entries are not of this source", omitted, len(entries))
        # The user who names a listing on the command line allows its host, too.
        meta = {"handle_httpstatus_list": [*REFUSALS], "allow_offsite": True}
        pages = [
            Request(entry.url, callback=callback, cb_kwargs={"hints": entry.hints}, meta=meta)
            for entry in chosen[:limit]
        ]
        children = listing.children if isinstance(listing, Sitemap) else ()
        return pages + [
            Request(child.url, callback=callback, meta=meta) for child in children[:limit]
        ]

    def _may_be_article(self, entry: Entry, listing_url: str) -> bool:
        try:
            url = canonical_url(entry.url)
        except UrlError:
            return False
        is_near = self._spider.covers(url) or address_of(url)[0] == address_of(listing_url)[0]
        return is_near and self._spider.is_article_url(entry.url)

    @cached_property
    def _extraction(self) -> Any:
        settings = self._crawler.settings
        return reader_of(settings), companies_of(settings)[1]


def is_listing(response: Response) -> bool:
    """Return whether a response is a feed or a sitemap, by its type or else by its root element."""
    head = response.body[:_HEAD]
    if isinstance(response, (XmlResponse, JsonResponse)) or head.startswith(_GZIP):
        return True
    return bool(_ROOT.search(head)) and b"<html" not in head.lower()
