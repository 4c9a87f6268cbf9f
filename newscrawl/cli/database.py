"""newscrawl db: the database itself."""

from datetime import timedelta
from typing import Annotated

import typer

from newscrawl import config
from newscrawl.cli.arguments import DatabaseOption, FormatOption, open_for_reading

app = typer.Typer(help="Upgrade the database, or see what is in it.", no_args_is_help=True)


@app.command(epilog="Example: newscrawl db upgrade --database postgresql://me@host/news")
def upgrade(database: DatabaseOption = None) -> None:
    """Create the tables, or bring those of an older version up to date.

    Running it again does no harm. Make a backup first.
    """
    from newscrawl.cli.output import write_note
    from newscrawl.storage import upgrade_database

    before, after = upgrade_database(database or config.NEWSCRAWL_DATABASE_URL)
    if before == after:
        write_note(f"The database is up to date (schema {after}).")
    else:
        write_note(f"The database went from {before or 'empty'} to schema {after}.")


@app.command(epilog="Example: newscrawl db rebuild --stories")
def rebuild(
    stories: Annotated[
        bool, typer.Option("--stories", help="Also find again which articles are near copies.")
    ] = False,
    database: DatabaseOption = None,
) -> None:
    """Rebuild counts and search index from the articles and their mentions.

    Crawls keep them up to date; this is for a database that something else has written to. It is
    one transaction, during which no crawl can store anything.
    """
    from newscrawl.cli.output import total_bar, write_note

    with open_for_reading(database) as store, total_bar("articles") as report:
        number = store.rebuild(stories=stories, progress=report)
    write_note(f"Counts and search index were rebuilt from {number:,} articles.")


@app.command(epilog="Example: newscrawl db prune --keep 90d")
def prune(
    keep: Annotated[
        str,
        typer.Option(
            envvar="NEWSCRAWL_KEEP",
            help="Delete what is older than this: 14 days or more.",
            metavar="TIME",
        ),
    ] = config.NEWSCRAWL_KEEP,
    database: DatabaseOption = None,
) -> None:
    """Delete old rows that crawls and monitoring no longer need; articles and counts stay.

    These are pages of the queue that are done and stored, or named by no feed for so long; unused
    feeds; runs without articles; monitors that ended; closed incidents; old copies of robots.txt;
    and revisions that have left the quarantine. No article is fetched again because of this.
    `newscrawl monitor` does the same once a day. Crawls may run at the same time.
    """
    from newscrawl.cli.output import total_bar, write_note
    from newscrawl.storage.retention import Pruning

    time = retention_time(keep)
    with open_for_reading(database) as store, total_bar("rows") as report:
        pruned = Pruning(database=store, keep=time, report=report).run()
    counts = ", ".join(f"{number:,} {name}" for name, number in pruned.counts.items())
    write_note(f"Deleted: {counts.replace('_', ' ')}.")


def retention_time(text: str) -> timedelta:
    """Return how long such rows are kept; raise SettingError for a time that is too short."""
    from newscrawl.storage.retention import MIN_KEEP

    time = config.duration("NEWSCRAWL_KEEP", text)
    if time < MIN_KEEP:
        raise config.SettingError(
            f"NEWSCRAWL_KEEP={text}: too short, since pages in feeds are recorded once a week; "
            f"write {MIN_KEEP.days}d or more"
        )
    return time


@app.command(epilog="Example: newscrawl db info --format json")
def info(output_format: FormatOption = "table", database: DatabaseOption = None) -> None:
    """Show where the database is, what is in it, and how fresh it is."""
    from newscrawl.cli.output import Column, render
    from newscrawl.storage import queries

    with open_for_reading(database) as store:
        name, facts = store.name, queries.facts(store)
    known: dict[str, object] = {
        "database": name,
        "schema": facts.version,
        **facts.rows,
        "first day": facts.first_day,
        "last day": facts.last_day,
        "last run": facts.last_run,
    }
    columns = (
        Column(key="fact", heading="", wide=True),
        Column(key="value", heading="", wide=True),
    )
    render(
        [{"fact": fact, "value": value} for fact, value in known.items()], columns, output_format
    )
