"""A page that kills the crawl, or the process that reads it, again and again: it is given up, and
all other pages are stored."""

import json
import signal
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from sqlalchemy import select

from newscrawl.crawl.extraction_pool import LARGE_PAGE_BYTES
from newscrawl.items import FetchAttempt
from newscrawl.storage import Database
from newscrawl.storage.frontier.queue import MAX_CRASHES, DequeuedPage, Frontier
from newscrawl.storage.models import FrontierUrl
from tests.frontiers import AT_ONCE, SCHEDULE, entry, next_run, now, urls
from tests.site.crawling import Crawl, crawl, started_crawl
from tests.site.faults import always, listing, story
from tests.site.forking import Forks
from tests.site.server import SiteServer
from tests.watching import wait_for

PATHS = tuple(f"/story/{number}" for number in range(6))
DEADLY = "/story/2"
PIPELINES = {
    "tests.dying.MortalExtraction": 100,
    "pipelines.mentions.MentionsPipeline": 200,
    "pipelines.storage.StoragePipeline": 300,
}
USUAL = json.dumps(
    {
        **PIPELINES,
        "pipelines.extraction.ExtractionPipeline": 100,
        "tests.dying.MortalExtraction": None,
    }
)


# --- The queue ----------------------------------------------------------------------------------


@pytest.fixture
def suspected(database: Database) -> Frontier:
    """A crawl whose two predecessors were killed, with "a" and "b" on their way."""
    for _ in range(2):
        run = next_run(database)
        run.enqueue(None, [entry("a"), entry("b")])
        assert urls(run.dequeue(10)) == ["a", "b"]
    return next_run(database)


def alone(frontier: Frontier) -> DequeuedPage:
    found = frontier.dequeue_quarantined()
    assert found is not None
    return found


def row(database: Database, path: str) -> dict[str, object]:
    columns = (FrontierUrl.state, FrontierUrl.reason, FrontierUrl.crash_count, FrontierUrl.run_id)
    with database.reading() as session:
        found = session.execute(select(*columns).where(FrontierUrl.url.endswith(f"/{path}")))
        return dict(found.mappings().one())


def test_pages_in_flight_in_two_killed_crawls_are_quarantined(suspected):
    suspected.enqueue(None, [entry("c")])
    assert urls(suspected.dequeue(10)) == ["c"]
    assert urls([alone(suspected), alone(suspected)]) == ["a", "b"]
    assert suspected.dequeue_quarantined() is None


def test_pages_in_flight_in_one_killed_crawl_are_not_quarantined(database):
    run = next_run(database)
    run.finish([])
    database.finish_run(run.run_id, "finished", {})
    killed = next_run(database)
    killed.enqueue(None, [entry("a"), entry("b")])
    killed.dequeue(10)
    assert urls(next_run(database).dequeue(10)) == ["a", "b"]


def test_crashes_are_counted_until_the_page_is_done(database, suspected):
    run = suspected
    for crash_count in range(1, MAX_CRASHES + 1):
        # Each crawl stores "b" and crashes on "a".
        page = alone(run)
        if urls([page]) == ["b"]:
            run.mark_done(run.fetch_result(page.attempt, "read", "new"))
            page = alone(run)
        assert (urls([page]), page.attempt.crash_count) == (["a"], crash_count)
        run = next_run(database)
    assert alone(run).attempt.crash_count > MAX_CRASHES
    assert row(database, "b")["crash_count"] == 0


def test_crawl_that_shuts_down_resets_the_crash_count(database, suspected):
    assert alone(suspected).attempt.crash_count == 1
    suspected.finish([])
    database.finish_run(suspected.run_id, "shutdown", {})
    usual = {"state": "pending", "reason": None, "crash_count": 0, "run_id": None}
    assert row(database, "a") == usual
    assert "a" in urls(next_run(database).dequeue(10))


def died(database: Database, attempt: FetchAttempt) -> Frontier:
    frontier = next_run(database, AT_ONCE)
    frontier.mark_done(frontier.fetch_result(attempt, "crashed", "WorkerDied"))
    return frontier


def test_page_that_crashes_its_process_is_retried_alone_then_given_up(database):
    run = next_run(database, AT_ONCE)
    run.enqueue(None, [entry("a")])
    (page,) = run.dequeue(1)
    for _ in AT_ONCE.retries:
        run = died(database, page.attempt)
        assert run.dequeue(10) == []
        page = alone(run)
        assert page.attempt.crash_count <= MAX_CRASHES
    died(database, page.attempt)
    assert row(database, "a")["state"] == "failed"
    assert row(database, "a")["reason"] == "WorkerDied"


def test_quarantined_page_that_was_read_is_revisited_as_usual(database, suspected):
    page = alone(suspected)
    suspected.mark_done(suspected.fetch_result(page.attempt, "read", "new"))
    later = replace(next_run(database, SCHEDULE), clock=lambda: now() + 2 * SCHEDULE.revisits[0])
    assert "a" in urls(later.dequeue(10))


# --- Whole crawls -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Trap:
    """A site of six stories, one of which kills whoever reads it."""

    url: str
    database: Path
    forks: Forks

    def crawl(self, *feeds: str, **settings: str) -> Crawl:
        """A crawl without processes that read."""
        arguments, given = self.given(feeds, settings)
        return self.forks.crawl("ft", *arguments, database=self.database, settings=given)

    def crawl_with_readers(self) -> Crawl:
        """A crawl from a process of its own, which its readers can be started from."""
        arguments, given = self.given((), {"NEWSCRAWL_EXTRACTION_PROCESSES": "1"})
        return crawl("ft", *arguments, database=self.database, settings=given)

    def given(
        self, feeds: Sequence[str], settings: Mapping[str, str]
    ) -> tuple[list[str], dict[str, str]]:
        named = ",".join(f"{self.url}{feed}" for feed in feeds or ("/feed.xml",))
        mortal = {"ITEM_PIPELINES": json.dumps(PIPELINES), "NEWSCRAWL_RETRIES": "1s"}
        return [f"feeds={named}", "polls=due"], {**mortal, **settings}

    def stored(self, crawl: Crawl) -> list[str]:
        rows = crawl.rows("SELECT url FROM articles ORDER BY url")
        return [row["url"].removeprefix(self.url) for row in rows]

    def verdict(self, crawl: Crawl) -> tuple[str, str]:
        (row,) = crawl.rows("SELECT state, reason FROM frontier WHERE url LIKE ?", f"%{DEADLY}")
        return row["state"], row["reason"]


@pytest.fixture
def site() -> Iterator[SiteServer]:
    with SiteServer() as opened:
        yield opened


@pytest.fixture
def trap(tmp_path: Path, forks: Forks, site: SiteServer) -> Trap:
    site.serve_stories(PATHS)
    site.routes["/deadly.xml"] = always(listing(site.url, ("/deadly",)), kind="application/xml")
    site.routes[DEADLY] = always(story(f"About {DEADLY}", "deadly"))
    return Trap(site.url, tmp_path / "news.sqlite", forks)


@pytest.mark.thorough
def test_third_crawl_survives_a_page_that_crashed_two(trap):
    codes = [trap.crawl().code for _ in range(2)]
    assert codes == [-signal.SIGKILL] * 2
    third = trap.crawl_with_readers()
    assert third.code == 0, third.output
    assert "1 dropped (WorkerDied 1)" in third.summary
    assert trap.stored(third) == sorted(set(PATHS) - {DEADLY})
    assert trap.verdict(third) == ("pending", "WorkerDied")
    time.sleep(1.1)
    fourth = trap.crawl_with_readers()
    assert fourth.code == 0, fourth.output
    assert trap.verdict(fourth) == ("failed", "WorkerDied")


@pytest.mark.thorough
def test_page_that_crashes_crawls_is_given_up_without_reader_processes(trap):
    codes = [trap.crawl().code for _ in range(2 + MAX_CRASHES)]
    assert codes == [-signal.SIGKILL] * len(codes)
    last = trap.crawl()
    assert last.code == 0, last.output
    assert "1 failed (deadly 1)" in last.summary
    assert trap.stored(last) == sorted(set(PATHS) - {DEADLY})
    assert trap.verdict(last) == ("failed", "deadly")


@pytest.mark.thorough
def test_page_of_800000_attributes_is_stored(trap, site):
    attributes = b"".join(b" a%d=1" % number for number in range(800_000))
    body = story("About attributes", "Siemens").replace(b"<article>", b"<article%b>" % attributes)
    site.routes[DEADLY] = always(body)
    done = trap.crawl_with_readers()
    assert done.code == 0, done.output
    assert trap.stored(done) == sorted(PATHS)


@pytest.mark.thorough
def test_sigterm_ends_a_crawl_that_reads_an_endless_page(trap, site):
    body = story("About ends", "endless") + b" " * LARGE_PAGE_BYTES
    site.routes[DEADLY] = always(body)
    arguments, given = trap.given((), {"NEWSCRAWL_EXTRACTION_PROCESSES": "1"})
    with started_crawl(*arguments, database=trap.database, settings=given) as process:
        wait_for(lambda: DEADLY in site.paths(), 300)
        time.sleep(5)  # the page is being read by now
        process.send_signal(signal.SIGTERM)
        # Without an end of the reader it would take a minute.
        process.wait(30)


def test_feed_that_crashes_crawls_rests_and_others_are_read(trap):
    extensions = json.dumps({"tests.dying.MortalListings": 1})
    given = {"EXTENSIONS": extensions, "ITEM_PIPELINES": USUAL}
    crawls = [trap.crawl("/deadly.xml", "/feed.xml", **given) for _ in range(4)]
    assert [done.code for done in crawls] == [-signal.SIGKILL] * 3 + [0]
    last = crawls[-1]
    assert trap.stored(last) == sorted(PATHS)
    rows = last.rows("SELECT url, failures, checked_at FROM listings ORDER BY url")
    assert [(row["failures"], row["checked_at"] is None) for row in rows] == [(1, True), (0, False)]
