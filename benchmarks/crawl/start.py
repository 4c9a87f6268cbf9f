"""The processor time and memory of a monitor's crawls, with and without the fork server.

`python -m benchmarks.crawl.start` crawls a local source of 20 articles, and polls its unchanged
feed several times, each as a process of its own (`scrapy crawl`) and as a fork of the monitor's.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from newscrawl.monitoring.supervisor import CrawlCommand, CrawlProcess, CrawlServer
from newscrawl.storage import upgrade_database
from tests.site.crawling import HASTE
from tests.watching import Sites, children, environment

_ARTICLES = 20
_SLUG = "quay"


@dataclass(frozen=True, slots=True)
class Cost:
    """Seconds of processor time of a crawl, with its processes, and its largest memory in MB:
    resident, and its share where pages are shared with other processes."""

    seconds: float
    resident: float
    share: float


def ended_children_seconds(pid: int) -> float:
    """Return the processor time of the children of a process that have ended."""
    facts = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(facts[13]) + int(facts[14])) / os.sysconf("SC_CLK_TCK")


def memory(pid: int) -> tuple[float, float]:
    """Return the resident memory of a process and its share of it, in MB."""
    text = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii")
    sizes = dict(re.findall(r"^(\w+): +(\d+) kB", text, re.MULTILINE))
    return int(sizes["Rss"]) / 1024, int(sizes["Pss"]) / 1024


def watch(parent: int, pid: Callable[[], int | None], is_running: Callable[[], bool]) -> Cost:
    """Return the cost of a child process of `parent`, which is running."""
    before = ended_children_seconds(parent)
    sizes = [(0.0, 0.0)]
    while is_running():
        with suppress(OSError, KeyError):
            if number := pid():
                sizes.append(memory(number))
        time.sleep(0.1)
    resident, share = (max(column) for column in zip(*sizes, strict=True))
    return Cost(ended_children_seconds(parent) - before, resident, share)


def of_command(command: CrawlCommand) -> Cost:
    """Return the cost of a crawl with an interpreter of its own."""
    line = [sys.executable, "-m", "scrapy", *command.line(_SLUG)]
    settings = {**command.environment, "SCRAPY_SETTINGS_MODULE": "newscrawl.settings"}
    crawl = subprocess.Popen(
        line, env=settings, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    return watch(os.getpid(), lambda: crawl.pid, lambda: crawl.poll() is None)


def of_fork(command: CrawlCommand, server: CrawlServer) -> Cost:
    """Return the cost of a crawl as a fork of the server."""
    with CrawlProcess(_SLUG, command, server) as crawl:
        parent = server.pid or 0
        return watch(
            parent, lambda: next(iter(children(parent)), None), lambda: crawl.wait(0) is None
        )


def row(name: str, costs: list[Cost]) -> str:
    """Return a line of the table: medians."""
    seconds, resident, share = (
        median(getattr(cost, field) for cost in costs) for field in ("seconds", "resident", "share")
    )
    return f"| {name} | {seconds:.2f} s | {resident:.0f} MB | {share:.0f} MB |"


def measure(way: str, folder: Path, polls: int) -> list[str]:
    """Return the lines of the table for one way of starting crawls."""
    database = f"sqlite:///{folder}/news.sqlite"
    upgrade_database(database)
    with Sites() as sites:
        sites.add(_SLUG, _ARTICLES)
        variables = environment(sites.file(folder, [_SLUG]), database, NEWSCRAWL_COMPANIES="")
        command = CrawlCommand(environment=variables, settings=HASTE)
        with closing(CrawlServer(variables)) as server:

            def one() -> Cost:
                return of_fork(command, server) if way == "fork" else of_command(command)

            if way == "fork":
                with CrawlProcess("none", command, server) as unknown:  # it starts the server
                    unknown.wait(60)
            lines = [
                row(f"{way}: a crawl of {_ARTICLES} articles", [one()]),
                row(f"{way}: a poll without news", [one() for _ in range(polls)]),
            ]
            if server.pid:
                resident, share = memory(server.pid)
                lines.append(f"| the server, idle | | {resident:.0f} MB | {share:.0f} MB |")
    return lines


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--polls", type=int, default=5, help="polls, of which the median counts")
    options = parser.parse_args()
    print("| | processor time | resident memory | share of it |\n|---|--:|--:|--:|")
    for way in ("process", "fork"):
        with tempfile.TemporaryDirectory(prefix="start-") as folder:
            print("\n".join(measure(way, Path(folder), options.polls)))


if __name__ == "__main__":
    main()
