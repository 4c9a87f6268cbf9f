"""Visits outside a crawl keep a crawl's manners."""

import contextlib
import gzip
import socket
import time
from collections.abc import Callable
from dataclasses import replace
from threading import Event, Thread

import pytest

from newscrawl.sources import fetcher as fetcher_module
from newscrawl.sources.fetcher import (
    DisallowedError,
    Fetcher,
    FetchError,
    FetchPolicy,
    PrivateAddressError,
)
from newscrawl.sources.urls import AllowedAddresses
from tests.site import broken
from tests.site.broken import instead
from tests.site.faults import Answer
from tests.site.server import SiteServer

POLICY = FetchPolicy(
    user_agent="newscrawl/0 (+tests)",
    robots_name="newscrawl",
    max_bytes=100_000,
    timeout=5.0,
    allow_private=True,
)


def always(body: str = "", **facts: object) -> Callable[[int], Answer]:
    fixed = Answer(body=body.encode(), **facts)  # type: ignore[arg-type]
    return lambda _visit: fixed


def site(**routes: Callable[[int], Answer]) -> SiteServer:
    """A site whose paths are the names, with "robots" for robots.txt."""
    named = {f"/{name}": route for name, route in routes.items()}
    named["/robots.txt"] = named.pop("/robots", always(status=404))
    return SiteServer(routes=named)


def test_robots_txt_is_read_once_per_host() -> None:
    with site(a=always("a"), b=always("b")) as server:
        fetcher = Fetcher(POLICY)
        assert fetcher.fetch(f"{server.url}/a").body == b"a"
        assert fetcher.fetch(f"{server.url}/b").body == b"b"
        assert server.paths() == ["/robots.txt", "/a", "/b"]


def test_crawl_delay_of_a_host_is_obeyed() -> None:
    robots = always("User-agent: *\nCrawl-delay: 0.3\n")
    with site(robots=robots, a=always("a")) as server:
        fetcher = Fetcher(POLICY)
        began = time.monotonic()
        threads = [Thread(target=fetcher.fetch, args=(f"{server.url}/a",)) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        moments = [visit.moment for visit in server.visits if visit.path == "/a"]
    # From the beginning and not from visit to visit: the server may note one late, never early.
    waits = [moment - began for moment in moments]
    assert [wait >= least for wait, least in zip(waits, (0.0, 0.3, 0.6), strict=True)] == [True] * 3


def test_host_with_an_excessive_crawl_delay_is_not_requested() -> None:
    with site(robots=always("User-agent: *\nCrawl-delay: 500\n"), a=always("a")) as server:
        with pytest.raises(DisallowedError, match="asks for 500 seconds"):
            Fetcher(POLICY).fetch(f"{server.url}/a")
        assert server.paths() == ["/robots.txt"]


def test_disallowed_url_is_not_requested() -> None:
    with site(robots=always("User-agent: newscrawl\nDisallow: /a\n"), a=always("a")) as server:
        with pytest.raises(DisallowedError):
            Fetcher(POLICY).fetch(f"{server.url}/a")
        assert server.paths() == ["/robots.txt"]


def test_unresponsive_host_is_requested_once() -> None:
    fetcher = Fetcher(POLICY)
    for _ in range(2):
        with pytest.raises(FetchError, match="Connection refused"):
            fetcher.fetch("http://127.0.0.1:1/a")


@pytest.mark.parametrize(
    ("robots", "cause"),
    [
        (always(status=500), r"robots\.txt can't be read \(HTTP 500\)"),
        (always(status=429), r"robots\.txt can't be read \(HTTP 429\)"),
        (always("<script>", status=202), "HTTP 202"),
        (always(status=302, headers=(("Location", "/robots.txt"),)), "more than 5 redirects"),
        (always(status=302, headers=(("Location", "http://[/"),)), "redirects to no URL"),
        (always("# more\n" * 800_000), "larger than 5000 KiB"),
        (instead(broken.reset), "can't fetch .*/robots.txt: "),
        (instead(broken.garbage), "can't fetch .*/robots.txt: "),
        (instead(broken.silence), "no complete response within 1 seconds"),
        (
            instead(broken.endless(b"Allow: /\n", pause=0.1)),
            "no complete response within 1 seconds",
        ),
        (always("Allow: /\n", promised=500), "can't fetch .*/robots.txt: "),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_unreadable_robots_txt_forbids_all_pages(
    robots: Callable[[int], Answer], cause: str
) -> None:
    with site(robots=robots, a=always("a")) as server:
        fetcher = Fetcher(replace(POLICY, timeout=1.0))
        for _ in range(2):
            with pytest.raises(FetchError, match=cause):
                fetcher.fetch(f"{server.url}/a")
        assert set(server.paths()) == {"/robots.txt"}


@pytest.mark.parametrize("status", [401, 403, 404, 410])
def test_missing_robots_txt_allows_all_pages(status: int) -> None:
    with site(robots=always("User-agent: *\nDisallow: /\n", status=status), a=always("a")) as it:
        assert Fetcher(POLICY).fetch(f"{it.url}/a").body == b"a"


def test_sitemaps_are_read_from_robots_txt() -> None:
    with site(robots=always("Sitemap: https://x.example/s.xml\n")) as server:
        assert Fetcher(POLICY).sitemaps(server.url) == ("https://x.example/s.xml",)


@pytest.mark.parametrize(("status", "moved"), [(301, True), (308, True), (302, False)])
def test_only_permanent_redirects_are_a_move(status: int, moved: bool) -> None:
    away = always(status=status, headers=(("Location", "/b"),))
    with site(a=away, b=always("b")) as server:
        visit = Fetcher(POLICY).fetch(f"{server.url}/a")
    assert (visit.url, visit.moved) == (f"{server.url}/b", moved)


def test_long_page_is_truncated_on_request() -> None:
    with site(a=always("x" * 5_000)) as server:
        visit = Fetcher(POLICY).fetch(f"{server.url}/a", max_bytes=1_000, cut=True)
        with pytest.raises(FetchError, match="is larger than"):
            Fetcher(POLICY).fetch(f"{server.url}/a", max_bytes=1_000)
    assert len(visit.body) == 1_000


def test_allowed_private_addresses_are_requested() -> None:
    with site(a=always("a")) as server:
        careful = replace(POLICY, allow_private=False)
        with pytest.raises(PrivateAddressError):
            Fetcher(careful).fetch(f"{server.url}/a")
        assert server.visits == []
        for permitted in (
            AllowedAddresses(["127.0.0.0/8"]),
            AllowedAddresses(hosts=[("127.0.0.1", server.port)]),
        ):
            fetcher = Fetcher(replace(careful, permitted=permitted))
            assert fetcher.fetch(f"{server.url}/a").status == 200


def test_redirect_to_a_private_address_is_refused() -> None:
    with site(secret=always("s")) as inner:
        away = always(status=302, headers=(("Location", f"{inner.url}/secret"),))
        with site(a=away) as server:
            named = AllowedAddresses(hosts=[("127.0.0.1", server.port)])
            fetcher = Fetcher(replace(POLICY, allow_private=False, permitted=named))
            with pytest.raises(PrivateAddressError):
                fetcher.fetch(f"{server.url}/a")
        assert inner.visits == []


def test_slow_response_is_aborted_in_time() -> None:
    over = Event()

    def answer(_visit: int) -> Answer:
        over.wait(60)
        return Answer(body=b"a")

    with site(a=answer) as server:
        with pytest.raises(FetchError, match="no complete response"):
            Fetcher(replace(POLICY, timeout=0.3)).fetch(f"{server.url}/a")
        over.set()


def test_credentials_are_neither_sent_nor_shown() -> None:
    with pytest.raises(FetchError) as caught:
        Fetcher(POLICY).fetch("https://me:secret@news.example/")
    assert "secret" not in str(caught.value)


def test_slow_tls_handshake_is_aborted_in_time() -> None:
    whole = Event()

    def drip(listening: socket.socket) -> None:
        peer, _ = listening.accept()
        with peer, contextlib.suppress(OSError):
            peer.sendall(b"\x16\x03\x03\x3f\xff")  # the head of a long TLS record
            for _ in range(1000):
                peer.sendall(b"\0")
                time.sleep(0.05)
            whole.set()

    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = Thread(target=drip, args=(listening,))
        thread.start()
        url = f"https://127.0.0.1:{listening.getsockname()[1]}/"
        with pytest.raises(FetchError, match="no complete response"):
            fetcher_module.get(url, replace(POLICY, timeout=0.4), 1_000)
        thread.join()
    assert not whole.is_set()


@pytest.mark.parametrize("name", broken.floods())
def test_response_of_endless_headers_is_aborted(name: str) -> None:
    flood = broken.floods()[name]
    with site(a=instead(flood)) as server, pytest.raises(FetchError, match=r"can't fetch .*/a: "):
        Fetcher(replace(POLICY, timeout=60.0)).fetch(f"{server.url}/a")
    assert flood.sent < broken.BUFFERED


def test_robots_txt_of_endless_headers_is_aborted() -> None:
    flood = broken.floods()["early-hints"]
    cause = r"headers or framing of chunks larger than 64 KiB"
    with site(robots=instead(flood)) as server, pytest.raises(FetchError, match=cause):
        Fetcher(replace(POLICY, timeout=60.0)).fetch(f"{server.url}/a")
    assert flood.sent < broken.BUFFERED


def test_page_behind_interim_responses_is_read() -> None:
    def hints(connection: socket.socket) -> None:
        connection.sendall(
            b"HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\n"
            b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nDone"
        )

    with site(a=instead(hints)) as server:
        assert Fetcher(POLICY).fetch(f"{server.url}/a").body == b"Done"


def test_page_in_small_chunks_is_read() -> None:
    chunks = b"6\r\nabcdef\r\n" * 20_000 + b"0\r\n\r\n"

    def answer(connection: socket.socket) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks)

    with site(a=instead(answer)) as server:
        body = Fetcher(replace(POLICY, max_bytes=200_000)).fetch(f"{server.url}/a").body
    assert body == b"abcdef" * 20_000


def test_bytes_behind_a_compressed_page_are_limited() -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n" + gzip.compress(b"short")
    flood = broken.Flood(head, b"nothing")
    with site(a=instead(flood)) as server, pytest.raises(FetchError, match="larger than"):
        Fetcher(replace(POLICY, timeout=60.0)).fetch(f"{server.url}/a")
    assert flood.sent < broken.BUFFERED
