"""A crawl that hangs is ended, and its source is free again: tried with real crawls."""

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import select

from newscrawl.crawl.progress import counted
from newscrawl.monitoring.attending import Attendant, Ended, Limits
from newscrawl.monitoring.crawling import Command
from newscrawl.storage import Database, open_database
from newscrawl.storage.leases import Leases, SourceFacts, Terms
from newscrawl.storage.models import Lease
from tests.site.crawling import HASTE
from tests.watching import Sites, environment

SLUG = "quay"
TERMS = Terms(length=timedelta(seconds=60))


@pytest.fixture
def sites() -> Iterator[Sites]:
    with Sites() as opened:
        opened.add(SLUG, 24, delay=2.0)
        yield opened


def attended(sites: Sites, database: Database, folder: Path, limits: Limits, *more: str) -> Ended:
    """What came of a crawl with some more extensions, with its lease taken and given back."""
    leases = Leases(database, "here", TERMS)
    leases.enrol([SourceFacts(SLUG, SLUG.title(), "gb", "en", "http://localhost/")])
    assert leases.take(SLUG)
    extensions = {"spiders.leash.Leash": 0, "newscrawl.crawl.progress.ProgressReport": 0}
    extensions |= dict.fromkeys(more, 1)
    given = environment(sites.file(folder, [SLUG]), f"sqlite:///{folder}/news.sqlite")
    command = Command(
        environment={**given, "NEWSCRAWL_READERS": "0"},
        settings={**HASTE, "EXTENSIONS": json.dumps(extensions)},
        arguments=("polls=due",),
        logs=folder,
    )
    ended = Attendant(leases, command, limits, lambda: False).run(SLUG)
    leases.release(SLUG, ended.outcome, ended.code, ended.note)
    return ended


def lease_of(database: Database) -> tuple[str | None, int, str]:
    with database.reading() as session:
        found = session.execute(select(Lease.holder, Lease.failures, Lease.note)).one()
        return found.holder, found.failures, found.note


@pytest.mark.parametrize("hanging", ["HangingLoop", "HangingCrawl"])
def test_a_crawl_that_hangs_is_ended_and_its_source_free(
    sites: Sites, tmp_path: Path, hanging: str
) -> None:
    # Long enough for a crawl to start on a busy machine, without any progress to report yet.
    limits = Limits(longest=600.0, stall=20.0, last_orders=2.0)
    with open_database(f"sqlite:///{tmp_path}/news.sqlite") as database:
        ended = attended(sites, database, tmp_path, limits, f"tests.dying.{hanging}")
        assert ended.outcome == "failed"
        assert ended.note.startswith("no progress for 20 seconds")
        holder, failures, note = lease_of(database)
    assert (holder, failures) == (None, 1)
    assert note.startswith("no progress for 20 seconds")


def test_a_crawl_that_goes_on_is_left_to_it(sites: Sites, tmp_path: Path) -> None:
    """It takes longer as a whole than it may be silent: two pages at a time, two seconds each."""
    with open_database(f"sqlite:///{tmp_path}/news.sqlite") as database:
        limits = Limits(longest=600.0, stall=15.0, last_orders=2.0)
        slow = attended(sites, database, tmp_path, limits)
    assert (slow.outcome, slow.code) == ("done", 0), slow.note
    assert "24 new" in slow.note


def test_what_changes_with_time_alone_is_no_progress() -> None:
    before = {"log_count/INFO": 1, "memusage/max": 5, "newscrawl/found": 1, "newscrawl/newest": "x"}
    assert counted(before | {"log_count/INFO": 2, "memusage/max": 6}) == counted(before)
    for name in ("downloader/request_count", "newscrawl/found", "item_scraped_count"):
        assert counted(before | {name: 7}) != counted(before)


def test_a_crawl_reports_until_the_monitor_is_gone(tmp_path: Path) -> None:
    """The way is a socket: whoever starts a crawl with something else hears nothing."""
    code = (
        "import sys\n"
        "from newscrawl.crawl.progress import _is_socket\n"
        "print(_is_socket(sys.stdin.fileno()))"
    )
    ours, theirs = socket.socketpair()
    with ours, theirs, (tmp_path / "file").open("w+b") as file:
        kinds = {theirs: "True", file: "False", subprocess.DEVNULL: "False"}
        for way, told in kinds.items():
            done = subprocess.run(
                [sys.executable, "-c", code],
                stdin=way,
                capture_output=True,
                text=True,
                check=True,
                env=dict(os.environ),
            )
            assert done.stdout.strip() == told
