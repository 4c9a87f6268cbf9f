"""Bytes become a tree, in time linear to their number, whatever they are.

HTML's own parsing rules let a few kilobytes of misnested formatting elements grow to millions
of nodes (each paragraph reopens every formatting element still open), scope checks make deep
nesting quadratic, and so does the search for double names among the attributes of one element.
A page that could do so is tamed: formatting elements become SPANs, which are never reopened, start
tags that nest too deep and attributes that are too many are left out. A page that has more of
everything than any page of news is cut, and keeps its beginning, where articles stand.
"""

import re
from typing import Final

import numpy as np
from numpy.typing import NDArray
from selectolax.lexbor import LexborHTMLParser

from newscrawl.extraction.crowding import is_crowded
from newscrawl.extraction.taming import (
    FORMATTING,
    attributes_beyond,
    flattened,
    with_parted_texts,
    with_plain_formats,
    without_crowds,
)

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
