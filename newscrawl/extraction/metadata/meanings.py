"""What a property states, by the words of its name, whatever vocabulary it is from."""

import re
import unicodedata
from functools import lru_cache
from typing import Final, Literal

from newscrawl.extraction.metadata.vocabulary import any_of, tables

Field = Literal["published", "modified", "author", "title", "language"]

_PARTS: Final = tables("properties")
LONGEST_NAME: Final = 100
"""Ours: characters of a property's name; a longer one is none."""
_SEPARATORS: Final = re.compile(r"[\W_]+")
_ACCENTS: Final = re.compile("[\u0300-\u036f]")


def _folded(name: str) -> str:
    """Return a name in lower case without accents, in words of letters, signs and figures."""
    lowered = name.lower()
    if not lowered.isascii():
        lowered = _ACCENTS.sub("", unicodedata.normalize("NFD", lowered))
        lowered = unicodedata.normalize("NFC", lowered)
    return lowered


def _any(*names: str) -> str:
    return any_of(_folded(part) for name in names for part in _PARTS[name])


# Behind a word for publishing or changing; in one word with it only where it is a long one. Words
# have endings: "datuma", "kirjoittajan".
_END: Final = r"(?!id)[^\W\d_]{0,2}"
_WHEN: Final = rf"(?: ?(?:{_any('date')}){_END}|\b(?:{_any('date_alone')})\b| )*"
_DATES: Final = rf"(?:{_any('date')})(?: of| de| di| da| van| der)? ?"
_OTHERS: Final = re.compile(rf"\b(?:{_any('others')})")
_DAY: Final = rf"(?:(?:{_any('article')}) ?)+(?:{_any('date')})|(?:{_any('day')})"
# Field and rank of what a name says, the surest first.
_PATTERNS: Final[tuple[tuple[Field, int, str], ...]] = (
    ("modified", 1, rf"(?:{_any('change')})[^\W\d_]{{0,6}}{_WHEN}$"),
    ("published", 1, rf"(?:{_any('publication')})[^\W\d_]*? ?(?:{_any('date')}){_END}{_WHEN}$"),
    ("published", 1, rf"(?:{_any('published')})(?:at|on)?{_WHEN}$"),
    ("published", 1, rf"{_DATES}(?:{_any('publication')})\w*$"),
    ("published", 2, rf"(?:{_any('first')})[a-z]*? ?(?:{_any('date')}){_WHEN}$"),
    ("published", 2, rf"(?:{_any('issued')}){_WHEN}$|{_DATES}(?:{_any('first')})\w*$"),
    ("published", 3, rf"(?:{_any('created')})(?:at|on)?{_WHEN}$"),
    ("published", 4, rf"(?:{_any('entry')}) ?(?:{_any('date')}){_WHEN}$"),
    ("published", 4, rf"{_DATES}(?:creat|creac|creaz|cria)\w*$"),
    ("published", 5, rf"^(?:{_DAY})(?: (?:{_any('date_alone')}))*$"),
    ("author", 1, rf"(?:{_any('author')}){_END}(?: ?(?:{_any('name')}))*(?<!id)(?<!fb)$"),
    ("title", 1, rf"(?:{_any('title')})$"),
    ("language", 1, rf"(?:{_any('language')})(?: code)?$"),
)
_MEANINGS: Final = tuple((field, rank, re.compile(shape)) for field, rank, shape in _PATTERNS)


@lru_cache(maxsize=1024)
def meaning_of(name: str) -> tuple[Field, int] | None:
    """Return the field that a property states, and its rank: 1 is surest."""
    if len(name) > LONGEST_NAME:
        return None
    words = _SEPARATORS.sub(" ", _folded(name)).strip()
    if _OTHERS.search(words):
        return None
    return next(
        ((field, rank) for field, rank, pattern in _MEANINGS if pattern.search(words)), None
    )


def rank_of(name: str, field: Field) -> int:
    """Return how surely a property states a field, 0 if it doesn't."""
    meaning = meaning_of(name)
    return meaning[1] if meaning and meaning[0] == field else 0
