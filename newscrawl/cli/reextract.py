"""newscrawl reextract: archived pages by today's extraction."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from newscrawl import config
from newscrawl.cli.archives import (
    DryRunOption,
    SourcesOption,
    WorkersOption,
    cores,
    counting_bar,
    reading_config,
)
from newscrawl.cli.arguments import (
    REASONS,
    CompaniesOption,
    DatabaseOption,
    Format,
    FormatOption,
    InputError,
    SinceOption,
    SourceOption,
    open_for_reading,
    scope_of,
)

if TYPE_CHECKING:
    from newscrawl.archive.reextract import Change

EXAMPLE = "Example: newscrawl reextract --archive archive --source ft --dry-run"

# Ours: a table of more articles is no overview; csv and json have them all.
_SHOWN = 40


def reextract(
    archive: Annotated[
        Path | None,
        typer.Option(
            envvar="NEWSCRAWL_ARCHIVE", help="Folder of WARC files of a crawl.", metavar="DIR"
        ),
    ] = None,
    source: SourceOption = None,
    since: SinceOption = None,
    dry_run: DryRunOption = False,
    every: Annotated[
        bool, typer.Option("--all", help="List articles that stay the same, too.")
    ] = False,
    workers: WorkersOption = None,
    output_format: FormatOption = "table",
    database: DatabaseOption = None,
    companies: CompaniesOption = None,
    sources: SourcesOption = None,
) -> None:
    """Read archived pages again by today's extraction, and store what has changed.

    The text that was stored becomes a revision. Lists the articles that are *new*, *changed*, or
    *lost*: those in which today's extraction finds less, and which stay as they are. What was found
    of them is in the quarantine (newscrawl articles --quarantined). What was broken off goes on
    where it stopped.

    Exit code 1 where no article was looked at.
    """
    from newscrawl.archive.lookup import Archive
    from newscrawl.archive.page_processor import PageFilter
    from newscrawl.archive.reextract import Reextraction
    from newscrawl.cli.output import say

    folder = archive or config.NEWSCRAWL_ARCHIVE
    if not folder:
        raise InputError("no archive: name one by --archive DIR or NEWSCRAWL_ARCHIVE")
    reading = reading_config(PageFilter(), companies, sources)
    with open_for_reading(database) as store:
        scope = scope_of(store, since=since, source=source)
        task = Reextraction(
            store, Archive(Path(folder)), reading, source=scope.source, since=scope.since
        )
        if not dry_run and task.done_before:
            say(f"Going on where the last run was broken off, after {task.done_before:,} pages.")
        with counting_bar("pages", len(task)) as advance:
            number = workers or cores()
            found = list(task.run(workers=number, dry_run=dry_run, on_progress=advance))
    _report(found, output_format, every=every)
    if not found:
        say("No article was looked at.")
        raise typer.Exit(1)


def _report(changes: "Sequence[Change]", output_format: Format, *, every: bool) -> None:
    from dataclasses import asdict

    from newscrawl.cli.output import Column, render

    listed = [change for change in changes if every or change.outcome != "unchanged"]
    rows = [
        {**asdict(change), "characters": _lengths(change), "became": _became(change)}
        for change in listed
    ]
    columns = [
        Column(key="became", heading="outcome", wide=True),
        Column(key="outcome", heading="", table=False),
        Column(key="reason", heading="", table=False),
        Column(key="source", heading="source", wide=True),
        Column(key="url", heading="article", wide=True),
        Column(key="before", heading="", table=False),
        Column(key="after", heading="", table=False),
        Column(key="characters", heading="characters", number=True),
        Column(key="gained", heading="gained", wide=True),
        Column(key="lost", heading="lost", wide=True),
    ]
    if output_format != "table":
        columns = [column for column in columns if column.key not in {"characters", "became"}]
    shown = rows[:_SHOWN] if output_format == "table" else rows
    counts: Counter[str] = Counter(change.outcome for change in changes)
    note = ", ".join(f"{counts[outcome]:,} {outcome}" for outcome in _OUTCOMES)
    if len(shown) < len(rows):
        note += f"; the first {_SHOWN} shown"
    render(shown, columns, output_format, note=note)


_OUTCOMES = ("new", "changed", "unchanged", "lost")


def _became(change: "Change") -> str:
    return f"{change.outcome}: {REASONS[change.reason]}" if change.reason else change.outcome


def _lengths(change: "Change") -> str:
    return f"{change.before:,} → {change.after:,}"
