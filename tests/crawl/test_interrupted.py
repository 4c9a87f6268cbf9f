"""Crawls that end before their end: what was stored stays, the rest is met again."""

import json

from tests.site.crawling import rows_of, started_crawl
from tests.site.faults import Answer, story
from tests.site.stories import PATHS, stored, twelve_stories
from tests.watching import wait_for


def test_sigterm_ends_a_crawl_without_losing_articles(tmp_path):
    database = tmp_path / "news.sqlite"
    with twelve_stories() as site, started_crawl(site.feeds, database=database) as run:
        wait_for(lambda: stored(database) >= 3)
        run.terminate()
        assert run.wait(240) == 1  # not all of the work was done
    assert "state failed (aborted: it was stopped)" in database.with_suffix(".log").read_text()
    assert rows_of(database, "SELECT reason FROM runs") == [{"reason": "shutdown"}]


def test_failing_database_ends_the_crawl_with_one_line(forks, tmp_path):
    database = tmp_path / "news.sqlite"

    def loses_its_table(_visit: int) -> Answer:
        wait_for(lambda: stored(database) >= 3)
        rows_of(database, "ALTER TABLE articles RENAME TO elsewhere")
        return Answer(body=story("The last one", "Siemens"))

    with twelve_stories() as site:
        site.routes[PATHS[5]] = loses_its_table
        done = forks.crawl("ft", site.feeds, database=database)
    assert done.code == 1
    assert done.rows("SELECT reason FROM runs") == [{"reason": "database_failed"}]
    (line,) = (line for line in done.output.splitlines() if "The crawl stops: " in line)
    assert "the database" in line
    assert "Traceback" not in done.output
    kept = done.rows("SELECT count(*) AS n FROM elsewhere")[0]["n"]
    assert kept == done.counts["newscrawl/articles_new"] >= 3


def test_crawl_without_storage_exports_its_articles(forks, tmp_path):
    with twelve_stories() as site:
        done = forks.crawl(
            "ft",
            site.feeds,
            database=tmp_path / "news.sqlite",
            settings={
                "ITEM_PIPELINES": '{"pipelines.extraction.ExtractionPipeline": 100}',
                "FEEDS": json.dumps({str(tmp_path / "out.jsonl"): {"format": "jsonlines"}}),
            },
        )
    assert done.code == 0, done.output
    assert len((tmp_path / "out.jsonl").read_text().splitlines()) == 12
    assert not (tmp_path / "news.sqlite").exists()
