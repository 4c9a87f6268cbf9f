"""Support for ambiguous names: which of the doubtful places are the company after all."""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from ahocorasick_rs import AhoCorasick

from newscrawl.mentions.candidates import Candidate
from newscrawl.mentions.company import Company
from newscrawl.mentions.forms import without_accents
from newscrawl.mentions.surroundings import Surroundings
from newscrawl.mentions.vocabulary import Vocabulary

# Context counts within this many characters: the sentence and its neighbours. Ours, set by hand.
CONTEXT_WINDOW = 250
_PLURAL = re.compile(r"(?:s|es|n|en|er|e|x|i)?(?!\w)")


@dataclass(frozen=True, slots=True)
class Evidence:
    """What the whole article says: companies named beyond doubt or by ticker, context words."""

    named: frozenset[int]
    quoted: frozenset[int]
    context: Mapping[int, Sequence[int]] = field(default_factory=dict)


class ContextFinder:
    """The context words of all companies with ambiguous forms in one automaton."""

    def __init__(self, companies: Sequence[Company], words: Vocabulary) -> None:
        owners: dict[tuple[str, bool, bool], list[int]] = defaultdict(list)
        for index, company in enumerate(companies):
            if company.ambiguous:
                for word in set(_expanded(company.context, words)):
                    owners[_pattern(word)].append(index)
        for (literal, left, right), indexes in list(owners.items()):
            owners[without_accents(literal), left, right].extend(indexes)
        self._patterns = list(owners)
        self._owners = [frozenset(indexes) for indexes in owners.values()]
        literals = [literal for literal, _, _ in self._patterns]
        self._automaton = AhoCorasick(literals, store_patterns=False)

    def find(self, text: str, wanted: frozenset[int]) -> dict[int, list[int]]:
        """Where words of the wanted companies' contexts stand, by company."""
        low = text.replace("İ", "I").lower()
        places: dict[int, list[int]] = defaultdict(list)
        for pattern, start, end in self._automaton.find_matches_as_indexes(low, overlapping=True):
            concerned = self._owners[pattern] & wanted
            if concerned and self._stands(low, pattern, start, end):
                for index in concerned:
                    places[index].append(start)
        return places

    def _stands(self, low: str, pattern: int, start: int, end: int) -> bool:
        _, open_left, open_right = self._patterns[pattern]
        if not open_left and start and _is_spaced(low[start - 1]) and _is_spaced(low[start]):
            return False
        if open_right or not _is_spaced(low[end - 1]):
            return True
        return _PLURAL.match(low, end) is not None


def _is_spaced(letter: str) -> bool:
    """A letter of a script that parts its words by blanks."""
    return letter.isalnum() and ord(letter) < 0x2E80


def _expanded(context: Iterable[str], words: Vocabulary) -> Iterable[str]:
    for word in context:
        if word.startswith("@"):
            yield from words.topics[word[1:]]
        else:
            yield word.lower()


def _pattern(word: str) -> tuple[str, bool, bool]:
    return word.strip("*").replace("*", "").replace("’", "'"), word[0] == "*", word[-1] == "*"


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
        near = {id(rival): _context_near(rival, evidence) for rival in rivals}
        best = max(rivals, key=lambda rival: near[id(rival)])
        strength = near[id(best)]
        alone = sum(near[id(rival)] == strength for rival in rivals) == 1
        if strength and alone:
            return best, "context"
        if len(rivals) > 1:
            return None
        if self.surroundings.has_legal_form(text, rivals[0]):
            return rivals[0], "legal form"
        if self.surroundings.has_cue(text, rivals[0]):
            return rivals[0], "cue"
        return None


def _context_near(candidate: Candidate, evidence: Evidence) -> int:
    """How many context words stand near, the name's own characters left out."""
    return sum(
        abs(place - candidate.start) <= CONTEXT_WINDOW
        and not candidate.start <= place < candidate.end
        for place in evidence.context.get(candidate.form.company, ())
    )
