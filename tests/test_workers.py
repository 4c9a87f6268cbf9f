"""Work in a process of its own: what it takes, and what it dies of, harms nobody else."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator

import pytest

from newscrawl.sources import Feed, FeedError
from newscrawl.sources.front_pages import read_home
from newscrawl.sources.sitemaps import parse_in_process, read_listing
from newscrawl.sources.visits import FetchError
from newscrawl.workers import Limits, WorkerProcess, WorkExceededError, WorkStoppedError
from tests.watching import alive, wait_for
from tests.working import allocate, eat_memory, is_imported, read_for_ever, square_or_die

LIMITS = Limits(seconds=2, megabytes=256, clock_seconds=60.0)
FEED = b"<rss version='2.0'><channel><item><title>A</title><link>/a</link></item></channel></rss>"


@pytest.fixture
def worker() -> Iterator[WorkerProcess]:
    process = WorkerProcess(LIMITS)
    yield process
    process.close()


def test_tasks_run_in_one_separate_process(worker):
    feed = worker.run(read_listing, FEED, "https://n.example/feed")
    assert isinstance(feed, Feed)
    assert [entry.hints.title for entry in feed.entries] == ["A"]
    first, second = worker.run(os.getpid), worker.run(os.getpid)
    assert first == second != os.getpid()


def test_worker_imports_only_required_modules(worker):
    worker.run(read_listing, FEED, "https://n.example/feed")
    loaded = [name for name in ("scrapy", "sqlalchemy", "numpy") if worker.run(is_imported, name)]
    assert loaded == []


def test_exception_of_a_task_is_raised(worker):
    with pytest.raises(FeedError, match="neither RSS nor Atom"):
        worker.run(read_listing, b"<html>", "https://n.example/feed")
    assert worker.run(square_or_die, 3) == 9


def test_endless_task_is_ended_and_the_next_one_runs(worker):
    with pytest.raises(WorkExceededError, match="took more than 2 s of a processor"):
        worker.run(read_for_ever, b"", "")
    assert worker.run(square_or_die, 3) == 9


@pytest.mark.skipif(sys.platform != "linux", reason="other systems don't enforce RLIMIT_AS")
def test_task_over_its_memory_limit_is_ended_and_the_next_one_runs(worker):
    with pytest.raises(WorkExceededError, match="took more than 256 MB of memory"):
        worker.run(eat_memory, b"", "")
    assert worker.run(allocate, 64 << 20) == 64 << 20


def test_crash_of_the_worker_is_reported(worker):
    with pytest.raises(WorkExceededError, match=r"crashed the process .*\(exit code 1\)"):
        worker.run(square_or_die, 7)
    assert worker.run(square_or_die, 3) == 9


def test_waiting_task_is_ended():
    worker = WorkerProcess(Limits(seconds=60, megabytes=256, clock_seconds=1.0))
    with pytest.raises(WorkExceededError, match="took longer than 1 seconds"):
        worker.run(time.sleep, 3600)
    worker.close()


@pytest.mark.parametrize("size", [1, 8 << 20], ids=["a short message", "more than the pipe takes"])
def test_stopped_worker_is_ended(size):
    worker = WorkerProcess(Limits(seconds=60, megabytes=256, clock_seconds=10.0))
    stopped = worker.run(os.getpid)
    os.kill(stopped, signal.SIGSTOP)
    with pytest.raises(WorkExceededError):
        worker.run(len, bytes(size))
    assert not alive(stopped)
    assert worker.run(os.getpid) != stopped
    worker.close()


def test_task_can_be_stopped_at_once(worker):
    worker = WorkerProcess(Limits(seconds=600, megabytes=256, clock_seconds=600.0))
    stopped = threading.Timer(0.3, worker.stop)
    stopped.start()
    with pytest.raises(WorkStoppedError):
        worker.run(read_for_ever, b"", "")
    stopped.join()
    with pytest.raises(WorkStoppedError):
        worker.run(square_or_die, 3)
    worker.close()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_worker_ignores_signals_of_the_terminal(worker, number):
    os.kill(worker.run(os.getpid), number)
    assert worker.run(square_or_die, 3) == 9


def test_worker_ends_with_its_parent_process():
    code = (
        "import os, time\n"
        "from newscrawl.workers import Limits, WorkerProcess\n"
        "worker = WorkerProcess(Limits(seconds=9, megabytes=256, clock_seconds=9.0))\n"
        "print(worker.run(os.getpid), flush=True)\n"
        "time.sleep(600)\n"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as owner:
        pid = int(owner.stdout.readline())
        assert alive(pid)
        owner.kill()
    wait_for(lambda: not alive(pid))


def test_page_over_its_time_limit_is_named():
    with pytest.raises(FetchError, match=r"can't read https://n\.example/: it took more than 2 s"):
        parse_in_process(read_for_ever, b"<p>", "https://n.example/", "text/html", LIMITS)


def test_home_page_with_many_attributes_is_read():
    attributes = b" ".join(b"x%d=1" % number for number in range(400_000))
    body = b"<title>The Quay</title><p " + attributes + b">"
    home = parse_in_process(read_home, body, "https://n.example/", "text/html")
    assert home.name == "The Quay"


# --- What a process may use, tried by processes that use more ---

# A hard cap: what the limits end is over in two seconds.
_CAP = 120


def run_limited(code: str) -> subprocess.CompletedProcess[str]:
    begin = "from newscrawl.workers import limit_memory, limit_processor_time\n"
    command = [sys.executable, "-c", begin + code]
    return subprocess.run(command, capture_output=True, text=True, timeout=_CAP, check=False)


@pytest.mark.skipif(sys.platform != "linux", reason="other systems don't enforce RLIMIT_AS")
def test_memory_is_limited():
    code = "limit_memory(64)\nprint(len(bytearray(32 << 20)))\nbytearray(96 << 20)"
    done = run_limited(code)
    assert done.stdout.split() == [str(32 << 20)]
    assert done.returncode == 1
    assert done.stderr.endswith("MemoryError\n")


def test_process_over_its_cpu_limit_is_ended():
    done = run_limited("limit_processor_time(1)\nwhile True: pass")
    assert done.returncode == -signal.SIGXCPU


def test_each_task_has_its_own_time_limit():
    code = (
        "import time\n"
        "for _ in range(3):\n"
        "    limit_processor_time(2)\n"
        "    end = time.process_time() + 1\n"
        "    while time.process_time() < end: pass\n"
        "print('done')"
    )
    assert run_limited(code).stdout == "done\n"
