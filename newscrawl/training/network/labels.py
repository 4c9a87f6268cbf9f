"""What a network is taught of a page: what its gold text says, and what its teachers believe."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from newscrawl.training.network.examples import Example

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Labels:
    """For each block how many of its words are gold and how far it is content, in [0, 1];
    `gold_words` counts those of the whole gold text."""

    matched: FloatArray
    content: FloatArray
    gold_words: float


def of_gold(example: Example) -> Labels:
    """Labels by the gold text: a block is content where half of its words are gold."""
    matched = example.matched.astype(np.float64)
    content = example.matched >= 0.5 * np.maximum(example.words, 1)
    return Labels(matched, content.astype(np.float64), float(example.gold_words))


def believed(example: Example, beliefs: FloatArray, trust: float) -> Labels:
    """Labels that go by `trust` after the beliefs of teachers, the probabilities of the blocks to
    be content, and by the rest after the gold text; wholly after the beliefs where there is none.
    """
    beliefs = np.where(example.evidence.is_title, 0.0, beliefs)
    gold, trust = of_gold(example), trust if example.labelled else 1.0
    missing = max(gold.gold_words - float(gold.matched.sum()), 0.0) * (1 - trust)
    matched = (1 - trust) * gold.matched + trust * beliefs * example.words
    content = (1 - trust) * gold.content + trust * beliefs
    return Labels(matched, content, float(matched.sum()) + missing)
