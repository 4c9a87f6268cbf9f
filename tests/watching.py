"""Sources on local servers, and monitors of them in separate processes."""

import csv
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Self

from newscrawl.sources.registry import COLUMNS
from tests.receivers import free_port
from tests.site.crawling import HASTE, clean_environment
from tests.site.server import SiteServer


class Sites:
    """Sources, each with a server: `with Sites() as sites`."""

    def __init__(self, poll: float = 0.05) -> None:
        self._poll = poll
        self.by_slug: dict[str, SiteServer] = {}
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def add(self, slug: str, pages: int = 4, *, delay: float = 0.0) -> list[str]:
        """Serve a source's feed with a number of articles; return their URLs."""
        site = self.by_slug[slug] = self._stack.enter_context(SiteServer(poll=self._poll))
        paths = tuple(f"/{slug}/{number}" for number in range(pages))
        site.serve_stories(paths, delay=delay)
        return [f"{site.url}{path}" for path in paths]

    @property
    def visits(self) -> int:
        """Return the number of all requests."""
        return sum(len(site.visits) for site in self.by_slug.values())

    def file(self, folder: Path, slugs: Sequence[str]) -> Path:
        """Write a file of sources, one for each slug; those not added are unreachable."""
        file = folder / "sources.csv"
        with file.open("w", encoding="utf-8", newline="") as stream:
            writer = csv.DictWriter(stream, COLUMNS, restval="")
            writer.writeheader()
            for slug in slugs:
                known = self.by_slug.get(slug)
                url = known.url if known else f"http://127.0.0.1:{free_port()}"
                row = {"slug": slug, "name": slug.title(), "country": "gb", "languages": "en"}
                own = {"home": f"{url}/", "feeds": f"{url}/feed.xml", "status": "active"}
                writer.writerow(row | own)
        return file


def environment(sources: Path, database_url: str, **settings: str) -> dict[str, str]:
    """Return the environment of a monitor with this file of sources."""
    return clean_environment() | {
        "NEWSCRAWL_SOURCES": str(sources),
        "NEWSCRAWL_DATABASE_URL": database_url,
        "NEWSCRAWL_CONTACT": "https://newscrawl.example/tests",
        "NEWSCRAWL_COMPANIES": str(Path(__file__).parent / "site" / "companies.toml"),
        "NEWSCRAWL_MONITOR_PAUSE": "0.5",
        "PYTHONWARNINGS": "default",
        **settings,
    }


def monitor_command(
    slugs: Sequence[str], *options: str, pace: Mapping[str, str] = HASTE
) -> list[str]:
    """Return the command line of a monitor of some sources."""
    command = [sys.executable, "-m", "newscrawl", "monitor", *options]
    for slug in slugs:
        command += ["--source", slug]
    for name, value in pace.items():
        command += ["--set", f"{name}={value}"]
    return command


@contextmanager
def started(
    command: Sequence[str], folder: Path, settings: Mapping[str, str]
) -> Iterator[subprocess.Popen[str]]:
    """Run a monitor with its log on `stderr`; kill it at the end of the block."""
    process = subprocess.Popen(
        command, cwd=folder, env=dict(settings), stderr=subprocess.PIPE, text=True
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def wait_for(what: Callable[[], object], seconds: float = 240.0) -> None:
    """Wait until the condition is true; raise AssertionError after the time limit."""
    deadline = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.05)


def alive(pid: int) -> bool:
    """Return whether a process runs; a zombie does not."""
    try:
        os.kill(pid, 0)
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (OSError, IndexError):
        return False
    return state != "Z"


def children(pid: int) -> list[int]:
    """Return the running child processes of a process, of all its threads."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            if int(stat.read_text().rpartition(")")[2].split()[1]) == pid:
                found.append(int(stat.parent.name))
    return [one for one in found if alive(one)]


def crawls(monitor: int) -> list[int]:
    """Return the running crawls of a monitor, which are forks of its only child process."""
    return [crawl for server in children(monitor) for crawl in children(server)]
