"""A crawl through everything that goes wrong on the web, and one that is kept out."""

import gzip
import re
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from tests.site import content
from tests.site.crawling import IMPATIENT, Crawl
from tests.site.faults import always, listing, story
from tests.site.forking import Forks
from tests.site.server import SiteServer

XML = "application/xml"


NO_ROBOTS = {"/robots.txt": always(status=404)}


@dataclass(frozen=True)
class World:
    """A site after a crawl of its faults."""

    site: SiteServer
    crawl: Crawl

    def stored(self, path: str) -> list[dict[str, object]]:
        """The stored article of a path: one or none."""
        return self.crawl.rows("SELECT * FROM articles WHERE url = ?", self.site.url + path)


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory, forks: Forks) -> Iterator[World]:
    database = tmp_path_factory.mktemp("faults") / "news.sqlite"
    before = {"/before": always(story("Stored before the storm", "Siemens"))}
    with SiteServer(routes=NO_ROBOTS | before) as site:
        site.routes["/before.xml"] = always(listing(site.url, ("/before",)), kind=XML)
        forks.crawl("ft", f"feeds={site.url}/before.xml", database=database)
        done = forks.crawl(
            "ft",
            f"feeds={site.url}/fault/no-feed,{site.url}/fault/gone.xml,"
            f"{site.url}/fault/circle.xml,{site.url}/fault/feed.xml",
            f"sitemaps={site.url}/fault/entities.xml",
            database=database,
            settings=IMPATIENT | {"LOG_LEVEL": "INFO"},
        )
        yield World(site, done)


def test_crawl_of_faulty_pages_finishes(world):
    assert world.crawl.code == 0, world.crawl.output
    assert world.crawl.errors == []
    assert world.crawl.summary.endswith("; 4 of its feeds and sitemaps could not be read)")


@pytest.mark.parametrize("path", ["fine", "overloaded", "nested", "nul", "cut", "latin"])
def test_faulty_page_that_can_be_parsed_is_stored(world, path):
    (row,) = world.stored(f"/fault/{path}")
    assert row["access"] == "open"
    assert "move its maintenance crews to the northern quay" in str(row["text"])
    assert "\0" not in str(row["text"])


def test_wrong_charset_is_corrected(world):
    (row,) = world.stored("/fault/latin")
    assert row["title"] == "Café prices"


@pytest.mark.parametrize(
    ("path", "kind", "reason"),
    [
        ("missing", "HTTP 404", "the server answered 404"),
        ("unavailable", "HTTP 503", "the server answered 503"),
        ("part", "HTTP 206", "the server answered 206, not with a whole page"),
        ("accepted", "HTTP 202", "the server answered 202, not with a whole page"),
        ("dropped", "cut off", "the connection broke before the page was whole"),
        ("slow", "timeout", "no complete response within DOWNLOAD_TIMEOUT"),
        ("huge", "too large", "larger than DOWNLOAD_MAXSIZE"),
        ("bomb", "too large", "larger than DOWNLOAD_MAXSIZE"),
    ],
)
def test_failed_request_is_logged_and_counted(world, path, kind, reason):
    assert f"Can't fetch {world.site.url}/fault/{path}: {reason}\n" in world.crawl.output
    assert world.crawl.counts[f"newscrawl/pages_failed/{kind}"] >= 1
    assert world.stored(f"/fault/{path}") == []


def test_response_without_html_is_dropped_and_counted(world):
    assert f"Dropped (NotHtml) {world.site.url}/fault/picture: " in world.crawl.output
    assert world.crawl.counts["item_dropped_reasons_count/NotHtml"] == 1
    assert world.stored("/fault/picture") == []


@pytest.mark.parametrize(
    ("path", "reason"),
    [("circle", "it redirects to itself"), ("spiral/0", "more redirects than REDIRECT_MAX_TIMES")],
)
def test_redirect_loop_is_logged(world, path, reason):
    assert f"Can't fetch {world.site.url}/fault/{path}: {reason}\n" in world.crawl.output


@pytest.mark.parametrize(
    ("path", "access"),
    [
        ("forbidden", "refused"),
        ("payment", "paywalled"),
        *((path, "unreadable") for path in ("empty", "circle", "spiral/0")),
    ],
)
def test_text_of_the_feed_is_stored_for_a_page_without_text(world, path, access):
    (row,) = world.stored(f"/fault/{path}")
    assert row["title"] == f"Report from /fault/{path}"
    assert row["text"] == f"What the feed says about /fault/{path}."
    assert (row["access"], row["kind"]) == (access, "paywall")


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("no-feed", "it is neither RSS nor Atom nor RDF"),
        ("entities.xml", "it declares a document type or entities, which are refused"),
        ("gone.xml", "the server answered 404"),
        ("circle.xml", "it redirects to itself"),
    ],
)
def test_invalid_feed_or_sitemap_is_logged_and_counted(world, path, reason):
    assert re.search(
        rf"Can't (use|read) {re.escape(world.site.url)}/fault/{path}: {reason}", world.crawl.output
    )
    assert world.crawl.counts["newscrawl/listings_failed"] == 4


def test_overloaded_page_is_requested_again_after_the_pause(world):
    first, second = (v.received for v in world.site.visits if v.path == "/fault/overloaded")
    assert second - first > 1 - 0.002  # Retry-After: 1, less the tolerance of two clocks
    assert world.crawl.counts["newscrawl/retry_after_pauses"] >= 1


def test_earlier_articles_are_kept(world):
    (row,) = world.stored("/before")
    assert row["revision"] == 1
    assert "maintenance crews" in str(row["text"])


def test_each_page_is_counted_once(world):
    counts = world.crawl.counts
    told = sum(count for name, count in counts.items() if "/pages_failed/" in name)
    stored = counts["newscrawl/articles_new"]
    dropped = counts["item_dropped_count"]
    assert counts["newscrawl/found"] == told + stored + dropped


# --- Kept out -----------------------------------------------------------------------------------


def test_requests_stay_on_the_site_and_off_private_addresses(forks, tmp_path):
    with SiteServer() as inner, SiteServer(routes=dict(NO_ROBOTS)) as site:
        inside = f"http://127.0.0.1:{inner.port}"
        out = "http://localhost:1/x"
        links = ("/fault/fine", "/leads-inside", "/leads-away", f"{inside}/secret", out)
        site.routes["/leads-away"] = always(status=302, headers=(("Location", out),))
        site.routes["/feed.xml"] = always(listing(site.url, links), kind=XML)
        site.routes["/leads-inside"] = always(
            status=302, headers=(("Location", f"{inside}/other-secret"),)
        )
        done = forks.crawl("ft", site.feeds, database=tmp_path / "news.sqlite")
        assert inner.visits == []
    assert done.code == 0
    assert done.counts["newscrawl/pages_failed/private address"] == 2
    assert "127.0.0.1 is a private address" in done.output
    assert done.counts["newscrawl/pages_failed/offsite"] == 1
    assert "Links to localhost are not followed: it is another site" in done.output
    assert [row["url"] for row in done.rows("SELECT url FROM articles")] == [
        f"{site.url}/fault/fine"
    ]


def test_site_closed_by_robots_txt_is_not_requested(forks, tmp_path):
    closed = SiteServer(routes={"/robots.txt": always("User-agent: *\nDisallow: /\n")})
    slow = SiteServer(routes={"/robots.txt": always("User-agent: *\nCrawl-delay: 999\n")})
    with closed, slow:
        feeds = ",".join(f"{site.url}/feed.xml" for site in (closed, slow))
        done = forks.crawl("ft", f"feeds={feeds}", database=tmp_path / "news.sqlite")
        for site in (closed, slow):
            assert set(site.paths()) == {"/robots.txt"}
    assert done.code == 0
    assert f"Can't read {closed.url}/feed.xml: robots.txt doesn't allow it" in done.output
    assert f"Can't read {slow.url}/feed.xml: robots.txt asks for 999 seconds" in done.output
    (coverage,) = done.rows("SELECT state FROM coverage")
    assert coverage["state"] == "blocked_by_robots"


# --- What is asked for --------------------------------------------------------------------------


def test_sitemaps_are_followed_through_indexes_and_gzip(forks, tmp_path):
    def urls(*pages: str) -> str:
        return f"<urlset>{''.join(f'<url><loc>{page}</loc></url>' for page in pages)}</urlset>"

    def index(*maps: str) -> str:
        inner = "".join(f"<sitemap><loc>{one}</loc></sitemap>" for one in maps)
        return f"<sitemapindex>{inner}</sitemapindex>"

    with SiteServer(routes=dict(NO_ROBOTS)) as site:
        at = site.url
        site.routes |= {
            "/1.xml": always(index(f"{at}/1.xml", f"{at}/2.xml", f"{at}/z.xml.gz"), kind=XML),
            "/2.xml": always(index(f"{at}/3.xml"), kind=XML),
            "/3.xml": always(index(f"{at}/4.xml"), kind=XML),
            "/4.xml": always(urls(f"{at}/too-deep"), kind=XML),
            "/z.xml.gz": always(
                gzip.compress(urls(f"{at}/a", f"{at}/b").encode()), kind="application/gzip"
            ),
            "/a": always(story("From a gzipped sitemap", "Siemens")),
            "/b": always(story("Another one", "Siemens")),
        }
        done = forks.crawl("ft", f"sitemaps={at}/1.xml", database=tmp_path / "news.sqlite")
        assert "/4.xml" not in site.paths()
        assert site.paths().count("/1.xml") == 1
    assert done.code == 0
    assert done.counts["newscrawl/articles_new"] == 2
    assert "is nested too deeply" in done.output


def test_since_and_limit_restrict_a_crawl(forks, tmp_path):
    with SiteServer() as site:
        day = next(p for p in content.facts() if p.days_ago == 2).moment
        done = forks.crawl(
            "ft",
            site.feeds,
            f"since={day:%Y-%m-%d}",
            "limit=2",
            database=tmp_path / "news.sqlite",
        )
    assert done.code == 0
    older = [page for page in content.facts() if "feed" in page.listed and page.days_ago > 2]
    assert done.counts["newscrawl/too_old"] == len(older) > 0
    assert done.counts["newscrawl/requested"] == 2
    assert done.counts["newscrawl/over_limit"] == done.counts["newscrawl/found"] - 2
    days = {row["day"] for row in done.rows("SELECT day FROM articles")}
    newest = next(page for page in content.facts() if page.days_ago == 0)
    assert days == {f"{newest.moment:%Y-%m-%d}"}


def test_barrier_page_of_the_ft_is_not_stored_as_an_article(forks, tmp_path):
    barrier = story("Subscribe to read | Financial Times", "the Financial Times")
    with SiteServer(routes=dict(NO_ROBOTS)) as site:
        paths = ("/content/1", "/content/2", "/content/3")
        site.routes |= {
            "/feed.xml": always(listing(site.url, paths), kind=XML),
            "/content/1": always(barrier),
            "/content/2": always(status=302, headers=(("Location", "/barrier/corporate"),)),
            "/content/3": always(story("Read by everybody", "Siemens")),
            "/barrier/corporate": always(story("Join your colleagues", "the FT")),
        }
        done = forks.crawl("ft", site.feeds, database=tmp_path / "news.sqlite")
    rows = done.rows("SELECT title, access FROM articles ORDER BY url")
    assert [tuple(row.values()) for row in rows] == [
        ("Report from /content/1", "paywalled"),
        ("Report from /content/2", "paywalled"),
        ("Read by everybody", "open"),
    ]
