"""A crawl waits while another program locks its database, and can be stopped meanwhile."""

import sqlite3
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from newscrawl.storage import open_database
from tests.site.crawling import started_crawl
from tests.site.faults import Answer
from tests.site.server import SiteServer
from tests.thorough import first_is_quick
from tests.watching import wait_for

PATHS = tuple(f"/story/{number}" for number in range(6))
# Longer than four tries of five seconds each, after which a crawl gave up in the past.
LOCKED_FOR = 24.0
# The writes of the spider and of the storage pipeline.
LOCKED_AT = ("/feed.xml", "/story/3")
WAITING = "is locked by another program: waiting"


@contextmanager
def serving() -> Iterator[SiteServer]:
    with SiteServer() as site:
        site.serve_stories(PATHS)
        yield site


@pytest.fixture
def site() -> Iterator[SiteServer]:
    with serving() as site:
        yield site


def log_of(database: Path) -> str:
    """Return the log of a crawl into the database."""
    return database.with_suffix(".log").read_text()


def lock_when(site: SiteServer, path: str, database: Path) -> sqlite3.Connection:
    """Lock the database before the site answers the path."""
    other = sqlite3.connect(database, isolation_level=None, timeout=60, check_same_thread=False)
    usual = site.routes[path]

    def answer(attempt: int) -> Answer:
        other.execute("BEGIN EXCLUSIVE")
        return usual(attempt)

    site.routes[path] = answer
    return other


def crawl_while_locked(database: Path, path: str) -> tuple[int, str]:
    """Crawl a site whose answer at the path locks the database for a while."""
    with serving() as site:
        other = lock_when(site, path, database)
        with started_crawl(site.feeds, database=database) as run:
            wait_for(lambda: path in site.paths(), 60)
            time.sleep(LOCKED_FOR)
            assert run.poll() is None
            other.rollback()
            other.close()
            run.wait(timeout=300)
    return run.returncode, log_of(database)


@pytest.fixture(scope="module")
def locked_crawls(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[int, str, Path]]:
    """The crawls that meet a lock at a listing and at an article, run at the same time."""
    databases = [tmp_path_factory.mktemp("locked") / "news.sqlite" for _ in LOCKED_AT]
    for database in databases:  # Alembic upgrades one database at a time
        open_database(f"sqlite:///{database}").close()
    with ThreadPoolExecutor(len(LOCKED_AT)) as pool:
        done = list(pool.map(crawl_while_locked, databases, LOCKED_AT))
    return {
        path: (*result, database)
        for path, result, database in zip(LOCKED_AT, done, databases, strict=True)
    }


@pytest.mark.parametrize("path", first_is_quick(LOCKED_AT))
def test_crawl_waits_for_a_locked_database(locked_crawls, path):
    code, log, database = locked_crawls[path]
    assert code == 0, log
    assert "6 new, 0 revised, 0 unchanged, 18 mentions; state ok" in log
    assert log.count(f"the database {database} {WAITING}") == 1
    assert "CRITICAL" not in log


@pytest.mark.thorough
@pytest.mark.parametrize("path", first_is_quick(LOCKED_AT))
def test_sigterm_ends_a_crawl_that_waits_for_a_lock(tmp_path, site, path):
    database = tmp_path / "news.sqlite"
    open_database(f"sqlite:///{database}").close()
    other = lock_when(site, path, database)
    with started_crawl(site.feeds, database=database) as run:
        wait_for(lambda: path in site.paths(), 60)
        wait_for(lambda: WAITING in log_of(database), 120)
        run.terminate()
        run.wait(timeout=300)
        other.close()
    log = log_of(database)
    assert run.returncode == 1
    assert "state failed (aborted: it was stopped)" in log
    assert "Traceback" not in log


@pytest.mark.thorough
def test_sigterm_ends_a_crawl_that_waits_for_a_lock_at_its_start(tmp_path, site):
    database = tmp_path / "news.sqlite"
    open_database(f"sqlite:///{database}").close()
    with closing(sqlite3.connect(database, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        with started_crawl(site.feeds, database=database) as run:
            wait_for(lambda: WAITING in log_of(database), 120)
            run.terminate()
            run.wait(timeout=300)
    assert run.returncode != 0
    assert "Traceback" not in log_of(database)
    assert site.paths() == []
