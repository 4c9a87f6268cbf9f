"""Writes captures into WARC files with an index beside each.

A writer has files of its own, so that any number of crawls may share a folder. A record is
written and flushed before its line of the index: what the index names is there. What a killed
crawl left half written is passed over by whoever reads.
"""

import os
import socket
from datetime import UTC, datetime
from http.client import responses
from io import BytesIO
from itertools import count
from pathlib import Path
from typing import BinaryIO, Final, Self, TextIO

from warcio.recordloader import ArcWarcRecord
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from newscrawl.archive.captures import ArchiveError, Capture, Headers
from newscrawl.archive.index import IndexLine, format_line, index_path, timestamp_of
from newscrawl.sources.slugs import is_slug

# WARC 1.1 has times of more than whole seconds: a replay gives the very time of the fetch.
_VERSION: Final = "1.1"
_STANDARD: Final = "https://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/"
# What a request's record must not tell to whoever reads the archive.
_SECRETS: Final = {"authorization", "proxy-authorization", "cookie"}
# They speak of the transfer, which is over: the body is stored as one piece.
_OF_TRANSFER: Final = {"transfer-encoding", "content-length", "connection", "keep-alive"}


class ArchiveWriter:
    """Writes into `folder`/YYYY-MM-DD/; begins a new file when one has `max_bytes`.

    `name` begins the files' names; `facts` go into each file's warcinfo record. Not for several
    threads at once. Its methods raise ArchiveError.
    """

    def __init__(
        self, folder: Path, name: str, *, max_bytes: int, facts: dict[str, str] | None = None
    ) -> None:
        if not is_slug(name):
            raise ArchiveError(f"{name!r} names no source, and so no file of an archive")
        self._folder = folder
        self._name = name
        self._max_bytes = max_bytes
        self._facts = facts or {}
        self._serial = count()
        self._warc: BinaryIO | None = None
        self._index: TextIO | None = None
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ArchiveError(f"can't write to {folder}: {error.strerror}") from error
        if not os.access(folder, os.W_OK | os.X_OK):
            raise ArchiveError(f"can't write to {folder}: permission denied")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def write(self, capture: Capture) -> None:
        """Append a capture: response, request (where it is known) and line of the index."""
        try:
            self._write(capture)
        except OSError as error:
            raise ArchiveError(f"can't write to {self._folder}: {error.strerror}") from error

    def close(self) -> None:
        """Close the file at hand; a further `write` opens another."""
        for opened in (self._warc, self._index):
            if opened is not None:
                opened.close()
        self._warc = self._index = None

    def _write(self, capture: Capture) -> None:
        if self._warc is not None and self._warc.tell() >= self._max_bytes:
            self.close()
        if self._warc is None or self._index is None:
            self._warc, self._index = self._begin()
        writer = WARCWriter(self._warc, gzip=True, warc_version=_VERSION)
        response = _response_record(writer, capture)
        offset = self._warc.tell()
        writer.write_record(response)
        length = self._warc.tell() - offset
        if capture.request:
            writer.write_record(_request_record(writer, capture, response))
        line = format_line(
            IndexLine.of(capture, offset),
            digest=response.rec_headers.get_header("WARC-Payload-Digest"),
            length=length,
            filename=Path(self._warc.name).name,
        )
        self._index.write(line)
        self._index.flush()

    def _begin(self) -> tuple[BinaryIO, TextIO]:
        now = datetime.now(UTC)
        day = self._folder / f"{now:%Y-%m-%d}"
        day.mkdir(exist_ok=True)
        warc, path = self._create(day, now)
        index = index_path(path).open("x", encoding="ascii", newline="\n")
        writer = WARCWriter(warc, gzip=True, warc_version=_VERSION)
        facts = {"format": "WARC File Format 1.1", "conformsTo": _STANDARD, **self._facts}
        writer.write_record(writer.create_warcinfo_record(path.name, facts))
        return warc, index

    def _create(self, day: Path, now: datetime) -> tuple[BinaryIO, Path]:
        """A new file; its name is nobody else's, on this machine or another that shares the
        folder."""
        host = socket.gethostname().partition(".")[0] or "localhost"
        for serial in self._serial:
            origin = f"{timestamp_of(now)}-{host}-{os.getpid()}-{serial:05d}"
            path = day / f"{self._name}-{origin}.warc.gz"
            try:
                return path.open("xb"), path
            except FileExistsError:
                continue
        raise AssertionError("count() never ends")


class _HeadersAsSent(StatusAndHeaders):  # type: ignore[misc]  # warcio has no types
    """Headers in the bytes that were sent; warcio would rewrite those that aren't ASCII."""

    def to_ascii_bytes(self, filter_func: None = None) -> bytes:
        """Return status line and headers."""
        text: str = self.to_str(filter_func)
        return text.encode("latin-1", "replace") + b"\r\n"


def _response_record(writer: WARCWriter, capture: Capture) -> ArcWarcRecord:
    kept = [(name, value) for name, value in capture.headers if name.lower() not in _OF_TRANSFER]
    reason = responses.get(capture.status, "")
    headers = _HeadersAsSent(
        f"{capture.status} {reason}".strip(),
        [*kept, ("Content-Length", str(len(capture.body)))],
        protocol="HTTP/1.1",
    )
    about = {"WARC-Date": _warc_date(capture.fetched_at)}
    if capture.ip_address:
        about["WARC-IP-Address"] = capture.ip_address
    return writer.create_warc_record(
        capture.url,
        "response",
        payload=BytesIO(capture.body),
        length=len(capture.body),
        http_headers=headers,
        warc_headers_dict=about,
    )


def _request_record(writer: WARCWriter, capture: Capture, response: ArcWarcRecord) -> ArcWarcRecord:
    path = "/" + capture.url.partition("://")[2].partition("/")[2]
    headers = _HeadersAsSent(
        f"{capture.method} {path} HTTP/1.1", _shareable(capture.request), is_http_request=True
    )
    about = {
        "WARC-Date": _warc_date(capture.fetched_at),
        "WARC-Concurrent-To": response.rec_headers.get_header("WARC-Record-ID"),
    }
    return writer.create_warc_record(
        capture.url, "request", http_headers=headers, warc_headers_dict=about
    )


def _shareable(headers: Headers) -> list[tuple[str, str]]:
    return [(name, value) for name, value in headers if name.lower() not in _SECRETS]


def _warc_date(moment: datetime) -> str:
    return f"{moment.astimezone(UTC):%Y-%m-%dT%H:%M:%S.%f}Z"
