"""CDXJ: one line for each capture, so that it is found without reading its file.

A line is a key for sorting, the time in 14 digits and a JSON object, as pywb and cdxj-indexer
write them. A file's index lies beside it under the same name with the suffix .cdxj.
"""

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, Self
from urllib.parse import urlsplit

from newscrawl.archive.captures import Capture

SUFFIX: Final = ".cdxj"
_NOT_MODIFIED = 304
# What may be an HTML page; "unk" is said where the server said nothing.
_PAGES = {"unk", "text/html", "application/xhtml+xml"}


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexLine:
    """What the index knows of a capture. `timestamp` has 14 digits, UTC."""

    url: str
    timestamp: str
    status: int
    method: str
    mime: str
    offset: int

    @classmethod
    def of(cls, capture: Capture, offset: int) -> Self:
        """The line for a capture that lies at this offset."""
        return cls(
            url=capture.url,
            timestamp=timestamp_of(capture.fetched_at),
            status=capture.status,
            method=capture.method,
            mime=capture.media_type or "unk",
            offset=offset,
        )

    @property
    def merit(self) -> tuple[bool, str]:
        """The better of two captures of a URL has the larger merit: one that succeeded, then the
        newer one."""
        return self.status < 400, self.timestamp

    @property
    def answers(self) -> bool:
        """Whether it can stand for the page: a 304 has no body, a HEAD neither."""
        return self.method == "GET" and self.status != _NOT_MODIFIED

    @property
    def is_page(self) -> bool:
        """Whether it may be an HTML page that the server gave."""
        return self.answers and self.status == 200 and self.mime in _PAGES


def index_path(warc: Path) -> Path:
    """The index that belongs to a WARC file."""
    return warc.with_name(warc.name.removesuffix(".gz").removesuffix(".warc") + SUFFIX)


def format_line(line: IndexLine, *, digest: str, length: int, filename: str) -> str:
    """The line as it stands in the file; `length` is that of the packed record in bytes."""
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
    """The line and where its record ends; None for one that isn't whole, as after a crash."""
    _, _, rest = text.partition(" ")
    timestamp, _, facts = rest.partition(" ")
    if not text.endswith("\n") or len(timestamp) != 14 or not timestamp.isdecimal():
        return None
    try:
        told = json.loads(facts)
        line = IndexLine(
            url=str(told["url"]),
            timestamp=timestamp,
            status=int(told["status"]),
            method=str(told.get("method", "GET")),
            mime=str(told.get("mime", "unk")),
            offset=int(told["offset"]),
        )
        return line, line.offset + int(told["length"])
    except (ValueError, TypeError, KeyError, RecursionError):
        return None


def sort_key(url: str) -> str:
    """The URL with its host turned round ("com,example)/path?query"): sites sort together."""
    parts = urlsplit(url)
    host = (parts.hostname or "").removeprefix("www.")
    port = f":{parts.port}" if parts.port else ""
    query = f"?{parts.query}" if parts.query else ""
    key = f"{','.join(reversed(host.split('.')))}{port}){parts.path or '/'}{query}"
    return key.replace(" ", "%20").lower()


def timestamp_of(moment: datetime) -> str:
    """The moment in 14 digits."""
    return f"{moment.astimezone(UTC):%Y%m%d%H%M%S}"
