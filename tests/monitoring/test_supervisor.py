"""Crawls under supervision: ended where they hang, and summed up in a line."""

import json
import time
from contextlib import closing
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from threading import Event

import pytest
from sqlalchemy import select

from newscrawl.crawl.extensions import activity_count
from newscrawl.items import Origin
from newscrawl.monitoring.supervisor import (
    CrawlCommand,
    CrawlLimits,
    CrawlResult,
    Supervisor,
    _LeaseRenewal,
    log_summary,
)
from newscrawl.storage import open_database, upgrade_database
from newscrawl.storage.leases import Leases, LeaseTerms
from newscrawl.storage.models import Lease
from tests.site.crawling import HASTE
from tests.thorough import first_is_quick
from tests.watching import Sites, environment, wait_for

AT = "2026-11-22 13:55:47"
START = f"{AT} [scrapy.core.engine] INFO: Spider opened"
STOPS = f"{AT} [pipelines.storage] CRITICAL: The crawl stops: the disk is full"
AGAIN = f"{AT} [pipelines.storage] CRITICAL: The end of the run is not recorded: the disk is full"
SUMMARY = f"{AT} [pipelines.storage] INFO: ft: 4 found, 4 new; state ok"
WARNING = f"{AT} [ft] WARNING: Can't read https://ft.example/feed: no whole answer"
CLOSED = f"{AT} [scrapy.core.engine] INFO: Spider closed (finished)"

SLUG = "quay"
TERMS = LeaseTerms(length=timedelta(seconds=60))


STALL = 8.0  # seconds: longer than a fork needs to request a page, on a busy machine, too
SLOW = "SlowCrawl"  # it makes progress, but takes longer as a whole than it may stall
HANGING = ("HangingLoop", "HangingCrawl")


@dataclass(frozen=True)
class Supervised:
    """How a crawl ended, and its lease after that: holder, failures and note."""

    result: CrawlResult
    lease: tuple[str | None, int, str]


def supervise(folder: Path, name: str) -> Supervised:
    extensions = {
        "newscrawl.crawl.extensions.MonitorLink": 0,
    }
    extensions |= {f"tests.dying.{name}": 1} if name in HANGING else {}
    upgrade_database(f"sqlite:///{folder}/news.sqlite")
    limits = CrawlLimits(longest=600.0, stall=STALL, shutdown=2.0)
    with Sites() as sites, open_database(f"sqlite:///{folder}/news.sqlite") as database:
        pages = 2 if name in HANGING else int(STALL)
        sites.add(SLUG, pages, delay=0.0 if name in HANGING else 2.0)
        leases = Leases(database, "here", TERMS)
        leases.register([Origin(SLUG, SLUG.title(), "gb", "en", "http://localhost/")])
        assert leases.take(SLUG)
        variables = environment(sites.file(folder, [SLUG]), f"sqlite:///{folder}/news.sqlite")
        command = CrawlCommand(
            environment={**variables, "NEWSCRAWL_EXTRACTION_PROCESSES": "0"},
            settings={**HASTE, "EXTENSIONS": json.dumps(extensions)},
            arguments=("polls=due",),
            logs=folder,
        )
        with closing(Supervisor(leases, command, limits, lambda: False)) as supervisor:
            supervisor.run("none")  # starts the server, which takes seconds on a busy machine
            result = supervisor.run(SLUG)
        leases.release(SLUG, result.outcome, result.code, result.note)
        with database.reading() as session:
            lease = session.execute(select(Lease.holder, Lease.failures, Lease.note)).one()
    return Supervised(result, (lease.holder, lease.failures, lease.note))


@pytest.mark.parametrize("name", first_is_quick(HANGING))
def test_hanging_crawl_is_ended_and_its_source_released(tmp_path, name):
    supervised = supervise(tmp_path, name)
    result, (holder, failures, note) = supervised.result, supervised.lease
    assert result.outcome == "failed"
    assert result.note.startswith("no progress for 8 seconds")
    assert (holder, failures) == (None, 1)
    assert note.startswith("no progress for 8 seconds")


@pytest.mark.thorough
def test_slow_crawl_that_makes_progress_is_not_ended(tmp_path):
    result = supervise(tmp_path, SLOW).result
    assert (result.outcome, result.code) == ("done", 0), result.note
    assert f"{STALL:.0f} new" in result.note


def test_lease_counts_as_lost_while_the_database_does_not_answer(database):
    leases = Leases(database, "here", LeaseTerms(length=timedelta(seconds=3)))
    answering = Event()
    leases.renew = lambda _: answering.wait(60)  # type: ignore[method-assign]
    began = time.monotonic()
    renewal = _LeaseRenewal(SLUG, leases)
    while renewal.holds():
        assert time.monotonic() < began + 60
        time.sleep(0.01)
    assert time.monotonic() > began + 2
    answering.set()
    assert not renewal.holds()


def test_renewed_lease_is_not_lost(database):
    leases = Leases(database, "here", LeaseTerms(length=timedelta(seconds=3)))
    leases.renew = lambda _: True  # type: ignore[method-assign]
    renewal = _LeaseRenewal(SLUG, leases)
    end = time.monotonic() + 5
    while time.monotonic() < end:
        assert renewal.holds()
        time.sleep(0.01)
    leases.renew = lambda _: False  # type: ignore[method-assign]
    wait_for(lambda: not renewal.holds())


def test_stats_that_change_with_time_are_no_progress():
    before = {"log_count/INFO": 1, "memusage/max": 5, "newscrawl/found": 1, "newscrawl/newest": "x"}
    assert activity_count(before | {"log_count/INFO": 2, "memusage/max": 6}) == activity_count(
        before
    )
    for name in ("downloader/request_count", "newscrawl/found", "item_scraped_count"):
        assert activity_count(before | {name: 7}) != activity_count(before)


@pytest.mark.parametrize(
    ("lines", "summary"),
    [
        ([START, WARNING, SUMMARY, CLOSED], "ft: 4 found, 4 new; state ok"),
        (
            [START, STOPS, AGAIN, SUMMARY, CLOSED],
            "The crawl stops: the disk is full; ft: 4 found, 4 new; state ok",
        ),
        ([START], ""),
        ([START, WARNING, START], "Can't read https://ft.example/feed: no whole answer"),
        (
            ["newscrawl: NEWSCRAWL_METHOD=magic: use one of", ""],
            "NEWSCRAWL_METHOD=magic: use one of",
        ),
        ([START, "Traceback (most recent call last):", "MemoryError"], "MemoryError"),
        ([], ""),
    ],
    ids=[
        "in order",
        "broken off",
        "killed",
        "killed after a fault",
        "refused",
        "crashed",
        "silent",
    ],
)
def test_log_summary_has_reason_and_result(lines, summary):
    assert log_summary(lines) == summary
