"""The eight features of a block (Ziegler & Skubacz 2007, sections 3.3 and 3.4).

Shares of the whole are used where the paper writes "a against not-a", as they are bounded
(algorithms.md, section 2).
"""

import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final

import numpy as np
from numpy.typing import NDArray

from newscrawl.extraction.blocks import (
    FORMATS,
    LAST_KNOWN_TAG,
    LISTS,
    STRUCTURE,
    BlockPage,
    ProfileName,
    tag_ids,
)
from newscrawl.extraction.tokens import Char, Tokens, count

# In the order of the paper; a lower limit keeps blocks at or above it, an upper one at or below.
NAMES: Final = (
    "sentence_length",
    "sentences",
    "characters",
    "stop_words",
    "anchors",
    "formats",
    "lists",
    "structure",
)
UPPER_LIMITS: Final = frozenset(("anchors", "lists"))

# Increased when the computation of a feature changes: learned limits belong to one version.
VERSION: Final = 1


@dataclass(frozen=True, slots=True)
class Features:
    """`values[i, f]` is feature `NAMES[f]` of block i; `tokens` what they were counted from."""

    values: NDArray[np.float64]
    tokens: Tokens


def measure(page: BlockPage) -> Features:
    """Measure all blocks of a page at once."""
    tokens = count(page.raw)
    words = np.maximum(tokens.words, 1)
    chars = tokens.chars
    visible = chars.sum(axis=1) - chars[:, Char.BLANK] - chars[:, Char.MARK]
    alphanumeric = chars[:, Char.LETTER] + chars[:, Char.CAPITAL] + chars[:, Char.DIGIT]
    elements = _Occurrences(page)
    values = np.array(
        (
            tokens.words / np.maximum(tokens.sentences, 1),
            tokens.sentences.astype(np.float64),
            alphanumeric / np.maximum(visible, 1),
            tokens.stop_words.max(axis=1, initial=0) / words,
            tokens.linked / words,
            elements.count(FORMATS) / words,
            elements.count(LISTS) / words,
            elements.count(STRUCTURE) / words,
        ),
    ).T
    return Features(values=values, tokens=tokens)


@cache
def members_of(names: str) -> NDArray[np.bool_]:
    """Return for each tag number whether it is one of the named; the last entry is for none."""
    table = np.zeros(LAST_KNOWN_TAG + 3, dtype=bool)
    table[list(tag_ids(names))] = True
    return table


class _Occurrences:
    """Counts elements by block: those removed inside it and, in `html5`, the one that opens it."""

    def __init__(self, page: BlockPage) -> None:
        self._blocks = len(page)
        self._block_of = np.arange(len(page)).repeat(page.removed_from[1:] - page.removed_from[:-1])
        self._removed = page.removed[: len(self._block_of)]
        opens = page.profile == "html5"
        self._openers = page.elements.tags[page.owners] if opens else np.full(len(page), -1)

    def count(self, names: str) -> NDArray[np.int64]:
        members = members_of(names)
        inside = self._block_of[members[self._removed]]
        return np.bincount(inside, minlength=self._blocks) + members[self._openers]


class ThresholdsError(ValueError):
    """The file of learned limits does not fit the code."""


@dataclass(frozen=True, slots=True)
class Limits:
    """The eight limits in the order of `features.NAMES`."""

    values: NDArray[np.float64]


# Ours: the mean length of a word. Scripts without blanks count each character as one and have
# 1.0 to 1.5 on news pages, all others more than 3.
UNSPACED_BELOW: Final = 2.0


@cache
def load_limits(profile: ProfileName = "html5", *, unspaced: bool = False) -> Limits:
    """Return the limits in `data/thresholds.json`, which `newscrawl train` writes.

    Scripts without blanks between words have limits of their own where they were learned.
    """
    source = files("newscrawl.extraction").joinpath("data/thresholds.json")
    content = json.loads(source.read_text("utf-8"))
    profile_unspaced = f"{profile} unspaced"
    name = profile_unspaced if unspaced and profile_unspaced in content else profile
    entry = content[name]
    if entry["provenance"]["feature_version"] != VERSION:
        raise ThresholdsError(
            f"data/thresholds.json: the limits of {name} belong to version"
            f" {entry['provenance']['feature_version']} of the features, the code has {VERSION};"
            " run `newscrawl train`"
        )
    return Limits(np.array([entry["limits"][name] for name in NAMES], dtype=np.float64))


def limits_for(features: Features) -> Limits:
    """Return the learned limits for the script that a page is written in."""
    words = int(features.tokens.words.sum())
    letters = int(features.tokens.letters_in_words.sum())
    return load_limits("html5", unspaced=letters < UNSPACED_BELOW * words)


def keep(features: Features, limits: Limits) -> NDArray[np.bool_]:
    """Return which blocks are within all eight limits."""
    signs = np.array([-1.0 if name in UPPER_LIMITS else 1.0 for name in NAMES])
    return np.asarray(np.all(features.values * signs >= limits.values * signs, axis=1))
