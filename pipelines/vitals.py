"""How well articles come out of a source's pages: counted, so that a change is noticed."""

from bisect import insort
from typing import Any, Self

from scrapy.crawler import Crawler

from newscrawl.items import Article, Document, Page


class VitalsPipeline:
    """Counts what extraction made of each page that may be read; passes it on unchanged.

    A run's counts are whole numbers: medians are kept as such, confidence in thousandths.
    """

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._lengths: list[int] = []
        self._confidences: list[float] = []

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Build the pipeline."""
        return cls(crawler)

    def process_item(self, item: Any) -> Any:
        """Count, and return the item as it came."""
        if isinstance(item, Document) and item.page.access == "open":
            self._count(item.page, item.article)
        return item

    def _count(self, page: Page, article: Article) -> None:
        insort(self._lengths, len(article.text))
        insort(self._confidences, article.confidence)
        stats = self._crawler.stats
        stats.inc_value("newscrawl/vitals/read")
        stats.inc_value("newscrawl/vitals/undated", int(article.published is None))
        stats.inc_value("newscrawl/vitals/untitled", int(not article.title))
        # Exact for nearly all pages; the others are compared with their own past alone.
        characters = len(page.html.decode(errors="ignore"))
        stats.inc_value("newscrawl/vitals/page_characters", characters)
        stats.inc_value("newscrawl/vitals/text_characters", len(article.text))
        middle = len(self._lengths) // 2
        stats.set_value("newscrawl/vitals/characters", self._lengths[middle])
        thousandths = round(self._confidences[middle] * 1000)
        stats.set_value("newscrawl/vitals/confidence", thousandths)
