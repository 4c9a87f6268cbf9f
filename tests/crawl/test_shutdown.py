"""A stopped crawl ends soon, whatever it waits for; the next one crawls its remaining pages."""

import signal
import sqlite3
import subprocess
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from tests.site import broken
from tests.site.crawling import PROJECT, crawl_command, crawl_environment
from tests.site.faults import Answer, listing, story
from tests.site.forking import Forks
from tests.site.server import SiteServer

PAGES = ("/1", "/2", "/3")
RESTING = Answer(status=429, headers=(("Retry-After", "100"),))


def site_with(page: Callable[[int], Answer]) -> SiteServer:
    site = SiteServer(routes={"/robots.txt": lambda _: Answer(status=404)})
    feed = listing(site.url, PAGES)
    site.routes["/feed.xml"] = lambda _: Answer(body=feed, kind="application/xml")
    site.routes |= dict.fromkeys(PAGES, page)
    return site


@pytest.mark.parametrize(
    "page",
    [broken.instead(broken.silence), lambda _: RESTING],
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
        for path in PAGES:
            body = story(f"Story {path}", "Siemens")
            site.routes[path] = lambda _, body=body: Answer(body=body)
        done = forks.crawl("ft", feed, database=database)
    assert done.counts["newscrawl/articles_new"] == 3
