"""A text as words: what full-text search, snippets and near duplicates have in common.

Case, accents and typographic forms don't matter ("Nestlé" is "nestle"); Chinese, Japanese, Thai
and their like, which write no blanks between words, go character by character, so that any
stretch of them is found as a phrase.
"""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

# Scripts without blanks: Thai, Lao, Myanmar, Khmer; kana; Han with its extensions.
_ALONE = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"
    "\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f"
    "\U00020000-\U0003ffff"
)
_ACCENTS = "\u0300-\u036f"
_WORD = re.compile(rf"[{_ALONE}]|[^\W_{_ALONE}]+(?:[{_ACCENTS}]+[^\W_{_ALONE}]*)*")
_ACCENT = re.compile(f"[{_ACCENTS}]")
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
    if text.isascii():
        return [word[:_LONGEST] for word in _WORD.findall(text.lower())]
    return [_folded(word) for word in _WORD.findall(text)]


def words_of(text: str) -> Iterator[Word]:
    """The words as in `folded_words`, with their places."""
    for match in _WORD.finditer(text):
        yield Word(_folded(match[0]), match.start(), match.end())


def writes_no_blanks(word: str) -> bool:
    """Whether a word is a single character of a script without blanks."""
    return len(word) == 1 and re.match(f"[{_ALONE}]", word) is not None


@lru_cache(maxsize=100_000)
def _folded(word: str) -> str:
    if word.isascii():
        return word.lower()[:_LONGEST]
    bare = _ACCENT.sub("", unicodedata.normalize("NFKD", word))
    return unicodedata.normalize("NFC", bare.casefold())[:_LONGEST]
