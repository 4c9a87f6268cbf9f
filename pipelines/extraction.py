"""A page becomes an article, or is dropped for a reason that is counted."""

import asyncio
import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Self

from scrapy.crawler import Crawler
from scrapy.exceptions import DropItem

import newscrawl
from newscrawl.extraction.language import settle_language
from newscrawl.extraction.methods import METHODS
from newscrawl.items import Article, Document, Hints, Kind, Page
from newscrawl.settings import SettingError, whole_number
from newscrawl.sources.urls import declared_url

# Pages without an article of their own, whatever text was found on them.
_NOT_ARTICLES: frozenset[Kind] = frozenset({"front", "error", "other"})
_BEFORE_ARTICLES: frozenset[Kind] = frozenset({"consent", "paywall"})
_TAG = re.compile(rb"<[!a-zA-Z]")
_SNIFFED = 4096


class NotHtml(DropItem):
    """The response holds no HTML."""


class NotAnArticle(DropItem):
    """The page holds no article: a section front, an error, a list."""


class ConsentOrPaywall(DropItem):
    """The page stands before an article of which no feed has told."""


class Empty(DropItem):
    """No text was found on the page."""


class TooShort(DropItem):
    """The text is what is left of a page without an article."""


class TooOld(DropItem):
    """The article was published before the moment given by -a since."""


class ExtractionPipeline:
    """Page → Document. Extraction runs in a thread of its own, so that downloads go on."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._method: str = crawler.settings["NEWSCRAWL_METHOD"]
        least = crawler.settings["NEWSCRAWL_MIN_CHARACTERS"]
        self._least = whole_number("NEWSCRAWL_MIN_CHARACTERS", least)
        # One thread: more would only contend for the interpreter's lock.
        self._worker = ThreadPoolExecutor(1, "extraction")

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Build the pipeline; SettingError for an unknown NEWSCRAWL_METHOD."""
        method: str = crawler.settings["NEWSCRAWL_METHOD"]
        if method not in METHODS:
            raise SettingError(f"NEWSCRAWL_METHOD={method}: use one of {', '.join(METHODS)}")
        return cls(crawler)

    def close_spider(self) -> None:
        """Let the thread go."""
        self._worker.shutdown()

    async def process_item(self, page: Page) -> Document:
        """Return the page with its article; a DropItem's class says why there is none."""
        if page.access != "open":
            return Document(page=page, article=article_of_hints(page))
        if not _TAG.search(page.html[:_SNIFFED].replace(b"\0", b"")):
            raise NotHtml("no HTML in the response" if page.html else "an empty response")
        loop = asyncio.get_running_loop()
        article = await loop.run_in_executor(self._worker, partial(_extract, page, self._method))
        if article.paywalled or article.kind in _BEFORE_ARTICLES:
            return self._paywalled(page, article)
        article = completed(article, page)
        self._check(article)
        return Document(page=page, article=article)

    def _paywalled(self, page: Page, article: Article) -> Document:
        told = page.hints
        if not told.title and article.paywalled and article.published:
            # No feed has told of it, but the page itself does, in what it says to machines.
            told = replace(
                told, title=article.title, authors=article.authors, published=article.published
            )
        if not told.title:
            raise ConsentOrPaywall(f"a {article.kind} page, and no feed tells its headline")
        self._crawler.stats.inc_value("newscrawl/pages_paywalled")
        shut = replace(page, access="paywalled", hints=told)
        return Document(page=shut, article=article_of_hints(shut))

    def _check(self, article: Article) -> None:
        if article.kind in _NOT_ARTICLES:
            raise NotAnArticle(f"the page is of the kind {article.kind!r}")
        if not article.text:
            raise Empty("no text found")
        if len(article.text) < self._least:
            raise TooShort(f"{len(article.text)} characters of text")
        since: datetime | None = getattr(self._crawler.spider, "since", None)
        if since and article.published and article.published < since:
            raise TooOld(f"published {article.published:%Y-%m-%d}")


def article_of_hints(page: Page) -> Article:
    """Return what a feed tells of an article that may not be read: headline and standfirst."""
    hints = page.hints
    told = f"{hints.title or ''} {hints.standfirst or ''}"
    return Article(
        url=page.url,
        title=hints.title,
        text=hints.standfirst or "",
        paragraphs=(hints.standfirst,) if hints.standfirst else (),
        authors=hints.authors,
        published=hints.published,
        language=settle_language(hints.language or page.language, told),
        section=hints.section,
        paywalled=True if page.access == "paywalled" else None,
        kind="paywall",
        method="feed",
    )


def completed(article: Article, page: Page) -> Article:
    """Return the article under its canonical URL, with what only the feed knew."""
    hints: Hints = page.hints
    return replace(
        article,
        url=declared_url(page.html, page.url) or page.url,
        title=article.title or hints.title,
        authors=article.authors or hints.authors,
        published=article.published or hints.published,
        section=article.section or hints.section,
        language=article.language or hints.language or page.language,
    )


def _extract(page: Page, method: str) -> Article:
    return newscrawl.extract(
        page.html, page.url, encoding=page.encoding, language=page.language, method=method
    )
