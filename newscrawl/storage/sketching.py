"""Sketches of texts: what tells that two of them are, but for small edits, the same.

A text is the set of its shingles, runs of some words (Broder 1997, "On the resemblance and
containment of documents"). Of their hashes the smallest are kept: they are a fair sample of the
set, and of two such samples follows how much the sets share (the bottom-k sketch, section 3 there).
"""

import zlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from newscrawl.storage.words import writes_no_blanks

# Ours, all of them; tests/test_stories.py holds what they must tell apart.
# Four words in a row: three are often a phrase of the language, and with five each edited word
# spoils more of the text.
SHINGLE = 4
# Where each character is a word of its own, four words are about as many characters.
SHINGLE_OF_CHARACTERS = 8
# The sample: with 64 the share of common shingles is known to 0.06 (one standard deviation).
KEPT = 64
# Of them so many lead to an article. Two texts that share a third of their shingles meet under
# at least one with a probability of 1 - (2/3)^12 = 0.99.
INDEXED = 12
# A shorter text is no evidence: many say "More follows" or the same standfirst.
FEWEST_SHINGLES = 24
# The same story: so much of the shorter text stands in the longer one (an agency's copy, cut or
# with something added), and so much of both together is common (else a long text would swallow
# every short one that quotes the same paragraph).
CONTAINED = 0.5
COMMON = 0.2
# So many words tell whether a text is written by characters.
_LOOKED_AT = 100

_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
_FIRST_MIX = np.uint64(0xBF58476D1CE4E5B9)
_SECOND_MIX = np.uint64(0x94D049BB133111EB)

Values = NDArray[np.uint32]


@dataclass(frozen=True, slots=True)
class Sketch:
    """The number of a text's different shingles, and the KEPT smallest of their hashes, sorted."""

    shingles: int
    smallest: Values

    @property
    def index(self) -> list[int]:
        """The values under which the text is found."""
        values: list[int] = self.smallest[:INDEXED].tolist()
        return values

    def to_bytes(self) -> bytes:
        return self.smallest.astype("<u4").tobytes()

    @classmethod
    def from_bytes(cls, shingles: int, stored: bytes) -> "Sketch":
        return cls(shingles, np.frombuffer(stored, dtype="<u4").astype(np.uint32))


def sketch(words: str) -> Sketch | None:
    """The sketch of a text of these folded words, each on a line of its own; None where it is too
    short to be evidence."""
    width = SHINGLE_OF_CHARACTERS if _is_by_characters(words) else SHINGLE
    encoded = words.encode().split(b"\n") if words else []
    if len(encoded) < width + FEWEST_SHINGLES - 1:
        return None
    hashes = np.sort(_shingle_hashes(encoded, width))
    values = hashes[np.append(True, hashes[1:] != hashes[:-1])]
    if len(values) < FEWEST_SHINGLES:
        return None
    return Sketch(len(values), values[:KEPT])


def resemblance(one: Sketch, other: Sketch) -> float:
    """The share of the shingles of both texts that stand in both, 0 to 1."""
    both = np.union1d(one.smallest, other.smallest)
    reach = min(KEPT, len(both))
    shared = np.intersect1d(one.smallest, other.smallest, assume_unique=True)
    return float(np.count_nonzero(shared <= both[reach - 1]) / reach)


def same_story(one: Sketch, other: Sketch) -> float:
    """The resemblance of two texts of one story; 0 where they are not."""
    found = resemblance(one, other)
    if found < COMMON:
        return 0.0
    common = found / (1 + found) * (one.shingles + other.shingles)
    return found if common >= CONTAINED * min(one.shingles, other.shingles) else 0.0


def _is_by_characters(words: str) -> bool:
    if words.isascii():
        return False
    some = words.split("\n", _LOOKED_AT)[:_LOOKED_AT]
    return 2 * sum(len(word) == 1 and writes_no_blanks(word) for word in some) > len(some)


def _shingle_hashes(words: Sequence[bytes], width: int) -> Values:
    """A hash of each run of words: the same on every machine, as Python's own is not."""
    single = np.fromiter(map(zlib.crc32, words), np.uint64, len(words))
    count = len(words) - width + 1
    mixed = np.zeros(count, np.uint64)
    for place in range(width):
        mixed = (mixed + single[place : place + count] + np.uint64(1)) * _MULTIPLIER
    mixed = (mixed ^ (mixed >> np.uint64(30))) * _FIRST_MIX
    mixed = (mixed ^ (mixed >> np.uint64(27))) * _SECOND_MIX
    return (mixed >> np.uint64(32)).astype(np.uint32)
