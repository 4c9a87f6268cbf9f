"""newscrawl rematch: the mentions of stored articles, by today's registry."""

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from newscrawl import config
from newscrawl.cli.archives import DryRunOption, WorkersOption, cores, counting_bar
from newscrawl.cli.arguments import (
    CompaniesOption,
    DatabaseOption,
    Format,
    FormatOption,
    SinceOption,
    SourceOption,
    open_for_reading,
    scope_of,
)

if TYPE_CHECKING:
    from newscrawl.archive.rematch import RematchResult

EXAMPLE = "Example: newscrawl rematch --since 30d --dry-run --companies my-companies.toml"

# Ours: a table of more companies is no overview; csv and json have them all.
_SHOWN = 40


def rematch(
    source: SourceOption = None,
    since: SinceOption = None,
    dry_run: DryRunOption = False,
    companies: CompaniesOption = None,
    workers: WorkersOption = None,
    output_format: FormatOption = "table",
    database: DatabaseOption = None,
) -> None:
    """Count the mentions of stored articles anew, after the registry of companies has changed.

    Tells for each company in how many more or fewer articles it is named now. What was broken
    off goes on where it stopped.

    Exit code 1 where no article was looked at.
    """
    from newscrawl.archive.rematch import Rematch
    from newscrawl.cli.arguments import companies_from
    from newscrawl.cli.output import say
    from newscrawl.storage.mentions import count_texts

    companies_from(companies)
    registry = companies or config.NEWSCRAWL_COMPANIES
    with open_for_reading(database) as store:
        scope = scope_of(store, since=since, source=source)
        task = Rematch(
            store,
            Path(registry) if registry else None,
            scope,
            workers=workers or cores(),
            dry_run=dry_run,
        )
        if task.done_before:
            say("Going on where the last run was broken off.")
        with counting_bar("articles", count_texts(store, scope, task.done_before)) as advance:
            found = task.run(advance)
    _report(found, output_format, dry_run=dry_run)
    if not found.articles:
        say("No article was looked at.")
        raise typer.Exit(1)


def _report(found: "RematchResult", output_format: Format, *, dry_run: bool) -> None:
    from dataclasses import asdict

    from newscrawl.cli.output import Column, render

    rows = [asdict(change) for change in found.companies]
    columns = (
        Column(key="company", heading="company", wide=True),
        Column(key="articles", heading="articles", number=True, show=_signed),
        Column(key="gained", heading="mentions gained", number=True),
        Column(key="lost", heading="lost", number=True),
    )
    shown = rows[:_SHOWN] if output_format == "table" else rows
    note = (
        f"{found.changed:,} of {found.articles:,} articles "
        f"{'would change' if dry_run else 'changed'}, {len(rows):,} companies"
    )
    if len(shown) < len(rows):
        note += f", the first {_SHOWN} shown"
    render(shown, columns, output_format, note=note)


def _signed(value: object) -> str:
    return f"{value:+}" if value else "0"
