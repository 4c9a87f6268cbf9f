"""The score of a mention: the probability that it is right, from what the matcher knows of it.

The weights are fitted to mentions that people have judged (`benchmarks.recipes mentions`);
mention_score.json holds them and their provenance. The rules decide what counts; the score
estimates whether that is right.
"""

import json
import math
import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from newscrawl.mentions.abbreviations import is_acronym
from newscrawl.mentions.candidates import Candidate
from newscrawl.mentions.normalized_text import NormalizedText
from newscrawl.mentions.vocabulary import Vocabulary

# The evidence of a mention, as words: "rule=context", "kind=acronym".
Evidence = tuple[str, ...]
# Ours: from how many on there are many, and the first characters of a body.
_MANY = 4
_OPENING = 500
_WORD_BEFORE = re.compile(r"(\w)[\w'.&-]*[ -]$")
_WORD_AFTER = re.compile(r"[ -](\w)")
_REACH = 30


@dataclass(frozen=True, slots=True)
class FoundName:
    """A mention as the matcher has found it; a ticker has no candidate."""

    company: int
    start: int
    end: int
    rule: str
    candidate: Candidate | None = None


@dataclass(frozen=True, slots=True)
class ScoreModel:
    """A logistic regression over evidence; unknown evidence has no weight."""

    intercept: float
    weights: Mapping[str, float]

    def score(self, evidence: Evidence) -> float:
        logit = self.intercept + sum(self.weights.get(one, 0.0) for one in evidence)
        return round(1 / (1 + math.exp(-logit)), 3)


@cache
def load_model() -> ScoreModel:
    """Return the bundled model."""
    text = files(__package__).joinpath("mention_score.json").read_text(encoding="utf-8")
    data: dict[str, Any] = json.loads(text)
    return ScoreModel(intercept=data["intercept"], weights=data["weights"])


def evidence_of(
    article: NormalizedText, found: Sequence[FoundName], language: str | None, words: Vocabulary
) -> list[Evidence]:
    """Return the evidence for each mention found in an article, in the given order."""
    text = article.text
    times = Counter(one.company for one in found)
    forms: dict[int, set[str]] = defaultdict(set)
    for one in found:
        forms[one.company].add(text[one.start : one.end])
    return [
        (
            f"rule={one.rule}",
            f"kind={_kind(one, language, words)}",
            f"ambiguity={_ambiguity(one, language)}",
            f"casing={_casing(text, one)}",
            f"beside={_beside(text, one)}",
            f"mentions={_amount(times[one.company])}",
            f"forms={'several' if len(forms[one.company]) > 1 else 'one'}",
            f"companies={_amount(len(times))}",
            f"position={_position(article, one)}",
        )
        for one in found
    ]


def _kind(one: FoundName, language: str | None, words: Vocabulary) -> str:
    """Return the kind of the form that was found."""
    form = one.candidate.form.text if one.candidate else ""
    kinds = (
        ("ticker", not form),
        ("letter", len(form) == 1),
        ("acronym", is_acronym(form)),
        ("everyday word", words.is_everyday(form, language)),
        ("surname", form in words.surnames),
        ("several words", " " in form),
        ("other script", not form.isascii() and form.lower() == form.upper()),
    )
    return next((name for name, applies in kinds if applies), "word")


def _ambiguity(one: FoundName, language: str | None) -> str:
    """Return where the registry has the form as ambiguous: here, in other languages, nowhere."""
    if one.candidate is None or not one.candidate.form.ambiguous:
        return "nowhere"
    return "here" if one.candidate.form.is_doubtful(language) else "elsewhere"


def _casing(text: str, one: FoundName) -> str:
    """Return how the text spells the form: as the registry does, in capitals, or otherwise."""
    surface = text[one.start : one.end]
    if one.candidate is None or surface == one.candidate.form.text:
        return "same"
    return "capitals" if surface.isupper() else "other"


def _beside(text: str, one: FoundName) -> str:
    """Return on which sides a capitalised word is directly next to the name."""
    before = _WORD_BEFORE.search(text, max(0, one.start - _REACH), one.start)
    after = _WORD_AFTER.match(text, one.end)
    sides = {(False, False): "none", (True, False): "before", (False, True): "after"}
    capitals = (
        before is not None and before[1].isupper(),
        after is not None and after[1].isupper(),
    )
    return sides.get(capitals, "both")


def _amount(number: int) -> str:
    return "one" if number == 1 else "some" if number < _MANY else "many"


def _position(article: NormalizedText, one: FoundName) -> str:
    if one.start < article.body_start:
        return "headline"
    return "opening" if one.start - article.body_start < _OPENING else "later"
