"""The bytes of a page become UTF-8, and UTF-8 becomes a tree."""

import codecs
import html
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import cchardet
import numpy as np
from numpy.typing import NDArray
from selectolax.lexbor import LexborHTMLParser
from w3lib.encoding import (
    html_body_declared_encoding,
    http_content_type_encoding,
    read_bom,
    resolve_encoding,
)

from newscrawl.extraction.limits import (
    FORMATTING,
    attributes_beyond,
    flattened,
    is_crowded,
    with_parted_texts,
    with_plain_formats,
    without_crowds,
)

LAST_RESORT = "cp1252"
"""What the WHATWG Encoding Standard gives Western pages that declare nothing."""

_ASCII = bytes(range(128))
_SHARE_OF_BROKEN_BYTES = 0.1
"""Ours: a UTF-8 page cut within a character has a handful of bad bytes, while letters of a legacy
charset read as UTF-8 are nearly all bad."""

_GUESSED_FROM = 1 << 18
"""Ours: bytes that bound the guess to some milliseconds; the mean page has 92,000."""

_CHECKED_AT_ONCE = 4096
"""Ours, measured over 400 pages: twice as fast as one decode(), which fills fresh memory."""


@dataclass(frozen=True, slots=True)
class Decoded:
    """A page as UTF-8 bytes without byte-order mark, and Python's name of its former charset."""

    utf8: bytes
    encoding: str


def decode(html: bytes | str, declared: str | None = None) -> Decoded:
    """Turn a page into UTF-8. Never raises; what can't be decoded becomes U+FFFD.

    `declared` is the charset of the HTTP header, alone ("gb2312") or as the whole header value
    ("text/html; charset=gb2312"). Valid UTF-8 is UTF-8 whatever the header or the page says:
    text of another charset that happens to be valid UTF-8 is far rarer than a wrong declaration.
    Labels are read as browsers read them (iso-8859-1 is windows-1252, gb2312 is gb18030).
    """
    if isinstance(html, str):
        return Decoded(_encode(html), "utf-8")
    bom_encoding, bom = read_bom(html)
    if bom_encoding is not None and bom is not None:
        return _transcode(html[len(bom) :], bom_encoding)
    # Escapes and NULs are ASCII, but the mark of ISO-2022-JP and UTF-16.
    if b"\x1b" not in html[:4096] and b"\0" not in html[:64] and _is_utf8(html):
        return Decoded(html, "utf-8")
    return _transcode(html, _find_encoding(html, declared))


def _encode(text: str) -> bytes:
    try:
        return text.removeprefix("\ufeff").encode()
    except UnicodeEncodeError:
        # Surrogates: pairs are one character each, lone ones are nothing.
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode()


def _is_utf8(html: bytes) -> bool:
    if html.isascii():
        return True
    view, start, size = memoryview(html), 0, len(html)
    try:
        while start < size:
            end = start + _CHECKED_AT_ONCE
            start += codecs.utf_8_decode(view[start:end], "strict", end >= size)[1]
    except UnicodeDecodeError:
        return False
    return True


def _transcode(html: bytes, encoding: str) -> Decoded:
    if encoding == "utf-8" and _is_utf8(html):
        return Decoded(html, encoding)
    return Decoded(_encode(html.decode(encoding, "replace")), encoding)


def _find_encoding(html: bytes, declared: str | None) -> str:
    if utf16 := _utf16_without_mark(html):
        return utf16
    high_bytes = len(html.translate(None, _ASCII))
    broken = html.decode("utf-8", "replace").count("\ufffd")
    if high_bytes and broken <= _SHARE_OF_BROKEN_BYTES * high_bytes:
        return "utf-8"
    for encoding in _candidates(html, declared):
        # Reading as UTF-8 has just failed, so a declaration of it is wrong.
        if encoding != "utf-8" and _fits(html, encoding, high_bytes):
            return encoding
    return "utf-8" if not high_bytes else LAST_RESORT


def _candidates(html: bytes, declared: str | None) -> Iterator[str]:
    """Yield what the header, the page and the statistics say, as names that Python knows."""
    if declared:
        by_header = http_content_type_encoding(declared) or resolve_encoding(declared.strip())
        if by_header:
            yield by_header
    if by_page := html_body_declared_encoding(html):
        yield by_page
    guess = cchardet.detect(html[:_GUESSED_FROM])["encoding"]
    if guess and (by_statistics := resolve_encoding(guess)):
        yield by_statistics


def _fits(html: bytes, encoding: str, high_bytes: int) -> bool:
    """Tell whether hardly anything of the page is invalid in an encoding of text."""
    if encoding.startswith(("utf-16", "utf-32")):  # would have shown NULs or a mark
        return False
    try:
        if not codecs.lookup(encoding)._is_text_encoding:
            return False
        broken = html.decode(encoding, "replace").count("\ufffd")
    except (LookupError, ValueError, TypeError):
        return False
    return broken <= _SHARE_OF_BROKEN_BYTES * max(high_bytes, 1)


def _utf16_without_mark(html: bytes) -> str | None:
    """Read the byte order off the markup at the start, which is ASCII in every language."""
    start = html[:64]
    half = len(start) // 2
    if half and start[1::2].count(0) > 0.8 * half and start[::2].count(0) == 0:
        return "utf-16-le"
    if half and start[::2].count(0) > 0.8 * half and start[1::2].count(0) == 0:
        return "utf-16-be"
    return None


# Python refuses to make a number of more than 4,300 decimal digits.
_NO_CHARACTER: Final = re.compile(r"&#[0-9]{4000,}")
_BEYOND_UNICODE: Final = "&#1114112"


def unescape(text: str) -> str:
    """The text with its references resolved; what refers to no character becomes a U+FFFD."""
    return html.unescape(_NO_CHARACTER.sub(_BEYOND_UNICODE, text) if "&#" in text else text)


# Ours: what Scrapy downloads at most; the largest page of the development corpus has 5.3 MB.
MAX_BYTES: Final = 8 * 1024 * 1024
# Ours: tags and comments; the most of a page of the development corpus are 21,646.
MAX_MARKUP: Final = 40_000
# Ours. Measured on Lexbor: 10,000 nested elements parse in 0.1 s, 4,000 reopened formats x 4,000
# paragraphs in 9 s; the largest page of the development corpus has about 16,000 elements.
MAX_ELEMENTS_UNCHECKED: Final = 12_000
# Ours: start tags beyond the end tags, which may all be open at a time: an end tag is looked for
# among all open elements, and 12,000 nested ones, 36 KB, take 0.16 s to parse, 3,000 take 0.01 s.
MAX_UNCLOSED: Final = 3_000
MAX_REOPENED: Final = 1_000_000
# Ours: what is reopened has all of its attributes again, which count like elements from some on: 61
# with 500 attributes in 5,500 paragraphs took 1.2 GB. Small pages are spared the count.
_FEW_REOPENED: Final = 5_000
# Ours: texts of a page that may stand in tables, but in no cell, times its bytes; half of that is
# what Lexbor may copy together. A page of 200 KB may have 1,000.
MAX_COPIED: Final = 200_000_000

_FORMAT_NAME: Final = re.compile(
    rb"<(/?)(?:" + b"|".join(sorted(FORMATTING)) + rb")(?=[\s/>])", re.IGNORECASE
)
_LETTERS: Final = np.zeros(256, dtype=bool)
_LETTERS[[*range(65, 91), *range(97, 123)]] = True
_MARKUP: Final = _LETTERS.copy()
_MARKUP[list(b"/!?")] = True
_TABLE: Final = re.compile(rb"<table", re.IGNORECASE)
_TEXT_IN_TABLE: Final = re.compile(
    rb"(?:<(?:/?(?:table|tbody|thead|tfoot|tr)|/(?:td|th|caption)|input|!|\?|/[^a-zA-Z])[^<>]*+>)"
    rb"\s*+[^<\s]",
    re.IGNORECASE,
)


def _format_beginnings() -> NDArray[np.bool_]:
    """Which two bytes can begin the name of a formatting element; one-letter names end there."""
    table = np.zeros((256, 256), dtype=bool)
    for name in FORMATTING:
        for first in {name[0], name.upper()[0]}:
            if len(name) == 1:
                table[first] |= ~_LETTERS
            else:
                table[first, [name[1], name.upper()[1]]] = True
    return table


_FORMAT_BEGINNINGS: Final = _format_beginnings()


def parse(html: bytes) -> LexborHTMLParser:
    """Parse UTF-8 bytes into a tree, reduced first where that could take more than linear time."""
    return LexborHTMLParser(within_limits(html))


def within_limits(html: bytes) -> bytes:
    """Return the page as the parser can take it; a usual one as it came."""
    html, after = _cut(html[:MAX_BYTES])
    if len(after) * len(html) > MAX_COPIED and _texts_in_tables(html) * len(html) > MAX_COPIED:
        html, after = _cut(with_parted_texts(html))
    source = np.frombuffer(html, dtype=np.uint8)
    opening = after[_LETTERS[source[after]]]
    formats = opening[_FORMAT_BEGINNINGS[source[opening], source[opening + 1]]]
    reopened = len(opening) * len(formats)
    if reopened > MAX_REOPENED:
        html = _without_formats(html)
    elif (
        reopened > _FEW_REOPENED
        and len(opening) * attributes_beyond(html, formats.tolist()) > MAX_REOPENED
    ):
        html = with_plain_formats(html)
    unclosed = len(opening) - int(np.count_nonzero(source[after] == ord("/")))
    if len(opening) > MAX_ELEMENTS_UNCHECKED or unclosed > MAX_UNCLOSED:
        return flattened(html)
    return without_crowds(html) if is_crowded(html) else html


def _cut(html: bytes) -> tuple[bytes, NDArray[np.int64]]:
    """The page up to `MAX_MARKUP`, and what stands behind each "<"."""
    source = np.frombuffer(html, dtype=np.uint8)
    after = np.flatnonzero(source[:-2] == ord("<"))
    after += 1
    if len(after) > MAX_MARKUP:
        markup = after[_MARKUP[source[after]]]
        if len(markup) > MAX_MARKUP:
            return html[: markup[MAX_MARKUP] - 1], markup[: MAX_MARKUP - 1]
    return html, after


def _texts_in_tables(html: bytes) -> int:
    """How many texts may stand in tables, but in no cell, where something parts them."""
    return len(_TEXT_IN_TABLE.findall(html)) if _TABLE.search(html) else 0


def _without_formats(html: bytes) -> bytes:
    """Make SPANs of all formatting elements."""
    return _FORMAT_NAME.sub(rb"<\1span", html)
