"""Takes in a WARC made of the corpus over all cores, beside one process that only extracts.

`python -m tests.bench.ingest [--corpus DIR] [--workers N] [--pages N] [--json]`
"""

import argparse
import json
import os
import resource
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

import newscrawl
from newscrawl.archive.captures import MAX_BYTES, content_of
from newscrawl.archive.ingestion import PART_BYTES, Ingestion
from newscrawl.archive.line import Part, Recipe, read_part
from newscrawl.archive.reading import WarcReader
from newscrawl.cli.archives import cores
from newscrawl.reading import PageReader
from newscrawl.storage import open_database
from newscrawl.training.corpus import load_corpus
from tests.archives import answer, record
from tests.site import content

RECIPE = Recipe(reader=PageReader(method="combined", least=120))


@dataclass(frozen=True, slots=True)
class Run:
    """Seconds by the clock, and of processor in all processes, for so many pages."""

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
    """`extraction` alone and the whole `line` (read, extract, find companies), each in one
    process; `ingestion` by all `workers`, with storing."""

    workers: int
    extraction: Run
    line: Run
    ingestion: Run

    def share(self, single: Run) -> float:
        """Ingestion's speed as a share of (workers × that of a single process)."""
        return self.ingestion.speed / (self.workers * single.speed)

    def efficiency(self, single: Run) -> float:
        """The same by processor time, which a busy machine doesn't blur."""
        return single.cost / self.ingestion.cost


def bench(pages: list[tuple[str, bytes]], workers: int, folder: Path) -> Result:
    """Make a WARC of the pages (URL, bytes), and time the three ways through it."""
    path = folder / "bench.warc.gz"
    with path.open("wb") as stream:
        for url, html in pages:
            stream.write(record(url, answer(html).replace(b"; charset=utf-8", b"", 1)))
    captures = [place.capture for place in WarcReader(path, max_bytes=MAX_BYTES)]
    newscrawl.extract(captures[0].body)  # what is read once is no cost of a page
    with timed(len(captures)) as extraction:
        for capture in captures:
            newscrawl.extract(content_of(capture), capture.url)
    del captures
    size = path.stat().st_size
    read_part(RECIPE, Part(path, 0, 1))
    with timed(len(pages)) as line:
        for start in range(0, size, PART_BYTES):
            read_part(RECIPE, Part(path, start, start + PART_BYTES))
    with (
        open_database(f"sqlite:///{folder / 'bench.sqlite'}") as database,
        timed(len(pages)) as ingestion,
    ):
        Ingestion(database, RECIPE, workers=workers).run([path])
    return Result(workers, extraction[0], line[0], ingestion[0])


@contextmanager
def timed(pages: int) -> Iterator[list[Run]]:
    """A list that holds the run when it is over."""
    found: list[Run] = []
    began, before = time.monotonic(), _processor()
    yield found
    found.append(Run(pages, time.monotonic() - began, _processor() - before))


def _processor() -> float:
    """The processor seconds of this process and of those that it has ended."""
    kinds = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    return sum(used.ru_utime + used.ru_stime for used in map(resource.getrusage, kinds))


def pages_of(corpus: Path | None, number: int | None) -> list[tuple[str, bytes]]:
    """The pages of a corpus, or without one those of the test site."""
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
    """The table for people."""
    rows = [
        ("extraction, 1 process", result.extraction),
        ("read, extract, match, 1 process", result.line),
        (f"ingestion, {result.workers} processes", result.ingestion),
    ]
    lines = ["| | pages a second | processor ms a page |", "|---|--:|--:|"]
    lines += [f"| {name} | {run.speed:.0f} | {run.cost:.1f} |" for name, run in rows]
    for name, single in (("extraction alone", result.extraction), ("the same line", result.line)):
        lines.append(
            f"Of {result.workers} × {name}: {result.share(single):.0%} "
            f"(by processor time {result.efficiency(single):.0%})"
        )
    return "\n".join(lines)


def main() -> None:
    """Run the bench and print it."""
    parser = argparse.ArgumentParser(description=__doc__)
    corpus = os.environ.get("NEWSCRAWL_CORPUS")
    parser.add_argument("--corpus", type=Path, default=Path(corpus) if corpus else None)
    parser.add_argument("--workers", type=int, default=cores())
    parser.add_argument("--pages", type=int)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        result = bench(pages_of(given.corpus, given.pages), given.workers, Path(folder))
    print(json.dumps(asdict(result)) if given.json else show(result))


if __name__ == "__main__":
    main()
