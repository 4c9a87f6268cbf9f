"""Formats of feed exports: CSV and XML that hold all fields of an article, and Parquet.

JSON and JSON Lines are Scrapy's own.
"""

import json
import re
from collections.abc import Iterable, Mapping
from datetime import date, datetime
from io import BytesIO
from typing import Any, Final, Protocol

from itemadapter import ItemAdapter, is_item
from scrapy.exporters import BaseItemExporter, CsvItemExporter, XmlItemExporter

from newscrawl.config import SettingError
from newscrawl.items import ArticleItem

# What spreadsheets take for a formula, which a page could have them work out.
_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")
# What no XML 1.0 document may hold (its production 2, "Char").
_NO_XML: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
# Ours: items of a row group, and characters of their texts, whichever comes first: a group is held
# in memory, and many small ones make a file slow to read.
GROUP_ITEMS: Final = 1_000
GROUP_CHARACTERS: Final = 8_000_000


class CsvExporter(CsvItemExporter):
    """CSV with authors parted by "; ", mentions as JSON, and no text that is a formula."""

    def serialize_field(self, field: Mapping[str, Any], name: str, value: Any) -> Any:
        """Return the value as it stands in a cell."""
        value = _plain(value)
        if isinstance(value, list) and all(isinstance(part, str) for part in value):
            value = "; ".join(value)
        elif isinstance(value, (list, dict)):
            return json.dumps(value, ensure_ascii=False)
        if isinstance(value, str) and value.startswith(_FORMULA):
            value = f"'{value}"
        return super().serialize_field(field, name, value)


class XmlExporter(XmlItemExporter):
    """XML in which what isn't known is empty; characters that XML can't hold become U+FFFD."""

    def serialize_field(self, field: Mapping[str, Any], name: str, value: Any) -> Any:
        """Return the value as it becomes an element."""
        return super().serialize_field(field, name, _xml(_plain(value)))


def _plain(value: Any) -> Any:
    """Return the value as JSON would have it: items as mappings, moments as text."""
    if isinstance(value, (datetime, date)):
        return value.isoformat()
    if is_item(value):
        return {name: _plain(part) for name, part in ItemAdapter(value).items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_plain(part) for part in value]
    return value


def _xml(value: Any) -> Any:
    if value is None:
        return ""
    if isinstance(value, str):
        return _NO_XML.sub("\N{REPLACEMENT CHARACTER}", value)
    if isinstance(value, dict):
        return {name: _xml(part) for name, part in value.items()}
    return [_xml(part) for part in value] if isinstance(value, list) else value


class _TableWriter(Protocol):
    def write_table(self, table: Any) -> None:
        """Write a row group."""

    def close(self) -> None:
        """Write the end of the file."""


class ParquetExporter(BaseItemExporter):
    """Parquet of ArticleItems with typed columns, mentions as a list of structs.

    Needs pyarrow, from the extra [parquet].
    """

    def __init__(self, file: BytesIO, **kwargs: Any) -> None:
        super().__init__(dont_fail=True, **kwargs)
        self._file = file
        self._columns = _columns(self.fields_to_export)
        self._rows: list[dict[str, Any]] = []
        self._characters = 0
        self._writer: _TableWriter | None = None

    @staticmethod
    def check() -> None:
        """Raise SettingError where Parquet can't be written."""
        _pyarrow()

    def start_exporting(self) -> None:
        """Begin the file."""
        from pyarrow import parquet  # noqa: PLC0415 - an extra

        schema = _schema(self._columns)
        self._writer = parquet.ParquetWriter(self._file, schema, compression="zstd")

    def export_item(self, item: Any) -> None:
        """Take an item, and write a row group once enough are there; TypeError for other items."""
        if not isinstance(item, ArticleItem):
            raise TypeError(f"Parquet holds ArticleItems, not {type(item).__name__}")
        adapter = ItemAdapter(item)
        values = adapter.asdict()
        self._rows.append({out: values[name] for name, out in self._columns.items()})
        self._characters += len(item.text)
        if len(self._rows) >= GROUP_ITEMS or self._characters >= GROUP_CHARACTERS:
            self._write()

    def finish_exporting(self) -> None:
        """Write what is left, and the end of the file."""
        self._write()
        if self._writer is not None:
            self._writer.close()

    def _write(self) -> None:
        if self._rows and self._writer is not None:
            pyarrow = _pyarrow()
            table = pyarrow.Table.from_pylist(self._rows, schema=_schema(self._columns))
            self._writer.write_table(table)
        self._rows, self._characters = [], 0


def _columns(fields: Mapping[str, str] | Iterable[str] | None) -> dict[str, str]:
    """Return the fields to export, each with the name of its column."""
    known = list(_types())
    if fields is None:
        chosen = {name: name for name in known}
    elif isinstance(fields, Mapping):
        chosen = dict(fields)
    else:
        chosen = {name: name for name in fields}
    for name in chosen:
        if name not in known:
            raise ValueError(f"no field {name!r} in an ArticleItem: it has {', '.join(known)}")
    return chosen


def _schema(columns: Mapping[str, str]) -> Any:
    types = _types()
    return _pyarrow().schema([(out, types[name]) for name, out in columns.items()])


def _types() -> dict[str, Any]:
    """Return the type of each column, by the field of an ArticleItem."""
    arrow = _pyarrow()
    text, moment = arrow.string(), arrow.timestamp("us", tz="UTC")
    mention = arrow.struct(
        [
            ("company", text),
            ("form", text),
            ("start", arrow.int32()),
            ("end", arrow.int32()),
            ("place", text),
            ("rule", text),
        ]
    )
    return {
        "url": text,
        "canonical_url": text,
        "source": text,
        "title": text,
        "text": text,
        "authors": arrow.list_(text),
        "published": moment,
        "modified": moment,
        "language": text,
        "section": text,
        "access": text,
        "kind": text,
        "confidence": arrow.float64(),
        "mentions": arrow.list_(mention),
        "fetched_at": moment,
        "run": arrow.int64(),
        "outcome": text,
    }


def _pyarrow() -> Any:
    try:
        import pyarrow  # noqa: PLC0415 - an extra
    except ModuleNotFoundError as error:
        raise SettingError(
            "parquet needs a library that is not installed: pip install 'newscrawl[parquet]'"
        ) from error
    return pyarrow
