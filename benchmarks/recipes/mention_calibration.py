"""Fit the score of a mention (newscrawl.mentions.score) to mentions that people have judged.

Judged are the mentions of the bundled cases, the first mention of each company in the labelled real
texts, those of data/mentions_judged.jsonl and of exported corrections. A line of that file is a
text of which only some mentions were judged: `set, page, language, site, sha256` of the gold text,
`right` and `wrong` as ["title" or "text", start, end, company].

The model is a logistic regression with a penalty on the weights (L2), fitted by Newton's method.
"""

import hashlib
import json
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
)
from newscrawl import mentions
from newscrawl.mentions import Companies
from newscrawl.mentions.score import Evidence, ScoreModel, load_model
from newscrawl.training.corpus import DEVELOPMENT, SEALED, Corpus

# Ours: penalty of squared weights; of 0.5 to 20 the one with the best logarithmic loss by folds.
PENALTY = 1.0
# Ours: Newton's method has converged long before.
_STEPS = 50
_CONVERGED = 1e-8
# Ours: the bins of a reliability table; half of all scores are above 0.98.
BINS = (0.0, 0.9, 0.95, 0.97, 0.98, 0.99, 1.0)

SCORE_FILE = Path(mentions.__file__).with_name("mention_score.json")

Numbers = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedMention:
    """A mention of the matcher, and a person's judgement of it; `site` decides its fold."""

    evidence: Evidence
    is_right: bool
    site: str


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
    """How well scores of unseen sites fit: the Brier score, the area under the curve and the bins;
    `constant` is the Brier score of the share of right mentions on the other sites."""

    mentions: int
    wrong: int
    brier: float
    constant: float
    area: float
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
        judged.append(JudgedMention(evidence=evidence, is_right=is_right, site=site))
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
            judged.append(JudgedMention(evidence=evidence, is_right=is_right, site=labels.site))
    return judged


@dataclass(frozen=True, slots=True, kw_only=True)
class _PartlyJudged:
    """A text of which some mentions were judged: section, start and company, and the judgement."""

    title: str
    text: str
    language: str
    source: str
    site: str
    judged: dict[tuple[str, int, str], bool]


def _partly_judged(corpus: Corpus) -> Iterator[_PartlyJudged]:
    """Yield those texts of data/mentions_judged.jsonl in the corpus that have not changed since."""
    pages = {(page.set, page.id): page for page in corpus}
    for row in _read_judged():
        page = pages.get((row["set"], row["page"]))
        if page is None or page.text is None:
            continue
        if hashlib.sha256(page.text.encode()).hexdigest() != row["sha256"]:
            continue
        yield _PartlyJudged(
            title=page.title or "",
            text=page.text,
            language=row["language"],
            source=page.url or page.site,
            site=row["site"],
            judged=dict(_judged_places(row)),
        )


def _judged_pairs(companies: Companies, text: _PartlyJudged) -> list[JudgedMention]:
    judged = []
    for mention, evidence in companies.find_with_evidence(
        text.text, title=text.title, language=text.language, source=text.source
    ):
        is_right = text.judged.get((mention.section, mention.start, mention.company))
        if is_right is not None:
            judged.append(JudgedMention(evidence=evidence, is_right=is_right, site=text.site))
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
    judged = [judged_case(companies, text) for text in (*read_labelled(), *case_texts)]
    if corpus is not None:
        judged += [judged_text(companies, text) for text in _real_texts(corpus, DEVELOPMENT)]
        judged += [_judged_pairs(companies, text) for text in _partly_judged(corpus)]
    return [mention for of_text in judged for mention in of_text]


def _real_texts(corpus: Corpus, part: str) -> list[RealText]:
    return join_texts([labels for labels in read_labels() if labels.part == part], corpus)[0]


def score_sealed(companies: Companies, corpus: Corpus) -> Calibration | None:
    """Return how well the bundled model fits the sealed texts of a corpus; None without any."""
    texts = _real_texts(corpus, SEALED)
    judged = [mention for text in texts for mention in judged_text(companies, text)]
    return calibration_of(load_model(), judged) if judged else None


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
        bins=tuple(_bins(scores, right)),
    )


def _area(scores: Numbers, right: Numbers) -> float:
    """Return how often a right mention has a higher score than a wrong one; a tie is a half."""
    above, below = scores[right == 1], scores[right == 0]
    if not len(above) or not len(below):
        return float("nan")
    higher = (above[:, None] > below).mean() + (above[:, None] == below).mean() / 2
    return float(higher)


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
