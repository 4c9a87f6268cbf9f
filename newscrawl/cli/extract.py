"""newscrawl extract: the article of one page, which is a file, a URL or standard input."""

import re
import sys
import zlib
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

import typer

from newscrawl import settings
from newscrawl.answers.names import match_one
from newscrawl.cli.arguments import InputError
from newscrawl.cli.output import exit_without, printable, write_file, write_json, write_note

EXAMPLE = "Example: newscrawl extract page.html --format json"


def extract(
    page: str,
    method: str = "combined",
    output_format: Literal["text", "json"] = "text",
    url: str | None = None,
    encoding: str | None = None,
    language: str | None = None,
    allow_private: bool = False,
) -> None:
    """Extract the article of a page and print it: headline, then the text.

    A URL is fetched as in a crawl: robots.txt is obeyed, and the user agent names newscrawl and
    NEWSCRAWL_CONTACT.

    Exit code 1 if the page has no article.

    page FILE|URL|-: A file, a URL, or - for standard input.
    --method: combined, combined-precision, combined-recall, fe, pr, tb, cetr, cetr-km or cetr-tm.
    output_format --format, -f: The text alone, or json with all metadata.
    --url URL: Where a file's page came from.
    --encoding NAME: The page's charset, where it is known.
    --language CODE: Its language, as in 'de'.
    """
    import newscrawl
    from newscrawl.extraction.methods import METHODS

    method = match_one(method, list(METHODS), "method", "newscrawl extract --help")
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
        lines = [*([article.title, ""] if article.title else []), *article.text.split("\n")]
        sys.stdout.write("\n".join(map(printable, lines)) + "\n")
    why = "no text in it" if article.kind == "article" else f"classified as {article.kind!r}"
    exit_without(article.text, f"No article found: {why}.")


GZIP = b"\x1f\x8b"
_GIVE = "Give a file, a URL with http:// or https://, or - for standard input"
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*://", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedPage:
    """A page's bytes; `url` and `encoding` where it was fetched and they are known."""

    html: bytes
    url: str | None = None
    encoding: str | None = None


def read_page(name: str, *, allow_private: bool = False) -> NamedPage:
    """Return the page of a URL, fetched as by a crawl, of a file, or for "-" of standard input;
    raise FetchError or InputError."""
    from newscrawl.extraction.html import is_binary

    if not name.lower().startswith(("http://", "https://")):
        html = read_input(name)

        if is_binary(html):
            raise InputError(f"{name!r} is not HTML but a binary file: give the page itself")
        return NamedPage(html=html)
    from newscrawl.sources.visits import DisallowedError, fetch

    try:
        fetched = fetch(name, allow_private=allow_private)
    except DisallowedError as error:
        raise InputError(f"{error}: save the page with your browser and give the file") from error
    return NamedPage(html=fetched.body, url=fetched.url, encoding=fetched.encoding)


def read_input(name: str) -> bytes:
    """Return the bytes of a file, or for "-" of standard input; raise InputError."""
    if not name:
        raise InputError(f"can't read {name!r}: an empty name. {_GIVE}")
    if scheme := _SCHEME.match(name):
        raise InputError(f"can't read {name!r}: {scheme[0]} is not supported. {_GIVE}")
    limit = settings.DOWNLOAD_MAXSIZE
    try:
        if name == "-":
            html = sys.stdin.buffer.read(limit + 1)
        else:
            with Path(name).open("rb") as file:
                html = file.read(limit + 1)
    except OSError as error:
        raise InputError(f"can't read {name!r}: {error.strerror}. {_GIVE}") from error
    if html.startswith(GZIP):
        try:
            html = zlib.decompressobj(wbits=31).decompress(html, limit + 1)
        except zlib.error as error:
            raise InputError(f"can't decompress {name!r}: {error}") from error
    if len(html) > limit:
        raise InputError(f"{name!r} is larger than {limit / 2**20:g} MiB: not an article's page")
    return html


EXPLAIN_EXAMPLE = "Example: newscrawl explain page.html -o why.html"


def explain(
    page: str,
    output: Path = Path("explained.html"),
    method: str = "combined",
    url: str | None = None,
    encoding: str | None = None,
    allow_private: bool = False,
    sentence: str = "",
    time: bool = False,
) -> None:
    """Write a page that explains an extraction: each block, kept or dropped, its features against
    their limits, the tag ratios, and the text by each method.

    The result is one file for a browser; no script of the explained page runs in it.

    page FILE|URL|-: A file, a URL, or - for standard input.
    --output, -o FILE: The file to write.
    --method: The method to explain.
    --url URL: Where a file's page came from.
    --encoding NAME: The page's charset, where it is known.
    --sentence TEXT: A sentence of the page to explain first.
    --time: Only print the milliseconds of each step.
    """
    from newscrawl.extraction.explain import explain as explained, times
    from newscrawl.extraction.explain_page import AskedSentence, render
    from newscrawl.extraction.methods import METHODS

    method = match_one(method, list(METHODS), "method", "newscrawl explain --help")
    read = read_page(page, allow_private=allow_private)
    if time:
        seconds = times(
            read.html, url or read.url, encoding=encoding or read.encoding, method=method
        )
        for step, duration in (*seconds.items(), ("all", sum(seconds.values()))):
            typer.echo(f"{step:<10} {1000 * duration:8.2f} ms")
        return
    document = render(
        explained(read.html, url or read.url, encoding=encoding or read.encoding, method=method),
        AskedSentence(text=sentence),
    )
    write_file(document.encode(), output)
    write_note(f"written to {output}")
