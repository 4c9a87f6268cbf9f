"""A feed that rolled over while its site failed: sitemaps close the gap, or it is named."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from shutil import copyfile

import pytest

from newscrawl.monitoring.health_checks import Inspector
from newscrawl.storage import open_database
from newscrawl.storage.queries import completeness
from newscrawl.storage.status import list_incidents, watch_status
from tests.site.crawling import Crawl, own_source
from tests.site.faults import Answer, always, story
from tests.site.forking import Forks
from tests.site.server import SiteServer
from tests.thorough import first_is_quick

MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)
NOTE = re.compile(r"feed rolled over, up to (\d+) articles? missing since [-\d]+ \d\d:\d\d UTC")
# The outages, and the time between two articles.
OUTAGES = {"hour": (HOUR, 3 * MINUTE), "day": (DAY, 24 * MINUTE), "week": (7 * DAY, 2 * HOUR)}
# Articles before the first crawl: as many as the longest feed has, and some that it has dropped.
EARLIER = 55


@dataclass
class Paper:
    """A paper that publishes an article in every `step`, the last ones just before `now`; `size` of
    them are in its feed."""

    site: SiteServer
    forks: Forks
    folder: Path
    size: int
    step: timedelta
    number: int
    moment: datetime = field(default_factory=lambda: datetime.now(UTC).replace(microsecond=0))
    now: datetime = field(init=False)
    columns: dict[str, object] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.now = self.moment
        routes = self.site.routes
        routes["/robots.txt"] = always(status=404)
        routes["/feed.xml"] = lambda _: Answer(body=self.feed(), kind="application/xml")
        for number in range(self.number):
            routes[f"/story/{number}"] = lambda _, number=number: Answer(body=self.page(number))

    def published(self, number: int) -> datetime:
        return self.moment - (self.number - number) * self.step + self.step / 2

    def page(self, number: int) -> bytes:
        moment = self.published(number).isoformat()
        stated = f'<meta property="article:published_time" content="{moment}">'
        return story(f"Report {number}", "Siemens").replace(
            b"<title>", stated.encode() + b"<title>"
        )

    def visible(self) -> list[int]:
        """The articles that are published now, the newest first."""
        numbers = range(self.number)
        return [one for one in reversed(numbers) if self.published(one) <= self.now]

    def feed(self) -> bytes:
        items = "".join(
            f"<item><title>Report {number}</title><link>{self.site.url}/story/{number}</link>"
            f"<pubDate>{format_datetime(self.published(number))}</pubDate></item>"
            for number in self.visible()[: self.size]
        )
        return f"<rss version='2.0'><channel><title>P</title>{items}</channel></rss>".encode()

    def sitemap(self, *, dated: bool = True, first: int = 0) -> Answer:
        urls = "".join(
            f"<url><loc>{self.site.url}/story/{number}</loc>"
            + (f"<lastmod>{self.published(number).isoformat()}</lastmod>" if dated else "")
            + "</url>"
            for number in self.visible()
            if number >= first
        )
        space = "http://www.sitemaps.org/schemas/sitemap/0.9"
        body = f"<urlset xmlns='{space}'>{urls}</urlset>".encode()
        return Answer(body=body, kind="application/xml")

    def crawl(
        self,
        ago: timedelta = timedelta(),
        code: int = 0,
        arguments: tuple[str, ...] = (),
        **settings: str,
    ) -> Crawl:
        """Crawl the site as of some time ago."""
        self.now = self.moment - ago
        file = self.folder / "own.csv"
        if not file.exists():
            own_source(file, self.site.url, "paper", **self.columns)
        done = self.forks.crawl(
            "paper",
            *arguments,
            database=self.folder / "news.sqlite",
            settings={
                "NEWSCRAWL_SOURCES": str(file),
                "EXTENSIONS": json.dumps({"tests.clocks.ShiftedClock": 1}),
                "CLOCK_SHIFT": str(-ago.total_seconds()),
                "NEWSCRAWL_REVISITS": "300d",
                **settings,
            },
        )
        assert done.code == code, done.output
        return done


def stored(done: Crawl) -> list[int]:
    """The numbers of the articles that are stored, in order."""
    rows = done.rows("SELECT url FROM articles")
    return sorted(int(row["url"].rpartition("/")[2]) for row in rows)


def days(done: Crawl) -> dict[str, tuple[str, str]]:
    rows = done.rows("SELECT day, state, note FROM coverage ORDER BY day")
    return {row["day"]: (row["state"], row["note"]) for row in rows}


@pytest.fixture
def site() -> Iterator[SiteServer]:
    with SiteServer() as site:
        yield site


def paper(
    site: SiteServer, forks: Forks, folder: Path, size: int = 10, outage: str = "hour"
) -> tuple[Paper, timedelta]:
    length, step = OUTAGES[outage]
    return Paper(site, forks, folder, size, step, EARLIER + length // step), length


def gap_of(done: Crawl) -> int:
    """The articles that may be missing, as the newest day says, and the day on which the gap
    began."""
    (first_state, first), *_, (state, note) = (*days(done).values(), *days(done).values())
    found = NOTE.fullmatch(note)
    assert found, note
    assert (first_state, first) == (state, note)
    assert state == "incomplete"
    return int(found[1])


# The gaps that are also left open; tests/storage/test_gaps.py computes the bounds of all.
NAMED = {("hour", 10), ("day", 15), ("week", 50)}


@pytest.mark.parametrize("size", first_is_quick([10, 15, 50]))
@pytest.mark.parametrize("outage", first_is_quick(OUTAGES))
def test_gap_of_a_feed_is_closed_by_the_sitemap_or_named_with_an_upper_bound(
    site, forks, tmp_path, outage, size
):
    world, length = paper(site, forks, tmp_path, size, outage)
    site.routes["/sitemap.xml"] = lambda _: world.sitemap()
    world.columns = {"sitemaps": (f"{site.url}/sitemap.xml",)}
    first = world.crawl(length)
    before, published = list(range(EARLIER - size, EARLIER)), length // world.step
    assert stored(first) == before
    (tmp_path / "copy").mkdir()
    copyfile(first.database, tmp_path / "copy" / "news.sqlite")
    after = world.crawl()
    # All since the first crawl, and none that was older.
    assert stored(after) == list(range(EARLIER - size, world.number))
    assert {state for state, _ in days(after).values()} == {"ok"}
    assert len(days(after)) >= length.days
    assert after.counts.get("newscrawl/gaps_closed", 0) == (published > size)
    assert ("/sitemap.xml" in site.paths()) == (published > size)

    if (outage, size) not in NAMED:
        return
    site.routes["/sitemap.xml"] = always(status=404)
    world.folder = tmp_path / "copy"
    named = world.crawl()
    assert stored(named) == [*before, *range(world.number - min(size, published), world.number)]
    assert published - size <= gap_of(named) <= published + 3 * published**0.5 + 2 - size


def test_gap_is_named_once_and_the_day_stays_incomplete(site, forks, tmp_path):
    world, length = paper(site, forks, tmp_path)
    world.crawl(length)
    number = gap_of(world.crawl())
    again = world.crawl()
    assert gap_of(again) == number
    assert again.counts.get("newscrawl/feeds_rolled_over", 0) == 0
    with open_database(f"sqlite:///{again.database}") as database:
        answer = completeness(database)
        assert (answer.level, answer.covered) == ("partial", 0)
        Inspector(database, ["paper"], [])()
        (status,) = watch_status(database, ["paper"]).sources
        assert (status.health, status.reason) == ("degraded", days(again).popitem()[1][1])
        (incident,) = list_incidents(database)
        assert (incident.kind, incident.note) == ("incomplete", status.reason)
        tomorrow = datetime.now(UTC) + DAY
        database.record_coverage("paper", tomorrow.date(), "ok", 1, 1)
        Inspector(database, ["paper"], [], clock=lambda: tomorrow)()
        assert "incomplete" not in {one.kind for one in list_incidents(database)}


def test_sitemap_that_robots_txt_names_closes_the_gap(site, forks, tmp_path):
    world, length = paper(site, forks, tmp_path)
    named = f"User-agent: *\nAllow: /\nSitemap: {site.url}/map.xml\nSitemap: /other.xml\n".encode()
    site.routes["/robots.txt"] = lambda _: Answer(body=named, kind="text/plain")
    site.routes["/map.xml"] = lambda _: world.sitemap()
    world.crawl(length)
    after = world.crawl()
    assert stored(after) == list(range(EARLIER - world.size, world.number))
    assert days(after).popitem()[1] == ("ok", "")


@pytest.mark.thorough
def test_articles_of_a_sitemap_without_dates_are_those_between(site, forks, tmp_path):
    world, length = paper(site, forks, tmp_path)
    world.columns = {"sitemaps": (f"{site.url}/sitemap.xml",)}
    site.routes["/sitemap.xml"] = lambda _: world.sitemap(dated=False)
    world.crawl(length)
    after = world.crawl()
    assert stored(after) == list(range(EARLIER - world.size, world.number))
    assert days(after).popitem()[1] == ("ok", "")


@pytest.mark.thorough
def test_sitemap_that_does_not_reach_back_leaves_the_rest_of_the_gap_open(site, forks, tmp_path):
    world, length = paper(site, forks, tmp_path)
    world.columns = {"news_sitemaps": (f"{site.url}/news.xml",)}
    site.routes["/news.xml"] = lambda _: world.sitemap(
        first=EARLIER + 5 if world.now == world.moment else 0
    )
    world.crawl(length)
    after = world.crawl()
    assert stored(after)[-15:] == list(range(EARLIER + 5, world.number))
    assert EARLIER + 4 not in stored(after)
    assert gap_of(after) >= 5


def test_section_page_closes_a_gap_if_it_has_as_many_articles_as_were_expected(
    site, forks, tmp_path
):
    world, length = paper(site, forks, tmp_path)

    def home(_visit: int) -> Answer:
        links = "".join(
            f'<h2><a href="/story/{number}">Report of the harbour, number {number}</a></h2>'
            for number in world.visible()[:25]
        )
        return Answer(body=f"<html><title>Paper</title>{links}</html>".encode())

    site.routes["/"] = home
    world.crawl(length)
    assert "/" not in site.paths()
    after = world.crawl()
    assert stored(after) == list(range(EARLIER - world.size, world.number))
    assert days(after).popitem()[1] == ("ok", "")


@pytest.mark.thorough
def test_crawl_that_ended_before_its_gap_was_closed_hides_nothing(site, forks, tmp_path):
    world, length = paper(site, forks, tmp_path)
    world.columns = {"sitemaps": (f"{site.url}/sitemap.xml",)}
    site.routes["/sitemap.xml"] = lambda _: world.sitemap()
    world.crawl(length)
    world.crawl(CLOSESPIDER_PAGECOUNT="3")
    assert "/sitemap.xml" not in site.paths()
    after = world.crawl()
    assert stored(after) == list(range(EARLIER - world.size, world.number))
    assert after.counts["newscrawl/gaps_closed"] == 1


@pytest.mark.thorough
def test_old_article_at_the_top_of_a_feed_does_not_hide_a_gap(site, forks, tmp_path):
    world, length = paper(site, forks, tmp_path)
    usual, pinned = world.visible, 3
    world.visible = lambda: [pinned, *(one for one in usual() if one != pinned)]  # type: ignore[method-assign]
    world.crawl(length)
    assert gap_of(world.crawl()) >= length // world.step - world.size


@pytest.mark.thorough
def test_articles_that_moved_to_other_addresses_are_no_gap(site, forks, tmp_path):
    world, length = paper(site, forks, tmp_path)
    world.crawl(length)
    moved = world.feed().replace(b"/story/", b"/moved/")
    site.routes["/feed.xml"] = lambda _: Answer(body=moved, kind="application/xml")
    for number in range(world.number):
        site.routes[f"/moved/{number}"] = site.routes[f"/story/{number}"]
    after = world.crawl()
    assert stored(after) == list(range(EARLIER - world.size, EARLIER))
    assert days(after).popitem()[1] == ("ok", "")


@pytest.mark.thorough
def test_failing_listings_that_replace_others_are_no_lost_feeds(site, forks, tmp_path):
    world, length = paper(site, forks, tmp_path, 50)
    world.columns = {"sitemaps": (f"{site.url}/sitemap.xml",)}
    world.crawl(length)
    working = dict(site.routes)
    for path in ("/feed.xml", "/", "/sitemap.xml"):
        site.routes[path] = always(status=500)
    for minutes in (30, 20, 10):
        failed = world.crawl(minutes * MINUTE, code=1)
        assert failed.counts["newscrawl/fallbacks_failed"] == 1
    site.routes["/feed.xml"] = working["/feed.xml"]
    done = world.crawl()
    with open_database(f"sqlite:///{done.database}") as database:
        Inspector(database, ["paper"], [])()
        assert list_incidents(database) == ()
        (status,) = watch_status(database, ["paper"]).sources
        assert status.health == "healthy"


@pytest.mark.thorough
def test_source_without_feeds_has_no_stale_feed(site, forks, tmp_path):
    world, _ = paper(site, forks, tmp_path)
    world.columns = {"feeds": (), "sections": (f"{site.url}/",)}
    link = '<h2><a href="/story/1">Report of the harbour, number one</a></h2>'
    site.routes["/"] = lambda _: Answer(body=f"<html>{link}</html>".encode())
    first = world.crawl()
    assert stored(first) == [1]
    # The home page is not due yet.
    assert world.crawl(arguments=("polls=due",)).summary.endswith("state ok")
    site.routes["/"] = lambda _: Answer(body=b"<html>A picture, and no link.</html>")
    failed = world.crawl(code=1)
    assert failed.summary.endswith(
        "state failed (its home page and section pages link to no article)"
    )
