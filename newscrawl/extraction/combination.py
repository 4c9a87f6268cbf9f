"""The combined method: a block is kept on the evidence of FE and CETR together.

CETR is brought to the blocks: a block's tag ratio is its characters over the tags since the
block before, smoothed along the page and clustered as the paper does with lines.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from newscrawl.extraction import cetr
from newscrawl.extraction.blocks import BlockPage
from newscrawl.extraction.features import Features
from newscrawl.extraction.thresholds import keep, learned_limits
from newscrawl.extraction.tokens import Char


@dataclass(frozen=True, slots=True)
class Choice:
    """Which blocks are content, and how far the evidence agrees, in [0, 1]."""

    kept: NDArray[np.bool_]
    confidence: float


def combine(page: BlockPage, features: Features) -> Choice:
    """Keep what both FE and CETR keep, and what either keeps between two such blocks."""
    by_limits = keep(features, learned_limits(page.profile))
    by_ratio = _by_tag_ratio(page, features)
    words = features.tokens.words
    sure = by_limits & by_ratio
    kept = sure | ((by_limits | by_ratio) & _between(sure))
    return Choice(kept=kept, confidence=agreement(by_limits, by_ratio, words))


def agreement(one: NDArray[np.bool_], other: NDArray[np.bool_], words: NDArray[np.int64]) -> float:
    """The similarity of two choices of blocks: delta x cosine (eq. 2, 3) with blocks as terms."""
    first, second, both = (float(words[mask].sum()) for mask in (one, other, one & other))
    if not first or not second:
        return 0.0
    return both / math.sqrt(first * second) * min(first, second) / max(first, second)


def _by_tag_ratio(page: BlockPage, features: Features) -> NDArray[np.bool_]:
    chars = features.tokens.chars
    visible = chars.sum(axis=1) - chars[:, Char.MARK]
    lines = cetr.Lines(
        text=page.raw,
        chars=visible,
        tags=page.tags.astype(np.int64),
        continues=(False,) * len(page),
    )
    return cetr.keep_lines(lines, "cetr")


def _between(sure: NDArray[np.bool_]) -> NDArray[np.bool_]:
    inside = np.zeros(len(sure), dtype=bool)
    where = np.flatnonzero(sure)
    if len(where):
        inside[where[0] : where[-1] + 1] = True
    return inside
