"""WARC files: captures, and how they are read and written, record by record.

A record begins with a gzip member of its own (WARC 1.1, annex D.2) or is not compressed; readers
continue after damaged records. Each writer creates files of its own, so that any number of crawls
may share a folder. It writes and flushes a record before its line of the index, so the index never
names a record that is missing; readers skip the incomplete record of a crawl that was killed.
"""

import os
import socket
import zlib
from base64 import b32encode
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from hashlib import sha1
from http.client import responses
from io import BytesIO
from itertools import count
from pathlib import Path
from typing import Any, BinaryIO, Final, Self, TextIO

from fastwarc.stream_io import BrotliReader, ChunkedReader, GzipReader, GzipWriter, ZstdReader
from fastwarc.warc import ArchiveIterator, WarcRecord, WarcRecordType

from newscrawl.archive import MAX_FRAMING_BYTES, ArchiveError
from newscrawl.archive.index import IndexLine, format_line, index_path, timestamp_of
from newscrawl.archive.remote import ArchiveFile, open_file, size_of
from newscrawl.sources.urls import is_slug

Headers = tuple[tuple[str, str], ...]

# Maximum size of a body, compressed and decompressed: DOWNLOAD_MAXSIZE of a crawl.
MAX_BYTES: Final = 8 * 1024 * 1024
# A server compresses once, a proxy in front of it possibly once more.
_MAX_CODINGS = 2
_DECOMPRESSORS: Final[dict[str, Callable[[BytesIO], Any]]] = {
    "gzip": GzipReader,
    "x-gzip": GzipReader,
    "deflate": partial(GzipReader, zlib=True),
    "br": BrotliReader,
    "zstd": ZstdReader,
    "chunked": ChunkedReader,
}
_CHUNK = 256 * 1024
# The headers that a crawl accepts; a server may send "a:b", which is written as "A: b".
_MAX_HEADER_BYTES: Final = 2 * MAX_FRAMING_BYTES


class ContentError(ArchiveError):
    """A body can't be decompressed, exceeds the limit when it is, or can't be read as a page."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Capture:
    """A response as received: `body` is still compressed as its `headers` declare.

    `url` has no fragment, `fetched_at` is timezone-aware, `request` are the headers of the request
    if they are known. Headers are decoded as Latin-1.
    """

    url: str
    fetched_at: datetime
    status: int
    headers: Headers
    body: bytes
    method: str = "GET"
    request: Headers = ()
    ip_address: str | None = None

    def header(self, name: str) -> str:
        """Return the first header of the (lower-case) name, or an empty string."""
        return next((value for key, value in self.headers if key.lower() == name), "")

    @property
    def media_type(self) -> str:
        """Return the media type without parameters, in lower case; empty if there is none."""
        return self.header("content-type").partition(";")[0].strip().lower()


def decoded_body(capture: Capture, *, limit: int = MAX_BYTES) -> bytes:
    """Return the decompressed body; raises ContentError if it is damaged or exceeds `limit` bytes.

    Some archives decompress bodies and keep the Content-Encoding header: a body that is not
    compressed is returned unchanged.
    """
    codings = [*_codings(capture, "content-encoding"), *_codings(capture, "transfer-encoding")]
    if len(codings) > _MAX_CODINGS:
        raise ContentError(f"{capture.url} is compressed {len(codings)} times")
    body = capture.body
    for coding in reversed(codings):
        body = _decompress(body, coding, limit)
    if len(body) > limit:
        raise ContentError(f"{capture.url} holds more than {limit} bytes")
    return body


def _codings(capture: Capture, name: str) -> list[str]:
    named = (coding.strip().lower() for coding in capture.header(name).split(","))
    return [coding for coding in named if coding not in {"", "identity"}]


def _decompress(body: bytes, coding: str, limit: int) -> bytes:
    decompressor = _DECOMPRESSORS.get(coding)
    if decompressor is None or not body:
        return body
    found = bytearray()
    try:
        reader = decompressor(BytesIO(body))
        while len(found) <= limit and (chunk := reader.read(min(_CHUNK, limit + 1))):
            found += chunk
    except OSError as error:
        if body.lstrip()[:1] in {b"<", b"{"}:
            return body
        raise ContentError(f"can't decompress {coding}: {error}") from error
    return bytes(found)


_GZIP = b"\x1f\x8b\x08"
_WARC = b"WARC/1."
# The next record is searched for in growing windows, because it is usually near.
_FIRST_WINDOW = 16 * 1024
_WINDOW = 1024 * 1024
_HEAD = 4096
# Ours: after this number of damaged records in a row, a quarter of the bytes that they occupy is
# skipped before the next search. Otherwise 300,000 lines that each look like the beginning of a
# record, and are each parsed as a long header, take minutes.
_MAX_DAMAGED_IN_A_ROW = 20
_SKIP_DIVISOR = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchivedCapture:
    """A capture and the offset of its record in the file."""

    offset: int
    capture: Capture


class WarcReader:
    """Iterate over the responses whose records begin in [start, stop) of a file.

    If no record begins at `start`, reading begins with the next one. After the iteration, `first`
    is the offset of the first record and `position` that of the next one after the range; `records`
    is the number of records, `damaged` that of unreadable ones, `too_large` that of those over
    `max_bytes`.
    """

    def __init__(
        self,
        path: ArchiveFile,
        start: int = 0,
        stop: int | None = None,
        *,
        max_bytes: int = MAX_BYTES,
    ) -> None:
        self.path = path
        self.first = self.position = start
        self.records = self.damaged = self.too_large = 0
        self._stop = stop
        self._max_bytes = max_bytes
        self._mark = _GZIP if path.name.endswith(".gz") else _WARC
        self._damaged_in_a_row = 0
        self._damaged_from = start

    def __iter__(self) -> Iterator[ArchivedCapture]:
        with _open(self.path, self._stop) as stream:
            size = size_of(self.path)
            begin = _next_record(stream, self.position, self._mark)
            self.first = size if begin is None else begin
            lost = self.position == 0 < self.first  # no record at the beginning of the file
            self.damaged += lost
            while begin is not None:
                stream.seek(begin)
                before = self.records
                try:
                    yield from self._until_damage(stream, size)
                except _EndlessError:
                    begin = _next_record(stream, self.position + 1, self._mark)
                except OSError:
                    # If the first record fails at once, it is the one that ended the previous
                    # attempt.
                    same = lost and self.records == before
                    self.damaged += not same
                    lost = not same
                    self.position = max(self.position, begin)
                    begin = _next_record(stream, self._next_search(before), self._mark)
                else:
                    return
            self.position = size

    def _next_search(self, records_before: int) -> int:
        """Return the offset at which the search for the next record starts after damage."""
        if self.records > records_before + 1 or not self._damaged_in_a_row:
            self._damaged_in_a_row, self._damaged_from = 0, self.position
        self._damaged_in_a_row += 1
        if self._damaged_in_a_row <= _MAX_DAMAGED_IN_A_ROW:
            return self.position + 1
        return self.position + 1 + (self.position - self._damaged_from) // _SKIP_DIVISOR

    def _until_damage(self, stream: BinaryIO, size: int) -> Iterator[ArchivedCapture]:
        for record in ArchiveIterator(stream, parse_http=False):
            self.position = record.stream_pos
            if self.records == 1:
                self._check_compression()
            if self._stop is not None and self.position >= self._stop:
                return
            self.records += 1
            found = self._read_capture(record)
            if found is not None:
                yield ArchivedCapture(offset=self.position, capture=found)
            elif self._is_endless(record, size):
                raise _EndlessError
        self.position = size

    def _is_endless(self, record: WarcRecord, size: int) -> bool:
        """Return whether a record claims more bytes than the file has (compressed: than the limit).

        Skipping that many bytes would skip the following records, too.
        """
        if self._mark == _GZIP:
            return bool(record.content_length > self._max_bytes)
        return bool(record.content_length > size - self.position)

    def _check_compression(self) -> None:
        """Raise ArchiveError for a file compressed as a whole: its records have no offsets."""
        if self._mark == _GZIP:
            with _open(self.path, self.position + len(_GZIP)) as other:
                other.seek(self.position)
                if other.read(len(_GZIP)) != _GZIP:
                    raise ArchiveError(
                        f"{self.path} is compressed as a whole, not record by record: "
                        "decompress it with gunzip"
                    )

    def _read_capture(self, record: WarcRecord) -> Capture | None:
        """Return the capture of a response; None for other and for unreadable records."""
        if record.record_type != WarcRecordType.response:
            return None
        if record.content_length > self._max_bytes:
            self.too_large += 1
            return None
        found = _capture_of(record)
        self.damaged += found is None
        return found


class _EndlessError(Exception):
    """A record has an impossible length: the next one is searched for after its beginning."""


def read_at(path: ArchiveFile, offset: int, *, max_bytes: int = MAX_BYTES) -> Capture:
    """Return the capture whose record begins at an offset; raises ArchiveError if there is none."""
    reader = WarcReader(path, offset, offset + 1, max_bytes=max_bytes)
    for entry in reader:
        if entry.offset == offset:
            return entry.capture
    raise ArchiveError(f"{path} holds no response at byte {offset} that can be read")


def index_line(capture: Capture, offset: int) -> IndexLine:
    """Return the line of the index for a capture whose record begins at the offset."""
    return IndexLine(
        url=capture.url,
        timestamp=timestamp_of(capture.fetched_at),
        status=capture.status,
        method=capture.method,
        mime=capture.media_type or "unk",
        offset=offset,
    )


def _capture_of(record: WarcRecord) -> Capture | None:
    expected = record.content_length
    try:
        record.parse_http(max_header_len=_MAX_HEADER_BYTES)
    except OSError:
        return None
    headers = record.http_headers
    body = record.reader.read(expected)
    fetched_at, url = record.record_date, record.headers.get("WARC-Target-URI")
    if headers is None or headers.status_code is None or fetched_at is None or not url:
        return None
    if len(body) < record.content_length:
        return None  # the file ends within the record
    return Capture(
        url=url.strip("<>").partition("#")[0],
        fetched_at=fetched_at,
        status=headers.status_code,
        headers=tuple(
            (name.decode("latin-1"), value.decode("latin-1"))
            for name, value in headers.items_bytes()
        ),
        body=body,
        ip_address=record.headers.get("WARC-IP-Address"),
    )


def _open(path: ArchiveFile, stop: int | None) -> BinaryIO:
    try:
        return open_file(path, stop)
    except OSError as error:
        raise ArchiveError(f"can't read {path}: {error.strerror}") from error


def _next_record(stream: BinaryIO, start: int, mark: bytes) -> int | None:
    """Return the offset of the first record at or after `start`; records begin with `mark`."""
    base = stream.seek(start)
    size = _FIRST_WINDOW
    window = stream.read(size)
    while window:
        size = min(2 * size, _WINDOW)
        more = stream.read(size)
        # The mark may lie across two windows.
        both = window + more
        place = both.find(mark)
        while place != -1 and place < len(window):
            if mark == _WARC or _is_record(both[place : place + _HEAD]):
                return base + place
            place = both.find(mark, place + 1)
        base += len(window)
        window = more
    return None


def _is_record(head: bytes) -> bool:
    try:
        return zlib.decompressobj(wbits=31).decompress(head, len(_WARC)) == _WARC
    except zlib.error:
        return False


_STANDARD: Final = "https://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/"
# Request headers that must not be archived.
_SECRET_HEADERS: Final = {"authorization", "proxy-authorization", "cookie"}
# Headers of the transfer, which don't apply to the stored body.
_TRANSFER_HEADERS: Final = {"transfer-encoding", "content-length", "connection", "keep-alive"}


class ArchiveWriter:
    """Write captures to `folder`/YYYY-MM-DD/, in files of up to `max_bytes`.

    `name` is the prefix of the file names; `info` is written to the warcinfo record of each file.
    Not thread-safe. Its methods raise ArchiveError.
    """

    def __init__(
        self, folder: Path, name: str, *, max_bytes: int, info: dict[str, str] | None = None
    ) -> None:
        if not is_slug(name):
            raise ArchiveError(f"{name!r} can't name the files of an archive: use a source's slug")
        self._folder = folder
        self._name = name
        self._max_bytes = max_bytes
        self._info = info or {}
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
        """Append a capture: response, request if known, and its line in the index."""
        try:
            self._write(capture)
        except OSError as error:
            raise ArchiveError(f"can't write to {self._folder}: {error.strerror}") from error

    def close(self) -> None:
        """Close the current file; the next `write` opens a new one."""
        for opened in (self._warc, self._index):
            if opened is not None:
                opened.close()
        self._warc = self._index = None

    def _write(self, capture: Capture) -> None:
        if self._warc is not None and self._warc.tell() >= self._max_bytes:
            self.close()
        if self._warc is None or self._index is None:
            self._warc, self._index = self._begin()
        headers = [
            (name, value)
            for name, value in capture.headers
            if name.lower() not in _TRANSFER_HEADERS
        ]
        head = _http_head(
            f"HTTP/1.1 {capture.status} {responses.get(capture.status, '')}",
            [*headers, ("Content-Length", str(len(capture.body)))],
        )
        response = _record("response", capture, head + capture.body)
        if capture.ip_address:
            response.headers["WARC-IP-Address"] = capture.ip_address
        digest = sha1(capture.body, usedforsecurity=False).digest()
        offset = self._warc.tell()
        _append(self._warc, response, digest)
        length = self._warc.tell() - offset
        if capture.request:
            shared = [
                (name, value)
                for name, value in capture.request
                if name.lower() not in _SECRET_HEADERS
            ]
            path = "/" + capture.url.partition("://")[2].partition("/")[2]
            head = _http_head(f"{capture.method} {path} HTTP/1.1", shared)
            request = _record("request", capture, head)
            request.headers["WARC-Concurrent-To"] = str(response.record_id)
            _append(self._warc, request)
        line = format_line(
            index_line(capture, offset),
            digest=f"sha1:{b32encode(digest).decode()}",
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
        about = WarcRecord()
        about.init_headers(WarcRecordType.warcinfo)
        about.headers["WARC-Filename"] = path.name
        about.headers["Content-Type"] = "application/warc-fields"
        info = {"format": "WARC File Format 1.1", "conformsTo": _STANDARD, **self._info}
        lines = (f"{name}: {value}\r\n" for name, value in info.items())
        about.set_bytes_content("".join(lines).encode())
        _append(warc, about)
        return warc, index

    def _create(self, day: Path, now: datetime) -> tuple[BinaryIO, Path]:
        """Create a file whose name is unique among all machines that share the folder."""
        host = socket.gethostname().partition(".")[0] or "localhost"
        for serial in self._serial:
            origin = f"{timestamp_of(now)}-{host}-{os.getpid()}-{serial:05d}"
            path = day / f"{self._name}-{origin}.warc.gz"
            try:
                return path.open("xb"), path
            except FileExistsError:
                continue
        raise AssertionError("count() never ends")


def _http_head(first_line: str, headers: Iterable[tuple[str, str]]) -> bytes:
    """Return the first line and the headers in the bytes that were sent."""
    lines = [first_line.strip(), *(f"{name}: {value}" for name, value in headers), "", ""]
    return "\r\n".join(lines).encode("latin-1", "replace")


def _record(kind: str, capture: Capture, content: bytes) -> WarcRecord:
    """Return the record of a response or a request (WARC 1.1, sections 6.3 and 6.4)."""
    record = WarcRecord()
    record.init_headers(getattr(WarcRecordType, kind))
    moment = capture.fetched_at.astimezone(UTC)
    # With fractions of seconds, so that a replay gives the exact time of the fetch.
    record.headers["WARC-Date"] = f"{moment:%Y-%m-%dT%H:%M:%S.%f}Z"
    record.headers["WARC-Target-URI"] = capture.url
    record.headers["Content-Type"] = f"application/http; msgtype={kind}"
    record.set_bytes_content(content)
    return record


def _append(warc: BinaryIO, record: WarcRecord, payload_digest: bytes | None = None) -> None:
    """Write a record as a gzip member of its own."""
    member = GzipWriter(warc)
    record.write(member, checksum_data=True, payload_digest=payload_digest)
    member.finish()
    warc.flush()
