"""newscrawl search: stored articles by their words."""

from typing import Annotated

import typer

from newscrawl.cli.arguments import (
    CountryOption,
    DatabaseOption,
    ExportOption,
    LanguageOption,
    SectionOption,
    SinceOption,
    SourceOption,
    UntilOption,
    ZoneOption,
    open_for_reading,
    scope_of,
)

EXAMPLE = """Example: newscrawl search '"interest rates" bank* -Fed' --since 30d"""


def search(
    query: Annotated[
        str,
        typer.Argument(
            help='Words that must be there; "a phrase", -unwanted, begin*, and OR between two.'
        ),
    ],
    since: SinceOption = None,
    until: UntilOption = None,
    zone: ZoneOption = "UTC",
    source: SourceOption = None,
    country: CountryOption = None,
    language: LanguageOption = None,
    section: SectionOption = None,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, help="So many, at most.")] = 20,
    form: ExportOption = "table",
    database: DatabaseOption = None,
) -> None:
    """Find stored articles by the words of headline and text, the newest first.

    Case and accents don't matter. Chinese and Japanese are found as they are written.

    Exit code 1 where there is none.
    """
    from newscrawl.cli.found import show_found
    from newscrawl.cli.output import say
    from newscrawl.storage import queries

    with open_for_reading(database) as store:
        scope = scope_of(
            store, since, until, source, language, country=country, section=section, zone=zone
        )
        found = queries.search(store, query, scope=scope, limit=limit)
    show_found(found, form, f"Articles with {query}")
    if not found:
        say("No such article.")
        raise typer.Exit(1)
