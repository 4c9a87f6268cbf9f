"""Support for ambiguous names: which of the doubtful places are the company after all."""

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
from newscrawl.mentions.surroundings import Surroundings
from newscrawl.mentions.vocabulary import Vocabulary

# Context counts within this many characters: the sentence and its neighbours. Ours, set by hand.
CONTEXT_WINDOW = 250
# An everyday word ("Next", "Free") needs more of it. Ours, set by hand.
EVERYDAY_CONTEXT = 2
NAME_WEIGHT = 2
# What joins two names in a list.
_CONJUNCTIONS = r" (?:and|or|und|oder|sowie|et|ou|y|o|e|ed|i|oraz|и|или|και|&) |和|与|及|と|や"
_CONJUNCTION = re.compile(_CONJUNCTIONS)
_JOINT = re.compile(rf"{_CONJUNCTIONS}|, |/|、|・")
_place = attrgetter("place")
_LONGEST_JOINT = len(" sowie ")
_PLURAL = re.compile(r"(?:s|es|n|en|er|e|x|i)?(?!\w)")


class Clue(NamedTuple):
    """A context word of a company, where it begins and what it weighs."""

    place: int
    weight: int


class _Pattern(NamedTuple):
    literal: str
    open_left: bool
    open_right: bool


@dataclass(frozen=True, slots=True)
class Evidence:
    """What the whole article says.

    Companies named beyond doubt and by ticker, forms that name a person here, the context
    words, where the names of companies found so far begin and end, and which forms of them
    were in doubt and are supported.
    """

    named: frozenset[int]
    quoted: frozenset[int]
    persons: frozenset[str]
    context: Mapping[int, Sequence[Clue]]
    starts: set[int]
    ends: set[int]
    language: str | None = None
    supported: dict[int, set[str]] = field(default_factory=dict)

    def note(self, found: Candidate) -> None:
        """Take in a name that was in doubt until now, and with it its company's other names."""
        self.supported.setdefault(found.form.company, set()).add(found.form.text)
        self.starts.add(found.start)
        self.ends.add(found.end)


class ContextFinder:
    """The context words of all companies with ambiguous forms in one automaton."""

    def __init__(self, companies: Sequence[Company], words: Vocabulary) -> None:
        owners: dict[_Pattern, dict[int, int]] = defaultdict(dict)
        for index, company in enumerate(companies):
            if company.ambiguous:
                for word, weight in _weighted(company.context, words):
                    for pattern in _patterns(word):
                        owners[pattern][index] = weight
        self._patterns = list(owners)
        self._owners = list(owners.values())
        self._of: dict[int, set[int]] = defaultdict(set)
        for number, owned in enumerate(self._owners):
            for index in owned:
                self._of[index].add(number)
        literals = [pattern.literal for pattern in self._patterns]
        self._longest = max(map(len, literals), default=0)
        self._automaton = AhoCorasick(literals, store_patterns=False)

    def find(
        self, text: str, wanted: frozenset[int], places: Iterable[int]
    ) -> dict[int, list[Clue]]:
        """Where words of the wanted companies' contexts begin near these places, by company and in
        the order of the text."""
        low = text.replace("İ", "I").lower()
        patterns = set().union(*(self._of.get(index, ()) for index in wanted))
        clues: dict[int, list[Clue]] = defaultdict(list)
        for left, right in self._windows(places):
            found = self._automaton.find_matches_as_indexes(low[left:right], overlapping=True)
            for pattern, start, end in found:
                if pattern in patterns and self._stands(low, pattern, left + start, left + end):
                    owners = self._owners[pattern]
                    for index in wanted & owners.keys():
                        clues[index].append(Clue(left + start, owners[index]))
        for found_clues in clues.values():
            found_clues.sort()
        return clues

    def _windows(self, places: Iterable[int]) -> list[tuple[int, int]]:
        """The parts of a text in which context counts for the places, without overlap."""
        windows: list[tuple[int, int]] = []
        for place in sorted(places):
            left, right = max(0, place - CONTEXT_WINDOW), place + CONTEXT_WINDOW + self._longest
            if windows and left <= windows[-1][1]:
                left = windows.pop()[0]
            windows.append((left, right))
        return windows

    def _stands(self, low: str, pattern: int, start: int, end: int) -> bool:
        form = self._patterns[pattern]
        if not form.open_left and start and _is_spaced(low[start - 1]) and _is_spaced(low[start]):
            return False
        if form.open_right or not _is_spaced(low[end - 1]):
            return True
        return _PLURAL.match(low, end) is not None


def _is_spaced(letter: str) -> bool:
    """A letter of a script that parts its words by blanks."""
    return letter.isalnum() and ord(letter) < 0x2E80


def _weighted(context: Iterable[str], words: Vocabulary) -> Iterable[tuple[str, int]]:
    """Context words in small letters; names ("Xavier Niel") weigh double."""
    for word in context:
        if word.startswith("@"):
            yield from ((topical, 1) for topical in words.topics[word[1:]])
        else:
            yield word.lower(), NAME_WEIGHT if word.strip("*")[0].isupper() else 1


def _patterns(word: str) -> set[_Pattern]:
    literal = word.replace("*", "").replace("’", "'")
    open_left, open_right = word[0] == "*", word[-1] == "*"
    return {
        _Pattern(spelling, open_left, open_right)
        for spelling in (literal, without_accents(literal))
    }


@dataclass(frozen=True, slots=True)
class Judge:
    """Decides over the candidates that share one doubtful place."""

    surroundings: Surroundings

    def verdict(
        self, text: str, rivals: Sequence[Candidate], evidence: Evidence
    ) -> tuple[Candidate, str] | None:
        """The company that is meant, and the rule that says so; None without support."""
        for rule, companies in (("full name", evidence.named), ("ticker", evidence.quoted)):
            meant = [rival for rival in rivals if rival.form.company in companies]
            if len(meant) == 1:
                return meant[0], rule
        # "Mediobanca-Generali": two companies, while "Howell-Chase" is a person.
        joint = rivals[0].start - 1
        if len(rivals) == 1 and joint in evidence.ends and text[joint] == "-":
            return rivals[0], "company beside"
        if self.surroundings.is_part_of_name(text, rivals[0], evidence.language):
            return None
        near = self._nearest(text, rivals, evidence)
        if near:
            return near, "context"
        beside = self._beside(text, rivals[0], evidence) if len(rivals) == 1 else None
        return (rivals[0], beside) if beside else None

    def _beside(self, text: str, candidate: Candidate, evidence: Evidence) -> str | None:
        if self.surroundings.has_legal_form(text, candidate):
            return "legal form"
        if candidate.form.text in evidence.persons:
            return None
        if self.surroundings.has_cue(text, candidate, evidence.language):
            return "cue"
        if self._is_listed(text, candidate, evidence):
            return "company beside"
        if self.surroundings.is_capital_amid_small(text, candidate, evidence.language):
            return "capital"
        others = evidence.supported.get(candidate.form.company, set()) - {candidate.form.text}
        return "other name" if others else None

    def is_everyday(self, candidate: Candidate, evidence: Evidence) -> bool:
        """Is the name an everyday word in this article's language?"""
        return self.surroundings.words.is_everyday(candidate.form.text, evidence.language)

    def _is_listed(self, text: str, candidate: Candidate, evidence: Evidence) -> bool:
        """Is a name beyond doubt joined to it: "Rossmann und Zalando"?"""
        everyday = self.is_everyday(candidate, evidence)
        joint = _CONJUNCTION if everyday else _JOINT
        after = joint.match(text, candidate.end)
        if after and after.end() in evidence.starts:
            return True
        return any(
            candidate.start - length in evidence.ends
            and joint.fullmatch(text, candidate.start - length, candidate.start)
            for length in range(1, _LONGEST_JOINT + 1)
        )

    def _nearest(
        self, text: str, rivals: Sequence[Candidate], evidence: Evidence
    ) -> Candidate | None:
        """The one rival with the most context words near, if they are enough."""
        near = [_context_near(rival, evidence) for rival in rivals]
        most = max(near)
        everyday = self.is_everyday(rivals[0], evidence)
        if everyday and self.surroundings.leads_a_noun(text, rivals[0], evidence.language):
            return None
        if most < (EVERYDAY_CONTEXT if everyday else 1) or near.count(most) > 1:
            return None
        return rivals[near.index(most)]


def _context_near(candidate: Candidate, evidence: Evidence) -> int:
    """The weight of the context words near, the name's own characters left out."""
    clues = evidence.context.get(candidate.form.company, ())
    first = bisect_left(clues, candidate.start - CONTEXT_WINDOW, key=_place)
    stop = bisect_right(clues, candidate.start + CONTEXT_WINDOW, key=_place)
    return sum(
        clue.weight
        for clue in clues[first:stop]
        if not candidate.start <= clue.place < candidate.end
    )
