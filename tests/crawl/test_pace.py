"""The delay between two requests of a host, by the times at which its server receives them."""

import json
from collections.abc import Sequence
from itertools import count, pairwise
from pathlib import Path

import pytest

from tests.site.faults import Answer, always, listing, story
from tests.site.forking import Forks
from tests.site.server import FetchAttempt, SiteServer
from tests.thorough import first_is_quick

DELAY = 0.5
# Of the two clocks by which delays are counted and receipts are noted.
TOLERANCE = 0.002
# Seconds of a slow answer, and of the pause that it asks for.
SLOW, REST = 0.7, 2


def gaps(visits: Sequence[FetchAttempt]) -> list[float]:
    moments = sorted(one.received for one in visits)
    return [after - before for before, after in pairwise(moments)]


def crawled(forks: Forks, folder: Path, pages: int, **settings: str) -> list[float]:
    """Crawl a site of this number of pages, and return the times between its requests."""
    paths = tuple(f"/story/{number}" for number in range(pages))
    with SiteServer() as site:
        site.serve_stories(paths)
        pace = {"DOWNLOAD_DELAY": str(DELAY), "AUTOTHROTTLE_ENABLED": "0", **settings}
        forks.crawl("ft", site.feeds, database=folder / "news.sqlite", settings=pace)
        assert len(site.visits) == 2 + pages
        return gaps(site.visits)


def test_no_delay_is_shorter_than_the_setting(forks, tmp_path):
    assert min(crawled(forks, tmp_path, 20)) > DELAY - TOLERANCE


def test_delay_counts_from_when_a_request_was_sent(forks, tmp_path):
    late = json.dumps({"tests.dying.LateSending": 0})
    assert min(crawled(forks, tmp_path, 8, EXTENSIONS=late)) > DELAY - TOLERANCE


def overloaded(rest: int) -> Answer:
    """An answer that takes longer than the delay and asks for a pause."""
    return Answer(status=429, headers=(("Retry-After", str(rest)),), delay=SLOW)


def crawled_with_overload(
    forks: Forks, folder: Path, pages: int, refused: int, **settings: str
) -> list[FetchAttempt]:
    """Crawl a site that answers its nth request for a page, counted from 0, with a pause of two
    seconds; return the requests for pages in their order."""
    paths = tuple(f"/story/{number}" for number in range(pages))
    asked = count()
    with SiteServer() as site:
        site.serve_stories(paths)
        for path in paths:
            page = Answer(body=story(f"About {path}", "Siemens"))
            site.routes[path] = lambda _, page=page: (
                overloaded(REST) if next(asked) == refused else page
            )
        pace = {"AUTOTHROTTLE_ENABLED": "0", **settings}
        done = forks.crawl("ft", site.feeds, database=folder / "news.sqlite", settings=pace)
        assert done.counts["newscrawl/retry_after_pauses"] == 1
        seen = [one for one in site.visits if one.path.startswith("/story/")]
    assert len(seen) == pages + 1
    return sorted(seen, key=lambda one: one.received)


def test_no_request_follows_an_overloaded_answer_before_the_pause_ends(forks, tmp_path):
    one_at_a_time = {"DOWNLOAD_DELAY": "0.1", "CONCURRENT_REQUESTS_PER_DOMAIN": "1"}
    seen = crawled_with_overload(forks, tmp_path, 4, 0, **one_at_a_time)
    assert seen[1].received - seen[0].received > SLOW + REST - TOLERANCE


@pytest.mark.thorough
def test_request_that_was_begun_before_an_overloaded_answer_does_not_end_the_pause(forks, tmp_path):
    late = json.dumps({"tests.dying.LateSending": 0})  # sends the third page after the answer
    settings = {"DOWNLOAD_DELAY": str(DELAY), "EXTENSIONS": late}
    seen = crawled_with_overload(forks, tmp_path, 3, 1, **settings)
    assert seen[3].path == seen[1].path
    assert seen[3].received - seen[1].received > SLOW + REST - TOLERANCE


@pytest.mark.parametrize("header", first_is_quick(["0", "Sat, 01 Jan 2000 00:00:00 GMT"]))
def test_overloaded_host_that_asks_for_no_pause_gets_the_usual_one(forks, tmp_path, header):
    site = SiteServer()
    site.serve_stories(("/story/0",))
    refusal = Answer(status=503, headers=(("Retry-After", header),))
    page = Answer(body=story("About /story/0", "Siemens"))
    site.routes["/story/0"] = lambda attempt: refusal if attempt == 1 else page
    pause = {"NEWSCRAWL_RETRY_PAUSE": "1", "AUTOTHROTTLE_ENABLED": "0"}
    with site:
        done = forks.crawl("ft", site.feeds, database=tmp_path / "news.sqlite", settings=pause)
    assert done.counts["newscrawl/retry_after_pauses"] == 1
    first, second = (one.received for one in site.visits if one.path == "/story/0")
    assert second - first > 1 - TOLERANCE


@pytest.mark.thorough
def test_hosts_with_and_without_www_have_one_delay(forks, tmp_path):
    with SiteServer() as site:
        site.routes["/robots.txt"] = always(status=404)
        homes = [f"http://{name}:{site.port}" for name in ("pier.example", "www.pier.example")]
        for number, home in enumerate(homes):
            paths = tuple(f"/story/{number}/{page}" for page in range(3))
            feed = Answer(body=listing(home, paths), kind="application/xml")
            site.routes[f"/feed/{number}.xml"] = lambda _, feed=feed: feed
            for path in paths:
                page = Answer(body=story(f"About {path}", "Siemens"))
                site.routes[path] = lambda _, page=page: page
        pace = {"DOWNLOAD_DELAY": str(DELAY), "AUTOTHROTTLE_ENABLED": "0"}
        feeds = f"feeds={homes[0]}/feed/0.xml,{homes[1]}/feed/1.xml"
        resolver = {"TWISTED_DNS_RESOLVER": "tests.site.resolver.TestResolver"}
        forks.crawl("ft", feeds, database=tmp_path / "news.sqlite", settings=resolver | pace)
        assert len(site.visits) == 10
        assert min(gaps(site.visits)) > DELAY - TOLERANCE
