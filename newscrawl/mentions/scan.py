"""An article as the matcher reads it: one spelling for apostrophes, blanks, hyphens and accents.

Every scanned character knows its place in the original, so that offsets never refer to
the tidied text.
"""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from newscrawl.items import Section

# Invisible characters: soft hyphen, zero-width blank, joiners and marks, word joiner, BOM.
_INVISIBLE = "\u00ad\u200b\u200c\u200d\u200e\u200f\u2060\ufeff"
# Unicode's blocks of combining marks, and the kana voicing marks.
_MARKS = "\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\u3099\u309a\ufe20-\ufe2f"
_JAMO = "\u1100-\u11ff"

_ONE_FOR_ONE = {
    **dict.fromkeys("\u2018\u2019\u02bc\u2032\uff07\u00b4`", "'"),
    **dict.fromkeys("\u00a0\u2002\u2003\u2007\u2009\u200a\u202f\u3000\t", " "),
    **dict.fromkeys("\u2010\u2011", "-"),
}
_FULL_WIDTH = re.compile("[\uff01-\uff5e]")
_NARROW = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)}
_LINE_BREAK = re.compile(r"(?<!\n)\n(?!\n)")
_REPAIR = re.compile(rf"[{_INVISIBLE}]+|[^{_MARKS}][{_MARKS}]+|[{_JAMO}]{{2,}}|(?<= ) +")
_SURROGATE = re.compile("[\ud800-\udfff]")

BREAK: Literal["\n\n"] = "\n\n"


@dataclass(frozen=True, slots=True)
class Scan:
    """A title and a body as one text to match in, and the way back to where each character stood.

    `places` is None where scanned and original characters correspond one to one.
    """

    text: str
    original: str
    body_start: int
    places: Sequence[int] | None = None

    def origin(self, start: int, end: int) -> tuple[Section, int, int]:
        """The section and the offsets in it of the scanned characters from `start` to `end`."""
        if self.places is not None:
            start, end = self.places[start], self.places[end]
            while end > start and self.original[end - 1] in _INVISIBLE:
                end -= 1
        if start < self.body_start:
            return "title", start, end
        return "body", start - self.body_start, end - self.body_start

    def surface(self, section: Section, start: int, end: int) -> str:
        """The original characters at offsets of a section."""
        shift = 0 if section == "title" else self.body_start
        return self.original[start + shift : end + shift]


def scan(text: str, title: str = "") -> Scan:
    """Prepare an article for matching; linear in its length, lone surrogates included."""
    original = f"{title}{BREAK}{text}" if title else text
    body_start = len(original) - len(text)
    spelled = original
    if not original.isascii():
        for variant, plain in _ONE_FOR_ONE.items():
            spelled = spelled.replace(variant, plain)
        if _FULL_WIDTH.search(spelled):
            spelled = spelled.translate(_NARROW)
        spelled = _without_surrogates(spelled)
    elif "\t" in spelled:
        spelled = spelled.replace("\t", " ")
    if "\n" in spelled:
        spelled = _LINE_BREAK.sub(" ", spelled)
    if not _needs_repair(spelled):
        return Scan(spelled, original, body_start)
    repaired, places = _repair(spelled)
    return Scan(repaired, original, body_start, places)


def _without_surrogates(spelled: str) -> str:
    try:
        spelled.encode()
    except UnicodeEncodeError:
        return _SURROGATE.sub("\ufffd", spelled)
    return spelled


def _needs_repair(spelled: str) -> bool:
    if "  " in spelled:
        return True
    if spelled.isascii():
        return False
    return any(mark in spelled for mark in _INVISIBLE) or not unicodedata.is_normalized(
        "NFC", spelled
    )


def _repair(spelled: str) -> tuple[str, list[int]]:
    """Drop what can't be seen, compose accents, and note where each kept character stood."""
    pieces: list[str] = []
    places: list[int] = []
    end = 0
    for found in _REPAIR.finditer(spelled):
        start = found.start()
        pieces.append(spelled[end:start])
        places.extend(range(end, start))
        end = found.end()
        odd = found.group()
        if odd[0] not in _INVISIBLE and odd[0] != " ":
            composed = unicodedata.normalize("NFC", odd)
            pieces.append(composed)
            places.extend(range(start, start + min(len(composed), len(odd))))
            places.extend([end - 1] * (len(composed) - len(odd)))
    pieces.append(spelled[end:])
    places.extend(range(end, len(spelled) + 1))
    return "".join(pieces), places
