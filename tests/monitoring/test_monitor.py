"""`newscrawl monitor` as a person starts it: what is due is crawled, and a stop is orderly."""

import json
import os
import re
import signal
import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from newscrawl.items import Origin
from newscrawl.storage import open_database
from newscrawl.storage.leases import Leases, LeaseTerms
from newscrawl.storage.status import next_digests
from tests.receivers import Hook
from tests.site.crawling import rows_of
from tests.watching import Sites, alive, crawls, environment, monitor_command, started, wait_for


@dataclass(frozen=True)
class Newsroom:
    """A site with sources, and the folder in which a monitor over them keeps its files."""

    sites: Sites
    folder: Path

    @property
    def database(self) -> Path:
        return self.folder / "news.sqlite"

    def environment(self, *slugs: str, **settings: str) -> dict[str, str]:
        sources = self.sites.file(self.folder, slugs)
        return environment(sources, f"sqlite:///{self.database}", **settings)

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        return [tuple(row.values()) for row in rows_of(self.database, query)]

    def execute(self, statement: str, *values: str) -> None:
        rows_of(self.database, statement, *values)

    def count(self, query: str) -> int:
        try:
            return int(self.rows(query)[0][0])
        except sqlite3.OperationalError:
            return 0

    @contextmanager
    def crawling(self, *options: str, **settings: str) -> Iterator[subprocess.Popen[str]]:
        """A monitor of a long source, some articles of which are stored."""
        self.sites.add("long", 300, delay=0.1)
        command = monitor_command(["long"], *options)
        with started(command, self.folder, self.environment("long", **settings)) as monitor:
            wait_for(lambda: self.count("SELECT count(*) FROM articles") >= 3)
            yield monitor


@pytest.fixture
def room(tmp_path: Path) -> Iterator[Newsroom]:
    with Sites() as sites:
        yield Newsroom(sites, tmp_path)


def once(
    room: Newsroom, *slugs: str, logs: str = "logs", **settings: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        monitor_command(slugs, "--once", "--logs", logs),
        cwd=room.folder,
        env=room.environment(*slugs, **settings),
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


@dataclass(frozen=True)
class Round:
    """A round of `newscrawl monitor --once` over three sources."""

    room: Newsroom
    done: subprocess.CompletedProcess[str]


SLUGS = ("one", "two", "three")


@pytest.fixture(scope="module")
def first_round(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Round]:
    with Sites() as sites:
        room = Newsroom(sites, tmp_path_factory.mktemp("monitor"))
        for slug in SLUGS:
            room.sites.add(slug)
        yield Round(room, once(room, *SLUGS))


def test_one_round_crawls_every_source_once(first_round):
    room, done = first_round.room, first_round.done
    assert done.returncode == 0, done.stderr
    assert room.count("SELECT count(*) FROM articles") == 12
    assert room.count("SELECT count(*) FROM runs") == 3
    assert "Traceback" not in done.stderr
    assert "Warning" not in done.stderr
    crawled = re.findall(r"INFO (\w+): done: \1: 4 found, .*; state ok", done.stderr)
    assert sorted(crawled) == sorted(SLUGS)


@pytest.mark.thorough
def test_sources_of_the_folder_are_watched_where_no_file_is_named(room):
    room.sites.add("one")
    done = once(room, "one", NEWSCRAWL_SOURCES="")
    assert done.returncode == 0, done.stderr
    assert room.count("SELECT count(*) FROM articles") == 4


def test_each_source_has_its_own_log(first_round):
    for slug in SLUGS:
        assert "state ok" in (first_round.room.folder / "logs" / f"{slug}.log").read_text()


def test_extraction_quality_is_counted_by_source_and_day(first_round):
    room = first_round.room
    ((counts,),) = room.rows(
        "SELECT counts FROM runs JOIN sources ON sources.id = source_id WHERE slug = 'one'"
    )
    stats = {
        name.removeprefix("newscrawl/extraction/"): value
        for name, value in json.loads(counts).items()
        if "/extraction/" in name
    }
    assert (stats["articles"], stats["undated"], stats["untitled"]) == (4, 4, 0)
    assert 0 < stats["text_characters"] < stats["page_characters"]
    days = room.rows(
        "SELECT runs, read, new, characters FROM source_stats "
        "JOIN sources ON sources.id = source_id WHERE slug = 'one'"
    )
    assert days == [(1, 4, 4, stats["median_characters"])]


@pytest.mark.thorough
def test_later_rounds_crawl_nothing_and_prune_once_a_day(first_round):
    room, visits = first_round.room, first_round.room.sites.visits
    assert "Pruned" not in first_round.done.stderr
    room.execute("UPDATE workers SET seen_at = '2026-01-01 00:00:00.000000'")
    assert "Pruned" not in once(room, *SLUGS).stderr
    room.execute("UPDATE progress SET started_at = '2026-01-01 00:00:00.000000'")
    again = once(room, *SLUGS)
    assert "INFO Pruned: 0 pages, 0 listings, 0 runs, 1 monitors, 0 incidents" in again.stderr
    assert again.returncode == 0
    assert room.sites.visits == visits


def _let_hours_pass(room: Newsroom, hours: int) -> None:
    columns = {
        "polls": ("polled_at", "next_poll_at"),
        "listings": ("checked_at", "next_poll_at"),
        "leases": ("retry_at", "ended_at"),
    }
    for table, moments in columns.items():
        for moment in moments:
            past = f"strftime('%Y-%m-%d %H:%M:%f000', {moment}, '-{hours} hours')"
            room.execute(f"UPDATE {table} SET {moment} = {past}")  # noqa: S608 - names of ours


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("before", "after", "runs", "hours"), [("3h", "10m", 2, None), ("10m", "3h", 1, 3)]
)
def test_changed_minimum_of_polls_counts_at_once(room, before, after, runs, hours):
    room.sites.add("one")
    once(room, "one", NEWSCRAWL_POLL_MIN=before, NEWSCRAWL_REVISITS="1d")
    _let_hours_pass(room, 2)  # without dates, the feed is polled after an hour or the minimum
    once(room, "one", NEWSCRAWL_POLL_MIN=after, NEWSCRAWL_REVISITS="1d")
    assert room.count("SELECT count(*) FROM runs") == runs
    if hours is not None:
        ((polled_at, next_poll_at),) = room.rows("SELECT polled_at, next_poll_at FROM polls")
        next_poll, poll = map(datetime.fromisoformat, (next_poll_at, polled_at))
        assert round((next_poll - poll) / timedelta(hours=1)) == hours


@pytest.mark.thorough
def test_failing_source_is_reported_and_others_are_crawled(room):
    room.sites.add("good")
    done = once(room, "broken", "good")
    assert done.returncode == 1
    assert "WARNING broken: failed: broken: 0 found" in done.stderr
    assert room.count("SELECT count(*) FROM articles") == 4
    ((failures, code),) = room.rows(
        "SELECT failures, code FROM leases JOIN sources ON id = source_id WHERE slug = 'broken'"
    )
    assert (failures, code) == (1, 1)


@pytest.mark.thorough
def test_third_failure_in_a_row_is_reported(room):
    with open_database(f"sqlite:///{room.database}") as database:
        terms = LeaseTerms(length=timedelta(minutes=2), min_pause=timedelta(0))
        leases = Leases(database, "before", terms)
        leases.register([Origin("broken", "Broken", "gb", "en", "http://127.0.0.1/")])
        for _ in range(2):
            leases.take("broken")
            leases.release("broken", "failed", 1, "")
    with Hook() as hook:
        to_hook = {"NEWSCRAWL_WEBHOOKS": hook.url, "NEWSCRAWL_WEBHOOK_PRIVATE": "yes"}
        done = once(room, "broken", **to_hook)
        (notice,) = hook.notices
    assert notice["subject"] == "broken can't be crawled"
    cause = "connection refused: 127.0.0.1; feeds and sitemaps wait for robots.txt"
    lines = notice["text"].splitlines()
    assert lines[:2] == ["broken can't be crawled", f"{cause}; 3 crawls failed in a row."]
    assert f"WARNING broken can't be crawled: {cause}; 3 crawls failed in a row." in done.stderr
    assert "t0ken" not in done.stderr


@pytest.mark.thorough
def test_crawl_over_its_time_limit_is_ended(room):
    # Pages for minutes, so that it can't be through before somebody looks on a busy machine.
    room.sites.add("slow", 1500, delay=1.5)
    done = once(room, "slow", NEWSCRAWL_LONGEST_CRAWL="5")
    assert done.returncode == 1
    assert "slow: failed: still running after 5 seconds" in done.stderr
    assert room.count("SELECT count(*) FROM leases WHERE failures = 1 AND holder IS NULL") == 1


@pytest.mark.thorough
def test_crashed_crawl_fails_its_source_only(room):
    with room.crawling("--once") as monitor:
        (child,) = crawls(monitor.pid)
        os.kill(child, signal.SIGKILL)
        _, log = monitor.communicate(timeout=240)
    assert monitor.returncode == 1
    assert "WARNING long: failed: killed by signal 9\n" in log
    assert room.rows("SELECT failures, code FROM leases") == [(1, -9)]


@pytest.mark.thorough
def test_crawl_whose_lease_is_lost_is_ended(room):
    with room.crawling("--once", NEWSCRAWL_LEASE="3") as monitor:
        # One that lasts for centuries would count as set by a wrong clock, and be free.
        expires_at = f"{datetime.now(UTC) + timedelta(hours=1):%Y-%m-%d %H:%M:%S.%f}"
        room.execute("UPDATE leases SET holder = 'thief', expires_at = ?", expires_at)
        _, log = monitor.communicate(timeout=240)
    # Whichever of them sees it first: the monitor, or the crawl before its next request.
    assert re.search(r"WARNING long: failed: (the lease was lost|.*another process has taken)", log)
    assert room.rows("SELECT holder, failures FROM leases") == [("thief", 0)]


def test_sigterm_lets_running_crawls_end_in_order(room):
    with room.crawling() as monitor:
        monitor.send_signal(signal.SIGTERM)
        _, log = monitor.communicate(timeout=240)
    assert monitor.returncode == 0, log
    assert "INFO long: stopped: the monitor is stopping; long: 300 found" in log
    (run,) = room.rows("SELECT reason, finished_at IS NOT NULL FROM runs")
    assert run == ("shutdown", 1)
    (lease,) = room.rows("SELECT holder, failures FROM leases")
    assert lease == (None, 0)
    (worker,) = room.rows("SELECT stopped_at IS NOT NULL FROM workers")
    assert worker == (1,)


def test_crawl_ends_when_its_monitor_is_killed(room):
    with room.crawling("--logs", ".") as monitor:
        (child,) = crawls(monitor.pid)
        monitor.kill()
        wait_for(lambda: not alive(child), 20)
    log = (room.folder / "long.log").read_text()
    assert "The crawl stops: the monitor that started it has ended" in log
    assert room.rows("SELECT reason FROM runs") == [("monitor_gone",)]


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("slug", "logs", "settings", "fault"),
    [
        ("one", "logs", {"NEWSCRAWL_KEEP": "1d"}, "NEWSCRAWL_KEEP=1d: too short"),
        ("one", "logs", {"NEWSCRAWL_LEASE": "soon"}, "NEWSCRAWL_LEASE=soon: not a time, as in 30s"),
        ("one", "file/logs", {}, "--logs file/logs: Not a directory; name a writable folder"),
        ("onne", "logs", {}, "unknown source 'onne': did you mean one"),
    ],
)
def test_invalid_start_is_refused_in_one_line(room, slug, logs, settings, fault):
    (room.folder / "file").write_text("no folder")
    room.sites.add("one")
    command = monitor_command([slug], "--once", "--logs", logs)
    environment = room.environment("one", **settings)
    done = subprocess.run(
        command, cwd=room.folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert fault in line


@pytest.mark.thorough
def test_round_sends_the_digest_that_is_due(room):
    room.sites.add("one")
    with open_database(f"sqlite:///{room.database}") as database, Hook() as hook:
        database.register_source("one", "One", "gb", "en", "https://one.example/")
        # The round may cross midnight.
        for back in (0, 1, 2):
            database.record_coverage(
                "one", datetime.now(UTC).date() - timedelta(days=back), "ok", 1, 1
            )
        settings = {
            "NEWSCRAWL_DIGEST": "daily 00:00",
            "NEWSCRAWL_WEBHOOKS": hook.url,
            "NEWSCRAWL_WEBHOOK_PRIVATE": "yes",
        }
        for _ in range(2):
            done = once(room, "one", **settings)
            assert done.returncode == 0, done.stderr
        causes = [notice["cause"] for notice in hook.notices]
        assert causes
        assert len(set(causes)) == len(causes)
        (digest,) = next_digests(database, "")
        assert (digest.span, digest.monitored) == ("daily", True)
