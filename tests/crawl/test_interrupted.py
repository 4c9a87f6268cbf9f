"""Crawls that end before their end: what was stored stays, the rest is met again."""

import json
import sqlite3
import subprocess
import time
from contextlib import closing
from pathlib import Path

from tests.site.crawling import PROJECT, crawl_command, crawl_environment
from tests.site.faults import Answer, story
from tests.site.forking import Forks
from tests.site.stories import PATHS, stored, twelve_stories


def test_sigterm_ends_a_crawl_without_losing_articles(tmp_path: Path) -> None:
    database = tmp_path / "news.sqlite"
    with twelve_stories() as site:
        command = crawl_command("ft", [f"feeds={site.url}/feed.xml"])
        environment = crawl_environment(database)
        with subprocess.Popen(
            command, cwd=PROJECT, env=environment, stderr=subprocess.PIPE, text=True
        ) as run:
            deadline = time.monotonic() + 60
            while stored(database) < 3 and time.monotonic() < deadline:
                time.sleep(0.02)
            run.terminate()
            _, log = run.communicate(timeout=240)
    assert run.returncode == 1  # not all of the work was done
    assert "state failed (aborted: it was stopped)" in log
    with closing(sqlite3.connect(database)) as connection, connection:
        (reason,) = connection.execute("SELECT reason FROM runs").fetchone()
    connection.close()
    assert reason == "shutdown"


def test_failing_database_ends_the_crawl_with_one_line(forks: Forks, tmp_path: Path) -> None:
    database = tmp_path / "news.sqlite"

    def loses_its_table(_visit: int) -> Answer:
        deadline = time.monotonic() + 60
        while stored(database) < 3 and time.monotonic() < deadline:
            time.sleep(0.05)
        with closing(sqlite3.connect(database)) as connection, connection:
            connection.execute("ALTER TABLE articles RENAME TO elsewhere")
        connection.close()
        return Answer(body=story("The last one", "Siemens"))

    with twelve_stories() as site:
        site.routes[PATHS[5]] = loses_its_table
        done = forks.crawl("ft", f"feeds={site.url}/feed.xml", database=database)
    assert done.code == 1
    assert done.rows("SELECT reason FROM runs") == [{"reason": "database_failed"}]
    (line,) = (line for line in done.output.splitlines() if "The crawl stops: " in line)
    assert "the database" in line
    assert "Traceback" not in done.output
    kept = done.rows("SELECT count(*) AS n FROM elsewhere")[0]["n"]
    assert kept == done.counts["newscrawl/articles_new"] >= 3


def test_crawl_without_storage_exports_its_articles(forks: Forks, tmp_path: Path) -> None:
    with twelve_stories() as site:
        done = forks.crawl(
            "ft",
            f"feeds={site.url}/feed.xml",
            database=tmp_path / "news.sqlite",
            settings={
                "ITEM_PIPELINES": '{"pipelines.extraction.ExtractionPipeline": 100}',
                "FEEDS": json.dumps({str(tmp_path / "out.jsonl"): {"format": "jsonlines"}}),
            },
        )
    assert done.code == 0, done.output
    assert len((tmp_path / "out.jsonl").read_text().splitlines()) == 12
    assert not (tmp_path / "news.sqlite").exists()


def test_crawl_of_an_unreadable_source_fails(forks: Forks, tmp_path: Path) -> None:
    with twelve_stories() as site:
        site.routes["/feed.xml"] = lambda _: Answer(status=410)
        done = forks.crawl("ft", f"feeds={site.url}/feed.xml", database=tmp_path / "news.sqlite")
    assert done.code == 1
    assert "state failed (HTTP 410 from feed.xml)" in done.summary
    (run,) = done.rows("SELECT finished_at, reason FROM runs")
    assert run["reason"] == "finished"
