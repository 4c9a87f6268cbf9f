"""Feed exports: `scrapy crawl ft -O FILE` writes each stored article, or says why it can't."""

import csv
import json
import re
import signal
import subprocess
import time
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from io import BytesIO, StringIO
from pathlib import Path
from typing import Any

import pyarrow.parquet
import pytest
from itemadapter import ItemAdapter

from newscrawl.crawl.exports import CsvExporter, ParquetExporter, StoredArticles, XmlExporter
from newscrawl.items import ArticleItem, MentionItem
from tests.site.crawling import (
    PROJECT,
    Crawl,
    crawl,
    crawl_command,
    crawl_environment,
    started_crawl,
)
from tests.site.faults import Answer, listing, story
from tests.site.forking import Forks
from tests.site.server import SiteServer
from tests.thorough import first_is_quick
from tests.watching import wait_for

FORMATS = ("jsonl", "json", "csv", "xml", "parquet")


@dataclass
class Shop:
    """A site, and crawls of it with options of their own."""

    site: SiteServer
    folder: Path
    forks: Forks

    @property
    def database(self) -> Path:
        return self.folder / "news.sqlite"

    def crawl(self, *options: str, **settings: str) -> Crawl:
        """Crawl the site's feed; the counts of the run are left out."""
        log = self.folder / "crawl.log"
        log.unlink(missing_ok=True)
        places = {"NEWSCRAWL_DATABASE_URL": f"sqlite:///{self.database}", "LOG_FILE": str(log)}
        feed = [self.site.feeds]
        self.forks.start([*crawl_command("ft", feed, {**places, **settings})[3:], *options])
        code = self.forks.wait()
        return Crawl(code, log.read_text() if log.exists() else "", self.database)


@pytest.fixture
def shop(tmp_path: Path, forks: Forks) -> Iterator[Shop]:
    with SiteServer() as site:
        yield Shop(site, tmp_path, forks)


def out(file: Path) -> tuple[str, str]:
    return "-O", str(file)


def lines(file: Path) -> list[dict[str, Any]]:
    *whole, end = file.read_text("utf-8").split("\n")
    assert end == ""
    return [json.loads(line) for line in whole]


def stored(done: Crawl) -> dict[str, dict[str, Any]]:
    """The articles of the database by URL, each with its mentions."""
    articles = {row["url"]: {**row, "mentions": []} for row in done.rows("SELECT * FROM articles")}
    for row in done.rows(
        "SELECT a.url, c.name, m.* FROM mentions m JOIN articles a ON a.id = m.article_id"
        " JOIN companies c ON c.id = m.company_id ORDER BY m.id"
    ):
        place = {"title": "headline", "body": "body"}[row["section"]]
        articles[row["url"]]["mentions"].append(
            (row["name"], place, row["start_offset"], row["end_offset"], row["surface"])
        )
    return articles


def named(item: dict[str, Any]) -> list[tuple[str, ...]]:
    keys = ("company", "place", "start", "end", "form")
    return [tuple(mention[key] for key in keys) for mention in item["mentions"]]


# --- What is written ------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory, forks: Forks) -> tuple[Crawl, Path]:
    """One crawl of the bundled site, with a file of each format."""
    with SiteServer() as site:
        shop = Shop(site, tmp_path_factory.mktemp("files"), forks)
        done = shop.crawl(*(part for kind in FORMATS for part in out(shop.folder / f"all.{kind}")))
    assert done.code == 0, done.output
    assert done.errors == []
    return done, shop.folder


def test_json_lines_hold_each_stored_article_with_its_mentions(files):
    done, folder = files
    items, database = lines(folder / "all.jsonl"), stored(done)
    assert len(items) == len(database) > 5
    assert {item["canonical_url"] for item in items} == set(database)
    for item in items:
        row = database[item["canonical_url"]]
        for name in ("title", "text", "language", "section", "access", "kind", "confidence"):
            assert item[name] == row[name], name
        assert (item["source"], item["run"], item["outcome"]) == ("ft", row["run_id"], "new")
        assert item["authors"] == json.loads(row["authors"])
        assert sorted(named(item)) == sorted(row["mentions"])
        for mention in item["mentions"]:
            where = item["title"] if mention["place"] == "headline" else item["text"]
            assert where[mention["start"] : mention["end"]] == mention["form"]
    assert any(item["mentions"] for item in items)
    assert all(datetime.fromisoformat(item["published"]).tzinfo for item in items)
    assert {"open", "paywalled", "disallowed"} >= {item["access"] for item in items} > {"open"}


def test_all_formats_have_equal_contents(files):
    _, folder = files
    items = lines(folder / "all.jsonl")
    assert json.loads((folder / "all.json").read_text("utf-8")) == items
    rows = list(csv.DictReader(StringIO((folder / "all.csv").read_bytes().decode(), newline="")))
    elements = ET.parse(folder / "all.xml").getroot()  # noqa: S314 - our own
    table = pyarrow.parquet.read_table(folder / "all.parquet").to_pylist()
    assert len(rows) == len(elements) == len(table) == len(items)
    for item, row, element, record in zip(items, rows, elements, table, strict=True):
        assert list(row) == list(item) == list(record) == [part.tag for part in element]
        for name in ("url", "title", "text", "published", "kind"):
            told = "" if item[name] is None else item[name]
            assert row[name] == told, name
            assert (element.findtext(name) or "") == told, name
        assert json.loads(row["mentions"] or "[]") == item["mentions"] == record["mentions"]
        assert row["authors"] == "; ".join(item["authors"])
        assert [one.findtext("company") for one in element.iterfind("mentions/value")] == [
            mention["company"] for mention in item["mentions"]
        ]
        assert record["published"] == datetime.fromisoformat(item["published"])
        assert record["fetched_at"].isoformat() == item["fetched_at"]


def test_standard_output_has_only_the_articles(tmp_path):
    with SiteServer() as site:
        command = crawl_command("ft", [site.feeds, "limit=3"])
        done = subprocess.run(
            [*command, "-O", "-:jsonl"],
            cwd=PROJECT,
            env=crawl_environment(tmp_path / "news.sqlite"),
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
    assert done.returncode == 0, done.stderr
    assert all(json.loads(line)["canonical_url"] for line in done.stdout.splitlines())
    assert done.stdout.count("\n") == 3
    assert "Closing spider" in done.stderr
    assert "WARNING" not in done.stderr


# --- Which articles -------------------------------------------------------------------------------


def small_site(shop: Shop, pages: dict[str, str]) -> None:
    """Serve a feed of the pages, whose companies are named."""
    shop.site.serve_stories(tuple(pages))
    for path, title in pages.items():
        shop.site.serve(path, lambda title=title: story(title, "Siemens"))  # type: ignore[misc]


@pytest.mark.thorough
def test_crawl_without_new_articles_writes_empty_files_or_none(shop):
    small_site(shop, {"/story/1": "A quay"})
    empty = {kind: shop.folder / f"empty.{kind}" for kind in FORMATS}
    assert shop.crawl().code == 0
    done = shop.crawl(*(part for file in empty.values() for part in out(file)))
    assert (done.code, done.errors) == (0, [])
    none = shop.crawl(*out(shop.folder / "none.jsonl"), FEED_STORE_EMPTY="False")
    assert none.code == 0
    assert empty["jsonl"].read_text() == ""
    assert empty["csv"].read_text() == ""
    assert json.loads(empty["json"].read_text()) == []
    assert list(ET.parse(empty["xml"]).getroot()) == []  # noqa: S314 - our own
    assert pyarrow.parquet.read_table(empty["parquet"]).num_rows == 0
    assert not (shop.folder / "none.jsonl").exists()


@pytest.mark.parametrize(
    ("outcome", "is_exported"),
    [(None, True), ("new", True), ("revised", True), ("unchanged", False), ("quarantined", False)],
)
def test_only_new_and_revised_articles_are_exported(outcome, is_exported):
    assert StoredArticles(None).accepts(replace(ITEM, outcome=outcome)) == is_exported


@pytest.mark.thorough
def test_stopped_crawl_completes_its_files(tmp_path):
    files = {kind: tmp_path / f"all.{kind}" for kind in FORMATS}
    options = [part for file in files.values() for part in out(file)]
    slow, database = {"DOWNLOAD_DELAY": "1"}, tmp_path / "news.sqlite"
    with (
        SiteServer() as site,
        started_crawl(site.feeds, database=database, settings=slow, options=options) as process,
    ):
        wait_for(lambda: files["jsonl"].exists() and files["jsonl"].stat().st_size)
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=100) == 1
    urls = {item["canonical_url"] for item in lines(files["jsonl"])}
    assert urls
    assert urls == set(stored(Crawl(1, "", tmp_path / "news.sqlite")))
    assert urls == {item["canonical_url"] for item in json.loads(files["json"].read_text("utf-8"))}
    table = pyarrow.parquet.read_table(files["parquet"])
    assert urls == set(table.column("canonical_url").to_pylist())
    elements = ET.parse(files["xml"]).getroot()  # noqa: S314 - our own
    assert urls == {element.findtext("canonical_url") for element in elements}


def test_revised_article_is_exported_again_but_not_an_unchanged_one(shop):
    pages = {f"/story/{number}": f"About pier {number}" for number in range(3)}
    file = shop.folder / "all.jsonl"
    soon = {"NEWSCRAWL_REVISITS": "1s 1d"}
    small_site(shop, pages)
    assert shop.crawl("-o", str(file), **soon).code == 0
    small_site(shop, {**pages, "/story/1": "Pier 1 is mended"})
    # Without its ETag, a page that is the same comes again whole.
    body = story("About pier 2", "Siemens")
    shop.site.routes["/story/2"] = lambda _: Answer(body=body)
    time.sleep(1.1)
    done = shop.crawl("-o", str(file), **soon)
    assert done.code == 0, done.output
    assert ", 1 revised, 1 unchanged" in done.summary
    items = lines(file)
    assert [item["outcome"] for item in items] == ["new", "new", "new", "revised"]
    assert items[-1]["title"] == "Pier 1 is mended"
    assert items[-1]["mentions"]
    assert len(stored(done)) == 3


def test_dropped_item_is_not_exported(shop):
    small_site(shop, {"/story/1": "A quay"})
    shop.site.routes["/story/2"] = lambda _: Answer(body=b"\x89PNG\r\n\x1a\n\0\0\0\x0d")
    shop.site.routes["/feed.xml"] = lambda _: Answer(
        body=listing(shop.site.url, ("/story/1", "/story/2")), kind="application/xml"
    )
    done = shop.crawl(*out(shop.folder / "all.jsonl"))
    assert "1 dropped (NotHtml 1)" in done.summary
    assert [item["title"] for item in lines(shop.folder / "all.jsonl")] == ["A quay"]


# --- What can't be written ------------------------------------------------------------------------


def refused(site: SiteServer, folder: Path, *options: str, **environment: str) -> tuple[int, str]:
    """The exit code of a crawl that must not begin, and what it says on its last line."""
    database = folder / "news.sqlite"
    done = crawl("ft", site.feeds, database=database, options=options, environment=environment)
    assert "Traceback" not in done.output
    assert site.visits == []
    return done.code, done.output.splitlines()[-1]


@pytest.mark.thorough
def test_unwritable_export_file_is_refused_before_the_crawl(tmp_path):
    (tmp_path / "file").write_text("a file is not a folder")
    with SiteServer() as site:
        code, told = refused(site, tmp_path, *out(tmp_path / "file" / "all.jsonl"))
    assert code == 1
    assert told.startswith(f"newscrawl: can't write {tmp_path}/file/all.jsonl: Not a directory")


@pytest.mark.thorough
@pytest.mark.parametrize("kind", first_is_quick(["json", "xml", "parquet"]))
def test_appending_to_a_closed_document_is_refused(tmp_path, kind):
    file = tmp_path / f"all.{kind}"
    file.write_text("what was there")
    with SiteServer() as site:
        code, told = refused(site, tmp_path, "-o", str(file))
    assert code == 2
    assert "can't be appended to: use -O" in told
    assert file.read_text() == "what was there"


@pytest.mark.thorough
def test_unknown_export_format_is_refused_before_the_crawl(tmp_path):
    feeds = json.dumps({str(tmp_path / "all.odd"): {"format": "odd"}})
    with SiteServer() as site:
        code, told = refused(site, tmp_path, "-s", f"FEEDS={feeds}")
    assert (code, told) == (2, "newscrawl: the export can't be set up: see the line above")


@pytest.mark.thorough
def test_parquet_without_pyarrow_names_the_extra(tmp_path):
    (tmp_path / "pyarrow.py").write_text(
        "raise ModuleNotFoundError(\"No module named 'pyarrow'\", name='pyarrow')\n"
    )
    with SiteServer() as site:
        code, told = refused(
            site, tmp_path, *out(tmp_path / "all.parquet"), PYTHONPATH=str(tmp_path)
        )
    assert code == 2
    assert told.endswith("not installed: pip install 'newscrawl[parquet]'")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no /dev/full")
@pytest.mark.parametrize("kind", first_is_quick(FORMATS))
def test_full_disk_ends_the_crawl_without_losing_articles(shop, kind):
    full = shop.crawl("-O", f"/dev/full:{kind}")
    assert full.code == 1
    (told,) = full.errors
    assert "/dev/full: No space left on device" in told
    rest = shop.crawl(*out(shop.folder / "rest.jsonl"))
    assert rest.code == 0
    before = {row["url"] for row in rest.rows("SELECT url FROM articles WHERE run_id = 1")}
    after = {item["canonical_url"] for item in lines(shop.folder / "rest.jsonl")}
    assert before
    assert before.isdisjoint(after)
    assert len(before | after) == len(stored(rest)) > 5


@pytest.mark.thorough
def test_failing_extension_fails_the_crawl(tmp_path):
    (tmp_path / "failing.py").write_text(
        "from scrapy import signals\n"
        "class Failing:\n"
        "    @classmethod\n"
        "    def from_crawler(cls, crawler):\n"
        "        one = cls()\n"
        "        crawler.signals.connect(one.closed, signal=signals.spider_closed)\n"
        "        return one\n"
        "    def closed(self):\n"
        "        raise RuntimeError('no good end')\n"
    )
    with SiteServer() as site:
        small_site(Shop(site, tmp_path, Forks({}, tmp_path)), {"/story/1": "A quay"})
        done = crawl(
            "ft",
            site.feeds,
            database=tmp_path / "news.sqlite",
            settings={"EXTENSIONS": '{"failing.Failing": 0}'},
            environment={"PYTHONPATH": str(tmp_path)},
        )
    assert "no good end" in done.output
    assert "1 new" in done.output
    assert done.code == 1


# --- What the documents say -----------------------------------------------------------------------


def test_documents_table_has_the_fields_of_an_item():
    text = (PROJECT / "docs" / "scrapy.md").read_text("utf-8")
    # The first table of the page; a later one lists statistics.
    table = text[: text.index("| `run`")] + text[text.index("| `run`") :].partition("\n\n")[0]
    fields = re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE)
    assert fields == list(ItemAdapter.get_field_names_from_class(ArticleItem) or ())
    (mentions,) = re.findall(r"^\| `mentions` \| (.*) \|$", text, re.MULTILINE)
    for name in ItemAdapter.get_field_names_from_class(MentionItem) or ():
        assert f"`{name}`" in mentions


# --- The formats ----------------------------------------------------------------------------------

NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)
ITEM = ArticleItem(
    url="https://n.example/a",
    canonical_url="https://n.example/b",
    source="n",
    title="=1+1",
    text="Siemens\x0b \ufffe grows.",
    authors=("Ada", "Jule, Jr.", "=2"),
    published=NOW,
    mentions=(
        MentionItem(
            company="Siemens", form="Siemens", start=0, end=7, place="body", rule="name", score=0.99
        ),
    ),
)


def written(exporter: type, *items: object, **options: object) -> bytes:
    file = BytesIO()
    one = exporter(file, **options)
    one.start_exporting()
    for item in items:
        one.export_item(item)
    one.finish_exporting()
    return file.getvalue()


def test_csv_cells_are_not_formulas():
    (row,) = csv.DictReader(StringIO(written(CsvExporter, ITEM).decode(), newline=""))
    assert row["title"] == "'=1+1"
    assert row["authors"] == "Ada; Jule, Jr.; '=2"
    assert (row["published"], row["modified"]) == ("2026-11-22T12:00:00+00:00", "")
    assert json.loads(row["mentions"]) == [
        {"company": "Siemens", "form": "Siemens", "start": 0, "end": 7, "place": "body"}
        | {"rule": "name", "score": 0.99}
    ]


def test_xml_is_well_formed_for_any_text():
    (item,) = ET.fromstring(written(XmlExporter, ITEM))  # noqa: S314 - our own
    assert item.findtext("text") == "Siemens\ufffd \ufffd grows."
    assert item.findtext("modified") == ""
    assert [name.text for name in item.iterfind("authors/value")] == list(ITEM.authors)


def test_parquet_has_the_fields_of_an_item():
    table = pyarrow.parquet.read_table(BytesIO(written(ParquetExporter, ITEM, ITEM)))
    assert table.column_names == list(ItemAdapter(ITEM).field_names())
    assert table.num_rows == 2
    assert table.to_pylist()[1]["mentions"] == [ItemAdapter(ITEM.mentions[0]).asdict()]


def test_empty_parquet_file_has_its_columns():
    table = pyarrow.parquet.read_table(BytesIO(written(ParquetExporter)))
    assert (table.num_rows, table.column_names[0]) == (0, "url")


def test_parquet_has_the_requested_fields():
    file = written(ParquetExporter, ITEM, fields_to_export={"title": "headline", "source": "site"})
    assert pyarrow.parquet.read_table(BytesIO(file)).to_pylist() == [
        {"headline": "=1+1", "site": "n"}
    ]


def test_parquet_is_written_in_row_groups():
    many = (replace(ITEM, run=number) for number in range(2_500))
    file = pyarrow.parquet.ParquetFile(BytesIO(written(ParquetExporter, *many)))
    assert file.metadata.num_row_groups == 3
    assert file.read().column("run").to_pylist() == list(range(2_500))


def test_parquet_refuses_other_items():
    with pytest.raises(TypeError, match="not dict"):
        written(ParquetExporter, {"title": "Another item"})
    with pytest.raises(ValueError, match="no field 'titel'"):
        written(ParquetExporter, ITEM, fields_to_export=["titel"])
