"""Convert responses to pages, documents to the items of feed exports, and items to documents; and
the base class of our pipelines, which does so between them."""

import asyncio
import logging
import re
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from datetime import UTC, datetime
from functools import cached_property
from typing import Any, Final

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.exceptions import DropItem
from scrapy.http import JsonResponse, Response, XmlResponse
from w3lib.encoding import http_content_type_encoding

from newscrawl.crawl.addon import companies_of, reader_of
from newscrawl.crawl.listings import ListingProcess, header, newest_first
from newscrawl.crawl.session import CrawlSession, SourceSpider
from newscrawl.items import (
    Access,
    Article,
    ArticleItem,
    Document,
    Hints,
    Mention,
    MentionItem,
    Outcome,
    Page,
    Place,
    Section,
    copy_fields,
)
from newscrawl.mentions import with_mentions
from newscrawl.reading import NoArticleError
from newscrawl.sources import FeedError, Sitemap, SitemapError
from newscrawl.sources.sitemaps import read_listing
from newscrawl.sources.urls import address_of, canonical_if_valid
from newscrawl.storage.documents import clean
from newscrawl.workers import WorkExceededError, WorkStoppedError

# Status codes with which a server refuses a page, and the access of its article.
REFUSALS: dict[int, Access] = {401: "paywalled", 402: "paywalled", 403: "refused"}
_PLACES: dict[Section, Place] = {"title": "headline", "body": "body"}
_SECTIONS: dict[Place, Section] = {"headline": "title", "body": "body"}


def page_from(response: Response, source: str, *, access: Access = "open") -> Page:
    """Return the page of a response, for any spider: `yield page_from(response, "mysite")`.

    `source` is the name under which its articles are stored. A page that may not be read, with
    another `access` than "open", has no bytes.
    """
    requested: list[str] = response.meta.get("redirect_urls", []) if response.request else []
    content_type = response.headers.get("Content-Type") or b""
    url = requested[0] if requested else response.url
    return Page(
        url=canonical_if_valid(url) or url,
        source=source,
        html=response.body if access == "open" else b"",
        fetched_at=datetime.now(UTC),
        encoding=http_content_type_encoding(content_type.decode("latin-1")),
        status=response.status,
        access=access,
        final_url=(canonical_if_valid(response.url) or response.url) if requested else None,
    )


def article_item(
    document: Document, *, run: int | None = None, outcome: Outcome | None = None
) -> ArticleItem:
    """Return a document as an item for feed exports, in characters that databases accept too."""
    page, article = document.page, document.article
    return copy_fields(
        ArticleItem,
        article,
        url=clean(page.url),
        canonical_url=clean(article.url or page.url),
        source=page.source,
        title=_clean(article.title),
        text=clean(article.text),
        authors=tuple(map(clean, article.authors)),
        language=_clean(article.language),
        section=_clean(article.section),
        access=page.access,
        mentions=tuple(
            copy_fields(
                MentionItem,
                mention,
                form=clean(mention.surface),
                place=_PLACES[mention.section],
            )
            for mention in document.mentions
        ),
        fetched_at=page.fetched_at,
        run=run,
        outcome=outcome,
    )


def _clean(text: str | None) -> str | None:
    return None if text is None else clean(text)


def document_from(item: ArticleItem) -> Document:
    """Return the document of an item from a spider with its own extraction."""
    article = Article(
        url=item.canonical_url,
        title=item.title,
        text=item.text,
        paragraphs=tuple(part for part in item.text.split("\n\n") if part),
        authors=tuple(item.authors),
        published=item.published,
        modified=item.modified,
        language=item.language,
        section=item.section,
        paywalled=True if item.access == "paywalled" else None,
        kind=item.kind,
        method="item",
        confidence=item.confidence,
    )
    page = Page(
        url=item.url,
        source=item.source,
        html=b"",
        fetched_at=item.fetched_at or datetime.now(UTC),
        language=item.language,
        access=item.access,
    )
    mentions = tuple(
        copy_fields(Mention, mention, surface=mention.form, section=_SECTIONS[mention.place])
        for mention in item.mentions
    )
    return Document(page=page, article=article, mentions=mentions)


class UnreadPage(DropItem):
    """A page without an article reached a pipeline that needs the article."""

    # The outcome for the queue: the page is retried.
    outcome: Final = "failed"

    def __init__(self, pipeline: object) -> None:
        super().__init__(
            f"{type(pipeline).__name__} needs an article: put "
            "pipelines.extraction.ExtractionPipeline before it in ITEM_PIPELINES"
        )


class DocumentPipeline:
    """Processes documents and items; other values are passed on unchanged.

    Our pipelines pass documents on to each other; the last of them passes an ArticleItem to other
    pipelines and to feed exports.
    """

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler

    def document(self, item: Any) -> Document | None:
        """Return the document that an item is or describes; None for an item of other projects.

        Raise UnreadPage for a page without its article.
        """
        if isinstance(item, Page):
            raise UnreadPage(self)
        if isinstance(item, ArticleItem):
            return document_from(item)
        return item if isinstance(item, Document) else None

    def pass_on(
        self, document: Document, *, run: int | None = None, outcome: Outcome | None = None
    ) -> Document | ArticleItem:
        """Return the document, or its item after the last of our pipelines."""
        if self._is_followed:
            return document
        return article_item(document, run=run, outcome=outcome)

    @cached_property
    def _is_followed(self) -> bool:
        scraper: Any = self._crawler.engine.scraper
        ours = [
            pipeline
            for pipeline in scraper.itemproc.middlewares
            if isinstance(pipeline, DocumentPipeline)
        ]
        return ours[-1] is not self


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
        host = address_of(response.url)[0]
        chosen = [
            entry
            for entry in entries
            if (url := canonical_if_valid(entry.url)) is not None
            and (self._spider.covers(url) or address_of(url)[0] == host)
            and self._spider.is_article_url(entry.url)
        ]
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
