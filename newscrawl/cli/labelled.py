"""What commands over labelled pages share: the corpus option, its filters, a progress bar."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from newscrawl.cli.arguments import InputError

if TYPE_CHECKING:
    from newscrawl.training.corpus import Corpus
    from newscrawl.training.examples import Example

CorpusOption = Annotated[
    Path | None,
    typer.Option(envvar="NEWSCRAWL_CORPUS", help="Folder of labelled pages.", metavar="DIR"),
]
SetsOption = Annotated[
    list[str] | None, typer.Option("--set", help="Only this set; may be repeated.", metavar="NAME")
]
LangsOption = Annotated[
    list[str] | None,
    typer.Option("--lang", help="Only this language; may be repeated.", metavar="CODE"),
]


def corpus_from(folder: Path | None) -> "Corpus":
    """The corpus of the option or the environment; raises InputError where there is none."""
    from newscrawl.training.corpus import load_corpus

    if folder is None:
        raise InputError("which labelled pages? give --corpus DIR or set NEWSCRAWL_CORPUS")
    return load_corpus(folder)


def examples_from(pages: "Corpus") -> "list[Example]":
    """The evidence and labels of all pages that have a gold text, read behind a bar."""
    from newscrawl.training.examples import read_examples

    labelled = sum(bool(page.text) for page in pages)
    with progress("evidence", labelled) as step:
        return read_examples(pages, lambda: step(""))


@contextmanager
def needing_torch() -> Iterator[None]:
    """Say what to install where an import in this context finds no PyTorch."""
    try:
        yield
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise
        raise InputError(
            "training the network needs PyTorch: pip install 'newscrawl[network]'"
        ) from error


@contextmanager
def progress(name: str, steps: int) -> Iterator[Callable[[str], None]]:
    """A bar on standard error, gone when done; call what it yields after each step, with a note."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    more = (TimeElapsedColumn(), TextColumn("{task.fields[note]}"))
    with Progress(*columns, *more, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(name, total=steps, note="")
        yield lambda note: bar.update(task, advance=1, note=note)
