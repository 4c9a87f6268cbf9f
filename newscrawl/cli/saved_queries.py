"""newscrawl queries: searches that are saved under a name and counted like a company."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from newscrawl import storage
from newscrawl.cli.arguments import Format, companies_from, name_of_user
from newscrawl.cli.output import Column, exit_without, for_files, render, total_bar, write_note
from newscrawl.text import count_of

if TYPE_CHECKING:
    from newscrawl.storage import Database
    from newscrawl.storage.saved_queries import SavedQueryRow

app = typer.Typer(
    help="Save searches under a name: they count like a company everywhere "
    "(newscrawl mentions -c NAME).",
    no_args_is_help=True,
)

_NameArgument = Annotated[str, typer.Argument(help="Its name, as in 'rail strikes'.")]


@app.command(
    epilog="Example: newscrawl queries add 'rail strikes' "
    "'(strike OR Streik) NEAR/10 (rail OR Bahn) NOT football'"
)
def add(
    store: "Database",
    name: _NameArgument,
    text: str,
    who: str | None = None,
    companies: Path | None = None,
) -> None:
    """Save a search under a name, and count it in all stored articles.

    newscrawl search shows its articles without saving it. New articles are matched when they are
    stored. If that count is stopped, newscrawl queries recount continues it.

    text: The search, in quotation marks; docs/queries.md explains its language.
    --who NAME: Who saves it; else the user's name.
    """
    from newscrawl.storage.saved_queries import add_query

    made_by = name_of_user(who, "saves the query")
    stored = add_query(store, name, text, made_by, taken=companies_from(companies).spellings())
    _count(store, stored)


@app.command("list", epilog="Example: newscrawl queries list --format json")
def list_queries(store: "Database", output_format: Format = "table") -> None:
    """List the saved queries.

    Exit code 1 if there are none.
    """
    rows = storage.queries.saved_queries(store)
    _show(rows, output_format)
    exit_without(rows, "No saved query: newscrawl queries add NAME TEXT")


@app.command(epilog="Example: newscrawl queries show 'rail strikes'")
def show(store: "Database", name: _NameArgument, output_format: Format = "table") -> None:
    """Show the text of a saved query, who saved it, and whether its history is counted."""
    from newscrawl.storage.saved_queries import find_query

    _show([find_query(store, name)], output_format)


@app.command(epilog="Example: newscrawl queries edit 'rail strikes' 'strike* NEAR/5 rail'")
def edit(store: "Database", name: _NameArgument, text: str, who: str | None = None) -> None:
    """Give a saved query another text, and count it again in all stored articles.

    Its numbers are those of the former text until all articles are counted.

    text: The search, in quotation marks; docs/queries.md explains its language.
    --who NAME: Who saves it; else the user's name.
    """
    from newscrawl.storage.saved_queries import edit_query, find_query

    made_by = name_of_user(who, "saves the query")
    stored = find_query(store, name).name
    edit_query(store, stored, text, made_by)
    _count(store, stored)


@app.command(epilog="Example: newscrawl queries rename 'rail strikes' 'railway strikes'")
def rename(
    store: "Database",
    name: _NameArgument,
    new_name: str,
    who: str | None = None,
    companies: Path | None = None,
) -> None:
    """Give a saved query another name. Its numbers, watches, alerts and recipients stay.

    Groups of a companies file that have the former name are not changed.

    new_name: Its new name.
    --who NAME: Who saves it; else the user's name.
    """
    from newscrawl.storage.saved_queries import find_query, rename_query

    made_by = name_of_user(who, "saves the query")
    stored = find_query(store, name).name
    now = rename_query(
        store, stored, new_name, made_by, taken=companies_from(companies).spellings()
    )
    write_note(f"{stored}: now {now}.")


@app.command(epilog="Example: newscrawl queries remove 'rail strikes'")
def remove(store: "Database", name: _NameArgument) -> None:
    """Delete a saved query with its numbers, and stop watching it."""
    from newscrawl.storage.saved_queries import find_query, remove_query

    stored = find_query(store, name).name
    remove_query(store, stored)
    write_note(f"{stored}: removed.")


@app.command(epilog="Example: newscrawl queries recount 'rail strikes'")
def recount(store: "Database", name: _NameArgument) -> None:
    """Count a saved query in all stored articles: continue a count that was stopped, or else begin
    again."""
    from newscrawl.storage.saved_queries import edit_query, find_query

    saved = find_query(store, name)
    if saved.counted:
        edit_query(store, saved.name, None, "")
    _count(store, saved.name)


def _count(store: "Database", name: str) -> None:
    from newscrawl.storage.saved_queries import count_history, list_queries

    with total_bar("articles") as report:
        count_history(store, name, report)
    years = storage.queries.mention_counts(store, "year", company=name)
    number = sum(row.hits.articles for row in years if row.hits)
    if not number:
        (saved,) = list_queries(store, named=name)
        none = storage.queries.preview_query(store, saved.text, limit=0).why_none
        write_note(f"{name}: no article. {none}")
        return
    write_note(f"{name}: {count_of(number, 'article')}. See newscrawl mentions -c '{name}'.")


def _show(rows: "list[SavedQueryRow]", output_format: Format) -> None:
    columns = [
        Column("name", wide=True),
        Column("text", wide=True),
        Column("pending_text", "being counted", wide=True),
        Column("counted", show=lambda done: "yes" if done else "not yet"),
        *for_files("created_at", "created_by", "changed_at"),
        Column("changed_by", "by"),
    ]
    records = [asdict(row) for row in rows]
    for record in records:
        if record["pending_text"] == record["text"]:
            record["pending_text"] = None
    if output_format == "table" and not any(record["pending_text"] for record in records):
        columns = [column for column in columns if column.key != "pending_text"]
    render(records, columns, output_format)
