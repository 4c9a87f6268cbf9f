"""Open the pages of the dashboard over a database, and measure how long each takes.

`python -m benchmarks.dashboard sqlite:///year.sqlite`: over the database of `make bench-query`,
or any other. The period is the last month or year for which it has articles. With `--readers 50`
a server of its own answers 50 readers at once.
"""

import asyncio
import random
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import timedelta
from statistics import median
from typing import Annotated
from urllib.parse import quote

import httpx2
import typer
from starlette.testclient import TestClient

from benchmarks.command_line import run
from benchmarks.query import p95_of
from newscrawl.cli.arguments import Format
from newscrawl.cli.output import Column, progress, render
from newscrawl.dashboard import Config, create_app
from newscrawl.storage import open_database, queries

ROUNDS = 3
# The limit of our issue for a page, in milliseconds; with several readers, for the 95th percentile.
SLOWEST = 1000.0
# Ours: companies whose pages the readers open, the most mentioned ones.
COMPANIES = 40
SEED = 0

COLUMNS = (
    Column("page"),
    Column("opened", number=True),
    Column("p50", "ms", number=True),
    Column("p95", "95 %", number=True),
    Column("slowest", number=True),
)


@dataclass(frozen=True, slots=True)
class PageTiming:
    """How often a page was opened, and the milliseconds that it took."""

    page: str
    opened: int
    p50: int
    p95: int
    slowest: int


def page_paths(url: str) -> list[tuple[str, str]]:
    """Return the kinds and paths of pages, for the most mentioned companies."""
    with open_database(url, create=False) as database:
        last = queries.facts(database).last_day
        if last is None:
            raise typer.BadParameter(f"no article in {database.name}")
        month = queries.Scope(since=last - timedelta(days=29), until=last)
        ranking = queries.company_ranking(database, scope=month, limit=COMPANIES)
        newest = queries.articles(database, limit=1)[0]
    word = quote((newest.title or "news").split()[0])
    paths = [("an article", f"/article?url={quote(newest.url, safe='')}")]
    for days, span in ((30, "a month"), (365, "a year")):
        period = f"since={last - timedelta(days=days - 1)}&until={last}"
        paths.append((f"the overview, {span}", f"/?{period}"))
        paths.append((f"the sources, {span}", f"/sources?{period}"))
        paths.append((f"a search, {span}", f"/search?{period}&q={word}"))
        for place, row in enumerate(ranking):
            name, rival = quote(row.company), quote(ranking[place - 1].company)
            company = f"company={name}&{period}"
            paths.append((f"a company, {span}", f"/company/{name}?{period}"))
            paths.append((f"its sources, {span}", f"/company/{name}?{period}&split=source"))
            paths.append((f"a comparison, {span}", f"/compare?{company}&company={rival}"))
            paths.append((f"a proof, {span}", f"/proof?{company}"))
    return paths


def time_pages(url: str, paths: Sequence[tuple[str, str]]) -> Iterator[PageTiming]:
    """Open a page of each kind in this process, and yield its time."""
    first = dict(reversed(paths))
    with (
        TestClient(create_app(Config(database_url=url)), base_url="http://localhost") as client,
        progress("pages", len(first)) as step,
    ):
        for kind, path in first.items():
            seconds = []
            for _ in range(ROUNDS):
                start = time.perf_counter()
                client.get(path).raise_for_status()
                seconds.append(time.perf_counter() - start)
            step(kind)
            yield _timing(kind, seconds)


@contextmanager
def _server(url: str) -> Iterator[str]:
    """Yield the address of `newscrawl serve` in a process of its own."""
    command = [sys.executable, "-m", "newscrawl", "serve", "--port", "0", "--database", url]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        try:
            if process.stderr is None:
                raise RuntimeError("the server has no log")
            for line in process.stderr:
                if match := re.search(r"http://[\w.:]+", line):
                    yield match[0]
                    return
            raise typer.BadParameter("newscrawl serve ended at once; try it alone")
        finally:
            process.terminate()


def time_readers(
    url: str, paths: Sequence[tuple[str, str]], readers: int, seconds: float, pause: float
) -> list[PageTiming]:
    """Return the times of pages that readers opened at random for some seconds.

    Each reader waits between 0 and 2 `pause` seconds before a page. The first page of each kind,
    with which caches are filled, isn't timed.
    """
    kinds: dict[str, list[str]] = {}
    for kind, path in paths:
        kinds.setdefault(kind, []).append(path)
    times: dict[str, list[float]] = {kind: [] for kind in kinds}

    async def read(client: httpx2.AsyncClient, draw: random.Random, end: float) -> None:
        while True:
            await asyncio.sleep(draw.uniform(0, 2 * pause))
            if time.monotonic() > end:
                return
            kind = draw.choice(list(kinds))
            start = time.perf_counter()
            (await client.get(draw.choice(kinds[kind]))).raise_for_status()
            times[kind].append(time.perf_counter() - start)

    async def read_together(base: str) -> None:
        # The server closes a connection after five seconds without a request.
        limits = httpx2.Limits(max_connections=readers, keepalive_expiry=1)
        async with httpx2.AsyncClient(base_url=base, timeout=60, limits=limits) as client:
            for some in kinds.values():
                (await client.get(some[0])).raise_for_status()
            end = time.monotonic() + seconds
            draws = [random.Random(SEED + reader) for reader in range(readers)]  # noqa: S311
            await asyncio.gather(*(read(client, draw, end) for draw in draws))

    with _server(url) as base:
        asyncio.run(read_together(base))
    everything = [second for some in times.values() for second in some]
    return [
        *(_timing(kind, some) for kind, some in times.items() if some),
        _timing("all pages", everything),
    ]


def _timing(page: str, seconds: Sequence[float]) -> PageTiming:
    each = (median(seconds), p95_of(seconds), max(seconds))
    return PageTiming(page, len(seconds), *(round(1000 * value) for value in each))


def time_dashboard(
    database: Annotated[str, typer.Argument(metavar="URL", help="A database with articles.")],
    readers: Annotated[
        int, typer.Option(min=0, help="Readers at once; 0 opens each page alone, three times.")
    ] = 0,
    seconds: Annotated[float, typer.Option(min=1, help="Seconds of reading.")] = 60,
    pause: Annotated[
        float, typer.Option(min=0, help="Mean seconds that a reader looks at a page.")
    ] = 10,
    output_format: Format = "table",
) -> None:
    """Measure how long the dashboard's pages take; exit with 1 where one takes over a second.

    With several readers, that is the 95th percentile of all pages.

    Example: python -m benchmarks.dashboard sqlite:///year.sqlite --readers 50
    """
    paths = page_paths(database)
    if readers:
        timings = time_readers(database, paths, readers, seconds, pause)
        slow = timings[-1].p95 > SLOWEST
        title = f"{readers} readers, a page each {pause:g} s; wall-clock milliseconds"
    else:
        timings = list(time_pages(database, paths))
        slow = any(timing.p50 > SLOWEST for timing in timings)
        title = "each page alone; wall-clock milliseconds"
    render([asdict(timing) for timing in timings], COLUMNS, output_format, title=title)
    raise typer.Exit(int(slow))


if __name__ == "__main__":
    run(time_dashboard)
