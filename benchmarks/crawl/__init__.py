"""Crawl a local news world with newscrawl, then download it with bare Scrapy, and compare.

`python -m benchmarks.crawl [--sites 50] [--articles 10000] [--corpus DIR] [--json]`
"""

import argparse
import compileall
import csv
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.crawl.world import World
from newscrawl.sources.registry import COLUMNS
from tests.site.crawling import PROJECT, clean_environment

SOURCE = "world"
# The same for both: no delays, and an equal number of concurrent requests.
HASTE = {
    "CONCURRENT_REQUESTS": "32",
    "CONCURRENT_REQUESTS_PER_DOMAIN": "4",
    "DOWNLOAD_DELAY": "0",
    "AUTOTHROTTLE_ENABLED": "False",
    "RETRY_TIMES": "1",
    "LOG_LEVEL": "WARNING",
}
OURS = {"NEWSCRAWL_RETRY_PAUSE": "0"}
# Pages after which memory must be stable, and how much it may still grow (the issue: "flat after
# the first 2,000 pages"; the allocator varies by a tenth).
WARM_PAGES = 2_000
SAMPLE_SECONDS = 0.5


@dataclass(frozen=True, slots=True)
class Sample:
    """The memory of the crawl after a number of requested pages."""

    pages: int
    megabytes: float


@dataclass(frozen=True, slots=True)
class Run:
    """One run: `pages` requested articles, `sent` bytes from the server; `processor` are the
    seconds of all its processes, which a busy machine changes less than wall-clock time."""

    seconds: float
    processor: float
    pages: int
    sent: int
    code: int
    memory: tuple[Sample, ...] = ()

    @property
    def speed(self) -> float:
        """Pages per second."""
        return self.pages / self.seconds


@dataclass(frozen=True, slots=True)
class Result:
    """The two runs of newscrawl, and the one of bare Scrapy."""

    first: Run
    second: Run
    bare: Run
    stored: int

    @property
    def share(self) -> float:
        """Return the speed of newscrawl as a share of the bare download's."""
        return self.first.speed / self.bare.speed

    @property
    def again(self) -> float:
        """Return the second run's bytes as a share of the first one's."""
        return self.second.sent / self.first.sent

    @property
    def growth(self) -> float | None:
        """Return the share by which memory grew after the warm-up; None in a small world."""
        warm = [reading.megabytes for reading in self.first.memory if reading.pages >= WARM_PAGES]
        return max(warm) / warm[0] - 1 if len(warm) > 1 else None


def bench(world_of: tuple[int, int, Path | None], folder: Path) -> Result:
    """Serve a world of sites, articles and pages; crawl it twice, then download it bare."""
    for package in ("newscrawl", "pipelines", "spiders"):
        compileall.compile_dir(PROJECT / package, quiet=1)
    with _serve_sites(*world_of) as world:
        environment = clean_environment() | {
            "NEWSCRAWL_SOURCES": str(_registry(world, folder)),
            "NEWSCRAWL_DATABASE_URL": f"sqlite:///{folder / 'world.sqlite'}",
            "NEWSCRAWL_CONTACT": "https://newscrawl.example/bench",
            "NEWSCRAWL_LIMIT": str(world.articles),
        }
        ours = [sys.executable, "-m", "scrapy", "crawl", SOURCE, *_settings(HASTE | OURS)]
        first = _time_crawl(world, ours, PROJECT, environment)
        second = _time_crawl(world, ours, PROJECT, environment)
        urls = folder / "urls.txt"
        urls.write_text("\n".join(world.urls()))
        spider = Path(__file__).with_name("bare.py")
        plain = ["scrapy", "runspider", str(spider), "-a", f"urls={urls}", *_settings(HASTE)]
        bare = _time_crawl(world, [sys.executable, "-m", *plain], folder, clean_environment())
    return Result(first=first, second=second, bare=bare, stored=_count_stored(folder))


@contextmanager
def _serve_sites(sites: int, articles: int, corpus: Path | None) -> Iterator[World]:
    command = [sys.executable, "-m", "benchmarks.crawl.server", str(sites), str(articles)]
    command += [str(corpus.absolute())] if corpus else []
    with subprocess.Popen(command, cwd=PROJECT, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            yield World(sites, articles, int(server.stdout.readline()), corpus)
        finally:
            server.terminate()


def _registry(world: World, folder: Path) -> Path:
    file = folder / "sources.csv"
    row = {
        "slug": SOURCE,
        "name": "The world",
        "country": "gb",
        "languages": "en|de|fr|el|ru|zh|pl",
        "home": f"{world.home(0)}/",
        "feeds": "|".join(f"{world.home(site)}/feed.xml" for site in range(world.sites)),
        "status": "active",
    }
    with file.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, COLUMNS)
        writer.writeheader()
        writer.writerow(row)
    return file


def _settings(values: dict[str, str]) -> list[str]:
    return [part for name, value in values.items() for part in ("-s", f"{name}={value}")]


def _time_crawl(world: World, command: list[str], folder: Path, environment: dict[str, str]) -> Run:
    before, started = _counts(world), time.monotonic()
    memory = []
    used = _processor()
    with tempfile.TemporaryFile("w+") as log:
        process = subprocess.Popen(command, cwd=folder, env=environment, stderr=log)
        while process.poll() is None:
            time.sleep(SAMPLE_SECONDS)
            pages = _counts(world)["pages"] - before["pages"]
            if size := _megabytes(process.pid):
                memory.append(Sample(pages, size))
        if process.returncode:
            log.seek(0)
            sys.stderr.write("".join(log.readlines()[-20:]))
    after = _counts(world)
    return Run(
        seconds=time.monotonic() - started,
        processor=_processor() - used,
        pages=after["pages"] - before["pages"],
        sent=after["bytes"] - before["bytes"],
        code=process.returncode,
        memory=tuple(memory),
    )


def _counts(world: World) -> dict[str, int]:
    with urllib.request.urlopen(f"{world.home(0)}/-/counts") as answer:  # noqa: S310 - our own
        counts: dict[str, int] = json.load(answer)
    return counts


def _processor() -> float:
    """Return the processor seconds of all processes that were waited for."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _megabytes(pid: int) -> float:
    """Return the memory of a process and its children, in which pages may be extracted."""
    pages = 0
    for process in (pid, *_children(pid)):
        try:
            pages += int(Path(f"/proc/{process}/statm").read_text().split()[1])
        except (OSError, IndexError):
            continue
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def _children(pid: int) -> list[int]:
    try:
        return [
            int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        ]
    except OSError:
        return []


def _count_stored(folder: Path) -> int:
    import sqlite3  # noqa: PLC0415

    with closing(sqlite3.connect(folder / "world.sqlite")) as connection, connection:
        (count,) = connection.execute("SELECT count(*) FROM articles").fetchone()
    connection.close()
    return int(count)


def show(result: Result) -> str:
    """Return the figures as lines for people."""
    rows = [
        ("first run", result.first),
        ("second run", result.second),
        ("bare Scrapy", result.bare),
    ]
    headings = ("pages", "seconds", "pages/s", "CPU ms/page", "MB sent", "MB memory")
    lines = [" " * 12 + "".join(f"{heading:>12}" for heading in headings)]
    for name, run in rows:
        peak = max((reading.megabytes for reading in run.memory), default=0.0)
        cost = f"{1000 * run.processor / run.pages:.1f}" if run.pages else "–"
        lines.append(
            f"{name:12}{run.pages:>12}{run.seconds:>12.1f}{run.speed:>12.1f}{cost:>12}"
            f"{run.sent / 1e6:>12.1f}{peak:>12.0f}"
        )
    grown = "too few pages to tell" if result.growth is None else f"{result.growth:+.1%}"
    return "\n".join(
        (
            *lines,
            f"articles stored: {result.stored}",
            f"whole line against bare download: {result.share:.0%} of its pages per second",
            f"bytes of the second run: {result.again:.2%} of the first one's",
            f"memory after {WARM_PAGES} pages: {grown}",
        )
    )


def main() -> int:
    """Print the figures; exit code 1 if a run failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sites", type=int, default=50)
    parser.add_argument("--articles", type=int, default=10_000)
    parser.add_argument("--corpus", type=Path, help="else the pages of tests/pages are served")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    corpus = options.corpus if options.corpus and options.corpus.is_dir() else None
    with tempfile.TemporaryDirectory(prefix="newscrawl-bench-") as folder:
        result = bench((options.sites, options.articles, corpus), Path(folder))
    figures = asdict(result) | {"share": result.share, "again": result.again}
    print(json.dumps(figures) if options.json else show(result))
    return 1 if result.first.code or result.second.code or result.bare.code else 0
