"""The words of `vocabulary.toml`, as the patterns that reading needs."""

import re
import tomllib
from collections.abc import Iterable
from importlib.resources import files
from typing import Final

_TABLES: Final[dict[str, dict[str, list[str]]]] = tomllib.loads(
    files(__package__).joinpath("vocabulary.toml").read_text("utf-8")
)


def tables(name: str) -> dict[str, list[str]]:
    """Return a section of the file: its lists by name."""
    return _TABLES[name]


def words(table: str, name: str) -> tuple[str, ...]:
    """Return a list of the file, in its order."""
    return tuple(_TABLES[table][name])


def any_of(entries: Iterable[str]) -> str:
    """Return a pattern that matches any of these literally, the longest first."""
    return "|".join(sorted(map(re.escape, entries), key=len, reverse=True))


def contains_any(text: str, phrases: Iterable[str]) -> bool:
    """Return whether the text contains any of these phrases."""
    for phrase in phrases:  # noqa: SIM110 - any() over a generator takes twice the time
        if phrase in text:
            return True
    return False


_SUBSCRIBE: Final = words("phrases", "subscribe")


def asks_to_subscribe(text: str) -> bool:
    """Return whether a text asks its reader to subscribe."""
    return contains_any(text.lower(), _SUBSCRIBE)
