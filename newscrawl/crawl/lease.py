"""A crawl that a person started takes its source's lease, and keeps it as long as it goes on."""

import asyncio
import logging
from datetime import timedelta
from typing import Any

from scrapy import signals
from scrapy.crawler import Crawler

from newscrawl.config import SettingError, seconds
from newscrawl.storage import Database, StorageError
from newscrawl.storage.source_lease import SourceLease

logger = logging.getLogger(__name__)

# The reason of a crawl's end.
LEASE_LOST = "lease_lost"
# How often a lease is renewed in its length, as a monitor does it.
_RENEWALS = 3


class CrawlLease:
    """The lease of a crawl's source. It is renewed by the crawl's own event loop: a crawl that
    hangs loses it.

    The crawls of `newscrawl monitor` (NEWSCRAWL_LEASH) take none: the monitor has it.
    """

    def __init__(self, crawler: Crawler, database: Database, slug: str) -> None:
        self._crawler = crawler
        self._lease: SourceLease | None = None
        if not crawler.settings.get("NEWSCRAWL_LEASH"):
            length = lease_length(crawler.settings["NEWSCRAWL_LEASE"])
            self._lease = SourceLease(database, slug, length)
        self._slug = slug
        self._renewing: asyncio.Task[None] | None = None
        self._closing: asyncio.Task[None] | None = None

    def take(self) -> None:
        """Take it; raise SourceBusyError where another process crawls the source."""
        if self._lease is not None:
            self._lease.take()
            self._crawler.signals.connect(self._begin, signal=signals.spider_opened)

    def _begin(self) -> None:
        if self._lease is not None:
            self._renewing = asyncio.create_task(self._renew(self._lease))

    async def _renew(self, lease: SourceLease) -> None:
        while True:
            await asyncio.sleep(lease.length.total_seconds() / _RENEWALS)
            try:
                ours = await asyncio.to_thread(lease.renew)
            except StorageError as error:
                logger.warning("%s: the lease is not renewed: %s", self._slug, error)
                continue
            if not ours:
                break
        self._lease = None
        logger.critical("The crawl stops: another process has taken over %s", self._slug)
        engine: Any = self._crawler.engine
        self._closing = asyncio.create_task(engine.close_spider_async(reason=LEASE_LOST))

    def give_back(self) -> None:
        """Let others crawl the source from now on; raises StorageError."""
        if self._renewing is not None:
            self._renewing.cancel()
        if self._lease is not None:
            self._lease.give_back()


def lease_length(value: object) -> timedelta:
    """Return NEWSCRAWL_LEASE; SettingError for what is no time."""
    length = seconds("NEWSCRAWL_LEASE", value)
    if not length:
        raise SettingError("NEWSCRAWL_LEASE=0: not a number of seconds above 0")
    return timedelta(seconds=length)
