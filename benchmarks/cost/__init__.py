"""The cost of extraction: by stage, by the size of a page, and in memory over many pages.

`python -m benchmarks.cost [--corpus DIR] [--write-docs]`, or `make bench-cost`.

Times are CPU seconds of the thread, so a busy machine disturbs them little. Compared readers are
measured in turns, page by page, and the fastest of some rounds counts.
"""

import resource
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Final

from benchmarks.cost.generated_pages import generated_page, generated_pages
from benchmarks.extraction.peers import bare_parser
from newscrawl.extraction.classifier import load_network
from newscrawl.extraction.extract import extract
from newscrawl.extraction.html import decode, parse
from newscrawl.extraction.metadata.reader import read_metadata
from newscrawl.extraction.methods import ParsedPage

BARE_PARSE, WHOLE, REST = "bare lxml parse", "all of it", "rest"
STAGES: Final = (
    *("decode", "parse", "metadata", "walk", "menus", "features", "evidence", "network"),
    REST,
)
ROUNDS: Final = 3
SIZES: Final = (10, 30, 100, 300, 1000, 3000, 10_000)  # KB
# Ours: the time for a KB of the largest page over that of the cheapest one. A page of some MB no
# longer fits into the processor's caches, which costs about twice as much (more where others use
# them, too); growth with the square of the size would be some 100.
LINEAR: Final = 3.0
PAGE_KB: Final = 30  # of those that memory is measured with
FIRST_PAGES, PAGES = 2000, 10_000
# Ours: the memory that later pages may add to the process.
FLAT: Final = 1.05


@dataclass(frozen=True, slots=True)
class Stage:
    """CPU milliseconds a page, and as a multiple of the bare lxml parse of the same pages."""

    name: str
    milliseconds: float
    times_parse: float


@dataclass(frozen=True, slots=True)
class Size:
    """CPU milliseconds of a page of a size in KB, and those of its bare lxml parse."""

    kilobytes: float
    milliseconds: float
    parse: float

    @property
    def per_kilobyte(self) -> float:
        """CPU milliseconds a KB."""
        return self.milliseconds / self.kilobytes


@dataclass(frozen=True, slots=True)
class Memory:
    """The peak size of the process in MB after a number of pages."""

    pages: int
    megabytes: float


def growth(sizes: Sequence[Size]) -> float:
    """Return the time for a KB of the largest page over that for a KB of the cheapest page."""
    costs = [size.per_kilobyte for size in sizes]
    return costs[-1] / min(costs)


def stages(
    pages: Sequence[bytes], *, rounds: int = ROUNDS, on_page: Callable[[], None] = lambda: None
) -> list[Stage]:
    """Return the cost of each of `STAGES`, after that of the bare parse and of the whole."""
    best: dict[tuple[str, int], float] = {}
    _warm_up()
    for _ in range(rounds):
        for number, page in enumerate(pages):
            for name, seconds in _timed_stages(page):
                best[name, number] = min(seconds, best.get((name, number), seconds))
            on_page()
    total: dict[str, float] = defaultdict(float)
    for (name, _), seconds in best.items():
        total[name] += 1000 * seconds / len(pages)
    total[REST] = total[WHOLE] - sum(total[name] for name in STAGES if name != REST)
    return [
        Stage(name, total[name], total[name] / total[BARE_PARSE])
        for name in (BARE_PARSE, WHOLE, *STAGES)
    ]


def sizes(
    kilobytes: Sequence[int] = SIZES,
    *,
    rounds: int = ROUNDS,
    on_page: Callable[[], None] = lambda: None,
) -> list[Size]:
    """Return the cost of generated pages of these sizes, the smallest first."""
    parse_bare = bare_parser()
    _warm_up()
    measured = []
    for kilobyte_size in sorted(kilobytes):
        page = generated_page(1000 * kilobyte_size)
        timings = [(_seconds(extract, page), _seconds(parse_bare, page)) for _ in range(rounds)]
        ours, bare = (1000 * min(times) for times in zip(*timings, strict=True))
        measured.append(Size(len(page) / 1000, ours, bare))
        on_page()
    return measured


def memory(*, first: int = FIRST_PAGES, pages: int = PAGES) -> list[Memory]:
    """Return the memory of a separate process after `first` and after all of the pages."""
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        return pool.submit(_measure_growth, (first, pages)).result()


def _measure_growth(marks: tuple[int, ...]) -> list[Memory]:
    growth = []
    for number, page in enumerate(generated_pages(1000 * PAGE_KB, marks[-1]), start=1):
        extract(page)
        if number in marks:
            growth.append(Memory(number, _megabytes()))
    return growth


def _megabytes() -> float:
    """Return the largest size so far. On Linux `ru_maxrss` includes the size of the parent."""
    try:
        status = Path("/proc/self/status").read_text("utf-8")
    except OSError:
        largest = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return largest / (1 << 20 if sys.platform == "darwin" else 1 << 10)  # bytes or KB
    return int(status.partition("VmHWM:")[2].split()[0]) / (1 << 10)


def _timed_stages(page: bytes) -> Iterator[tuple[str, float]]:
    """Yield each stage with its seconds, then the bare parse and the whole of the same page."""
    seconds, decoded = _time_call(decode, page)
    yield "decode", seconds
    seconds, tree = _time_call(parse, decoded)
    yield "parse", seconds
    seconds, metadata = _time_call(read_metadata, tree, None)
    yield "metadata", seconds
    parsed = ParsedPage(decoded, tree, metadata)
    # Each of these attributes is computed when it is first read.
    yield "walk", _seconds(lambda: parsed.blocks)
    yield "menus", _seconds(lambda: parsed.candidates)
    yield "features", _seconds(lambda: parsed.candidate_features)
    yield "evidence", _seconds(lambda: parsed.block_features)
    yield "network", _seconds(load_network().probabilities, parsed.block_features)
    yield BARE_PARSE, _seconds(bare_parser(), decoded)
    # The allocator sorts what lxml has freed at the next large request, 0.15 of a parse: here, and
    # not in what is timed next.
    bytearray(1 << 16)
    yield WHOLE, _seconds(extract, page)


def _time_call(call: Callable[..., Any], *arguments: object) -> tuple[float, Any]:
    start = time.thread_time()
    result = call(*arguments)
    return time.thread_time() - start, result


def _seconds(call: Callable[..., Any], *arguments: object) -> float:
    return _time_call(call, *arguments)[0]


def _warm_up(pages: Iterable[int] = range(5)) -> None:
    """Extract some pages, since the first ones include loading and compiling."""
    for seed in pages:
        extract(generated_page(1000 * PAGE_KB, seed))
