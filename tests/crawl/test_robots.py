"""No request of a host is made before its robots.txt is understood, nor where it can't be read."""

import signal
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.site import broken
from tests.site.broken import instead
from tests.site.crawling import Crawl, rows_of, started_crawl
from tests.site.faults import Answer, always, listing, story
from tests.site.forking import Forks
from tests.site.server import SiteServer
from tests.thorough import first_is_quick
from tests.watching import wait_for

XML = "application/xml"
FEEDS = tuple(f"/f{number}.xml" for number in range(1, 6))
CLOSED = b"User-agent: *\nDisallow: /\n"
OPEN = b"User-agent: *\nDisallow: /secret\n"
# Only these tests' own server is asked, and a robots.txt that doesn't answer is asked three times.
IMPATIENT = {"DOWNLOAD_TIMEOUT": "1"}
# Else only the hosts of the feeds may be asked.
PRIVATE = {"NEWSCRAWL_ALLOW_PRIVATE": "127.0.0.0/8"}

Route = Callable[[int], Answer]


def site_with(robots: Route) -> SiteServer:
    """A site with five feeds of three pages each."""
    site = SiteServer(routes={"/robots.txt": robots})
    for feed in FEEDS:
        pages = tuple(f"{feed[:-4]}/{number}" for number in range(3))
        site.routes[feed] = always(listing(site.url, pages), kind=XML)
        site.routes |= {
            page: always(story(f"Story {site.port}{page}", "Siemens")) for page in pages
        }
    return site


def feeds_of(*sites: SiteServer) -> str:
    return "feeds=" + ",".join(f"{site.url}{feed}" for site in sites for feed in FEEDS)


class Reader:
    """Crawls into one database."""

    def __init__(self, forks: Forks, folder: Path) -> None:
        self._forks = forks
        self.database = folder / "news.sqlite"

    def crawl(self, *sites: SiteServer, **settings: str) -> Crawl:
        done = self._forks.crawl("ft", feeds_of(*sites), database=self.database, settings=settings)
        assert done.errors == [], done.output
        return done

    def change(self, statement: str, *values: object) -> None:
        assert rows_of(self.database, f"{statement} RETURNING 1", *values)

    def age_copies(self, age: timedelta) -> None:
        """Have all copies of robots.txt be so old."""
        moment = datetime.now(UTC) - age
        self.change("UPDATE robots_policies SET fetched_at = ?", f"{moment:%Y-%m-%d %H:%M:%S.%f}")


@pytest.fixture
def reader(forks: Forks, tmp_path: Path) -> Reader:
    return Reader(forks, tmp_path)


# --- All requests wait ------------------------------------------------------------------------


def test_closed_site_is_requested_only_for_robots_txt(reader):
    with site_with(always(CLOSED, delay=0.2)) as site:
        for _ in range(3):
            done = reader.crawl(site)
        assert site.paths() == ["/robots.txt"] * 3
    assert done.counts["newscrawl/listings_disallowed"] == 5
    (day,) = done.rows("SELECT state, note FROM coverage")
    assert day["state"] == "blocked_by_robots"


def test_revisits_wait_for_robots_txt(reader):
    with site_with(always(OPEN)) as site:
        reader.crawl(site)
        site.routes["/robots.txt"] = always(CLOSED, delay=0.2)
        reader.change("UPDATE frontier SET due_at = '2020-01-01 00:00:00'")
        before = len(site.visits)
        done = reader.crawl(site)
        assert site.paths()[before:] == ["/robots.txt"]
    assert done.counts["newscrawl/requested"] == 15
    assert done.counts["newscrawl/pages_disallowed"] == 15
    (stored,) = done.rows("SELECT count(*) AS number FROM articles WHERE access = 'open'")
    assert stored["number"] == 15  # what was read while it was allowed stays, until an audit


def test_each_host_has_its_own_robots_txt(reader):
    closed, allowed, bare = (
        site_with(robots)
        for robots in (always(CLOSED, delay=0.2), always(OPEN), always(status=404))
    )
    with closed, allowed, bare:
        done = reader.crawl(closed, allowed, bare)
        assert closed.paths() == ["/robots.txt"]
        for site in (allowed, bare):
            assert site.paths().count("/robots.txt") == 1
            assert site.paths()[0] == "/robots.txt"
            assert set(FEEDS) < set(site.paths())
    assert done.counts["newscrawl/articles_new"] == 30


# --- What can't be read forbids all ----------------------------------------------------------

UNREADABLE: dict[str, Route] = {
    "reset": instead(broken.reset),
    "garbage": instead(broken.garbage),
    "silence": instead(broken.silence),
    "endless": instead(broken.endless(b"# more follows\n" * 4096)),
    "dripping": instead(broken.endless(b"Allow: /\n", pause=0.1)),
    "cut off": always(b"User-agent: *\nAllow: /\n", promised=5_000),
    "server error": always(status=500),
    "too many requests": always(status=429),
    "a riddle": always(b"<script>", status=202),
    "redirects": always(status=302, headers=(("Location", "/robots.txt"),)),
}


@pytest.mark.parametrize("robots", first_is_quick(UNREADABLE.values()), ids=UNREADABLE)
def test_unreadable_robots_txt_forbids_all_pages(reader, robots):
    with site_with(robots) as site:
        done = reader.crawl(site, **IMPATIENT)
        assert set(site.paths()) == {"/robots.txt"}
    assert done.counts["newscrawl/listings_unreachable_robots"] == 5
    assert done.counts["newscrawl/robots_unreachable"] == 1
    (day,) = done.rows("SELECT state, note FROM coverage")
    assert day["state"] == "failed"
    assert day["note"].endswith("; feeds and sitemaps wait for robots.txt")
    assert done.output.count(f"Can't read {site.url}/robots.txt: ") == 1


def test_unreadable_robots_txt_affects_only_its_host(reader):
    with site_with(instead(broken.reset)) as down, site_with(always(OPEN)) as up:
        done = reader.crawl(down, up)
        assert set(down.paths()) == {"/robots.txt"}
        assert set(FEEDS) < set(up.paths())
    assert done.counts["newscrawl/articles_new"] == 15
    (day,) = done.rows("SELECT state, note FROM coverage")
    assert tuple(day.values()) == (
        "ok",
        "connection broke: robots.txt; 5 feeds and pages wait for robots.txt",
    )


# --- The last good copy -----------------------------------------------------------------------


def test_last_copy_of_robots_txt_is_obeyed_for_a_day(reader):
    with site_with(always(b"User-agent: *\nDisallow: /f1/\n")) as site:
        reader.crawl(site)
        assert not any(path.startswith("/f1/") for path in site.paths())
        site.routes["/robots.txt"] = instead(broken.reset)
        paths = ("/f1/new", "/f2/new", "/f1/0")
        site.routes["/f1.xml"] = always(listing(site.url, paths), kind=XML)
        site.routes["/f2/new"] = always(story("News", "Siemens"))

        reader.age_copies(timedelta(hours=23))
        before = len(site.visits)
        done = reader.crawl(site)
        asked = set(site.paths()[before:])
        assert {*FEEDS, "/f2/new"} <= asked
        assert "/f1/new" not in asked
        (day,) = done.rows("SELECT state, note FROM coverage")
        assert (day["state"], day["note"][:28]) == ("ok", "connection broke: robots.txt")

        reader.age_copies(timedelta(hours=25))
        before = len(site.visits)
        reader.crawl(site)
        assert set(site.paths()[before:]) == {"/robots.txt"}


@pytest.mark.thorough
def test_missing_robots_txt_is_not_a_copy(reader):
    with site_with(always(status=404)) as site:
        reader.crawl(site)
        site.routes["/robots.txt"] = instead(broken.reset)
        before = len(site.visits)
        reader.crawl(site)
        assert set(site.paths()[before:]) == {"/robots.txt"}


# --- Pages that wait --------------------------------------------------------------------------


@pytest.mark.thorough
def test_pages_wait_until_robots_txt_can_be_read_again(reader):
    with site_with(always(OPEN)) as site, site_with(instead(broken.reset)) as pages:
        elsewhere = tuple(f"{pages.url}/f1/{number}" for number in range(3))
        site.routes["/f1.xml"] = always(listing(site.url, elsewhere), kind=XML)
        done = reader.crawl(site, **PRIVATE)
        assert set(pages.paths()) == {"/robots.txt"}
        assert done.counts["newscrawl/pages_deferred"] == 3
        waiting = done.rows("SELECT * FROM frontier WHERE state = 'pending'")
        assert {row["fetch_url"] for row in waiting} == set(elsewhere)
        assert {(row["attempts"], row["reason"]) for row in waiting} == {
            (0, "robots.txt unreachable")
        }
        in_an_hour = f"{datetime.now(UTC) + timedelta(minutes=50):%Y-%m-%d %H:%M}"
        assert all(row["due_at"] > in_an_hour for row in waiting)
        assert done.rows("SELECT * FROM articles WHERE access != 'open'") == []
        # The greater part of the day's pages was read.
        (day,) = done.rows("SELECT state, note FROM coverage")
        assert tuple(day.values()) == (
            "ok",
            "connection broke: robots.txt; 3 feeds and pages wait for robots.txt",
        )

        pages.routes["/robots.txt"] = always(OPEN)
        reader.change("UPDATE frontier SET due_at = '2020-01-01' WHERE state = 'pending'")
        done = reader.crawl(site, **PRIVATE)
        assert done.counts["newscrawl/articles_new"] == 3


@pytest.mark.thorough
def test_sigterm_ends_a_crawl_that_waits_for_robots_txt(tmp_path):
    patient = {"DOWNLOAD_TIMEOUT": "600"}
    with site_with(instead(broken.silence)) as site:
        with started_crawl(
            feeds_of(site), database=tmp_path / "news.sqlite", settings=patient
        ) as process:
            wait_for(lambda: site.visits, 60)
            process.send_signal(signal.SIGTERM)
            process.wait(300)  # a second or two; half an hour where it would wait
        assert site.paths() == ["/robots.txt"]


# --- Redirects and limits ---------------------------------------------------------------------


def away(target: str) -> Route:
    return always(status=301, headers=(("Location", target),))


def test_five_redirects_of_robots_txt_are_followed_across_hosts(reader):
    with site_with(always(status=404)) as site, SiteServer() as other:
        site.routes["/robots.txt"] = away("/1")
        site.routes |= {"/1": away("/2"), "/2": away("/3"), "/3": away("/4")}
        site.routes["/4"] = away(f"{other.url}/rules")
        other.routes["/rules"] = always(CLOSED)
        done = reader.crawl(site, **PRIVATE)
        assert site.paths() == ["/robots.txt", "/1", "/2", "/3", "/4"]
    assert done.counts["newscrawl/listings_disallowed"] == 5


def test_redirect_of_robots_txt_to_a_private_address_is_refused(reader):
    with SiteServer() as inner, site_with(always(OPEN)) as site:
        site.routes["/robots.txt"] = away(f"http://127.0.0.1:{inner.port}/robots.txt")
        done = reader.crawl(site)
        assert inner.visits == []
        assert set(site.paths()) == {"/robots.txt"}
    assert done.counts["newscrawl/listings_unreachable_robots"] == 5


def test_robots_txt_is_read_up_to_500_kibibytes(reader):
    line = b"# nothing\n"
    full = 500 * 1024 // len(line)
    head = b"User-agent: *\nDisallow: /f1\n" + line * (full - 10)
    with site_with(always(head + b"Disallow: /f2\n" + line * 200 + b"Disallow: /f3\n")) as site:
        reader.crawl(site)
        asked = set(site.paths())
    assert asked.isdisjoint({"/f1.xml", "/f2.xml"})
    assert {"/f3.xml", "/f4.xml"} < asked


def test_declared_address_that_robots_txt_forbids_is_neither_kept_nor_requested(reader):
    site = site_with(always(OPEN))
    pages = [path for path in site.routes if path.startswith("/f1/")]
    for path in pages:
        link = f"<link rel='canonical' href='{site.url}/secret{path}'></head>"
        page = story(f"Story {path}", "Siemens").replace(b"</head>", link.encode())
        site.routes[path] = always(page)
    with site:
        done = reader.crawl(site)
        reader.change("UPDATE frontier SET due_at = visited_at")
        again = reader.crawl(site)
    assert done.counts["newscrawl/articles_new"] == len(FEEDS) * 3
    assert again.counts["newscrawl/articles_unchanged"] == len(FEEDS) * 3
    assert [path for path in site.paths() if "secret" in path] == []
    urls = {row["url"] for row in again.rows("SELECT url FROM article_urls")}
    assert [url for url in urls if "secret" in url] == []
    assert {f"{site.url}{path}" for path in pages} <= urls
    assert {row["url"] for row in again.rows("SELECT url FROM articles")} == urls
    mentions = again.rows("SELECT count(*) AS n FROM mentions")
    assert mentions[0]["n"] >= len(urls)
