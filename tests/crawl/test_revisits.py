"""The second crawl of a site: it costs next to nothing, and still misses nothing."""

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.site.crawling import Crawl
from tests.site.faults import Answer, always, listing, story
from tests.site.forking import Forks
from tests.site.server import SiteServer
from tests.thorough import first_is_quick

XML = "application/xml"


@dataclass
class World:
    """A site whose pages have an ETag, and crawls of it into one database."""

    site: SiteServer
    database: Path
    forks: Forks
    # What a visitor gets besides the body; and which stories there are.
    paths: tuple[str, ...] = tuple(f"/story/{number}" for number in range(20))
    asked: list[str] = field(default_factory=list)

    def crawl(self, *arguments: str, code: int = 0, **settings: str) -> Crawl:
        """Crawl the site's feed; `asked` are then the paths that were asked for."""
        before = len(self.site.visits)
        given = arguments or (self.site.feeds,)
        done = self.forks.crawl("ft", *given, database=self.database, settings=settings)
        assert done.code == code, done.output
        assert done.errors == []
        self.asked = self.site.paths()[before:]
        return done

    def wait_until_due(self) -> None:
        """Wait until what the last crawl put off by a second is due; crawls may take less."""
        time.sleep(1.1)

    def stories(self) -> list[str]:
        """The stories that the last crawl has asked for."""
        return sorted(path for path in self.asked if path.startswith("/story/"))


@pytest.fixture
def world(tmp_path: Path, forks: Forks) -> Iterator[World]:
    with SiteServer() as site:
        world = World(site, tmp_path / "news.sqlite", forks)
        site.routes["/robots.txt"] = always(status=404)
        site.serve("/feed.xml", lambda: listing(site.url, world.paths), kind=XML)
        for path in world.paths:
            site.serve(path, lambda path=path: story(f"About {path}", "Siemens"))  # type: ignore[misc]
        yield world


def test_second_crawl_of_an_unchanged_site_transfers_under_a_hundredth(world):
    site = world.site
    world.crawl()
    first, site.sent = site.sent, 0
    again = world.crawl()
    assert site.sent < first / 100
    assert world.asked == ["/robots.txt", "/feed.xml"]
    assert again.counts["newscrawl/listings_unchanged"] == 1
    assert again.rows("SELECT count(*) AS n FROM articles") == [{"n": 20}]


@pytest.mark.thorough
def test_feed_without_validators_is_not_parsed_again(world):
    site = world.site
    site.routes["/feed.xml"] = lambda _: Answer(body=listing(site.url, world.paths), kind=XML)
    world.crawl()
    again = world.crawl()
    assert again.counts["newscrawl/listings_unchanged"] == 1
    assert "newscrawl/found" not in again.counts
    assert again.summary.endswith("state ok")


def test_changed_feed_adds_only_its_new_articles(world):
    world.crawl()
    world.site.serve("/story/new", lambda: story("Fresh from the quay", "Siemens"))
    world.paths = ("/story/new", *world.paths[:5])
    again = world.crawl()
    assert world.stories() == ["/story/new"]
    assert again.counts["newscrawl/articles_new"] == 1
    assert again.counts["newscrawl/known"] == 5


def test_page_with_a_later_lastmod_is_read_again(world):
    corrected = "/story/3"
    moments = dict.fromkeys(world.paths, "2026-01-05T08:00:00Z")

    def sitemap() -> bytes:
        rows = (
            f"<url><loc>{world.site.url}{path}</loc><lastmod>{moment}</lastmod></url>"
            for path, moment in moments.items()
        )
        return f"<urlset>{''.join(rows)}</urlset>".encode()

    given = (f"sitemaps={world.site.url}/map.xml", "since=2026-01-01")
    world.site.serve("/map.xml", sitemap, kind=XML)
    world.crawl(*given)
    time.sleep(1.1)  # sitemaps tell seconds
    moments[corrected] = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    world.site.serve(corrected, lambda: story("Corrected at noon", "Siemens"))
    again = world.crawl(*given)
    assert world.stories() == [corrected]
    assert again.counts["newscrawl/revisits_announced"] == 1
    assert again.counts["newscrawl/articles_revised"] == 1


def test_amp_page_of_a_known_article_is_not_requested(world):
    world.paths = ("/amp/story/3", *world.paths)
    world.site.serve("/amp/story/3", lambda: story("About /story/3", "Siemens"))
    done = world.crawl()
    assert "/amp/story/3" not in world.asked
    assert done.summary.startswith("ft: 21 found, 1 known before, 20 fetched, 20 new")
    world.site.serve("/feed.xml", lambda: listing(world.site.url, world.paths[:5]), kind=XML)
    again = world.crawl()
    assert again.counts["newscrawl/known"] == 5
    twins = again.rows("SELECT url FROM article_urls WHERE url LIKE '%/amp/story/3'")
    assert len(twins) == 1


@pytest.mark.thorough
def test_page_due_again_within_a_crawl_waits_for_the_next_crawl(world):
    failing, slow = "/story/0", {"DOWNLOAD_DELAY": "0.3", "CONCURRENT_REQUESTS": "1"}
    site = world.site
    world.paths = world.paths[:10]
    site.routes[failing] = always(status=404)
    done = world.crawl(NEWSCRAWL_RETRIES="1s", NEWSCRAWL_REVISITS="1s", **slow)
    assert "newscrawl/pages_duplicate" not in done.counts
    (row,) = done.rows("SELECT state, attempts FROM frontier WHERE url LIKE '%/story/0'")
    assert row == {"state": "pending", "attempts": 1}
    world.site.serve(failing, lambda: story("Back from the dead", "Siemens"))
    again = world.crawl(NEWSCRAWL_REVISITS="1s")
    assert again.counts["newscrawl/articles_new"] == 1


@pytest.mark.thorough
def test_pages_beyond_the_limit_wait_for_the_next_crawl(world):
    first = world.crawl(world.site.feeds, "limit=15")
    world.crawl(world.site.feeds)
    assert first.counts["newscrawl/over_limit"] == 5
    assert len(world.stories()) == 5
    assert first.rows("SELECT count(*) AS n FROM articles") == [{"n": 20}]


@pytest.mark.thorough
def test_earlier_since_reads_an_unchanged_listing_again(world):
    def dated(path: str, day: int) -> str:
        return f"<url><loc>{world.site.url}{path}</loc><lastmod>2026-01-{day:02}</lastmod></url>"

    pages = "".join(dated(path, 1 + number) for number, path in enumerate(world.paths))
    sitemaps = f"sitemaps={world.site.url}/map.xml"
    world.site.serve("/map.xml", f"<urlset>{pages}</urlset>".encode, kind=XML)
    world.crawl(sitemaps, "since=2026-01-16")
    later = len(world.stories())
    world.crawl(sitemaps, "since=2026-01-18")
    assert world.stories() == []
    world.crawl(sitemaps, "since=2026-01-11")
    assert later == 5
    assert len(world.stories()) == 5


@pytest.mark.thorough
def test_sitemaps_of_an_unchanged_index_are_requested_again(world):
    def urlset(paths: tuple[str, ...]) -> bytes:
        urls = "".join(f"<url><loc>{world.site.url}{path}</loc></url>" for path in paths)
        return f"<urlset>{urls}</urlset>".encode()

    inner = f"<sitemap><loc>{world.site.url}/map.xml</loc></sitemap>"
    index = f"<sitemapindex>{inner}</sitemapindex>".encode()
    listed = list(world.paths[:3])
    site = world.site
    world.site.serve("/index.xml", lambda: index, kind=XML)
    world.site.serve("/map.xml", lambda: urlset(tuple(listed)), kind=XML)
    world.crawl(f"sitemaps={site.url}/index.xml")
    listed.append(world.paths[3])
    world.crawl(f"sitemaps={site.url}/index.xml")
    assert world.stories() == [world.paths[3]]


@pytest.mark.thorough
def test_sitemap_with_an_old_lastmod_is_not_requested(world):
    urls = f"<urlset><url><loc>{world.site.url}{world.paths[0]}</loc></url></urlset>"
    inner = f"<sitemap><loc>{world.site.url}/map.xml</loc><lastmod>2026-01-01</lastmod></sitemap>"
    site = world.site
    visits = iter(range(9))
    # An index that is never twice the same, by a comment.
    site.routes["/index.xml"] = lambda _: Answer(
        body=f"<sitemapindex><!-- {next(visits)} -->{inner}</sitemapindex>".encode(), kind=XML
    )
    world.site.serve("/map.xml", urls.encode, kind=XML)
    world.crawl(f"sitemaps={site.url}/index.xml")
    assert "/map.xml" in world.asked
    world.crawl(f"sitemaps={site.url}/index.xml")
    assert world.asked == ["/robots.txt", "/index.xml"]


def test_polls_due_requests_only_due_listings(world):
    world.crawl(world.site.feeds)
    rested = world.crawl(world.site.feeds, "polls=due")
    assert world.asked == []
    early = world.crawl(world.site.feeds, "polls=all")
    assert rested.summary.endswith("1 feeds and sitemaps unchanged, 0 mentions; state ok")
    assert rested.counts["newscrawl/listings_rested"] == 1
    assert early.counts["newscrawl/listings_read"] == 1


# --- Corrections --------------------------------------------------------------------------------


def test_correction_is_stored_and_an_unchanged_page_is_not_transferred(world):
    world.paths = world.paths[:2]
    site = world.site
    world.crawl(NEWSCRAWL_REVISITS="1s 1d")
    world.site.serve("/story/0", lambda: story("Corrected: About /story/0", "Siemens"))
    sent, site.sent = site.sent, 0
    world.wait_until_due()
    again = world.crawl(NEWSCRAWL_REVISITS="1s 1d")
    assert site.sent < sent
    assert world.stories() == ["/story/0", "/story/1"]
    assert all(v.conditional for v in site.visits[-2:])
    world.wait_until_due()
    world.crawl(NEWSCRAWL_REVISITS="1s 1d")
    assert world.stories() == []
    assert again.counts["newscrawl/revisits"] == 2
    assert again.counts["newscrawl/revisits_unmodified"] == 1
    assert again.counts["newscrawl/articles_revised"] == 1
    (row,) = again.rows("SELECT title, revision FROM articles WHERE url LIKE '%/0'")
    assert row == {"title": "Corrected: About /story/0", "revision": 2}


@pytest.mark.thorough
def test_page_without_an_article_can_become_one(world):
    world.paths = world.paths[:1]
    world.site.serve("/story/0", lambda: b"<html><h1>Soon</h1><p>More follows.</p></html>")
    first = world.crawl(NEWSCRAWL_REVISITS="1s", code=1)
    world.site.serve("/story/0", lambda: story("And here it is", "Siemens"))
    world.wait_until_due()
    again = world.crawl(NEWSCRAWL_REVISITS="1s")
    assert first.counts["newscrawl/pages_unreadable"] == 1
    assert again.counts["newscrawl/articles_revised"] == 1
    assert again.rows("SELECT access, title FROM articles") == [
        {"access": "open", "title": "And here it is"}
    ]


def test_failed_page_is_retried_later(world):
    world.paths = world.paths[:1]
    site = world.site
    site.routes["/story/0"] = always(status=404)
    world.crawl(NEWSCRAWL_RETRIES="1s 1d", code=1)
    world.site.serve("/story/0", lambda: story("Late, but there", "Siemens"))
    world.wait_until_due()
    again = world.crawl(NEWSCRAWL_RETRIES="1s 1d")
    assert again.counts["newscrawl/articles_new"] == 1


@pytest.mark.thorough
def test_page_that_is_gone_is_not_retried(world):
    world.paths = world.paths[:1]
    site = world.site
    site.routes["/story/0"] = always(status=410)
    world.crawl(NEWSCRAWL_RETRIES="1s 2s", code=1)
    world.wait_until_due()
    world.crawl(NEWSCRAWL_RETRIES="1s 2s")
    assert world.stories() == []


# --- One article, many addresses ----------------------------------------------------------------


@pytest.mark.thorough
def test_redirect_and_its_target_are_one_article(world):
    site = world.site
    site.routes["/r/1"] = lambda _: Answer(
        status=302, headers=(("Location", "/story/0?utm_source=rss"),)
    )
    world.paths = ("/r/1",)
    world.crawl()
    world.paths = ("/story/0",)
    again = world.crawl()
    assert world.stories() == []
    assert again.counts["newscrawl/known"] == 1
    rows = again.rows("SELECT url FROM article_urls ORDER BY url")
    assert [row["url"].removeprefix(world.site.url) for row in rows] == ["/r/1", "/story/0"]
    (article,) = again.rows("SELECT url FROM articles")
    assert article["url"].endswith("/story/0")


@pytest.mark.parametrize("listed", first_is_quick([("/amp/0", "/story/0"), ("/story/0", "/amp/0")]))
def test_amp_page_is_an_alias_of_its_article(world, listed):
    link = f"<link rel='canonical' href='{world.site.url}/story/0'>"
    page = story("About /story/0", "Siemens").replace(b"</head>", f"{link}</head>".encode())
    shorter = page.replace(b" (2)</p>", b"</p>")
    world.site.serve("/amp/0", lambda: shorter)
    world.site.serve("/story/0", lambda: page)
    world.paths = listed
    world.crawl(NEWSCRAWL_REVISITS="1s 1d", CONCURRENT_REQUESTS="1")
    world.wait_until_due()
    again = world.crawl(NEWSCRAWL_REVISITS="1s 1d")
    assert len(again.rows("SELECT url FROM article_urls")) == 2
    (article,) = again.rows("SELECT url, revision FROM articles")
    assert article == {"url": f"{world.site.url}/story/0", "revision": 1}
    # Of the two, the one that gave the article is looked at again.
    assert [path for path in world.asked if path in listed] == [listed[0]]
