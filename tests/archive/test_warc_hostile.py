"""Archives that somebody made to harm: each costs little, and what is good in it is read."""

import gzip
from pathlib import Path

import pytest

from newscrawl.archive import ArchiveError
from newscrawl.archive.warc import MAX_BYTES, ArchiveWriter, Capture, WarcReader
from tests.archives import answer, record

LINES = 300_000
GOOD = "https://a.example/good"
BAD = "https://a.example/bad"


def good(number: int) -> bytes:
    return record(f"{GOOD}/{number}", answer(b"<p>Good</p>"), packed=False)


def bad(*, warc: bytes = b"", http: str = "", body: bytes = b"<p>Bad</p>") -> bytes:
    """A record with more lines in its own header, or in that of the answer."""
    hostile = record(BAD, answer(body, *([http] if http else [])), packed=False)
    return hostile.replace(b"WARC-Date", warc + b"WARC-Date", 1)


def with_length(length: str) -> bytes:
    head, _, end = bad().partition(b"Content-Length: ")
    return head + b"Content-Length: " + length.encode() + b"\r\n" + end.partition(b"\r\n")[2]


HOSTILE = {
    "header lines": bad(warc=b"X: y\r\n" * LINES),
    "header lines without a colon": bad(warc=b"xy\r\n" * LINES),
    "continued header lines": bad(warc=b"X: y\r\n" + b" z\r\n" * LINES),
    "a header of 5 MB": bad(warc=b"X: " + b"y" * 5_000_000 + b"\r\n"),
    "lines that begin records": bad(warc=b"WARC/1.0\r\n" * LINES),
    "records without an end": b"WARC/1.0\r\nA: b\r\n" * LINES,
    "HTTP header lines": bad(http="\r\n".join(["X: y"] * LINES)),
    "no length": bad().replace(b"Content-Length", b"X-Length"),
    "a negative length": with_length("-5"),
    "a length of 10^18": with_length("1" + "0" * 18),
    "a length of 10^40": with_length("1" + "0" * 40),
    "no number as a length": with_length("many"),
    "a bomb": bad(body=bytes(8 * MAX_BYTES)),
    "an end too early": bad()[:-30],
    "a time that is none": bad().replace(b"2026-11-20T", b"9999-99-99T"),
    "a URL that is none": bad().replace(BAD.encode(), b"http://["),
    "empty lines": b"\r\n" * LINES,
    "NUL bytes": bytes(LINES),
}


def read(path: Path) -> tuple[list[Capture], WarcReader]:
    reader = WarcReader(path)
    return [place.capture for place in reader], reader


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("packed", [True, False], ids=["packed", "plain"])
def test_records_around_a_hostile_one_are_read(tmp_path, name, packed):
    # Behind damage that fills a file, a part of what follows may be passed over, too.
    records = [good(0), HOSTILE[name], *(good(number) for number in range(1, 7_000))]
    path = tmp_path / ("x.warc.gz" if packed else "x.warc")
    path.write_bytes(b"".join(gzip.compress(item, 1) if packed else item for item in records))
    captures, reader = read(path)
    read_pages = {
        item.url.removeprefix(f"{GOOD}/") for item in captures if item.url.startswith(GOOD)
    }
    assert {"0", "6999"} <= read_pages
    # However it is made, it isn't tried line by line.
    assert reader.damaged < 100
    if name not in {"lines that begin records", "records without an end"}:
        assert len(read_pages) >= 6_999
        assert reader.damaged + reader.too_large <= 2


@pytest.mark.parametrize("kind", ["revisit", "request", "metadata", "warcinfo", "conversion", "?"])
def test_other_kinds_of_records_are_skipped(tmp_path, kind):
    path = tmp_path / "x.warc.gz"
    skipped = record(BAD, answer(b""), kind=kind)
    path.write_bytes(gzip.compress(good(0)) + skipped + gzip.compress(good(1)))
    captures, reader = read(path)
    assert [capture.url for capture in captures] == [f"{GOOD}/0", f"{GOOD}/1"]
    assert (reader.records, reader.damaged) == (3, 0)


def test_compressed_damaged_records_are_skipped_together(tmp_path):
    path = tmp_path / "x.warc.gz"
    begun = gzip.compress(b"WARC/1.0\r\n") * 30_000
    goods = b"".join(gzip.compress(good(number), 1) for number in range(3_000))
    path.write_bytes(begun + goods)
    captures, reader = read(path)
    assert captures[-1].url == f"{GOOD}/2999"
    assert 1 <= reader.damaged < 100


@pytest.mark.parametrize("name", ["..", ".", "-", "a/b", "../a", "", "a\0b", "A", "/etc"])
def test_invalid_archive_name_is_refused(tmp_path, name):
    with pytest.raises(ArchiveError, match="can't name the files"):
        ArchiveWriter(tmp_path, name, max_bytes=1_000)
