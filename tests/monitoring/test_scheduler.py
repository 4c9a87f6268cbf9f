"""The rounds of a monitor: which sources it begins to crawl, and what it does besides."""

import gc
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from sqlalchemy import insert, update

from newscrawl.config import SettingError
from newscrawl.items import Origin
from newscrawl.monitoring.scheduler import Monitor, MonitorPlan, same_host_sources
from newscrawl.monitoring.supervisor import CrawlCommand, CrawlResult, Supervisor
from newscrawl.sources import Source
from newscrawl.storage import Database, StorageError, open_database, upgrade_database
from newscrawl.storage.leases import Leases, LeaseTerms
from newscrawl.storage.models import Lease, Poll
from tests.watching import wait_for


class _FailingCrawls:
    """Answers in the place of a CrawlServer that each crawl has ended with exit code 1."""

    def __init__(self, _environment: object) -> None:
        pass

    def start(self, _arguments: Sequence[str], files: Sequence[int]) -> None:
        os.write(files[2], b"1\n1\n")

    def close(self) -> None:
        pass


@pytest.fixture(autouse=True)
def failing_crawls(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let each crawl that a monitor begins fail at once."""
    monkeypatch.setattr("newscrawl.monitoring.supervisor.CrawlServer", _FailingCrawls)


TERMS = LeaseTerms(length=timedelta(minutes=5))


@contextmanager
def due_source(
    folder: Path, slugs: Sequence[str] = ("ft",), **more: Any
) -> Iterator[tuple[Database, Monitor]]:
    """A monitor of sources that are due, with `more` in its plan."""
    url = f"sqlite:///{folder}/news.sqlite"
    upgrade_database(url)
    plan = MonitorPlan(
        sources=[Origin(slug, slug, "gb", "en", f"https://{slug}.example/") for slug in slugs],
        same_host={},
        workers=1,
        **{
            "command": CrawlCommand(),
            "terms": TERMS,
            "inspect_every": float("inf"),
            **more,
        },
    )
    with open_database(url) as database:
        monitor = Monitor(database, plan)
        Leases(database, "a", plan.terms).register(plan.sources)
        yield database, monitor
        monitor._workers.shutdown()


def let_lease_length_pass(database: Database) -> None:
    long_ago = datetime(2020, 1, 1, tzinfo=UTC)
    database.write(lambda session: session.execute(update(Lease).values(queued_until=long_ago)))


def test_source_that_no_worker_has_taken_is_placed_again_after_the_length_of_a_lease(tmp_path):
    with due_source(tmp_path) as (database, monitor):
        assert Leases(database, "dead", TERMS).place(["ft"], 1) == ["ft"]
        assert monitor.schedule() == 0
        let_lease_length_pass(database)
        assert monitor.schedule() == 1


def test_crawl_that_ends_within_a_round_does_not_end_the_monitor(tmp_path, monkeypatch):
    with due_source(tmp_path, once=True) as (_, monitor):
        monitor._crawling.add("ft")

        def schedule() -> int:
            monitor._crawling.clear()
            return 0

        monkeypatch.setattr(monitor, "schedule", schedule)
        assert monitor.begin_round()
        assert not monitor.begin_round()


def test_source_that_the_database_does_not_let_be_taken_counts_as_failed(tmp_path, monkeypatch):
    def refuse(*_arguments: object) -> bool:
        raise StorageError("the database is locked")

    with due_source(tmp_path, once=True) as (_, monitor):
        monkeypatch.setattr(Leases, "take", refuse)
        monitor.run()
        assert monitor.failed == {"ft"}


@pytest.mark.parametrize(("rest", "due"), [(1, 1), (0, 0), (60, 0)])
def test_source_is_crawled_again_after_its_pause(tmp_path, rest, due):
    at = datetime.now(UTC) - timedelta(minutes=5)
    due_at = at + timedelta(minutes=rest)
    poll = insert(Poll).values(source_id=1, polled_at=at, next_poll_at=due_at, interval_seconds=60)
    with due_source(tmp_path) as (database, monitor):
        database.write(lambda session: session.execute(poll))
        assert monitor.schedule() == due


def test_no_more_sources_are_placed_than_workers_are_free(tmp_path, monkeypatch):
    begun, ended = Event(), Event()

    def run(_: Supervisor, _slug: str) -> CrawlResult:
        begun.set()
        ended.wait(120)
        return CrawlResult(outcome="done", code=0, note="")

    monkeypatch.setattr(Supervisor, "run", run)
    with due_source(tmp_path, slugs=("ft", "bbc")) as (database, monitor):
        assert monitor.schedule() == 1
        assert begun.wait(120)
        let_lease_length_pass(database)
        assert monitor.schedule() == 0
        ended.set()


def source(slug: str, home: str, *feeds: str) -> Source:
    return Source(
        slug=slug, name=slug, country="gb", languages=("en",), home=home, feeds=tuple(feeds)
    )


def test_sources_of_one_host_are_found():
    sharing = same_host_sources(
        [
            source("a", "https://www.a.example/en", "https://feeds.example/a"),
            source("b", "https://a.example/fr"),
            source("c", "https://c.example/", "https://feeds.example/c"),
            source("d", "https://d.example/"),
        ]
    )
    assert sharing == {"a": {"b", "c"}, "b": {"a"}, "c": {"a"}}


@pytest.mark.parametrize("slow", ["inspect", "send_digests"])
def test_slow_mail_server_delays_no_crawl(slow, tmp_path):
    begun, answered = Event(), Event()
    calls = []

    def send(*_: object) -> None:
        calls.append(slow)
        begun.set()
        answered.wait(120)

    with due_source(tmp_path, inspect_every=0.0, **{slow: send}) as (_, monitor):
        assert monitor.schedule() == 1
        assert begun.wait(120)
        monitor.schedule()
        answered.set()
        assert calls == [slow]  # one at a time


def test_invalid_address_of_a_digest_is_one_line_of_the_log(tmp_path, caplog):
    def send(_: Callable[[], bool]) -> None:
        raise SettingError("NEWSCRAWL_SMTP_URL: not the URL of a mail server")

    with due_source(tmp_path, send_digests=send) as (_, monitor):
        monitor.inspect()
    assert caplog.messages == ["No digest: NEWSCRAWL_SMTP_URL: not the URL of a mail server"]


@pytest.mark.thorough
def test_memory_of_a_monitor_does_not_grow_with_its_crawls(tmp_path, monkeypatch):
    # pytest keeps each logged line.
    monkeypatch.setattr("newscrawl.monitoring.scheduler.logger.disabled", True)
    terms = LeaseTerms(length=timedelta(minutes=5), min_pause=timedelta(0))
    command = CrawlCommand(logs=tmp_path)

    def crawl(database: Database, monitor: Monitor, times: int) -> int:
        for _ in range(times):
            let_lease_length_pass(database)
            assert monitor.schedule() == 1
            wait_for(lambda: not monitor._crawling)
        gc.collect()
        return sys.getallocatedblocks()

    with due_source(tmp_path, terms=terms, command=command) as (database, monitor):
        before = crawl(database, monitor, 50)  # fills the caches of statements
        assert (crawl(database, monitor, 300) - before) / 300 < 0.6
    assert monitor.failed == {"ft"}
