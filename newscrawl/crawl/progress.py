"""A crawl that `newscrawl monitor` started reports that it makes progress, as long as it does."""

import asyncio
import os
import stat
import sys
from collections.abc import Mapping
from typing import Any

from scrapy import signals
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured

# Statistics that change when something was asked for, answered, read or stored; not those that
# change with time alone (log_count, memusage).
_COUNTED = ("downloader/", "item_", "newscrawl/", "offsite/", "response_", "retry/", "scheduler/")
# Seconds between two looks at them.
_PERIOD = 1.0


class ProgressReport:
    """Writes a byte to the monitor whenever the counts have changed since the last look.

    It does so from the event loop: a crawl whose loop hangs reports nothing, as one that waits for
    what never comes. The way is standard input, a socket whose other end is the monitor's.
    """

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._before = -1.0
        self._reporting: asyncio.Task[None] | None = None

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> "ProgressReport":
        """Build it; NotConfigured where no monitor listens."""
        if not crawler.settings.get("NEWSCRAWL_LEASH") or not _is_socket(sys.stdin.fileno()):
            raise NotConfigured
        report = cls(crawler)
        crawler.signals.connect(report.begin, signal=signals.engine_started)
        crawler.signals.connect(report.end, signal=signals.engine_stopped)
        return report

    def begin(self) -> None:
        """Begin to report."""
        self._reporting = asyncio.create_task(self._report(sys.stdin.fileno()))

    def end(self) -> None:
        """Report no longer."""
        if self._reporting is not None:
            self._reporting.cancel()

    async def _report(self, monitor: int) -> None:
        os.set_blocking(monitor, False)
        while True:
            await asyncio.sleep(_PERIOD)
            now = counted(self._crawler.stats.get_stats())
            if now == self._before:
                continue
            self._before = now
            try:
                os.write(monitor, b".")
            except BlockingIOError:
                continue  # the monitor has enough to read
            except OSError:
                return  # the monitor is gone, which ends the crawl (spiders.leash)


def counted(stats: Mapping[str, Any]) -> float:
    """Return a number that changes whenever something was done."""
    return sum(
        value
        for name, value in stats.items()
        if name.startswith(_COUNTED) and isinstance(value, int | float)
    )


def _is_socket(number: int) -> bool:
    try:
        return stat.S_ISSOCK(os.fstat(number).st_mode)
    except OSError:
        return False
