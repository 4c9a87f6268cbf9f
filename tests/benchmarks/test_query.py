"""The bench of questions, over a small year."""

import json
from pathlib import Path

import pytest
from sqlalchemy import select

from benchmarks import query as bench
from benchmarks.query.bulk import load
from benchmarks.query.news_year import NewsYear, companies
from newscrawl.storage import open_database, queries
from newscrawl.storage.models import (
    Appearance,
    Base,
    CountedArticle,
    DailyCompany,
    DailyCompanySource,
    DailySource,
    DailyTotal,
)

COUNTED: tuple[type[Base], ...] = (
    *(Appearance, CountedArticle),
    *(DailyCompany, DailyCompanySource, DailySource, DailyTotal),
)


def test_equal_seeds_generate_equal_years() -> None:
    assert list(NewsYear(50)) == list(NewsYear(50))
    assert list(NewsYear(50)) != list(NewsYear(50, seed=1))


def test_generated_mentions_are_at_their_offsets() -> None:
    names = set(companies())
    for made in NewsYear(200):
        for mention in made.mentions:
            assert made.article.text[mention.start : mention.end] == mention.surface
            assert mention.company in names


def test_bulk_written_year_equals_one_stored_by_storage(tmp_path: Path) -> None:
    file = tmp_path / "year.sqlite"
    load(file, 400)
    with open_database(f"sqlite:///{file}") as database:

        def counted() -> list[list[tuple[object, ...]]]:
            with database.reading() as session:
                return [
                    sorted(map(tuple, session.execute(select(*table.__table__.columns))), key=repr)
                    for table in COUNTED
                ]

        def found() -> list[str]:
            return [one.article.url for one in queries.search(database, "bon OR ban", limit=400)]

        written, words = counted(), found()
        database.rebuild()
        assert counted() == written
        assert found() == words
        assert words


def test_benchmark_queries_and_writes_both_databases(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    figures = tmp_path / "figures.json"
    code = bench.main(["--articles=300", "--rounds=2", "--more=40", f"--json={figures}"])
    assert code == 0
    found = json.loads(figures.read_text())
    asked = {(row["database"], row["question"]) for row in found["timings"]}
    assert asked == {
        (name, question) for name in ("SQLite", "PostgreSQL") for question in bench.QUESTIONS
    }
    assert all(0 < row["p50"] <= row["p95"] for row in found["timings"])
    assert sum(row["limited"] for row in found["timings"]) == 2 * bench.LIMITED
    assert {row["database"] for row in found["writing"]} == {"SQLite", "PostgreSQL"}
    printed = capsys.readouterr().out
    for question in bench.QUESTIONS:
        assert f"| {question} |" in printed


def test_benchmark_fails_on_slow_answers() -> None:
    slow = bench.Timing("SQLite", "full-text search", 100.0, 201.0, limited=True)
    free = bench.Timing("SQLite", "by source", 100.0, 900.0, limited=False)
    written = bench.Writing("SQLite", 1_000_000, 600.0)
    assert not bench.report([slow], [written])
    assert bench.report([free], [written])
    assert not bench.report([free], [bench.Writing("SQLite", 1_000_000, 499.0)])
