"""newscrawl ingest: WARC files of others, over all cores."""

from collections.abc import Sequence
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Annotated

import typer

from newscrawl import config
from newscrawl.cli.archives import (
    SourcesOption,
    WorkersOption,
    bytes_bar,
    cores,
    reading_config,
)
from newscrawl.cli.arguments import (
    CompaniesOption,
    DatabaseOption,
    Format,
    FormatOption,
    InputError,
    SinceOption,
    UntilOption,
    parse_day,
)

if TYPE_CHECKING:
    from newscrawl.archive.ingest import FileProgress

EXAMPLE = "Example: newscrawl ingest CC-NEWS-*.warc.gz --language de --since 2026-11-01"


def ingest(
    warcs: Annotated[
        list[Path], typer.Argument(help="WARC files, or folders of them.", metavar="WARC...")
    ],
    language: Annotated[
        list[str] | None,
        typer.Option(
            "--language", help="Only articles in this language; may be repeated.", metavar="CODE"
        ),
    ] = None,
    host: Annotated[
        list[str] | None,
        typer.Option(
            "--host", help="Only this host and those below it; may be repeated.", metavar="HOST"
        ),
    ] = None,
    since: SinceOption = None,
    until: UntilOption = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Articles to take in, at most.")] = None,
    workers: WorkersOption = None,
    output_format: FormatOption = "table",
    database: DatabaseOption = None,
    companies: CompaniesOption = None,
    sources: SourcesOption = None,
) -> None:
    """Take the articles of WARC files into the database, with the companies that they name.

    For archives such as CC-NEWS. An article counts for the registered source whose site it is of,
    else for a source that bears its host's name. What was broken off goes on where it stopped, and
    a file that was taken in already, with the same options, is passed over.

    Exit code 1 where a file can't be read, or no article was found.
    """
    from newscrawl.archive.ingest import Ingestion
    from newscrawl.archive.page_processor import PageFilter
    from newscrawl.storage import open_database

    files = _files(warcs)
    selection = PageFilter(
        languages=frozenset(code.strip().lower() for code in language or ()),
        hosts=frozenset(name.strip().lower().strip(".") for name in host or ()),
        since=parse_day(since, option="--since") if since else None,
        until=parse_day(until, option="--until") if until else None,
    )
    reading = reading_config(selection, companies, sources)
    began = monotonic()
    with (
        open_database(database or config.NEWSCRAWL_DATABASE_URL) as store,
        bytes_bar("ingesting", sum(map(_size, files))) as on_progress,
    ):
        number = workers or cores()
        ingestion = Ingestion(store, reading, workers=number, limit=limit, on_progress=on_progress)
        states = ingestion.run(files)
    _report(states, output_format, monotonic() - began)


def _files(given: Sequence[Path]) -> list[Path]:
    from newscrawl.archive.lookup import warc_files

    files = [file for path in given for file in (warc_files(path) if path.is_dir() else [path])]
    if files and not any(file.exists() for file in files):
        missing = " or ".join(map(str, files))
        raise InputError(f"no WARC file at {missing}: give files or folders that are there")
    if not files:
        raise InputError(f"no WARC file (*.warc.gz, *.warc) in {' or '.join(map(str, given))}")
    return files


def _size(path: Path) -> int:
    return path.stat().st_size if path.is_file() else 0


def _report(states: "Sequence[FileProgress]", output_format: Format, seconds: float) -> None:
    from newscrawl.cli.output import Column, render, say

    columns = (
        Column(key="file", heading="file", wide=True),
        Column(key="records", heading="records", number=True),
        Column(key="articles", heading="articles", number=True),
        Column(key="new", heading="new", number=True),
        Column(key="revised", heading="revised", number=True, table=False),
        Column(key="unchanged", heading="known", number=True),
        Column(key="quarantined", heading="", number=True, table=False),
        Column(key="mentions", heading="mentions", number=True),
        *(
            Column(key=key, heading="", number=True, table=False)
            for key in ("no_page", "no_article", "unwanted", "too_large", "unstorable")
        ),
        Column(key="damaged", heading="damaged", number=True),
        Column(key="parts_lost", heading="", number=True, table=False),
        Column(key="state", heading="state"),
    )
    rows = [_row(state) for state in states]
    read = sum(state.bytes_read for state in states)
    note = f"{read / 1e6:,.1f} MB in {seconds:,.1f} s"
    render(rows, columns, output_format, note=note)
    for state in states:
        if state.problem:
            say(f"newscrawl: {state.problem}")
    found = any(state.counts["articles"] or state.done_before for state in states)
    if not found or any(state.problem for state in states):
        raise typer.Exit(1)


def _row(state: "FileProgress") -> dict[str, object]:
    counts = state.counts
    told = "failed" if state.problem else "broken off" if state.is_open else "done"
    return {
        "file": state.path.name,
        **{key: counts[key] for key in _COUNTED},
        "state": "done before" if state.done_before else told,
    }


_COUNTED = (
    "records",
    "articles",
    "new",
    "revised",
    "unchanged",
    "quarantined",
    "mentions",
    "no_page",
    "no_article",
    "unwanted",
    "too_large",
    "unstorable",
    "damaged",
    "parts_lost",
)
