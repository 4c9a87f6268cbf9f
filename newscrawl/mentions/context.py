"""Context words: words whose nearness supports a doubtful name, found for a whole article."""

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from operator import attrgetter
from typing import Any, NamedTuple

from ahocorasick_rs import AhoCorasick

from newscrawl.mentions.candidates import Candidate
from newscrawl.mentions.company import Company
from newscrawl.mentions.forms import is_spaced, without_accents
from newscrawl.mentions.vocabulary import Vocabulary

# Context counts within this many characters: the sentence and its neighbours. Ours, set by hand.
CONTEXT_WINDOW = 250
# The weight of a context word with a capital. Ours, set by hand.
NAME_WEIGHT = 2
# Countries of the languages that are spoken in few: where two companies have one name, an article
# means the one at home.
_COUNTRIES = {
    "cs": "CZ",
    "da": "DK",
    "el": "GR",
    "fi": "FI",
    "he": "IL",
    "hu": "HU",
    "it": "IT",
    "ja": "JP",
    "ko": "KR",
    "nb": "NO",
    "nn": "NO",
    "no": "NO",
    "pl": "PL",
    "ro": "RO",
    "sv": "SE",
    "tr": "TR",
    "uk": "UA",
}
_place = attrgetter("place")
_weight = attrgetter("weight")
_PLURAL = re.compile(r"(?:s|es|n|en|er|e|x|i)?(?!\w)")


class ContextHit(NamedTuple):
    """A context word of a company: where it begins, its weight, and the word."""

    place: int
    weight: int
    word: str


class _Pattern(NamedTuple):
    """A context word to search; one with a capital is `spelled`, and counts only so.

    It counts in articles of its `languages`, or of all if it has none.
    """

    literal: str
    open_left: bool
    open_right: bool
    spelled: str = ""
    languages: Collection[str] = frozenset()


@dataclass(frozen=True, slots=True)
class MentionContext:
    """What the whole article says about its doubtful names.

    `named` and `tickers` are the companies named beyond doubt and by ticker, `related` the owners
    of those named and the companies that they own. `persons` are the forms that name a person
    here, `words` the context words by company. `starts` and `ends` are where the names found so
    far begin and end; `supported` are doubtful forms found by support.
    """

    companies_named: frozenset[int]
    related: frozenset[int]
    tickers: frozenset[int]
    words: Mapping[int, Sequence[ContextHit]]
    starts: set[int]
    ends: set[int]
    persons: frozenset[str] = frozenset()
    language: str | None = None
    supported: dict[int, set[str]] = field(default_factory=dict)

    def note(self, candidate: Candidate) -> None:
        """Add a doubtful name that found support."""
        self.supported.setdefault(candidate.form.company, set()).add(candidate.form.text)
        self.starts.add(candidate.start)
        self.ends.add(candidate.end)


def context_table(companies: Sequence[Company], words: Vocabulary) -> Mapping[str, Any]:
    """Return the `patterns` of the companies' context words, and of each entry of theirs (a word,
    or a topic of thousands of words) the numbers and weights of its patterns; both can be written
    as JSON."""
    numbers: dict[_Pattern, int] = {}
    entries = {
        entry: [
            (numbers.setdefault(pattern, len(numbers)), weight)
            for word, weight, languages in _weight_words(entry, words)
            for pattern in _patterns(word, languages)
        ]
        for entry in dict.fromkeys(entry for company in companies for entry in company.context)
    }
    patterns = [(*pattern[:-1], sorted(pattern.languages)) for pattern in numbers]
    return {"patterns": patterns, "entries": entries}


class ContextFinder:
    """Finds the context words of all companies in one automaton, of certain forms too: another
    company may have the same one in doubt."""

    def __init__(self, companies: Sequence[Company], table: Mapping[str, Any]) -> None:
        self._companies = companies
        self._patterns: Sequence[Sequence[Any]] = table["patterns"]
        self._entries: Mapping[str, Sequence[tuple[int, int]]] = table["entries"]
        self._weights: dict[int, dict[int, int]] = {}
        literals = [pattern[0] for pattern in self._patterns]
        self._longest = max(map(len, literals), default=0)
        self._automaton = AhoCorasick(literals, store_patterns=False)

    def find(
        self, text: str, companies: frozenset[int], places: Iterable[int], language: str | None
    ) -> dict[int, list[ContextHit]]:
        """Return the context words of the wanted companies near these places, in text order."""
        low = text.replace("İ", "I").lower()
        hits: dict[int, list[ContextHit]] = defaultdict(list)
        weights = {index: self._weights_for(index) for index in companies}
        supported_by: dict[int, list[int]] = {}
        for begin, right in self._windows(places):
            matches = self._automaton.find_matches_as_indexes(low[begin:right], overlapping=True)
            for number, start, _ in matches:
                supported = supported_by.get(number)
                if supported is None:
                    supported = supported_by[number] = [
                        index for index, word_numbers in weights.items() if number in word_numbers
                    ]
                if not supported:
                    continue
                pattern = _Pattern(*self._patterns[number])
                if (not pattern.languages or language in pattern.languages) and _stands(
                    text, low, pattern, begin + start
                ):
                    for index in supported:
                        hit = ContextHit(begin + start, weights[index][number], pattern.literal)
                        hits[index].append(hit)
        for company_hits in hits.values():
            company_hits.sort()
        return hits

    def _weights_for(self, company: int) -> Mapping[int, int]:
        """Return the numbers of a company's patterns, with their weights."""
        weights = self._weights.get(company)
        if weights is None:
            parts = (self._entries[entry] for entry in self._companies[company].context)
            weights = self._weights[company] = dict(chain.from_iterable(parts))
        return weights

    def _windows(self, places: Iterable[int]) -> list[tuple[int, int]]:
        """Return the parts of the text in which context counts, without overlap."""
        windows: list[tuple[int, int]] = []
        for place in sorted(places):
            begin, right = max(0, place - CONTEXT_WINDOW), place + CONTEXT_WINDOW + self._longest
            if windows and begin <= windows[-1][1]:
                begin = windows.pop()[0]
            windows.append((begin, right))
        return windows


def _stands(text: str, low: str, pattern: _Pattern, start: int) -> bool:
    end = start + len(pattern.literal)
    if pattern.spelled and text[start:end] not in (pattern.spelled, pattern.spelled.upper()):
        return False
    if not pattern.open_left and start and is_spaced(low[start - 1]) and is_spaced(low[start]):
        return False
    if pattern.open_right or not is_spaced(low[end - 1]):
        return True
    return _PLURAL.match(low, end) is not None


def _weight_words(entry: str, words: Vocabulary) -> Iterable[tuple[str, int, frozenset[str]]]:
    """Yield a context word, or those of a topic, with their weight (one with a capital weighs
    double) and languages."""
    if entry.startswith("@"):
        for topical, languages in words.topics[entry[1:]]:
            yield topical, 1, languages
    else:
        yield entry, NAME_WEIGHT if _has_capital(entry) else 1, frozenset()


def _has_capital(word: str) -> bool:
    return word != word.lower()


def _patterns(word: str, languages: frozenset[str]) -> set[_Pattern]:
    literal = word.replace("*", "").replace("’", "'")
    open_left, open_right = word[0] == "*", word[-1] == "*"
    return {
        _Pattern(
            spelling.lower(),
            open_left,
            open_right,
            spelling if _has_capital(spelling) else "",
            languages,
        )
        for spelling in (literal, without_accents(literal))
    }


def context_weight(candidate: Candidate, context: MentionContext) -> int:
    """Return the weight of the context words nearby, each once, the name's own words left out."""
    hits = context.words.get(candidate.form.company, ())
    first = bisect_left(hits, candidate.start - CONTEXT_WINDOW, key=_place)
    stop = bisect_right(hits, candidate.start + CONTEXT_WINDOW, key=_place)
    # Of words that begin at one place ("SUV", "SUVs") the heaviest counts, and each word once.
    near = {hit.place: hit for hit in sorted(hits[first:stop], key=_weight)}
    weights = {
        hit.word: hit.weight
        for place, hit in near.items()
        if not candidate.start <= place < candidate.end
    }
    return sum(weights.values())


def rivals_at_home(
    rivals: Sequence[Candidate], companies: Sequence[Company], context: MentionContext
) -> Sequence[Candidate]:
    """Return, of companies with one name, the one whose country speaks the article's language
    ("Migros" in Turkish), unless the article names another; all if none does or several do."""
    home = _COUNTRIES.get(context.language or "")
    companies_named = context.companies_named | context.tickers
    if (
        home is None
        or len(rivals) == 1
        or any(rival.form.company in companies_named for rival in rivals)
    ):
        return rivals
    near = [rival for rival in rivals if companies[rival.form.company].facts.get("country") == home]
    return near if len(near) == 1 else rivals
