"""Whole crawls against sites that want into our own network, or too much of our machine."""

import gzip
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import brotli
import pytest
from backports import zstd

from tests.site.crawling import IMPATIENT, Crawl, crawl, own_source
from tests.site.faults import Answer, always, listing, story
from tests.site.forking import Forks
from tests.site.server import SiteServer

XML = "application/xml"
RESOLVER = {"TWISTED_DNS_RESOLVER": "tests.site.resolver.TestResolver"}
ZEROS = bytes(4 * 1024 * 1024)  # of which a crawl is to take one MB


def away(target: str) -> Callable[[int], Answer]:
    return always(status=302, headers=(("Location", target),))


# --- Into our own network -----------------------------------------------------------------------

# What an attacker may write for an address of ours; PORT is that of a server within.
INSIDE = {
    "address": "http://127.0.0.1:PORT/x",
    "another-loopback": "http://127.1.2.3:PORT/x",
    "number": "http://2130706433:PORT/x",
    "hexadecimal": "http://0x7f.1:PORT/x",
    "octal": "http://0177.0.0.1:PORT/x",
    "short": "http://127.1:PORT/x",
    "nothing": "http://0.0.0.0:PORT/x",
    "name": "http://localhost:PORT/x",
    "resolved": "http://inside.pier.example:PORT/x",
    "link-local": "http://cloud.pier.example/latest/meta-data/",
    "private": "http://office.pier.example:PORT/x",
    "ipv6": "http://[::1]:PORT/x",
    "mapped": "http://[::ffff:127.0.0.1]:PORT/x",
    "mapped-hexadecimal": "http://[::ffff:7f00:1]:PORT/other",
    "nat64": "http://[64:ff9b::7f00:1]:PORT/x",
    "6to4": "http://[2002:7f00:1::]:PORT/x",
    "unique-local": "http://[fd00::1]:PORT/x",
}
ELSEWHERE = {
    "file": ("file:///etc/passwd", "HTTP 302|neither http nor https"),
    "ftp": ("ftp://127.0.0.1/x", "HTTP 302|neither http nor https"),
    "data": ("data:text/html,hello", "HTTP 302|neither http nor https"),
    "credentials": ("http://me:secret@www.pier.example:SITE/fine.xml", "credentials"),
}


@dataclass(frozen=True)
class Attack:
    """A crawl of a site whose feeds all lead elsewhere, and a server that should see nothing."""

    site: SiteServer
    inner: SiteServer
    crawl: Crawl

    def said(self, path: str) -> str:
        """Why the feed at a path was not read."""
        found = re.search(rf"Can't read {re.escape(self.site.url)}/{path}: (.*)", self.crawl.output)
        return found[1] if found else ""


@pytest.fixture(scope="module")
def attack(tmp_path_factory: pytest.TempPathFactory, forks: Forks) -> Iterator[Attack]:
    folder = tmp_path_factory.mktemp("guard")
    routes = {"/robots.txt": always(status=404), "/fine": always(story("Fine", "Siemens"))}
    with SiteServer() as inner, SiteServer(routes=routes) as site:
        for name, target in INSIDE.items():
            site.routes[f"/{name}"] = away(target.replace("PORT", str(inner.port)))
        for name, (target, _) in ELSEWHERE.items():
            site.routes[f"/{name}"] = away(target.replace("SITE", str(site.port)))
        site.routes["/fine.xml"] = always(listing(site.url, ("/fine",)), kind=XML)
        feeds = [f"{site.url}/{name}" for name in (*INSIDE, *ELSEWHERE, "fine.xml")]
        done = forks.crawl(
            "ft",
            f"feeds={','.join(feeds)}",
            database=folder / "news.sqlite",
            # Asked for its robots.txt, so that it is the credentials that are refused.
            settings=RESOLVER | {"NEWSCRAWL_ALLOW_PRIVATE": f"www.pier.example:{site.port}"},
        )
        yield Attack(site, inner, done)


def test_no_request_reaches_a_private_address(attack):
    assert attack.inner.visits == []
    assert attack.crawl.code == 0, attack.crawl.output
    assert attack.crawl.errors == []


@pytest.mark.parametrize("name", INSIDE)
def test_private_address_is_refused_in_any_spelling(attack, name):
    assert "private address" in attack.said(name)


@pytest.mark.parametrize("name", ELSEWHERE)
def test_other_protocols_and_credentials_are_refused(attack, name):
    assert re.search(ELSEWHERE[name][1], attack.said(name)) or "answered 302" in attack.said(name)
    assert "secret" not in attack.crawl.output


def test_other_pages_are_stored_beside_refused_ones(attack):
    assert [row["title"] for row in attack.crawl.rows("SELECT title FROM articles")] == ["Fine"]


@pytest.mark.thorough
def test_private_address_is_not_requested_through_a_proxy(tmp_path):
    spelled = {name: url for name, url in INSIDE.items() if ".pier." not in url}
    with SiteServer() as proxy:
        proxy.routes |= {
            "/robots.txt": always(status=404),
            "/fine": always(story("Fine", "Siemens")),
        }
        proxy.routes |= {
            f"/{name}": away(url.replace("PORT", "80")) for name, url in spelled.items()
        }
        home = "http://www.pier.example"
        proxy.routes["/fine.xml"] = always(listing(home, ("/fine",)), kind=XML)
        done = crawl(
            "ft",
            f"feeds={','.join(f'{home}/{name}' for name in (*spelled, 'fine.xml'))}",
            database=tmp_path / "news.sqlite",
            environment={"http_proxy": proxy.url, "no_proxy": ""},
        )
        asked = {attempt.path for attempt in proxy.visits}
    assert {url for url in asked if not url.startswith(f"{home}/")} == set()
    assert f"{home}/fine" in asked
    assert len(re.findall("is (a|the) private address", done.output)) == len(spelled)


@pytest.mark.thorough
def test_setting_allows_private_addresses(tmp_path):
    routes = {"/robots.txt": always(status=404), "/feed.xml": away("/to")}
    with SiteServer(routes=routes) as site:
        named = f"http://pier.example:{site.port}"
        site.routes["/to"] = always(listing(named, ("/a",)), kind=XML)
        site.routes["/a"] = always(story("Named", "Siemens"))
        feeds = (f"http://www.pier.example:{site.port}/feed.xml",)
        file = own_source(tmp_path / "own.csv", "http://pier.example", feeds=feeds)
        known = {"NEWSCRAWL_SOURCES": str(file)}
        database = tmp_path / "news.sqlite"
        # The feed's host was named by the operator, the articles' was not.
        shut = crawl("pier", database=database, settings=RESOLVER, environment=known)
        assert "/a" not in site.paths()
        allowed = known | {"NEWSCRAWL_ALLOW_PRIVATE": "pier.example,10.0.0.0/8"}
        retry = {"NEWSCRAWL_RETRIES": "1s"}
        open_ = crawl(
            "pier", "limit=5", database=tmp_path / "open.sqlite",
            settings=RESOLVER | retry, environment=allowed,
        )  # fmt: skip
    assert shut.counts["newscrawl/private_addresses_refused"] >= 1
    assert open_.counts["newscrawl/articles_new"] == 1


# --- Too much -----------------------------------------------------------------------------------

MANY = "".join(f"<item><link>/a{number}</link></item>" for number in range(2_500))
TOO_MUCH = {
    "gzip": Answer(body=gzip.compress(ZEROS, 9), headers=(("Content-Encoding", "gzip"),)),
    "gzip-twice": Answer(
        body=gzip.compress(gzip.compress(ZEROS, 9), 9),
        headers=(("Content-Encoding", "gzip, gzip"),),
    ),
    "brotli": Answer(body=brotli.compress(ZEROS, quality=5), headers=(("Content-Encoding", "br"),)),
    "zstd": Answer(body=zstd.compress(ZEROS), headers=(("Content-Encoding", "zstd"),)),
    "endless": Answer(body=story("Endless", "Siemens"), promised=2**40),
    "drip": Answer(body=story("Drip", "Siemens"), drip=0.02),
}
REASONS = {
    "gzip": "larger than DOWNLOAD_MAXSIZE",
    "gzip-twice": "larger than DOWNLOAD_MAXSIZE",
    "brotli": "larger than DOWNLOAD_MAXSIZE",
    "zstd": "larger than DOWNLOAD_MAXSIZE",
    "endless": "larger than DOWNLOAD_MAXSIZE",
    "drip": "no complete response within DOWNLOAD_TIMEOUT",
}
DTD = (
    '<!DOCTYPE rss SYSTEM "http://127.0.0.1:PORT/x.dtd"><rss><channel><item><title>Outer</title>'
    "<link>/dtd-article</link></item></channel></rss>"
)
PARAMETERS = (
    '<!DOCTYPE rss [<!ENTITY % e SYSTEM "http://127.0.0.1:PORT/e"> %e;]><rss><channel>'
    "<item><link>/a</link></item></channel></rss>"
)


@pytest.fixture(scope="module")
def flood(tmp_path_factory: pytest.TempPathFactory, forks: Forks) -> Iterator[Attack]:
    folder = tmp_path_factory.mktemp("flood")
    bomb = gzip.compress(b"<rss><channel>" + 16 * ZEROS, mtime=0)
    routes = {f"/{name}": (lambda _visit, one=answer: one) for name, answer in TOO_MUCH.items()}
    routes |= {
        "/robots.txt": always(status=404),
        "/fine": always(story("Fine", "Siemens")),
        "/dtd-article": always(story("Listed beside a document type", "Siemens")),
        "/bomb.xml.gz": always(bomb, kind="application/gzip"),
        "/packed.xml": always(bomb, kind=XML, headers=(("Content-Encoding", "gzip"),)),
    }
    with SiteServer() as inner, SiteServer(routes=routes) as site:
        port = str(inner.port)
        site.routes["/feed.xml"] = always(
            listing(site.url, (*(f"/{name}" for name in TOO_MUCH), "/fine")), kind=XML
        )
        site.routes["/dtd.xml"] = always(DTD.replace("PORT", port), kind=XML)
        site.routes["/parameters.xml"] = always(PARAMETERS.replace("PORT", port), kind=XML)
        names = ("feed.xml", "bomb.xml.gz", "packed.xml", "dtd.xml", "parameters.xml")
        done = forks.crawl(
            "ft",
            f"feeds={','.join(f'{site.url}/{name}' for name in names)}",
            database=folder / "news.sqlite",
            settings=IMPATIENT | {"DOWNLOAD_MAXSIZE": str(1024 * 1024)},
        )
        yield Attack(site, inner, done)


@pytest.mark.parametrize("name", TOO_MUCH)
def test_page_over_its_size_or_time_limit_is_aborted(flood, name):
    assert f"Can't fetch {flood.site.url}/{name}: {REASONS[name]}" in flood.crawl.output
    assert flood.crawl.code == 0
    assert flood.crawl.errors == []


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("bomb.xml.gz", "decompresses to more than"),
        ("packed.xml", "larger than DOWNLOAD_MAXSIZE"),
        ("parameters.xml", "declares XML entities"),
    ],
)
def test_feed_over_its_size_limit_is_aborted(flood, name, reason):
    assert re.search(rf"Can't (use|read) \S+/{re.escape(name)}: .*{reason}", flood.crawl.output)


def test_external_dtd_is_not_requested_and_the_feed_is_read(flood):
    assert flood.inner.visits == []
    titles = {row["title"] for row in flood.crawl.rows("SELECT title FROM articles")}
    assert titles == {"Fine", "Listed beside a document type"}
