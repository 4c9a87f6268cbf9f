"""Feed exports (`-O`, `-o`, FEEDS) that fail aloud: one line, and an exit code other than 0."""

import asyncio
import logging
from pathlib import Path
from typing import Any, Final, Self

from scrapy import Spider
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured
from scrapy.extensions.feedexport import (
    FeedExporter,
    FeedSlot,
    FileFeedStorage,
    ItemFilter,
    apply_uri_params,
)

from newscrawl.config import SettingError
from newscrawl.items import ArticleItem

logger = logging.getLogger(__name__)

# The reason of a crawl's end, and the count of what couldn't be exported.
EXPORT_FAILED: Final = "export_failed"
EXPORT_ERRORS: Final = "newscrawl/export_errors"
# Formats of which a file holds one whole document, to which nothing can be appended.
_WHOLE: Final = {"json": "JSON", "xml": "XML", "parquet": "Parquet"}


class ExportError(Exception):
    """An export that can't be written: one line that names it and says what to do."""


class StoredArticles(ItemFilter):
    """Exports articles that are new or revised, and whatever isn't stored; not those of which a
    crawl brought nothing new."""

    def accepts(self, item: Any) -> bool:
        """Whether the item is exported."""
        if isinstance(item, ArticleItem) and item.outcome not in {None, "new", "revised"}:
            return False
        return super().accepts(item)


class FeedExports(FeedExporter):
    """Scrapy's FeedExporter, which only logs what goes wrong and lets the crawl go on.

    A file that can't be written is told before anything is fetched. One that can't be written any
    more ends the crawl: what is stored from then on would be in no export, not in the next one
    either, since it is known by then.
    """

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._broken: set[str] = set()
        self._stopping: asyncio.Task[None] | None = None

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Build it; SettingError for FEEDS that can't work, ExportError for a bad file."""
        try:
            exports = super().from_crawler(crawler)
        except NotConfigured as error:
            if not crawler.settings.getdict("FEEDS"):
                raise
            raise SettingError("the export can't be set up: the line above says why") from error
        for uri, options in exports.feeds.items():
            exports._check(uri, options)
        return exports

    def _check(self, template: str, options: dict[str, Any]) -> None:
        check = getattr(self.exporters[options["format"]], "check", None)
        if check is not None:
            check()
        spider = self.crawler.spider
        if spider is None or not isinstance(self._get_storage(template, options), FileFeedStorage):
            return
        uri = apply_uri_params(template, self._get_uri_params(spider, options["uri_params"]))
        storage = self._get_storage(uri, options)
        if not isinstance(storage, FileFeedStorage):
            return
        file = Path(storage.path)
        _check_writable(file)
        if options.get("overwrite") or not file.is_file() or not file.stat().st_size:
            return
        if kind := _WHOLE.get(options["format"]):
            raise SettingError(
                f"{file} is there already, and {kind} can't be appended to: use -O to write it "
                "anew, or JSON Lines (.jsonl)"
            )
        if options["format"] == "csv":
            options["item_export_kwargs"].setdefault("include_headers_line", False)

    def _load_filter(self, feed_options: dict[str, Any]) -> ItemFilter:
        return super()._load_filter({"item_filter": StoredArticles, **feed_options})

    def item_scraped(self, item: Any, spider: Spider) -> None:
        """Export the item to each feed; one that fails leaves the others alone."""
        slots = []
        for slot in self.slots:
            self.slots = [slot]
            if slot.uri not in self._broken:
                try:
                    super().item_scraped(item, spider)
                    # A crawl that is killed loses no item that it has exported.
                    if slot.file is not None and hasattr(slot.file, "flush"):
                        slot.file.flush()
                except OSError as error:
                    self._stop(slot, error)
                except Exception as error:  # noqa: BLE001 - an exporter's own
                    self._count(f"{_name(item)} is not in {slot.uri}: {_line(error)}")
            slots += self.slots
        self.slots = slots

    async def _close_slot(self, slot: FeedSlot, spider: Spider) -> None:
        try:
            if slot.itemcount:
                slot.finish_exporting()
                if slot.file is not None and hasattr(slot.file, "flush"):
                    slot.file.flush()
            await super()._close_slot(slot, spider)
        except Exception as error:  # noqa: BLE001 - an exporter's own
            if slot.uri not in self._broken:
                self._broken.add(slot.uri)
                self._count(f"Can't finish {slot.uri}: {_line(error)}")

    def _stop(self, slot: FeedSlot, error: OSError) -> None:
        self._broken.add(slot.uri)
        self._count(
            f"The crawl stops: can't write {slot.uri}: {_line(error)}; what was stored is in the "
            "database (newscrawl articles)"
        )
        if self._stopping is None and self.crawler.engine is not None:
            closing = self.crawler.engine.close_spider_async(reason=EXPORT_FAILED)
            self._stopping = asyncio.create_task(closing)

    def _count(self, message: str) -> None:
        logger.critical("%s", message)
        self.crawler.stats.inc_value(EXPORT_ERRORS)


def _check_writable(file: Path) -> None:
    """Raise ExportError unless the file can be opened to write; it is left as it was."""
    is_there = file.exists()
    try:
        if not file.parent.exists():
            file.parent.mkdir(parents=True)
        with file.open("ab"):
            pass
        if not is_there:
            file.unlink()
    except OSError as error:
        raise ExportError(
            f"can't write {file}: {_line(error)}; name another file after -O or in FEEDS"
        ) from error


def _name(item: Any) -> str:
    return item.url if isinstance(item, ArticleItem) else type(item).__name__


def _line(error: BaseException) -> str:
    told = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return next(iter((told or type(error).__name__).splitlines()), type(error).__name__)


def exports_failed(crawler: Crawler) -> bool:
    """Whether an export of the crawl lacks something."""
    stats: dict[str, Any] = crawler.stats.get_stats()
    return any(name.startswith(("feedexport/failed_count", EXPORT_ERRORS)) for name in stats)
