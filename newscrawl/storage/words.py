"""A text as words: what full-text search, snippets and near duplicates have in common.

Case, accents and typographic forms don't matter ("Nestlé" is "nestle"); Chinese, Japanese, Thai
and their like, which write no blanks between words, go character by character, so that any
stretch of them is found as a phrase.
"""

import codecs
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Self

from newscrawl.normalising import stream_safe

# Scripts without blanks: Thai, Lao, Myanmar, Khmer; kana; Han with its extensions.
_ALONE = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"
    "\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f"
    "\U00020000-\U0003ffff"
)
_ACCENTS = "\u0300-\u036f"
_WORD = re.compile(rf"[{_ALONE}]|[^\W_{_ALONE}]+(?:[{_ACCENTS}]+[^\W_{_ALONE}]*)*")
_OF_WORDS = re.compile(rf"[^\W_]|[{_ALONE}{_ACCENTS}]")
_ACCENT = re.compile(f"[{_ACCENTS}]")
# Most articles can be written with the letters of one of these: those of the West, of Polish and
# its neighbours, of Russian, of Greek. In single bytes a text is folded ten times as fast.
_CODE_PAGES = ("cp1252", "cp1250", "cp1251", "cp1253")
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
    words = _words_in_bytes(text)
    if words is None:
        # No word has a line break: folding them together folds each of them.
        found = _WORD.findall(text)
        words = _bare("\n".join(found)).split("\n") if found else []
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
    bare = _ACCENT.sub("", unicodedata.normalize("NFKD", stream_safe(text)))
    return unicodedata.normalize("NFC", bare.casefold())


@dataclass(frozen=True, slots=True)
class _CodePage:
    """A character set of single bytes: `table` has each byte's folded letter, and a blank for what
    is no part of a word; `odd` are those whose letter becomes none or several."""

    name: str
    table: bytes
    odd: bytes

    @classmethod
    def of(cls, name: str) -> Self:
        """Of a codec that Python knows."""
        table, odd = bytearray(b" " * 256), bytearray()
        for code in range(256):
            letter = bytes([code]).decode(name, "replace")
            if _WORD.fullmatch(letter):
                folded = _bare(letter).encode(name, "replace")
                table[code] = folded[0]
                if len(folded) != 1 or folded.decode(name) != _bare(letter):
                    odd.append(code)
        return cls(name, bytes(table), bytes(odd))

    def words(self, text: str) -> list[str] | None:
        """The folded words of a text; None where its letters are not all of this set."""
        try:
            encoded = text.encode(self.name, _BLANKS)
        except UnicodeEncodeError:
            return None
        if len(encoded.translate(None, self.odd)) < len(encoded):
            return None
        return encoded.translate(self.table).decode(self.name).split()


def _blanks(error: UnicodeError) -> tuple[str, int]:
    """Blanks for characters that are not in a set, if they are no part of a word either."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    if _OF_WORDS.search(error.object, error.start, error.end):
        raise error
    return " " * (error.end - error.start), error.end


_BLANKS = "newscrawl.blanks"
codecs.register_error(_BLANKS, _blanks)


@cache
def _code_pages() -> tuple[_CodePage, ...]:
    return tuple(map(_CodePage.of, _CODE_PAGES))


def _words_in_bytes(text: str) -> list[str] | None:
    """The folded words of a text that one of the sets can hold."""
    whole = text.replace("ß", "ss")
    for page in _code_pages():
        words = page.words(whole)
        if words is not None:
            return words
    return None
