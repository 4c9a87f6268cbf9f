"""Crawls at another time than the present."""

from datetime import UTC, datetime, timedelta
from typing import Self

from scrapy.crawler import Crawler

from newscrawl.crawl.session import CrawlSession


class ShiftedClock:
    """An extension with which a crawl takes place CLOCK_SHIFT seconds later, or before if that is
    negative."""

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Shift the clock of the session."""
        shift = timedelta(seconds=crawler.settings.getfloat("CLOCK_SHIFT"))
        CrawlSession.of(crawler).clock = lambda: datetime.now(UTC) + shift
        return cls()
