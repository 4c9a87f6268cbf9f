"""newscrawl status: what a person and a program see of the watch."""

import csv
import io
import json
import os
import pty
import re
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from newscrawl import config
from newscrawl.items import Origin
from newscrawl.storage import Database, open_database
from newscrawl.storage.frontier.listings import Schedule
from newscrawl.storage.frontier.queue import open_frontier
from newscrawl.storage.leases import (
    Leases,
    LeaseTerms,
    WorkerFacts,
    record_worker_start,
)
from newscrawl.storage.source_stats import Checkup, record_checkups

NOW = datetime.now(UTC)
TODAY = NOW.date()
SCHEDULE = Schedule(
    revisits=(), retries=(), poll_min=timedelta(minutes=1), poll_max=timedelta(hours=1)
)


def crawled(database: Database, slug: str, *, hours_ago: float = 0.0, **counts: int) -> None:
    """A crawl of a registered source, that long ago, with its counts."""
    moment = NOW - timedelta(hours=hours_ago)
    run = database.start_run(slug)
    frontier = open_frontier(database, slug, run, SCHEDULE)
    type(frontier)(
        database=database,
        source_id=frontier.source_id,
        run_id=run,
        schedule=SCHEDULE,
        clock=lambda: moment,
    ).finish([])
    database.finish_run(run, "finished", {f"newscrawl/{name}": n for name, n in counts.items()})


@pytest.fixture
def store(own_database: Path) -> Iterator[Database]:
    with open_database(f"sqlite:///{own_database}") as database:
        fill(database)
        yield database


def fill(database: Database) -> None:
    facts = [Origin(slug, slug, "gb", "en", "https://x.example/") for slug in ("a", "b", "c", "d")]
    leases = Leases(database, "host:1:x", LeaseTerms(length=timedelta(minutes=2)))
    leases.register(facts)
    facts_of_worker = WorkerFacts(host="host", pid=1, slots=4, version="0.1.0")
    record_worker_start(database, "host:1:x", facts_of_worker)
    crawled(database, "a", articles_new=12, listings_read=1, pages_failed=3)
    for day in (2, 1, 0):
        state = "failed" if day == 1 else "ok"
        database.record_coverage("a", TODAY - timedelta(days=day), state, 5, 5)
    crawled(database, "b", hours_ago=7, articles_new=3, listings_read=1)
    leases.take("c")
    leases.release("c", "failed", 1, "c: 0 found, 0 mentions; state failed (no feed could be read)")


def record_of(ran: Any, slug: str) -> dict[str, Any]:
    return next(one for one in json.loads(ran.out)["sources"] if one["source"] == slug)


def test_table_shows_sources_that_need_attention(store, newscrawl):
    ran = newscrawl("status")
    assert ran.code == 0
    lines = ran.out.splitlines()
    assert "1 worker on 1 machine: 0 of 4 slots busy, 0 sources queued." in ran.out
    assert "New articles: 15 in 1 h, 15 in 24 h. Sources: 1 failing, 1 late, 1 never" in ran.out
    (failing,) = (line for line in lines if line.lstrip().startswith("c "))
    assert "failing" in failing
    assert "no feed could be read" in failing
    assert any(line.lstrip().startswith("b ") and "late" in line for line in lines)
    assert max(map(len, lines)) <= 80


def test_wide_table_has_the_names_of_sources(store, newscrawl, monkeypatch):
    store.register_source("c", "The Clarion", "gb", "en", "https://c.example/")
    monkeypatch.setenv("COLUMNS", "130")
    assert re.search(r"^ c +The Clarion +failing ", newscrawl("status").out, re.MULTILINE)
    monkeypatch.setenv("COLUMNS", "100")
    assert "The Clarion" not in newscrawl("status").out


def test_source_that_was_only_checked_is_not_counted(store, newscrawl):
    store.register_source("e", "E", "gb", "en", "https://e.example/")
    checkup = Checkup(slug="e", state="reachable", listings=1, working=1)
    record_checkups(store, [checkup])
    shown = " ".join(newscrawl("status").out.split())
    assert "Sources: 1 failing, 1 late, 1 never crawled, 1 healthy." in shown
    assert "e " in newscrawl("status", "--source", "e").out


def test_named_source_is_shown(store, newscrawl):
    store.close()
    ran = newscrawl("status", "--source", "ft")
    assert re.search(r"^ ?ft +never crawled ", ran.out, re.MULTILINE)
    assert "not shown" not in ran.out


@pytest.mark.parametrize(
    ("slug", "health", "facts"),
    [
        ("a", "healthy", {"new_day": 12, "pages_failed_day": 3, "gap_days": 1, "failures": 0}),
        ("b", "late", {"new_day": 3, "failures": 0, "coverage": None}),
        ("c", "failing", {"new_day": 0, "failures": 1, "last_start": None}),
        ("d", "never_crawled", {"runs_day": 0, "last_success": None}),
    ],
)
def test_json_lists_each_source(store, newscrawl, slug, health, facts):
    record = record_of(newscrawl("status", "--format", "json"), slug)
    assert record["health"] == health
    assert {name: record[name] for name in facts} == facts


def test_gap_is_named_by_its_day(store, newscrawl):
    record = record_of(newscrawl("status", "--format", "json"), "a")
    assert record["gaps"] == [(TODAY - timedelta(days=1)).isoformat()]


def test_csv_has_one_row_per_source(store, newscrawl):
    ran = newscrawl("status", "--source", "a", "--source", "c", "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(ran.out)))
    assert [(row["source"], row["health"]) for row in rows] == [("a", "healthy"), ("c", "failing")]


def test_running_crawl_is_shown_with_its_worker(store, newscrawl):
    Leases(store, "host:1:x", LeaseTerms(length=timedelta(minutes=2))).take("b")
    ran = newscrawl("status", "--format", "json")
    assert record_of(ran, "b")["worker"] == "host:1:x"
    assert record_of(ran, "b")["health"] == "healthy"
    (worker,) = json.loads(ran.out)["workers"]
    assert (worker["slots"], worker["running"], worker["silent"]) == (4, 1, False)


def test_next_digest_is_that_of_the_monitor_that_runs(store, newscrawl, monkeypatch):
    how = "No digest is scheduled: NEWSCRAWL_DIGEST='monday 07:00' does, for newscrawl monitor."
    assert how in " ".join(newscrawl("status").out.split())
    monkeypatch.setattr(config, "NEWSCRAWL_DIGEST", "daily 07:00")
    ran = newscrawl("status")
    assert re.search(
        r"Next digest: daily, \w+day 20[-0-9]+ 07:00 UTC, as soon as newscrawl monitor runs\.",
        " ".join(ran.out.split()),
    )
    facts = WorkerFacts(
        host="h", pid=2, slots=1, version="0.1.0", digests="monday 08:30 Europe/Berlin"
    )
    record_worker_start(store, "host:2:x", facts)
    ran = newscrawl("status")
    assert re.search(r"Next digest: weekly, Monday 20[-0-9]+ 08:30 Europe/Berlin\.", ran.out)
    (digest,) = json.loads(newscrawl("status", "--format", "json").out)["digests"]
    assert (digest["span"], digest["monitored"]) == ("weekly", True)
    assert datetime.fromisoformat(digest["at"]).weekday() == 0


def test_database_without_a_crawl_is_exit_code_1(tmp_path, newscrawl):
    open_database(f"sqlite:///{tmp_path}/newscrawl.sqlite").close()
    ran = newscrawl("status")
    assert ran.code == 1
    assert "No worker is running: newscrawl monitor starts one." in ran.out


def test_check_fails_when_no_monitor_runs(store, newscrawl):
    assert newscrawl("status", "--check").code == 0
    from newscrawl.storage.leases import record_heartbeat  # noqa: PLC0415

    record_heartbeat(store, "host:1:x", stopped=True)
    assert newscrawl("status", "--check").code == 1


def test_watch_option_refreshes_the_terminal(store, tmp_path):
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "newscrawl", "status", "--watch", "--every", "0.2"]
    environment = {**os.environ, "NEWSCRAWL_DATABASE_URL": f"sqlite:///{tmp_path}/newscrawl.sqlite"}
    with subprocess.Popen(
        command, stdout=theirs, stderr=theirs, cwd=tmp_path, env=environment | {"TERM": "xterm"}
    ) as shown:
        os.close(theirs)
        seen = b""
        while seen.count(b"Monitoring at") < 3:
            seen += os.read(ours, 65536)
        shown.terminate()
    os.close(ours)
    assert seen.count(b"Sources: ") >= 2


@pytest.mark.parametrize(
    ("note", "remark"),
    [
        ("d: 0 found, 0 mentions; state failed (no feed)", "no feed"),
        ("The crawl stops: a full disk; d: 4 found; state ok", "The crawl stops: a full disk"),
        ("killed by signal 9", "killed by signal 9"),
    ],
    ids=["by the site", "by this machine", "killed"],
)
def test_failure_is_shown_with_its_cause(newscrawl, store, note, remark):
    leases = Leases(
        store, "host:2:x", LeaseTerms(length=timedelta(minutes=2), min_pause=timedelta(0))
    )
    leases.register([Origin("d", "d", "gb", "en", "https://x.example/")])
    leases.take("d")
    leases.release("d", "failed", 1, note)
    (row,) = json.loads(newscrawl("status", "--source", "d", "-f", "json").out)["sources"]
    assert row["remark"] == f"{remark} (failed once)"


def test_late_source_is_due_since_a_day_that_is_named(store, newscrawl, monkeypatch):
    monkeypatch.setenv("COLUMNS", "130")
    crawled(store, "d", hours_ago=30)
    ran = newscrawl("status")
    due = re.search(r"^ d .*due since (\d{4}-\d\d-\d\d) \d\d:\d\d", ran.out, re.MULTILINE)
    assert due, ran.out
    assert due[1] < TODAY.isoformat()


def test_next_crawl_is_shown_to_people_and_programs(store, newscrawl):
    ran = newscrawl("status")
    (line,) = (one for one in ran.out.splitlines() if one.startswith("Next crawls due: "))
    assert re.fullmatch(r"Next crawls due: b [\d: -]+, a [\d: -]+ \(UTC\)\.", line)
    rows = {
        one["source"]: one for one in json.loads(newscrawl("status", "-f", "json").out)["sources"]
    }
    # The poll of b was due six hours ago; a rests after its crawl of a moment ago.
    assert datetime.fromisoformat(rows["b"]["next_at"]) < NOW
    assert datetime.fromisoformat(rows["a"]["next_at"]) > NOW
    assert rows["d"]["next_at"] is None


def test_next_crawl_is_in_the_list_of_sources(store, newscrawl):
    store.register_source("ft", "FT", "gb", "en", "https://www.ft.com/")
    crawled(store, "ft")
    listed = newscrawl("sources", "list", "--country", "gb")
    assert "next due" in listed.out
    lines = listed.out.splitlines()
    assert max(map(len, lines)) <= 80
    # Heading, rule and note: no name is broken into lines.
    assert len([line for line in lines if line.strip() and "  gb  " not in line]) == 3
    rows = json.loads(newscrawl("sources", "list", "-f", "json").out)
    (moment,) = (one["next_crawl"] for one in rows if one["slug"] == "ft")
    assert datetime.fromisoformat(moment) > NOW
