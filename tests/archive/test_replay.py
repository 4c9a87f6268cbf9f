"""A crawl is archived, the server goes away, and the archive gives the same articles again."""

import random
import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest

from newscrawl.archive.ingest import ReadingConfig
from newscrawl.archive.lookup import Archive
from newscrawl.archive.reread import Reextraction
from newscrawl.reading import PageReader
from newscrawl.storage import open_database
from tests.site import content
from tests.site.crawling import Crawl, crawl, started_crawl
from tests.site.demo import SOURCE, demo_settings
from tests.site.faults import Answer, always, story
from tests.site.server import SiteServer
from tests.site.stories import PATHS, stored, twelve_stories
from tests.watching import wait_for

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
        visited = [attempt.path for attempt in site.visits]
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


def test_replay_without_a_server_stores_equal_articles(world):
    for done in (world.crawled, world.replayed):
        assert done.code == 0, done.output
        assert done.errors == []
    assert world.crawled.counts["newscrawl/responses_archived"] == len(world.visited)
    assert len(articles(world.crawled)) > 10
    assert articles(world.replayed) == articles(world.crawled)


MENTIONS = (
    "SELECT url, name, mentions.section, start_offset, end_offset, surface FROM mentions "
    "JOIN companies ON companies.id = company_id JOIN articles ON articles.id = article_id "
    "ORDER BY url, mentions.section, start_offset"
)


@pytest.mark.parametrize(
    "query",
    [
        MENTIONS,
        "SELECT url, first_seen_at FROM articles WHERE access != 'disallowed' ORDER BY url",
        "SELECT day, state, found, stored FROM coverage",
    ],
    ids=["mentions", "times of the fetches", "coverage of the day of the archive"],
)
def test_replay_stores_the_same(world, query):
    assert world.replayed.rows(query) == world.crawled.rows(query) != []


def test_every_request_is_in_the_archive(world):
    archive = Archive(world.archive)
    for path in set(world.visited):
        assert archive.find(world.url + path).status in {200, 301, 302, 404}


@pytest.mark.thorough
def test_page_missing_in_the_archive_is_a_failed_page(world, tmp_path):
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


# Faults ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"NEWSCRAWL_ARCHIVE": "{file}"}, "NEWSCRAWL_ARCHIVE: can't write to {file}: "),
        ({"NEWSCRAWL_REPLAY": "{empty}"}, "NEWSCRAWL_REPLAY: no WARC file"),
        ({"NEWSCRAWL_REPLAY": "{empty}/none"}, "NEWSCRAWL_REPLAY: no folder {empty}/none"),
        (
            {"NEWSCRAWL_ARCHIVE": "{empty}", "NEWSCRAWL_ARCHIVE_MB": "much"},
            "NEWSCRAWL_ARCHIVE_MB=much: not a whole number above 0",
        ),
    ],
    ids=["archive", "nothing to replay", "nowhere", "size"],
)
def test_invalid_archive_folder_is_refused_in_one_line(forks, tmp_path, settings, message):
    places = {"file": str(tmp_path / "file"), "empty": str(tmp_path / "empty")}
    (tmp_path / "file").write_text("")
    (tmp_path / "empty").mkdir()
    values = {name: value.format(**places) for name, value in settings.items()}
    with SiteServer() as site:
        done = forks.crawl("ft", site.feeds, database=tmp_path / "news.sqlite", settings=values)
        assert site.visits == []
    assert done.code == 2
    assert message.format(**places) in done.output
    assert "Traceback" not in done.output


@pytest.mark.thorough
def test_failing_archive_ends_the_crawl(tmp_path):
    """A folder goes away while the crawl writes files of a megabyte into it."""
    archive = tmp_path / "archive"

    def loses_its_folder(_visit: int) -> Answer:
        shutil.rmtree(archive)
        archive.write_text("a file now")
        noise = random.Random(1).randbytes(1_500_000)  # noqa: S311 - can't be packed
        return Answer(body=story("Large", "Siemens") + noise)

    with twelve_stories() as site:
        site.routes[PATHS[4]] = loses_its_folder
        done = crawl(
            "ft",
            site.feeds,
            database=tmp_path / "news.sqlite",
            settings={"NEWSCRAWL_ARCHIVE": str(archive), "NEWSCRAWL_ARCHIVE_MB": "1"},
        )
        assert PATHS[-1] not in site.paths()
    assert done.code == 1
    (line,) = (line for line in done.output.splitlines() if "The crawl stops: " in line)
    assert f"can't write to {archive}" in line
    assert "Traceback" not in done.output


@pytest.mark.thorough
def test_archive_of_a_killed_crawl_has_all_stored_pages(tmp_path):
    database, archive = tmp_path / "news.sqlite", tmp_path / "archive"
    kept = {"NEWSCRAWL_ARCHIVE": str(archive)}
    with twelve_stories() as site:
        with started_crawl(site.feeds, database=database, **kept):
            wait_for(lambda: stored(database) >= 3)
        crawl("ft", site.feeds, database=database, environment=kept)
        url = site.url
    captures = Archive(archive)
    assert len(captures.files) == 2
    for path in PATHS:
        assert b"Siemens" in captures.find(url + path).body


@pytest.mark.thorough
def test_pages_with_50_kib_of_headers_are_archived_and_replayed(tmp_path):
    long, many = (("X-Long", "b" * 50_000),), (("a", "b"),) * 10_000
    archive = tmp_path / "archive"
    replay = {"NEWSCRAWL_REPLAY": str(archive)}
    with twelve_stories() as site:
        for path, headers in zip(PATHS, (long, many), strict=False):
            site.routes[path] = always(story(f"About {path}", "Siemens"), headers=headers)
        kept = {"NEWSCRAWL_ARCHIVE": str(archive)}
        database = tmp_path / "first.sqlite"
        crawled = crawl("ft", site.feeds, database=database, environment=kept)
    again = crawl("ft", site.feeds, database=tmp_path / "2.sqlite", settings=replay)
    assert len(articles(crawled)) == len(PATHS)
    assert articles(again) == articles(crawled)


def test_reextraction_of_an_archived_crawl_changes_nothing(world):
    """Nothing changes: neither do print views or legacy charsets, nor what only the feed told."""
    with open_database(f"sqlite:///{world.crawled.database}") as database:
        reading = ReadingConfig(
            reader=PageReader(method="combined", min_characters=120),
            sources=Path(world.environment["NEWSCRAWL_SOURCES"]),
        )
        task = Reextraction(database, Archive(world.archive), reading)
        changes = list(task.run())
    pages = {page.path for page in FACTS if page.outcome == "article"}
    assert {change.url.removeprefix(world.url) for change in changes} == pages
    assert {change.outcome for change in changes} == {"unchanged"}
