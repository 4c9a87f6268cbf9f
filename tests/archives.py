"""WARC files for tests."""

import gzip
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

from newscrawl.archive.lookup import warc_files
from newscrawl.archive.warc import ArchiveWriter, Capture
from newscrawl.items import Document, Page
from newscrawl.reading import PageReader
from tests.site.faults import story

THEN = datetime(2026, 11, 20, 12, 30, 15, 123456, tzinfo=UTC)
HOSTS = ("news.example", "www.daily.example", "www.ft.com")


class DeadlyReader(PageReader):
    """A reader whose process ends at a page that contains "deadly", and that fails at one that
    contains "bottomless"."""

    def read(self, page: Page) -> Document:
        if b"deadly" in page.html:
            os._exit(1)
        if b"bottomless" in page.html:
            raise RecursionError("maximum recursion depth exceeded")
        return super().read(page)


def capture(
    url: str = "https://news.example/a",
    body: bytes = b"<p>Hello</p>",
    *,
    status: int = 200,
    minutes: float = 0,
    headers: tuple[tuple[str, str], ...] = (("Content-Type", "text/html; charset=utf-8"),),
    request: tuple[tuple[str, str], ...] = (("User-Agent", "newscrawl"),),
) -> Capture:
    """Return a capture of THEN plus a number of minutes."""
    return Capture(
        url=url,
        fetched_at=THEN + timedelta(minutes=minutes),
        status=status,
        headers=headers,
        body=body,
        request=request,
        ip_address="192.0.2.1",
    )


def written(folder: Path, *captures: Capture, max_bytes: int = 1_000_000) -> list[Path]:
    """Return the files of an archive with these captures."""
    with ArchiveWriter(folder, "ft", max_bytes=max_bytes) as writer:
        for one in captures:
            writer.write(one)
    return warc_files(folder)


def record(
    url: str,
    payload: bytes,
    *,
    date: str = "2026-11-20T12:30:15Z",
    kind: str = "response",
    packed: bool = True,
) -> bytes:
    """Return a record as another tool (WARC 1.0, as in CC-NEWS) writes it; `payload` is the whole
    HTTP response."""
    head = (
        f"WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Target-URI: {url}\r\nWARC-Date: {date}\r\n"
        "WARC-Record-ID: <urn:uuid:12345678-1234-1234-1234-123456789abc>\r\n"
        "Content-Type: application/http; msgtype=response\r\n"
        f"Content-Length: {len(payload)}\r\n\r\n"
    )
    whole = head.encode() + payload + b"\r\n\r\n"
    return gzip.compress(whole, mtime=0) if packed else whole


def answer(body: bytes, *headers: str, status: int = 200) -> bytes:
    """Return an HTTP response of status, headers and body."""
    lines = [f"HTTP/1.1 {status} OK", "Content-Type: text/html; charset=utf-8", *headers]
    return "\r\n".join([*lines, "", ""]).encode() + body


def page(number: int, *, host: str = "", company: str = "Siemens", date: str = "") -> bytes:
    """Return a record of an article page; each text is its own."""
    host = host or HOSTS[number % len(HOSTS)]
    title = f"Report {number} on the harbour and its {number * 7} cranes"
    moment = {"date": date} if date else {}
    words = " ".join(f"crane-{number}-{place}" for place in range(40))
    body = story(title, company).replace(b"</article>", f"<p>{words}.</p></article>".encode())
    return record(f"https://{host}/story/{number}", answer(body), **moment)


def warc(path: Path, *records: bytes) -> Path:
    """Return the path, written with the records."""
    path.write_bytes(b"".join(records))
    return path
