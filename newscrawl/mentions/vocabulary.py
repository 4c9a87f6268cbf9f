"""Word lists that help to tell companies from other names, read from vocabulary.toml."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Any

# The key of words that are everyday words in all languages.
ANY = "any"
_TABLES = """modifiers capitalised articles feminine_articles teams works sports registered_forms
registered_forms_before registered_forms_before_others compounds compound_nouns
words_like_cases names_like_forms predicates wordlike firm_predicates place_endings
place_prepositions venue_prepositions roles links objects"""
_BY_LANGUAGE = tuple(_TABLES.split())
# Languages whose topical words count in articles of any.
_TOPICAL_EVERYWHERE = frozenset({"en", "de", "fr", "es", "it", "pl", "ru", "el", "zh", "ja"})
# Cues by language: their words are looked up in the article's language and in English.
_CUES = ("after", "before", "verbs")


@dataclass(frozen=True, slots=True, kw_only=True)
class Vocabulary:
    """Our word lists, in small letters except legal forms, given names and namesakes.

    `legal_forms` follow a company's name ("AG", "Inc."); with them `registered_forms`, by country
    ("any": of many), are cut from registered names, `registered_forms_before` from their beginning
    ("PT"), `registered_forms_before_others` only of names whose country is known; then, where
    enough of the name is left, `group_words` ("Group") and `chinese_places`.
    `shared_names` are words, places and surnames that many companies have as their whole name
    without a legal form. `after` and `before` are words beside
    a name that only a company has ("shares", "retailer"), `verbs` what companies and people do.
    `before_persons` are those of them that precede persons, too ("sued"), `before_endings` end such
    words ("Softwarekonzern"). `roles` stand before a name with one of the `links` between
    ("customers of"), `objects` begin words of what companies do ("raised its dividend").
    `compounds` are joined to a name without a hyphen ("Lufthansachef"), `compound_nouns` to a
    certain one ("Toyotahändler").
    `auxiliaries` lead to a verb ("has announced").
    `after`, `before` and `verbs` are by language. So are `articles`, behind which no verb
    supports a name ("the target announced"), `modifiers`, everyday words ("total") after which
    a cue counts only behind an apostrophe or a hyphen, and `capitalised` words, which have a
    capital among small letters only as names ("chez Orange"). `feminine_articles` stand before
    companies, and neither before men nor masculine nouns ("da Oi").
    `boilerplate` marks a newspaper's sentences about itself ("all rights reserved"), `said_to` and
    `says` stand before and behind one that is quoted.
    `examples` are nouns of which companies are named as examples ("companies like Bain").
    `works` are words of a language ("any": of many) for songs, films and the like, whose quoted
    titles hold no company, and for nothing else that is quoted;
    `club_towns` begin the names of towns whose clubs bear a sponsor's name before it.
    `beings` get a name that is then a person's behind words of `naming`; `lives` follow a person.
    `families` before a name mean its owners, not its company ("Familie Merck").
    `namesakes_after` and `namesakes_before` make the whole something else ("Arena").
    `teams` are names of companies, in any case, that teams of a language's news ("any": of all)
    bear without another word, `sports` words of reports about them.
    `surnames` are forms that persons bear, too: an unknown capitalised word before one is a given
    name, unless it is `usual_before` a company ("Chinese"). `platforms` are networks on which
    newspapers ask their readers to follow them, `follow_us` how they ask.
    `given_forms` are certain forms that are given names, too, before a surname. `places_too` are
    forms that are places, `venues` those of studios, parks and airports, which count only where
    they don't stand as a place, behind one of `place_prepositions` (a venue also one of
    `venue_prepositions`) or with one of `place_endings`.
    `function_words` can be no form at all, `abbreviations`, `places` and given names by
    themselves only ambiguous ones, as `common_words` in small letters only ambiguous ones.
    `predicates` are words of a clause whose subject is a company, in languages without blanks,
    `firm_predicates` those of them that are enough for a form that is `wordlike`.
    `words_like_cases` are words of a language ("any": English ones) that look like a case of a name
    ("Marele" in Romanian), `names_like_forms` persons and places that look like a name or a case of
    it.
    `topics` are word groups that a context names with "@", each word with the languages in which it
    counts (none: all).
    """

    legal_forms: frozenset[str]
    registered_forms: Mapping[str, frozenset[str]]
    registered_forms_before: Mapping[str, frozenset[str]]
    registered_forms_before_others: Mapping[str, frozenset[str]]
    group_words: frozenset[str]
    chinese_places: frozenset[str]
    shared_names: frozenset[str]
    after: Mapping[str, frozenset[str]]
    before: Mapping[str, frozenset[str]]
    before_persons: frozenset[str]
    before_endings: tuple[str, ...]
    roles: Mapping[str, frozenset[str]]
    links: Mapping[str, frozenset[str]]
    objects: Mapping[str, frozenset[str]]
    compounds: Mapping[str, frozenset[str]]
    compound_nouns: Mapping[str, frozenset[str]]
    verbs: Mapping[str, frozenset[str]]
    auxiliaries: frozenset[str]
    articles: Mapping[str, frozenset[str]]
    feminine_articles: Mapping[str, frozenset[str]]
    modifiers: Mapping[str, frozenset[str]]
    capitalised: Mapping[str, frozenset[str]]
    examples: frozenset[str]
    families: frozenset[str]
    boilerplate: frozenset[str]
    said_to: frozenset[str]
    says: frozenset[str]
    beings: frozenset[str]
    naming: frozenset[str]
    lives: tuple[str, ...]
    given_names: frozenset[str]
    titles: frozenset[str]
    teams: Mapping[str, frozenset[str]]
    sports: Mapping[str, frozenset[str]]
    surnames: frozenset[str]
    given_forms: frozenset[str]
    places_too: frozenset[str]
    venues: frozenset[str]
    place_endings: Mapping[str, frozenset[str]]
    place_prepositions: Mapping[str, frozenset[str]]
    venue_prepositions: Mapping[str, frozenset[str]]
    usual_before: frozenset[str]
    platforms: frozenset[str]
    follow_us: frozenset[str]
    works: Mapping[str, frozenset[str]]
    club_towns: tuple[str, ...]
    namesakes_after: frozenset[str]
    namesakes_before: frozenset[str]
    function_words: frozenset[str]
    abbreviations: frozenset[str]
    places: frozenset[str]
    common_words: frozenset[str]
    words_like_cases: Mapping[str, frozenset[str]]
    names_like_forms: Mapping[str, frozenset[str]]
    predicates: Mapping[str, frozenset[str]]
    wordlike: Mapping[str, frozenset[str]]
    firm_predicates: Mapping[str, frozenset[str]]
    topics: Mapping[str, tuple[tuple[str, frozenset[str]], ...]]

    def is_everyday(self, form: str, language: str | None = None) -> bool:
        """Return whether the form is an everyday word of the language, or of some language if none
        is known."""
        return _holds(self.modifiers, form, language)

    def is_of_many(self, form: str) -> bool:
        """Return whether the form is a word, a place or a surname that many things are called."""
        low = form.lower()
        return self.is_everyday(form) or low in self.common_words or low in self.shared_names

    def is_everyday_in(self, form: str, language: str | None) -> bool:
        """Return whether the form is an everyday word of this very language ("Fazer" in
        Portuguese)."""
        return language is not None and form.lower() in self.modifiers.get(language, ())

    def is_article(self, word: str, language: str | None = None) -> bool:
        """Return whether the word is an article of the language, or of some language if none is
        known."""
        return _holds(self.articles, word, language)

    def is_work(self, word: str, language: str | None) -> bool:
        """Return whether the word is a kind of songs, films and the like."""
        return _holds(self.works, word, language)

    def is_name_if_capitalised(self, form: str, language: str | None) -> bool:
        """Return whether the language writes this word with a capital only as a name."""
        return language is not None and form.lower() in of_language(self.capitalised, language)


def of_language(lists: Mapping[str, frozenset[str]], language: str | None) -> frozenset[str]:
    """Return the words of a language, or of all languages if it has no list."""
    return lists.get(language or ANY, lists[ANY])


def _holds(lists: Mapping[str, frozenset[str]], word: str, language: str | None) -> bool:
    low = word.lower()
    if language is None:
        return any(low in words for words in lists.values())
    return low in lists.get(ANY, ()) or low in lists.get(language, ())


@lru_cache(maxsize=1)
def load_vocabulary() -> Vocabulary:
    """Read the bundled word lists; each is a table of comma-separated phrases by language."""
    data = tomllib.loads(files(__package__).joinpath("vocabulary.toml").read_text(encoding="utf-8"))
    topics = {
        name: tuple(
            (phrase, frozenset() if key in _TOPICAL_EVERYWHERE else frozenset(key.split()))
            for key, text in by_language.items()
            for phrase in _phrases({key: text})
        )
        for name, by_language in data.pop("topics").items()
    }
    data["teams"] = {key: text.casefold() for key, text in data["teams"].items()}
    by_language: dict[str, Any] = {name: _by_language(data.pop(name)) for name in _BY_LANGUAGE}
    by_language |= {name: _with_english(_by_language(data.pop(name))) for name in _CUES}
    in_order = ("before_endings", "club_towns", "lives")
    tuples: dict[str, Any] = {name: _phrases(data.pop(name)) for name in in_order}
    lists: dict[str, Any] = {name: frozenset(_phrases(lists)) for name, lists in data.items()}
    return Vocabulary(topics=topics, **tuples, **by_language, **lists)


def _by_language(lists: Mapping[str, str]) -> dict[str, frozenset[str]]:
    words: dict[str, frozenset[str]] = {}
    for languages, text in lists.items():
        for language in languages.split():
            words[language] = words.get(language, frozenset()) | set(_phrases({language: text}))
    return words


def _with_english(lists: Mapping[str, frozenset[str]]) -> dict[str, frozenset[str]]:
    """Add English words to each language, and the words of all languages as a list."""
    return {language: words | lists["en"] for language, words in lists.items()} | {
        ANY: frozenset().union(*lists.values())
    }


def _phrases(by_language: Mapping[str, str]) -> tuple[str, ...]:
    phrases = (phrase.strip() for text in by_language.values() for phrase in text.split(","))
    return tuple(dict.fromkeys(phrase for phrase in phrases if phrase))
