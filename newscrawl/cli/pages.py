"""A page that the command line names: a file, a URL or standard input."""

import sys
import zlib
from dataclasses import dataclass
from pathlib import Path

from newscrawl import settings
from newscrawl.cli.arguments import InputError

GZIP = b"\x1f\x8b"


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedPage:
    """A page's bytes; `url` and `encoding` where it was fetched and they are known."""

    html: bytes
    url: str | None = None
    encoding: str | None = None


def read_page(name: str, *, allow_private: bool = False) -> NamedPage:
    """The page at a URL, fetched as a crawl would fetch it, or in a file, or for "-" on standard
    input. Raises FetchError or InputError."""
    if not name.startswith(("http://", "https://")):
        return NamedPage(html=_read(name))
    from newscrawl.cli.visiting import manners
    from newscrawl.sources.visits import fetch

    fetched = fetch(name, manners(allow_private=allow_private))
    return NamedPage(html=fetched.body, url=fetched.url, encoding=fetched.encoding)


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
    if html.startswith(GZIP):
        html = _unpacked(html, name, limit)
    if len(html) > limit:
        raise InputError(f"{name!r} is larger than {limit / 2**20:g} MiB: not an article's page")
    return html


def _unpacked(packed: bytes, name: str, limit: int) -> bytes:
    """What a gzip file holds, as pages of a corpus are kept; no more than just over the limit."""
    try:
        return zlib.decompressobj(wbits=31).decompress(packed, limit + 1)
    except zlib.error as error:
        raise InputError(f"can't unpack {name!r}: {error}") from error
