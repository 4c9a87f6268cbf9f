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
        logit = self.intercept + sum(self.weights.get(feature, 0.0) for feature in evidence)
        return round(1 / (1 + math.exp(-logit)), 3)


@cache
def load_model() -> ScoreModel:
    """Return the bundled model."""
    text = files(__package__).joinpath("mention_score.json").read_text(encoding="utf-8")
    data: dict[str, Any] = json.loads(text)
    return ScoreModel(intercept=data["intercept"], weights=data["weights"])


def evidence_of(
    article: NormalizedText, names: Sequence[FoundName], language: str | None, words: Vocabulary
) -> list[Evidence]:
    """Return the evidence for each mention found in an article, in the given order."""
    text = article.text
    times = Counter(name.company for name in names)
    forms: dict[int, set[str]] = defaultdict(set)
    for name in names:
        forms[name.company].add(text[name.start : name.end])
    return [
        (
            f"rule={name.rule}",
            f"kind={_kind(name, language, words)}",
            f"ambiguity={_ambiguity(name, language)}",
            f"casing={_casing(text, name)}",
            f"beside={_beside(text, name)}",
            f"mentions={_amount(times[name.company])}",
            f"forms={'several' if len(forms[name.company]) > 1 else 'one'}",
            f"companies={_amount(len(times))}",
            f"position={_position(article, name)}",
        )
        for name in names
    ]


def _kind(mention: FoundName, language: str | None, words: Vocabulary) -> str:
    """Return the kind of the form that was found."""
    form = mention.candidate.form.text if mention.candidate else ""
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


def _ambiguity(name: FoundName, language: str | None) -> str:
    """Return where the registry has the form as ambiguous: here, in other languages, nowhere."""
    if name.candidate is None or not name.candidate.form.ambiguous:
        return "nowhere"
    return "here" if name.candidate.form.is_doubtful(language) else "elsewhere"


def _casing(text: str, name: FoundName) -> str:
    """Return how the text spells the form: as the registry does, in capitals, or otherwise."""
    surface = text[name.start : name.end]
    if name.candidate is None or surface == name.candidate.form.text:
        return "same"
    return "capitals" if surface.isupper() else "other"


def _beside(text: str, name: FoundName) -> str:
    """Return on which sides a capitalised word is directly next to the name."""
    before = _WORD_BEFORE.search(text, max(0, name.start - _REACH), name.start)
    after = _WORD_AFTER.match(text, name.end)
    sides = {(False, False): "none", (True, False): "before", (False, True): "after"}
    capitals = (
        before is not None and before[1].isupper(),
        after is not None and after[1].isupper(),
    )
    return sides.get(capitals, "both")


def _amount(number: int) -> str:
    return "one" if number == 1 else "some" if number < _MANY else "many"


def _position(article: NormalizedText, name: FoundName) -> str:
    if name.start < article.body_start:
        return "headline"
    return "opening" if name.start - article.body_start < _OPENING else "later"
