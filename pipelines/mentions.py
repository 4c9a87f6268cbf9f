"""MentionsPipeline: find the companies that an article mentions."""

from pathlib import Path
from typing import Any, Self

from scrapy.crawler import Crawler

from newscrawl.crawl.addon import companies_of
from newscrawl.crawl.conversion import DocumentPipeline
from newscrawl.crawl.session import CrawlSession
from newscrawl.mentions import Companies, with_mentions
from newscrawl.reading import versions_of
from pipelines.extraction import ExtractionPipeline


class MentionsPipeline(DocumentPipeline):
    """Document → Document with its mentions. The registry is read once, at the start.

    ExtractionPipeline finds companies when it reads a page, outside the event loop. This pipeline
    finds them only in other documents: an article that another pipeline changed, or those of a
    crawl without ExtractionPipeline.
    """

    def __init__(self, crawler: Crawler, companies: Companies, registry: Path | None) -> None:
        super().__init__(crawler)
        self._companies = companies
        self._registry = registry

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Read the companies; raise SettingError for an invalid NEWSCRAWL_COMPANIES."""
        registry, companies = companies_of(crawler.settings)
        CrawlSession.of(crawler).versions = versions_of(registry)
        return cls(crawler, companies, registry)

    def open_spider(self) -> None:
        """Give the registry to the extraction pipeline."""
        extraction = self._crawler.get_item_pipeline(ExtractionPipeline)
        if extraction is not None:
            extraction.find_companies(self._companies, self._registry)

    def process_item(self, item: Any) -> Any:
        """Return a document with the companies in headline and text, and those on the rest of the
        page."""
        document = self.document(item)
        return item if document is None else self.pass_on(with_mentions(document, self._companies))
