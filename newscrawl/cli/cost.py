"""newscrawl cost: what extraction costs by stage, by size of the page, and in memory."""

import os
import platform
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from newscrawl.cli.arguments import FormatOption
from newscrawl.cli.labelled import CorpusOption, progress
from newscrawl.cli.output import Column, Row, render, say

if TYPE_CHECKING:
    from newscrawl.training.cost_tables import Cost

DOCUMENT = Path("docs/performance.md")
EXAMPLE = "Example: newscrawl cost --corpus corpus"


def cost(
    corpus: CorpusOption = None,
    largest: Annotated[
        int, typer.Option(min=10, help="Size of the largest page, in KB.", metavar="KB")
    ] = 10_000,
    pages: Annotated[
        int, typer.Option(min=10, help="Pages that memory is measured over.", metavar="COUNT")
    ] = 10_000,
    rounds: Annotated[int, typer.Option(min=1, help="Rounds, of which the fastest counts.")] = 3,
    write_docs: Annotated[
        bool, typer.Option("--write-docs", help=f"Write the tables into {DOCUMENT} too.")
    ] = False,
    form: FormatOption = "table",
) -> None:
    """Measure what extraction costs: CPU time by stage and by size, and memory.

    Stages are measured on 80 pages of the corpus, and without one on pages that we make up, as
    are sizes and memory. Exit code 1 where time grows faster than size, or memory with the pages.
    """
    from newscrawl.training.cost import FLAT, LINEAR, growth
    from newscrawl.training.cost_tables import write

    found = _measured(corpus, largest, pages, rounds)
    if write_docs:
        write(found, DOCUMENT)
    render(_rows(found), _COLUMNS, form, title="What extraction costs", note=found.provenance)
    grown = found.memory[-1].megabytes / found.memory[0].megabytes
    complaints = []
    if growth(found.sizes) > LINEAR:
        complaints.append(f"a KB of the largest page costs {growth(found.sizes):.2f} times a KB")
    if grown > FLAT:
        complaints.append(f"memory grew to {grown:.2f} times what it was")
    for complaint in complaints:
        say(f"too much: {complaint}")
    if complaints:
        raise typer.Exit(1)


def _measured(folder: Path | None, largest: int, pages: int, rounds: int) -> "Cost":
    from newscrawl.training import cost
    from newscrawl.training.cost_tables import Cost

    about, sample = _sample(folder)
    kilobytes = [size for size in cost.SIZES if size <= largest]
    with progress("stages", rounds * len(sample)) as step:
        stages = cost.stages(sample, rounds=rounds, told=lambda: step(""))
    with progress("sizes", len(kilobytes)) as step:
        sizes = cost.sizes(kilobytes, rounds=rounds, told=lambda: step(""))
    with progress("memory", 1) as step:
        memory = cost.memory(first=pages // 5, pages=pages)
        step("")
    machine = f"{platform.system()} {platform.machine()}, Python {platform.python_version()}"
    made = f"Made {datetime.now(UTC):%Y-%m-%d} on {machine}; stages on {about}; load {_load()}."
    return Cost(stages, sizes, memory, made)


def _load() -> str:
    """How busy the machine is: others who use its caches cost time."""
    cores = os.cpu_count() or 1
    running = f"{os.getloadavg()[0]:.0f}" if hasattr(os, "getloadavg") else "unknown"
    return f"{running} on {cores} core{'s' if cores > 1 else ''}"


def _sample(folder: Path | None) -> tuple[str, Sequence[bytes]]:
    from newscrawl.training.benchmark_speed import PAGES, sample
    from newscrawl.training.corpus import load_corpus
    from newscrawl.training.cost import PAGE_KB
    from newscrawl.training.generated_pages import generated_pages

    if folder is None:
        return f"{PAGES} made-up pages", tuple(generated_pages(1000 * PAGE_KB, PAGES))
    pages = sample(load_corpus(folder))
    return f"{len(pages)} pages of the corpus", [page.html for page in pages]


def _rows(found: "Cost") -> list[Row]:
    rows: list[Row] = [
        {"part": "stage", "what": each.name, "ms": each.milliseconds, "ratio": each.times_parse}
        for each in found.stages
    ]
    rows += [
        {
            "part": "size",
            "what": f"{each.kilobytes:.0f} KB",
            "ms": each.milliseconds,
            "ratio": each.milliseconds / each.parse,
            "ms_per_kb": each.per_kilobyte,
        }
        for each in found.sizes
    ]
    rows += [
        {"part": "memory", "what": f"{each.pages} pages", "mb": each.megabytes}
        for each in found.memory
    ]
    return rows


_COLUMNS = (
    Column(key="part", heading="part"),
    Column(key="what", heading="of"),
    Column(key="ms", heading="ms", number=True, show=lambda value: _shown(value, 2)),
    Column(key="ratio", heading="× parse", number=True, show=lambda value: _shown(value, 2)),
    Column(key="ms_per_kb", heading="ms a KB", number=True, show=lambda value: _shown(value, 3)),
    Column(key="mb", heading="MB", number=True, show=lambda value: _shown(value, 0)),
)


def _shown(value: object, digits: int) -> str:
    return f"{value:.{digits}f}" if isinstance(value, float) else ""
