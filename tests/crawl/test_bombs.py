"""Feeds and sitemaps that are made to stop a crawl: it goes on, ends by itself, and obeys."""

import gzip
import json
import signal
import time
from collections.abc import Iterator

import pytest

from tests.site.crawling import started_crawl
from tests.site.faults import Answer, listing, story
from tests.site.server import SiteServer
from tests.thorough import first_is_quick
from tests.watching import alive, children, wait_for

PATHS = tuple(f"/story/{number}" for number in range(10))
ENDLESS = b"<rss version='2.0'><channel><!-- endless --></channel></rss>"
# A hard cap: it takes a second or two after SIGTERM, and ten minutes where nobody obeys.
STOP = 30


def feed(item: str) -> bytes:
    return (
        "<rss version='2.0'><channel><title>x</title><item><title>t</title><link>/bomb</link>"
        f"{item}</item></channel></rss>"
    ).encode()


# Each took a crawl 10 to 40 seconds when it was found, in one pattern alone.
BOMBS = {
    "paragraphs": feed(f"<description>{'&lt;p ' * 80_000}</description>"),
    "author": feed(f"<author>{'a' * 100_000}</author>"),
    "lastmod": b"<urlset><url><loc>/bomb</loc><lastmod>" + b"1" * 100_000 + b"</lastmod></url>"
    b"</urlset>",
}


@pytest.fixture
def site() -> Iterator[SiteServer]:
    """Ten stories and their feed, beside feeds of a few KB that are bombs."""
    with SiteServer() as server:
        routes = {"/robots.txt": Answer(status=404), "/bomb": Answer(status=404)}
        routes["/good.xml"] = Answer(body=listing(server.url, PATHS), kind="application/xml")
        routes["/endless.xml"] = Answer(body=ENDLESS, kind="application/xml")
        for name, body in BOMBS.items():
            packed = gzip.compress(body, mtime=0)
            sent = (("Content-Encoding", "gzip"),)
            routes[f"/{name}.xml"] = Answer(body=packed, kind="text/xml", headers=sent)
            large = body.replace(b"</channel></rss>", b"<!-- " + b"x" * 4_000_000 + b" -->")
            file = gzip.compress(large, mtime=0)
            assert len(file) < 16_000
            routes[f"/{name}.xml.gz"] = Answer(body=file, kind="application/gzip")
        for path in PATHS:
            routes[path] = Answer(body=story(f"About {path}", "Siemens"))
        for path, answer in routes.items():
            server.routes[path] = lambda _visit, answer=answer: answer
        yield server


def feeds(site: SiteServer, *names: str) -> str:
    return "feeds=" + ",".join(f"{site.url}/{name}" for name in names)


def endless(seconds: int) -> dict[str, str]:
    return {
        "EXTENSIONS": json.dumps({"tests.dying.EndlessListings": 1}),
        "ENDLESS_SECONDS": str(seconds),
    }


def test_articles_are_stored_beside_decompression_bombs(site, tmp_path, forks):
    bombs = [f"{name}.xml{end}" for name in BOMBS for end in ("", ".gz")]

    done = forks.crawl("ft", feeds(site, *bombs, "good.xml"), database=tmp_path / "news.sqlite")
    assert done.code == 0, done.output
    assert done.errors == []
    stored = {row["url"] for row in done.rows("SELECT url FROM articles")}
    assert stored == {f"{site.url}{path}" for path in PATHS}
    assert done.counts["newscrawl/listings_read"] == len(bombs) + 1


@pytest.mark.parametrize("first", first_is_quick(["endless.xml", "good.xml"]))
def test_feed_over_its_time_limit_is_skipped_and_others_are_read(site, tmp_path, forks, first):
    names = sorted(("endless.xml", "good.xml"), key=lambda name: name != first)
    done = forks.crawl(
        "ft", feeds(site, *names), database=tmp_path / "news.sqlite", settings=endless(2)
    )
    assert done.code == 0, done.output
    reason = "it took more than 2 s of a processor"
    assert f"Can't use {site.url}/endless.xml: {reason}\n" in done.output
    assert done.counts["newscrawl/listings_failed"] == 1
    assert done.counts["newscrawl/articles_new"] == len(PATHS)
    rows = done.rows("SELECT url, failures, next_poll_at FROM listings WHERE failures > 0")
    assert [row["url"] for row in rows] == [f"{site.url}/endless.xml"]
    assert rows[0]["next_poll_at"] is not None


@pytest.mark.thorough
@pytest.mark.parametrize("after", first_is_quick([2.0, 0.0]))
def test_sigterm_ends_a_crawl_that_parses_a_feed(site, tmp_path, after):
    """Whether the feed has just come or has been read for a while."""
    database = tmp_path / "news.sqlite"
    listings = feeds(site, "endless.xml", "good.xml")
    with started_crawl(listings, database=database, settings=endless(600)) as run:
        wait_for(lambda: "/endless.xml" in site.paths())
        wait_for(lambda: children(run.pid))
        (reader,) = children(run.pid)
        time.sleep(after)
        run.send_signal(signal.SIGTERM)
        assert run.wait(STOP) == 1  # not all of the work was done
    log = database.with_suffix(".log").read_text()
    assert "Traceback" not in log
    assert "Spider closed (shutdown)" in log
    assert not alive(reader)
    assert "Can't use" not in log  # no fault of the feed
