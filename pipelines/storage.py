"""Documents go into the database; at the end of a crawl, so does what came of the source."""

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any, Self

from scrapy import signals
from scrapy.crawler import Crawler
from scrapy.exceptions import DropItem, NotConfigured
from scrapy.settings import BaseSettings
from scrapy.utils.spider import DefaultSpider
from twisted.python.failure import Failure

from newscrawl.archive.page_processor import OriginFinder
from newscrawl.config import SettingError, duration, durations
from newscrawl.crawl.commandline import STORE_NOTHING
from newscrawl.crawl.extensions import CrawlLease, lease_length
from newscrawl.crawl.pipelines import DocumentPipeline, own_setting
from newscrawl.crawl.shutdown import ended_by_signals
from newscrawl.extraction.template_memory import with_pages
from newscrawl.items import Document, Memory, Page
from newscrawl.sources import Source, load_sources
from newscrawl.storage import CoverageState, Database, Saved, StorageError, open_database
from newscrawl.storage.batch import FinishedPage, Written, write_batch
from newscrawl.storage.frontier import FetchOutcome, Frontier, Schedule, open_frontier
from newscrawl.storage.memory import keep_memory, memory_of
from newscrawl.storage.saving import LostArticle
from newscrawl.storage.writing import Batches, Writer
from pipelines.extraction import NoArticle
from pipelines.stats import Counts, broken_off, state_of, summary

logger = logging.getLogger(__name__)

# The reason of a crawl's end.
DATABASE_FAILED = "database_failed"
QUARANTINED = "newscrawl/revisions_quarantined"
# Ours, in KiB, of each crawl: four times as much, which helps whoever writes by the thousand, is
# full after 5,000 pages (make bench-crawl).
SQLITE_CACHE = 16_384
# Ours: pages after which the source's memory learns from them, since it takes one page as long.
LEARNED_AT = 25


class Unstorable(DropItem):
    """The database refuses this one document."""

    outcome: FetchOutcome = "closed"


class NotStored(DropItem):
    """The database fails; the crawl ends, and the page is met again by the next one."""


class DocumentStorage(DocumentPipeline):
    """Stores documents, those of a moment in one transaction, with the run that they belong to."""

    def __init__(self, crawler: Crawler, database: Database) -> None:
        super().__init__(crawler)
        self._database = database
        self._stopping: asyncio.Task[None] | None = None
        # A database that is slow or busy must not stop the downloads.
        self._writer = Writer(self._stop)
        self._arrivals: Batches[FinishedPage, Written] = Batches(self._writer, self._write)

    async def process_item(self, item: Any) -> Any:
        """Store the document, and return the item that it becomes; what became of it is counted."""
        document = self.document(item)
        if document is None:
            return item
        try:
            saved = await self._arrivals.do(self._arrival(document))
        except StorageError as error:
            raise NotStored(str(error)) from error
        if not isinstance(saved, Saved):
            raise Unstorable(str(saved))
        stats = self._crawler.stats
        if saved.outcome == "quarantined":
            stats.inc_value(QUARANTINED)
        else:
            stats.inc_value(f"newscrawl/articles_{saved.outcome}")
            stats.inc_value("newscrawl/mentions", saved.mentions)
            self._stored(document, saved)
        run = self._run_of(document.page.source)
        return self.pass_on(document, run=run, outcome=saved.outcome)

    def _arrival(self, document: Document) -> FinishedPage:
        return FinishedPage(document=document)

    def _write(self, arrivals: Sequence[FinishedPage]) -> list[Written]:
        """Write a batch, in the writer's thread."""
        raise NotImplementedError

    def _run_of(self, source: str) -> int:
        """Return the number of the run that stores the source's articles."""
        raise NotImplementedError

    def _stored(self, document: Document, saved: Saved) -> None:
        """Hear of a document that was not put into quarantine."""

    def _stop(self, error: StorageError) -> None:
        """End the crawl: what it would fetch from now on could not be kept."""
        if self._stopping is None:
            logger.critical("The crawl stops: %s", error)
            closing = self._crawler.engine.close_spider_async(reason=DATABASE_FAILED)
            self._stopping = asyncio.create_task(closing)


class StoragePipeline(DocumentStorage):
    """Stores what a spider of ours yields.

    In the same transaction as their documents, pages leave the queue; those that no document came
    of leave it by the signals of their end. For spiders of others, it is OtherSpidersStorage.
    """

    frontier: Frontier

    def __init__(self, crawler: Crawler, database: Database, slug: str) -> None:
        """The crawl's pages are read with `memory`; what they teach is for the next crawl."""
        super().__init__(crawler, database)
        self.memory = memory_of(database, slug)
        self._learned: Memory = self.memory
        self._read: list[tuple[int, ...]] = []
        self._slug = slug
        self._schedule = schedule_of(crawler.settings)
        self._run = 0
        self._lease = CrawlLease(crawler, database, slug)
        # Counted by the writer's thread, which has ended when it is read.
        self._lost = 0

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> "Self | OtherSpidersStorage":
        """Open the database, before anything is fetched; SettingError where that fails, and
        SourceBusyError where another process crawls the source."""
        if crawler.settings.getbool(STORE_NOTHING) or isinstance(crawler.spider, DefaultSpider):
            raise NotConfigured  # `scrapy shell` and `scrapy fetch` store nothing
        source = getattr(crawler.spider, "source", None)
        if not isinstance(source, Source):
            return OtherSpidersStorage.from_crawler(crawler)
        schedule_of(crawler.settings)
        lease_length(crawler.settings["NEWSCRAWL_LEASE"])
        try:
            with ended_by_signals():
                pipeline = cls._opened(crawler, source)
        except StorageError as error:
            raise SettingError(str(error)) from error
        spider: Any = crawler.spider
        spider.memory = pipeline.memory
        crawler.signals.connect(pipeline.item_dropped, signal=signals.item_dropped)
        crawler.signals.connect(pipeline.item_error, signal=signals.item_error)
        crawler.signals.connect(pipeline.spider_closed, signal=signals.spider_closed)
        return pipeline

    @classmethod
    def _opened(cls, crawler: Crawler, source: Source) -> Self:
        url: str = crawler.settings["NEWSCRAWL_DATABASE_URL"]
        database = open_database(url, cache=SQLITE_CACHE)
        database.register_source(
            source.slug, source.name, source.country, source.languages[0], source.home
        )
        pipeline = cls(crawler, database, source.slug)
        pipeline._lease.take()
        database.patience.hurried = lambda: not crawler.crawling or pipeline._stopping is not None
        return pipeline

    def open_spider(self) -> None:
        """Start the run, and give the spider its queue."""
        spider: Any = self._crawler.spider
        with ended_by_signals():
            self._run = self._database.start_run(self._slug)
            frontier = open_frontier(self._database, self._slug, self._run, self._schedule)
        self.frontier = spider.frontier = replace(
            frontier, clock=spider.clock, began=spider.clock()
        )
        spider.writer = self._writer
        spider.settle_all = self._arrivals.flush

    def _run_of(self, source: str) -> int:  # noqa: ARG002 - there is one
        return self._run

    def _stored(self, document: Document, saved: Saved) -> None:
        if saved.outcome == "new" and document.blocks:
            self._read.append(document.blocks)
            if len(self._read) >= LEARNED_AT:
                self._learn()
        if document.page.visit and not document.page.visit.first:
            self._crawler.stats.inc_value("newscrawl/revisits_stored")

    def _arrival(self, document: Document) -> FinishedPage:
        page = document.page
        if page.visit is None:
            return FinishedPage(document=document)
        result = self.frontier.fetch_result(
            page.visit, _outcome_of(document), "stored", published=document.article.published
        )
        return FinishedPage(document=document, result=result)

    def _write(self, arrivals: Sequence[FinishedPage]) -> list[Written]:
        written = write_batch(self._database, self._run, arrivals)
        for arrival, saved in zip(arrivals, written, strict=True):
            self._lost += arrival.lost is not None and saved is not None
        return written

    def _learn(self) -> None:
        self._learned = with_pages(self._learned, self._read)
        self._read.clear()

    def item_dropped(self, item: Any, exception: BaseException) -> None:
        """Settle a page of which no document came."""
        if isinstance(item, Page) and item.visit and not isinstance(exception, NotStored):
            outcome: FetchOutcome = getattr(exception, "outcome", "read")
            lost = None
            if isinstance(exception, NoArticle) and not item.visit.first:
                lost = _lost(item, exception)
                outcome = "read"  # what was an article once may be one again
            published: datetime | None = getattr(exception, "published", None)
            result = self.frontier.fetch_result(
                item.visit, outcome, type(exception).__name__, published=published
            )
            self._arrivals.later(FinishedPage(result=result, lost=lost))

    def item_error(self, item: Any, failure: Failure) -> None:
        """Settle a page on which a pipeline failed, by a mistake of ours: it is tried again."""
        if isinstance(item, Page) and item.visit:
            result = self.frontier.fetch_result(item.visit, "failed", type(failure.value).__name__)
            self._arrivals.later(FinishedPage(result=result))

    async def spider_closed(self, reason: str) -> None:
        """Record coverage and the run's end, and say in one line what came of the crawl."""
        if not self._run:
            return
        self._arrivals.flush()
        # A database that is busy must not make the crawl deaf to signals.
        await asyncio.to_thread(self._writer.close)
        if self._lost:
            self._crawler.stats.inc_value(QUARANTINED, self._lost)
        counts = Counts.of(self._crawler.stats.get_stats())
        spider: Any = self._crawler.spider
        today: datetime = spider.clock()
        recent = self._crawler.settings.getint("NEWSCRAWL_RECENT_DAYS")
        state, note = state_of(counts, today, recent, broken_off=broken_off(reason))
        try:
            await asyncio.to_thread(self._record_end, reason, today, counts, (state, note))
        except StorageError as error:
            logger.critical("The end of the run is not recorded: %s", error)
            if not broken_off(reason):
                reason = DATABASE_FAILED
                state, note = state_of(counts, today, recent, broken_off=broken_off(reason))
        finally:
            self._database.close()
        self._crawler.stats.set_value("newscrawl/state", state)
        logger.info(summary(self._slug, counts, state, note))

    def _record_end(
        self, reason: str, today: datetime, counts: Counts, found: tuple[CoverageState, str]
    ) -> None:
        spider: Any = self._crawler.spider
        stats: dict[str, Any] = self._crawler.stats.get_stats()
        numbers = {name: value for name, value in stats.items() if isinstance(value, int)}
        state, note = found
        self._database.record_coverage(
            self._slug, today.date(), state, counts.found, counts.stored, note
        )
        self.frontier.finish(spider.polled)
        if self._read:
            self._learn()
        if self._learned is not self.memory:
            keep_memory(self._database, self._slug, self._learned)
        self._database.finish_run(self._run, reason, numbers)
        self._lease.give_back()


class OtherSpidersStorage(DocumentStorage):
    """Stores what spiders of other projects yield. Their pages stand in no queue, and their
    sources have no coverage: nobody knows what there was to be read.

    A source that nobody has registered is registered by its name, when the first of its articles
    comes; its run begins then, too.
    """

    def __init__(self, crawler: Crawler, database: Database) -> None:
        super().__init__(crawler, database)
        self._runs: dict[str, int] = {}

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Open the database; SettingError where that fails."""
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
        written: list[Written] = [None] * len(arrivals)
        by_source: dict[str, list[int]] = {}
        for place, arrival in enumerate(arrivals):
            if (document := arrival.document) is not None:
                by_source.setdefault(document.page.source, []).append(place)
                self._begin(document)
        for source, places in by_source.items():
            batch = [arrivals[place] for place in places]
            saved = write_batch(self._database, self._runs[source], batch)
            for place, one in zip(places, saved, strict=True):
                written[place] = one
        return written

    def _begin(self, document: Document) -> None:
        slug = document.page.source
        if slug in self._runs:
            return
        own_file = own_setting(self._crawler.settings, "NEWSCRAWL_SOURCES")
        sources = (*load_sources(), *(load_sources(Path(own_file)) if own_file else ()))
        known = next((source for source in sources if source.slug == slug), None)
        if known is None:
            origin = OriginFinder(()).origin(document.page.url, document.article.language)
            facts = (slug, origin.country, origin.language, origin.home)
        else:
            facts = (known.name, known.country, known.languages[0], known.home)
        self._database.register_source(slug, *facts)
        self._runs[slug] = self._database.start_run(slug)

    def spider_closed(self, reason: str) -> None:
        """Record the ends of the runs."""
        self._arrivals.flush()
        self._writer.close()
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
    """A page behind a paywall stays there; one that robots.txt forbids costs nothing to ask for.

    A consent page in the place of an article that was read may give way to it again.
    """
    page = document.page
    if page.access == "open" or page.status == 0:
        return "read"
    again = page.visit is not None and not page.visit.first
    return "read" if again and document.barrier is not None else "closed"


def _lost(page: Page, why: NoArticle) -> LostArticle:
    return LostArticle(
        url=page.visit.url if page.visit else page.url,
        seen_at=page.fetched_at,
        kind=type(why).__name__,
        note=str(why),
    )


def schedule_of(settings: BaseSettings) -> Schedule:
    """Return the crawl's schedule; SettingError for a setting that is no time."""
    poll_min = duration("NEWSCRAWL_POLL_MIN", settings["NEWSCRAWL_POLL_MIN"])
    poll_max = duration("NEWSCRAWL_POLL_MAX", settings["NEWSCRAWL_POLL_MAX"])
    if poll_max < poll_min:
        raise SettingError(
            f"NEWSCRAWL_POLL_MAX={settings['NEWSCRAWL_POLL_MAX']}: less than NEWSCRAWL_POLL_MIN"
        )
    return Schedule(
        revisits=durations("NEWSCRAWL_REVISITS", settings["NEWSCRAWL_REVISITS"]),
        retries=durations("NEWSCRAWL_RETRIES", settings["NEWSCRAWL_RETRIES"]),
        poll_min=poll_min,
        poll_max=poll_max,
    )
