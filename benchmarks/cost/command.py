"""The command of the cost benchmark, and its tables in docs/performance.md."""

import os
import platform
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Final

import typer

from benchmarks.cost import (
    FLAT,
    LINEAR,
    PAGE_KB,
    SIZES,
    Memory,
    Size,
    Stage,
    growth,
    memory as measure_memory,
    sizes as measure_sizes,
    stages as measure_stages,
)
from benchmarks.cost.generated_pages import generated_pages
from benchmarks.documents import fill
from benchmarks.extraction.speed import PAGES, load, sample
from newscrawl.cli.arguments import Format
from newscrawl.cli.output import Column, Row, progress, render, write_note
from newscrawl.extraction.compiled import PATH
from newscrawl.training.corpus import load_corpus

DOCUMENT = Path("docs/performance.md")
KIND = "cost"  # of the marks in the document


@dataclass(frozen=True, slots=True)
class Cost:
    """All measurements of one run, and when, where and over which pages they were made."""

    stages: Sequence[Stage]
    sizes: Sequence[Size]
    memory: Sequence[Memory]
    provenance: str


def cost(
    corpus: Path | None = None,
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
    form: Format = "table",
) -> None:
    """Measure what extraction costs: CPU time by stage and by size, and memory.

    Stages are measured on 80 pages of the corpus, or on generated pages without one; sizes and
    memory on generated pages. Exit code 1 if time grows faster than size, or memory with the
    number of pages.
    """
    measured = _measure(corpus, largest, pages, rounds)
    if write_docs:
        fill(DOCUMENT, KIND, TABLES, measured)
    render(_rows(measured), _COLUMNS, form, title="What extraction costs", note=measured.provenance)
    grown = measured.memory[-1].megabytes / measured.memory[0].megabytes
    complaints = []
    if growth(measured.sizes) > LINEAR:
        complaints.append(f"a KB of the largest page costs {growth(measured.sizes):.2f} times a KB")
    if grown > FLAT:
        complaints.append(f"memory grew to {grown:.2f} times the first size")
    for complaint in complaints:
        write_note(f"too much: {complaint}")
    if complaints:
        raise typer.Exit(1)


def _measure(folder: Path | None, largest: int, pages: int, rounds: int) -> Cost:
    about, chosen = _sample(folder)
    kilobytes = [size for size in SIZES if size <= largest]
    with progress("stages", rounds * len(chosen)) as step:
        stages = measure_stages(chosen, rounds=rounds, on_page=lambda: step(""))
    with progress("sizes", len(kilobytes)) as step:
        sizes = measure_sizes(kilobytes, rounds=rounds, on_page=lambda: step(""))
    with progress("memory", 1) as step:
        memory = measure_memory(first=pages // 5, pages=pages)
        step("")
    machine = f"{platform.system()} {platform.machine()}, Python {platform.python_version()}"
    provenance = (
        f"Made {datetime.now(UTC):%Y-%m-%d} on {machine}; stages on {about}; load {_load()}."
    )
    provenance = f"{provenance} Extraction: {PATH}."
    return Cost(stages, sizes, memory, provenance)


def _load() -> str:
    """Return the load of the machine: other processes that use its caches take time."""
    cores = os.cpu_count() or 1
    return f"{load()} on {cores} core{'s' if cores > 1 else ''}"


def _sample(folder: Path | None) -> tuple[str, Sequence[bytes]]:
    if folder is None:
        return f"{PAGES} generated pages", tuple(generated_pages(1000 * PAGE_KB, PAGES))
    pages = sample(load_corpus(folder))
    return f"{len(pages)} pages of the corpus", [page.html for page in pages]


def _rows(cost: Cost) -> list[Row]:
    rows: list[Row] = [
        {"part": "stage", "what": each.name, "ms": each.milliseconds, "ratio": each.times_parse}
        for each in cost.stages
    ]
    rows += [
        {
            "part": "size",
            "what": f"{each.kilobytes:.0f} KB",
            "ms": each.milliseconds,
            "ratio": each.milliseconds / each.parse,
            "ms_per_kb": each.per_kilobyte,
        }
        for each in cost.sizes
    ]
    rows += [
        {"part": "memory", "what": f"{each.pages} pages", "mb": each.megabytes}
        for each in cost.memory
    ]
    return rows


_COLUMNS = (
    Column("part"),
    Column("what", "of"),
    Column("ms", number=True, show=lambda value: _format_value(value, 2)),
    Column("ratio", "× parse", number=True, show=lambda value: _format_value(value, 2)),
    Column("ms_per_kb", "ms a KB", number=True, show=lambda value: _format_value(value, 3)),
    Column("mb", "MB", number=True, show=lambda value: _format_value(value, 0)),
)


def _format_value(value: object, digits: int) -> str:
    return f"{value:.{digits}f}" if isinstance(value, float) else ""


def stages_table(cost: Cost) -> str:
    lines = [
        f"| {stage.name} | {stage.milliseconds:.2f} | {stage.times_parse:.2f} |"
        for stage in cost.stages
    ]
    return "\n".join(["| stage | ms a page | × bare parse |", "|---|--:|--:|", *lines])


def sizes_table(cost: Cost) -> str:
    heads = "| page, KB | ms | ms a KB | × bare parse |\n|--:|--:|--:|--:|"
    lines = [
        f"| {size.kilobytes:,.0f} | {size.milliseconds:,.1f} | {size.per_kilobyte:.3f} "
        f"| {size.milliseconds / size.parse:.1f} |"
        for size in cost.sizes
    ]
    sentence = (
        f"A KB of the largest page costs {growth(cost.sizes):.2f} times one of the cheapest page."
    )
    return "\n".join([heads, *lines, "", sentence])


def memory_table(cost: Cost) -> str:
    lines = [f"| {each.pages:,} | {each.megabytes:.0f} |" for each in cost.memory]
    return "\n".join(["| pages read | MB |", "|--:|--:|", *lines])


TABLES: Final[Mapping[str, Callable[[Cost], str]]] = {
    "stages": stages_table,
    "sizes": sizes_table,
    "memory": memory_table,
    "provenance": lambda cost: cost.provenance,
}
