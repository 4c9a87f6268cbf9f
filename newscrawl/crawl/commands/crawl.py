"""`scrapy crawl`, with exit codes that scripts can trust: 0 done, 1 failed, 2 bad input."""

import argparse
import asyncio
import gc
import logging
import sys

# Imported now and not when it is needed: it looks through all modules that are loaded by then.
import scrapy.core.downloader.handlers.http11  # noqa: F401
from scrapy import signals
from scrapy.commands import crawl
from scrapy.crawler import AsyncCrawlerProcess, Crawler
from scrapy.exceptions import UsageError

from newscrawl.config import SettingError
from newscrawl.crawl.commandline import reduce_logging, unknown_source
from newscrawl.crawl.exports import ExportError, exports_failed
from newscrawl.storage.leases import SourceBusyError

logger = logging.getLogger(__name__)

# Ours: objects that may become garbage unseen; a page leaves some hundred, its bytes among them.
GARBAGE = 5_000


class Command(crawl.Command):
    """Crawl a source by name. A wrong setting or argument ends it with one line."""

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        """Read the options. From here on garbage is looked for less often: a tenth of a crawl's
        time went into that, most of it while modules were loaded (make bench-crawl)."""
        super().process_options(args, opts)
        feeds = self.settings.getdict("FEEDS") if self.settings else {}
        if "stdout:" in feeds:  # to which -O and -o are the same
            feeds["stdout:"].pop("overwrite", None)
        gc.set_threshold(GARBAGE, *gc.get_threshold()[1:])

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Crawl; `exitcode` tells how it ended."""
        if len(args) != 1:
            raise UsageError("name one source, as in scrapy crawl ft", print_help=False)
        if self.settings:
            reduce_logging(self.settings)
        process = self.crawler_process
        if not isinstance(process, AsyncCrawlerProcess):
            raise TypeError("newscrawl needs Scrapy's asyncio reactor (TWISTED_REACTOR)")
        if args[0] not in process.spider_loader.list():
            self._refuse(unknown_source(args[0], process.spider_loader.list()))
            return
        crawler = self._create_crawler(args[0])
        crawler.signals.connect(_freeze_loaded_objects, signal=signals.engine_started)
        handlers = HandlerErrors()
        task = process.crawl(crawler, **opts.spargs)
        process.start()
        self._report(task)
        failed = process.bootstrap_failed or _failed(crawler) or handlers.seen
        if not self.exitcode and failed:
            self.exitcode = 1

    def _report(self, task: "asyncio.Task[None]") -> None:
        error = task.exception() if task.done() and not task.cancelled() else None
        if isinstance(error, SettingError):
            self._refuse(str(error))
        elif isinstance(error, (ExportError, SourceBusyError)):
            self._refuse(str(error), code=1)
        elif error is not None:
            logger.critical("The crawl failed: %s", error, exc_info=error)
            self.exitcode = 1

    def _refuse(self, message: str, code: int = 2) -> None:
        sys.stderr.write(f"newscrawl: {message}\n")
        self.exitcode = code


class HandlerErrors(logging.Handler):
    """Sees the errors of extensions: Scrapy logs what a signal's handler raises, and goes on."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.seen = False
        reporter = logging.getLogger("scrapy.utils.signal")
        reporter.setLevel(logging.ERROR)
        reporter.addHandler(self)

    def emit(self, record: logging.LogRecord) -> None:  # noqa: ARG002
        """Note that there was one."""
        self.seen = True


def _freeze_loaded_objects() -> None:
    """Leave modules, registries and the like out of each search for garbage."""
    gc.freeze()


def _failed(crawler: Crawler) -> bool:
    """Whether the crawl was broken off, could read no page of the source or export not all."""
    reason: str = crawler.stats.get_value("finish_reason", "")
    abort_note = reason != "finished" and not reason.startswith("closespider")
    return (
        abort_note
        or exports_failed(crawler)
        or crawler.stats.get_value("newscrawl/state") == "failed"
    )
