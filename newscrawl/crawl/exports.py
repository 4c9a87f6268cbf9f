"""Feed exports: their formats, and an extension that ends the crawl when an export fails."""

import json
import logging
import re
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import date, datetime
from io import BytesIO
from pathlib import Path
from typing import Any, Final, Self, get_args, get_origin

from itemadapter import ItemAdapter, is_item
from scrapy import Spider
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured
from scrapy.exporters import BaseItemExporter, CsvItemExporter, XmlItemExporter
from scrapy.extensions.feedexport import (
    FeedExporter,
    FeedSlot,
    FileFeedStorage,
    ItemFilter,
    apply_uri_params,
)

from newscrawl.config import SettingError
from newscrawl.crawl.session import CrawlSession
from newscrawl.items import ArticleItem
from newscrawl.templating import spreadsheet_text

logger = logging.getLogger(__name__)


# The statistic that counts items that could not be exported.
EXPORT_ERRORS: Final = "newscrawl/export_errors"
# Formats of one whole document for each file, to which nothing can be appended.
_NOT_APPENDABLE: Final = {"json": "JSON", "xml": "XML", "parquet": "Parquet"}


class ExportError(Exception):
    """An export that can't be written: one line with the file and what to do."""


class StoredArticles(ItemFilter):
    """Exports articles that are new or revised, and items that are not stored; unchanged articles
    are left out."""

    def accepts(self, item: Any) -> bool:
        """Return whether the item is exported."""
        if isinstance(item, ArticleItem) and item.outcome not in {None, "new", "revised"}:
            return False
        return super().accepts(item)


class FeedExports(FeedExporter):
    """Scrapy's FeedExporter, which only logs errors and continues the crawl, with checks.

    A file that can't be written is reported before the first request. If writing fails later, the
    crawl ends: articles stored afterwards would be in no export, not even in the next one, since
    they are not new then.
    """

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._broken: set[str] = set()

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Build it; raise SettingError for invalid FEEDS, ExportError for a bad file."""
        try:
            exports = super().from_crawler(crawler)
        except NotConfigured as error:
            if not crawler.settings.getdict("FEEDS"):
                raise
            raise SettingError("the export can't be set up: see the line above") from error
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
        is_there = file.exists()
        try:
            # Opened for writing, and not changed.
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
        if options.get("overwrite") or not file.is_file() or not file.stat().st_size:
            return
        if kind := _NOT_APPENDABLE.get(options["format"]):
            raise SettingError(
                f"{file} exists, and {kind} can't be appended to: use -O to write it "
                "anew, or JSON Lines (.jsonl)"
            )
        if options["format"] == "csv":
            options["item_export_kwargs"].setdefault("include_headers_line", False)

    def _load_filter(self, feed_options: dict[str, Any]) -> ItemFilter:
        return super()._load_filter({"item_filter": StoredArticles, **feed_options})

    def item_scraped(self, item: Any, spider: Spider) -> None:
        """Export the item to each feed; an error in one doesn't affect the others."""
        slots = []
        for slot in self.slots:
            self.slots = [slot]
            if slot.uri not in self._broken:
                try:
                    super().item_scraped(item, spider)
                    # If the crawl is killed, exported items are not lost.
                    if slot.file is not None and hasattr(slot.file, "flush"):
                        slot.file.flush()
                except OSError as error:
                    self._stop(slot, error)
                except Exception as error:  # noqa: BLE001 - an exporter's own
                    name = item.url if isinstance(item, ArticleItem) else type(item).__name__
                    self._count(f"{name} is not in {slot.uri}: {_line(error)}")
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
        self.crawler.stats.inc_value(EXPORT_ERRORS)
        message = (
            f"can't write {slot.uri}: {_line(error)}; what was stored is in the database "
            "(newscrawl articles)"
        )
        CrawlSession.of(self.crawler).stop("export_failed", message)

    def _count(self, message: str) -> None:
        logger.critical("%s", message)
        self.crawler.stats.inc_value(EXPORT_ERRORS)


def _line(error: BaseException) -> str:
    text = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return next(iter((text or type(error).__name__).splitlines()), type(error).__name__)


def exports_failed(crawler: Crawler) -> bool:
    """Return whether an export of the crawl is incomplete."""
    stats: dict[str, Any] = crawler.stats.get_stats()
    return any(name.startswith(("feedexport/failed_count", EXPORT_ERRORS)) for name in stats)


# Characters that XML 1.0 doesn't allow (its production 2, "Char").
_NO_XML: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
# Ours: maximum items of a row group, and maximum characters of their texts: a group is held in
# memory, and many small groups make a file slow to read.
GROUP_ITEMS: Final = 1_000
GROUP_CHARACTERS: Final = 8_000_000


class CsvExporter(CsvItemExporter):
    """CSV with authors separated by "; ", mentions as JSON, and without formulas."""

    def serialize_field(self, field: Mapping[str, Any], name: str, value: Any) -> Any:
        """Return the value of a cell."""
        value = _json_value(value)
        if isinstance(value, list) and all(isinstance(part, str) for part in value):
            value = "; ".join(value)
        elif isinstance(value, (list, dict)):
            value = json.dumps(value, ensure_ascii=False)
        if isinstance(value, str):
            value = spreadsheet_text(value)
        return super().serialize_field(field, name, value)


class XmlExporter(XmlItemExporter):
    """XML with empty elements for unknown values; characters that XML doesn't allow become
    U+FFFD."""

    def serialize_field(self, field: Mapping[str, Any], name: str, value: Any) -> Any:
        """Return the value of an element."""
        return super().serialize_field(field, name, _json_value(value))

    def _export_xml_field(self, name: str, serialized_value: Any, depth: int) -> None:
        value = "" if serialized_value is None else serialized_value
        if isinstance(value, str):
            value = _NO_XML.sub("\N{REPLACEMENT CHARACTER}", value)
        super()._export_xml_field(name, value, depth)


def _json_value(value: Any) -> Any:
    """Return the value for JSON: items as mappings, moments as text."""
    if isinstance(value, (datetime, date)):
        return value.isoformat()
    if is_item(value):
        return {name: _json_value(part) for name, part in ItemAdapter(value).items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_json_value(part) for part in value]
    return value


class ParquetExporter(BaseItemExporter):
    """Parquet of ArticleItems with typed columns, mentions as a list of structs.

    Needs pyarrow, from the extra [parquet].
    """

    def __init__(self, file: BytesIO, **kwargs: Any) -> None:
        super().__init__(dont_fail=True, **kwargs)
        self._file = file
        types = {each.name: _arrow_type(each.type) for each in fields(ArticleItem)}
        chosen = self.fields_to_export
        self._columns: dict[str, str] = (
            dict(chosen)
            if isinstance(chosen, Mapping)
            else {name: name for name in (types if chosen is None else chosen)}
        )
        for name in self._columns:
            if name not in types:
                raise ValueError(f"no field {name!r} in an ArticleItem: it has {', '.join(types)}")
        self._schema = _pyarrow().schema(
            [(out, types[name]) for name, out in self._columns.items()]
        )
        self._rows: list[dict[str, Any]] = []
        self._characters = 0
        self._writer: Any = None

    @staticmethod
    def check() -> None:
        """Raise SettingError if Parquet can't be written."""
        _pyarrow()

    def start_exporting(self) -> None:
        """Begin the file."""
        from pyarrow import parquet  # noqa: PLC0415 - an extra

        self._writer = parquet.ParquetWriter(self._file, self._schema, compression="zstd")

    def export_item(self, item: Any) -> None:
        """Add an item, and write a row group if it is complete; raise TypeError for other items."""
        if not isinstance(item, ArticleItem):
            raise TypeError(f"Parquet holds ArticleItems, not {type(item).__name__}")
        adapter = ItemAdapter(item)
        values = adapter.asdict()
        self._rows.append({out: values[name] for name, out in self._columns.items()})
        self._characters += len(item.text)
        if len(self._rows) >= GROUP_ITEMS or self._characters >= GROUP_CHARACTERS:
            self._write()

    def finish_exporting(self) -> None:
        """Write the remaining items and the end of the file."""
        self._write()
        if self._writer is not None:
            self._writer.close()

    def _write(self) -> None:
        if self._rows and self._writer is not None:
            table = _pyarrow().Table.from_pylist(self._rows, schema=self._schema)
            self._writer.write_table(table)
        self._rows, self._characters = [], 0


def _arrow_type(kind: Any) -> Any:
    """Return the type of a column for the type of a field; places in a text are shorter numbers."""
    arrow = _pyarrow()
    if is_dataclass(kind):
        return arrow.struct(
            [
                (each.name, arrow.int32() if each.type is int else _arrow_type(each.type))
                for each in fields(kind)
            ]
        )
    if get_origin(kind) is tuple:
        return arrow.list_(_arrow_type(get_args(kind)[0]))
    if type(None) in get_args(kind):
        return _arrow_type(get_args(kind)[0])
    numbers = {
        float: arrow.float64(),
        int: arrow.int64(),
        datetime: arrow.timestamp("us", tz="UTC"),
    }
    return numbers.get(kind, arrow.string())


def _pyarrow() -> Any:
    try:
        import pyarrow  # noqa: PLC0415 - an extra
    except ModuleNotFoundError as error:
        raise SettingError(
            "parquet needs a library that is not installed: pip install 'newscrawl[parquet]'"
        ) from error
    return pyarrow
