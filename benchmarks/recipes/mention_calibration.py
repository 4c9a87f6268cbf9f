"""Fit the score of a mention (newscrawl.mentions.score) to mentions that people have judged.

Judged are the first mention of each company in the labelled real texts, those of
data/mentions_judged.jsonl and of exported corrections; without a corpus the mentions of the bundled
cases, which are hard on purpose: their share of wrong ones is no probability. A line of that file
is a text of which only some candidates were judged, found or refused: `set, page, language, site,
part, sha256` of the gold text, `right` and `wrong` as ["title" or "text", start, end, company].
Of some pages the text is `paragraphs` [first, end] of its `<p>` elements; `headline` is false where
the title doesn't belong to it. Nothing is fitted to the sites of the part "sealed".

The model is a logistic regression with a penalty on the weights (L2), fitted by Newton's method.
"""

import hashlib
import json
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.scores.mentions import (
    LabelledText,
    LabelsError,
    RealText,
    join_texts,
    read_labelled,
    read_labels,
    text_of,
)
from newscrawl import mentions
from newscrawl.mentions import Companies
from newscrawl.mentions.score import Evidence, ScoreModel, load_model
from newscrawl.sources.urls import registered_domain
from newscrawl.training.corpus import DEVELOPMENT, SEALED, Corpus

# Ours: penalty of squared weights; of 0.5 to 20 the one with the best logarithmic loss by folds.
PENALTY = 2.0
# Ours: the share of mentions that a person reviews first, and a language's fewest for a row.
_LEAST_SURE = 0.1
_FEWEST = 20
# Ours: Newton's method has converged long before.
_STEPS = 50
_CONVERGED = 1e-8
# Ours: the bins of a reliability table; half of all scores are above 0.98.
BINS = (0.0, 0.9, 0.95, 0.97, 0.98, 0.99, 1.0)

SCORE_FILE = Path(mentions.__file__).with_name("mention_score.json")

Numbers = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class JudgedMention:
    """A mention of the matcher, and a person's judgement of it; `site` decides its fold."""

    evidence: Evidence
    is_right: bool
    site: str
    language: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bin:
    """Mentions whose score lies between two bounds: mean score, and share of right ones."""

    low: float
    high: float
    mentions: int
    score: float
    share: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """How well scores of unseen sites fit: the Brier score, the area under the curve, the share of
    wrong mentions within the least sure tenth, and the bins; `constant` is the Brier score of the
    share of right mentions on the other sites."""

    mentions: int
    wrong: int
    brier: float
    constant: float
    area: float
    first_tenth: float
    bins: tuple[Bin, ...]


def judged_case(companies: Companies, text: LabelledText) -> list[JudgedMention]:
    """Return all mentions found in a text whose mentions are all labelled."""
    unmatched, judged = Counter(text.mentions), []
    for mention, evidence in companies.find_with_evidence(
        text.text, title=text.title, language=text.language or None, source=text.source or None
    ):
        pair = mention.company, mention.surface
        is_right = unmatched[pair] > 0
        unmatched[pair] -= is_right
        site = text.source or f"case {text.id}"
        judged.append(JudgedMention(evidence, is_right, site, text.language))
    return judged


def judged_text(companies: Companies, text: RealText) -> list[JudgedMention]:
    """Return the first mention of each company in a real text, without those in doubt."""
    labels, judged = text.labels, []
    skipped = {occurrence.company for occurrence in labels.in_doubt} - labels.companies
    for mention, evidence in companies.find_with_evidence(
        text.text, title=text.title, language=labels.language, source=text.source
    ):
        if mention.company not in skipped:
            skipped.add(mention.company)
            is_right = mention.company in labels.companies
            judged.append(JudgedMention(evidence, is_right, labels.site, labels.language))
    return judged


def judged_candidates(companies: Companies, corpus: Corpus, part: str) -> list[JudgedMention]:
    """Return those mentions found that data/mentions_judged.jsonl has judged, in the texts of one
    part that the corpus holds and that have not changed since."""
    pages = {(page.set, page.id): page for page in corpus}
    judged = []
    for row in _read_judged():
        page = pages.get((row["set"], row["page"]))
        text = text_of(page, row.get("paragraphs")) if page and row["part"] == part else None
        if not page or not text or hashlib.sha256(text.encode()).hexdigest() != row["sha256"]:
            continue
        places = dict(_judged_places(row))
        for mention, evidence in companies.find_with_evidence(
            text,
            title=page.title or "" if row.get("headline", True) else "",
            language=row["language"],
            source=page.url or page.site,
        ):
            is_right = places.get((mention.section, mention.start, mention.company))
            if is_right is not None:
                judged.append(JudgedMention(evidence, is_right, row["site"], row["language"]))
    return judged


def _read_judged() -> Iterator[Mapping[str, Any]]:
    path = Path(__file__).parent / "data" / "mentions_judged.jsonl"
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        try:
            yield json.loads(line)
        except ValueError as error:
            raise LabelsError(f"{path}, line {number}: not judged mentions ({error!r})") from None


def _judged_places(row: Mapping[str, Any]) -> Iterator[tuple[tuple[str, int, str], bool]]:
    for key, is_right in (("right", True), ("wrong", False)):
        for section, start, _, company in row[key]:
            yield ("title" if section == "title" else "body", start, company), is_right


def judged_mentions(
    companies: Companies, corpus: Corpus | None, case_texts: Iterable[LabelledText]
) -> list[JudgedMention]:
    """Return the judged mentions of the bundled and one's own cases, and of a corpus's news."""
    texts = [*case_texts, *(read_labelled() if corpus is None else ())]
    judged = [judged_case(companies, text) for text in texts]
    if corpus is not None:
        sealed = {registered_domain(row["site"]) for row in _read_judged() if row["part"] == SEALED}
        judged += [
            judged_text(companies, text)
            for text in _real_texts(corpus, DEVELOPMENT)
            if registered_domain(text.labels.site) not in sealed
        ]
        judged.append(judged_candidates(companies, corpus, DEVELOPMENT))
    return [mention for of_text in judged for mention in of_text]


def _real_texts(corpus: Corpus, part: str) -> list[RealText]:
    return join_texts([labels for labels in read_labels() if labels.part == part], corpus)[0]


def score_sealed(companies: Companies, corpus: Corpus) -> dict[str, Calibration]:
    """Return how well the bundled model fits the sealed texts of a corpus, in all and in each
    language with enough of them; nothing without any."""
    judged = judged_candidates(companies, corpus, SEALED)
    for text in _real_texts(corpus, SEALED):
        judged += judged_text(companies, text)
    groups: dict[str, list[JudgedMention]] = defaultdict(list)
    for mention in judged:
        groups["all"].append(mention)
        groups[mention.language].append(mention)
    return {
        language: calibration_of(load_model(), members)
        for language, members in sorted(groups.items(), key=lambda item: -len(item[1]))
        if len(members) >= _FEWEST
    }


def fit_score(mentions: Sequence[JudgedMention]) -> ScoreModel:
    """Return the model that is fitted to judged mentions, of which some are right and some wrong.

    Raise LabelsError if all of them are right, or all wrong."""
    names = sorted({feature for mention in mentions for feature in mention.evidence})
    right = np.array([mention.is_right for mention in mentions], dtype=np.float64)
    if not 0 < right.sum() < len(right):
        raise LabelsError("a score is fitted to right and wrong mentions: give cases of both")
    design = np.ones((len(mentions), len(names) + 1))
    design[:, 1:] = _matrix(mentions, names)
    weights = np.zeros(len(names) + 1)
    share = right.mean()
    weights[0] = np.log(share / (1 - share))
    ridge = np.full(len(weights), PENALTY)
    ridge[0] = 0
    for _ in range(_STEPS):
        scores = 1 / (1 + np.exp(-(design @ weights)))
        slope = design.T @ (scores - right) + ridge * weights
        curve = (design * (scores * (1 - scores))[:, None]).T @ design + np.diag(ridge)
        step = np.linalg.solve(curve, slope)
        weights -= step
        if np.abs(step).max() < _CONVERGED:
            break
    rounded = [round(float(weight), 4) for weight in weights]
    return ScoreModel(intercept=rounded[0], weights=dict(zip(names, rounded[1:], strict=True)))


def _matrix(mentions: Sequence[JudgedMention], names: Sequence[str]) -> Numbers:
    columns = {name: number for number, name in enumerate(names)}
    known = np.zeros((len(mentions), len(names)))
    for row, mention in enumerate(mentions):
        for name in mention.evidence:
            known[row, columns[name]] = 1
    return known


def cross_validate(mentions: Sequence[JudgedMention], folds: int = 5) -> Calibration:
    """Return how well the scores of mentions fit, each by a model of the other folds' sites.

    A hash of a site decides its fold. Raise LabelsError if a fold's others are all right."""
    fold_of = [
        (int(hashlib.sha256(mention.site.encode()).hexdigest()[:8], 16) % folds)
        for mention in mentions
    ]
    scores, constants = np.zeros(len(mentions)), np.zeros(len(mentions))
    for fold in sorted(set(fold_of)):
        other_mentions = [one for one, of in zip(mentions, fold_of, strict=True) if of != fold]
        model = fit_score(other_mentions)
        share = sum(one.is_right for one in other_mentions) / len(other_mentions)
        for number, of in enumerate(fold_of):
            if of == fold:
                scores[number], constants[number] = model.score(mentions[number].evidence), share
    return _calibration(
        scores, constants, np.array([one.is_right for one in mentions], dtype=float)
    )


def calibration_of(model: ScoreModel, mentions: Sequence[JudgedMention]) -> Calibration:
    """Return how well a model's scores fit mentions that it may have been fitted to."""
    right = np.array([mention.is_right for mention in mentions], dtype=np.float64)
    scores = np.array([model.score(mention.evidence) for mention in mentions])
    return _calibration(scores, np.full(len(mentions), right.mean()), right)


def _calibration(scores: Numbers, constants: Numbers, right: Numbers) -> Calibration:
    return Calibration(
        mentions=len(right),
        wrong=int(len(right) - right.sum()),
        brier=float(((scores - right) ** 2).mean()),
        constant=float(((constants - right) ** 2).mean()),
        area=_area(scores, right),
        first_tenth=_first_tenth(scores, right),
        bins=tuple(_bins(scores, right)),
    )


def _area(scores: Numbers, right: Numbers) -> float:
    """Return how often a right mention has a higher score than a wrong one; a tie is a half."""
    above, below = scores[right == 1], scores[right == 0]
    if not len(above) or not len(below):
        return float("nan")
    higher = (above[:, None] > below).mean() + (above[:, None] == below).mean() / 2
    return float(higher)


def _first_tenth(scores: Numbers, right: Numbers) -> float:
    """Return the share of the wrong mentions that are among the least sure tenth; of mentions with
    the same score, which of them come first is left to chance."""
    if right.all():
        return float("nan")
    bound = np.sort(scores)[math.ceil(len(scores) * _LEAST_SURE) - 1]
    tied, below = scores == bound, scores < bound
    share = (math.ceil(len(scores) * _LEAST_SURE) - below.sum()) / tied.sum()
    return float(((1 - right[below]).sum() + share * (1 - right[tied]).sum()) / (1 - right).sum())


def _bins(scores: Numbers, right: Numbers) -> Iterator[Bin]:
    members: dict[int, list[int]] = defaultdict(list)
    for number, place in enumerate(np.searchsorted(BINS[1:-1], scores, side="right")):
        members[int(place)].append(number)
    for place, numbers in sorted(members.items()):
        yield Bin(
            low=BINS[place],
            high=BINS[place + 1],
            mentions=len(numbers),
            score=float(scores[numbers].mean()),
            share=float(right[numbers].mean()),
        )


def write_model(model: ScoreModel, path: Path, provenance: Mapping[str, Any]) -> None:
    """Write a model for newscrawl.mentions, with its provenance."""
    data = {
        "provenance": dict(provenance),
        "intercept": model.intercept,
        "weights": dict(model.weights),
    }
    path.write_text(json.dumps(data, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
