"""Finds a URL's capture in a folder of WARC files."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlsplit

from newscrawl.archive.captures import MAX_BYTES, ArchiveError, Capture
from newscrawl.archive.index import IndexLine, index_path, parse_line
from newscrawl.archive.reading import SUFFIXES, WarcReader, read_at


class NotArchivedError(ArchiveError):
    """A URL of which the archive holds no capture."""


@dataclass(frozen=True, slots=True)
class _Held:
    merit: tuple[bool, str]
    file: int
    offset: int
    is_page: bool


@dataclass(frozen=True, slots=True, order=True)
class Spot:
    """Where the capture of a URL lies; `timestamp` has 14 digits, UTC."""

    path: Path
    offset: int
    url: str
    timestamp: str


class Archive:
    """The best capture of each URL in a folder: the newest that succeeded, else the newest.

    Indexes are read when it is opened; what a file holds beyond its index (another tool made it,
    or the crawl that wrote it was killed) is looked up in the file itself. It takes about 400
    bytes of memory for each URL. Raises ArchiveError for a folder that can't be read or is empty.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.files = warc_files(folder)
        if not self.files:
            raise ArchiveError(f"no WARC file (*.warc.gz, *.warc) in {folder}")
        self._held: dict[str, _Held] = {}
        self._newest: dict[str, str] = {}
        for number, path in enumerate(self.files):
            for line in _lines(path):
                self._add(line, number)

    def __len__(self) -> int:
        """The number of URLs."""
        return len(self._held)

    def _add(self, line: IndexLine, file: int) -> None:
        if not line.answers:
            return
        host = urlsplit(line.url).hostname or ""
        self._newest[host] = max(self._newest.get(host, ""), line.timestamp)
        held = self._held.get(line.url)
        if held is None or line.merit >= held.merit:
            self._held[line.url] = _Held(line.merit, file, line.offset, line.is_page)

    def find(self, url: str, *, max_bytes: int = MAX_BYTES) -> Capture:
        """The capture of a URL; raises NotArchivedError where there is none, and ArchiveError
        where it is damaged or larger than `max_bytes`."""
        held = self._held.get(url.partition("#")[0])
        if held is None:
            raise NotArchivedError(f"not in the archive {self.folder}")
        return read_at(self.files[held.file], held.offset, max_bytes=max_bytes)

    def pages(self) -> list[Spot]:
        """Where the captures of HTML pages lie, in the order in which disks like to read."""
        return sorted(
            Spot(self.files[held.file], held.offset, url, held.merit[1])
            for url, held in self._held.items()
            if held.is_page
        )

    def newest(self, hosts: Collection[str]) -> datetime | None:
        """When the newest capture of these hosts was made, to the second; else of any host."""
        times = [self._newest[host] for host in hosts if host in self._newest]
        newest = max(times or self._newest.values(), default=None)
        if newest is None:
            return None
        return datetime.strptime(newest, "%Y%m%d%H%M%S").replace(tzinfo=UTC)


def warc_files(folder: Path) -> list[Path]:
    """The WARC files in a folder and the folders in it, by name."""
    if not folder.is_dir():
        raise ArchiveError(f"no folder {folder}")
    return sorted(path for path in folder.rglob("*.warc*") if path.name.endswith(SUFFIXES))


def _lines(path: Path) -> Iterator[IndexLine]:
    """The index of a file, then what the file holds beyond it."""
    end = 0
    index = index_path(path)
    if index.exists():
        with index.open(encoding="utf-8", errors="replace") as stream:
            for text in stream:
                if parsed := parse_line(text):
                    line, end_of_record = parsed
                    end = max(end, end_of_record)
                    yield line
    if path.stat().st_size > end:
        for place in WarcReader(path, end):
            yield IndexLine.of(place.capture, place.offset)
