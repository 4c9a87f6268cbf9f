"""Archives: what is written can be read, by us and by others, whole or cut short."""

import gzip
import json
import random
import zlib
from base64 import b32encode
from datetime import UTC, datetime, timedelta
from hashlib import sha1
from multiprocessing import get_context
from pathlib import Path

import brotli
import pytest
from fastwarc.warc import ArchiveIterator, WarcRecordType
from hypothesis import given, strategies as st

from newscrawl.archive import ArchiveError
from newscrawl.archive.lookup import Archive, NotArchivedError
from newscrawl.archive.warc import (
    ArchiveWriter,
    Capture,
    ContentError,
    IndexLine,
    WarcReader,
    decoded_body,
    format_line,
    index_path,
    parse_line,
    read_at,
    sort_key,
)
from tests.archives import THEN, answer, capture, record, written

PAGES = [capture(f"https://news.example/{n}", b"<p>%d</p>" % n * 50, minutes=n) for n in range(8)]

# Writing -----------------------------------------------------------------------------------------


def test_records_have_their_digests_and_belong_together(tmp_path):
    (path,) = written(tmp_path, *PAGES)
    with path.open("rb") as stream:
        records = [
            (record.headers.asdict(), record.verify_block_digest(), record.record_type)
            for record in ArchiveIterator(stream, parse_http=False)
        ]
    assert all(verified for _, verified, _ in records)
    kinds = [WarcRecordType.response, WarcRecordType.request] * len(PAGES)
    assert [kind for *_, kind in records] == [WarcRecordType.warcinfo, *kinds]
    responses, requests = records[1::2], records[2::2]
    for (response, *_), (request, *_) in zip(responses, requests, strict=True):
        assert request["WARC-Concurrent-To"] == response["WARC-Record-ID"]
        assert request["WARC-Target-URI"] == response["WARC-Target-URI"]


def test_index_lines_point_at_their_records(tmp_path):
    (path,) = written(tmp_path, *PAGES)
    lines = index_path(path).read_text("ascii").splitlines()
    assert len(lines) == len(PAGES)
    packed = path.read_bytes()
    for line, page in zip(lines, PAGES, strict=True):
        key, timestamp, facts = line.split(" ", 2)
        fields = json.loads(facts)
        start, length = int(fields["offset"]), int(fields["length"])
        text = gzip.decompress(packed[start : start + length])
        assert f"WARC-Target-URI: {page.url}\r\n".encode() in text
        assert fields["digest"] == f"sha1:{b32encode(sha1(page.body).digest()).decode()}"  # noqa: S324
        assert f"WARC-Payload-Digest: {fields['digest']}\r\n".encode() in text
        assert text.endswith(page.body + b"\r\n\r\n")
        assert key == "example,news)/" + page.url[-1]
        assert timestamp == f"{page.fetched_at:%Y%m%d%H%M%S}"
        assert fields["filename"] == path.name
        assert fields["mime"] == "text/html"


def test_capture_is_read_unchanged(tmp_path):
    headers = (("Content-Type", "text/html"), ("Set-Cookie", "a=1"), ("Set-Cookie", "b=\xfc"))
    page = capture(headers=headers, body=bytes(range(256)), status=404)
    (path,) = written(tmp_path, page)
    (place,) = WarcReader(path)
    again = place.capture
    assert (again.url, again.fetched_at, again.status) == (page.url, page.fetched_at, 404)
    assert (again.body, again.ip_address) == (page.body, "192.0.2.1")
    assert again.headers[:-1] == headers
    assert again.headers[-1] == ("Content-Length", "256")


def test_secrets_of_a_request_are_not_written(tmp_path):
    request = (("Authorization", "Basic c2VjcmV0"), ("Cookie", "id=secret"), ("Accept", "*/*"))
    (path,) = written(tmp_path, capture(request=request))
    text = gzip.decompress(path.read_bytes())
    assert b"Accept: */*" in text
    assert b"secret" not in text
    assert b"c2VjcmV0" not in text


def test_full_file_is_followed_by_another(tmp_path):
    noise = random.Random(1)  # noqa: S311 - a body that can't be packed
    pages = [capture(f"https://a.example/{n}", noise.randbytes(4000)) for n in range(10)]
    files = written(tmp_path, *pages, max_bytes=10_000)
    assert len(files) == 4
    assert all(path.stat().st_size < 16_000 for path in files)
    archive = Archive(tmp_path)
    assert [archive.find(page.url).body for page in pages] == [page.body for page in pages]


def test_unwritable_folder_is_named(tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("")
    with pytest.raises(ArchiveError, match=r"can't write to .*file: "):
        ArchiveWriter(blocked, "ft", max_bytes=1)


def _write_some(folder: Path, name: str) -> None:
    with ArchiveWriter(folder, name, max_bytes=3_000) as writer:
        for number in range(30):
            writer.write(capture(f"https://{name}.example/{number}", minutes=number))


@pytest.mark.thorough
def test_several_crawls_share_a_folder(tmp_path):
    context = get_context("spawn")
    names = ["ft", "ft", "bbc"]
    crawls = [context.Process(target=_write_some, args=(tmp_path, name)) for name in names]
    for process in crawls:
        process.start()
    for process in crawls:
        process.join()
    archive = Archive(tmp_path)
    assert len(archive) == 60
    assert sum(len(list(WarcReader(path))) for path in archive.files) == 90


# Reading -----------------------------------------------------------------------------------------


def test_records_missing_in_the_index_of_a_killed_crawl_are_found(tmp_path):
    (path,) = written(tmp_path, *PAGES)
    index = index_path(path)
    lines = index.read_text().splitlines(keepends=True)
    index.write_text("".join(lines[:3]) + lines[3][:70])
    archive = Archive(tmp_path)
    assert len(archive) == len(PAGES)
    assert archive.find(PAGES[7].url).body == PAGES[7].body


@pytest.mark.parametrize("cut", range(0, 1500, 130))
def test_file_truncated_anywhere_is_read(tmp_path, cut):
    (path,) = written(tmp_path, *PAGES)
    path.write_bytes(path.read_bytes()[:-cut] if cut else path.read_bytes())
    urls = [place.capture.url for place in WarcReader(path)]
    assert urls == [page.url for page in PAGES[: len(urls)]]
    assert len(urls) >= len(PAGES) - 4


def test_records_after_a_damaged_one_are_read(tmp_path):
    (path,) = written(tmp_path, *PAGES)
    places = list(WarcReader(path))
    data = bytearray(path.read_bytes())
    data[places[3].offset + 60 : places[3].offset + 90] = bytes(30)
    path.write_bytes(bytes(data))
    reader = WarcReader(path)
    urls = [place.capture.url for place in reader]
    assert urls == [page.url for page in (*PAGES[:3], *PAGES[4:])]
    assert reader.damaged == 1


def test_parts_of_a_file_cover_it_exactly(tmp_path):
    (path,) = written(tmp_path, *PAGES)
    size = path.stat().st_size
    urls, position = [], 0
    for start in range(0, size, 700):
        reader = WarcReader(path, start, start + 700)
        urls += [place.capture.url for place in reader]
        assert reader.first == position or reader.first >= start + 700
        position = max(position, reader.position)
    assert urls == [page.url for page in PAGES]
    assert position == size


def test_files_of_other_tools_are_read(tmp_path):
    packed, plain = tmp_path / "a.warc.gz", tmp_path / "b.warc"
    names = ["https://a.example/1", "https://a.example/2"]
    for path in (packed, plain):
        pages = [record(name, answer(b"<p>x</p>"), packed=path is packed) for name in names]
        path.write_bytes(b"".join(pages))
        assert [place.capture.url for place in WarcReader(path)] == names
        assert [read_at(path, place.offset).body for place in WarcReader(path)] == [b"<p>x</p>"] * 2


def test_revisit_record_is_skipped_for_its_original(tmp_path):
    url, path = "https://a.example/1", tmp_path / "a.warc.gz"
    path.write_bytes(record(url, answer(b"<p>x</p>")) + record(url, b"", kind="revisit"))
    assert [place.capture.url for place in WarcReader(path)] == [url]
    assert Archive(tmp_path).find(url).body == b"<p>x</p>"


@pytest.mark.parametrize(
    "bad",
    [
        record("https://a.example/x", b""),
        record("https://a.example/x", b"no HTTP at all"),
        record("https://a.example/x", b"HTTP/1.1 fine\r\n\r\nbody"),
        record("https://a.example/x", answer(b"x", "X: " + "a" * 200_000)),
        record("https://a.example/x", answer(b"x"), date="yesterday"),
        record("", answer(b"x")),
        record("https://a.example/x", answer(b"x"))[:-30],
        b"\x1f\x8b\x08\x00 no gzip at all",
        b"neither gzip nor WARC",
    ],
    ids=["empty", "no http", "status", "headers", "date", "url", "cut", "no gzip", "noise"],
)
def test_invalid_records_are_skipped(tmp_path, bad):
    path = tmp_path / "a.warc.gz"
    first = record("https://a.example/1", answer(b"one"))
    path.write_bytes(first + bad + record("https://a.example/2", answer(b"two")))
    reader = WarcReader(path)
    assert [place.capture.body for place in reader] == [b"one", b"two"]
    assert reader.damaged == 1


TEXT = b"<html><p>" + b"The harbour reopened on Friday. " * 40 + b"</p></html>"
CHUNKED, GZIP, DEFLATE = (
    "Transfer-Encoding: chunked",
    "Content-Encoding: gzip",
    "Content-Encoding: deflate",
)


def chunks(
    body: bytes, extension: bytes = b"", last: bytes = b"0\r\n\r\n", end: bytes = b"\r\n"
) -> bytes:
    parts = [body[start : start + 300] for start in range(0, len(body), 300)]
    return b"".join(b"%x%b%b%b%b" % (len(part), extension, end, part, end) for part in parts) + last


def raw_deflate(body: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(body) + packer.flush()


BODIES = {
    "chunks": answer(chunks(TEXT), CHUNKED),
    "an extension": answer(chunks(TEXT, b' ; sig="a b"'), CHUNKED),
    "no last chunk": answer(chunks(TEXT, last=b""), CHUNKED),
    "a trailer": answer(chunks(TEXT, last=b"0\r\nX-Time: 1\r\n\r\n"), CHUNKED),
    "LF in chunks": answer(chunks(TEXT, end=b"\n"), CHUNKED),
    "no chunks": answer(TEXT, CHUNKED),
    "raw deflate": answer(raw_deflate(TEXT), DEFLATE),
    "raw deflate as gzip": answer(raw_deflate(TEXT), GZIP),
    "gzip as deflate": answer(gzip.compress(TEXT), DEFLATE),
    "gzip untold": answer(gzip.compress(TEXT)),
    "gzip and noise": answer(gzip.compress(TEXT) + bytes(50), GZIP),
    "gzip in chunks": answer(chunks(gzip.compress(TEXT), b";a"), CHUNKED, GZIP),
    "LF in headers": answer(TEXT).replace(b"\r\n", b"\n"),
}


@pytest.mark.parametrize("form", BODIES)
def test_body_of_another_tool_is_read(tmp_path, form):
    path = tmp_path / "a.warc"
    path.write_bytes(record("https://a.example/1", BODIES[form], packed=False))
    assert [decoded_body(place.capture) for place in WarcReader(path)] == [TEXT]


@pytest.mark.parametrize(
    "response", [answer(chunks(TEXT)[:900], CHUNKED), answer(raw_deflate(TEXT * 99)[:-9], DEFLATE)]
)
def test_beginning_of_a_body_that_is_cut_off_is_read(tmp_path, response):
    path = tmp_path / "a.warc"
    path.write_bytes(record("https://a.example/1", response, packed=False))
    ((body),) = [decoded_body(place.capture) for place in WarcReader(path)]
    assert len(body) > 800
    assert (TEXT * 99).startswith(body)


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("name", ["a.warc", "a.warc.gz"])
def test_name_of_a_file_does_not_say_whether_it_is_compressed(tmp_path, name, packed):
    path, urls = tmp_path / name, ["https://a.example/1", "https://a.example/2"]
    path.write_bytes(b"".join(record(url, answer(TEXT), packed=packed) for url in urls))
    assert [place.capture.url for place in WarcReader(path)] == urls


def test_resource_is_read_as_a_page(tmp_path):
    path = tmp_path / "a.warc"
    resource = record("https://a.example/1", TEXT, kind="resource", packed=False)
    media = b"application/http; msgtype=response"
    path.write_bytes(resource.replace(media, b"text/html; charset=utf-8").replace(b"\r\n", b"\n"))
    (place,) = WarcReader(path)
    assert (place.capture.status, place.capture.media_type) == (200, "text/html")
    assert decoded_body(place.capture) == TEXT


def test_oversized_records_are_skipped(tmp_path):
    path = tmp_path / "a.warc.gz"
    large = record("https://a.example/x", answer(bytes(200_000)))
    path.write_bytes(large + record("https://a.example/2", answer(b"two")))
    reader = WarcReader(path, max_bytes=100_000)
    assert [place.capture.body for place in reader] == [b"two"]
    assert reader.too_large == 1


def test_file_compressed_as_a_whole_is_refused_with_advice(tmp_path):
    path = tmp_path / "a.warc.gz"
    pages = [record(f"https://a.example/{n}", answer(b"x"), packed=False) for n in range(3)]
    path.write_bytes(gzip.compress(b"".join(pages)))
    with pytest.raises(ArchiveError, match="not record by record: decompress"):
        list(WarcReader(path))


@given(st.binary(max_size=3000))
def test_random_bytes_are_read_without_an_error(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("noise") / "a.warc.gz"
    path.write_bytes(data + record("https://a.example/1", answer(b"one")))
    assert [place.capture.body for place in WarcReader(path)][-1:] == [b"one"]


# Contents ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("coding", "packed"),
    [
        ("gzip", gzip.compress(b"<p>text</p>")),
        ("br", brotli.compress(b"<p>text</p>")),
        ("gzip", b"<p>text</p>"),
        ("identity", b"<p>text</p>"),
        ("unheard-of", b"<p>text</p>"),
        ("br, gzip", gzip.compress(brotli.compress(b"<p>text</p>"))),
    ],
    ids=["gzip", "brotli", "said to be gzip", "identity", "unknown", "twice"],
)
def test_content_encodings_are_decoded(coding, packed):
    page = capture(body=packed, headers=(("content-encoding", coding),))
    assert decoded_body(page) == b"<p>text</p>"


def _bomb(coding: str) -> Capture:
    packers = {"gzip": gzip.compress, "br": lambda data: brotli.compress(data, quality=1)}
    return capture(body=packers[coding](bytes(50_000_000)), headers=(("Content-Encoding", coding),))


@pytest.mark.parametrize("coding", ["gzip", "br"])
def test_decompression_bombs_are_refused(coding):
    with pytest.raises(ContentError, match="holds more than 1000000 bytes"):
        decoded_body(_bomb(coding), limit=1_000_000)


def test_too_many_content_encodings_are_refused():
    with pytest.raises(ContentError, match="compressed 3 times"):
        decoded_body(capture(headers=(("Content-Encoding", "gzip, gzip, gzip"),)))


# Index and lookup --------------------------------------------------------------------------------


def test_newest_successful_capture_of_a_url_is_returned(tmp_path):
    captures = [
        capture(body=b"old", minutes=0),
        capture(body=b"new", minutes=10),
        capture(body=b"gone", minutes=20, status=404),
        capture(body=b"", minutes=30, status=304),
        capture("https://news.example/b", b"out of order", minutes=5, status=503),
    ]
    written(tmp_path, *captures)
    archive = Archive(tmp_path)
    assert archive.find("https://news.example/a#comments").body == b"new"
    assert archive.find("https://news.example/b").status == 503
    assert len(archive) == 2
    assert [spot.url for spot in archive.pages()] == ["https://news.example/a"]


def test_missing_url_is_named(tmp_path):
    written(tmp_path, capture())
    with pytest.raises(NotArchivedError, match="not in the archive"):
        Archive(tmp_path).find("https://news.example/other")


def test_newest_capture_is_that_of_the_hosts(tmp_path):
    elsewhere = capture("https://other.example/", minutes=90)
    written(tmp_path, capture(), capture("https://news.example/b", minutes=7), elsewhere)
    archive = Archive(tmp_path)
    second = THEN.replace(microsecond=0)
    assert archive.newest({"news.example"}) == second + timedelta(minutes=7)
    assert archive.newest({"nowhere.example"}) == second + timedelta(minutes=90)


@pytest.mark.parametrize("there", [False, True], ids=["no folder", "no files"])
def test_empty_archive_is_refused(tmp_path, *, there):
    folder = tmp_path / "archive"
    if there:
        folder.mkdir()
    with pytest.raises(ArchiveError, match=r"archive"):
        Archive(folder)


@pytest.mark.parametrize(
    ("url", "key"),
    [
        ("https://www.ft.com/content/A?b=1", "com,ft)/content/a?b=1"),
        ("http://127.0.0.1:8000", "1,0,0,127:8000)/"),
        ("https://news.bbc.co.uk/a b", "uk,co,bbc,news)/a%20b"),
    ],
)
def test_sort_key_of_a_url(url, key):
    assert sort_key(url) == key


@given(
    url=st.text(st.characters(min_codepoint=33, max_codepoint=126), max_size=50),
    offset=st.integers(0, 2**40),
    status=st.integers(100, 599),
)
def test_index_lines_are_parsed_unchanged(url, offset, status):
    line = IndexLine(
        url=f"https://a.example/{url}",
        timestamp=f"{datetime(2026, 1, 2, tzinfo=UTC):%Y%m%d%H%M%S}",
        status=status,
        method="GET",
        mime="text/html",
        offset=offset,
    )
    text = format_line(line, digest="sha1:X", length=10, filename="a.warc.gz")
    assert parse_line(text) == (line, offset + 10)


@given(st.text(max_size=200))
def test_random_index_line_does_not_raise(text):
    assert parse_line(text) is None or text.endswith("\n")
    assert parse_line(f"a 20260101000000 {text}") is None
