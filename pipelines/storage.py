"""StoragePipeline: store documents in the database, and the result of a crawl at its end."""

import asyncio
import logging
from abc import ABC, abstractmethod
from collections.abc import Sequence
from datetime import datetime
from typing import Any, Self

from scrapy import signals
from scrapy.crawler import Crawler
from scrapy.exceptions import DropItem, NotConfigured
from scrapy.utils.spider import DefaultSpider
from twisted.python.failure import Failure

from newscrawl.archive.ingest import OriginFinder
from newscrawl.archive.reread import without_templates_of
from newscrawl.config import SettingError, days
from newscrawl.crawl.addon import own_setting
from newscrawl.crawl.commandline import STORE_NOTHING
from newscrawl.crawl.conversion import DocumentPipeline
from newscrawl.crawl.session import SQLITE_CACHE, CrawlRun, CrawlSession, SourceSpider
from newscrawl.extraction.template_memory import templates, with_pages
from newscrawl.items import Document, Page
from newscrawl.sources import load_sources, own_file
from newscrawl.storage import CoverageState, Database, SaveResult, StorageError, open_database
from newscrawl.storage.articles import LostArticle
from newscrawl.storage.batch import Batches, FinishedPage, Written, write_batch
from newscrawl.storage.frontier.queue import FetchOutcome
from newscrawl.storage.saved_state import keep_memory
from pipelines.extraction import NoArticle
from pipelines.stats import Counts, abort_note, gap_note, state_of, summary

logger = logging.getLogger(__name__)

QUARANTINED = "newscrawl/revisions_quarantined"
# Ours: pages after which the source's memory is updated, which takes as long as reading one page.
LEARNED_AT = 25


class Unstorable(DropItem):
    """The database can't store this document."""

    outcome: FetchOutcome = "closed"


class NotStored(DropItem):
    """The database fails; the crawl ends, and the next one fetches the page again."""


class DocumentStorage(DocumentPipeline, ABC):
    """Stores documents with their run; those that arrive together share a transaction."""

    def __init__(self, crawler: Crawler, database: Database) -> None:
        super().__init__(crawler)
        self._database = database
        self._session = CrawlSession.of(crawler)
        self._batches: Batches[FinishedPage, Written] = Batches(self._session.writer, self._write)

    async def process_item(self, item: Any) -> Any:
        """Store the document, count the outcome, and return the item of the document."""
        document = self.document(item)
        if document is None:
            return item
        try:
            saved = await self._batches.do(self._arrival(document))
        except StorageError as error:
            raise NotStored(str(error)) from error
        if not isinstance(saved, SaveResult):
            raise Unstorable(str(saved))
        stats = self._crawler.stats
        if saved.outcome == "quarantined":
            stats.inc_value(QUARANTINED)
        elif saved.outcome == "gone":
            stats.inc_value("newscrawl/articles_gone")
        else:
            stats.inc_value(f"newscrawl/articles_{saved.outcome}")
            stats.inc_value("newscrawl/mentions", saved.mentions)
            self._record_stored(document, saved)
        run = self._run_of(document.page.source)
        return self.pass_on(document, run=run, outcome=saved.outcome)

    def _arrival(self, document: Document) -> FinishedPage:
        return FinishedPage(document=document)

    @abstractmethod
    def _write(self, arrivals: Sequence[FinishedPage]) -> list[Written]:
        """Write a batch, in the writer's thread."""

    @abstractmethod
    def _run_of(self, source: str) -> int:
        """Return the number of the run that stores the source's articles."""

    def _record_stored(self, document: Document, saved: SaveResult) -> None:
        """Record a document that was not quarantined."""


class StoragePipeline(DocumentStorage):
    """Stores the documents of our spiders.

    Pages leave the queue in the transaction of their documents; pages without a document leave it
    by Scrapy's signals. OtherSpidersStorage is for spiders of other projects.
    """

    def __init__(self, crawler: Crawler, database: Database, spider: SourceSpider) -> None:
        super().__init__(crawler, database)
        self._source = spider.source
        # The crawl reads its pages with the session's memory; what they add to it is used by the
        # next crawl.
        self._learned = self._session.memory
        self._read: list[tuple[int, ...]] = []
        # Counted in the writer's thread; other threads read it after that thread has ended.
        self._lost = 0

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> "Self | OtherSpidersStorage":
        """Open the database before the first request; raise SettingError if that fails,
        SourceBusyError if another process crawls the source."""
        if crawler.settings.getbool(STORE_NOTHING) or isinstance(crawler.spider, DefaultSpider):
            raise NotConfigured  # `scrapy shell` and `scrapy fetch` store nothing
        session = CrawlSession.of(crawler)
        if session.spider is None:
            return OtherSpidersStorage.from_crawler(crawler)
        pipeline = cls(crawler, session.open(session.spider), session.spider)
        session.flush = pipeline._batches.flush
        crawler.signals.connect(pipeline.item_dropped, signal=signals.item_dropped)
        crawler.signals.connect(pipeline.item_error, signal=signals.item_error)
        crawler.signals.connect(pipeline.spider_closed, signal=signals.spider_closed)
        return pipeline

    def open_spider(self) -> None:
        """Start the run."""
        self._session.start_run()

    def _run_of(self, source: str) -> int:  # noqa: ARG002 - there is one
        return self._run.id

    @property
    def _run(self) -> CrawlRun:
        if self._session.run is None:
            raise RuntimeError("the spider has not been opened")
        return self._session.run

    def _record_stored(self, document: Document, saved: SaveResult) -> None:
        if saved.outcome == "new" and document.blocks:
            self._read.append(document.blocks)
            if len(self._read) >= LEARNED_AT:
                self._learn()
        if document.page.attempt and not document.page.attempt.first:
            self._crawler.stats.inc_value("newscrawl/revisits_stored")

    def _arrival(self, document: Document) -> FinishedPage:
        page = document.page
        if page.attempt is None:
            return FinishedPage(document=document)
        result = self._session.frontier.fetch_result(
            page.attempt, _outcome_of(document), "stored", published=document.article.published
        )
        return FinishedPage(document=document, result=result)

    def _write(self, arrivals: Sequence[FinishedPage]) -> list[Written]:
        results = write_batch(self._database, self._run.id, arrivals)
        for arrival, saved in zip(arrivals, results, strict=True):
            is_lost = isinstance(saved, SaveResult) and saved.outcome == "quarantined"
            self._lost += arrival.lost is not None and is_lost
        return results

    def _learn(self) -> None:
        self._learned = with_pages(self._learned, self._read)
        self._read.clear()

    def item_dropped(self, item: Any, exception: BaseException) -> None:
        """Record the outcome of a page without a document."""
        if isinstance(item, Page) and item.attempt and not isinstance(exception, NotStored):
            outcome: FetchOutcome = getattr(exception, "outcome", "read")
            lost = None
            if isinstance(exception, NoArticle) and not item.attempt.first:
                lost = LostArticle(
                    url=item.attempt.url,
                    seen_at=item.fetched_at,
                    kind=type(exception).__name__,
                    note=str(exception),
                    redirected_to=item.final_url,
                )
                outcome = "read"  # a page that was an article may be one again
            published: datetime | None = getattr(exception, "published", None)
            result = self._session.frontier.fetch_result(
                item.attempt, outcome, type(exception).__name__, published=published
            )
            self._batches.later(FinishedPage(result=result, lost=lost))

    def item_error(self, item: Any, failure: Failure) -> None:
        """Record a page on which a pipeline failed, by a bug of ours: it is retried."""
        if isinstance(item, Page) and item.attempt:
            result = self._session.frontier.fetch_result(
                item.attempt, "failed", type(failure.value).__name__
            )
            self._batches.later(FinishedPage(result=result))

    async def spider_closed(self, reason: str) -> None:
        """Record coverage and the end of the run, and log the results of the crawl in one line."""
        if self._session.run is None:
            return
        self._batches.flush()
        # While the database is locked, the crawl must still handle signals.
        await asyncio.to_thread(self._session.writer.close)
        if self._lost:
            self._crawler.stats.inc_value(QUARANTINED, self._lost)
        counts = Counts.of(self._crawler.stats.get_stats())
        today = self._session.clock()
        name = "NEWSCRAWL_RECENT_DAYS"
        recent = days(name, self._crawler.settings[name])
        state, note = state_of(counts, today, recent, abort_note=abort_note(reason))
        try:
            await asyncio.to_thread(self._record_end, reason, today, counts, (state, note))
        except StorageError as error:
            logger.critical("The end of the run is not recorded: %s", error)
            if not abort_note(reason):
                reason = "database_failed"
                state, note = state_of(counts, today, recent, abort_note=abort_note(reason))
        finally:
            self._database.close()
        self._crawler.stats.set_value("newscrawl/state", state)
        logger.info(summary(self._source.slug, counts, state, note))

    def _record_end(
        self, reason: str, today: datetime, counts: Counts, result: tuple[CoverageState, str]
    ) -> None:
        stats: dict[str, Any] = self._crawler.stats.get_stats()
        # Counts, and why listings failed.
        counts_and_faults = {
            name: value
            for name, value in stats.items()
            if isinstance(value, int) or name.startswith("newscrawl/listing_fault/")
        }
        state, note = result
        self._database.record_coverage(
            self._source.slug, today.date(), state, counts.found, counts.stored, note
        )
        if counts.gap_since and not abort_note(reason):
            days = counts.gap_since.date(), today.date()
            self._database.record_gap(self._source.slug, *days, gap_note(counts))
            for reading in self._session.late_readings:
                self._session.frontier.record_reading(*reading)
        self._session.frontier.finish(self._session.polled)
        if self._read:
            self._learn()
        if self._learned is not self._session.memory:
            keep_memory(self._database, self._source.slug, self._learned)
            began = not templates(self._session.memory).seen and templates(self._learned).seen
            if began and not abort_note(reason):
                # The first pages of a source were read without a memory.
                without_templates_of(self._database, self._source.slug, self._learned)
        ended = {"newscrawl/state": state, "newscrawl/note": note}
        self._database.finish_run(self._run.id, reason, {**counts_and_faults, **ended})
        self._session.release_lease()


class OtherSpidersStorage(DocumentStorage):
    """Stores documents of other projects' spiders.

    Their pages are in no queue, and their sources have no coverage: the number of their articles is
    unknown. A source that is not registered is registered by its name with its first article, when
    its run begins.
    """

    def __init__(self, crawler: Crawler, database: Database) -> None:
        super().__init__(crawler, database)
        self._runs: dict[str, int] = {}

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Open the database; raise SettingError if that fails."""
        try:
            url: str = own_setting(crawler.settings, "NEWSCRAWL_DATABASE_URL")
            storage = cls(crawler, open_database(url, cache=SQLITE_CACHE))
        except StorageError as error:
            raise SettingError(str(error)) from error
        crawler.signals.connect(storage.spider_closed, signal=signals.spider_closed)
        return storage

    def _run_of(self, source: str) -> int:
        return self._runs[source]

    def _write(self, arrivals: Sequence[FinishedPage]) -> list[Written]:
        results: list[Written] = [None] * len(arrivals)
        by_source: dict[str, list[int]] = {}
        for place, arrival in enumerate(arrivals):
            if (document := arrival.document) is not None:
                by_source.setdefault(document.page.source, []).append(place)
                self._begin(document)
        for source, places in by_source.items():
            batch = [arrivals[place] for place in places]
            saved = write_batch(self._database, self._runs[source], batch)
            for place, outcome in zip(places, saved, strict=True):
                results[place] = outcome
        return results

    def _begin(self, document: Document) -> None:
        slug = document.page.source
        if slug in self._runs:
            return
        file = own_file(own_setting(self._crawler.settings, "NEWSCRAWL_SOURCES"))
        sources = (*load_sources(), *(load_sources(file) if file else ()))
        source = next((source for source in sources if source.slug == slug), None)
        if source is None:
            origin = OriginFinder(()).origin(document.page.url, document.article.language)
            facts = (slug, origin.country, origin.language, origin.home)
        else:
            facts = (source.name, source.country, source.languages[0], source.home)
        self._database.register_source(slug, *facts)
        self._runs[slug] = self._database.start_run(slug, self._session.versions)

    def spider_closed(self, reason: str) -> None:
        """Record the ends of the runs."""
        self._batches.flush()
        self._session.writer.close()
        stats: dict[str, Any] = self._crawler.stats.get_stats()
        numbers = {name: value for name, value in stats.items() if isinstance(value, int)}
        try:
            for run in self._runs.values():
                self._database.finish_run(run, reason, numbers)
        except StorageError as error:
            logger.critical("The end of the run is not recorded: %s", error)
        finally:
            self._database.close()


def _outcome_of(document: Document) -> FetchOutcome:
    """Return the outcome of a page for the queue.

    A page behind a paywall stays there; one that robots.txt forbids can be checked again without a
    request. A consent page in place of an article that was read may be replaced by the article
    again.
    """
    page = document.page
    if page.access in {"open", "unreadable"} or page.status == 0:
        return "read"
    again = page.attempt is not None and not page.attempt.first
    return "read" if again and document.barrier is not None else "closed"
