"""A page that the command line names: a file, a URL or standard input."""

import re
import sys
import zlib
from dataclasses import dataclass
from pathlib import Path

from newscrawl import settings
from newscrawl.cli.arguments import InputError

GZIP = b"\x1f\x8b"
_GIVE = "Give a file, a URL with http:// or https://, or - for standard input"
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*://", re.IGNORECASE)
_SNIFFED = 4096  # bytes
# Control characters but tab, line ends, form feed and the escape of ISO-2022; text has next to
# none of them, random bytes have a tenth, programs and pictures more. Ours.
_CONTROLS = bytes(set(range(32)) - {9, 10, 12, 13, 27})
_MOST_CONTROLS = 0.05
_WIDE_MARKS = (b"\xff\xfe", b"\xfe\xff", b"\0\0\xfe\xff")


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedPage:
    """A page's bytes; `url` and `encoding` where it was fetched and they are known."""

    html: bytes
    url: str | None = None
    encoding: str | None = None


def read_page(name: str, *, allow_private: bool = False) -> NamedPage:
    """The page at a URL, fetched as a crawl would fetch it, or in a file, or for "-" on standard
    input. Raises FetchError or InputError."""
    if not name.lower().startswith(("http://", "https://")):
        return NamedPage(html=_text_of(_read(name), name))
    from newscrawl.cli.visiting import manners
    from newscrawl.sources.fetcher import fetch

    fetched = fetch(name, manners(allow_private=allow_private))
    return NamedPage(html=fetched.body, url=fetched.url, encoding=fetched.encoding)


def _text_of(html: bytes, name: str) -> bytes:
    """The page; raises InputError for what holds no text in any charset: a picture, a program."""
    sniffed = html[:_SNIFFED]
    controls = len(sniffed) - len(sniffed.translate(None, _CONTROLS))
    # UTF-16 and UTF-32 are text in spite of their zeros.
    wide = sniffed.startswith(_WIDE_MARKS) or sniffed.lstrip(b"\0 \t\r\n").startswith(b"<")
    if html.startswith(b"%PDF-") or (not wide and controls > len(sniffed) * _MOST_CONTROLS):
        raise InputError(f"{name!r} is no HTML but a binary file: give the page itself")
    return html


def _read(name: str) -> bytes:
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
