"""The bench of questions, over a small year."""

import json

import psycopg
from sqlalchemy import select

from benchmarks import query as bench
from benchmarks.query.bulk import load
from benchmarks.query.news_year import NewsYear, sources
from benchmarks.query.postgres import copy_to_postgres
from newscrawl.storage import Database, open_database, queries, upgrade_database
from newscrawl.storage.models import (
    Article,
    Source,
)
from tests.counted import counted


def test_bulk_written_year_equals_one_stored_by_storage(tmp_path):
    file = tmp_path / "year.sqlite"
    load(file, 400)
    with open_database(f"sqlite:///{file}") as database:
        written, words = counted(database), _found(database)
        database.rebuild()
        assert counted(database) == written
        assert _found(database) == words
        assert words


def test_larger_year_repeats_articles_in_other_sources_of_their_language(tmp_path, postgres_url):
    file = tmp_path / "year.sqlite"
    load(file, 200)
    copy_to_postgres(file, postgres_url, times=3)
    with open_database(f"sqlite:///{file}") as once, open_database(postgres_url) as database:
        written, words = counted(database), _found(database)
        assert len(words) == 3 * len(_found(once))
        assert queries.facts(database).rows["articles"] == 600
        assert [(row.company, row.hits.articles) for row in queries.company_ranking(database)] == [
            (row.company, 3 * row.hits.articles) for row in queries.company_ranking(once)
        ]
        languages = {source.slug: source.language for source in sources()}
        with database.reading() as session:
            pairs = session.execute(
                select(Source.slug, Article.language).join(Article, Article.source_id == Source.id)
            )
            assert all(languages[slug] == language for slug, language in pairs)
        database.rebuild()
        assert counted(database) == written
        assert _found(database) == words
        more = NewsYear(20, seed=1, path="more", days=2)
        assert bench.store(database, iter(more))[0] == 20
    with psycopg.connect(postgres_url) as connection:
        asked = "SELECT count(*) FROM pg_indexes WHERE schemaname = 'public'"
        indexes = connection.execute(asked).fetchone()
        connection.execute("DROP SCHEMA public CASCADE")
        connection.execute("CREATE SCHEMA public")
        connection.commit()
        upgrade_database(postgres_url)
        assert connection.execute(asked).fetchone() == indexes


def _found(database: Database) -> list[str]:
    hits = queries.search(database, "bon OR ban", limit=1_000)
    return sorted(one.article.url for one in hits)


def test_benchmark_queries_and_writes_both_databases(tmp_path, capsys):
    figures = tmp_path / "figures.json"
    code = bench.main(["--articles=300", "--rounds=2", "--more=40", f"--json={figures}"])
    assert code == 0
    found = json.loads(figures.read_text())
    asked = {(row["database"], row["question"]) for row in found["timings"]}
    assert asked == {
        (name, question) for name in ("SQLite", "PostgreSQL") for question in bench.QUESTIONS
    }
    assert all(0 < row["p50"] <= row["p95"] for row in found["timings"])
    assert all(row["processor"] > 0 for row in found["timings"])
    assert sum(row["limited"] for row in found["timings"]) == 2 * bench.LIMITED
    assert {row["database"] for row in found["writing"]} == {"SQLite", "PostgreSQL"}
    printed = capsys.readouterr().out
    for question in bench.QUESTIONS:
        assert f"| {question} |" in printed


def test_benchmark_fails_on_slow_answers():
    slow = bench.Timing("SQLite", "full-text search", 100.0, 201.0, 90.0, limited=True)
    free = bench.Timing("SQLite", "by source", 100.0, 900.0, 90.0, limited=False)
    written = bench.Writing("SQLite", 1_000_000, 600.0)
    assert not bench.report([slow], [written])
    assert bench.report([free], [written])
    assert not bench.report([free], [bench.Writing("SQLite", 1_000_000, 499.0)])
