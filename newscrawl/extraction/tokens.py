"""Words and characters of all blocks of a page, counted in one pass over their joined text.

Chinese and Japanese (and Thai, Lao, Khmer, Burmese) put no blanks between words: there each
character counts as a word (algorithms.md, section 2). Words are represented by numbers, hashes of
their lower case, so that all words of a page are computed and looked up at once, without strings.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum
from functools import cache, lru_cache
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from newscrawl.extraction import compiled
from newscrawl.text import LINK_END, LINK_START, stop_word_lists

END_OF_BLOCK: Final = "\x00"

# Scripts without blanks between words. One character, one word.
_UNSPACED: Final = (
    (0x0E00, 0x0EFF), (0x1000, 0x109F), (0x1780, 0x17FF), (0x3040, 0x30FF), (0x3400, 0x4DBF),
    (0x4E00, 0x9FFF), (0xF900, 0xFAFF),
)  # fmt: skip
# \w lacks the vowel signs of Indic scripts and the points of Hebrew and Arabic, which would
# split their words; the danda (U+0964, U+0965) is a full stop and stays out.
_JOINING: Final = (
    (0x0300, 0x036F), (0x0591, 0x05C7), (0x064B, 0x0655), (0x0900, 0x0963), (0x0966, 0x0DFF),
)  # fmt: skip
_SIZE: Final = 0x10000


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


class InWord(IntEnum):
    """The effect of a character on words: it separates them, it is a part of one, it is a word."""

    NO = 0
    JOINS = 1
    ALONE = 2


def codes_of(text: str) -> NDArray[np.intp]:
    """Return the code points of a text; those above the plane become its last, no character.

    They are made for looking up, which takes half the time with numbers of this type.
    """
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    places = codes.astype(np.intp)
    return np.minimum(places, _SIZE - 1, out=places)


def _characters() -> NDArray[np.str_]:
    """Return all characters; numpy asks them in a tenth of the time that a loop takes."""
    return np.arange(_SIZE, dtype=np.uint32).view("U1")


@cache
def classes() -> NDArray[np.uint8]:
    """Return the class (`Char`) of each code point."""
    table = np.full(_SIZE, Char.OTHER, dtype=np.uint8)
    chars = _characters()
    table[np.char.isspace(chars)] = Char.BLANK
    table[np.char.isdigit(chars)] = Char.DIGIT
    letters = np.char.isalpha(chars)
    table[letters] = Char.LETTER
    table[letters & np.char.isupper(chars)] = Char.CAPITAL
    for members, kind in (
        (".!?…。！？؟।॥;\u037e።", Char.SENTENCE_END),
        (",、，:،·", Char.COMMA),
        ("\"'“”„«»‘’‚‹›「」『』", Char.QUOTE),
        ("|/>•→‹›»«▶►◄★✓+#@&", Char.SEPARATOR),
        (LINK_START + LINK_END + END_OF_BLOCK, Char.MARK),
    ):
        table[[ord(char) for char in members]] = kind
    for first, last in ((0x300, 0x36F), (0x900, 0x963), (0x966, 0xDFF)):
        signs = table[first : last + 1]
        signs[signs == Char.OTHER] = Char.LETTER
    return table


@cache
def in_words() -> NDArray[np.uint8]:
    """Return the effect of each code point on words (`InWord`)."""
    letters = np.char.isalnum(_characters())
    letters[ord("_")] = True
    table = np.where(letters, InWord.JOINS, InWord.NO).astype(np.uint8)
    for first, last in _JOINING:
        table[first : last + 1] = InWord.JOINS
    for first, last in _UNSPACED:
        table[first : last + 1] = InWord.ALONE
    return table


@cache
def lower_case() -> NDArray[np.uint16]:
    """Return the lower case of each code point; the two Greek sigmas are one."""
    # İ is the only one with two small letters, i and a dot: numpy keeps the first.
    table = np.char.lower(_characters()).view(np.uint32).astype(np.uint16)
    table[ord("ς")] = ord("σ")
    return table


WordNumbers = NDArray[np.uint64]

# A word's number is the sum of its letters' codes times powers of this, modulo 2^64: any odd
# number has an inverse there. Ours; this one is 2^64 over the golden ratio.
_BASE: Final = 0x9E3779B97F4A7C15
_INVERSE: Final = pow(_BASE, -1, 1 << 64)
SECOND: Final = 0xC2B2AE3D27D4EB4F  # ours, any other odd number
_MAX_MOVES: Final = 500  # a quarter of the cells is filled at most: a few moves are enough
_USUAL: Final = 1 << 16  # characters; nearly all pages have fewer


@dataclass(frozen=True, slots=True)
class Tokens:
    """The tokens of a page's blocks, a row or an entry for each block.

    `words` and `linked` count words and words inside links; `letters_in_words` sums the lengths
    of the words; `stop_words[i, j]` counts the words of block i that are stop words of the j-th
    of `languages()`; `chars[i, c]` counts characters of class `Char` c; `sentences` counts
    sentence ends, at least 1 where there are words. The words of block i have the numbers
    `numbers[word_from[i]:word_from[i + 1]]`.
    """

    words: NDArray[np.int64]
    linked: NDArray[np.int64]
    letters_in_words: NDArray[np.int64]
    stop_words: NDArray[np.int64]
    chars: NDArray[np.int64]
    sentences: NDArray[np.int64]
    numbers: WordNumbers
    word_from: NDArray[np.int64]
    raw: tuple[str, ...]

    def openings(self, max_words: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return which words are the first of each block, block after block, and how many there
        are of each."""
        counts = np.minimum(self.words, max_words)
        within = np.arange(int(counts.sum())) - (counts.cumsum() - counts).repeat(counts)
        return self.word_from[:-1].repeat(counts) + within, counts

    def words_at(self, places: Iterable[int]) -> list[str]:
        """Return the words at these places of `numbers`, in lower case."""
        text = END_OF_BLOCK.join((*self.raw, ""))
        starts, ends = _spans(codes_of(text))
        return [text[starts[place] : ends[place]].lower() for place in places]


def count(raw: tuple[str, ...]) -> Tokens:
    """Count words and characters in the raw texts of blocks (`BlockPage.raw`)."""
    if END_OF_BLOCK in "".join(raw):  # the page has NULs of its own
        return count(tuple(each.replace(END_OF_BLOCK, " ") for each in raw))
    words, linked, letters, chars, stop_words, numbers = (
        (np.frombuffer(each, dtype=np.int64) for each in _compiled_counter().count(raw))
        if compiled.kernel is not None
        else _columns(raw, codes_of(END_OF_BLOCK.join((*raw, ""))))
    )
    chars = chars.reshape(len(raw), len(Char))
    return Tokens(
        words=words,
        linked=linked,
        letters_in_words=letters,
        stop_words=stop_words.reshape(len(raw), len(languages())),
        chars=chars,
        sentences=np.maximum(chars[:, Char.SENTENCE_END], words > 0),
        numbers=numbers.view(np.uint64),
        word_from=np.concatenate(([0], words.cumsum())),
        raw=raw,
    )


def _columns(raw: tuple[str, ...], codes: NDArray[np.intp]) -> tuple[NDArray[Any], ...]:
    """Return the columns that `count` makes tokens of, as the kernel does."""
    sizes = np.fromiter(map(len, raw), dtype=np.int64, count=len(raw)) + 1
    width = len(Char)
    cells = np.arange(0, len(raw) * width, width).repeat(sizes)  # of the blocks' characters
    starts, ends = _spans(codes)
    numbers = _numbers(codes, starts, ends)
    where = cells.take(starts) // width
    cells += classes().take(codes)
    steps = (codes == ord(LINK_START)).astype(np.int8) - (codes == ord(LINK_END))
    in_links = np.cumsum(steps, dtype=np.int32) > 0
    return (
        np.bincount(where, minlength=len(raw)),
        np.bincount(where[in_links.take(starts)], minlength=len(raw)),
        np.bincount(where, weights=ends - starts, minlength=len(raw)).astype(np.int64),
        np.bincount(cells, minlength=len(raw) * width),
        _stop_words(numbers, where, len(raw)),
        numbers,
    )


@cache
def _compiled_counter() -> Any:
    """Return the kernel's count over the tables of this module."""
    kernel = compiled.kernel
    assert kernel is not None  # noqa: S101 - asked for by its one caller
    table, flags = _stop_word_table()
    return kernel.Counter(
        classes=classes().tobytes(),
        in_words=in_words().tobytes(),
        lower=lower_case().tobytes(),
        table=table.cells(),
        flags=flags.tobytes(),
        numbers={
            "base": _BASE,
            "second": SECOND,
            "joins": int(InWord.JOINS),
            "alone": int(InWord.ALONE),
            "languages": len(languages()),
            "width": len(Char),
            "link_start": ord(LINK_START),
            "link_end": ord(LINK_END),
            "end_of_block": ord(END_OF_BLOCK),
        },
    )


def _spans(codes: NDArray[np.intp]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return where words start, and where they end."""
    kinds = in_words().take(codes)
    joins = np.zeros(len(codes) + 2, dtype=bool)
    joins[1:-1] = kinds == InWord.JOINS
    alone = kinds == InWord.ALONE
    starts = (alone | (joins[1:-1] & ~joins[:-2])).nonzero()[0]
    ends = (alone | (joins[1:-1] & ~joins[2:])).nonzero()[0] + 1
    return starts, ends


def _numbers(
    codes: NDArray[np.intp], starts: NDArray[np.int64], ends: NDArray[np.int64]
) -> WordNumbers:
    powers, inverses = _powers(max(len(codes), _USUAL))
    sums = np.zeros(len(codes) + 1, dtype=np.uint64)
    np.cumsum(lower_case().take(codes) * powers[: len(codes)], out=sums[1:])
    numbers = sums.take(ends)
    numbers -= sums.take(starts)
    numbers *= inverses.take(starts)
    return numbers


@lru_cache(maxsize=1)  # of a page of usual size
def _powers(count: int) -> tuple[WordNumbers, WordNumbers]:
    """Return the powers of the base from the first on, of its inverse from the 0th."""
    base, inverse = np.full((2, count), _BASE, dtype=np.uint64)
    inverse[0], inverse[1:] = 1, _INVERSE
    return np.multiply.accumulate(base), np.multiply.accumulate(inverse)


def number_words(words: Iterable[str]) -> WordNumbers:
    """Return the numbers of words, as `Tokens` has them."""
    listed = list(words)
    ends = np.cumsum([0, *map(len, listed)], dtype=np.int64)
    return _numbers(codes_of("".join(listed)), ends[:-1], ends[1:])


class WordTable:
    """Looks up many words at once: each has a value, unknown ones have 0.

    A word is in one of two cells given by its number (cuckoo hashing): two look-ups for each word
    at any size, in a third of the time of a binary search.
    """

    def __init__(self, numbers: WordNumbers, values: NDArray[np.int64]) -> None:
        self._bits = max(int(4 * len(numbers)).bit_length(), 4)
        cells = 1 << self._bits
        self._numbers = np.zeros(cells, dtype=np.uint64)
        self._values = np.zeros(cells, dtype=np.int64)
        word_at: dict[int, int] = {}
        first, second = (cell.tolist() for cell in self._cells(numbers))
        for word in range(len(numbers)):
            self._place(word, first, second, word_at)
        for cell, word in word_at.items():
            self._numbers[cell], self._values[cell] = numbers[word], values[word]

    def cells(self) -> dict[str, Any]:
        """Return the cells, and the number of bits that name one."""
        return {"numbers": self._numbers, "values": self._values, "bits": self._bits}

    def _cells(self, numbers: WordNumbers) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        first = numbers >> np.uint64(64 - self._bits)
        second = (numbers * np.uint64(SECOND)) >> np.uint64(64 - self._bits)
        return first.view(np.int64), second.view(np.int64)  # small numbers: the same bits

    @staticmethod
    def _place(word: int, first: list[int], second: list[int], word_at: dict[int, int]) -> None:
        """Put a word into one of its cells; the word that lay there moves to its other cell."""
        cell = first[word] if first[word] not in word_at else second[word]
        for _ in range(_MAX_MOVES):
            word, pushed = word_at.get(cell, -1), word
            word_at[cell] = pushed
            if word < 0:
                return
            cell = second[word] if cell == first[word] else first[word]
        raise ValueError("two words of a table have one number")

    def look_up(self, numbers: WordNumbers) -> NDArray[np.int64]:
        """Return the values of words, by their numbers."""
        first, second = self._cells(numbers)
        cells = np.where(self._numbers.take(first) == numbers, first, second)
        values = self._values.take(cells)
        values *= self._numbers.take(cells) == numbers
        return values


@cache
def languages() -> tuple[str, ...]:
    """Return the languages of the stop-word lists, ISO 639-1, in the order of their columns."""
    return tuple(stop_word_lists())


@cache
def _stop_word_table() -> tuple[WordTable, NDArray[np.uint8]]:
    """Return a look-up from a word to the number of the set of languages it is a stop word of, and
    for each set a flag for each language; set 0 is empty."""
    sets_of: dict[str, list[int]] = {}
    for position, words in enumerate(stop_word_lists().values()):
        for word in words:
            sets_of.setdefault(word, []).append(position)
    distinct = dict.fromkeys([(), *map(tuple, sets_of.values())])
    numbers = {members: number for number, members in enumerate(distinct)}
    flags = np.zeros((len(numbers), len(languages())), dtype=np.uint8)
    for members, number in numbers.items():
        flags[number, list(members)] = 1
    values = np.array([numbers[tuple(members)] for members in sets_of.values()], dtype=np.int64)
    return WordTable(number_words(sets_of), values), flags


def _stop_words(numbers: WordNumbers, where: NDArray[np.int64], blocks: int) -> NDArray[np.int64]:
    table, flags = _stop_word_table()
    sets = table.look_up(numbers)
    places = sets.nonzero()[0]
    totals = np.zeros((blocks, len(languages())), dtype=np.int64)
    if len(places):
        block_of = where.take(places)
        first = np.concatenate(([0], (block_of[1:] != block_of[:-1]).nonzero()[0] + 1))
        of_words = flags.take(sets.take(places), axis=0)
        totals[block_of[first]] = np.add.reduceat(of_words, first, axis=0, dtype=np.int64)
    return totals
