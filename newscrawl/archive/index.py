"""CDXJ index: a line for each capture, to find it without reading its WARC file.

A line is a sort key, the time in 14 digits and a JSON object, as pywb and cdxj-indexer write them.
The index of a WARC file has the same name with the suffix .cdxj.
"""

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

SUFFIX: Final = ".cdxj"
_NOT_MODIFIED = 304
# Media types of HTML pages; "unk" means that the server sent none.
_PAGES = {"unk", "text/html", "application/xhtml+xml"}


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexLine:
    """A capture in the index. `timestamp` has 14 digits, UTC."""

    url: str
    timestamp: str
    status: int
    method: str
    mime: str
    offset: int

    @property
    def merit(self) -> tuple[bool, str]:
        """Return the sort key of the captures of a URL: successful before failed, then newer."""
        return self.status < 400, self.timestamp

    @property
    def answers(self) -> bool:
        """Return whether it has a body: 304 and HEAD responses have none."""
        return self.method == "GET" and self.status != _NOT_MODIFIED

    @property
    def is_page(self) -> bool:
        """Return whether it may be an HTML page."""
        return self.answers and self.status == 200 and self.mime in _PAGES


def index_path(warc: Path) -> Path:
    """Return the path of the index of a WARC file."""
    return warc.with_name(warc.name.removesuffix(".gz").removesuffix(".warc") + SUFFIX)


def format_line(line: IndexLine, *, digest: str, length: int, filename: str) -> str:
    """Return the line as text; `length` is that of the compressed record in bytes."""
    facts = {
        "url": line.url,
        "mime": line.mime,
        "status": str(line.status),
        "digest": digest,
        "length": str(length),
        "offset": str(line.offset),
        "filename": filename,
    }
    if line.method != "GET":
        facts["method"] = line.method
    return f"{sort_key(line.url)} {line.timestamp} {json.dumps(facts)}\n"


def parse_line(text: str) -> tuple[IndexLine, int] | None:
    """Return the line and the end of its record; None if it is incomplete, as after a crash."""
    _, _, rest = text.partition(" ")
    timestamp, _, fields = rest.partition(" ")
    if not text.endswith("\n") or len(timestamp) != 14 or not timestamp.isdecimal():
        return None
    try:
        values = json.loads(fields)
        line = IndexLine(
            url=str(values["url"]),
            timestamp=timestamp,
            status=int(values["status"]),
            method=str(values.get("method", "GET")),
            mime=str(values.get("mime", "unk")),
            offset=int(values["offset"]),
        )
        return line, line.offset + int(values["length"])
    except (ValueError, TypeError, KeyError, RecursionError):
        return None


def sort_key(url: str) -> str:
    """Return the URL with its host reversed, "com,example)/path?query": sites sort together."""
    parts = urlsplit(url)
    host = (parts.hostname or "").removeprefix("www.")
    port = f":{parts.port}" if parts.port else ""
    query = f"?{parts.query}" if parts.query else ""
    key = f"{','.join(reversed(host.split('.')))}{port}){parts.path or '/'}{query}"
    return key.replace(" ", "%20").lower()


def timestamp_of(moment: datetime) -> str:
    """Return the moment in 14 digits, UTC."""
    return f"{moment.astimezone(UTC):%Y%m%d%H%M%S}"
