"""The words in which papers, platforms and pages speak of themselves: data/notices.toml."""

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

# The key of words that are the same in all languages.
ANY = "any"


@cache
def words_of_notices() -> Mapping[str, Mapping[str, tuple[str, ...]]]:
    """Return the words by language and kind."""
    source = files("newscrawl").joinpath("data/notices.toml").read_text("utf-8")
    return {
        language: {kind: tuple(words.split(", ")) for kind, words in kinds.items()}
        for language, kinds in tomllib.loads(source).items()
    }


@cache
def words_of_kind(kind: str) -> frozenset[str]:
    """Return the words of a kind in all languages."""
    return frozenset(word for kinds in words_of_notices().values() for word in kinds.get(kind, ()))
