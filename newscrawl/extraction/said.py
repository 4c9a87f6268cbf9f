"""Blocks that say what the page says elsewhere: in its headline, in the text of its JSON-LD."""

import re
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from newscrawl.extraction.blocks import BlockPage, clean, read_blocks
from newscrawl.extraction.metadata import Metadata, asks_to_subscribe
from newscrawl.extraction.parsing import parse
from newscrawl.extraction.profiles import tag_id
from newscrawl.extraction.references import unescape

# Ours: JSON-LD's text counts from so many characters on, a block in it from so many letters on;
# so many of its first and last ones are looked for.
LEAST_BODY: Final = 200
LEAST_SAID: Final = 4
SAID: Final = 32
# Ours: a page with less text than this share of what its JSON-LD has writes it by a script. The
# development corpus has no such page.
LEAST_SHOWN: Final = 0.2
_WORD: Final = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Headline:
    """The place of the headline's block, -1 for none; `same` are the blocks that say the title."""

    place: int
    same: NDArray[np.bool_]


def said_in_data(page: BlockPage, body: str | None) -> dict[str, NDArray[Any]]:
    """Whether a block's beginning and its end stand in the text that JSON-LD gives."""
    starts, ends = np.zeros((2, len(page)))
    has_body = body is not None and len(body) >= LEAST_BODY
    if body is not None and has_body:
        said = squeezed(body)
        for number, raw in enumerate(page.raw):
            begin = squeezed(raw[: 3 * SAID])
            end = begin if len(raw) <= 3 * SAID else squeezed(raw[-3 * SAID :])
            first, last = begin[:SAID], end[-SAID:]
            starts[number] = len(first) >= LEAST_SAID and first in said
            ends[number] = len(last) >= LEAST_SAID and last in said
    return {
        "has_data": np.full(len(page), float(has_body)),
        "data_begins": starts,
        "data_ends": ends,
    }


def unshown(facts: Metadata, page: BlockPage) -> list[str]:
    """The paragraphs of a text that stands in JSON-LD and not on the page, where a script would
    write it; none where the page has a text of its own, or where readers would have to pay."""
    body = unescape(facts.article_body or "")
    if len(body) < LEAST_BODY or sum(map(len, page.raw)) >= LEAST_SHOWN * len(body):
        return []
    if facts.paywalled or asks_to_subscribe(" ".join(page.raw)):
        return []
    blocks = read_blocks(parse(body.encode("utf-8", "replace"))).texts if "<" in body else None
    lines = (clean(" ".join(line.split())) for line in blocks or body.splitlines())
    return [line for line in lines if line]


def squeezed(text: str) -> str:
    """The letters and digits of a text, in lower case: equal for texts that say the same."""
    return "".join(_WORD.findall(text.lower()))


def find_headline(page: BlockPage, title: str | None) -> Headline:
    """Where the headline stands: an H1 that says the title, another block that does, an H1."""
    wanted = squeezed(title or "")
    same = np.zeros(len(page), dtype=bool)
    if wanted:
        least, most = len(wanted), 2 * len(title or "") + 20  # no shorter, and not much longer
        for number, raw in enumerate(page.raw):
            if least <= len(raw) < most and (first := _WORD.search(raw)):
                same[number] = first[0][0].lower() == wanted[0] and squeezed(clean(raw)) == wanted
    is_h1 = page.elements.tags[page.owners] == tag_id("h1")
    for found in (same & is_h1, same, is_h1):
        if found.any():
            return Headline(int(found.argmax()), same)
    return Headline(-1, same)
