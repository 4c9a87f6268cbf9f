"""Ingest a WARC made of the corpus on all cores, and compare with one process that only extracts.

`python -m benchmarks.ingest [--corpus DIR] [--workers N] [--pages N] [--rounds N] [--json]`

A worker takes a second to start, as long as it needs for a hundred pages. Archives such as CC-NEWS
hold tens of thousands: so the WARC holds each page of the corpus several times, on other sites
and with a number in its paragraphs, and the cost of starting is reported separately.
"""

import argparse
import json
import os
import resource
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from multiprocessing.forkserver import _forkserver
from pathlib import Path
from urllib.parse import urlsplit

import newscrawl
from newscrawl.archive.ingest import PART_BYTES, Ingestion, Part, ReadingConfig, process_part
from newscrawl.archive.warc import MAX_BYTES, WarcReader, decoded_body
from newscrawl.cli.arguments import cores
from newscrawl.reading import PageReader
from newscrawl.storage import open_database
from newscrawl.training.corpus import load_corpus
from tests.archives import answer, record
from tests.site import content

RECIPE = ReadingConfig(reader=PageReader(method="combined", min_characters=120))


@dataclass(frozen=True, slots=True)
class Run:
    """Seconds by the clock, and processor seconds of all processes, for a number of pages."""

    pages: int
    seconds: float
    processor: float

    @property
    def speed(self) -> float:
        """Pages per second."""
        return self.pages / self.seconds

    @property
    def cost(self) -> float:
        """Milliseconds of processor a page."""
        return 1000 * self.processor / self.pages


@dataclass(frozen=True, slots=True)
class Result:
    """`extraction` alone and the whole `line` (all but storing), each in one process, over each
    page once; `ingestion` by all `workers`, with storing and with the `start`, that of an ingestion
    of a single page."""

    workers: int
    extraction: Run
    line: Run
    start: Run
    ingestion: Run

    def share(self, single: Run) -> float:
        """Return ingestion's speed as a share of (workers × that of a single process)."""
        return self.ingestion.speed / (self.workers * single.speed)

    def efficiency(self, single: Run) -> float:
        """Return the same by processor time, which a busy machine changes less."""
        return single.cost / self.ingestion.cost


def bench(pages: list[tuple[str, bytes]], workers: int, rounds: int, folder: Path) -> Result:
    """Make WARCs of the pages (URL, bytes), and time the three ways through them.

    One process reads every other part before the ingestion and the rest after it: so that other
    load of the machine affects both.
    """
    once, single, path = (folder / f"{name}.warc.gz" for name in ("once", "one", "bench"))
    write_archive(once, pages)
    write_archive(single, pages[:1])
    write_archive(path, pages, range(rounds))
    begins = range(0, once.stat().st_size, PART_BYTES)
    parts = [Part(once, begin, begin + PART_BYTES) for begin in begins]
    process_part(RECIPE, Part(once, 0, 1))  # loading happens once and is not a cost of a page
    alone = _time_alone(parts[::2])
    start = _time_ingestion(single, 1, workers)
    ingestion = _time_ingestion(path, rounds * len(pages), workers)
    alone += _time_alone(parts[1::2])
    extraction, line = (_together(list(runs)) for runs in zip(*alone, strict=True))
    return Result(workers, extraction, line, start, ingestion)


def _time_alone(parts: list[Part]) -> list[tuple[Run, Run]]:
    """Time extraction, and all but storing, in this process, part by part in turns, so that a busy
    machine affects both."""
    runs = []
    for part in parts:
        reader = WarcReader(part.path, part.start, part.stop, max_bytes=MAX_BYTES)
        captures = [place.capture for place in reader]
        with timed(len(captures)) as extraction:
            for capture in captures:
                newscrawl.extract(decoded_body(capture), capture.url)
        with timed(len(captures)) as line:
            process_part(RECIPE, part)
        runs.append((extraction[0], line[0]))
    return runs


def _together(runs: list[Run]) -> Run:
    return Run(
        sum(run.pages for run in runs),
        sum(run.seconds for run in runs),
        sum(run.processor for run in runs),
    )


def write_archive(path: Path, pages: list[tuple[str, bytes]], rounds: Iterable[int] = (0,)) -> None:
    """Write a WARC that has each page once for each round, in all but round 0 on another site."""
    with path.open("wb") as stream:
        for number in rounds:
            for page in pages:
                url, html = _again(page, number)
                stream.write(record(url, answer(html).replace(b"; charset=utf-8", b"", 1)))


def _again(page: tuple[str, bytes], number: int) -> tuple[str, bytes]:
    """Return the page as an article of another site, without a link of its own to the first."""
    url, html = page
    if not number:
        return page
    parts = urlsplit(url)
    host = parts._replace(netloc=f"{parts.hostname}.again{number}.example")
    return host.geturl(), html.replace(b"</p>", b" Report %d.</p>" % number)


def _time_ingestion(path: Path, pages: int, workers: int) -> Run:
    file = path.with_suffix(".sqlite")
    with open_database(f"sqlite:///{file}") as database, timed(pages) as ingestion:
        Ingestion(database, RECIPE, workers=workers).run([path])
        # Its processor time includes that of the workers, and is known when it has ended.
        _forkserver._stop()  # type: ignore[attr-defined]
    return ingestion[0]


@contextmanager
def timed(pages: int) -> Iterator[list[Run]]:
    """Yield a list that holds the run when it is over."""
    runs: list[Run] = []
    began, before = time.monotonic(), _processor()
    yield runs
    runs.append(Run(pages, time.monotonic() - began, _processor() - before))


def _processor() -> float:
    """Return the processor seconds of this process and of its ended children."""
    kinds = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    return sum(used.ru_utime + used.ru_stime for used in map(resource.getrusage, kinds))


def pages_of(corpus: Path | None, number: int | None) -> list[tuple[str, bytes]]:
    """Return the pages of a corpus, or without one those of the test site."""
    if corpus is None:
        site = "https://news.example"
        pages = [(site + page.path, content.page_bytes(page, site)) for page in content.facts()]
    else:
        pages = [
            (page.url or f"https://{page.site}/{page.id}", page.html)
            for page in load_corpus(corpus)
        ]
    return pages[: number or len(pages)]


def show(result: Result) -> str:
    """Return the table for people."""
    rows = [
        ("extraction, 1 process", result.extraction),
        ("all but storing, 1 process", result.line),
        (f"ingestion, {result.workers} processes", result.ingestion),
    ]
    lines = ["| | pages a second | processor ms a page |", "|---|--:|--:|"]
    lines += [f"| {name} | {run.speed:.0f} | {run.cost:.1f} |" for name, run in rows]
    for name, single in (("extraction alone", result.extraction), ("the same line", result.line)):
        lines.append(
            f"Of {result.workers} × {name}: {result.share(single):.0%} "
            f"(by processor time {result.efficiency(single):.0%})"
        )
    start, total = result.start.processor, result.ingestion.processor
    lines.append(
        f"The start takes {start:.1f} s of processor, {start / total:.0%} of this ingestion."
    )
    return "\n".join(lines)


def main() -> None:
    """Run the bench and print it."""
    parser = argparse.ArgumentParser(description=__doc__)
    corpus = os.environ.get("NEWSCRAWL_CORPUS")
    parser.add_argument("--corpus", type=Path, default=Path(corpus) if corpus else None)
    parser.add_argument("--workers", type=int, default=cores())
    parser.add_argument("--pages", type=int)
    parser.add_argument("--rounds", type=int, default=3, help="times that a page is in the WARC")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        result = bench(
            pages_of(options.corpus, options.pages), options.workers, options.rounds, Path(folder)
        )
    print(json.dumps(asdict(result)) if options.json else show(result))
