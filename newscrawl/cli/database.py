"""newscrawl db: the database itself."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
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
    from newscrawl.cli.output import say
    from newscrawl.storage import upgrade_database

    before, after = upgrade_database(database or config.NEWSCRAWL_DATABASE_URL)
    if before == after:
        say(f"The database is up to date (schema {after}).")
    else:
        say(f"The database went from {before or 'empty'} to schema {after}.")


@app.command(epilog="Example: newscrawl db rebuild --stories")
def rebuild(
    stories: Annotated[
        bool, typer.Option("--stories", help="Also find anew which articles tell the same story.")
    ] = False,
    database: DatabaseOption = None,
) -> None:
    """Make counts and search index anew out of the articles and their mentions.

    They are kept in step anyway; this is for a database that something else has written to.
    All of it or nothing is done, and no crawl can store anything meanwhile.
    """
    from newscrawl.cli.output import say

    with open_for_reading(database) as store, _bar() as report:
        number = store.rebuild(stories=stories, progress=report)
    say(f"Counts and search index are made anew of {number:,} articles.")


@app.command(epilog="Example: newscrawl db prune --keep 90d")
def prune(
    keep: Annotated[
        str,
        typer.Option(
            envvar="NEWSCRAWL_KEEP",
            help="What is forgotten is older: 14 days at least.",
            metavar="TIME",
        ),
    ] = config.NEWSCRAWL_KEEP,
    database: DatabaseOption = None,
) -> None:
    """Forget what the watch needs no more: articles and their counts stay as they are.

    That are pages of the queue that are done with and that no feed has named for so long or that
    are stored as articles, feeds of days gone by, runs without articles, monitors that are gone,
    incidents that are over, copies of robots.txt that were read long ago, revisions that have left
    the quarantine. No article is fetched again for it. `newscrawl monitor` does the same once a
    day; crawls may go on meanwhile.
    """
    from newscrawl.cli.output import say
    from newscrawl.storage.retention import Pruning

    time = kept(keep)
    with open_for_reading(database) as store, _bar("rows") as report:
        pruned = Pruning(database=store, keep=time, report=report).run()
    told = ", ".join(f"{number:,} {name}" for name, number in pruned.counts.items())
    say(f"Forgotten: {told.replace('_', ' ')}.")


def kept(text: str) -> timedelta:
    """How long is kept what the watch needs no more; SettingError for what is too short."""
    from newscrawl.storage.retention import LEAST

    time = config.duration("NEWSCRAWL_KEEP", text)
    if time < LEAST:
        raise config.SettingError(
            f"NEWSCRAWL_KEEP={text}: too short, since what feeds still name is noted once a week; "
            f"write {LEAST.days}d or more"
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


@contextmanager
def _bar(things: str = "articles") -> Iterator[Callable[[int, int], None]]:
    """A bar on standard error, and the function that moves it: done, of so many."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeElapsedColumn

    columns = (BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(things)
        yield lambda done, total: bar.update(task, completed=done, total=total)
