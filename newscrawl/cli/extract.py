"""newscrawl extract: the article out of one page."""

import sys
from typing import Annotated, Literal

import typer

from newscrawl.cli.arguments import one_of
from newscrawl.cli.pages import read_page

PageArgument = Annotated[
    str, typer.Argument(help="A file, a URL, or - for standard input.", metavar="FILE|URL|-")
]
TextFormatOption = Annotated[
    Literal["text", "json"],
    typer.Option("--format", "-f", help="The text to read, or json with all that was found."),
]

EXAMPLE = "Example: newscrawl extract page.html --format json"


def extract(
    page: PageArgument,
    method: Annotated[
        str,
        typer.Option(
            help="combined, combined-precision, combined-recall, fe, pr, tb, cetr, cetr-km or "
            "cetr-tm."
        ),
    ] = "combined",
    output_format: TextFormatOption = "text",
    url: Annotated[
        str | None, typer.Option(help="Where a file's page came from.", metavar="URL")
    ] = None,
    encoding: Annotated[
        str | None, typer.Option(help="The page's charset, where it is known.", metavar="NAME")
    ] = None,
    language: Annotated[
        str | None, typer.Option(help="Its language, as in 'de'.", metavar="CODE")
    ] = None,
    allow_private: Annotated[
        bool, typer.Option("--allow-private", help="Fetch from private addresses too.")
    ] = False,
) -> None:
    """Take the article out of a page and print it: headline, then the text.

    A URL is fetched as a crawl would fetch it: robots.txt is obeyed, and the server hears who
    we are (NEWSCRAWL_CONTACT adds whom to write to).

    Exit code 1 where the page has no article.
    """
    from dataclasses import asdict

    import newscrawl
    from newscrawl.cli.output import say, write_json
    from newscrawl.extraction.methods import METHODS

    method = one_of(method, list(METHODS), "method", "newscrawl extract --help")
    read = read_page(page, allow_private=allow_private)
    article = newscrawl.extract(
        read.html,
        url or read.url,
        encoding=encoding or read.encoding,
        language=language,
        method=method,
    )
    if output_format == "json":
        write_json(asdict(article))
    elif article.text or article.title:
        _print_text(article.title, article.text)
    if not article.text:
        empty = article.kind == "article"
        say(f"No article found: {'no text in it' if empty else f'taken for {article.kind!r}'}.")
        raise typer.Exit(1)


def _print_text(title: str | None, text: str) -> None:
    from newscrawl.cli.output import printable

    lines = [title or "", "", *text.split("\n")] if title else text.split("\n")
    sys.stdout.write("\n".join(map(printable, lines)) + "\n")
