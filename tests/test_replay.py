"""A crawl is archived, the server goes away, and the archive gives the same articles again."""

from dataclasses import dataclass
from pathlib import Path

import pytest

from newscrawl.archive.lookup import Archive
from tests.site import content
from tests.site.crawling import Crawl, crawl
from tests.site.demo import SOURCE, demo_settings
from tests.site.server import SiteServer

FACTS = content.facts()
SINCE = f"since={min(page.moment for page in FACTS):%Y-%m-%d}"


@dataclass(frozen=True)
class World:
    """A crawl with an archive, and its replay after the server was shut down."""

    url: str
    archive: Path
    crawled: Crawl
    replayed: Crawl
    visited: list[str]
    environment: dict[str, str]


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    folder = tmp_path_factory.mktemp("replay")
    archive = folder / "archive"
    first, second = folder / "first.sqlite", folder / "second.sqlite"
    with SiteServer() as site:
        environment = demo_settings(site.url, folder, f"sqlite:///{first}")
        environment["NEWSCRAWL_ARCHIVE"] = str(archive)
        crawled = crawl(SOURCE, SINCE, database=first, environment=environment)
        visited = [visit.path for visit in site.visits]
        url = site.url
    environment = demo_settings(url, folder, f"sqlite:///{second}")
    replayed = crawl(
        SOURCE,
        SINCE,
        database=second,
        environment=environment,
        settings={"NEWSCRAWL_REPLAY": str(archive), "DOWNLOAD_DELAY": "60"},
    )
    return World(url, archive, crawled, replayed, visited, environment)


def articles(done: Crawl) -> list[dict[str, object]]:
    return done.rows(
        "SELECT url, title, text, authors, published_at, day, language, kind, access, content_hash "
        "FROM articles ORDER BY url"
    )


def mentions(done: Crawl) -> list[dict[str, object]]:
    return done.rows(
        "SELECT url, name, mentions.section, start_offset, end_offset, surface FROM mentions "
        "JOIN companies ON companies.id = company_id JOIN articles ON articles.id = article_id "
        "ORDER BY url, mentions.section, start_offset"
    )


def test_the_crawl_was_archived_without_an_error(world: World) -> None:
    assert world.crawled.code == 0, world.crawled.output
    assert world.crawled.errors == []
    assert world.crawled.counts["newscrawl/responses_archived"] == len(world.visited)


def test_a_replay_without_a_server_gives_the_same_articles(world: World) -> None:
    assert world.replayed.code == 0, world.replayed.output
    assert world.replayed.errors == []
    assert len(articles(world.crawled)) > 10
    assert articles(world.replayed) == articles(world.crawled)


def test_a_replay_finds_the_same_mentions(world: World) -> None:
    assert mentions(world.replayed) == mentions(world.crawled) != []


def test_pages_that_were_fetched_have_the_time_of_their_fetch(world: World) -> None:
    query = "SELECT url, first_seen_at FROM articles WHERE access != 'disallowed' ORDER BY url"
    assert world.replayed.rows(query) == world.crawled.rows(query)


def test_coverage_is_that_of_the_day_of_the_archive(world: World) -> None:
    query = "SELECT day, state, found, stored FROM coverage"
    assert world.replayed.rows(query) == world.crawled.rows(query) != []


def test_everything_that_was_asked_for_is_in_the_archive(world: World) -> None:
    archive = Archive(world.archive)
    for path in set(world.visited):
        assert archive.find(world.url + path).status in {200, 301, 302, 404}


def test_a_page_that_is_missing_is_a_plain_failure(world: World, tmp_path: Path) -> None:
    settings = {"NEWSCRAWL_REPLAY": str(world.archive)}
    arguments = f"feeds={world.url}/feed.xml,{world.url}/elsewhere.xml"
    done = crawl(
        SOURCE,
        SINCE,
        arguments,
        database=tmp_path / "news.sqlite",
        settings=settings,
        environment={
            **world.environment,
            "NEWSCRAWL_DATABASE_URL": f"sqlite:///{tmp_path}/news.sqlite",
        },
    )
    assert f"Can't read {world.url}/elsewhere.xml: not in the archive" in done.output
    assert done.errors == []
    assert done.counts["newscrawl/articles_new"] > 0
