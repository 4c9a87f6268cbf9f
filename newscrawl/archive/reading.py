"""Reads the captures of a WARC file, record by record, past damage.

Records are told apart by where they begin, in bytes of the file as it lies on disk: each is a
gzip member of its own (WARC 1.1, annex D.2), or stands there unpacked.
"""

import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final

from fastwarc.warc import ArchiveIterator, WarcRecord, WarcRecordType

from newscrawl.archive.captures import MAX_BYTES, ArchiveError, Capture

SUFFIXES: Final = (".warc.gz", ".warc")

_GZIP = b"\x1f\x8b\x08"
_WARC = b"WARC/1."
# The next record is looked for in windows that grow: it mostly is near.
_FIRST_WINDOW = 16 * 1024
_WINDOW = 1024 * 1024
_HEAD = 4096
# Ours: after so many damaged records in a row, a quarter of the bytes that they fill is passed over
# before the next one is looked for. Else 300,000 lines that each look like the beginning of a
# record, and are read as one header as far as it goes, take minutes.
_MOST_DAMAGED = 20
_PASSED_OVER = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a record begins in its file, and the capture in it."""

    offset: int
    capture: Capture


class WarcReader:
    """Reads the responses that begin in [start, stop) of a file, in its order.

    A `start` that is not the beginning of a record stands for the next one. Afterwards `first` and
    `position` are where the first record began and where the next one does; `records` counts
    all of them, `damaged` those that can't be read and `too_large` those over `max_bytes`.
    """

    def __init__(
        self, path: Path, start: int = 0, stop: int | None = None, *, max_bytes: int = MAX_BYTES
    ) -> None:
        self.path = path
        self.first = self.position = start
        self.records = self.damaged = self.too_large = 0
        self._stop = stop
        self._max_bytes = max_bytes
        self._mark = _GZIP if path.name.endswith(".gz") else _WARC
        self._damaged_in_a_row = 0
        self._damaged_from = start

    def __iter__(self) -> Iterator[Place]:
        with _opened(self.path) as stream:
            size = self.path.stat().st_size
            begin = _next_record(stream, self.position, self._mark)
            self.first = size if begin is None else begin
            lost = self.position == 0 < self.first  # no record where the file begins
            self.damaged += lost
            while begin is not None:
                stream.seek(begin)
                before = self.records
                try:
                    yield from self._until_damage(stream, size)
                except _EndlessError:
                    begin = _next_record(stream, self.position + 1, self._mark)
                except OSError:
                    # A record whose very beginning fails is the one that ended the reading before.
                    same = lost and self.records == before
                    self.damaged += not same
                    lost = not same
                    self.position = max(self.position, begin)
                    begin = _next_record(stream, self._behind(before), self._mark)
                else:
                    return
            self.position = size

    def _behind(self, records_before: int) -> int:
        """Where the next record is looked for after damage."""
        if self.records > records_before + 1 or not self._damaged_in_a_row:
            self._damaged_in_a_row, self._damaged_from = 0, self.position
        self._damaged_in_a_row += 1
        if self._damaged_in_a_row <= _MOST_DAMAGED:
            return self.position + 1
        return self.position + 1 + (self.position - self._damaged_from) // _PASSED_OVER

    def _until_damage(self, stream: BinaryIO, size: int) -> Iterator[Place]:
        for record in ArchiveIterator(stream, parse_http=False):
            self.position = record.stream_pos
            if self.records == 1:
                self._check_packing()
            if self._stop is not None and self.position >= self._stop:
                return
            self.records += 1
            found = self._read(record)
            if found is not None:
                yield Place(offset=self.position, capture=found)
            elif self._ends_nowhere(record, size):
                raise _EndlessError
        self.position = size

    def _ends_nowhere(self, record: WarcRecord, size: int) -> bool:
        """Whether a record says that it is longer than the file, or packed and longer than is read:
        who passed over so many bytes would pass over the records behind it, too."""
        if self._mark == _GZIP:
            return bool(record.content_length > self._max_bytes)
        return bool(record.content_length > size - self.position)

    def _check_packing(self) -> None:
        """A file packed as a whole has no second place that one could come back to."""
        if self._mark == _GZIP:
            with _opened(self.path) as other:
                other.seek(self.position)
                if other.read(len(_GZIP)) != _GZIP:
                    raise ArchiveError(
                        f"{self.path} is packed as a whole, not record by record: unpack it with "
                        "gunzip, or pack it again with warcio recompress"
                    )

    def _read(self, record: WarcRecord) -> Capture | None:
        """The capture of a response; None for another record and one that can't be used."""
        if record.record_type != WarcRecordType.response:
            return None
        if record.content_length > self._max_bytes:
            self.too_large += 1
            return None
        found = _capture_of(record)
        self.damaged += found is None
        return found


class _EndlessError(Exception):
    """The record that is read must be left at its beginning, and the next one be looked for."""


def read_at(path: Path, offset: int, *, max_bytes: int = MAX_BYTES) -> Capture:
    """The capture that begins at an offset; raises ArchiveError where there is none."""
    reader = WarcReader(path, offset, offset + 1, max_bytes=max_bytes)
    for place in reader:
        if place.offset == offset:
            return place.capture
    raise ArchiveError(f"{path} holds no response at byte {offset} that can be read")


def _capture_of(record: WarcRecord) -> Capture | None:
    expected = record.content_length
    try:
        record.parse_http(strict_mode=False)
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


def _opened(path: Path) -> BinaryIO:
    try:
        return path.open("rb")
    except OSError as error:
        raise ArchiveError(f"can't read {path}: {error.strerror}") from error


def _next_record(stream: BinaryIO, start: int, mark: bytes) -> int | None:
    """Where the first record at or after `start` begins; `mark` begins all of the file's."""
    base = stream.seek(start)
    size = _FIRST_WINDOW
    window = stream.read(size)
    while window:
        size = min(2 * size, _WINDOW)
        more = stream.read(size)
        # A beginning may lie across the border of two windows.
        both = window + more
        place = both.find(mark)
        while place != -1 and place < len(window):
            if mark == _WARC or _packs_record(both[place : place + _HEAD]):
                return base + place
            place = both.find(mark, place + 1)
        base += len(window)
        window = more
    return None


def _packs_record(head: bytes) -> bool:
    try:
        return zlib.decompressobj(wbits=31).decompress(head, len(_WARC)) == _WARC
    except zlib.error:
        return False
