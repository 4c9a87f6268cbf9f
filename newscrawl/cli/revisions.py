"""newscrawl revisions: the versions of articles, and what is to become of quarantined ones."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated

import typer

from newscrawl.cli.arguments import (
    CompaniesOption,
    DatabaseOption,
    FormatOption,
    InputError,
    SourceOption,
    companies_from,
    open_for_reading,
    scope_of,
)

if TYPE_CHECKING:
    from newscrawl.storage import Database
    from newscrawl.storage.queries import Version

app = typer.Typer(
    help="List the versions of an article, decide on quarantined ones, or restore an earlier one.",
    no_args_is_help=True,
)

NumbersArgument = Annotated[
    list[int] | None,
    typer.Argument(help="Numbers, as newscrawl articles --quarantined lists them.", min=1),
]
AllOption = Annotated[
    bool, typer.Option("--all", help="All that is in the quarantine, or with --source all of it.")
]
UrlArgument = Annotated[str, typer.Argument(help="Address of the article.", metavar="URL")]


@app.command("list", epilog="Example: newscrawl revisions list https://www.ft.com/content/1")
def list_versions(
    url: UrlArgument, form: FormatOption = "table", database: DatabaseOption = None
) -> None:
    """List the versions of an article, the first one first.

    Exit code 1 where no article is stored under this address.
    """
    from newscrawl.cli.output import Column, render, say
    from newscrawl.storage import queries

    with open_for_reading(database) as store:
        versions = queries.history(store, url)
    columns = (
        Column(key="number", heading="version", number=True),
        Column(key="seen_at", heading="seen"),
        Column(key="replaced_at", heading="replaced", table=False),
        Column(key="title", heading="headline", wide=True),
        Column(key="characters", heading="characters", number=True),
        Column(key="mentions", heading="mentions", wide=True),
    )
    render([_record(version) for version in versions], columns, form)
    if not versions:
        say("No article is stored under this address.")
        raise typer.Exit(1)


@app.command(epilog="Example: newscrawl revisions apply 12 13")
def apply(
    numbers: NumbersArgument = None,
    everything: AllOption = False,
    source: SourceOption = None,
    database: DatabaseOption = None,
) -> None:
    """Make quarantined revisions their articles' newest versions, with all that is counted.

    The texts that they replace become earlier versions. A page that holds no article can't be
    applied.

    Exit code 1 where one of them could not be applied.
    """
    from newscrawl.storage.revisions import apply_revision

    _decide(apply_revision, "applied", numbers, (everything, source), database)


@app.command(epilog="Example: newscrawl revisions discard --all --source ft")
def discard(
    numbers: NumbersArgument = None,
    everything: AllOption = False,
    source: SourceOption = None,
    database: DatabaseOption = None,
) -> None:
    """Take quarantined revisions off the list; the articles stay as they are.

    Where a later revisit brings the same text once more, it is not listed again.

    Exit code 1 where one of them could not be discarded.
    """
    from newscrawl.storage.revisions import discard_revision

    _decide(discard_revision, "discarded", numbers, (everything, source), database)


@app.command(epilog="Example: newscrawl revisions restore https://www.ft.com/content/1 2")
def restore(
    url: UrlArgument,
    version: Annotated[int, typer.Argument(help="Version, as newscrawl revisions list has it.")],
    database: DatabaseOption = None,
    companies: CompaniesOption = None,
) -> None:
    """Make an earlier version of an article the newest one, with its mentions found anew.

    What it replaces becomes an earlier version, and is not taken from the site again.
    """
    from newscrawl.cli.output import say
    from newscrawl.extraction.language import settle_language
    from newscrawl.storage.revisions import earlier_version, restore_version

    registry = companies_from(companies)
    with open_for_reading(database) as store:
        found = earlier_version(store, url, version)
        language = found.language
        if not found.has_language:
            language = settle_language(language, f"{found.title}\n{found.text}")
        mentions = registry.find(found.text, title=found.title, language=language, source=found.url)
        number = restore_version(store, found, mentions, language)
    say(f"Restored: what version {version} said is version {number} now, {len(mentions)} mentions.")


def _decide(
    decide: "Callable[[Database, int], str]",
    word: str,
    numbers: list[int] | None,
    chosen: tuple[bool, str | None],
    database: str | None,
) -> None:
    """Have it decided on the numbers given or on all of a source, and say what came of it."""
    from newscrawl.cli.output import say
    from newscrawl.storage import queries
    from newscrawl.storage.revisions import decide_all

    everything, source = chosen
    if bool(numbers) == everything:
        raise InputError("name revisions by their numbers, or all of them by --all: one of the two")
    if source and not everything:
        raise InputError("--source chooses among all revisions: add --all, or leave it out")
    with open_for_reading(database) as store:
        if everything:
            scope = scope_of(store, None, None, source)
            numbers = [row.id for row in queries.quarantined(store, scope=scope)]
        done, left = decide_all(store, numbers or [], decide)
    for reason in left:
        say(reason)
    say(f"{len(done):,} {word}.")
    if left or not done:
        raise typer.Exit(1)


def _record(version: "Version") -> dict[str, object]:
    return {
        "number": version.number,
        "seen_at": version.seen_at,
        "replaced_at": version.replaced_at,
        "title": version.title,
        "characters": len(version.text),
        "mentions": [f"{number:+d} {name}" for name, number in version.mentions],
    }
