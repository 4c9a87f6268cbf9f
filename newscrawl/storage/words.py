"""A text as words: what full-text search, snippets and near duplicates have in common.

Case, accents and typographic forms don't matter ("Nestlé" is "nestle"); Chinese, Japanese, Thai
and their like, which write no blanks between words, go character by character, so that any
stretch of them is found as a phrase.
"""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

# Scripts without blanks: Thai, Lao, Myanmar, Khmer; kana; Han with its extensions.
_ALONE = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"
    "\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f"
    "\U00020000-\U0003ffff"
)
_ACCENTS = "\u0300-\u036f"
_WORD = re.compile(rf"[{_ALONE}]|[^\W_{_ALONE}]+(?:[{_ACCENTS}]+[^\W_{_ALONE}]*)*")
_ACCENT = re.compile(f"[{_ACCENTS}]")
# Letters of Latin scripts, and what newspapers set between words: folded as one text and parted
# at blanks, they give the same words as one by one. (Not ™, which would leave the letters TM.)
_LATIN = "\u00c0-\u024f"
_BETWEEN = (
    "\u00a0\u00a3\u00a7\u00a9\u00ab\u00b0\u00b7\u00bb\u2010-\u2027\u202f\u2030\u2039\u203a\u20ac"
)
_NOT_PLAIN = re.compile(rf"[^\x00-\x7f{_LATIN}{_BETWEEN}]")
_BETWEEN_WORDS = re.compile(f"[{_BETWEEN}]")
# ASCII in small letters, and a blank for what is no part of a word.
_SMALL = bytes(ord(chr(code).lower()) if chr(code).isalnum() else 32 for code in range(128))
_SMALL += bytes(128)
# Ours: PostgreSQL refuses words of over 2,046 bytes; no word of any language is as long as this.
_LONGEST = 100


@dataclass(frozen=True, slots=True)
class Word:
    """A folded word and where it stands in its text."""

    text: str
    start: int
    end: int


def folded_words(text: str) -> list[str]:
    """The words of a text, without case and accents."""
    plain = _plain(text)
    if plain is None:
        # No word has a line break: folding them together folds each of them.
        found = _WORD.findall(text)
        words = _bare("\n".join(found)).split("\n") if found else []
    else:
        words = plain.encode().translate(_SMALL).decode().split()
    if max(map(len, words), default=0) > _LONGEST:
        return [word[:_LONGEST] for word in words]
    return words


def words_of(text: str) -> Iterator[Word]:
    """The words as in `folded_words`, with their places."""
    for match in _WORD.finditer(text):
        yield Word(_folded(match[0]), match.start(), match.end())


def writes_no_blanks(word: str) -> bool:
    """Whether a word is a single character of a script without blanks."""
    return len(word) == 1 and re.match(f"[{_ALONE}]", word) is not None


def _folded(word: str) -> str:
    return _bare(word)[:_LONGEST]


def _bare(text: str) -> str:
    """Without case and accents."""
    if text.isascii():
        return text.lower()
    bare = _ACCENT.sub("", unicodedata.normalize("NFKD", text))
    return unicodedata.normalize("NFC", bare.casefold())


def _plain(text: str) -> str | None:
    """The text in ASCII, in which the same words stand; None where it can't be written so."""
    if text.isascii():
        return text
    if _NOT_PLAIN.search(text):
        return None
    bare = _bare(_BETWEEN_WORDS.sub(" ", text))
    return bare if bare.isascii() else None
