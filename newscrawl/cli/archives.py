"""What commands over archives share: how pages are read, over how many cores, progress bars."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from newscrawl import config

if TYPE_CHECKING:
    from collections.abc import Callable

    from rich.progress import Progress, ProgressColumn

    from newscrawl.archive.page_processor import PageFilter, ReadingConfig

WorkersOption = Annotated[
    int | None, typer.Option(min=1, help="Processes; else one a core.", show_default=False)
]
DryRunOption = Annotated[
    bool, typer.Option("--dry-run", help="Only tell what would change; write nothing.")
]
SourcesOption = Annotated[
    Path | None,
    typer.Option(
        "--sources",
        envvar="NEWSCRAWL_SOURCES",
        help="A sources file of your own, beside the bundled one.",
        metavar="FILE",
    ),
]


def reading_config(
    selection: "PageFilter", companies: Path | None, sources: Path | None
) -> "ReadingConfig":
    """How pages are read by today's settings; checks the files, so that no worker has to."""
    from newscrawl.archive.page_processor import PageProcessor, ReadingConfig
    from newscrawl.cli.arguments import one_of
    from newscrawl.extraction.methods import METHODS
    from newscrawl.reading import PageReader

    own_companies = companies or config.NEWSCRAWL_COMPANIES
    own_sources = sources or config.NEWSCRAWL_SOURCES
    least = config.NEWSCRAWL_MIN_CHARACTERS
    reading = ReadingConfig(
        reader=PageReader(
            method=one_of(config.NEWSCRAWL_METHOD, list(METHODS), "method", "docs/settings.md"),
            least=config.whole_number("NEWSCRAWL_MIN_CHARACTERS", least),
        ),
        page_filter=selection,
        companies=Path(own_companies) if own_companies else None,
        sources=Path(own_sources) if own_sources else None,
    )
    PageProcessor(reading)
    return reading


def cores() -> int:
    """The cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@contextmanager
def bytes_bar(name: str, size: int) -> "Iterator[Callable[[int, int], None]]":
    """A bar on standard error, gone when done; what it yields takes bytes and articles done."""
    from rich.progress import DownloadColumn, TextColumn

    found = TextColumn("{task.fields[articles]} articles")
    with _bar(DownloadColumn(), found) as bar:
        task = bar.add_task(name, total=size, articles=0)
        articles = 0

        def advance(done: int, found: int) -> None:
            nonlocal articles
            articles += found
            bar.update(task, advance=done, articles=articles)

        yield advance


@contextmanager
def counting_bar(name: str, size: int) -> "Iterator[Callable[[int], None]]":
    """A bar on standard error, gone when done; what it yields takes how many more are done."""
    from rich.progress import MofNCompleteColumn

    with _bar(MofNCompleteColumn()) as bar:
        task = bar.add_task(name, total=size)
        yield lambda done: bar.update(task, advance=done)


def _bar(*amounts: "ProgressColumn") -> "Progress":
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (TextColumn("{task.description}"), BarColumn(), *amounts)
    times = (TimeElapsedColumn(), TimeRemainingColumn())
    return Progress(*columns, *times, console=Console(stderr=True), transient=True)
