"""WARC files: captures, how they are read and written, record by record, and their index.

A record begins with a gzip member of its own (WARC 1.1, annex D.2) or is not compressed; readers
continue after damaged records. Each writer creates files of its own, so that any number of crawls
may share a folder. It writes and flushes a record before its line of the index, so the index never
names a record that is missing; readers skip the incomplete record of a crawl that was killed.
"""

import json
import os
import re
import socket
import zlib
from base64 import b32encode
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from hashlib import sha1
from http.client import responses
from io import BytesIO
from itertools import count
from pathlib import Path
from typing import Any, BinaryIO, Final, Self, TextIO
from urllib.parse import urlsplit

from fastwarc.stream_io import BrotliReader, GzipReader, GzipWriter, ZstdReader
from fastwarc.warc import ArchiveIterator, WarcRecord, WarcRecordType

from newscrawl.archive import MAX_FRAMING_BYTES, ArchiveError
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
}
_ZLIB: Final = frozenset({"gzip", "x-gzip", "deflate"})
# Raw deflate, and gzip or zlib by their headers (zlib.decompressobj).
_ZLIB_FORMS: Final = (-15, 47)
_CHUNK_SIZE: Final = re.compile(rb"(?:\r?\n)?([0-9a-fA-F]{1,8})[ \t]*+(?:;[^\r\n]*+)?\r?\n")
_CHUNK = 256 * 1024
# A resource is a page without the HTTP that sent it (WARC 1.1, 6.3).
_RESPONSES: Final = (WarcRecordType.response, WarcRecordType.resource)
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
        if coding != "chunked":
            body = _decompress(body, coding, limit)
            continue
        # Of a body that is cut off the chunks that are there; the body if it has none.
        chunks, end = [], 0
        while size := _CHUNK_SIZE.match(body, end):
            start, end = size.end(), size.end() + int(size[1], 16)
            chunks.append(body[start:end])
            if start == end:
                break
        body = b"".join(chunks) if chunks else body
    for _ in codings or [""]:  # compressed once more than is declared
        body = _decompress(body, "gzip", limit) if body.startswith(_GZIP) else body
    if len(body) > limit:
        raise ContentError(f"{capture.url} holds more than {limit} bytes")
    return body


def _codings(capture: Capture, name: str) -> list[str]:
    codings = (coding.strip().lower() for coding in capture.header(name).split(","))
    return [coding for coding in codings if coding not in {"", "identity"}]


def _decompress(body: bytes, coding: str, limit: int) -> bytes:
    """Return the body decompressed as its coding says, or else as one of zlib's forms, which
    servers confuse; of one that is cut off or damaged at its end, what is before."""
    if coding not in _DECOMPRESSORS or not body:
        return body
    unpacked = bytearray()
    try:
        reader = _DECOMPRESSORS[coding](BytesIO(body))
        while len(unpacked) <= limit and (chunk := reader.read(min(_CHUNK, limit + 1))):
            unpacked += chunk
    except OSError as error:
        if unpacked and coding in _ZLIB:
            return bytes(unpacked)
        for wbits in _ZLIB_FORMS if coding in _ZLIB else ():
            with suppress(zlib.error):
                return zlib.decompressobj(wbits).decompress(body, limit + 1)
        if body.lstrip()[:1] in {b"<", b"{"}:
            return body
        raise ContentError(f"can't decompress {coding}: {error}") from error
    return bytes(unpacked)


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
        with _open(self.path, _HEAD) as beginning:  # some names end with .gz though nothing is
            head = beginning.read(_HEAD).lstrip()
            self._mark = next(
                (mark for mark in (_GZIP, _WARC) if head.startswith(mark)), self._mark
            )
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
        for record in ArchiveIterator(stream, parse_http=False, quirks_mode=True):
            self.position = record.stream_pos
            if self.records == 1 and self._mark == _GZIP:
                with _open(self.path, self.position + len(_GZIP)) as second:
                    second.seek(self.position)
                    if second.read(len(_GZIP)) != _GZIP:  # records in one member have no offsets
                        raise ArchiveError(
                            f"{self.path} is compressed as a whole, not record by record: "
                            "decompress it with gunzip"
                        )
            if self._stop is not None and self.position >= self._stop:
                return
            self.records += 1
            is_response = record.record_type in _RESPONSES
            is_large = record.content_length > self._max_bytes
            capture = _capture_of(record) if is_response and not is_large else None
            # One that claims more bytes than the file has (compressed: than the limit): skipping
            # that many would skip the following records, too.
            limit = self._max_bytes if self._mark == _GZIP else size - self.position
            self.too_large += is_response and is_large
            self.damaged += is_response and not is_large and capture is None
            if capture is not None:
                yield ArchivedCapture(offset=self.position, capture=capture)
            elif record.content_length > limit:
                raise _EndlessError
        self.position = size


class _EndlessError(Exception):
    """A record has an impossible length: the next one is searched for after its beginning."""


def read_at(path: ArchiveFile, offset: int, *, max_bytes: int = MAX_BYTES) -> Capture:
    """Return the capture whose record begins at an offset; raises ArchiveError if there is none."""
    reader = WarcReader(path, offset, offset + 1, max_bytes=max_bytes)
    for entry in reader:
        if entry.offset == offset:
            return entry.capture
    raise ArchiveError(f"{path} holds no response at byte {offset} that can be read")


def _capture_of(record: WarcRecord) -> Capture | None:
    expected, kind = record.content_length, record.headers.get("Content-Type") or ""
    status: int | None = 200
    headers: Iterable[tuple[bytes, bytes]] = [(b"Content-Type", kind.encode("latin-1", "replace"))]
    if "http" in kind or (record.record_type == WarcRecordType.response and "html" not in kind):
        try:
            record.parse_http(quirks_mode=True, max_header_len=_MAX_HEADER_BYTES)
        except OSError:
            return None
        status = record.http_headers.status_code if record.http_headers else None
        headers = record.http_headers.items_bytes() if record.http_headers else ()
    body = record.reader.read(expected)
    fetched_at, url = record.record_date, record.headers.get("WARC-Target-URI")
    if status is None or fetched_at is None or not url:
        return None
    if len(body) < record.content_length:
        return None  # the file ends within the record
    return Capture(
        url=url.strip("<>").partition("#")[0],
        fetched_at=fetched_at,
        status=status,
        headers=tuple((name.decode("latin-1"), value.decode("latin-1")) for name, value in headers),
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
        joined = window + more
        place = joined.find(mark)
        while place != -1 and place < len(window):
            if mark == _WARC:
                return base + place
            with suppress(zlib.error):
                member = zlib.decompressobj(wbits=31)
                if member.decompress(joined[place : place + _HEAD], len(_WARC)) == _WARC:
                    return base + place
            place = joined.find(mark, place + 1)
        base += len(window)
        window = more
    return None


# CDXJ index: a line for each capture, to find it without reading its WARC file. A line is a key,
# the time in 14 digits and a JSON object, as pywb and cdxj-indexer write them. The index of a WARC
# file has the same name with this suffix.
SUFFIX: Final = ".cdxj"
_NOT_MODIFIED = 304
# Media types of HTML pages; "unk" means that the server sent none.
_INDEXED_PAGES = {"unk", "text/html", "application/xhtml+xml"}


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexLine:
    """A capture in the index. `timestamp` has 14 digits, UTC."""

    url: str
    timestamp: str
    status: int
    method: str
    mime: str
    offset: int

    @classmethod
    def of(cls, capture: "Capture", offset: int) -> Self:
        """Return the line of a capture whose record begins at the offset."""
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
        """Return the sort key of the captures of a URL: successful before failed, then newer."""
        return self.status < 400, self.timestamp

    @property
    def answers(self) -> bool:
        """Return whether it has a body: 304 and HEAD responses have none."""
        return self.method == "GET" and self.status != _NOT_MODIFIED

    @property
    def is_page(self) -> bool:
        """Return whether it may be an HTML page."""
        return self.answers and self.status == 200 and self.mime in _INDEXED_PAGES


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
    timestamp, _, fields = text.partition(" ")[2].partition(" ")
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


def moment_of(timestamp: str) -> datetime:
    """Return the moment of 14 digits."""
    return datetime.strptime(timestamp, "%Y%m%d%H%M%S").replace(tzinfo=UTC)


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
            if self._warc is not None and self._warc.tell() >= self._max_bytes:
                self.close()
            if self._warc is None or self._index is None:
                self._warc, self._index = self._begin()
            status = f"HTTP/1.1 {capture.status} {responses.get(capture.status, '')}".strip()
            length = f"Content-Length: {len(capture.body)}"
            head = _http_head(status, capture.headers, length, without=_TRANSFER_HEADERS)
            response = _record("response", capture, head + capture.body)
            if capture.ip_address:
                response.headers["WARC-IP-Address"] = capture.ip_address
            digest = sha1(capture.body, usedforsecurity=False).digest()
            offset = self._warc.tell()
            _append(self._warc, response, digest)
            record_length = self._warc.tell() - offset
            if capture.request:
                path = "/" + capture.url.partition("://")[2].partition("/")[2]
                line = f"{capture.method} {path} HTTP/1.1"
                head = _http_head(line, capture.request, without=_SECRET_HEADERS)
                request = _record("request", capture, head)
                request.headers["WARC-Concurrent-To"] = str(response.record_id)
                _append(self._warc, request)
            line = format_line(
                IndexLine.of(capture, offset),
                digest=f"sha1:{b32encode(digest).decode()}",
                length=record_length,
                filename=Path(self._warc.name).name,
            )
            self._index.write(line)
            self._index.flush()
        except OSError as error:
            raise ArchiveError(f"can't write to {self._folder}: {error.strerror}") from error

    def close(self) -> None:
        """Close the current file; the next `write` opens a new one."""
        for opened in (self._warc, self._index):
            if opened is not None:
                opened.close()
        self._warc = self._index = None

    def _begin(self) -> tuple[BinaryIO, TextIO]:
        now = datetime.now(UTC)
        day = self._folder / f"{now:%Y-%m-%d}"
        day.mkdir(exist_ok=True)
        host = socket.gethostname().partition(".")[0] or "localhost"
        warc = None
        while warc is None:  # until the name is unique among all machines that share the folder
            origin = f"{timestamp_of(now)}-{host}-{os.getpid()}-{next(self._serial):05d}"
            path = day / f"{self._name}-{origin}.warc.gz"
            with suppress(FileExistsError):
                warc = path.open("xb")
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


def _http_head(
    first_line: str, headers: Headers, *last_lines: str, without: Collection[str]
) -> bytes:
    """Return the first line and the headers but for some, in the bytes that were sent."""
    lines = (f"{name}: {value}" for name, value in headers if name.lower() not in without)
    return "\r\n".join([first_line, *lines, *last_lines, "", ""]).encode("latin-1", "replace")


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
