"""ExtractionPipeline: extract the article of a page, or drop the page for a counted reason."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import Any, Self

from scrapy import signals
from scrapy.crawler import Crawler
from scrapy.exceptions import DropItem
from scrapy.settings import BaseSettings

from newscrawl.crawl.addon import own_setting, reader_of
from newscrawl.crawl.conversion import DocumentPipeline
from newscrawl.crawl.extraction_pool import (
    BACKLOG,
    ExtractionPool,
    WorkerConfig,
    WorkerDiedError,
    process_count,
)
from newscrawl.crawl.session import CrawlSession
from newscrawl.extraction.template_memory import templates
from newscrawl.items import Document, Page
from newscrawl.mentions import Companies
from newscrawl.reading import NoArticleError, PageReader, Reason
from newscrawl.storage.frontier.queue import FetchOutcome

# The `outcome` of a drop says whether its page is fetched again; with "read", the default, it is.


class NoArticle(DropItem):
    """The page has no article; an article that was stored from it before is kept."""


class NotHtml(NoArticle):
    """The response holds no HTML."""

    outcome: FetchOutcome = "closed"


class NotAnArticle(NoArticle):
    """The page is of another kind: a section front, an error, a list."""


class ConsentOrPaywall(NoArticle):
    """A consent page or paywall, and no feed lists the article."""


class Empty(NoArticle):
    """No text was found on the page."""


class TooShort(NoArticle):
    """The text is too short for an article."""


class TooOld(DropItem):
    """The article was published before -a since."""

    outcome: FetchOutcome = "postponed"

    def __init__(self, published: datetime) -> None:
        super().__init__(f"published {published:%Y-%m-%d}")
        self.published = published


class WorkerDied(DropItem):
    """The page ended the process that read it."""

    outcome: FetchOutcome = "crashed"


# Scrapy counts dropped items by their exception's class.
_DROPS: Mapping[Reason, type[NoArticle]] = {
    "NotHtml": NotHtml,
    "NotAnArticle": NotAnArticle,
    "ConsentOrPaywall": ConsentOrPaywall,
    "Empty": Empty,
    "TooShort": TooShort,
}


class ExtractionPipeline(DocumentPipeline):
    """Page → Document. Extraction runs outside the event loop, so that downloads continue."""

    def __init__(self, crawler: Crawler, reader: PageReader, processes: int) -> None:
        super().__init__(crawler)
        self._session = CrawlSession.of(crawler)
        self._processes = processes
        self._config = WorkerConfig(reader=reader)
        self._companies: Companies | None = None

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Build the pipeline; raise SettingError for an invalid setting."""
        settings = crawler.settings
        processes = process_count(own_setting(settings, "NEWSCRAWL_EXTRACTION_PROCESSES"))
        pipeline = cls(crawler, reader_of(settings), processes)
        if pages_pile_up(settings):
            crawler.signals.connect(pipeline.start, signal=signals.spider_opened)
        return pipeline

    def open_spider(self) -> None:
        """Read all pages of this crawl with the template memory of earlier crawls."""
        spider, memory = self._session.spider, self._session.memory
        if spider is not None and memory.pages:
            memories = {spider.source.slug: templates(memory)}
            reader = replace(self._config.reader, memories=memories)
            self._config = replace(self._config, reader=reader)

    def find_companies(self, companies: Companies, registry: Path | None) -> None:
        """Find companies where pages are read; `registry` is their file."""
        self._companies = companies
        self._config = replace(self._config, find_companies=True, registry=registry)

    def start(self) -> None:
        """Start the processes while the first listings are fetched."""
        self._pool.start()

    @cached_property
    def _pool(self) -> ExtractionPool:
        return ExtractionPool(
            self._config, self._processes, self._companies, lambda: self._session.is_closing
        )

    def close_spider(self) -> None:
        """Stop the pool."""
        self._pool.close()

    async def process_item(self, item: Any) -> Any:
        """Return a page with its article; raise a DropItem whose class is the reason if there is
        none."""
        if isinstance(item, Page):
            return self.pass_on(await self._read_page(item))
        document = self.document(item)
        return item if document is None else self.pass_on(document)

    async def _read_page(self, page: Page) -> Document:
        try:
            document = await self._pool.read(page)
        except NoArticleError as error:
            raise _DROPS[error.reason](str(error)) from error
        except WorkerDiedError as error:
            raise WorkerDied(str(error)) from error
        if document.page.access != page.access:
            self._crawler.stats.inc_value(f"newscrawl/pages_{document.page.access}")
            return document
        since = self._session.spider.since if self._session.spider else None
        published = document.article.published
        if since and published and published < since:
            raise TooOld(published)
        return await self._without_forbidden_address(document)

    async def _without_forbidden_address(self, document: Document) -> Document:
        """Return the document under the address that was fetched, if its page declares one that
        robots.txt forbids."""
        page, article = document.page, document.article
        fetched = page.final_url or page.url
        allows = self._session.allows
        if not article.url or article.url == fetched or not allows or await allows(article.url):
            return document
        article = replace(article, url=fetched)
        searched = article if document.searched == document.article else document.searched
        return replace(document, article=article, searched=searched)


def pages_pile_up(settings: BaseSettings) -> bool:
    """Return whether a crawl with these settings downloads many pages at once, without delays."""
    waits = settings.getfloat("DOWNLOAD_DELAY") or settings.getbool("AUTOTHROTTLE_ENABLED")
    return not waits and settings.getint("CONCURRENT_REQUESTS") > BACKLOG
