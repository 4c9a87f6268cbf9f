"""What the objects in a page's scripts state of its article, as for analytics (`dataLayer`)."""

import re
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Final

from newscrawl.extraction.metadata import lenient_json
from newscrawl.extraction.metadata.meanings import Field, rank_of
from newscrawl.extraction.metadata.vocabulary import contains_any, words

# Ours: bounds on hostile input; objects for analytics have some 2,000 characters.
MAX_SCRIPTS: Final = 60
MAX_SCRIPT: Final = 50_000
MAX_SIGNS: Final = 60
MAX_VALUE: Final = 1_000
REACH: Final = 60

# Characters with which a date begins, or which the key of an author has: to search for them is fast
# in a long text.
_SIGNS: Final[dict[Field, tuple[str, ...]]] = {
    "published": ('"20', "'20"),
    "author": ("uthor", "yline", "riter", "eporter"),
}
_AFTER_KEY: Final = (":", "=")
_KEY: Final = re.compile(r"([A-Za-z_][\w.:-]*)[\"']?\s{0,9}[:=]\s{0,9}\Z")
_REST_OF_KEY: Final = re.compile(r"[\w.:-]{0,30}[\"']?\s{0,9}[:=]\s{0,9}(?=[\"'\[{])")
_TEXT: Final = re.compile(r"([\"'])((?:(?!\1)[^\\\n]|\\.){1,200})\1")
# Of these alone the clock of a server is the value more often than the day of an article.
_CLOCKS: Final = frozenset(words("properties", "day"))


def stated_in(texts: Iterable[str], field: Field) -> tuple[str, ...]:
    """Return the values of a field in the first text that states it without contradicting itself,
    as the lists of many articles do."""
    for text in texts:
        if len(text) <= MAX_SCRIPT and contains_any(text, _SIGNS[field]):
            values = dict.fromkeys(filter(None, islice(_values(text, field), MAX_SIGNS)))
            if len(values) == 1:
                return next(iter(values))
    return ()


def _values(text: str, field: Field) -> Iterator[tuple[str, ...]]:
    """Yield the values of the keys of a text that state a field."""
    for sign in _SIGNS[field]:
        at = text.find(sign)
        while at >= 0:
            key_end = _REST_OF_KEY.match(text, at) if field == "author" else None
            start = key_end.end() if key_end else at
            before = text[max(0, start - REACH) : start]
            key = _KEY.search(before) if before.rstrip()[-1:] in _AFTER_KEY else None
            if key and key[1].lower() not in _CLOCKS and rank_of(key[1], field):
                yield tuple(_texts_at(text, start))
            at = text.find(sign, start + len(sign))


def _texts_at(text: str, start: int) -> Iterator[str]:
    """Yield the text at a place, or those of a list or of the names in it."""
    if match := _TEXT.match(text, start):
        yield match[2].strip()
    elif text[start] in "[{":
        value = lenient_json.parse(text[start : start + MAX_VALUE])
        for each in value if isinstance(value, list) else [value]:
            name = each.get("name") if isinstance(each, dict) else each
            if isinstance(name, str) and name:
                yield name
