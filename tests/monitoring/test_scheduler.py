"""The queue of crawls: where it is kept, and that only JSON comes out of it."""

import gc
import logging
import os
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import UTC, datetime, timedelta
from io import StringIO
from pathlib import Path
from threading import Event
from typing import Any

import psycopg
import pytest
from huey import PostgresHuey, SqliteHuey
from huey.api import Huey
from sqlalchemy import insert, update

from newscrawl.config import SettingError
from newscrawl.items import Origin
from newscrawl.monitoring.scheduler import (
    JsonSerializer,
    Monitor,
    MonitorPlan,
    QueueErrorFilter,
    open_queue,
    same_host_sources,
)
from newscrawl.monitoring.supervisor import CrawlCommand
from newscrawl.sources import Source
from newscrawl.storage import Database, open_database, upgrade_database
from newscrawl.storage.leases import Leases, LeaseTerms
from newscrawl.storage.models import Lease, Poll


def test_queue_is_a_file_beside_the_articles(tmp_path):
    queue = open_queue(f"sqlite:///{tmp_path}/news.sqlite?timeout=3")
    assert isinstance(queue, SqliteHuey)
    assert (tmp_path / "news.queue.sqlite").exists()
    queue.storage.close()


def test_queue_has_its_own_tables_in_postgresql(postgres_url):
    queue = open_queue(postgres_url)
    assert isinstance(queue, PostgresHuey)
    assert queue.pending_count() == 0
    queue.storage.close()


@pytest.mark.thorough
def test_workers_open_a_new_queue_at_the_same_moment(postgres_url):
    with ThreadPoolExecutor(8) as pool:
        queues = list(pool.map(open_queue, [postgres_url] * 8))
    assert [queue.pending_count() for queue in queues] == [0] * 8
    for queue in queues:
        queue.storage.close()


@pytest.mark.parametrize("name", ["DuplicateTable", "DuplicateObject", "UniqueViolation"])
def test_queue_opens_where_another_worker_creates_its_tables_first(name, postgres_url, monkeypatch):
    tries = []

    def made(*args: Any, **kwargs: Any) -> PostgresHuey:
        tries.append(name)
        if len(tries) == 1:
            raise getattr(psycopg.errors, name)("it is there already")
        return PostgresHuey(*args, **kwargs)

    monkeypatch.setattr("newscrawl.monitoring.scheduler.PostgresHuey", made)
    queue = open_queue(postgres_url)
    assert queue.pending_count() == 0
    assert len(tries) == 2
    queue.storage.close()


def due_source(folder: Path, **more: Any) -> tuple[Database, Huey, Monitor]:
    """Return a monitor of one source that is due, with `more` in its plan."""
    url = f"sqlite:///{folder}/news.sqlite"
    upgrade_database(url)
    database, queue = open_database(url), open_queue(url)
    plan = MonitorPlan(
        sources=[Origin("ft", "FT", "gb", "en", "https://ft.example/")],
        same_host={},
        workers=1,
        **{
            "command": CrawlCommand(),
            "terms": LeaseTerms(length=timedelta(minutes=5)),
            "inspect_every": float("inf"),
            **more,
        },
    )
    monitor = Monitor(database, queue, plan)
    Leases(database, "a", plan.terms).register(plan.sources)
    return database, queue, monitor


def let_lease_length_pass(database: Database) -> None:
    long_ago = datetime(2020, 1, 1, tzinfo=UTC)
    database.write(lambda session: session.execute(update(Lease).values(queued_until=long_ago)))


def test_task_that_the_queue_has_lost_is_queued_again_after_the_length_of_a_lease(tmp_path):
    database, queue, monitor = due_source(tmp_path)
    with database, closing(queue.storage):
        assert monitor.schedule() == 1
        queue.flush()
        assert monitor.schedule() == 0
        let_lease_length_pass(database)
        assert monitor.schedule() == 1
        assert [task.args for task in queue.pending() if task.args] == [["ft"]]


def test_source_that_a_worker_has_read_and_not_begun_is_waited_for(tmp_path):
    database, queue, monitor = due_source(tmp_path)
    with database, closing(queue.storage):
        assert not monitor.has_queued_sources()
        assert monitor.schedule() == 1
        for _ in queue.pending():
            queue.dequeue()
        assert queue.pending_count() == 0
        assert monitor.has_queued_sources()
        assert Leases(database, "b", LeaseTerms(length=timedelta(minutes=5))).take("ft")
        assert not monitor.has_queued_sources()


@pytest.mark.parametrize(("rest", "due"), [(1, 1), (0, 0), (60, 0)])
def test_source_is_crawled_again_after_its_pause(tmp_path, rest, due):
    database, queue, monitor = due_source(tmp_path)
    at = datetime.now(UTC) - timedelta(minutes=5)
    due_at = at + timedelta(minutes=rest)
    poll = insert(Poll).values(source_id=1, polled_at=at, next_poll_at=due_at, interval_seconds=60)
    with database, closing(queue.storage):
        database.write(lambda session: session.execute(poll))
        assert monitor.schedule() == due


def test_task_that_waits_in_the_queue_is_not_queued_twice(tmp_path):
    database, queue, monitor = due_source(tmp_path)
    with database, closing(queue.storage):
        assert monitor.schedule() == 1
        let_lease_length_pass(database)
        assert monitor.schedule() == 0
        assert [task.args for task in queue.pending() if task.args] == [["ft"]]


def test_error_of_an_unreachable_queue_hides_its_password():
    with pytest.raises(SettingError, match="can't reach the queue") as raised:
        open_queue("postgresql://me:hush@127.0.0.1:1/news")
    assert "hush" not in str(raised.value)


# Huey leaves the connection to a file that is not a database to the collector of garbage, which
# Python 3.13 warns about, in whatever test it happens.
@pytest.mark.filterwarnings("ignore:unclosed database:ResourceWarning")
def test_file_that_is_no_queue_is_named(tmp_path):
    file = tmp_path / "news.queue.sqlite"
    file.write_text("no database, but a note of more than a hundred characters " * 3, "utf-8")
    for url in (f"sqlite:///{tmp_path}/news.sqlite", f"sqlite:///{file}/missing/news.sqlite"):
        with pytest.raises(SettingError, match=r"can't open the queue .*news\.queue\.sqlite"):
            open_queue(url)
    gc.collect()


def test_queue_outage_is_logged_in_one_line_a_minute():
    stream = StringIO()
    handler = logging.StreamHandler(stream)
    handler.addFilter(QueueErrorFilter())
    logger = logging.Logger("huey.consumer.Worker")  # noqa: LOG001 - none that others see
    logger.addHandler(handler)
    for _ in range(100):
        try:
            raise psycopg.OperationalError("connection is bad:\n\tNo such file")
        except psycopg.Error:
            logger.exception("Error reading from queue")
    logger.error("Something else")
    assert stream.getvalue().splitlines() == [
        "the queue can't be reached: connection is bad: No such file",
        "Something else",
    ]


def test_task_passes_through_the_queue(tmp_path):
    queue = open_queue(f"sqlite:///{tmp_path}/news.sqlite")
    crawled: list[str] = []
    later = queue.task(name="crawl")(crawled.append)
    later("ft")
    task = queue.dequeue()
    queue.execute(task)
    assert crawled == ["ft"]
    queue.storage.close()


def test_pickle_in_the_queue_is_refused():
    with pytest.raises(ValueError, match=r"codec|JSON|Expecting"):
        JsonSerializer().deserialize(b"\x80\x04cos\nsystem\n(S'true'\ntR.")


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

    database, queue, monitor = due_source(tmp_path, inspect_every=0.0, **{slow: send})
    with database, closing(queue.storage):
        assert monitor.schedule() == 1
        assert begun.wait(120)
        monitor.schedule()
        answered.set()
        assert calls == [slow]  # one at a time


def test_invalid_address_of_a_digest_is_one_line_of_the_log(tmp_path, caplog):
    def send(_: Callable[[], bool]) -> None:
        raise SettingError("NEWSCRAWL_SMTP_URL: not the URL of a mail server")

    database, queue, monitor = due_source(tmp_path, send_digests=send)
    with database, closing(queue.storage):
        monitor.inspect()
    assert caplog.messages == ["No digest: NEWSCRAWL_SMTP_URL: not the URL of a mail server"]


class _FailingCrawls:
    """Answers in the place of a CrawlServer that each crawl has ended with exit code 1."""

    def __init__(self, _environment: object) -> None:
        pass

    def start(self, _arguments: Sequence[str], files: Sequence[int]) -> None:
        os.write(files[2], b"1\n1\n")


@pytest.mark.thorough
def test_memory_of_a_monitor_does_not_grow_with_its_crawls(tmp_path, monkeypatch):
    monkeypatch.setattr("newscrawl.monitoring.supervisor.CrawlServer", _FailingCrawls)
    # pytest keeps each logged line.
    monkeypatch.setattr("newscrawl.monitoring.scheduler.logger.disabled", True)
    terms = LeaseTerms(length=timedelta(minutes=5), min_pause=timedelta(0))
    database, queue, monitor = due_source(
        tmp_path, terms=terms, command=CrawlCommand(logs=tmp_path)
    )
    monitor.schedule()  # the first round inspects and prunes, in other threads
    queue.flush()

    def crawl(times: int) -> int:
        for _ in range(times):
            let_lease_length_pass(database)
            assert monitor.schedule() == 1
            queue.execute(queue.dequeue())
        gc.collect()
        return sys.getallocatedblocks()

    with database, closing(queue.storage):
        before = crawl(50)  # fills the caches of statements
        assert (crawl(300) - before) / 300 < 0.6
    assert monitor.failed == {"ft"}
