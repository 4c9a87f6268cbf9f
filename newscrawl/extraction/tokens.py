"""Words and characters of all blocks of a page, counted in one pass over their joined text.

Chinese and Japanese (and Thai, Lao, Khmer, Burmese) put no blanks between words: there each
character counts as a word (algorithms.md, section 2).
"""

import re
import tomllib
from dataclasses import dataclass
from enum import IntEnum
from functools import cache
from importlib.resources import files
from itertools import repeat
from typing import Final

import numpy as np
from numpy.typing import NDArray

from newscrawl.extraction.blocks import LINK_END, LINK_START

_END_OF_BLOCK: Final = "\x00"

# Scripts without blanks between words. One character, one word.
_UNSPACED: Final = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
)
# \w lacks the vowel signs of Indic scripts and the points of Hebrew and Arabic, which would
# split their words; the danda (U+0964, U+0965) is a full stop and stays out.
_JOINING: Final = "\u0300-\u036f\u0591-\u05c7\u064b-\u0655\u0900-\u0963\u0966-\u0dff"
_HAS_JOINING: Final = re.compile(f"[{_JOINING}]")
_ALONE: Final = f"[{_UNSPACED}{LINK_START}{LINK_END}{_END_OF_BLOCK}]"
_TOKEN: Final = re.compile(f"[^\\W{_UNSPACED}]+|{_ALONE}")
_JOINED_TOKEN: Final = re.compile(
    f"(?:[^\\W{_UNSPACED}]|[{_JOINING}])+|{_ALONE}"
)  # four times slower


class Char(IntEnum):
    """The classes of characters that are counted in each block."""

    LETTER = 0
    CAPITAL = 1
    DIGIT = 2
    BLANK = 3
    SENTENCE_END = 4
    COMMA = 5
    QUOTE = 6
    SEPARATOR = 7  # what menus put between links
    OTHER = 8
    MARK = 9  # ours, not the page's


@dataclass(frozen=True, slots=True)
class Tokens:
    """What stands in the blocks of a page, a row or an entry for each block.

    `words` and `linked` count words and words inside links; `letters_in_words` sums the lengths
    of the words; `stop_words[i, j]` counts the words of block i that are stop words of the j-th
    of `languages()`; `chars[i, c]` counts characters of class `Char` c; `sentences` counts
    sentence ends, at least 1 where there are words. `listed` are all tokens of the page in order;
    the words of block i stand in it at `word_places[word_from[i]:word_from[i + 1]]`.
    """

    words: NDArray[np.int64]
    linked: NDArray[np.int64]
    letters_in_words: NDArray[np.int64]
    stop_words: NDArray[np.int64]
    chars: NDArray[np.int64]
    sentences: NDArray[np.int64]
    listed: list[str]
    word_places: NDArray[np.int64]
    word_from: NDArray[np.int64]

    def openings(self, most: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Where in `listed` the first words of the blocks stand, one block's after the other's;
        and how many each block has."""
        counts = np.minimum(np.diff(self.word_from), most)
        within = np.arange(int(counts.sum())) - np.repeat(np.cumsum(counts) - counts, counts)
        return self.word_places[np.repeat(self.word_from[:-1], counts) + within], counts


@cache
def languages() -> tuple[str, ...]:
    """The languages of the stop-word lists, ISO 639-1, in the order of their bits."""
    return tuple(_stop_word_lists())


def _stop_word_lists() -> dict[str, list[str]]:
    source = files("newscrawl.extraction").joinpath("data/stopwords.toml").read_text("utf-8")
    return {lang: table["words"].split() for lang, table in tomllib.loads(source).items()}


@cache
def _stop_word_bits() -> dict[str, int]:
    """One look-up from word to the set of languages it is a stop word of; marks have own bits."""
    bits = {_END_OF_BLOCK: _BLOCK_BIT, LINK_START: _START_BIT, LINK_END: _END_BIT}
    for position, words in enumerate(_stop_word_lists().values()):
        for word in words:
            bits[word] = bits.get(word, 0) | 1 << position
    return bits


_BLOCK_BIT: Final = 1 << 40
_START_BIT: Final = 1 << 41
_END_BIT: Final = 1 << 42


@cache
def _char_classes() -> NDArray[np.uint8]:
    """The class of each character of the Basic Multilingual Plane; what lies above is OTHER."""
    table = np.full(0x10000, Char.OTHER, dtype=np.uint8)
    for code in range(0x10000):
        char = chr(code)
        if char.isalpha():
            table[code] = Char.CAPITAL if char.isupper() else Char.LETTER
        elif char.isdigit():
            table[code] = Char.DIGIT
        elif char.isspace():
            table[code] = Char.BLANK
    for members, kind in (
        (".!?…。！？؟।॥;\u037e።", Char.SENTENCE_END),
        (",、，:،·", Char.COMMA),
        ("\"'“”„«»‘’‚‹›「」『』", Char.QUOTE),
        ("|/>•→‹›»«▶►◄★✓+#@&", Char.SEPARATOR),
        (LINK_START + LINK_END + _END_OF_BLOCK, Char.MARK),
    ):
        table[[ord(char) for char in members]] = kind
    for first, last in ((0x300, 0x36F), (0x900, 0x963), (0x966, 0xDFF)):
        signs = table[first : last + 1]
        signs[signs == Char.OTHER] = Char.LETTER
    return table


def count(raw: tuple[str, ...]) -> Tokens:
    """Count words and characters in the raw texts of blocks (`BlockPage.raw`)."""
    joined = _END_OF_BLOCK.join((*raw, ""))
    if joined.count(_END_OF_BLOCK) != len(raw):  # the page has NULs of its own
        return count(tuple(text.replace(_END_OF_BLOCK, " ") for text in raw))
    pattern = _JOINED_TOKEN if _HAS_JOINING.search(joined) else _TOKEN
    tokens = pattern.findall(joined.lower())
    looked_up = map(_stop_word_bits().get, tokens, repeat(0))
    bits = np.fromiter(looked_up, dtype=np.int64, count=len(tokens))
    lengths = np.fromiter(map(len, tokens), dtype=np.int64, count=len(tokens))
    chars = _count_chars(joined, len(raw))
    words, linked, letters, stop_words = _count_words(bits, lengths, len(raw))
    return Tokens(
        words=words,
        linked=linked,
        letters_in_words=letters,
        stop_words=stop_words,
        chars=chars,
        sentences=np.maximum(chars[:, Char.SENTENCE_END], (words > 0).astype(np.int64)),
        listed=tokens,
        word_places=np.flatnonzero(bits < _BLOCK_BIT),
        word_from=np.concatenate(([0], np.cumsum(words))),
    )


def _count_words(
    bits: NDArray[np.int64], lengths: NDArray[np.int64], blocks: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    ends = bits == _BLOCK_BIT
    block_of = np.cumsum(ends) - ends
    inside = np.cumsum((bits == _START_BIT).astype(np.int64) - (bits == _END_BIT)) > 0
    is_word = bits < _BLOCK_BIT
    where = block_of[is_word]
    words = np.bincount(where, minlength=blocks)
    linked = np.bincount(block_of[is_word & inside], minlength=blocks)
    letters = np.bincount(where, weights=lengths[is_word], minlength=blocks).astype(np.int64)
    is_stop = is_word & (bits > 0)
    one_hot = bits[is_stop, None] >> np.arange(len(languages())) & 1
    cells = block_of[is_stop, None] * len(languages()) + np.arange(len(languages()))
    stop_words = np.bincount(
        cells[one_hot.astype(bool)], minlength=blocks * len(languages())
    ).reshape(blocks, len(languages()))
    return words, linked, letters, stop_words


def _count_chars(joined: str, blocks: int) -> NDArray[np.int64]:
    codes = np.frombuffer(joined.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    kinds = _char_classes()[np.minimum(codes, 0xFFFF)].astype(np.int64)
    ends = codes == 0
    block_of = np.cumsum(ends) - ends
    width = len(Char)
    return np.bincount(block_of * width + kinds, minlength=blocks * width).reshape(blocks, width)
