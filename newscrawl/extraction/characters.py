"""What each character is: its class, whether words are made of it, its lower case.

Tables over the Basic Multilingual Plane, so that numpy reads a whole page at once; what lies
above it (emoji, historic scripts) is of class OTHER and stands in no word.
"""

from enum import IntEnum
from functools import cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

# In a block's raw text these two enclose what stood inside <a>.
LINK_START: Final = "\x02"
LINK_END: Final = "\x03"
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
    """What a character does to words: none is made of it, it joins them, it is one."""

    NO = 0
    JOINS = 1
    ALONE = 2


def codes_of(text: str) -> NDArray[np.intp]:
    """The code points of a text; those above the plane are its last, which is no character.

    They are made for looking up, which takes half the time with numbers of this type.
    """
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    places = codes.astype(np.intp)
    return np.minimum(places, _SIZE - 1, out=places)


@cache
def classes() -> NDArray[np.uint8]:
    """The class (`Char`) of each code point."""
    table = np.full(_SIZE, Char.OTHER, dtype=np.uint8)
    for code in range(_SIZE):
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
        (LINK_START + LINK_END + END_OF_BLOCK, Char.MARK),
    ):
        table[[ord(char) for char in members]] = kind
    for first, last in ((0x300, 0x36F), (0x900, 0x963), (0x966, 0xDFF)):
        signs = table[first : last + 1]
        signs[signs == Char.OTHER] = Char.LETTER
    return table


@cache
def in_words() -> NDArray[np.uint8]:
    """What each code point does to words (`InWord`)."""
    letters = [chr(code).isalnum() or chr(code) == "_" for code in range(_SIZE)]
    table = np.where(letters, InWord.JOINS, InWord.NO).astype(np.uint8)
    for first, last in _JOINING:
        table[first : last + 1] = InWord.JOINS
    for first, last in _UNSPACED:
        table[first : last + 1] = InWord.ALONE
    return table


@cache
def lower_case() -> NDArray[np.uint16]:
    """The lower case of each code point; the two Greek sigmas are one."""
    table = np.arange(_SIZE, dtype=np.uint16)
    for code in range(_SIZE):
        lowered = chr(code).lower()
        if len(lowered) == 1:
            table[code] = ord(lowered)
    table[ord("İ")] = ord("i")
    table[ord("ς")] = ord("σ")
    return table
