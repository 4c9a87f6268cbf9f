"""Results as Parquet datasets: equal to the database's answers, each article once."""

import re
from pathlib import Path
from typing import Any

import pytest

import newscrawl
from newscrawl import query
from newscrawl.archive import ArchiveError, dataset
from newscrawl.archive.dataset import Dataset
from newscrawl.archive.ingest import Ingestion, ReadingConfig
from newscrawl.reading import PageReader
from newscrawl.storage import Database, open_database
from newscrawl.storage.saved_queries import add_query, count_history
from tests.archives import page, warc

parquet: Any = pytest.importorskip("pyarrow.parquet", reason="needs the extra parquet")

DOCUMENT = Path(newscrawl.__file__).parent.parent / "docs" / "archive.md"
CONFIG = ReadingConfig(reader=PageReader(method="combined", min_characters=120))
PAGES = [
    page(number, company=company, date=date)
    for number, (company, date) in enumerate(
        [("Siemens", "2026-10-12T10:00:00Z"), ("Nokia", "2026-11-15T10:00:00Z")] * 6
        + [("Siemens", "2026-11-16T10:00:00Z")] * 3
    )
]


def questions(language: str) -> tuple[str, str]:
    """The questions in the document in a language: about companies, about saved queries."""
    blocks = re.findall(rf"```{language}\n(.*?)```", DOCUMENT.read_text("utf-8"), re.DOTALL)
    companies, saved = blocks
    return companies, saved


def rows(folder: Path, name: str) -> list[dict[str, Any]]:
    """The rows of a dataset, in order."""
    files = sorted(folder.glob(f"{name}/*/*/*.parquet"))
    unordered = [row for file in files for row in parquet.ParquetFile(file).read().to_pylist()]
    return sorted(unordered, key=lambda row: (row["url"], row.get("start", 0), row.get("section")))


def test_questions_of_the_document_have_the_answers_of_the_database(
    database, tmp_path, monkeypatch
):
    duckdb = pytest.importorskip("duckdb", reason="make dev installs it")
    pytest.importorskip("polars", reason="needs the extra frames")
    # A page that was captured twice is one article.
    path = warc(tmp_path / "cc.warc.gz", *PAGES, page(0, date="2026-10-13T10:00:00Z"))
    Ingestion(database, CONFIG, workers=1).run([path])
    Ingestion(Dataset(str(tmp_path / "results")), CONFIG, workers=1).run([path])
    monkeypatch.chdir(tmp_path)
    with duckdb.connect() as connection:
        ranking = connection.execute(questions("sql")[0]).fetchall()
    assert ranking == [
        (row.company, row.hits.articles, row.hits.mentions)
        for row in query.company_ranking(database)
    ]
    assert len(ranking) > 1
    check_months(0, database, "Siemens")


def test_saved_queries_have_the_counts_of_the_database(database, tmp_path, monkeypatch):
    duckdb = pytest.importorskip("duckdb", reason="make dev installs it")
    pytest.importorskip("polars", reason="needs the extra frames")
    texts = {
        "Rail strike": "siemens OR title:headline",
        "Nokia alone": "nokia NOT siemens",
        "Of one country": "siemens country:zz",
        "Absent": "siemens NEAR/2 airbus",
    }
    for name, text in texts.items():
        add_query(database, name, text, "ann")
        count_history(database, name)
    shell = page(3, company="Siemens", date="2026-11-17T10:00:00Z")
    path = warc(tmp_path / "cc.warc.gz", *PAGES, page(0, date="2026-10-13T10:00:00Z"), shell)
    Ingestion(database, CONFIG, workers=1).run([path])
    Ingestion(Dataset(str(tmp_path / "results"), texts), CONFIG, workers=1).run([path])
    monkeypatch.chdir(tmp_path)
    with duckdb.connect() as connection:
        counts = connection.execute(questions("sql")[1]).fetchall()
    hits = {name: sum_hits(query.mention_counts(database, "month", company=name)) for name in texts}
    expected = sorted(
        ((name, *found) for name, found in hits.items() if found[0]),
        key=lambda row: (-row[1], row[0]),
    )
    assert counts == expected
    assert len(expected) == 3
    check_months(1, database, "Rail strike")


def check_months(number: int, database: Database, name: str) -> None:
    """The documented question in Python has two months, with the database's numbers."""
    names: dict[str, Any] = {}
    exec(questions("python")[number], names)  # noqa: S102 - our own document
    assert names["months"].rows() == [
        (row.key, row.hits.articles, row.hits.mentions)
        for row in query.mention_counts(database, "month", company=name)
        if row.hits and row.hits.articles
    ]
    assert len(names["months"]) == 2


def sum_hits(counts: Any) -> tuple[int, int]:
    """Articles and places of all periods."""
    hits = [row.hits for row in counts if row.hits]
    return sum(row.articles for row in hits), sum(row.mentions for row in hits)


def test_ingest_matches_the_saved_queries_of_the_database(tmp_path, newscrawl):
    path = warc(tmp_path / "cc.warc.gz", *PAGES)
    assert newscrawl("ingest", path, "--to", "before").code == 0
    assert not rows(tmp_path / "before", "query_matches")
    with open_database(f"sqlite:///{tmp_path}/watch.sqlite") as database:
        add_query(database, "Finns", "nokia", "ann")
    options = ("--database", f"sqlite:///{tmp_path}/watch.sqlite")
    assert newscrawl("ingest", path, "--to", "after", *options).code == 0
    matched = rows(tmp_path / "after", "query_matches")
    assert {(row["query"], row["query_text"]) for row in matched} == {("Finns", "nokia")}
    assert len(matched) == 6
    assert all(row["in_title"] + row["in_body"] for row in matched)


def test_mentions_have_the_scores_of_the_database(database, tmp_path):
    path = warc(tmp_path / "cc.warc.gz", *PAGES)
    Ingestion(database, CONFIG, workers=1).run([path])
    Ingestion(Dataset(str(tmp_path / "results")), CONFIG, workers=1).run([path])
    with database.reading() as session:
        stored = session.connection().exec_driver_sql(
            "SELECT url, companies.name, mentions.section, start_offset, rule, score FROM mentions "
            "JOIN articles ON articles.id = article_id JOIN companies ON companies.id = company_id"
        )
        expected = {tuple(row) for row in stored}
    scores = {
        tuple(row[name] for name in ("url", "company", "section", "start", "rule", "score"))
        for row in rows(tmp_path / "results", "mentions")
    }
    assert scores == expected
    assert all(0.5 < row[-1] <= 1 for row in scores)


class BrokenOffError(Exception):
    """The run ends here."""


@pytest.mark.parametrize("writes", range(1, 12, 2))
def test_interrupted_batch_is_written_once(tmp_path, monkeypatch, writes):
    monkeypatch.setattr("newscrawl.archive.ingest.PART_BYTES", 2_000)
    monkeypatch.setattr(dataset, "_BATCH", 4)
    path = warc(tmp_path / "cc.warc.gz", *PAGES)
    write = dataset._Folder.write
    writes_left = writes

    def write_some(self: Any, name: str, data: bytes) -> None:
        nonlocal writes_left
        writes_left -= 1
        if writes_left < 0:
            raise BrokenOffError
        write(self, name, data)

    saved = {"Finns": "nokia"}
    target = Dataset(str(tmp_path / "results"), saved)
    monkeypatch.setattr(dataset._Folder, "write", write_some)
    with pytest.raises(BrokenOffError):
        Ingestion(target, CONFIG, workers=1).run([path])
    monkeypatch.setattr(dataset._Folder, "write", write)
    # Other batches than before.
    monkeypatch.setattr(dataset, "_BATCH", 7)
    (state,) = Ingestion(Dataset(str(tmp_path / "results"), saved), CONFIG, workers=1).run([path])
    assert (state.counts["new"], state.is_open) == (len(PAGES), False)
    Ingestion(Dataset(str(tmp_path / "whole"), saved), CONFIG, workers=1).run([path])
    for name in ("articles", "mentions", "query_matches"):
        expected = rows(tmp_path / "whole", name)
        assert rows(tmp_path / "results", name) == expected
    assert len(rows(tmp_path / "results", "articles")) == len(PAGES)


def test_folder_of_another_schema_is_one_line(tmp_path, newscrawl):
    path = warc(tmp_path / "cc.warc.gz", page(1))
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "notes.txt").write_text("Notes")
    foreign = newscrawl("ingest", path, "--to", "other")
    assert "other holds other files: name a new or empty folder" in foreign.refused()
    Dataset(str(tmp_path / "next"))
    (tmp_path / "next" / "_newscrawl.json").write_text('{"schema": 1}')
    newer = newscrawl("ingest", path, "--to", "next")
    assert "next has schema 1, this version writes 3" in newer.refused()
    limited = newscrawl("ingest", path, "--to", "third", "--limit", 1)
    assert "--limit is for the database" in limited.err
    assert not list(tmp_path.glob("*.sqlite"))


def test_full_disk_leaves_no_half_file(tmp_path, monkeypatch):
    target = Dataset(str(tmp_path / "results"))

    def fail(_number: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", fail)
    path = warc(tmp_path / "cc.warc.gz", page(1))
    with pytest.raises(ArchiveError, match=r"can't write .*: No space left on device"):
        Ingestion(target, CONFIG, workers=1).run([path])
    files = [file.name for file in (tmp_path / "results").rglob("*") if file.is_file()]
    assert files == ["_newscrawl.json"]
