"""Write rows as a table for people, or as CSV, JSON or Parquet for programs.

Most of the text is untrusted: in a table it can neither move the cursor nor become markup, and in
CSV it can't become a formula.
"""

import csv
import json
import re
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import KW_ONLY, asdict, dataclass, fields, is_dataclass, replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from rich import box
from rich.console import Console
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from newscrawl.cli.arguments import ExportFormat, InputError

if TYPE_CHECKING:
    from rich.progress import Progress, ProgressColumn


Row = Mapping[str, object]

# Ours: rows of a long table in a terminal; csv and json have all of them.
MAX_ROWS = 40
# Ours: characters of a terminal's line from which on tables show the names of sources, too.
WIDE = 110
# Control characters, including the escapes that colour, move and rename a terminal, and the marks
# that reverse the direction of text.
_CONTROLS = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


@dataclass(frozen=True, slots=True)
class Column:
    """`key` is the name of the value in a row, in CSV and JSON; `heading` that in a table, by
    default the same in words. Cells of a table are broken into lines if the column is `wide`.

    `of` takes the value out of a row, by default that of the same name; `show` makes the cell of a
    table; columns with `table=False` are for programs only.
    """

    key: str
    heading: str | None = None
    _: KW_ONLY
    of: Callable[[Any], object] | None = None
    show: Callable[[object], str | Text] | None = None
    number: bool = False
    wide: bool = False
    table: bool = True

    @property
    def words(self) -> str:
        """Return the heading of the column in a table."""
        return self.key.replace("_", " ") if self.heading is None else self.heading

    def value(self, row: Any) -> object:
        """Return the value in a row, which is a mapping or has attributes."""
        if self.of is not None:
            return self.of(row)
        return row.get(self.key) if isinstance(row, Mapping) else getattr(row, self.key)


def for_files(*keys: str) -> list[Column]:
    """Return columns that are for programs only."""
    return [Column(key, table=False) for key in keys]


def show(
    rows: Sequence[Any],
    row: type,
    output_format: ExportFormat,
    note: str = "",
    limit: int | None = None,
) -> None:
    """Write the rows of a question in the columns that their dataclass declares, at most `limit` of
    them, as `render` does."""
    render(records_of(rows), columns_of(row), output_format, note=note, limit=limit)


def columns_of(
    row: type, without: Collection[str] = (), shown: Mapping[str, str] | None = None
) -> list[Column]:
    """Return a column for each field of a row, and for each field of the rows in it; with `shown`,
    which has headings by keys, a table has these alone."""
    from newscrawl.storage.queries.questions import column_of, type_of

    columns: list[Column] = []
    for field in fields(row):
        name = column_of(field)
        where = field.metadata.get("shown", "table")
        if where == "nowhere" or name in without:
            continue
        kind: Any = type_of(field)
        if is_dataclass(kind):
            keys = {column.key for column in columns}
            for column in columns_of(type_of(field), without):
                if column.key in keys:
                    # The key that `flat_row` gives it where two have the same one.
                    heading = f"{field.name} {column.words}".replace("_", " ")
                    key = f"{field.name}_{column.key}"
                    columns.append(replace(column, key=key, heading=heading))
                else:
                    columns.append(column)
        else:
            columns.append(
                Column(
                    name,
                    show=_FORMATS.get(name),
                    number=kind in {int, float},
                    wide=kind is str,
                    table=where == "table",
                )
            )
    if shown is not None:
        columns = [
            replace(column, heading=shown.get(column.key, ""), table=column.key in shown)
            for column in columns
        ]
    return columns


def records_of(rows: Iterable[Any]) -> list[dict[str, object]]:
    """Return the values of the rows by their columns' keys."""
    from newscrawl.storage.queries.questions import column_of, flat_row

    return [flat_row(type(row), row, column_of) for row in rows]


def render(
    rows: Iterable[Any],
    columns: Sequence[Column],
    output_format: ExportFormat,
    *,
    title: str = "",
    note: str = "",
    most: int | None = None,
    limit: int | None = None,
) -> None:
    """Write the rows to standard output; `title` and `note` go with a table only, and `most`
    limits its rows. Write at most `limit` rows, the value of --limit, and say on standard error if
    there are more."""
    from newscrawl.templating import spreadsheet_text

    records = [{column.key: column.value(row) for column in columns} for row in rows]
    if limit is not None and len(records) > limit:
        records = records[:limit]
        write_note(f"There are more than {limit:,}: --limit {10 * limit} lists further ones.")
    if output_format == "csv":
        writer = csv.writer(sys.stdout, lineterminator="\n")
        writer.writerow([column.key for column in columns])
        for record in records:
            values = map(_field, record.values())
            writer.writerow(
                spreadsheet_text(value) if isinstance(value, str) else value for value in values
            )
    elif output_format == "json":
        write_json(records)
    elif output_format == "jsonl":
        for record in records:
            line = json.dumps(record, ensure_ascii=False, default=_plain)
            sys.stdout.write(f"{line}\n")
    elif output_format == "parquet":
        if sys.stdout.isatty():
            raise InputError("parquet is for files: add > FILE.parquet to the command")
        import pyarrow
        from pyarrow import parquet

        flat = [{key: _nested(value) for key, value in record.items()} for record in records]
        parquet.write_table(pyarrow.Table.from_pylist(flat), sys.stdout.buffer)
    else:
        if most is not None and len(records) > most:
            records, note = records[:most], f"{note}; the first {most} shown"
        console = terminal()
        # Not as the table's title and caption, which would be broken to the table's width.
        if title:
            console.print(Text(printable(title), style="bold"))
        table = table_of(records, [replace(column, of=None) for column in columns])
        unbounded = console.options.update(max_width=10_000)
        for gap in (1, 0):
            if Measurement.get(console, unbounded, table).minimum <= console.width:
                break
            table.padding = (0, gap, 0, 0)
        console.print(table)
        if note:
            console.print(Text(printable(note), style="dim"))


def show_facts(
    facts: Mapping[str, object],
    output_format: ExportFormat,
    show_value: Callable[[object], str] | None = None,
) -> None:
    """Write facts with their names."""
    columns = (Column("fact", "", wide=True), Column("value", "", wide=True, show=show_value))
    rows = [{"fact": name, "value": value} for name, value in facts.items()]
    render(rows, columns, output_format)


def write_json(value: object) -> None:
    """Write JSON: dates in ISO 8601, letters as they are."""
    json.dump(value, sys.stdout, ensure_ascii=False, indent=2, default=_plain)
    sys.stdout.write("\n")


def write_line(message: str) -> None:
    """Write a line of output to standard output."""
    sys.stdout.write(printable(message) + "\n")


def write_file(content: bytes, output: Path | None) -> None:
    """Write a file, or to standard output if none is named; raise InputError for a wrong path."""
    if output is None:
        sys.stdout.buffer.write(content)
        return
    try:
        output.write_bytes(content)
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError, PermissionError) as error:
        raise InputError(f"can't write {str(output)!r}: {error.strerror}") from error


def write_note(message: str) -> None:
    """Write a line for people to standard error."""
    sys.stderr.write(printable(message) + "\n")


def exit_if(failed: object, note: str = "") -> None:
    """Write the note and exit with code 1 if something failed."""
    if failed:
        if note:
            write_note(note)
        raise typer.Exit(1)


def exit_without(answer: object, note: str) -> None:
    """Write the note and exit with code 1 if nothing was found."""
    exit_if(not answer, note)


def printable(text: str) -> str:
    """Return the text without characters that control a terminal."""
    return _CONTROLS.sub(" ", text).encode(errors="replace").decode()


def format_day(value: object) -> str:
    """Return the UTC day of a moment; a dash where there is none."""
    return f"{value.astimezone(UTC):%Y-%m-%d}" if isinstance(value, datetime) else "–"


def _level(value: object) -> Text:
    """Return the completeness of a count in its colour; that of a crawl has none."""
    word = str(value)
    colour = {"full": "green", "partial": "yellow", "none": "red"}.get(word, "")
    return Text("no coverage" if word == "none" else word, style=colour)


# Columns of questions with a format of their own, by their names.
_FORMATS: dict[str, Callable[[object], str | Text]] = {
    "coverage": _level,
    "share": lambda value: f"{value:.1%}" if isinstance(value, float) else "–",
}


def table_of(rows: Iterable[Any], columns: Sequence[Column]) -> Table:
    """Return the rows as a table for a terminal."""
    shown = [column for column in columns if column.table]
    table = Table(
        box=box.SIMPLE_HEAD, pad_edge=False, show_header=any(column.words for column in shown)
    )
    for column in shown:
        table.add_column(
            column.words,
            justify="right" if column.number else "left",
            overflow="fold",
            no_wrap=not column.wide,
        )
    for row in rows:
        table.add_row(*(_cell(column, column.value(row)) for column in shown))
    return table


def terminal() -> Console:
    """Return the console for tables."""
    console = Console(highlight=False)
    # A narrower terminal breaks the lines itself, while a narrower table would cut off digits.
    console.width = max(console.width, 80)
    return console


def source_columns() -> list[Column]:
    """Return the columns of a table for a source: its slug, and its name where there is room."""
    slug = Column("source", wide=True)
    if terminal().width < WIDE:
        return [slug]
    return [slug, Column("name", wide=True)]


def _cell(column: Column, value: object) -> Text:
    shown = column.show(value) if column.show else value
    if isinstance(shown, Text):
        return shown
    if isinstance(shown, datetime):
        return Text(f"{shown:%Y-%m-%d %H:%M} UTC")
    if shown is None:
        return Text("–", style="dim")
    if isinstance(shown, (tuple, list)):
        return Text(printable(", ".join(map(_item_text, shown))))
    return Text("\n".join(map(printable, str(shown).split("\n"))))


def _nested(value: object) -> object:
    """Return a mapping, a record or a list of records as JSON, and all else as it is."""
    items = value if isinstance(value, (tuple, list)) else [value]
    has_names = any(is_dataclass(item) or isinstance(item, Mapping) for item in items)
    return json.dumps(value, ensure_ascii=False, default=_plain) if has_names else value


def _field(value: object) -> object:
    value = _nested(value) if isinstance(value, Mapping) else value
    if isinstance(value, (tuple, list)):
        value = "; ".join(map(_item_text, value))
    if isinstance(value, str):
        return _CONTROLS.sub(" ", value)
    return _plain(value) if isinstance(value, (date, datetime)) else value


def _item_text(value: object) -> str:
    """Return a value of several in a cell: the text of one that has some."""
    if isinstance(value, tuple):
        return " ".join(map(str, value))
    return str(getattr(value, "text", value))


def _plain(value: object) -> object:
    if isinstance(value, (date, datetime)):
        return value.isoformat()
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    raise TypeError(f"no JSON for {type(value).__name__}")


# --- Progress ---


@contextmanager
def bytes_bar(name: str, size: int) -> Iterator[Callable[[int, int], None]]:
    """Show a bar on standard error; call what it yields with bytes and articles done."""
    from rich.progress import DownloadColumn, TextColumn

    counter = TextColumn("{task.fields[articles]} articles")
    with _bar(DownloadColumn(), counter) as bar:
        task = bar.add_task(name, total=size, articles=0)
        articles = 0

        def advance(done: int, more: int) -> None:
            nonlocal articles
            articles += more
            bar.update(task, advance=done, articles=articles)

        yield advance


@contextmanager
def counting_bar(name: str, size: int) -> Iterator[Callable[[int], None]]:
    """Show a bar on standard error; call what it yields with the number of further ones done."""
    from rich.progress import MofNCompleteColumn

    with _bar(MofNCompleteColumn()) as bar:
        task = bar.add_task(name, total=size)
        yield lambda done: bar.update(task, advance=done)


@contextmanager
def total_bar(name: str) -> Iterator[Callable[[int, int], None]]:
    """Show a bar on standard error; call what it yields with the numbers done and in all."""
    from rich.progress import MofNCompleteColumn

    with _bar(MofNCompleteColumn()) as bar:
        task = bar.add_task(name)
        yield lambda done, total: bar.update(task, completed=done, total=total)


@contextmanager
def progress(name: str, steps: int) -> Iterator[Callable[[str], None]]:
    """Show a bar on standard error; call what it yields after each step, with a note."""
    from rich.progress import MofNCompleteColumn, TextColumn

    with _bar(MofNCompleteColumn(), TextColumn("{task.fields[note]}")) as bar:
        task = bar.add_task(name, total=steps, note="")
        yield lambda note: bar.update(task, advance=1, note=note)


def _bar(*amounts: "ProgressColumn") -> "Progress":
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
