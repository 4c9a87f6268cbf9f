"""Two workers share a PostgreSQL database; one of them is killed in the midst of a crawl."""

import os
import signal
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any
from urllib.parse import urlsplit

import psycopg
import pytest

from newscrawl.storage import upgrade_database
from tests.site.crawling import HASTE
from tests.traffic import Traffic
from tests.watching import Sites, alive, crawls, environment, monitor_command, started, wait_for

SLUGS = ("one", "two")
PAGES = 24
DELAY = 0.4


@pytest.fixture
def sites() -> Iterator[Sites]:
    with Sites() as opened:
        yield opened


def ask(url: str, query: str) -> list[tuple[Any, ...]]:
    with psycopg.connect(url, autocommit=True) as connection:
        return connection.execute(query).fetchall()  # type: ignore[call-overload, no-any-return]


@pytest.mark.thorough
@pytest.mark.parametrize("dies", ["the machine", "the monitor alone"])
def test_another_monitor_finishes_crawls_of_a_killed_one(sites, tmp_path, postgres_url, dies):
    urls = [url for slug in SLUGS for url in sites.add(slug, PAGES, delay=0.05)]
    upgrade_database(postgres_url)
    settings = environment(sites.file(tmp_path, SLUGS), postgres_url, NEWSCRAWL_LEASE="6")
    command = monitor_command(SLUGS, "--workers", "1")
    with ExitStack() as stack:
        machines = []
        for name in ("a", "b"):
            (tmp_path / name).mkdir()
            machines.append(stack.enter_context(started(command, tmp_path / name, settings)))
        slug, victim = _begun(postgres_url)
        _kill(victim, dies)
        (survivor,) = (machine for machine in machines if machine.pid != victim)
        wait_for(lambda: _stored(postgres_url) == len(urls), 240)
        wait_for(lambda: ask(postgres_url, "SELECT 1 FROM leases WHERE holder IS NOT NULL") == [])
        survivor.send_signal(signal.SIGTERM)
        _, log = survivor.communicate(timeout=240)
    assert survivor.returncode == 0, log
    assert f"INFO {slug}: the crawl starts" in log
    stored = ask(postgres_url, "SELECT url, revision FROM articles ORDER BY id")
    assert sorted(stored) == [(url, 1) for url in sorted(urls)]
    assert ask(postgres_url, "SELECT url FROM frontier WHERE state <> 'done'") == []
    _assert_one_at_a_time(postgres_url)


@pytest.mark.thorough
def test_crawl_of_a_stopped_monitor_sends_nothing_after_another_has_begun(sites, tmp_path):
    urls = sites.add("one", 60)
    database = f"sqlite:///{tmp_path}/news.sqlite"
    upgrade_database(database)
    settings = environment(sites.file(tmp_path, ["one"]), database, NEWSCRAWL_LEASE="6")
    pace = {**HASTE, "DOWNLOAD_DELAY": str(DELAY), "AUTOTHROTTLE_ENABLED": "0"}
    command = monitor_command(["one"], "--workers", "1", pace=pace)
    with ExitStack() as stack:
        for name in ("a", "b"):
            (tmp_path / name).mkdir()
            monitor = stack.enter_context(started(command, tmp_path / name, settings))
            if name == "a":
                wait_for(lambda: sites.visits > 5, 240)
                monitor.send_signal(signal.SIGSTOP)
        wait_for(
            lambda: set(sites.by_slug["one"].paths()) >= {urlsplit(url).path for url in urls}, 240
        )
    traffic = Traffic.of({"one": sites.by_slug["one"].visits})
    assert sites.by_slug["one"].paths().count("/robots.txt") == 2
    assert traffic.overlaps() == 0


@pytest.mark.thorough
def test_monitor_survives_a_restart_of_the_database(sites, tmp_path, postgres_url):
    sites.add("one", 1)
    upgrade_database(postgres_url)
    settings = environment(sites.file(tmp_path, ["one"]), postgres_url)
    last = "SELECT max(seen_at) FROM workers"
    with started(monitor_command(["one"]), tmp_path, settings) as monitor:
        wait_for(lambda: ask(postgres_url, "SELECT 1 FROM leases WHERE code = 0"))
        ask(
            postgres_url,
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()",
        )
        before = ask(postgres_url, last)
        wait_for(lambda: ask(postgres_url, last) > before, 30)
        monitor.send_signal(signal.SIGTERM)
        _, log = monitor.communicate(timeout=240)
    assert monitor.returncode == 0, log


def _begun(url: str) -> tuple[str, int]:
    """A source of which some articles are stored and some are not, and its worker's process."""
    stored = "(SELECT count(*) FROM articles a WHERE a.source_id = leases.source_id)"
    begun = (
        "SELECT slug, split_part(holder, ':', 2)::int FROM leases JOIN sources ON id = source_id "  # noqa: S608 - ours
        f"WHERE holder IS NOT NULL AND {stored} BETWEEN 3 AND {PAGES // 2}"
    )
    wait_for(lambda: ask(url, begun), 240)
    ((slug, pid), *_) = ask(url, begun)
    return slug, pid


def _kill(monitor: int, dies: str) -> None:
    (crawl,) = crawls(monitor)
    os.kill(monitor, signal.SIGKILL)
    if dies == "the machine":
        os.kill(crawl, signal.SIGKILL)
    wait_for(lambda: not alive(crawl), 20)


def _stored(url: str) -> int:
    return int(ask(url, "SELECT count(*) FROM articles")[0][0])


def _assert_one_at_a_time(url: str) -> None:
    """No run of a source began before the one before it was over, as far as that is known."""
    overlaps = ask(
        url,
        "SELECT a.id, b.id FROM runs a JOIN runs b ON a.source_id = b.source_id AND a.id < b.id "
        "WHERE b.started_at < a.finished_at",
    )
    assert overlaps == []
