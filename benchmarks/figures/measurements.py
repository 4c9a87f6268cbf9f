"""Measurements behind the figures of the papers.

Each returns plain numbers for a result file, and the figures are drawn from that file alone.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from newscrawl.extraction import cetr
from newscrawl.extraction.features import NAMES
from newscrawl.extraction.html import decode
from newscrawl.training import metrics
from newscrawl.training.corpus import GoldPage, Split
from newscrawl.training.evaluation import compare
from newscrawl.training.limits import (
    FIGURE_3,
    NO_LIMITS,
    UPPER,
    Floats,
    LimitsFitness,
    PageVectors,
    Plan,
    Vectors,
    learn,
    score_limits,
)
from newscrawl.training.metrics import SHINGLE_LENGTH, harmonic_mean

LAMBDAS = np.linspace(0.0, 2.0, 21)  # the axis of Figure 6 of Weninger et al.
CONTENT_SHARE = 0.5  # of a line's shingles in the gold text, to be called content


def cetr_lambda(
    pages: Sequence[GoldPage], on_page: Callable[[], None] = lambda: None
) -> dict[str, Any]:
    """Return mean word precision and recall of CETR-TM by its threshold coefficient."""
    sums = np.zeros((len(LAMBDAS), 2))
    for page in pages:
        lines = cetr.read_lines(decode(page.html).decode("utf-8", "replace"))
        for row, value in enumerate(LAMBDAS):
            tuning = replace(cetr.PAPER, threshold=float(value))
            mask = cetr.keep_lines(lines, "cetr-tm", tuning)
            compared = compare(page, "\n\n".join(cetr.paragraphs(lines, mask)), None)
            overlap = metrics.occ_eval(compared.found_bag, compared.gold_bag)
            sums[row] += overlap.precision, overlap.recall
        on_page()
    means = sums / max(len(pages), 1)
    return {
        "lambda": LAMBDAS.round(6).tolist(),
        "precision": means[:, 0].tolist(),
        "recall": means[:, 1].tolist(),
        "f1": [harmonic_mean(precision, recall) for precision, recall in means],
        "pages": len(pages),
    }


def cetr_page(page: GoldPage) -> dict[str, Any]:
    """Return tag ratios, also smoothed, their derivatives, and which lines are content."""
    lines = cetr.read_lines(decode(page.html).decode("utf-8", "replace"))
    ratios = cetr.tag_ratios(lines)
    smoothed = cetr.smooth(ratios)
    gold = _shingles(metrics.words(page.text or ""))
    return {
        "page": page.id,
        "ratios": ratios.tolist(),
        "smoothed": smoothed.tolist(),
        "derivatives": cetr.derivatives(smoothed).tolist(),
        "content": [_is_content(metrics.words(text), gold) for text in lines.text],
    }


def _is_content(words: Sequence[str], gold: Counter[tuple[str, ...]]) -> bool:
    shingles = _shingles(words)
    return bool(shingles) and (shingles & gold).total() >= CONTENT_SHARE * shingles.total()


def _shingles(words: Sequence[str]) -> Counter[tuple[str, ...]]:
    """Return four-word shingles; a shorter line has none and is not content."""
    return Counter(zip(*(words[start:] for start in range(SHINGLE_LENGTH)), strict=False))


def swarm_runs(
    split: Split, vectors: Vectors, plan: Plan, on_generation: Callable[[], None] = lambda: None
) -> list[dict[str, Any]]:
    """Return both runs of Figure 3 by generation (Ziegler & Skubacz 2007, section 4)."""
    runs = []
    for name, (tau, phi) in FIGURE_3.items():
        settings = replace(plan.settings, tau=tau, phi=phi)
        single_plan = replace(plan, settings=settings, populations=1)
        fit = learn(split, vectors, single_plan, lambda _: on_generation())
        history = [asdict(generation) for generation in fit.flights[0].history]
        runs.append({"name": name, "settings": asdict(settings), "history": history})
    return runs


def single_features(pages: Sequence[PageVectors], limits: Floats) -> dict[str, Any]:
    """Return the curves of Figure 4, and the similarity with all limits and with none."""
    return {
        "together": score_limits(pages, limits),
        "everything": score_limits(pages, NO_LIMITS),
        "features": {
            name: {
                "thresholds": curve.thresholds.tolist(),
                "similarity": curve.similarity.tolist(),
            }
            for name, curve in single_feature_curves(pages).items()
        },
    }


STEPS = 41

# The first three ends are those of Figure 4's axes as section 4.3 and algorithms.md give them;
# the others are ours, chosen so that the curve's top lies inside.
AXES: dict[str, tuple[float, float]] = {
    "sentence_length": (0.0, 30.0),
    "sentences": (1.0, 8.0),
    "characters": (0.5, 1.0),
    "stop_words": (0.0, 0.4),
    "anchors": (0.0, 1.0),
    "formats": (0.0, 0.3),
    "lists": (0.0, 0.5),
    "structure": (0.0, 0.1),
}


@dataclass(frozen=True)
class Curve:
    """Mean similarity by threshold of one feature, the other seven left out."""

    thresholds: Floats
    similarity: Floats

    @property
    def best(self) -> float:
        return float(self.similarity.max())


def single_feature_curves(pages: Sequence[PageVectors]) -> dict[str, Curve]:
    """Return a curve for each feature in the order of `features.NAMES`."""
    fitness = LimitsFitness(pages, UPPER)
    curves = {}
    for column, name in enumerate(NAMES):
        start, end = AXES[name]
        steps = int(end - start) + 1 if name == "sentences" else STEPS
        thresholds = np.linspace(start, end, steps)
        limits = np.tile(NO_LIMITS, (steps, 1))
        limits[:, column] = thresholds
        curves[name] = Curve(thresholds, fitness.of_limits(limits))
    return curves
