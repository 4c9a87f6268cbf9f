"""Servers that do what they like: a crawl ends in order, and stores what is good."""

import gc
import os
import tracemalloc
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from twisted.internet.testing import StringTransport
from twisted.python.failure import Failure
from twisted.web._newclient import Request as TwistedRequest, ResponseFailed
from twisted.web.http_headers import Headers

from newscrawl.archive import MAX_FRAMING_BYTES
from newscrawl.crawl.errors import LargeFramingError
from newscrawl.crawl.sending import _Protocol
from tests.fuzz import http
from tests.site import broken
from tests.site.crawling import Crawl
from tests.site.faults import Answer, listing, story
from tests.site.forking import Forks
from tests.site.server import SiteServer
from tests.thorough import first_is_quick

# NEWSCRAWL_FUZZ=200 for a long run; some five seconds each.
FUZZ = int(os.environ.get("NEWSCRAWL_FUZZ") or 6)


@pytest.mark.parametrize("number", first_is_quick(range(FUZZ)))
def test_crawl_survives_hostile_responses(number):
    assert http.example(f"0/{number}") == []


@dataclass(frozen=True)
class Flooded:
    """A crawl of a site whose pages are floods, its log, and what each of them could send."""

    floods: dict[str, broken.Flood]
    feeds: dict[str, broken.Flood]
    robots: broken.Flood
    site: SiteServer
    crawl: Crawl


@pytest.fixture(scope="module")
def flooded(tmp_path_factory: pytest.TempPathFactory, forks: Forks) -> Iterator[Flooded]:
    pages, feeds, robots = broken.floods(), broken.floods(), broken.floods()["headers"]
    with SiteServer() as site, SiteServer() as other:
        site.routes["/robots.txt"] = lambda _: Answer(status=404)
        other.routes["/robots.txt"] = broken.instead(robots)
        listed = ("/fine", *(f"/{name}" for name in pages))
        site.routes["/fine"] = lambda _: Answer(body=story("Fine", "Siemens"))
        site.routes["/feed.xml"] = lambda _: Answer(
            body=listing(site.url, listed), kind="application/xml"
        )
        site.routes |= {f"/{name}": broken.instead(flood) for name, flood in pages.items()}
        site.routes |= {f"/feed/{name}": broken.instead(flood) for name, flood in feeds.items()}
        urls = [f"{site.url}/feed.xml", *(f"{site.url}/feed/{name}" for name in feeds)]
        done = forks.crawl(
            "ft",
            f"feeds={','.join((*urls, f'{other.url}/feed.xml'))}",
            database=tmp_path_factory.mktemp("flooded") / "news.sqlite",
            settings={"RETRY_ENABLED": "0"},
        )
        yield Flooded(pages, feeds, robots, site, done)


# Twisted itself limits a line of a chunk's size and trailers.
REASONS = (
    ": headers or framing of chunks larger than 64 KiB",
    ": the connection broke before the page was whole",
)


@pytest.mark.parametrize("name", broken.floods())
def test_page_or_feed_of_endless_headers_is_aborted(flooded, name):
    assert flooded.floods[name].sent < broken.BUFFERED
    assert flooded.feeds[name].sent < broken.BUFFERED
    for wrong in (f"Can't fetch {flooded.site.url}/{name}: ", f"{flooded.site.url}/feed/{name}: "):
        (line,) = (one for one in flooded.crawl.output.splitlines() if wrong in one)
        assert line.endswith(REASONS)


def test_other_pages_are_read_beside_endless_headers(flooded):
    assert flooded.crawl.errors == []
    assert [row["title"] for row in flooded.crawl.rows("SELECT title FROM articles")] == ["Fine"]


def test_robots_txt_of_endless_headers_is_aborted(flooded):
    assert flooded.robots.sent < broken.BUFFERED
    assert "headers too large: robots.txt" in flooded.crawl.output


def test_headers_of_an_aborted_response_are_freed():
    flood = broken.floods()["headers"]
    data = flood.head + flood.repeated * (MAX_FRAMING_BYTES // len(flood.repeated))
    ended: list[Failure] = []

    def flooded_response() -> None:
        protocol = _Protocol(lambda: True, lambda _: None, lambda _: None)
        protocol.makeConnection(StringTransport())  # type: ignore[no-untyped-call]
        headers = Headers({b"host": [b"127.0.0.1"]})
        request = TwistedRequest(b"GET", b"/", headers, None)  # type: ignore[no-untyped-call]
        protocol.request(request).addErrback(ended.append)
        protocol.dataReceived(data)

    flooded_response()
    gc.collect()
    gc.disable()  # how soon cycles are collected depends on what else a crawl does
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        for _ in range(20):
            flooded_response()
        after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
        gc.enable()
    errors = [one.value for one in ended if isinstance(one.value, ResponseFailed)]
    assert [bool(error.reasons[0].check(LargeFramingError)) for error in errors] == [True] * 21
    assert (after - before) / 20 < MAX_FRAMING_BYTES / 4
