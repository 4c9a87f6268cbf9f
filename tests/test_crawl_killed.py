"""`kill -9` at twenty random moments: every article exactly once, none lost, none twice."""

import os
import random
import signal
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from newscrawl.storage import open_database, upgrade_database
from tests.site.crawling import crawl_command, crawl_environment
from tests.site.faults import Answer, listing, story
from tests.site.forking import Forks
from tests.site.server import SiteServer
from tests.worlds import empty

KILLS = 20
SEED = 20
# As many as twenty killed crawls don't get through, and one does in seconds.
FEED = tuple(f"/story/{number}" for number in range(120))
SITEMAPS = tuple(tuple(f"/page/{part}-{number}" for number in range(60)) for part in (1, 2))
PATHS = (*FEED, *SITEMAPS[0], *SITEMAPS[1])
COMPANIES_PER_STORY = 3


def big_site() -> SiteServer:
    """A feed, an index with two sitemaps, and the pages of all three."""
    site = SiteServer()

    def urlset(paths: tuple[str, ...]) -> bytes:
        pages = "".join(f"<url><loc>{site.url}{path}</loc></url>" for path in paths)
        return f"<urlset>{pages}</urlset>".encode()

    def index() -> bytes:
        maps = "".join(f"<sitemap><loc>{site.url}/{n}.xml</loc></sitemap>" for n in (1, 2))
        return f"<sitemapindex>{maps}</sitemapindex>".encode()

    xml = "application/xml"
    site.routes["/robots.txt"] = lambda _: Answer(status=404)
    site.routes["/feed.xml"] = lambda _: Answer(body=listing(site.url, FEED), kind=xml)
    site.routes["/index.xml"] = lambda _: Answer(body=index(), kind=xml)
    for number, paths in enumerate(SITEMAPS, 1):
        site.routes[f"/{number}.xml"] = lambda _, paths=paths: Answer(body=urlset(paths), kind=xml)
    for path in PATHS:
        page = Answer(body=story(f"About {path}", "Siemens"), delay=0.01)
        site.routes[path] = lambda _, page=page: page
    return site


@dataclass(frozen=True)
class World:
    """The site and the database after twenty killed crawls and a last one."""

    url: str
    database: str
    killed: int
    code: int
    # For each kill what was stored then, and what was asked for from then on.
    known: list[set[str]]
    asked_later: list[set[str]]

    def rows(self, query: str) -> list[tuple[object, ...]]:
        with open_database(self.database) as database, database.reading() as session:
            return [tuple(row) for row in session.connection().exec_driver_sql(query)]

    def paths(self, query: str) -> list[str]:
        return [str(url).removeprefix(self.url) for (url,) in self.rows(query)]


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def world(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[World]:
    folder = tmp_path_factory.mktemp("killed")
    url = f"sqlite:///{folder}/news.sqlite"
    if request.param == "postgresql":
        url = request.getfixturevalue("postgres_tables")
    upgrade_database(url)
    yield kill_and_go_on(url, folder)
    if request.param == "postgresql":
        empty(url)


def kill_and_go_on(url: str, folder: Path) -> World:
    """Crawl, killed at twenty moments, then to the end."""
    chance = random.Random(SEED)  # noqa: S311
    known: list[set[str]] = []
    seen: list[int] = []
    killed = 0
    environment = crawl_environment(folder / "none") | {
        "NEWSCRAWL_DATABASE_URL": url,
        "NEWSCRAWL_READERS": "0",
    }
    with big_site() as site, Forks(environment, folder / "crawls.log") as forks:
        arguments = [f"feeds={site.url}/feed.xml", f"sitemaps={site.url}/index.xml"]
        command = crawl_command("ft", arguments)[2:]
        for number in range(KILLS):
            pages, rest = chance.randint(0, 18), chance.uniform(0.0, 0.3)
            print(f"kill {number} (seed {SEED}): {rest:.3f} s after page {pages}")
            process = forks.start(command)
            wait_for(site, len(site.visits), pages)
            time.sleep(rest if pages == 0 else rest / 10)
            os.kill(process, signal.SIGKILL)
            killed += forks.wait() == -signal.SIGKILL
            known.append(stored(url, site))
            seen.append(len(site.visits))
        forks.start(command)
        code = forks.wait()
        asked = site.paths()
    later = [set(asked[since:]) for since in seen]
    return World(site.url, url, killed, code, known, later)


def wait_for(site: SiteServer, before: int, pages: int) -> None:
    """Wait until a crawl has asked for so many pages, or has begun if that is none."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        asked = [
            visit for visit in site.visits[before:] if not visit.path.endswith((".txt", ".xml"))
        ]
        if len(asked) >= pages:
            return
        time.sleep(0.005)
    raise TimeoutError(f"no {pages} pages within a minute")


def stored(url: str, site: SiteServer) -> set[str]:
    with open_database(url) as database, database.reading() as session:
        rows = session.connection().exec_driver_sql("SELECT url FROM articles")
        return {row[0].removeprefix(site.url) for row in rows}


def test_all_kills_met_a_crawl_at_work_and_the_last_one_ended_well(world: World) -> None:
    assert (world.killed, world.code) == (KILLS, 0)
    sizes = [len(paths) for paths in world.known]
    assert sizes == sorted(sizes)
    assert len(set(sizes)) > KILLS / 2
    assert sizes[-1] < len(PATHS)


def test_every_article_is_stored_exactly_once(world: World) -> None:
    assert sorted(world.paths("SELECT url FROM articles")) == sorted(PATHS)
    assert sorted(world.paths("SELECT url FROM article_urls")) == sorted(PATHS)
    assert world.rows("SELECT count(*) FROM revisions") == [(0,)]


def test_every_mention_is_stored_exactly_once(world: World) -> None:
    per_article = world.rows("SELECT count(*) FROM mentions GROUP BY article_id")
    assert per_article == [(COMPANIES_PER_STORY,)] * len(PATHS)


def test_nothing_is_left_in_the_queue(world: World) -> None:
    rows = world.rows("SELECT state, reason, count(*) FROM frontier GROUP BY state, reason")
    assert rows == [("done", "new", len(PATHS))]


def test_what_was_stored_was_not_asked_for_again(world: World) -> None:
    for known, asked in zip(world.known, world.asked_later, strict=True):
        assert known & asked == set()
