"""A crawl that `newscrawl monitor` started ends when the monitor is gone, however that died."""

import asyncio
import logging
import os
import sys
from typing import Any

from scrapy import signals
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured

from newscrawl.config import seconds

logger = logging.getLogger(__name__)

# The reason of a crawl's end.
MONITOR_GONE = "monitor_gone"


class Leash:
    """Watches standard input, a pipe that nothing is written to and that closes with its owner.

    NEWSCRAWL_LEASH is the number of seconds in which the crawl must then be over: the source's
    lease runs out, and another worker begins with it.
    """

    def __init__(self, crawler: Crawler, grace: float) -> None:
        self._crawler = crawler
        self._grace = grace
        self._ending: asyncio.Task[None] | None = None

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> "Leash":
        """Build it; NotConfigured where no monitor has started the crawl."""
        given = crawler.settings.get("NEWSCRAWL_LEASH")
        if not given:
            raise NotConfigured
        leash = cls(crawler, seconds("NEWSCRAWL_LEASH", given))
        crawler.signals.connect(leash.hold, signal=signals.engine_started)
        crawler.signals.connect(leash.let_go, signal=signals.engine_stopped)
        return leash

    def hold(self) -> None:
        """Begin to watch."""
        asyncio.get_running_loop().add_reader(sys.stdin.fileno(), self._gone)

    def let_go(self) -> None:
        """Watch no longer."""
        asyncio.get_running_loop().remove_reader(sys.stdin.fileno())

    def _gone(self) -> None:
        if os.read(sys.stdin.fileno(), 4096):
            return
        loop = asyncio.get_running_loop()
        loop.remove_reader(sys.stdin.fileno())
        logger.error("The monitor that started this crawl is gone: the crawl ends")
        # What was stored is whole: to be cut off loses nothing.
        loop.call_later(self._grace, os._exit, 1)
        engine: Any = self._crawler.engine
        self._ending = asyncio.create_task(engine.close_spider_async(reason=MONITOR_GONE))
