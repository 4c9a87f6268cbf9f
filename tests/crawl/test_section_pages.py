"""Sites without a feed or sitemap that works are read from their home and section pages."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path

import pytest

from tests.site.crawling import Crawl, own_source
from tests.site.faults import always, story
from tests.site.forking import Forks
from tests.site.server import SiteServer

HOME = """<html lang="en"><title>The Pier</title><nav><a href="/">Home</a>
<a href="/politics/">Politics</a><a href="/economy/">Economy</a><a href="/login">Sign in</a></nav>
<h2><a href="/politics/council-votes-for-new-bridge">Council votes for new bridge</a></h2>
<a href="https://elsewhere.example/2026/11/22/a-story-of-another-site">Another site's story</a>
<a href="/about-us">About us</a></html>"""
SECTION = """<html lang="en"><title>Economy</title><nav><a href="/">Home</a>
<a href="/economy/markets/">Markets</a></nav>
<h2><a href="/economy/crane-maker-finds-a-buyer">Crane maker finds a buyer</a></h2>
<h2><a href="/politics/council-votes-for-new-bridge#more">Council votes for new bridge</a></h2>
</html>"""


def site() -> SiteServer:
    """A site of a home page, two sections and two articles; no feed of it works."""
    return SiteServer(
        routes={
            "/robots.txt": always("User-agent: *\nDisallow: /politics/secret\n"),
            "/": always(HOME),
            "/politics/": always("<html><title>Politics</title><p>Nothing new.</p></html>"),
            "/economy/": always(SECTION),
            "/politics/council-votes-for-new-bridge": always(story("Council votes", "Siemens")),
            "/economy/crane-maker-finds-a-buyer": always(story("Crane maker", "Siemens")),
            "/feed.xml": always(status=404),
        }
    )


def crawled(
    forks: Forks,
    server: SiteServer,
    folder: Path,
    *arguments: str,
    settings: Mapping[str, str] | None = None,
    **facts: object,
) -> Crawl:
    """A crawl of the site as an operator's own source."""
    file = folder / "own.csv"
    if not file.exists():
        own_source(file, server.url, **facts)
    return forks.crawl(
        "pier",
        *arguments,
        database=folder / "news.sqlite",
        settings={"NEWSCRAWL_SOURCES": str(file), **(settings or {})},
    )


def titles(done: Crawl) -> list[str]:
    return sorted(row["title"] for row in done.rows("SELECT title FROM articles"))


def test_home_page_links_to_sections_and_articles_are_followed(forks, tmp_path):
    with site() as server:
        done = crawled(forks, server, tmp_path)
        asked = server.paths()
        again = crawled(forks, server, tmp_path)
        asked_again = server.paths()[len(asked) :]
    assert done.code == 0, done.output
    assert titles(done) == ["Council votes", "Crane maker"]
    assert not {"/login", "/about-us", "/economy/markets/"} & set(asked)
    assert asked.count("/politics/council-votes-for-new-bridge") == 1
    assert done.counts["newscrawl/sections_read"] == 3
    assert done.summary.endswith("; 1 of its feeds and sitemaps could not be read)")
    assert "Links to elsewhere.example are not followed" in done.output
    # What was found before is not fetched again.
    assert set(asked_again) <= {"/robots.txt", "/feed.xml", "/", "/politics/", "/economy/"}
    assert "0 new, 0 revised, 0 unchanged" in again.summary


def test_only_sections_of_the_registry_are_read(forks, tmp_path):
    with site() as server:
        server.routes["/economy/crane-maker-finds-a-buyer"] = always(status=402)
        done = crawled(forks, server, tmp_path, feeds=(), sections=(f"{server.url}/economy/",))
        assert "/politics/" not in server.paths()
    assert done.code == 0, done.output
    # A headline tells of the article that is kept from us.
    rows = done.rows("SELECT title, access FROM articles ORDER BY title")
    assert [tuple(row.values()) for row in rows] == [
        ("Council votes", "open"),
        ("Crane maker finds a buyer", "paywalled"),
    ]


def test_section_pages_are_not_read_beside_a_working_feed(forks, tmp_path):
    with site() as server:
        link = f"{server.url}/economy/crane-maker-finds-a-buyer"
        feed = f"<rss><channel><item><title>A</title><link>{link}</link></item></channel></rss>"
        server.routes["/feed.xml"] = always(feed, kind="application/xml")
        done = crawled(forks, server, tmp_path)
        assert "/" not in server.paths()
    assert titles(done) == ["Crane maker"]


def test_section_pages_are_read_beside_a_stale_feed(forks, tmp_path):
    with site() as server:
        link = f"{server.url}/economy/crane-maker-finds-a-buyer"
        old = format_datetime(datetime.now(UTC) - timedelta(days=60))
        feed = (
            f"<rss><channel><item><title>A</title><link>{link}</link>"
            f"<pubDate>{old}</pubDate></item></channel></rss>"
        )
        server.routes["/feed.xml"] = always(feed, kind="application/xml")
        done = crawled(forks, server, tmp_path)
    assert titles(done) == ["Council votes", "Crane maker"]


@pytest.mark.thorough
def test_feeds_argument_replaces_section_pages(forks, tmp_path):
    with site() as server:
        done = crawled(forks, server, tmp_path, server.feeds)
        assert "/" not in server.paths()
    assert done.summary.endswith("state failed (HTTP 404 from feed.xml)")


@pytest.mark.thorough
def test_section_page_over_its_time_limit_is_skipped_and_others_are_read(forks, tmp_path):
    with site() as server:
        server.routes["/endless/"] = always("<p>endless</p>")
        sections = (f"{server.url}/endless/", f"{server.url}/economy/")
        given = {
            "EXTENSIONS": json.dumps({"tests.dying.EndlessListings": 1}),
            "ENDLESS_SECONDS": "2",
        }
        done = crawled(forks, server, tmp_path, settings=given, sections=sections)
    assert done.code == 0, done.output
    told = f"Can't use {server.url}/endless/: it took more than 2 s of a processor\n"
    assert told in done.output
    assert done.counts["newscrawl/sections_read"] == 2  # the home page is one
    assert "Crane maker" in titles(done)
