"""Names in bylines: without "By", job titles, places and addresses."""

import re
from collections.abc import Iterable
from itertools import islice
from typing import Final

from newscrawl.extraction.metadata.dates import DAYS, MONTHS_AND_DAYS
from newscrawl.extraction.metadata.vocabulary import any_of, words

MAX_BYLINE: Final = 400
MAX_NAME: Final = 60
MAX_WORDS: Final = 6
MAX_AUTHORS: Final = 20
"""Ours: bounds on what a name and a byline can be; longer texts are prose."""

_LEADING: Final = re.compile(
    rf"^(?:\W|_)*(?:(?:{any_of(words('bylines', 'labels'))})"
    r"(?:\s*[:：/／|]\s*|\s+(?=[A-ZÀ-ÞΑ-ΩΆ-ΏА-Я]))"
    rf"|(?:{any_of(words('bylines', 'by'))})(?:\s*[:：]\s*|\s+))",
    re.IGNORECASE,
)
_SPLIT: Final = re.compile(
    r"\s*[;|·・•▪\n\t/]\s*|\s*(?:,|،|、|，)\s*(?:(?:and|und|et|y|e|og|och|en|und|i|и|και|ve)\s+)?"
    r"|\s+(?:&|\+|and|und|et|och|og|oraz|και|ve|и)\s+|\s+[-–—]\s+"
)
_SPLIT_WEAK: Final = re.compile(r"\s+(?:y|e|i|en|a|with|mit|con|avec|és|ja|şi|si|in)\s+")
_TRAILING: Final = re.compile(
    r"\s*(?:\([^)]*\)|\s[^\W\d_]{3,10}\.?\s\d{1,2}\b.*|\s\d{1,2}\.?\s[^\W\d_]{3,10}\b.*|\[[^\]]*\]|<[^>]*>|\bfor\s.+|\bfür\s.+|\bin\s[A-Z].+|\baus\s[A-Z].+"
    r"|\bupdated\b.*|\bpublished\b.*|\bposted\b.*|\bon\s.*\d.*|\bam\s\d.*|@\S+|\d{1,2}[./]\d.*"
    r"|https?:\S*|\S+@\S+|www\.\S*)\s*$",
    re.IGNORECASE,
)
_ROLE: Final = re.compile(rf"\b(?:{any_of(words('bylines', 'roles'))})\b", re.IGNORECASE)
_ROLE_SUFFIX: Final = re.compile(rf"(?:{any_of(words('bylines', 'suffixes'))})$")
_NOBODY: Final = frozenset(words("bylines", "nobody"))
_ADDRESS: Final = re.compile(r"https?://|www\.|\.(?:com|org|net|de|php|html?)\b|@", re.IGNORECASE)
_PARTICLES: Final = frozenset(words("bylines", "particles"))
# A capital or a letter of a script without capitals, and whatever letters follow.
_NAME_WORD: Final = re.compile(r"[^\W\d_a-zß-öø-ÿα-ωа-я][\w'’.‘-]*")
_LETTER: Final = re.compile(r"[^\W\d_]")


def clean(bylines: Iterable[str]) -> tuple[str, ...]:
    """Take the names out of fields that hold authors, each once, in order."""
    return _unique(name for byline in bylines for name in split(byline))


def persons(bylines: Iterable[str]) -> tuple[str, ...]:
    """Take the names of persons out of texts that may hold more than names."""
    return _unique(name for byline in bylines for name in split(byline) if is_person(name))


def _unique(found: Iterable[str]) -> tuple[str, ...]:
    names: dict[str, str] = {}
    for name in islice(found, MAX_AUTHORS):
        names.setdefault(name.casefold(), name)
    return _without_parts(tuple(names.values()))


def split(byline: str) -> list[str]:
    """Split one byline ("By Jane Doe and Max Weber, Berlin") into names."""
    text = _strip(byline[:MAX_BYLINE])
    pieces = [piece for piece in (_strip(part) for part in _SPLIT.split(text)) if piece]
    pieces = [each for piece in pieces for each in _split_weakly(piece)]
    names = [piece for piece in pieces if is_name(piece)]
    if len(names) > 1 and " " in names[0]:
        # "Jane Doe, Berlin": after a full name a single word is a place or an agency.
        names = [name for name in names if " " in name or not name.isascii()] or names[:1]
    return names


def is_person(text: str) -> bool:
    """Tell whether a name is written as persons' names are: no digits, all words capital."""
    words = text.split()
    return bool(
        len(words) <= 5
        and not any(map(str.isdigit, text))
        and all(_NAME_WORD.fullmatch(word) or word.lower() in _PARTICLES for word in words)
        and words[-1].strip(".").lower() not in (DAYS if len(words) > 1 else MONTHS_AND_DAYS)
    )


def is_name(text: str) -> bool:
    """Tell whether a text could be the name of a person or an organisation."""
    return bool(
        1 < len(text) <= MAX_NAME
        and len(text.split()) <= MAX_WORDS
        and _LETTER.search(text)
        and text.casefold() not in _NOBODY
        and not _ADDRESS.search(text)
        and not _ROLE.search(text)
        and sum(map(str.isdigit, text)) <= 4
        and not text.startswith(("{", "[", "%", "$", "#"))
    )


def _strip(text: str) -> str:
    for _ in range(4):
        shorter = _TRAILING.sub("", _LEADING.sub("", text)).strip(" ,;:|/.·-–—*\"'“”„«»")
        if shorter == text:
            break
        text = shorter
    return _ROLE_SUFFIX.sub("", text)


def _split_weakly(piece: str) -> list[str]:
    """Split at words that also stand within names, if full names are on both sides."""
    parts = _SPLIT_WEAK.split(piece)
    if len(parts) > 1 and all(len(part.split()) >= 2 for part in parts):
        return parts
    return [piece]


def _without_parts(names: tuple[str, ...]) -> tuple[str, ...]:
    """Leave out "Doe" where "Jane Doe" is there too."""
    words = [frozenset(name.casefold().split()) for name in names]
    return tuple(
        name for index, name in enumerate(names) if not any(words[index] < other for other in words)
    )
