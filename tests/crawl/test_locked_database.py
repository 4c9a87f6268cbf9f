"""Another program locks the database of a crawl: that waits, and hears of SIGTERM meanwhile."""

import sqlite3
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from newscrawl.storage import open_database
from tests.site.crawling import PROJECT, crawl_command, crawl_environment
from tests.site.faults import Answer, listing, story
from tests.site.server import SiteServer

PATHS = tuple(f"/story/{number}" for number in range(6))
# Longer than four tries of five seconds each, after which a crawl once gave up.
LOCKED_FOR = 24.0


@pytest.fixture
def site() -> Iterator[SiteServer]:
    with SiteServer() as site:
        site.routes["/robots.txt"] = lambda _: Answer(status=404)
        site.routes["/feed.xml"] = lambda _: Answer(
            body=listing(site.url, PATHS), kind="application/xml"
        )
        for path in PATHS:
            site.routes[path] = lambda _, path=path: Answer(body=story(f"About {path}", "Siemens"))
        yield site


@contextmanager
def locked(database: Path) -> Iterator[sqlite3.Connection]:
    """A lock of another program, as SQLite sees it."""
    other = sqlite3.connect(database, isolation_level=None, timeout=60, check_same_thread=False)
    other.execute("BEGIN EXCLUSIVE")
    try:
        yield other
    finally:
        other.close()


@contextmanager
def a_crawl(site: SiteServer, database: Path) -> Iterator[subprocess.Popen[str]]:
    run = subprocess.Popen(
        crawl_command("ft", [f"feeds={site.url}/feed.xml"]),
        cwd=PROJECT,
        env=crawl_environment(database),
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield run
    finally:
        run.kill()
        run.communicate(timeout=60)


def asked_for(site: SiteServer, path: str) -> None:
    deadline = time.monotonic() + 60
    while path not in site.paths() and time.monotonic() < deadline:
        time.sleep(0.01)
    assert path in site.paths()


def lock_when(site: SiteServer, path: str, database: Path) -> sqlite3.Connection:
    """Have the lock taken before the site answers to a path."""
    other = sqlite3.connect(database, isolation_level=None, timeout=60, check_same_thread=False)
    usual = site.routes[path]

    def answer(attempt: int) -> Answer:
        other.execute("BEGIN EXCLUSIVE")
        return usual(attempt)

    site.routes[path] = answer
    return other


@pytest.mark.parametrize("path", ["/feed.xml", "/story/3"])
def test_crawl_waits_for_a_locked_database(tmp_path: Path, site: SiteServer, path: str) -> None:
    database = tmp_path / "news.sqlite"
    open_database(f"sqlite:///{database}").close()
    other = lock_when(site, path, database)
    with a_crawl(site, database) as run:
        asked_for(site, path)
        time.sleep(LOCKED_FOR)
        assert run.poll() is None
        other.rollback()
        other.close()
        _, log = run.communicate(timeout=60)
    assert run.returncode == 0, log
    assert "6 new, 0 revised, 0 unchanged, 18 mentions; state ok" in log
    assert log.count(f"the database {database} is locked by another program: waiting") == 1
    assert "CRITICAL" not in log


@pytest.mark.parametrize("path", ["/feed.xml", "/story/3"])
def test_sigterm_ends_a_crawl_that_waits_for_a_lock(
    tmp_path: Path, site: SiteServer, path: str
) -> None:
    database = tmp_path / "news.sqlite"
    open_database(f"sqlite:///{database}").close()
    other = lock_when(site, path, database)
    with a_crawl(site, database) as run:
        asked_for(site, path)
        time.sleep(2)  # it waits by now
        began = time.monotonic()
        run.terminate()
        _, log = run.communicate(timeout=60)
        took = time.monotonic() - began
        other.close()
    print(f"ended after {took:.1f} s")
    assert took < 30  # ten on a machine that has nothing else to do
    assert run.returncode == 1
    assert "state failed (broken off: it was stopped)" in log
    assert "Traceback" not in log


def test_sigterm_ends_a_crawl_that_waits_for_a_lock_at_its_start(
    tmp_path: Path, site: SiteServer
) -> None:
    database = tmp_path / "news.sqlite"
    open_database(f"sqlite:///{database}").close()
    with locked(database), a_crawl(site, database) as run:
        time.sleep(6)
        assert run.poll() is None
        run.terminate()
        _, log = run.communicate(timeout=30)
    assert run.returncode != 0
    assert "Traceback" not in log
    assert site.paths() == []
