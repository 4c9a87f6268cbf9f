"""A stopped crawl ends soon, whatever it waits for; the next one crawls its remaining pages."""

import os
import signal
import sqlite3
import subprocess
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from newscrawl.crawl.extraction_pool import LARGE_PAGE_BYTES
from tests.site import broken
from tests.site.crawling import PROJECT, crawl_command, crawl_environment
from tests.site.faults import Answer, story
from tests.site.forking import Forks
from tests.site.server import SiteServer
from tests.thorough import first_is_quick
from tests.watching import alive, children, wait_for

PAGES = ("/1", "/2", "/3")
RESTING = Answer(status=429, headers=(("Retry-After", "100"),))


def site_with(page: Callable[[int], Answer]) -> SiteServer:
    site = SiteServer()
    site.serve_stories(PAGES)
    site.routes |= dict.fromkeys(PAGES, page)
    return site


@pytest.mark.thorough
@pytest.mark.parametrize(
    "page",
    first_is_quick([broken.instead(broken.silence), lambda _: RESTING]),
    ids=["a silent server", "a host that rests"],
)
def test_sigterm_ends_a_waiting_crawl(
    forks: Forks, tmp_path: Path, page: Callable[[int], Answer]
) -> None:
    database = tmp_path / "news.sqlite"
    with site_with(page) as site:
        feed = f"feeds={site.url}/feed.xml"
        command = crawl_command("ft", [feed], {"DOWNLOAD_TIMEOUT": "600"})
        process = subprocess.Popen(
            command, cwd=PROJECT, env=crawl_environment(database), stderr=subprocess.DEVNULL
        )
        deadline = time.monotonic() + 60
        while not {*PAGES} & {*site.paths()} and time.monotonic() < deadline:
            time.sleep(0.05)
        time.sleep(0.5)
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=300)  # some five seconds; minutes where it would wait
        with closing(sqlite3.connect(database)) as connection, connection:
            (run,) = connection.execute("SELECT reason FROM runs").fetchall()
            left = connection.execute("SELECT state, attempts, run_id FROM frontier").fetchall()
        connection.close()
        assert run == ("shutdown",)
        assert left == [("pending", 0, None)] * 3
        site.serve_stories(PAGES)
        done = forks.crawl("ft", feed, database=database)
    assert done.counts["newscrawl/articles_new"] == 3


@pytest.mark.thorough
def test_stopped_extraction_process_does_not_hold_a_crawl(tmp_path: Path) -> None:
    database = tmp_path / "news.sqlite"
    large = story("A long one", "Siemens", extra=f"<!-- {'x' * LARGE_PAGE_BYTES} -->")
    settings = {"DOWNLOAD_TIMEOUT": "600", "NEWSCRAWL_EXTRACTION_PROCESSES": "1"}
    with site_with(broken.instead(broken.silence)) as site:
        site.routes[PAGES[0]] = lambda _: Answer(body=large)
        process = subprocess.Popen(
            crawl_command("ft", [f"feeds={site.url}/feed.xml"], settings),
            cwd=PROJECT,
            env=crawl_environment(database),
            stderr=subprocess.DEVNULL,
        )
        try:
            wait_for(lambda: _articles(database) == 1, 240)
            workers = [
                child
                for child in children(process.pid)
                if b"newscrawl.workers" in Path(f"/proc/{child}/cmdline").read_bytes()
            ]
            assert len(workers) == 2  # for listings and for pages
            for worker in workers:
                os.kill(worker, signal.SIGSTOP)
            process.send_signal(signal.SIGTERM)
            process.wait(timeout=120)  # it ends this test where the crawl hangs
        finally:
            process.kill()
            process.wait()
    assert not any(map(alive, workers))


def _articles(database: Path) -> int:
    try:
        with closing(sqlite3.connect(database)) as connection:
            return int(connection.execute("SELECT count(*) FROM articles").fetchone()[0])
    except sqlite3.OperationalError:
        return 0  # the crawl has not created the tables yet
