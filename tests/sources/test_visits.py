"""Visits outside a crawl keep a crawl's manners: one helper process, with Scrapy's middlewares."""

import gzip
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from newscrawl import config, settings
from newscrawl.config import SettingError
from newscrawl.sources.visits import (
    DisallowedError,
    Fetcher,
    FetchError,
    PrivateAddressError,
)
from tests.site import broken
from tests.site.broken import instead
from tests.site.faults import Answer, always
from tests.site.server import SiteServer

# A port that comes again would be a host whose robots.txt the fetcher of all tests knows already.
PORTS: set[int] = set()
PAGE = b"<html><title>Crane</title><p>The old crane.</p></html>"


def away(target: str, status: int = 302) -> Callable[[int], Answer]:
    return always(status=status, headers=(("Location", target),))


def packed(body: bytes) -> Callable[[int], Answer]:
    return always(body, headers=(("Content-Encoding", "gzip"),))


def site(**routes: Callable[[int], Answer]) -> SiteServer:
    """A site whose paths are the names, with "robots" for robots.txt."""
    pages = {f"/{name}": route for name, route in routes.items()}
    pages["/robots.txt"] = pages.pop("/robots", always(status=404))
    server = SiteServer(routes=pages)
    while server.port in PORTS:
        with server:  # which closes it
            server = SiteServer(routes=pages)
    PORTS.add(server.port)
    return server


@pytest.fixture(scope="module")
def fetcher() -> Iterator[Fetcher]:
    """One helper for all tests: each site has a port, and so a host, of its own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(settings, "DOWNLOAD_TIMEOUT", 3)
        patch.setattr(settings, "DOWNLOAD_MAXSIZE", 100_000)
        patch.setattr(settings, "USER_AGENT", "newscrawl/0 (+tests)")
        with Fetcher(allow_private=True, pause=0.0) as fetcher:
            yield fetcher


def test_robots_txt_is_read_once_per_host(fetcher):
    with site(a=always("a"), b=always("b")) as server:
        assert fetcher.fetch(f"{server.url}/a").body == b"a"
        assert fetcher.fetch(f"{server.url}/b").body == b"b"
        assert server.paths() == ["/robots.txt", "/a", "/b"]
        assert {visit.user_agent for visit in server.visits} == {"newscrawl/0 (+tests)"}


def test_crawl_delay_of_a_host_is_obeyed(fetcher):
    robots = always("User-agent: *\nCrawl-delay: 0.3\n")
    with site(robots=robots, a=always("a")) as server, ThreadPoolExecutor(3) as pool:
        began = time.monotonic()
        list(pool.map(fetcher.fetch, [f"{server.url}/a"] * 3))
        moments = [visit.moment for visit in server.visits if visit.path == "/a"]
    # From the beginning and not from visit to visit: the server may note one late, never early.
    waits = [moment - began for moment in moments]
    assert [wait >= least for wait, least in zip(waits, (0.3, 0.6, 0.9), strict=True)] == [True] * 3


@pytest.mark.parametrize(
    ("robots", "reason"),
    [
        ("User-agent: *\nCrawl-delay: 500\n", "asks for 500 seconds"),
        ("User-agent: newscrawl\nDisallow: /a\n", r"robots\.txt doesn't allow it"),
        ("User-agent: *\nDisallow: /\n", r"robots\.txt doesn't allow it"),
    ],
)
def test_disallowed_page_is_not_requested(fetcher, robots, reason):
    with site(robots=always(robots), a=always("a")) as server:
        with pytest.raises(DisallowedError, match=reason):
            fetcher.fetch(f"{server.url}/a")
        assert server.paths() == ["/robots.txt"]


@pytest.mark.parametrize(
    ("robots", "error", "reason"),
    [
        (always(status=500), DisallowedError, r"HTTP 500 from robots\.txt|HTTP 500"),
        (always("<script>", status=202), DisallowedError, "HTTP 202"),
        (away("/robots.txt"), DisallowedError, "more than 5 redirects"),
        (instead(broken.reset), FetchError, r"connection broke: robots\.txt"),
        (instead(broken.silence), FetchError, r"timeout: robots\.txt"),
        (instead(broken.floods()["early-hints"]), FetchError, "headers too large"),
    ],
    ids=["500", "202", "loop", "reset", "silence", "endless headers"],
)
def test_unreadable_robots_txt_forbids_all_pages(fetcher, robots, error, reason):
    with site(robots=robots, a=always("a")) as server:
        for _ in range(2):
            with pytest.raises(FetchError, match=reason) as caught:
                fetcher.fetch(f"{server.url}/a")
            assert type(caught.value) is error
        with pytest.raises(FetchError, match=reason):
            fetcher.robots_policy(server.url)
        assert set(server.paths()) == {"/robots.txt"}


@pytest.mark.parametrize(
    "robots",
    [
        always("User-agent: *\nDisallow: /\n", status=404),
        always("User-agent: other\nDisallow: /\n"),
        always("\x00\x01<html>"),
    ],
    ids=["none", "of another crawler", "garbage"],
)
def test_page_that_robots_txt_allows_is_fetched(fetcher, robots):
    with site(robots=robots, a=always("a")) as server:
        assert fetcher.fetch(f"{server.url}/a").body == b"a"


def test_robots_txt_is_returned_with_its_sitemaps(fetcher):
    rules = b"Sitemap: https://x.example/s.xml\n"
    with site(robots=always(rules)) as server:
        assert fetcher.sitemaps(server.url) == ("https://x.example/s.xml",)
        policy = fetcher.robots_policy(f"{server.url}/a")
    assert (policy.origin, policy.status, policy.rules) == (server.url, 200, rules)


@pytest.mark.parametrize(("status", "moved"), [(301, True), (308, True), (302, False)])
def test_only_permanent_redirects_are_a_move(fetcher, status, moved):
    with site(a=away("/b", status), b=always("b")) as server:
        result = fetcher.fetch(f"{server.url}/a")
    assert (result.url, result.moved) == (f"{server.url}/b", moved)


@pytest.mark.parametrize("compressed", [False, True])
def test_long_page_is_cut_on_request(fetcher, compressed):
    body = os.urandom(400_000)
    long = packed(gzip.compress(body)) if compressed else always(body)
    with site(a=long) as server:
        assert fetcher.fetch(f"{server.url}/a", cut_at=1_000).body == body[:1_000]
        with pytest.raises(FetchError, match="larger than"):
            fetcher.fetch(f"{server.url}/a")


def test_page_is_returned_with_its_address_and_charset(fetcher):
    page = always(gzip.compress(PAGE), kind="text/html; charset=windows-1251",
                  headers=(("Content-Encoding", "gzip"),))  # fmt: skip
    with site(a=away("/b?x=1"), b=page) as server:
        expected = (f"{server.url}/b?x=1", PAGE, "cp1251")
        read = fetcher.page(f"{server.url}/a#top")
        assert (read.url, read.body, read.encoding) == expected


FAULTS = {
    "404": (always(status=404), "the server answered 404"),
    "500": (always(status=500), "the server answered 500"),
    "pdf": (always(b"%PDF", kind="application/pdf"), "it is application/pdf, not HTML"),
    "redirect loop": (away("/a"), "more redirects than REDIRECT_MAX_TIMES"),
    "too large": (always("x" * 100_001), "larger than"),
    "bomb": (packed(gzip.compress(bytes(50_000_000))), "larger than"),
    "hangs up": (always("<html>", promised=500), "the connection broke"),
    "no HTTP": (instead(broken.garbage), "can't fetch"),
    "silence": (instead(broken.silence), "no complete response"),
    "single bytes": (always("x" * 200, drip=0.1), "no complete response"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_failed_request_is_one_line(fetcher, name):
    page, reason = FAULTS[name]
    with site(a=page) as server, pytest.raises(FetchError, match=reason) as caught:
        fetcher.page(f"{server.url}/a")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("http://127.0.0.1:1/", "connection refused"),
        ("http://nowhere.invalid/", r"host name not found: nowhere\.invalid"),
        ("http:///a", "has no host"),
        ("http://me:secret@x.org/", "has credentials"),
        ("http://[::1/", "not a URL"),
    ],
)
def test_url_that_leads_nowhere_is_one_line(fetcher, url, reason):
    with pytest.raises(FetchError, match=f"^can't fetch .*{reason}") as caught:
        fetcher.fetch(url)
    assert "secret" not in str(caught.value)


def test_private_addresses_are_refused_unless_they_are_named(monkeypatch):
    with site(secret=always("s")) as inner, site() as server:
        server.routes |= {"/a": always("a"), "/b": away(f"{inner.url}/secret")}
        with Fetcher(pause=0.0) as careful:
            for url in (f"{server.url}/a", "http://localhost:1/", "http://[::1]:1/"):
                with pytest.raises(PrivateAddressError, match=r"is (a|the) private address"):
                    careful.fetch(url)
        assert server.visits == []
        with Fetcher(named=[server.url], pause=0.0) as by_name:
            assert by_name.fetch(f"{server.url}/a").status == 200
            with pytest.raises(PrivateAddressError):
                by_name.fetch(f"{server.url}/b")
        assert inner.visits == []
        monkeypatch.setattr(config, "NEWSCRAWL_ALLOW_PRIVATE", "127.0.0.0/8")
        with Fetcher(pause=0.0) as by_setting:
            assert by_setting.fetch(f"{server.url}/b").body == b"s"


@pytest.mark.thorough
def test_setting_that_cannot_work_is_an_error_of_the_setting(monkeypatch):
    monkeypatch.setattr(config, "NEWSCRAWL_ALLOW_PRIVATE", "a/b/c")
    with (
        Fetcher() as fetcher,
        pytest.raises(SettingError, match="NEWSCRAWL_ALLOW_PRIVATE: 'a/b/c'"),
    ):
        fetcher.fetch("http://news.example/")


@pytest.mark.thorough
def test_end_of_the_helper_is_an_error_of_each_visit():
    begun = threading.Event()

    def kill(_visit: int) -> Answer:
        begun.set()
        helper = fetcher._helper
        os.kill(helper.pid, signal.SIGKILL)
        return Answer(delay=1.0)

    with site(a=kill) as server, Fetcher(allow_private=True, pause=0.0) as fetcher:
        for _ in range(2):
            with pytest.raises(FetchError, match="the helper process has ended"):
                fetcher.fetch(f"{server.url}/a")
    assert begun.is_set()
