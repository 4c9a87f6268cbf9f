"""newscrawl search: stored articles by their words."""

import re
from typing import Annotated, Any

import typer
from typer.core import TyperCommand
from typer.exceptions import TyperException

from newscrawl.cli.arguments import (
    CountryOption,
    DatabaseOption,
    ExportOption,
    InputError,
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


# What may be meant as a word that is not wanted, and is read as options.
_UNWANTED = re.compile(r"-[^\W\d_]{2,}")


class SearchCommand(TyperCommand):
    """Says how words that begin with a hyphen are written, where one was taken for an option."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """As all commands do; raises InputError with that advice where it may help."""
        given = args[: args.index("--")] if "--" in args else list(args)
        word = next(filter(_UNWANTED.fullmatch, given), None)
        try:
            return super().parse_args(ctx, args)
        except TyperException as error:
            if word is None:
                raise
            raise InputError(
                f"{word} is read as an option: quote all words together, as in 'bank {word}', or "
                f"write -- before them"
            ) from error


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

    Case and accents don't matter. Chinese and Japanese are found as they are written. A word
    that begins with a hyphen is no option where all words are quoted together, or after --.

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
