"""Words and sketches of a text, for full-text search, snippets and near duplicates.

Case, accents and typographic forms don't matter ("Nestlé" is "nestle"); Chinese, Japanese, Thai and
similar scripts, which write no blanks between words, are split by character, so that any part of
them is found as a phrase.

Sketches show that two texts are the same except for small edits. A text is the set of its shingles,
runs of some words (Broder 1997, "On the resemblance and containment of documents"). The smallest of
their hashes are kept: a fair sample of the set. Two such samples show how much the sets share (the
bottom-k sketch, section 3 there).
"""

import re
import unicodedata
import zlib
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from newscrawl.text import stream_safe

# Ours, all of them; tests/storage/test_near_duplicates.py has the texts to distinguish. Four words
# in a row: three are often a phrase of the language, and with five each edited word affects more of
# the text.
SHINGLE = 4
# Where each character is a word of its own, four words are about as many characters.
SHINGLE_OF_CHARACTERS = 8
# The sample: with 64 the share of common shingles is known to 0.06 (one standard deviation).
KEPT = 64
# The number of values under which a text is indexed. Two texts that share a third of their shingles
# share at least one with a probability of 1 - (2/3)^12 = 0.99.
INDEXED = 12
# Shorter texts are often equal by chance, such as "More follows" or a standfirst.
MIN_SHINGLES = 24
# The same story: the minimum part of the shorter text that is in the longer one (an agency's copy,
# cut or with additions), and of both together that is common (otherwise a long text would match
# every short one that quotes the same paragraph).
CONTAINED = 0.5
COMMON = 0.2
# The number of words that are examined to decide whether a text is split by character.
_LOOKED_AT = 100

_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
_FIRST_MIX = np.uint64(0xBF58476D1CE4E5B9)
_SECOND_MIX = np.uint64(0x94D049BB133111EB)

Values = NDArray[np.uint32]


@dataclass(frozen=True)
class Sketch:
    """The number of a text's different shingles, and the KEPT smallest of their hashes, sorted."""

    shingles: int
    smallest: Values

    @cached_property
    def index(self) -> list[int]:
        """Return the values under which the text is indexed."""
        values: list[int] = self.smallest[:INDEXED].tolist()
        return values

    def to_bytes(self) -> bytes:
        return self.smallest.astype("<u4").tobytes()

    @classmethod
    def from_bytes(cls, shingles: int, stored: bytes) -> "Sketch":
        return cls(shingles, np.frombuffer(stored, dtype="<u4").astype(np.uint32))


def sketch(words: str) -> Sketch | None:
    """Return the sketch of a text of these folded words, each on a line of its own; None for a
    short text."""
    some = [] if words.isascii() else words.split("\n", _LOOKED_AT)[:_LOOKED_AT]
    characters = sum(len(word) == 1 and writes_no_blanks(word) for word in some)
    width = SHINGLE_OF_CHARACTERS if 2 * characters > len(some) else SHINGLE
    encoded = words.encode().split(b"\n") if words else []
    if len(encoded) < width + MIN_SHINGLES - 1:
        return None
    single = np.fromiter(map(zlib.crc32, encoded), np.uint64, len(encoded))
    count = len(encoded) - width + 1
    mixed = np.zeros(count, np.uint64)
    for place in range(width):
        mixed = (mixed + single[place : place + count] + np.uint64(1)) * _MULTIPLIER
    mixed = (mixed ^ (mixed >> np.uint64(30))) * _FIRST_MIX
    mixed = (mixed ^ (mixed >> np.uint64(27))) * _SECOND_MIX
    hashes = np.sort((mixed >> np.uint64(32)).astype(np.uint32))
    values = hashes[np.append(True, hashes[1:] != hashes[:-1])]
    if len(values) < MIN_SHINGLES:
        return None
    return Sketch(len(values), values[:KEPT])


def resemblance(first: Sketch, second: Sketch) -> float:
    """Return the share of the shingles of both texts that are in both, 0 to 1."""
    values = np.union1d(first.smallest, second.smallest)
    reach = min(KEPT, len(values))
    shared = np.intersect1d(first.smallest, second.smallest, assume_unique=True)
    return float(np.count_nonzero(shared <= values[reach - 1]) / reach)


def same_story(first: Sketch, second: Sketch) -> float:
    """Return the resemblance of two texts of one story; 0 for different stories."""
    alike = resemblance(first, second)
    if alike < COMMON:
        return 0.0
    common = alike / (1 + alike) * (first.shingles + second.shingles)
    return alike if common >= CONTAINED * min(first.shingles, second.shingles) else 0.0


_ALONE = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"
    "\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f"
    "\U00020000-\U0003ffff"
)
_ACCENTS = "\u0300-\u036f"
_WORD = re.compile(rf"[{_ALONE}]|[^\W_{_ALONE}]+(?:[{_ACCENTS}]+[^\W_{_ALONE}]*)*")
_OF_WORDS = re.compile(rf"[^\W_]|[{_ALONE}{_ACCENTS}]")
_ACCENT = re.compile(f"[{_ACCENTS}]")
# Letters with a stroke, a bar or a hook, and ligatures: Unicode doesn't decompose them, but people
# without a keyboard of the language type plain letters. Ours; of passports' spellings (ICAO 9303,
# part 3, section 6) only ø differs, which is OE there and o where people search.
_LIGATURES = {"ß": "ss", "æ": "ae", "Æ": "ae", "œ": "oe", "Œ": "oe", "þ": "th", "Þ": "th"}
_PLAIN_LETTERS = str.maketrans("łøđðħıŋŧɓɗƙƴ", "loddhintbdky") | str.maketrans(_LIGATURES)
# A text is folded twenty times as fast by a table, which has the letters of Latin, Greek, Cyrillic,
# Hebrew and Arabic, and the signs below those of Chinese and Japanese.
_FOLDED, _FAR = 0x700, "\u3000"
# Ours: PostgreSQL refuses words of over 2,046 bytes; no word of any language is as long as this.
_LONGEST = 100
# The words of an article in the search index: the positions of PostgreSQL's tsvector end at 16,383,
# and the headline needs some of them.
MAX_INDEXED = 16_000
_POSITIONS = tuple(map(str, range(1, MAX_INDEXED + 2)))


def folded_words(text: str) -> list[str]:
    """Return the words of a text, without case and accents, in plain letters."""
    words = _words_by_table(text)
    if words is None:
        # Words have no line breaks, so that all are folded in one call.
        matches = _WORD.findall(text)
        words = _bare("\n".join(matches)).split("\n") if matches else []
    if max(map(len, words), default=0) > _LONGEST:
        return [word[:_LONGEST] for word in words]
    return words


def places_of_words(text: str) -> list[tuple[int, int]]:
    """Return the start and end of each of the `folded_words` of a text."""
    return [match.span() for match in _WORD.finditer(text)]


def without_accents(text: str) -> str:
    """Return the text with letters in place of accented ones."""
    bare = _ACCENT.sub("", unicodedata.normalize("NFD", stream_safe(text)))
    return unicodedata.normalize("NFC", bare)


def writes_no_blanks(word: str) -> bool:
    """Return whether a word is a single character of a script without blanks."""
    return len(word) == 1 and re.match(f"[{_ALONE}]", word) is not None


def _bare(text: str) -> str:
    """Return the text without case and accents."""
    if text.isascii():
        return text.lower()
    bare = _ACCENT.sub("", unicodedata.normalize("NFKD", stream_safe(text)))
    return unicodedata.normalize("NFC", bare.casefold().translate(_PLAIN_LETTERS))


@cache
def _table() -> NDArray[np.uint32]:
    """Return the folded letter of each character below _FAR, a blank for what is not part of a
    word, and 0 for what becomes none or several letters; then a blank for characters from there
    on."""
    table = np.full(ord(_FAR) + 1, ord(" "), np.uint32)
    for code in range(ord(_FAR)):
        if _OF_WORDS.match(letter := chr(code)):
            folded = _bare(letter) if code < _FOLDED and _WORD.fullmatch(letter) else ""
            table[code] = ord(folded) if len(folded) == 1 and folded != " " else 0
    return table


def _words_by_table(text: str) -> list[str] | None:
    """Return the folded words of a text; None for one with letters that the table doesn't have."""
    for ligature, letters in _LIGATURES.items():
        text = text.replace(ligature, letters)
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
    folded = _table()[np.minimum(codes, ord(_FAR))]
    if not folded.all() or any(sign >= _FAR and _OF_WORDS.match(sign) for sign in {*text}):
        return None
    return folded.tobytes().decode("utf-32-le").split()


@dataclass(frozen=True)
class Wording:
    """The folded words of a headline and of a text, each on a line of its own: a form that is cheap
    to send between processes, as are the sketch and the vector after they were computed."""

    title: str
    body: str

    @classmethod
    def of(cls, title: str | None, text: str) -> "Wording":
        """Return the words of an article."""
        return cls("\n".join(folded_words(title or "")), "\n".join(folded_words(text)))

    @cached_property
    def sketch(self) -> Sketch | None:
        """Return the sketch of the text."""
        return sketch(self.body)

    @property
    def indexed(self) -> tuple[list[str], list[str]]:
        """Return the words of headline and text that the search index holds."""
        title = lines(self.title)[:MAX_INDEXED]
        return title, lines(self.body)[: MAX_INDEXED - len(title)]

    @cached_property
    def vector(self) -> str:
        """Return the words in the notation of PostgreSQL's tsvector: each with its positions. One
        position after the headline stays empty, so that no phrase reaches from it into the body."""
        title, body = self.indexed
        # Joined as texts: lists of numbers take twice the time, which is a fifth of a batch.
        positions = chain(_POSITIONS[: len(title)], _POSITIONS[len(title) + 1 :])
        places: dict[str, str] = {}
        for word, position in zip((*title, *body), positions, strict=False):
            before = places.get(word)
            places[word] = f"{before},{position}" if before else position
        return " ".join([f"'{word}':{at}" for word, at in places.items()])


def lines(words: str) -> list[str]:
    """Return the words as a list."""
    return words.split("\n") if words else []
