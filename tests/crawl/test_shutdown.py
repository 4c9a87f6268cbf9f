"""A stopped crawl ends soon, whatever it waits for; the next one crawls its remaining pages."""

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from newscrawl.crawl.extraction_pool import LARGE_PAGE_BYTES
from tests.site import broken
from tests.site.crawling import rows_of, started_crawl
from tests.site.faults import Answer, always, story
from tests.site.server import SiteServer
from tests.site.stories import stored
from tests.thorough import first_is_quick
from tests.watching import alive, children, wait_for

PAGES = ("/1", "/2", "/3")
PATIENT = {"DOWNLOAD_TIMEOUT": "600"}
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
def test_sigterm_ends_a_waiting_crawl(forks, tmp_path, page):
    database = tmp_path / "news.sqlite"
    with site_with(page) as site:
        with started_crawl(site.feeds, database=database, settings=PATIENT) as process:
            wait_for(lambda: {*PAGES} & {*site.paths()}, 60)
            time.sleep(0.5)
            process.send_signal(signal.SIGTERM)
            process.wait(300)  # some five seconds; minutes where it would wait
        assert rows_of(database, "SELECT reason FROM runs") == [{"reason": "shutdown"}]
        left = rows_of(database, "SELECT state, attempts, run_id FROM frontier")
        assert left == [{"state": "pending", "attempts": 0, "run_id": None}] * 3
        site.serve_stories(PAGES)
        done = forks.crawl("ft", site.feeds, database=database)
    assert done.counts["newscrawl/articles_new"] == 3


@pytest.mark.thorough
def test_stopped_extraction_process_does_not_hold_a_crawl(tmp_path):
    database = tmp_path / "news.sqlite"
    large = story("A long one", "Siemens", extra=f"<!-- {'x' * LARGE_PAGE_BYTES} -->")
    settings = PATIENT | {"NEWSCRAWL_EXTRACTION_PROCESSES": "1"}
    with site_with(broken.instead(broken.silence)) as site:
        site.routes[PAGES[0]] = always(large)
        with started_crawl(site.feeds, database=database, settings=settings) as process:
            wait_for(lambda: stored(database) == 1, 240)
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
    assert not any(map(alive, workers))
