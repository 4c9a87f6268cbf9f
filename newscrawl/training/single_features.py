"""Each feature alone against its threshold (Ziegler & Skubacz 2007, section 4.3, Figure 4)."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from newscrawl.extraction.features import NAMES
from newscrawl.training.fit import NO_LIMITS, UPPER
from newscrawl.training.fitness import Floats, LimitsFitness, PageVectors

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
    """A curve for each feature in the order of `features.NAMES`."""
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
