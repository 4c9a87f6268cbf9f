"""The words around a company's name that tell what it is, read from vocabulary.toml."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files


@dataclass(frozen=True, slots=True, kw_only=True)
class Vocabulary:
    """Word lists of ours, in small letters but for legal forms, given names and namesakes.

    `legal_forms` follow a company's name ("AG", "Inc."). `after` and `before` are words beside
    a name that only a company has ("shares", "retailer"), `verbs` what companies and people do.
    Behind `articles` stands no name that a verb supports ("the target announced").
    After `modifiers` ("total") a cue counts only behind an apostrophe or a hyphen.
    `namesakes_after` and `namesakes_before` make the whole something else ("Arena").
    `function_words` can be no form at all, `common_words` in small letters only ambiguous ones.
    `topics` are word groups that a context names with "@".
    """

    legal_forms: frozenset[str]
    after: frozenset[str]
    before: frozenset[str]
    verbs: frozenset[str]
    articles: frozenset[str]
    modifiers: frozenset[str]
    given_names: frozenset[str]
    titles: frozenset[str]
    namesakes_after: frozenset[str]
    namesakes_before: frozenset[str]
    function_words: frozenset[str]
    common_words: frozenset[str]
    topics: Mapping[str, tuple[str, ...]]


def load_vocabulary() -> Vocabulary:
    """Read the bundled word lists; each is a table from language to phrases parted by commas."""
    data = tomllib.loads(files(__package__).joinpath("vocabulary.toml").read_text(encoding="utf-8"))
    topics = {name: _phrases(by_language) for name, by_language in data.pop("topics").items()}
    lists = {name: frozenset(_phrases(by_language)) for name, by_language in data.items()}
    return Vocabulary(topics=topics, **lists)


def _phrases(by_language: Mapping[str, str]) -> tuple[str, ...]:
    phrases = (phrase.strip() for text in by_language.values() for phrase in text.split(","))
    return tuple(dict.fromkeys(phrase for phrase in phrases if phrase))
