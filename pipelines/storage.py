"""Documents go into the database; at the end of a crawl, so does what came of the source."""

import logging
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, Self

from scrapy import signals
from scrapy.crawler import Crawler
from scrapy.exceptions import DropItem

from newscrawl.items import Article, Document
from newscrawl.settings import SettingError
from newscrawl.storage import Database, StorageError, UnstorableDocument, open_database
from pipelines.outcome import Counts, state_of, summary

logger = logging.getLogger(__name__)


class Unstorable(DropItem):
    """The database refuses this one document."""


class StoragePipeline:
    """Stores each document in one transaction, with the run that it belongs to."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._database: Database | None = None
        self._run = 0
        self._slug = ""

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Build the pipeline; it connects when the spider opens."""
        pipeline = cls(crawler)
        crawler.signals.connect(pipeline.spider_closed, signal=signals.spider_closed)
        return pipeline

    def open_spider(self) -> None:
        """Open the database and start a run; SettingError where that fails."""
        source = self._crawler.spider.source  # type: ignore[union-attr]
        try:
            database = open_database(self._crawler.settings["NEWSCRAWL_DATABASE_URL"])
            self._database = database
            database.register_source(
                source.slug, source.name, source.country, source.languages[0], source.home
            )
            self._run = database.start_run(source.slug)
        except StorageError as error:
            raise SettingError(str(error)) from error
        self._slug = source.slug
        self._crawler.spider.known = database.known  # type: ignore[union-attr]

    def process_item(self, document: Document) -> Document:
        """Store the document; what became of it is counted."""
        if self._database is None:
            raise RuntimeError("a document before the spider was opened")
        stats = self._crawler.stats
        if self._is_copy(document, self._database):
            stats.inc_value("newscrawl/copies")
            document = _only_address(document)
        try:
            saved = self._database.save(document, self._run)
        except UnstorableDocument as error:
            raise Unstorable(str(error)) from error
        stats.inc_value(f"newscrawl/articles_{saved.outcome}")
        stats.inc_value("newscrawl/mentions", saved.mentions)
        return document

    @staticmethod
    def _is_copy(document: Document, database: Database) -> bool:
        """Whether the page names another URL as its own, and we have what is there."""
        url = document.article.url
        return url is not None and url != document.page.url and bool(database.known([url]))

    def spider_closed(self, reason: str) -> None:
        """Record coverage and the run's end, and say in one line what came of the crawl."""
        if self._database is None or not self._run:
            return
        stats: dict[str, Any] = self._crawler.stats.get_stats()
        counts = Counts.of(stats)
        today = datetime.now(UTC)
        state, note = state_of(
            counts, today, self._crawler.settings.getint("NEWSCRAWL_RECENT_DAYS")
        )
        numbers = {name: value for name, value in stats.items() if isinstance(value, int)}
        try:
            self._database.record_coverage(
                self._slug, today.date(), state, counts.found, counts.stored, note
            )
            self._database.finish_run(self._run, reason, numbers)
        except StorageError:
            logger.exception("The end of the run could not be recorded")
        finally:
            self._database.close()
        logger.info(summary(self._slug, counts, state, note))


def _only_address(document: Document) -> Document:
    """Return a document that adds its page's address to the article and changes nothing else.

    A print view, an AMP twin or a reader's view says the same in slightly other words, which
    would otherwise count as a correction of the article.
    """
    nothing = Article(url=document.article.url, kind="other")
    return replace(document, article=nothing, mentions=())
