"""Normalized text: one spelling for apostrophes, blanks, hyphens and accents.

The matcher searches in it; offsets are mapped back to the original text.
"""

import html
import re
import unicodedata
from bisect import bisect
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, overload

from newscrawl.items import Section
from newscrawl.text import stream_safe

# Invisible characters: soft hyphen, zero-width blank, joiners and marks, word joiner, BOM.
_INVISIBLE = "\u00ad\u200b\u200c\u200d\u200e\u200f\u2060\ufeff"
# Unicode's blocks of combining marks, and the kana voicing marks.
_MARKS = "\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\u3099\u309a\ufe20-\ufe2f"
_JAMO = "\u1100-\u11ff"

_ONE_FOR_ONE = {
    **dict.fromkeys("\u2018\u2019\u02bc\u2032\u05f3\uff07\u00b4`", "'"),
    **dict.fromkeys("\u00a0\u2002\u2003\u2007\u2009\u200a\u202f\u3000\t", " "),
    **dict.fromkeys("\u2010\u2011", "-"),
    # The capital of the Turkish i: "ŞİŞECAM" is "Şişecam".
    "İ": "I",
}
_FULL_WIDTH = re.compile("[\uff01-\uff5e]+")
# Their first bytes in UTF-8, which a few other characters share.
_FULL_WIDTH_LEADS = (b"\xef\xbc", b"\xef\xbd")
_NARROW = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)}
# Letters that look alike in three scripts, and words in which scripts meet.
_LATIN_TWINS, _CYRILLIC_TWINS = "ABCEHIKMOPTXYaceiopxyk", "АВСЕНІКМОРТХУасеіорхук"
_LATIN_OF_GREEK, _GREEK_TWINS = "ABEHIKMNOPTXYZiokv", "ΑΒΕΗΙΚΜΝΟΡΤΧΥΖιοκν"
_TO_LATIN = str.maketrans(_CYRILLIC_TWINS + _GREEK_TWINS, _LATIN_TWINS + _LATIN_OF_GREEK)
_TO_CYRILLIC = str.maketrans(_LATIN_TWINS, _CYRILLIC_TWINS)
_TO_GREEK = str.maketrans(_LATIN_OF_GREEK, _GREEK_TWINS)
_FOREIGN = "\u0370-\u03ff\u0400-\u052f"
_MIXED = re.compile(f"[A-Za-z](?:(?=[{_FOREIGN}])|(?<=[{_FOREIGN}][A-Za-z]))")
# Only at the beginning of a word: a word of 30,000 letters would be read from each of them on.
_MIXED_WORD = re.compile(
    rf"(?<![A-Za-z{_FOREIGN}])[A-Za-z{_FOREIGN}]*"
    rf"(?:[A-Za-z][{_FOREIGN}]|[{_FOREIGN}][A-Za-z])[A-Za-z{_FOREIGN}]*"
)
# The first bytes of Greek and Cyrillic letters in UTF-8.
_LOOK_ALIKE_LEADS = tuple(bytes([lead]) for lead in range(0xCD, 0xD5))
# A word that goes on in the next line; in "Bau- und Bahntechnik" none does. Before a small letter
# the hyphen is the printer's, before a capital it is the name's.
_HYPHENATED = re.compile(
    r"(?<=[^\W\d_]{2})-\n(?=(?!(?:and|or|und|oder|bis|sowie|et|ou|y|e|i|en|of|og|och)\b)([^\W\d_]{2}))"
)
_LINE_BREAK = re.compile(r"\n(?<!\n\n)(?!\n)")
_REPAIR = re.compile(rf"[{_INVISIBLE}]+|[^{_MARKS}][{_MARKS}]+|[{_JAMO}]{{2,}}|(?<= ) +")
_MARK = re.compile(f"[{_MARKS}]")
# The first bytes of their blocks in UTF-8, which other letters share.
_MARK_LEADS = (b"\xcc", b"\xcd", b"\xe1", b"\xe2\x83", b"\xe3\x82", b"\xef\xb8")
# The same where no accents are to be composed: what begins with one set is found much faster.
_DROP = re.compile(rf"[{_INVISIBLE} ](?:(?<=[{_INVISIBLE}])[{_INVISIBLE}]*|(?<=  ) *)")
# A reference to a character, escaped once or several times: "H&amp;M".
_REFERENCE = r"&(?:amp;)*(?:#[0-9]{1,6}|#[xX][0-9a-fA-F]{1,5}|[A-Za-z]{2,8});"
_REPAIR_REFERENCES = re.compile(f"{_REFERENCE}|{_REPAIR.pattern}")
_DROP_OR_REFERENCE = re.compile(
    rf"[&{_INVISIBLE} ](?:(?<=&){_REFERENCE[1:]}|(?<=[{_INVISIBLE}])[{_INVISIBLE}]*|(?<=  ) *)"
)
_SURROGATE = re.compile("[\ud800-\udfff]")

BREAK: Literal["\n\n"] = "\n\n"


@dataclass(frozen=True, slots=True)
class NormalizedText:
    """A title and a body as one normalized text, with the places in the original.

    `places` is None if normalized and original characters correspond one to one.
    """

    text: str
    original: str
    body_start: int
    places: Sequence[int] | None = None

    def origin(self, start: int, end: int) -> tuple[Section, int, int]:
        """Return the section and the offsets in it of the characters from `start` to `end`."""
        if self.places is not None:
            start, end = self.places[start], self.places[end]
            while end > start and self.original[end - 1] in _INVISIBLE:
                end -= 1
        if start < self.body_start:
            return "title", start, end
        return "body", start - self.body_start, end - self.body_start

    def surface(self, section: Section, start: int, end: int) -> str:
        """Return the original characters at offsets of a section."""
        shift = 0 if section == "title" else self.body_start
        return self.original[start + shift : end + shift]


def normalize(text: str, title: str = "") -> NormalizedText:
    """Return an article as the matcher reads it; lone surrogates are allowed."""
    original = f"{title}{BREAK}{text}" if title else text
    body_start = len(original) - len(text)
    spelled = stream_safe(original)
    if not original.isascii():
        for variant, plain in _ONE_FOR_ONE.items():
            spelled = spelled.replace(variant, plain)
        spelled = _without_look_alikes(_to_half_width(_without_surrogates(spelled)))
    elif "\t" in spelled or "`" in spelled:
        spelled = spelled.replace("\t", " ").replace("`", "'")
    # Where breaks come in pairs none is alone.
    if spelled.count("\n") != 2 * spelled.count("\n\n"):
        if "-\n" in spelled:
            spelled = _HYPHENATED.sub(
                lambda cut: "\xad\xad" if cut[1].islower() else "-\xad", spelled
            )
        spelled = _LINE_BREAK.sub(" ", spelled)
    if not _needs_repair(spelled):
        return NormalizedText(spelled, original, body_start)
    repaired, places = _repair(spelled)
    return NormalizedText(repaired, original, body_start, places)


def _without_surrogates(spelled: str) -> str:
    try:
        spelled.encode()
    except UnicodeEncodeError:
        return _SURROGATE.sub("\ufffd", spelled)
    return spelled


def _without_look_alikes(spelled: str) -> str:
    """Return a word of mixed scripts in the one that most of its letters are of: "Facebooκ"."""
    encoded = spelled.encode()
    if not any(lead in encoded for lead in _LOOK_ALIKE_LEADS) or not _MIXED.search(spelled):
        return spelled
    return _MIXED_WORD.sub(lambda word: _in_one_script(word[0]), spelled)


def _in_one_script(word: str) -> str:
    latin = sum(letter.isascii() for letter in word)
    if 2 * latin >= len(word):
        return word.translate(_TO_LATIN)
    cyrillic = any("\u0400" <= letter <= "\u052f" for letter in word)
    return word.translate(_TO_CYRILLIC if cyrillic else _TO_GREEK)


def _to_half_width(spelled: str) -> str:
    """Return a spelling with plain letters in place of full-width ones."""
    # A search for bytes is faster than one for a set of characters.
    encoded = spelled.encode()
    if not any(lead in encoded for lead in _FULL_WIDTH_LEADS):
        return spelled
    return _FULL_WIDTH.sub(lambda match: match[0].translate(_NARROW), spelled)


def _needs_repair(spelled: str) -> bool:
    if "  " in spelled or ("&" in spelled and re.search(_REFERENCE, spelled)):
        return True
    if spelled.isascii():
        return False
    return any(mark in spelled for mark in _INVISIBLE) or not unicodedata.is_normalized(
        "NFC", spelled
    )


class Places(Sequence[int]):
    """The original place of each normalized character, stored as runs of consecutive places."""

    def __init__(self) -> None:
        self._normalized: list[int] = []
        self._original: list[int] = []
        self._length = 0

    def add(self, original: int, length: int) -> None:
        """Record that the next normalized characters come from `original` on."""
        if length:
            self._normalized.append(self._length)
            self._original.append(original)
            self._length += length

    def __len__(self) -> int:
        return self._length

    @overload
    def __getitem__(self, place: int) -> int: ...

    @overload
    def __getitem__(self, place: slice) -> Sequence[int]: ...

    def __getitem__(self, place: int | slice) -> int | Sequence[int]:
        if isinstance(place, slice):
            return [self[index] for index in range(self._length)[place]]
        stretch = bisect(self._normalized, range(self._length)[place]) - 1
        return self._original[stretch] + range(self._length)[place] - self._normalized[stretch]


def _has_mark(spelled: str) -> bool:
    encoded = spelled.encode()
    return any(lead in encoded for lead in _MARK_LEADS) and _MARK.search(spelled) is not None


def _repair(spelled: str) -> tuple[str, Places]:
    """Drop invisible characters, compose accents, resolve references, and note each kept
    character's original place."""
    pieces: list[str] = []
    places = Places()
    end = 0
    composed_already = unicodedata.is_normalized("NFC", spelled) and not _has_mark(spelled)
    if "&" in spelled:
        pattern = _DROP_OR_REFERENCE if composed_already else _REPAIR_REFERENCES
    else:
        pattern = _DROP if composed_already else _REPAIR
    for match in pattern.finditer(spelled):
        start = match.start()
        pieces.append(spelled[end:start])
        places.add(end, start - end)
        end = match.end()
        odd = match.group()
        if odd[0] == "&" and odd[-1] == ";":
            character = _ONE_FOR_ONE.get(_character(odd), _character(odd))
            pieces.append(character)
            places.add(start, len(character))
        elif odd[0] not in _INVISIBLE and odd[0] != " ":
            composed = unicodedata.normalize("NFC", odd).replace("İ", "I")
            pieces.append(composed)
            places.add(start, min(len(composed), len(odd)))
            for _ in range(len(composed) - len(odd)):
                places.add(end - 1, 1)
    pieces.append(spelled[end:])
    places.add(end, len(spelled) + 1 - end)
    return "".join(pieces), places


def _character(reference: str) -> str:
    """Return the character of a reference; one to none, or to several, stays as it is."""
    plain = html.unescape(reference)
    while plain.startswith("&") and plain.endswith(";") and plain != reference:
        reference, plain = plain, html.unescape(plain)
    return plain if len(plain) == 1 else reference
