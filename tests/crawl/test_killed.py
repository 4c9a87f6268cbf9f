"""`kill -9` at twenty random moments: every article exactly once, none lost, none twice."""

import os
import random
import signal
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from newscrawl.storage import Database, open_database, upgrade_database
from tests.site.crawling import crawl_command, crawl_environment
from tests.site.faults import Answer, always, listing, story
from tests.site.forking import Forks
from tests.site.server import SiteServer
from tests.worlds import empty

SEED = 20
# As many as twenty killed crawls don't get through, and one does in seconds. Ten of the stories
# are listed by an AMP twin and a redirect, too; and ten pages hold no article.
STORIES = tuple(f"/story/{number}" for number in range(100))
TWINS = tuple(f"/twin/{number}" for number in range(10))
REDIRECTS = tuple(f"/r/{number}" for number in range(10))
FEED = (*REDIRECTS, *STORIES[10:], *TWINS, *STORIES[:10])
PAGES = tuple(tuple(f"/page/{part}-{number}" for number in range(55)) for part in (1, 2))
EMPTY = tuple(tuple(f"/empty/{part}-{number}" for number in range(5)) for part in (1, 2))
ARTICLES = (*STORIES, *PAGES[0], *PAGES[1])
PATHS = (*FEED, *PAGES[0], *PAGES[1], *EMPTY[0], *EMPTY[1])
COMPANIES_PER_STORY = 3


def big_site() -> SiteServer:
    """A feed, an index with two sitemaps, and what all three list."""
    site = SiteServer()

    def urlset(paths: tuple[str, ...]) -> bytes:
        pages = "".join(f"<url><loc>{site.url}{path}</loc></url>" for path in paths)
        return f"<urlset>{pages}</urlset>".encode()

    def index() -> bytes:
        maps = "".join(f"<sitemap><loc>{site.url}/{n}.xml</loc></sitemap>" for n in (1, 2))
        return f"<sitemapindex>{maps}</sitemapindex>".encode()

    xml = "application/xml"
    site.routes["/robots.txt"] = always(status=404)
    site.routes["/feed.xml"] = lambda _: Answer(body=listing(site.url, FEED), kind=xml)
    site.routes["/index.xml"] = lambda _: Answer(body=index(), kind=xml)
    for number, paths in enumerate(((*PAGES[0], *EMPTY[0]), (*PAGES[1], *EMPTY[1])), 1):
        site.routes[f"/{number}.xml"] = lambda _, paths=paths: Answer(body=urlset(paths), kind=xml)

    def page(path: str, answer: Answer) -> None:
        site.routes[path] = lambda _: replace(answer, delay=0.01)

    for path in ARTICLES:
        page(path, Answer(body=story(f"About {path}", "Siemens")))
    for twin, redirect, path in zip(TWINS, REDIRECTS, STORIES, strict=False):
        canonical = f"<link rel='canonical' href='{site.url}{path}'>"
        body = story(f"About {path}", "Siemens", extra="<p>For phones.</p>")
        page(twin, Answer(body=body.replace(b"<title>", f"{canonical}<title>".encode())))
        page(redirect, Answer(status=302, headers=(("Location", path),)))
    for path in (*EMPTY[0], *EMPTY[1]):
        page(path, Answer(body=b"<html><title>Soon</title><h1>Soon</h1></html>"))
    return site


@dataclass(frozen=True)
class World:
    """The site and the database after killed crawls and a last one."""

    url: str
    database: str
    kills: int
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


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(("sqlite", 20), marks=pytest.mark.thorough),
        pytest.param(("postgresql", 20), marks=pytest.mark.thorough),
    ],
    ids=["sqlite, 20 kills", "postgresql, 20 kills"],
)
def world(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[World]:
    folder = tmp_path_factory.mktemp("killed")
    url = f"sqlite:///{folder}/news.sqlite"
    kind, kills = request.param
    if kind == "postgresql":
        url = request.getfixturevalue("postgres_tables")
    upgrade_database(url)
    yield kill_and_go_on(url, folder, kills)
    if kind == "postgresql":
        empty(url)


def kill_and_go_on(url: str, folder: Path, kills: int) -> World:
    """Crawl, killed at a number of moments, then to the end."""
    chance = random.Random(SEED)  # noqa: S311
    known: list[set[str]] = []
    seen: list[int] = []
    killed = 0
    environment = crawl_environment(folder / "none") | {
        "NEWSCRAWL_DATABASE_URL": url,
        "NEWSCRAWL_EXTRACTION_PROCESSES": "0",
    }
    with (
        big_site() as site,
        Forks(environment, folder / "crawls.log") as forks,
        open_database(url) as database,
    ):
        arguments = [site.feeds, f"sitemaps={site.url}/index.xml"]
        command = crawl_command("ft", arguments)[3:]
        for number in range(kills):
            articles, rest = chance.randint(0, 9), chance.uniform(0.0, 0.3)
            print(f"kill {number} (seed {SEED}): {rest:.3f} s after {articles} articles")
            asked = len(site.visits)
            process = forks.start(command)
            wait_until(lambda asked=asked: len(site.visits) > asked)  # type: ignore[misc]
            enough = articles + (len(known[-1]) if known else 0)
            wait_until(lambda enough=enough: len(stored(database, site)) >= enough)  # type: ignore[misc]
            time.sleep(rest if articles == 0 else rest / 10)
            os.kill(process, signal.SIGKILL)
            killed += forks.wait() == -signal.SIGKILL
            known.append(stored(database, site))
            seen.append(len(site.visits))
        forks.start(command)
        code = forks.wait()
        paths = site.paths()
    later = [set(paths[since:]) for since in seen]
    return World(site.url, url, kills, killed, code, known, later)


def wait_until(true: Callable[[], bool]) -> None:
    """Look again and again, for a minute at most."""
    deadline = time.monotonic() + 60
    while not true():
        if time.monotonic() > deadline:
            raise TimeoutError("the crawl did not come so far within a minute")
        time.sleep(0.01)


def stored(database: Database, site: SiteServer) -> set[str]:
    with database.reading() as session:
        rows = session.connection().exec_driver_sql("SELECT url FROM articles")
        return {row[0].removeprefix(site.url) for row in rows}


def test_each_kill_interrupted_a_crawl_and_the_last_crawl_finished(world):
    assert (world.killed, world.code) == (world.kills, 0)
    sizes = [len(paths) for paths in world.known]
    assert sizes == sorted(sizes)
    assert len(set(sizes)) > world.kills / 2
    assert sizes[-1] < len(ARTICLES)


def test_killed_crawls_store_each_article_exactly_once(world):
    assert sorted(world.paths("SELECT url FROM articles")) == sorted(ARTICLES)
    assert {*ARTICLES, *TWINS} <= set(world.paths("SELECT url FROM article_urls"))
    assert world.rows("SELECT count(*) FROM revisions") == [(0,)]


def test_killed_crawls_store_each_mention_exactly_once(world):
    per_article = world.rows("SELECT count(*) FROM mentions GROUP BY article_id")
    assert per_article == [(COMPANIES_PER_STORY,)] * len(ARTICLES)


def test_killed_crawls_leave_no_page_in_the_frontier(world):
    rows = world.rows("SELECT reason, count(*) FROM frontier GROUP BY reason ORDER BY reason")
    dropped = sum(count for reason, count in rows if reason not in {"alias", "new"})
    assert dropped == len(EMPTY[0]) + len(EMPTY[1])
    assert dict(rows)["new"] == len(ARTICLES)
    assert sum(count for _, count in rows) == len(PATHS)
    assert world.rows("SELECT count(*) FROM frontier WHERE state <> 'done'") == [(0,)]


def test_stored_pages_are_not_requested_again(world):
    # Those that a redirect leads to are met again by following it.
    listed_once = set(ARTICLES) - set(STORIES[: len(REDIRECTS)])
    for known, asked in zip(world.known, world.asked_later, strict=True):
        assert known & asked & listed_once == set()
