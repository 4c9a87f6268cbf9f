"""Find the captures of URLs in a folder of WARC files."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from urllib.parse import urlsplit

from newscrawl.archive import ArchiveError
from newscrawl.archive.remote import SUFFIXES
from newscrawl.archive.warc import (
    MAX_BYTES,
    Capture,
    IndexLine,
    WarcReader,
    index_path,
    moment_of,
    parse_line,
    read_at,
)
from newscrawl.sources.urls import canonical_if_valid


class NotArchivedError(ArchiveError):
    """A URL of which the archive holds no capture."""


@dataclass(frozen=True, slots=True)
class _BestCapture:
    merit: tuple[bool, str]
    file: int
    offset: int
    is_page: bool


@dataclass(frozen=True, slots=True, order=True)
class CaptureLocation:
    """The position of a capture in a WARC file; `timestamp` has 14 digits, UTC."""

    path: Path
    offset: int
    url: str
    timestamp: str


class Archive:
    """The best capture of each URL in a folder: the newest successful one, otherwise the newest.

    The constructor reads the indexes. Records beyond the end of an index (another tool wrote the
    file, or the crawl was killed) are read from the file itself. About 400 bytes of memory are
    needed for each URL. Raises ArchiveError if the folder can't be read or is empty.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.files = warc_files(folder)
        if not self.files:
            raise ArchiveError(f"no WARC file (*.warc.gz, *.warc) in {folder}")
        self._best: dict[str, _BestCapture] = {}
        self._newest: dict[str, str] = {}
        for number, path in enumerate(self.files):
            for line in _lines(path):
                if not line.answers:
                    continue
                host = urlsplit(line.url).hostname or ""
                self._newest[host] = max(self._newest.get(host, ""), line.timestamp)
                best = self._best.get(line.url)
                if best is None or line.merit >= best.merit:
                    place = _BestCapture(line.merit, number, line.offset, line.is_page)
                    self._best[line.url] = place

    def __len__(self) -> int:
        """Return the number of URLs."""
        return len(self._best)

    def find(self, url: str, *, max_bytes: int = MAX_BYTES) -> Capture:
        """Return the capture of a URL, or else of the same one with parameters for tracking, as
        feeds give it.

        Raises NotArchivedError if there is none, ArchiveError if it is damaged or larger than
        `max_bytes`.
        """
        url = url.partition("#")[0]
        best = self._best.get(url)
        if best is None:
            start = url + ("&" if "?" in url else "?")
            longer = (address for address in self._best if address.startswith(start))
            tracked = (
                self._best[address] for address in longer if canonical_if_valid(address) == url
            )
            best = max(tracked, key=lambda capture: capture.merit, default=None)
        if best is None:
            raise NotArchivedError(f"not in the archive {self.folder}")
        return read_at(self.files[best.file], best.offset, max_bytes=max_bytes)

    def pages(self) -> list[CaptureLocation]:
        """Return the locations of HTML pages in the order of files and offsets."""
        return sorted(
            CaptureLocation(self.files[best.file], best.offset, url, best.merit[1])
            for url, best in self._best.items()
            if best.is_page
        )

    def newest(self, hosts: Collection[str]) -> datetime | None:
        """Return the time of the newest capture of these hosts, or else of any host."""
        times = [self._newest[host] for host in hosts if host in self._newest]
        newest = max(times or self._newest.values(), default=None)
        return None if newest is None else moment_of(newest)


def warc_files(folder: Path) -> list[Path]:
    """Return the WARC files in a folder and its subfolders, by name."""
    if not folder.is_dir():
        raise ArchiveError(f"no folder {folder}")
    return sorted(path for path in folder.rglob("*.warc*") if path.name.endswith(SUFFIXES))


def _lines(path: Path) -> Iterator[IndexLine]:
    """Yield the lines of a file's index, then those of the records beyond its end."""
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
