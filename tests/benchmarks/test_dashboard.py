"""The bench of the dashboard, over a small year."""

import json
import subprocess
import sys

import pytest

from benchmarks.dashboard import page_paths, time_readers
from newscrawl.storage import open_database
from tests.dashboards import make_news


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> str:
    url = f"sqlite:///{tmp_path_factory.mktemp('year') / 'news.sqlite'}"
    with open_database(url) as database:
        make_news(database, days=10)
    return url


def run_bench(*arguments: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "benchmarks.dashboard", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_pages_of_each_kind_are_opened(url):
    done = run_bench(url, "--format", "json")
    assert done.returncode in {0, 1}, done.stderr  # 1 where a page was slow
    rows = json.loads(done.stdout)
    assert {row["page"] for row in rows} == {kind for kind, _ in page_paths(url)}
    assert all(row["opened"] == 3 and row["p50"] <= row["slowest"] for row in rows)


def test_readers_open_pages_at_once(url):
    timings = time_readers(url, page_paths(url), readers=4, seconds=2, pause=0.05)
    assert timings[-1].page == "all pages"
    assert timings[-1].opened == sum(timing.opened for timing in timings[:-1]) > 4
