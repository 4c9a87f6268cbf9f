"""Documents go into the database; at the end of a crawl, so does what came of the source."""

import asyncio
import logging
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import datetime
from typing import Any, Self

from scrapy import signals
from scrapy.crawler import Crawler
from scrapy.exceptions import DropItem, NotConfigured

from newscrawl.items import Article, Document
from newscrawl.settings import SettingError
from newscrawl.sources import Source
from newscrawl.storage import Database, Saved, StorageError, UnstorableDocument, open_database
from pipelines.outcome import Counts, state_of, summary

logger = logging.getLogger(__name__)

# The reason of a crawl's end.
DATABASE_FAILED = "database_failed"


class Unstorable(DropItem):
    """The database refuses this one document."""


class NotStored(DropItem):
    """The database fails; the crawl ends, and the page is met again by the next one."""


class StoragePipeline:
    """Stores each document in one transaction, with the run that it belongs to."""

    def __init__(self, crawler: Crawler, database: Database, slug: str) -> None:
        self._crawler = crawler
        self._database = database
        self._slug = slug
        self._run = 0
        self._stopping: asyncio.Task[None] | None = None
        # One thread: a database that is slow or busy must not stop the downloads.
        self._worker = ThreadPoolExecutor(1, "storage")

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Open the database, before anything is fetched; SettingError where that fails."""
        spider: Any = crawler.spider
        source = getattr(spider, "source", None)
        if not isinstance(source, Source):
            raise NotConfigured  # `scrapy shell` and `scrapy fetch` store nothing
        try:
            database = open_database(crawler.settings["NEWSCRAWL_DATABASE_URL"])
            database.register_source(
                source.slug, source.name, source.country, source.languages[0], source.home
            )
        except StorageError as error:
            raise SettingError(str(error)) from error
        spider.known = database.known
        pipeline = cls(crawler, database, source.slug)
        crawler.signals.connect(pipeline.spider_closed, signal=signals.spider_closed)
        return pipeline

    def open_spider(self) -> None:
        """Start the run."""
        self._run = self._database.start_run(self._slug)

    async def process_item(self, document: Document) -> Document:
        """Store the document; what became of it is counted."""
        loop = asyncio.get_running_loop()
        try:
            saved = await loop.run_in_executor(self._worker, self._save, document)
        except UnstorableDocument as error:
            raise Unstorable(str(error)) from error
        except StorageError as error:
            self._stop(error)
            raise NotStored(str(error)) from error
        stats = self._crawler.stats
        stats.inc_value(f"newscrawl/articles_{saved.outcome}")
        stats.inc_value("newscrawl/mentions", saved.mentions)
        return document

    def _save(self, document: Document) -> Saved:
        if self._is_copy(document):
            document = _only_address(document)
        return self._database.save(document, self._run)

    def _stop(self, error: StorageError) -> None:
        """End the crawl: what it would fetch from now on could not be kept."""
        if self._stopping is None:
            logger.critical("The crawl stops: %s", error)
            closing = self._crawler.engine.close_spider_async(reason=DATABASE_FAILED)
            self._stopping = asyncio.create_task(closing)

    def _is_copy(self, document: Document) -> bool:
        """Whether the page names another URL as its own, and we have what is there."""
        url = document.article.url
        return url is not None and url != document.page.url and bool(self._database.known([url]))

    def spider_closed(self, reason: str) -> None:
        """Record coverage and the run's end, and say in one line what came of the crawl."""
        if not self._run:
            return
        self._worker.shutdown()
        stats: dict[str, Any] = self._crawler.stats.get_stats()
        counts = Counts.of(stats)
        spider: Any = self._crawler.spider
        today: datetime = spider.clock()
        state, note = state_of(
            counts, today, self._crawler.settings.getint("NEWSCRAWL_RECENT_DAYS")
        )
        numbers = {name: value for name, value in stats.items() if isinstance(value, int)}
        try:
            self._database.record_coverage(
                self._slug, today.date(), state, counts.found, counts.stored, note
            )
            self._database.finish_run(self._run, reason, numbers)
        except StorageError as error:
            logger.critical("The end of the run is not recorded: %s", error)
        finally:
            self._database.close()
        self._crawler.stats.set_value("newscrawl/state", state)
        logger.info(summary(self._slug, counts, state, note))


def _only_address(document: Document) -> Document:
    """Return a document that adds its page's address to the article and changes nothing else.

    A print view, an AMP twin or a reader's view says the same in slightly other words, which
    would otherwise count as a correction of the article.
    """
    nothing = Article(url=document.article.url, kind="other")
    return replace(document, article=nothing, mentions=())
