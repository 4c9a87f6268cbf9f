"""What stands around an article on its page and reads like its text: comments of readers below it,
and paragraphs that only subscribers see in clear."""

import re
from functools import cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from newscrawl.extraction.blocks import UNWANTED, BlockPage
from newscrawl.extraction.features import members_of
from newscrawl.notices import words_of_notices

# Ours: characters of the longest label above comments; words of a text below which they stand, if
# the label is a heading, and if it is not: a count of comments may stand below the headline, too.
LONGEST_LABEL: Final = 80
MIN_ABOVE_HEADING: Final = 40
MIN_ABOVE_LABEL: Final = 100
# Words of a label that other words may follow, as in "Comments are closed for this story".
_OPENS_LABEL: Final = 3
_HEADINGS: Final = members_of("h1 h2 h3 h4 h5 h6")
_OPENING: Final = re.compile(r"[\W\d_]*+([^\W\d_]{1,3})")
_NO_LETTERS: Final = re.compile(rf"[\W\d_{UNWANTED}]+")


@cache
def _labels_of_comments() -> frozenset[str]:
    return frozenset(
        label for kinds in words_of_notices().values() for label in kinds.get("comments", ())
    )


@cache
def _openings_of_comments() -> frozenset[str]:
    """Return the first letters of all labels, by which most blocks are passed over."""
    return frozenset(label.split()[0][:3] for label in _labels_of_comments())


@cache
def _beginnings_of_comments() -> tuple[str, ...]:
    return tuple(
        f"{label} " for label in _labels_of_comments() if label.count(" ") + 1 >= _OPENS_LABEL
    )


def without_comments(
    blocks: BlockPage, words: NDArray[np.int64], mask: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """Return the kept blocks above a label of comments, if they are a text."""
    places = np.flatnonzero(mask)
    if not len(places):
        return mask
    above = (words * mask).cumsum()
    first, last = int(np.searchsorted(above, MIN_ABOVE_HEADING)) + 1, int(places[-1])
    tags = blocks.elements.tags[blocks.owners]
    for place in range(first, last + 1):
        raw = blocks.raw[place]
        if len(raw) > LONGEST_LABEL or not _is_label_of_comments(raw):
            continue
        if _HEADINGS[tags[place]] or above[place - 1] >= MIN_ABOVE_LABEL:
            mask = mask.copy()
            mask[place:] = False
            return mask
    return mask


def _is_label_of_comments(raw: str) -> bool:
    lowered = raw.lower()
    opening = _OPENING.match(lowered)
    if opening is None or opening[1] not in _openings_of_comments():
        return False
    label = _NO_LETTERS.sub(" ", lowered).strip()
    return label in _labels_of_comments() or label.startswith(_beginnings_of_comments())
