"""newscrawl ingest: files of others, over several processes, whole, damaged, interrupted."""

import gzip
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from multiprocessing import active_children
from pathlib import Path

import pytest
from hypothesis import given, strategies as st
from sqlalchemy import text

from newscrawl import workers
from newscrawl.archive.ingest import (
    Ingestion,
    OriginFinder,
    PageFilter,
    PageProcessor,
    Part,
    PartResult,
    ReadingConfig,
    process_part,
)
from newscrawl.items import Document, Versions
from newscrawl.reading import PageReader, versions_of
from newscrawl.sources import UrlError, load_sources
from newscrawl.sources.urls import is_slug
from newscrawl.storage import Database, open_database, queries, upgrade_database
from newscrawl.workers import LocalPool
from tests.archives import DeadlyReader, answer, capture, page, record, warc
from tests.conftest import Newscrawl, Ran
from tests.site.crawling import rows_of
from tests.site.faults import story
from tests.thorough import first_is_quick
from tests.watching import alive, wait_for
from tests.working import process_id, square_or_die, stop_process
from tests.worlds import known_urls

COMPANIES = """
bundled = false

[[company]]
name = "Siemens"

[[company]]
name = "Nokia"
"""
RECIPE = ReadingConfig(reader=PageReader(method="combined", min_characters=120))


@dataclass(frozen=True)
class Desk:
    """The command line, in a folder with a file of companies."""

    newscrawl: Newscrawl
    folder: Path

    def warc(self, *records: bytes) -> Path:
        return warc(self.folder / "cc.warc.gz", *records)

    def run(self, *arguments: object) -> Ran:
        return self.newscrawl("ingest", *arguments, "--companies", "companies.toml")

    def rows(self, *arguments: object) -> list[dict[str, object]]:
        rows: list[dict[str, object]] = json.loads(
            self.run(*arguments, "--workers", 1, "-f", "json").out
        )
        return rows

    def stored(self, fact: str = "articles") -> int:
        """The articles or mentions in the database, by the command line."""
        rows = json.loads(self.newscrawl("db", "info", "-f", "json").out)
        return int(next(row["value"] for row in rows if row["fact"] == fact))


@pytest.fixture
def desk(newscrawl: Newscrawl, tmp_path: Path) -> Desk:
    (tmp_path / "companies.toml").write_text(COMPANIES, "utf-8")
    return Desk(newscrawl, tmp_path)


@pytest.fixture
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Parts of so few bytes that small files have many of them."""
    monkeypatch.setattr("newscrawl.archive.ingest.PART_BYTES", 2_000)


# The command -----------------------------------------------------------------------------------


def test_articles_of_a_warc_file_are_stored(desk, small_parts):
    path = desk.warc(*(page(number) for number in range(30)))
    done = desk.run(path, "--workers", 2)
    assert done.code == 0, done.err
    assert "30" in done.out
    assert done.fits
    assert (desk.stored(), desk.stored("mentions")) == (30, 30 * 3)
    database = desk.folder / "newscrawl.sqlite"
    query = "SELECT slug, count(*) AS n FROM articles JOIN sources ON sources.id = source_id"
    rows = rows_of(database, f"{query} GROUP BY slug")
    assert {row["slug"]: row["n"] for row in rows} == {
        "news.example": 10,
        "daily.example": 10,
        "ft": 10,
    }
    versions = [
        Versions(**json.loads(row["versions"]))
        for row in rows_of(database, "SELECT versions FROM runs")
    ]
    assert versions == [versions_of(desk.folder / "companies.toml")] * 3


def test_file_is_ingested_once_wherever_it_is(desk):
    path = desk.warc(*(page(number) for number in range(6)))
    (first,) = desk.rows(path)
    (second,) = desk.rows(path)
    (desk.folder / "elsewhere").mkdir()
    path.rename(desk.folder / "elsewhere" / path.name)
    (moved,) = desk.rows(desk.folder / "elsewhere")
    assert (first["state"], first["new"]) == ("done", 6)
    assert second["state"] == moved["state"] == "done before"
    assert desk.stored() == 6


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--host", "daily.example"], 4),
        (["--host", "example"], 8),
        (["--host", "daily.example", "--host", "ft.com"], 8),
        (["--language", "en"], 12),
        (["--language", "de"], 0),
        (["--since", "2026-11-15"], 6),
        (["--until", "2026-11-14"], 6),
        (["--since", "2026-11-13", "--until", "2026-11-15"], 6),
        (["--limit", "5"], 5),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_filters_select_pages(desk, options, expected):
    days = ["2026-11-12T10:00:00Z", "2026-11-15T10:00:00Z"]
    pages = [page(number, date=days[number % 2]) for number in range(12)]
    path = desk.warc(*pages)
    done = desk.run(path, *options, "--workers", 1)
    assert done.code == (0 if expected else 1), done.err
    assert desk.stored() == expected


def test_other_filters_ingest_the_rest(desk):
    path = desk.warc(*(page(number) for number in range(6)))
    desk.rows(path, "--host", "ft.com")
    (row,) = desk.rows(path)
    assert (row["new"], row["unchanged"]) == (4, 2)


def test_pages_beyond_the_limit_are_ingested_later(desk, small_parts):
    path = desk.warc(*(page(number) for number in range(20)))
    (some,) = desk.rows(path, "--limit", 7)
    assert (some["state"], some["articles"], some["new"]) == ("incomplete", 7, 7)
    assert desk.stored() == 7
    (row,) = desk.rows(path)
    assert row["state"] == "done"
    assert desk.stored() == 20


def test_damaged_records_are_counted_and_skipped(desk):
    cut = bytearray(page(50))
    cut[200:240] = bytes(40)
    bomb = answer(gzip.compress(bytes(40_000_000)), "Content-Encoding: gzip")
    records = [
        page(1),
        bytes(cut),
        page(2),
        record("https://news.example/bomb", bomb),
        record("ftp://news.example/x", answer(b"<p>x</p>")),
        record("https://news.example/none", answer(b"gone", status=404)),
        record("https://news.example/list", answer(b"<html><a href=/a>a</a></html>")),
        page(3)[:-20],
    ]
    path = desk.warc(*records)
    (row,) = desk.rows(path)
    assert (row["new"], row["damaged"], row["no_page"], row["no_article"]) == (2, 4, 1, 1)
    assert row["state"] == "done"


def test_unreadable_file_does_not_fail_the_others(desk):
    good = warc(desk.folder / "good.warc.gz", page(1))
    plain = [gzip.decompress(page(number)) for number in range(3)]
    compressed = warc(desk.folder / "whole.warc.gz", gzip.compress(b"".join(plain)))
    text = warc(desk.folder / "text.warc.gz", b"Once upon a time. " * 1000)
    missing = desk.folder / "missing.warc.gz"
    files = (missing, text, compressed, good)
    done = desk.run(*files, "--workers", 1, "-f", "json")
    assert done.code == 1
    states = {row["file"]: row["state"] for row in json.loads(done.out)}
    assert states.pop(good.name) == "done"
    assert set(states.values()) == {"failed"}
    assert "missing.warc.gz: No such file" in done.err
    assert "text.warc.gz holds no WARC record" in done.err
    assert "whole.warc.gz is compressed as a whole" in done.err
    assert desk.stored() == 1


# Exactness -------------------------------------------------------------------------------------


class BrokenOffError(Exception):
    """The run ends here."""


@pytest.mark.parametrize("after", first_is_quick([3, 1, 6]))
def test_interrupted_ingest_resumes_without_duplicates(database, tmp_path, small_parts, after):
    path = warc(tmp_path / "cc.warc.gz", *(page(number) for number in range(24)))
    heard = []

    def stop(_bytes: int, _articles: int) -> None:
        heard.append(_bytes)
        if len(heard) > after:
            raise BrokenOffError

    with pytest.raises(BrokenOffError):
        Ingestion(database, RECIPE, workers=1, on_progress=stop).run([path])
    before = queries.facts(database).rows["articles"]
    assert 0 < before < 24
    (state,) = Ingestion(database, RECIPE, workers=1).run([path])
    assert queries.facts(database).rows["articles"] == 24
    assert (state.counts["new"], state.counts["unchanged"]) == (24, 0)
    assert state.counts["records"] == 24


def test_body_that_looks_like_a_record_is_not_ingested(database, tmp_path, monkeypatch):
    """A body may hold what looks like a record, and a part may happen to begin right there."""
    false = page(99, host="www.ft.com")
    noise = os.urandom(100_000)
    image = record(
        "https://evil.example/image.png",
        answer(noise + false + noise).replace(b"text/html", b"image/png"),
    )
    path = warc(tmp_path / "cc.warc.gz", image, page(1), page(2))
    begin = path.read_bytes().find(false[:100])
    assert begin > 0, "gzip stores what it can't pack as it is"
    guessed = process_part(RECIPE, Part(path, begin - 10, path.stat().st_size))
    assert isinstance(guessed, PartResult)
    assert guessed.first == begin
    monkeypatch.setattr("newscrawl.archive.ingest.PART_BYTES", begin - 10)
    Ingestion(database, RECIPE, workers=2).run([path])
    counts = queries.facts(database).rows
    assert counts["articles"] == 2
    assert known_urls(database, ["https://www.ft.com/story/99"]) == set()


def test_source_is_registered_as_its_first_page_shows_it(database, tmp_path):
    hosts = ("www.town.example", "town.example")
    path = warc(tmp_path / "cc.warc.gz", *(page(n, host=host) for n, host in enumerate(hosts)))
    batch = process_part(RECIPE, Part(path, 0, path.stat().st_size))
    assert isinstance(batch, PartResult)
    assert [origin.home for origin in batch.origins] == [f"https://{host}/" for host in hosts]
    assert len({origin.slug for origin in batch.origins}) == 1
    Ingestion(database, RECIPE, workers=1).run([path])
    with database.reading() as session:
        homes = session.connection().exec_driver_sql("SELECT home FROM sources").scalars().all()
    assert homes == ["https://www.town.example/"]


def test_workers_compute_the_words_of_the_search_index_of_postgresql(postgres_url, tmp_path):
    path = warc(tmp_path / "cc.warc.gz", *(page(number) for number in range(3)))
    part = Part(path, 0, path.stat().st_size)
    for has_vectors in (False, True):
        result = process_part(replace(RECIPE, has_vectors=has_vectors), part)
        assert isinstance(result, PartResult)
        computed = ["vector" in vars(record.wording) for record in result.records]
        assert computed == [has_vectors] * 3
    upgrade_database(postgres_url)
    with open_database(postgres_url) as database:
        Ingestion(database, RECIPE, workers=2).run([path])
        before = _vectors(database)
        database.rebuild()  # from the stored texts
        assert _vectors(database) == before
        assert len(before) == 3


def _vectors(database: Database) -> list[tuple[int, str]]:
    query = text("SELECT article_id, CAST(words AS text) FROM article_search ORDER BY 1")
    with database.reading() as session:
        return [(number, words) for number, words in session.execute(query)]


def test_commands_at_once_store_what_one_after_the_other_stores(
    postgres_url, tmp_path, small_parts
):
    """Four commands, each with its own file, of the same days, sources and companies."""
    names = ("Siemens", "Nokia", "Airbus", "Volkswagen")
    files = []
    for first in range(4):
        pages = (page(4 * n + first, company=names[(n + first) % 4]) for n in range(12))
        files.append(warc(tmp_path / f"{first}.warc.gz", *pages))

    def ingest(file: Path) -> bool:
        with open_database(postgres_url) as database:
            (state,) = Ingestion(database, RECIPE, workers=1).run([file])
        return state.is_open or bool(state.problem)

    def answers(database: Database) -> tuple[object, object]:
        return queries.company_ranking(database), queries.mention_counts(database, "day")

    upgrade_database(postgres_url)
    with ThreadPoolExecutor(4) as pool:
        assert not any(pool.map(ingest, files))
    with open_database(f"sqlite:///{tmp_path}/one.sqlite") as single:
        Ingestion(single, RECIPE, workers=1).run(files)
        expected = answers(single)
        assert queries.facts(single).rows["articles"] == 48
    with open_database(postgres_url) as together:
        assert answers(together) == expected
        together.rebuild()
        assert answers(together) == expected


def test_part_with_a_deadly_page_is_read_in_halves(tmp_path, monkeypatch):
    monkeypatch.setattr("newscrawl.archive.ingest._MIN_PART_BYTES", 1_500)
    deadly = record("https://news.example/deadly", answer(story("A deadly page", "Siemens")))
    pages = [page(number) for number in range(20)]
    path = warc(tmp_path / "cc.warc.gz", *pages[:9], deadly, *pages[9:])
    config = ReadingConfig(reader=DeadlyReader(method="combined", min_characters=120))
    with open_database(f"sqlite:///{tmp_path}/news.sqlite") as database:
        (state,) = Ingestion(database, config, workers=2).run([path])
        articles = queries.facts(database).rows["articles"]
    assert (state.counts["parts_lost"], state.problem, state.is_open) == (1, "", False)
    assert 17 <= articles <= 20, "the page and at most its neighbours are lost"


def test_deadly_page_that_looks_like_a_record_is_not_ingested(tmp_path, monkeypatch):
    """The search for the record after a page that is given up must not find what is in it."""
    false, noise = page(99, host="www.ft.com"), os.urandom(100_000)
    body = story("A deadly page", "Siemens") + noise + false + noise
    deadly = record("https://evil.example/deadly", answer(body))
    path = warc(tmp_path / "cc.warc.gz", deadly, page(1), page(2))
    begin = path.read_bytes().find(false[:100])
    assert begin > 0, "gzip stores what it can't pack as it is"
    monkeypatch.setattr("newscrawl.archive.ingest.PART_BYTES", begin - 10)
    monkeypatch.setattr("newscrawl.archive.ingest._MIN_PART_BYTES", begin // 2)
    config = ReadingConfig(reader=DeadlyReader(method="combined", min_characters=120))
    with open_database(f"sqlite:///{tmp_path}/news.sqlite") as database:
        (state,) = Ingestion(database, config, workers=2).run([path])
    rows = rows_of(tmp_path / "news.sqlite", "SELECT title FROM articles")
    assert (state.counts["parts_lost"], state.is_open) == (1, False)
    assert {row["title"][:8] for row in rows} == {"Report 1", "Report 2"}


# Worker pool --------------------------------------------------------------------------------------


def test_workers_preload_shared_modules():
    """In a process of its own: the server that workers are forked from is started once."""
    code = """
import sys
from newscrawl.workers import LocalPool
from tests.working import is_imported
if __name__ == "__main__":
    warm = "newscrawl.archive.worker_preload"
    pool = LocalPool(is_imported, 2, preload=warm)
    assert dict(pool.results([warm, "newscrawl.cli"])) == {warm: True, "newscrawl.cli": False}
    assert warm not in sys.modules
"""
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_part_that_crashes_its_worker_loses_no_other_part():
    results = list(LocalPool(square_or_die, 2).results(range(40)))
    expected = [(number, None if number == 7 else number * number) for number in range(40)]
    assert results == expected


def test_parts_of_stopped_workers_are_done_by_others(monkeypatch):
    monkeypatch.setattr(workers, "PART_LIMITS", replace(workers.PART_LIMITS, clock_seconds=15.0))
    stopped: list[int] = []

    def parts() -> Iterator[int]:
        yield from range(8)  # as many as wait for two workers
        wait_for(lambda: len(active_children()) == 2)
        stopped.extend(child.pid for child in active_children() if child.pid)
        for pid in stopped:
            os.kill(pid, signal.SIGSTOP)
        yield from range(8, 12)

    pids = [pid for _, pid in LocalPool(process_id, 2, preload="tests.working").results(parts())]
    assert len(stopped) == 2
    assert None not in pids
    assert set(stopped).isdisjoint(pids[8:])
    assert not any(map(alive, stopped))


def test_part_that_stops_its_worker_has_no_result(monkeypatch):
    monkeypatch.setattr(workers, "PART_LIMITS", replace(workers.PART_LIMITS, clock_seconds=15.0))
    assert LocalPool(stop_process, 2).run_alone(0) is None


def test_archived_and_crawled_pages_give_equal_documents():
    line = PageProcessor(RECIPE)
    document = line.document(line.page(capture(body=story("About cranes", "Siemens"))))
    assert isinstance(document, Document)
    assert document.page.html == b""
    assert document.article.title == "About cranes"
    assert {mention.company for mention in document.mentions} == {"Siemens"}


# Origins ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("url", "slug"),
    [
        ("https://www.ft.com/content/1", "ft"),
        ("https://ft.com/content/1", "ft"),
        ("https://markets.ft.com/data", "ft"),
        ("https://www.unheard-of.example/a", "unheard-of.example"),
        ("https://notft.com/a", "notft.com"),
        ("http://127.0.0.1:8000/a", "127.0.0.1"),
    ],
)
def test_source_is_found_by_url(url, slug):
    assert OriginFinder(load_sources()).origin(url).slug == slug


@pytest.mark.parametrize(
    "host",
    [
        *("..", ".", "-", "...", "a..b", "%2e%2e", "..%2f..", "a%2fb", "-a.example", "a-.example"),
        *(
            "a" * 64,
            ".".join(["a" * 60] * 5),
            "a b",
            "",
            "[::1",
            "ü.example",
            "a\\b",
            "..:80",
            "@..",
        ),
    ],
)
def test_invalid_host_has_no_source(host):
    with pytest.raises(UrlError, match="has an invalid host"):
        OriginFinder(()).origin(f"http://{host}/a")


@given(st.text(max_size=12) | st.text("./\\-%2e:@a0", max_size=12))
def test_slug_of_any_host_is_one_safe_word(host):
    try:
        slug = OriginFinder(()).origin(f"http://{host}/a").slug
    except UrlError:
        return
    assert is_slug(slug)
    assert Path("logs", f"{slug}.log").resolve().parent == Path("logs").resolve()
    assert not slug.startswith(("-", "."))


def test_pages_of_invalid_hosts_are_counted_and_others_are_stored(desk):
    hosts = ("..", "-", "%2e%2e", "a.example")
    pages = (page(number, host=host) for number, host in enumerate(hosts))
    path = desk.warc(*pages)
    (row,) = desk.rows(path)
    assert (row["new"], row["damaged"]) == (1, 3)
    rows = rows_of(desk.folder / "newscrawl.sqlite", "SELECT slug FROM sources")
    assert rows == [{"slug": "a.example"}]


def test_unknown_source_is_named():
    origin = OriginFinder(()).origin("https://www.a.example/x")
    assert (origin.country, origin.language) == ("zz", "und")
    assert origin.home == "https://www.a.example/"


def test_equal_selections_have_one_identity():
    first = PageFilter(languages=frozenset({"de", "en"}), hosts=frozenset({"a", "b"}))
    second = PageFilter(languages=frozenset({"en", "de"}), hosts=frozenset({"b", "a"}))
    assert first.as_json() == second.as_json()
