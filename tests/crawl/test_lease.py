"""Two crawls of one source at once: the second is refused in a line, until the first has ended."""

import os
import re
import signal
import sqlite3
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from datetime import timedelta
from pathlib import Path

import psycopg
import pytest

from newscrawl.items import Origin
from newscrawl.storage import Database, open_database, upgrade_database
from newscrawl.storage.leases import (
    Leases,
    LeaseTerms,
    Process,
    SourceBusyError,
    SourceLease,
    process_of,
    this_process,
)
from tests.site.crawling import crawl, rows_of, started_crawl
from tests.site.faults import Answer, story
from tests.site.server import SiteServer
from tests.watching import wait_for

MINUTE = timedelta(minutes=1)


@contextmanager
def a_crawl_at_work(
    site: SiteServer, database: Path, settings: dict[str, str] | None = None, **environment: str
) -> Iterator[subprocess.Popen[bytes]]:
    """A crawl whose one page comes when `release` is set; it has its lease by then."""
    patient = {"DOWNLOAD_TIMEOUT": "300"} | (settings or {})
    with started_crawl(site.feeds, database=database, settings=patient, **environment) as run:
        wait_for(lambda: "/story" in site.paths(), 300)
        yield run


@pytest.fixture
def release() -> threading.Event:
    return threading.Event()


@pytest.fixture
def site(release: threading.Event) -> Iterator[SiteServer]:
    """A feed with a page that is slow until it is told otherwise."""

    def page(_visit: int) -> Answer:
        release.wait(300)
        return Answer(body=story("A slow one", "Siemens"))

    with SiteServer() as site:
        site.serve_stories(("/story",))
        site.routes["/story"] = page
        yield site
        release.set()


def holder(database: Path) -> str | None:
    (lease,) = rows_of(database, "SELECT holder FROM leases")
    name: str | None = lease["holder"]
    return name


@pytest.mark.thorough
def test_second_crawl_is_refused_in_one_line_and_fetches_nothing(tmp_path, site, release):
    database = tmp_path / "news.sqlite"
    with a_crawl_at_work(site, database) as first:
        asked = len(site.visits)
        second = crawl("ft", site.feeds, database=database)
        assert len(site.visits) == asked
        release.set()
        assert first.wait(timeout=300) == 0
    lines = [line for line in second.output.splitlines() if " INFO: " not in line]
    assert second.code == 1
    (line,) = lines
    pattern = rf"newscrawl: ft is being crawled by process {first.pid} on .* since .* UTC: wait"
    assert re.match(pattern, line), line
    assert [row["reason"] for row in second.rows("SELECT reason FROM runs")] == ["finished"]
    assert holder(database) is None
    # Its end frees the source at once.
    assert crawl("ft", site.feeds, database=database).code == 0


def test_killed_crawl_resumes_at_once(tmp_path, site, release):
    database = tmp_path / "news.sqlite"
    with a_crawl_at_work(site, database, {"NEWSCRAWL_LEASE": "86400"}) as first:
        os.kill(first.pid, signal.SIGKILL)
        # Nobody has waited for it yet: it is a zombie, as under a careless init.
        while "Z" not in Path(f"/proc/{first.pid}/stat").read_text().rpartition(")")[2]:
            time.sleep(0.01)
        assert holder(database) is not None
        release.set()
        done = crawl("ft", site.feeds, database=database)
    assert done.code == 0, done.output
    assert done.rows("SELECT count(*) AS n FROM articles") == [{"n": 1}]


@pytest.mark.thorough
def test_crawl_of_a_monitor_takes_no_own_lease(tmp_path, site):
    database, its = tmp_path / "news.sqlite", {"NEWSCRAWL_LEASE_HOLDER": "host:1:abcdef01"}
    with open_database(f"sqlite:///{database}") as opened:
        monitors = Leases(opened, "host:1:abcdef01", LeaseTerms(length=MINUTE))
        monitors.register([Origin("ft", "FT", "GB", "en", "https://ft.example/")])
        refused = crawl("ft", site.feeds, database=database, settings=its)
        assert site.visits == []
        assert monitors.take("ft")
        with a_crawl_at_work(site, database, its):
            assert holder(database) == "host:1:abcdef01"
    assert refused.code == 1
    assert "newscrawl: the monitor that started this crawl lost its lease of ft" in refused.output


def stop_between_writes(run: subprocess.Popen[bytes], database: Path) -> None:
    """Stop the process where it doesn't hold the database's lock, which all others would await."""

    def is_writable() -> bool:
        run.send_signal(signal.SIGSTOP)
        try:
            with closing(
                sqlite3.connect(database, timeout=0.5, isolation_level=None)
            ) as connection:
                connection.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError:
            run.send_signal(signal.SIGCONT)
            return False
        return True

    wait_for(is_writable, 300)


@pytest.mark.thorough
def test_stopped_crawl_sends_nothing_after_another_has_begun(tmp_path):
    database = tmp_path / "news.sqlite"
    pace = {"DOWNLOAD_DELAY": "0.2", "NEWSCRAWL_LEASE": "6", "AUTOTHROTTLE_ENABLED": "0"}
    paths = tuple(f"/story/{number}" for number in range(600))

    def requests(site: SiteServer, crawler: str) -> int:
        return sum(visit.user_agent == crawler for visit in site.visits)

    with SiteServer() as site, ExitStack() as stack:
        site.serve_stories(paths)

        def started(crawler: str) -> subprocess.Popen[bytes]:
            settings = pace | {"USER_AGENT": crawler}
            begun = started_crawl(site.feeds, database=database, settings=settings)
            run = stack.enter_context(begun)
            wait_for(lambda: requests(site, crawler) > 4, 300)
            return run

        first = started("first")
        stop_between_writes(first, database)
        time.sleep(7)  # until its lease has expired
        second = started("second")
        sent = requests(site, "first")
        first.send_signal(signal.SIGCONT)
        assert first.wait(timeout=300) == 1
        assert requests(site, "first") == sent
        assert second.poll() is None


@pytest.mark.thorough
def test_crawl_ends_when_its_lease_is_taken_over(tmp_path, site, release):
    database = tmp_path / "news.sqlite"
    with a_crawl_at_work(site, database, {"NEWSCRAWL_LEASE": "1.5"}) as first:
        rows_of(database, "UPDATE leases SET holder = 'elsewhere:1:abcdef01'")
        time.sleep(2)
        release.set()
        assert first.wait(timeout=300) == 1
    assert rows_of(database, "SELECT reason FROM runs") == [{"reason": "lease_lost"}]
    assert holder(database) == "elsewhere:1:abcdef01"


@pytest.mark.thorough
def test_crawl_stops_that_can_not_renew_its_lease(tmp_path, site, release, postgres_url):
    upgrade_database(postgres_url)
    log, settings = tmp_path / "news.log", {"NEWSCRAWL_LEASE": "3"}
    with (
        a_crawl_at_work(
            site, tmp_path / "news.sqlite", settings, NEWSCRAWL_DATABASE_URL=postgres_url
        ) as run,
        psycopg.connect(postgres_url) as other,
    ):
        other.execute("SELECT holder FROM leases FOR UPDATE")  # its renewals wait for this row
        wait_for(lambda: "CRITICAL" in log.read_text(), 300)
        other.rollback()
        release.set()
        assert run.wait(timeout=300) == 1
    with psycopg.connect(postgres_url) as done:
        assert done.execute("SELECT reason FROM runs").fetchone() == ("lease_lost",)
        assert done.execute("SELECT holder FROM leases").fetchone() == (None,)
    (line,) = (line for line in log.read_text().splitlines() if "CRITICAL" in line)
    assert line.endswith(
        "The crawl stops: its lease of ft could not be renewed for 2.25 seconds, and another "
        "process may crawl it soon"
    )


def source_lease(database: Database, length: timedelta = MINUTE) -> SourceLease:
    database.register_source("ft", "FT", "GB", "en", "https://ft.example/")
    return SourceLease(database, "ft", length)


def test_monitor_and_manual_crawl_exclude_each_other(database):
    mine = source_lease(database)
    monitors = Leases(database, "host:1:abcdef01", LeaseTerms(length=MINUTE))
    monitors.register([Origin("ft", "FT", "GB", "en", "https://ft.example/")])
    mine.take()
    assert not monitors.take("ft")
    assert mine.renew()
    mine.release()
    assert monitors.take("ft")
    with pytest.raises(SourceBusyError, match=r"ft is being crawled by the monitor host:1:abc"):
        mine.take()
    assert not mine.renew()
    mine.release()
    assert not monitors.place(["ft"], 1)  # still the monitor's
    monitors.release("ft", "failed", 1, "")  # it rests, which binds the monitor alone
    mine.take()


@pytest.mark.parametrize(
    ("process", "gone"),
    [
        (this_process(), False),
        (Process("elsewhere", 2**22 + 1, this_process().place, "1"), False),
        (Process(this_process().host, 2**22 + 1, "another container", "1"), False),
        (Process(this_process().host, 2**22 + 1, this_process().place, "1"), True),
        (Process(this_process().host, os.getpid(), this_process().place, "1"), True),
        (Process(this_process().host, 2**22 + 1, "", "1"), False),
    ],
    ids=["alive", "another host", "another container", "gone", "its number again", "unknown"],
)
@pytest.mark.skipif(not this_process().place, reason="needs process ids and start times from /proc")
def test_only_a_process_known_to_be_gone_loses_its_lease(process, gone):
    assert process.is_gone() is gone
    assert process_of(str(process)) == process
    assert process_of(f"{process}:12345678") == process


def test_two_crawls_of_one_process_exclude_each_other(database):
    source_lease(database).take()
    with pytest.raises(SourceBusyError, match=f"by process {os.getpid()} on "):
        source_lease(database).take()


def test_expired_lease_can_be_taken(database):
    other = source_lease(database, timedelta(milliseconds=1))
    other.take()
    time.sleep(0.05)
    mine = source_lease(database)
    mine.take()
    assert not other.renew()
    other.release()
    assert mine.renew()
