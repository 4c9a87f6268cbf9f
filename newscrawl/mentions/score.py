"""The score of a mention: the probability that it is right, from what the matcher knows of it.

The weights are fitted to mentions that people have judged (`benchmarks.recipes mentions`);
mention_score.json holds them and their provenance. The rules decide what counts; the score
estimates whether that is right.
"""

import json
import math
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from newscrawl.mentions.abbreviations import is_acronym
from newscrawl.mentions.candidates import Candidate
from newscrawl.mentions.company import Company
from newscrawl.mentions.credits import host_of
from newscrawl.mentions.normalized_text import NormalizedText
from newscrawl.mentions.vocabulary import Vocabulary

# The evidence of a mention, as words: "rule=cue", "line=short".
Evidence = tuple[str, ...]
# Ours: from how many on there are many, and the signs of a line up to which it is of that length.
_MANY = 4
_LENGTHS = ((30, "words"), (80, "short"), (200, "sentence"))
_LABEL = 60
_WORD_AFTER = re.compile(r" ([^\W\d_])")
_REACH = 30
_IN_WORDS = "_'."
_NOT_FIRST = "0123456789_'."
# What stands between the buttons of networks; a comma stands in sentences, too.
_GAP = " \n|"
_LONGEST_GAP = 3
_NEAR = 200
# Rules whose evidence is weak: of 218 mentions by them that were judged by eye, 25 were wrong.
_WEAK = frozenset({"cue", "repetition", "inflection"})


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
    article: NormalizedText,
    names: Sequence[FoundName],
    companies: Sequence[Company],
    language: str | None,
    source: str | None,
    words: Vocabulary,
) -> list[Evidence]:
    """Return the evidence for each mention found in an article, in the given order."""
    text = article.text
    host = _letters(host_of(source)) if source else ""
    times = Counter(name.company for name in names)
    places = sorted((name.start, name.end, name.company) for name in names)
    of_language = "none" if not language else "en" if language == "en" else "other"
    evidence: list[Evidence] = []
    for name in names:
        form = name.candidate.form.text if name.candidate else ""
        length = _length_of_line(text, name)
        evidence.append(
            (
                f"rule={name.rule if name.rule in _WEAK else 'certain'}",
                f"platform={_platform(form, length, words)}",
                f"language={of_language}",
                f"line={next((word for most, word in _LENGTHS if length <= most), 'long')}",
                f"outlet={'own' if host and len(form) > 2 and _letters(form) in host else 'other'}",
                f"near={_near(text, name, places)}",
                f"before={_before(text, name, words)}",
                f"after={_after(text, name)}",
                f"kind={_kind(form, words)}",
                f"aliases={_amount(len(companies[name.company].aliases))}",
                f"mentions={_amount(times[name.company])}",
                f"companies={_amount(len(times))}",
            )
        )
    return evidence


def _letters(name: str) -> str:
    return re.sub(r"\W", "", name.lower())


def _length_of_line(text: str, name: FoundName) -> int:
    """Return how many signs a name's line has, on each side at most those of a long one."""
    most = _LENGTHS[-1][0]
    before = text[max(0, name.start - most) : name.start].rpartition("\n")[2]
    after = text[name.end : name.end + most].partition("\n")[0]
    return len(before) + name.end - name.start + len(after)


def _platform(form: str, length: int, words: Vocabulary) -> str:
    """Return whether the form is a network's, and whether its line is short like a button's."""
    if form not in words.platforms:
        return "no"
    return "button" if length < _LABEL else "yes"


def _near(text: str, name: FoundName, places: Sequence[tuple[int, int, int]]) -> str:
    """Return whether another company's name is near, or with nothing but blanks between."""
    nearness = "none"
    first, last = (bisect_left(places, (at,)) for at in (name.start - _NEAR, name.end + _NEAR))
    for start, end, company in places[first:last]:
        gap = text[end : name.start] if start < name.start else text[name.end : start]
        if company != name.company:
            if len(gap) <= _LONGEST_GAP and not gap.strip(_GAP):
                return "row"
            nearness = "near"
    return nearness


def _before(text: str, name: FoundName, words: Vocabulary) -> str:
    """Return what kind of word is directly in front of the name."""
    end = start = name.start - 1
    first = max(0, name.start - _REACH)
    while start > first and (text[start - 1].isalnum() or text[start - 1] in _IN_WORDS):
        start -= 1
    word = text[start:end].lstrip(_NOT_FIRST)
    if not word or text[end] not in " -":
        return "none"
    if word in words.given_names:
        return "given name"
    return "capital" if word[0].isupper() else "small"


def _after(text: str, name: FoundName) -> str:
    """Return what kind of word is directly behind the name."""
    if text.startswith(("-", "–"), name.end):
        return "hyphen"
    word = _WORD_AFTER.match(text, name.end)
    return "none" if word is None else "capital" if word[1].isupper() else "small"


def _kind(form: str, words: Vocabulary) -> str:
    """Return the kind of the form that was found."""
    kinds = (
        ("ticker", not form),
        ("acronym", is_acronym(form)),
        ("surname", form in words.surnames),
        ("several words", " " in form),
        ("other script", not form.isascii() and form.lower() == form.upper()),
    )
    return next((name for name, applies in kinds if applies), "word")


def _amount(number: int) -> str:
    return ("none", "one")[number] if number <= 1 else "some" if number < _MANY else "many"
