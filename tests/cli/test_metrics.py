"""newscrawl metrics: what Prometheus reads."""

import os
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.samples import Sample

from newscrawl.items import Origin
from newscrawl.monitoring.metrics import exposition
from newscrawl.storage import Database, open_database
from newscrawl.storage.leases import (
    Leases,
    LeaseTerms,
    WorkerFacts,
    record_worker_start,
)
from newscrawl.storage.source_stats import refresh_source_stats
from newscrawl.storage.status import Incident, record_incidents
from tests.receivers import free_port

STARTED = datetime.now(UTC)


@pytest.fixture
def store(own_database: Path) -> Iterator[Database]:
    with open_database(f"sqlite:///{own_database}") as database:
        fill(database)
        yield database


def fill(database: Database) -> None:
    leases = Leases(database, "host:1:x", LeaseTerms(length=timedelta(minutes=2)))
    leases.register([Origin(slug, slug, "gb", "en", "https://x.example/") for slug in "abc"])
    facts_of_worker = WorkerFacts(host="host", pid=1, slots=4, version="0.1.0")
    record_worker_start(database, "host:1:x", facts_of_worker)
    run = database.start_run("a")
    counts = {"articles_new": 12, "listings_read": 1, "pages_failed": 3, "pages_refused": 2}
    database.finish_run(run, "finished", {f"newscrawl/{name}": n for name, n in counts.items()})
    refresh_source_stats(database, datetime.now(UTC))
    leases.take("b")
    leases.place(["c"], 1)
    record_incidents(database, [Incident(kind="stale", source="a", note="nothing new")], set())


def samples(text: str) -> dict[tuple[str, tuple[str, ...]], float]:
    """Values by name and the values of the labels, in the order of these."""
    families = text_string_to_metric_families(text)
    found: list[Sample] = [sample for family in families for sample in family.samples]
    return {
        (one.name, tuple(one.labels[key] for key in sorted(one.labels))): one.value for one in found
    }


@pytest.mark.parametrize(
    ("name", "labels", "value"),
    [
        ("newscrawl_up", (), 1),
        ("newscrawl_articles_total", ("a",), 12),
        ("newscrawl_new_articles_hour", ("a",), 12),
        ("newscrawl_pages_failed_day", ("a",), 3),
        ("newscrawl_pages_withheld_day", ("refused", "a"), 2),
        ("newscrawl_pages_withheld_day", ("disallowed", "a"), 0),
        ("newscrawl_source_health", ("stale", "a"), 1),
        ("newscrawl_source_health", ("healthy", "a"), 0),
        ("newscrawl_crawl_failures", ("a",), 0),
        ("newscrawl_workers", (), 1),
        ("newscrawl_slots", (), 4),
        ("newscrawl_slots_busy", (), 1),
        ("newscrawl_queue_size", (), 1),
        ("newscrawl_incidents", ("stale", "a"), 1),
    ],
)
def test_metrics_have_the_figures_of_the_database(store, newscrawl, name, labels, value):
    ran = newscrawl("metrics")
    assert ran.code == 0
    assert samples(ran.out)[name, labels] == value


def test_articles_of_a_crawl_count_before_the_next_inspection(store, newscrawl):
    for number in (5, 2):
        store.finish_run(store.start_run("a"), "finished", {"newscrawl/articles_new": number})
    store.finish_run(store.start_run("b"), "finished", {"newscrawl/articles_new": 4})
    found = samples(newscrawl("metrics").out)
    assert found["newscrawl_articles_total", ("a",)] == 12 + 5 + 2
    assert found["newscrawl_articles_total", ("b",)] == 4


def test_last_success_is_a_timestamp(store, newscrawl):
    found = samples(newscrawl("metrics").out)
    moment = found["newscrawl_last_success_timestamp_seconds", ("a",)]
    assert STARTED.timestamp() - 1 < moment < datetime.now(UTC).timestamp() + 1
    assert ("newscrawl_last_success_timestamp_seconds", ("c",)) not in found


def test_failing_database_is_reported_as_down(tmp_path):
    database = open_database(f"sqlite:///{tmp_path}/news.sqlite")
    database.close()
    (tmp_path / "news.sqlite").write_bytes(b"no database at all" * 100)
    for leftover in tmp_path.glob("news.sqlite-*"):
        leftover.unlink()
    with database:
        assert samples(exposition(database, ["a"])) == {("newscrawl_up", ()): 0}


@contextmanager
def served(folder: Path) -> Iterator[str]:
    port = free_port()
    command = [sys.executable, "-m", "newscrawl", "metrics", "--serve", str(port)]
    environment = {**os.environ, "NEWSCRAWL_DATABASE_URL": f"sqlite:///{folder}/newscrawl.sqlite"}
    with subprocess.Popen(
        command, cwd=folder, env=environment, stderr=subprocess.PIPE, text=True
    ) as server:
        try:
            assert server.stderr.readline() == f"Metrics at http://127.0.0.1:{port}/metrics\n"
            yield f"http://127.0.0.1:{port}/metrics"
        finally:
            server.terminate()


def scrape(url: str) -> dict[tuple[str, tuple[str, ...]], float]:
    with urllib.request.urlopen(url, timeout=30) as answer:  # noqa: S310 - our own server
        return samples(answer.read().decode())


def test_metrics_are_computed_at_each_scrape(store, tmp_path):
    with served(tmp_path) as url:
        before = scrape(url)
        record_incidents(store, [Incident(kind="blocked", source="b", note="x")], set())
        after = scrape(url)
    assert ("newscrawl_incidents", ("blocked", "b")) not in before
    assert after["newscrawl_incidents", ("blocked", "b")] == 1
