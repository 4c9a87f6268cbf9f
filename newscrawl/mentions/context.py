"""Context words: words whose nearness supports a doubtful name, found for a whole article."""

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import NamedTuple

from ahocorasick_rs import AhoCorasick

from newscrawl.mentions.candidates import Candidate
from newscrawl.mentions.company import Company
from newscrawl.mentions.forms import without_accents
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
    languages: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class MentionContext:
    """What the whole article says about its doubtful names.

    `named` and `tickers` are the companies named beyond doubt and by ticker, `related` the owners
    of those named and the companies that they own. `persons` are the forms that name a person
    here, `words` the context words by company. `starts` and `ends` are where the names found so
    far begin and end; `supported` are doubtful forms found by support.
    """

    named: frozenset[int]
    related: frozenset[int]
    tickers: frozenset[int]
    words: Mapping[int, Sequence[ContextHit]]
    starts: set[int]
    ends: set[int]
    persons: frozenset[str] = frozenset()
    language: str | None = None
    supported: dict[int, set[str]] = field(default_factory=dict)

    def note(self, found: Candidate) -> None:
        """Add a doubtful name that found support."""
        self.supported.setdefault(found.form.company, set()).add(found.form.text)
        self.starts.add(found.start)
        self.ends.add(found.end)


class ContextFinder:
    """Finds the context words of all companies in one automaton, of certain forms too: another
    company may have the same one in doubt."""

    def __init__(self, companies: Sequence[Company], words: Vocabulary) -> None:
        numbers: dict[_Pattern, int] = {}
        owners: dict[int, dict[int, int]] = defaultdict(dict)
        # Most companies name the same few topics, of thousands of words.
        weighted: dict[str, dict[int, int]] = {}
        for index, company in enumerate(companies):
            for entry in company.context:
                if entry not in weighted:
                    weighted[entry] = {
                        numbers.setdefault(pattern, len(numbers)): weight
                        for word, weight, languages in _weight_words(entry, words)
                        for pattern in _patterns(word, languages)
                    }
                for number, weight in weighted[entry].items():
                    owners[number][index] = weight
        self._patterns = list(numbers)
        self._owners = [owners[number] for number in range(len(numbers))]
        literals = [pattern.literal for pattern in self._patterns]
        self._longest = max(map(len, literals), default=0)
        self._automaton = AhoCorasick(literals, store_patterns=False)

    def find(
        self, text: str, wanted: frozenset[int], places: Iterable[int], language: str | None
    ) -> dict[int, list[ContextHit]]:
        """Return the context words of the wanted companies near these places, in text order."""
        low = text.replace("İ", "I").lower()
        hits: dict[int, list[ContextHit]] = defaultdict(list)
        for left, right in self._windows(places):
            found = self._automaton.find_matches_as_indexes(low[left:right], overlapping=True)
            for pattern, start, _ in found:
                owners = self._owners[pattern]
                supported = owners.keys() & wanted
                if (
                    supported
                    and self._counts_in(pattern, language)
                    and self._stands(text, low, pattern, left + start)
                ):
                    word = self._patterns[pattern].literal
                    for index in supported:
                        hits[index].append(ContextHit(left + start, owners[index], word))
        for company_hits in hits.values():
            company_hits.sort()
        return hits

    def _counts_in(self, pattern: int, language: str | None) -> bool:
        languages = self._patterns[pattern].languages
        return not languages or language in languages

    def _windows(self, places: Iterable[int]) -> list[tuple[int, int]]:
        """Return the parts of the text in which context counts, without overlap."""
        windows: list[tuple[int, int]] = []
        for place in sorted(places):
            left, right = max(0, place - CONTEXT_WINDOW), place + CONTEXT_WINDOW + self._longest
            if windows and left <= windows[-1][1]:
                left = windows.pop()[0]
            windows.append((left, right))
        return windows

    def _stands(self, text: str, low: str, pattern: int, start: int) -> bool:
        form = self._patterns[pattern]
        end = start + len(form.literal)
        if form.spelled and text[start:end] not in (form.spelled, form.spelled.upper()):
            return False
        if not form.open_left and start and _is_spaced(low[start - 1]) and _is_spaced(low[start]):
            return False
        if form.open_right or not _is_spaced(low[end - 1]):
            return True
        return _PLURAL.match(low, end) is not None


def _is_spaced(letter: str) -> bool:
    """Return whether this is a letter of a script that writes blanks between words."""
    return letter.isalnum() and ord(letter) < 0x2E80


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
    named = context.named | context.tickers
    if home is None or len(rivals) == 1 or any(one.form.company in named for one in rivals):
        return rivals
    near = [one for one in rivals if companies[one.form.company].facts.get("country") == home]
    return near if len(near) == 1 else rivals
