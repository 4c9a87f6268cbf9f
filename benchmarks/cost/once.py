"""Measure pages that are read once, as in a crawl, by our method and other tools in one process.

`python -m benchmarks.cost.once --corpus DIR [--pages 300] [--tools resiliparse,trafilatura]`

Each tool reads each page once, in turns. Other tools displace our data from the processor's caches,
so the figures are larger than with `--tools ""`. Tools that aren't installed are left out, and with
NEWSCRAWL_PURE=1 in the environment the compiled kernel.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from benchmarks.command_line import run
from benchmarks.cost.generated_pages import generated_page
from benchmarks.extraction.peers import PEERS, bare_parser
from benchmarks.extraction.speed import WARM_UP, sample
from newscrawl.cli.arguments import Format
from newscrawl.cli.output import Column, progress, render
from newscrawl.extraction.compiled import PATH
from newscrawl.extraction.extract import extract
from newscrawl.extraction.language import decide_language
from newscrawl.training.corpus import DEVELOPMENT, Corpus, load_corpus, part_of

BARE, OURS = "bare lxml parse", "newscrawl"
# Without stop words, so that a model identifies its language, which takes 0.4 s to load.
_UNKNOWN: Final = "blorf quindle vastrum " * 20
# Ours: bytes of the largest page, 20 times the mean.
MAX_SIZE: Final = 1_500_000

Reader = Callable[[bytes], Any]


def once(pages: Sequence[bytes], readers: dict[str, Reader]) -> Iterator[dict[str, float]]:
    """Yield for each page the CPU seconds that each reader takes."""
    for page in pages:
        seconds = {}
        for name, read in readers.items():
            start = time.thread_time()
            result = read(page)
            seconds[name] = time.thread_time() - start
            del result
            # The allocator sorts what was freed at the next large request: not in the next tool.
            bytearray(1 << 16)
        yield seconds


def readers_of(tools: Sequence[str]) -> dict[str, Reader]:
    """Return the bare parse, ours and those of these tools that are installed."""
    readers: dict[str, Reader] = {BARE: bare_parser(), OURS: extract}
    for name in tools:
        try:
            readers[name] = _of_text(PEERS[name].build())
        except ImportError:
            continue
    return readers


def _of_text(read: Callable[[str, str | None], Any]) -> Reader:
    return lambda page: read(page.decode("utf-8", "replace"), None)


def cost_once(
    corpus: Path | None = None,
    pages: Annotated[int, typer.Option(min=1, help="Pages, of sites that are not sealed.")] = 300,
    tools: Annotated[str, typer.Option(help="Other tools, separated by commas.")] = (
        "resiliparse,trafilatura"
    ),
    form: Format = "table",
) -> None:
    """Measure the cost of pages that are read once, also with other tools."""
    readers = readers_of([name for name in tools.split(",") if name])
    warm_up = [generated_page(30_000, seed) for seed in range(WARM_UP)]
    list(once(warm_up, readers))
    decide_language(None, _UNKNOWN)
    chosen = _choose_pages(corpus, pages)
    with progress("pages", len(chosen)) as step:
        timings = []
        for seconds in once(chosen, readers):
            timings.append(seconds)
            step("")
    totals = {name: sum(seconds[name] for seconds in timings) for name in readers}
    rows = [
        {"tool": name, "ms": 1000 * total / len(timings), "ratio": total / totals[BARE]}
        for name, total in totals.items()
    ]
    note = f"{len(timings)} pages, each read once by each tool in turn. Extraction: {PATH}."
    render(rows, _COLUMNS, form, title="The cost of pages that are read once", note=note)


def _choose_pages(folder: Any, count: int) -> list[bytes]:
    if folder is None:
        return [generated_page(30_000, seed) for seed in range(WARM_UP, WARM_UP + count)]
    corpus = load_corpus(folder)
    opened = (page for page in corpus if part_of(page.owner) == DEVELOPMENT)
    picked = sample(Corpus(corpus.name, tuple(opened)), count)
    return [html for page in picked if len(html := page.html) <= MAX_SIZE]


_COLUMNS: Final = (
    Column("tool"),
    Column("ms", "ms a page", number=True, show=lambda value: f"{value:.2f}"),
    Column("ratio", "× bare parse", number=True, show=lambda value: f"{value:.2f}"),
)

if __name__ == "__main__":
    run(cost_once)
