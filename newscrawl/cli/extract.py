"""newscrawl extract: the article out of one page."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from newscrawl import settings
from newscrawl.cli.arguments import InputError, one_of

if TYPE_CHECKING:
    from newscrawl.cli.fetch import Manners

EXAMPLE = "Example: newscrawl extract page.html --format json"


def extract(
    page: Annotated[
        str, typer.Argument(help="A file, a URL, or - for standard input.", metavar="FILE|URL|-")
    ],
    method: Annotated[
        str, typer.Option(help="combined, fe, pr, tb, cetr, cetr-km or cetr-tm.")
    ] = "combined",
    form: Annotated[
        Literal["text", "json"],
        typer.Option("--format", "-f", help="The text to read, or json with all that was found."),
    ] = "text",
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
    if page.startswith(("http://", "https://")):
        from newscrawl.cli.fetch import fetch

        fetched = fetch(page, _manners(allow_private=allow_private))
        html, url, encoding = fetched.body, url or fetched.url, encoding or fetched.encoding
    else:
        html = _read(page)
    article = newscrawl.extract(html, url, encoding=encoding, language=language, method=method)
    if form == "json":
        write_json(asdict(article))
    elif article.text or article.title:
        _print_text(article.title, article.text)
    if not article.text:
        say(f"No article found: the page is taken for {article.kind!r}.")
        raise typer.Exit(1)


def _read(name: str) -> bytes:
    limit = settings.DOWNLOAD_MAXSIZE
    try:
        if name == "-":
            html = sys.stdin.buffer.read(limit + 1)
        else:
            with Path(name).open("rb") as file:
                html = file.read(limit + 1)
    except OSError as error:
        raise InputError(
            f"can't read {name!r}: {error.strerror}. Give a file, a URL with http:// or https://, "
            "or - for standard input"
        ) from error
    if len(html) > limit:
        raise InputError(f"{name!r} is larger than {limit / 2**20:g} MiB: not an article's page")
    return html


def _manners(*, allow_private: bool) -> "Manners":
    from newscrawl.cli.fetch import Manners

    return Manners(
        user_agent=settings.USER_AGENT,
        robots_name=settings.ROBOTSTXT_USER_AGENT,
        max_bytes=settings.DOWNLOAD_MAXSIZE,
        timeout=settings.DOWNLOAD_TIMEOUT,
        allow_private=allow_private,
    )


def _print_text(title: str | None, text: str) -> None:
    from newscrawl.cli.output import printable

    lines = [title or "", "", *text.split("\n")] if title else text.split("\n")
    sys.stdout.write("\n".join(map(printable, lines)) + "\n")
