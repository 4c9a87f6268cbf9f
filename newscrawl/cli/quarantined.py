"""What is in the quarantine, as `newscrawl articles --quarantined` lists it."""

from typing import TYPE_CHECKING

import typer

from newscrawl.cli.arguments import REASONS, ExportFormat
from newscrawl.cli.output import Column, printable, render, say

if TYPE_CHECKING:
    from rich.text import Text

    from newscrawl.storage import Database
    from newscrawl.storage.queries import QuarantineRow, Scope

_FOR_PROGRAMS = (
    "source",
    "url",
    "title",
    "new_title",
    "reason",
    "note",
    "before",
    "after",
    "since",
    "seen_at",
    "times",
)


def show_quarantined(database: "Database", scope: "Scope", limit: int, form: ExportFormat) -> None:
    """Write the quarantined revisions to standard output; exit code 1 where there is none."""
    from newscrawl.storage import queries

    rows = queries.quarantined(database, scope=scope, limit=limit)
    number = sum(queries.quarantine_sizes(database).values())
    columns = [
        Column(key="id", heading="number", number=True),
        Column(key="day", heading="day"),
        Column(key="article", heading="article", wide=True),
        Column(key="characters", heading="characters", number=True),
        *(Column(key=key, heading=key, table=False) for key in _FOR_PROGRAMS),
    ]
    if form != "table":
        columns = [column for column in columns if column.key not in {"article", "characters"}]
    note = f"{len(rows):,} shown of {number:,} in the quarantine" if len(rows) < number else ""
    render([_record(row) for row in rows], columns, form, title="In the quarantine", note=note)
    if not rows:
        say("No such revision.")
        raise typer.Exit(1)


def _record(row: "QuarantineRow") -> dict[str, object]:
    return {
        "id": row.id,
        "day": row.day,
        "article": _entry(row),
        "characters": f"{row.before:,} → {row.after:,}",
        **{key: getattr(row, key) for key in _FOR_PROGRAMS},
    }


def _entry(row: "QuarantineRow") -> "Text":
    """Headline, then what would take its place and why it did not, then the address."""
    from rich.text import Text

    why = REASONS.get(row.reason, row.reason)
    why = f"{why}: {row.note}" if row.note else why
    facts = [row.source, why, f"since {row.since:%d %b %H:%M}"]
    new = row.new_title if row.new_title != row.title else None
    return Text.assemble(
        (printable(row.title or "(no headline)"), "bold"),
        f"\n→ {printable(new)}" if new else "",
        "\n",
        printable(" · ".join(facts)),
        "\n",
        (printable(row.url), "dim"),
    )
