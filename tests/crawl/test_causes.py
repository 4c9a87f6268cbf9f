"""Why a source can't be read: the cause, in the same words for everybody who is told of it."""

from datetime import UTC, datetime
from pathlib import Path

import pytest
from scrapy.exceptions import CannotResolveHostError, DownloadFailedError
from twisted.python.failure import Failure

from newscrawl.crawl.errors import RobotsUnreachableError, cause_of, unusable
from newscrawl.monitoring.health_checks import MIN_FAILURES, Inspector
from newscrawl.sources.feeds import FeedError
from newscrawl.storage import open_database
from newscrawl.storage.status import Health, SourceStatus, list_incidents, watch_status
from tests.receivers import free_port
from tests.site.crawling import IMPATIENT
from tests.site.faults import always, listing, story
from tests.site.resolver import GONE
from tests.site.server import SiteServer

RESOLVER = {"TWISTED_DNS_RESOLVER": "tests.site.resolver.TestResolver"}


def a_site() -> SiteServer:
    """A site with a story, which its feed lists."""
    site = SiteServer(routes={"/story": always(story("News", "Siemens"))})
    site.routes["/feed.xml"] = always(listing(site.url, ("/story",)), kind="application/xml")
    return site


def status_of(file: Path) -> SourceStatus:
    with open_database(f"sqlite:///{file}") as database:
        (found,) = watch_status(database, ["ft"]).sources
    return found


def test_server_error_after_a_good_crawl_is_the_state_of_the_source(forks, newscrawl, tmp_path):
    file = tmp_path / "news.sqlite"
    with a_site() as site:
        assert forks.crawl("ft", site.feeds, database=file).code == 0
        assert status_of(file).health is Health.HEALTHY
        good = dict(site.routes)
        site.routes |= dict.fromkeys(("/robots.txt", "/feed.xml", "/story"), always(status=500))
        failed = forks.crawl("ft", site.feeds, database=file, settings=IMPATIENT)
        now = status_of(file)
        site.routes.clear()
        site.routes |= good
        assert forks.crawl("ft", site.feeds, database=file).code == 0
    assert failed.code == 1
    assert failed.summary.endswith("state failed (HTTP 500 from feed.xml)")
    assert (now.health, now.reason) == (Health.FAILING, "HTTP 500 from feed.xml")
    assert now.coverage == "ok"  # the day was read before
    assert status_of(file).health is Health.HEALTHY


@pytest.mark.parametrize(
    ("crawls", "health"),
    [
        ([("finished", "ok"), ("shutdown", "failed")], Health.HEALTHY),
        ([("shutdown", "failed")], Health.HEALTHY),  # and the first one
        ([("finished", "failed"), ("shutdown", "failed")], Health.FAILING),
        ([("shutdown", "failed"), ("database_failed", "failed")], Health.FAILING),
    ],
)
def test_stopped_crawl_says_nothing_of_its_source(own_database, crawls, health):
    note = "aborted: it was stopped"
    with open_database(f"sqlite:///{own_database}") as database:
        database.register_source("ft", "FT", "gb", "en", "https://www.ft.com/")
        for reason, state in crawls:
            ended = {"newscrawl/state": state, "newscrawl/note": note}
            database.finish_run(database.start_run("ft"), reason, ended)
            database.record_coverage("ft", datetime.now(UTC).date(), state, 9, 1, note=note)
    assert status_of(own_database).health is health


def test_host_without_an_address_is_named(forks, tmp_path):
    file = tmp_path / "news.sqlite"
    feeds = f"feeds=http://{GONE}/feed.xml"
    done = forks.crawl("ft", feeds, database=file, settings=RESOLVER | IMPATIENT)
    assert done.code == 1
    assert status_of(file).reason.startswith(f"host name not found: {GONE}; ")


@pytest.mark.thorough
def test_server_that_is_down_is_named(forks, tmp_path):
    file = tmp_path / "news.sqlite"
    feeds = f"feeds=http://127.0.0.1:{free_port()}/feed.xml"
    forks.crawl("ft", feeds, database=file, settings=IMPATIENT)
    assert status_of(file).reason.startswith("connection refused: 127.0.0.1; ")


def test_feeds_that_the_site_refuses_are_its_refusal(forks, tmp_path):
    file = tmp_path / "news.sqlite"
    with a_site() as site:
        site.routes |= dict.fromkeys(("/feed.xml", "/news.xml"), always(status=403))
        feeds = f"feeds={site.url}/feed.xml,{site.url}/news.xml"
        assert forks.crawl("ft", feeds, database=file, settings=IMPATIENT).code == 1
    found = status_of(file)
    assert (found.health, found.coverage) == (Health.BLOCKED, "refused")
    assert found.reason in {
        "HTTP 403 from feed.xml and 1 more",
        "HTTP 403 from news.xml and 1 more",
    }


def test_lost_feed_is_reported_with_its_own_cause(forks, tmp_path):
    file = tmp_path / "news.sqlite"
    with a_site() as site:
        site.routes |= {"/a/rss": always(status=404), "/b/rss": always(status=410)}
        feeds = f"feeds={site.url}/b/rss,{site.url}/a/rss,{site.url}/feed.xml"
        lost = f"{site.url}/a/rss"
        for _ in range(MIN_FAILURES):
            assert forks.crawl("ft", feeds, database=file, settings=IMPATIENT).code == 0
            site.routes["/b/rss"] = site.routes["/feed.xml"]
    with open_database(f"sqlite:///{file}") as database:
        Inspector(database, ["ft"], [])()
        (incident,) = list_incidents(database)
    times = f"{lost} failed {MIN_FAILURES} times in a row, never read before"
    assert incident.note == f"HTTP 404 from rss; {times}"


@pytest.mark.parametrize(
    ("error", "url", "text"),
    [
        (
            DownloadFailedError("[('SSL routines', '', 'certificate verify failed')]"),
            "https://x.example/feed.xml",
            "certificate not valid: feed.xml",
        ),
        (
            CannotResolveHostError("x"),
            "https://x.example/feed.xml",
            "host name not found: x.example",
        ),
        (RobotsUnreachableError("HTTP 500 from robots.txt"), "https://x.example/", None),
    ],
)
def test_cause_is_stated_with_its_place(error, url, text):
    assert cause_of(Failure(error)).of(url) == (text or str(error))


def test_cause_of_a_hostile_address_is_short_and_can_be_stored():
    cause = unusable(FeedError("is no\0 feed\n" * 100))
    text = cause.of(f"https://x.example/{'a' * 5000}")
    assert text.startswith("aaa")
    assert len(text) <= 200
    assert not set(text) & {"\0", "\n"}
