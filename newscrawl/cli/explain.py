"""newscrawl explain: why a page became the article it became, as a page to look at."""

from pathlib import Path
from typing import Annotated

import typer

from newscrawl.cli.arguments import InputError, one_of
from newscrawl.cli.extract import read_page
from newscrawl.cli.output import say

EXAMPLE = "Example: newscrawl explain page.html -o why.html"


def explain(
    page: Annotated[
        str, typer.Argument(help="A file, a URL, or - for standard input.", metavar="FILE|URL|-")
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Where to write it.", metavar="FILE")
    ] = Path("explained.html"),
    method: Annotated[str, typer.Option(help="The method to explain.")] = "combined",
    url: Annotated[
        str | None, typer.Option(help="Where a file's page came from.", metavar="URL")
    ] = None,
    encoding: Annotated[
        str | None, typer.Option(help="The page's charset, where it is known.", metavar="NAME")
    ] = None,
    allow_private: Annotated[
        bool, typer.Option("--allow-private", help="Fetch from private addresses too.")
    ] = False,
) -> None:
    """Write a page that shows why: each block kept or dropped, its features against their
    limits, the tag ratios, what each method took.

    The page that is written needs nothing but a browser, and nothing of the explained page
    runs in it.
    """
    from newscrawl.extraction.explain import explain as explained
    from newscrawl.extraction.explain_page import render
    from newscrawl.extraction.methods import METHODS

    method = one_of(method, list(METHODS), "method", "newscrawl explain --help")
    read = read_page(page, allow_private=allow_private)
    document = render(
        explained(read.html, url or read.url, encoding=encoding or read.encoding, method=method)
    )
    try:
        output.write_text(document, "utf-8")
    except OSError as error:
        raise InputError(f"can't write {str(output)!r}: {error.strerror}") from error
    say(f"written to {output}")
