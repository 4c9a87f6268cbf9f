"""`scrapy crawl` with exit codes for scripts: 0 for success, 1 for a failed crawl, 2 for bad
input."""

import argparse
import gc
import logging

# Imported here, since the import searches all loaded modules, which are fewer now than later.
import scrapy.core.downloader.handlers.http11  # noqa: F401
from scrapy import signals
from scrapy.commands import crawl
from scrapy.crawler import AsyncCrawlerProcess
from scrapy.exceptions import UsageError

from newscrawl.config import SettingError
from newscrawl.crawl.commandline import print_error, reduce_logging, unknown_source
from newscrawl.crawl.exports import ExportError, exports_failed
from newscrawl.storage.leases import SourceBusyError

logger = logging.getLogger(__name__)

# Ours: objects after which Python searches for garbage; a page leaves about a hundred, including
# its bytes.
GARBAGE = 5_000


class Command(crawl.Command):
    """Crawl a source by name; print one line for a wrong setting or argument."""

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        """Read the options.

        Afterwards garbage is collected less often: collections took a tenth of a crawl's time, most
        of it while modules were loaded (make bench-crawl).
        """
        super().process_options(args, opts)
        feeds = self.settings.getdict("FEEDS") if self.settings else {}
        if "stdout:" in feeds:  # standard output can be appended to, so -O and -o mean the same
            feeds["stdout:"].pop("overwrite", None)
        gc.set_threshold(GARBAGE, *gc.get_threshold()[1:])

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Crawl and set `exitcode` to the result."""
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
        error = task.exception() if task.done() and not task.cancelled() else None
        if isinstance(error, SettingError):
            self._refuse(str(error))
        elif isinstance(error, (ExportError, SourceBusyError)):
            self._refuse(str(error), code=1)
        elif error is not None:
            logger.critical("The crawl failed: %s", error, exc_info=error)
            self.exitcode = 1
        if self.exitcode:
            return
        if process.bootstrap_failed or handlers.seen:  # it may not have statistics
            self.exitcode = 1
            return
        # The crawl was aborted, read no page of the source or exported incompletely.
        reason: str = crawler.stats.get_value("finish_reason", "")
        is_unread = crawler.stats.get_value("newscrawl/state") in {"failed", "refused"}
        is_aborted = reason != "finished" and not reason.startswith("closespider")
        self.exitcode = int(is_aborted or is_unread or exports_failed(crawler))

    def _refuse(self, message: str, code: int = 2) -> None:
        print_error(message)
        self.exitcode = code


def _freeze_loaded_objects() -> None:
    """Exclude modules, registries and other loaded objects from all garbage collections."""
    gc.freeze()


class HandlerErrors(logging.Handler):
    """Detects errors of extensions, which Scrapy logs without ending the crawl."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.seen = False
        reporter = logging.getLogger("scrapy.utils.signal")
        reporter.setLevel(logging.ERROR)
        reporter.addHandler(self)

    def emit(self, record: logging.LogRecord) -> None:  # noqa: ARG002
        """Set `seen` where a record is such an error."""
        self.seen = True
