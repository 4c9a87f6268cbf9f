"""What a recipe prints: tables, or CSV and JSON for programs, to standard output, and notes and
progress to standard error."""

import csv
import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal

from rich import box
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

Format = Literal["table", "csv", "json"]


class RecipeError(ValueError):
    """A recipe can't be run as asked; the message is one line that says what to do."""


@dataclass(frozen=True, slots=True)
class Column:
    """A value of each row: its key for programs; heading and format (PEP 3101) for tables."""

    key: str
    heading: str
    spec: str = ""


def show(
    rows: Sequence[Mapping[str, object]], columns: Sequence[Column], form: Format, *, title: str
) -> None:
    """Write rows as a table with a title, or as CSV or JSON without one."""
    keys = [column.key for column in columns]
    if form == "json":
        listed = [{key: row[key] for key in keys} for row in rows]
        sys.stdout.write(json.dumps(listed, ensure_ascii=False, indent=2) + "\n")
    elif form == "csv":
        writer = csv.DictWriter(sys.stdout, keys, extrasaction="ignore", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    else:
        table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
        for column in columns:
            is_number = all(isinstance(row[column.key], int | float) for row in rows)
            justify: Literal["left", "right"] = "right" if is_number else "left"
            table.add_column(column.heading, justify=justify, no_wrap=is_number)
        for row in rows:
            table.add_row(*(Text(format(row[column.key], column.spec)) for column in columns))
        console = Console(highlight=False)
        # A narrower terminal breaks the lines itself, while a narrower table would cut off digits.
        console.width = max(console.width, 80)
        console.print(Text(title, style="bold"))
        console.print(table)


def write_note(message: str) -> None:
    """Write a line for people."""
    sys.stderr.write(f"{message}\n")


@contextmanager
def progress(name: str, steps: int) -> Iterator[Callable[[str], None]]:
    """Show a bar; call what it yields after each step, with a note."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    notes = (TextColumn("{task.fields[note]}"), TimeRemainingColumn())
    with Progress(*columns, *notes, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(name, total=steps, note="")
        yield lambda note: bar.update(task, advance=1, note=note)
