"""The similarity of a choice of blocks to the gold text, for a whole swarm at once.

No text is needed once a page's vectors are known. Let T be its blocks' term vectors, g the
gold vector, and m a 0/1 choice of blocks: with G = T Tᵀ, d = T g and n the blocks' lengths,
the dot product is m·d, the squared norm m·G·m and the length m·n. Counts are whole numbers
below 2²⁴, so these products are exact in single precision and in any order of summation.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from newscrawl.training import metrics

Floats = NDArray[np.float64]
Masks = NDArray[np.bool_]  # (choices, blocks)

# Means are rounded so that a last digit, which may differ between processors, decides no
# contest between particles.
DECIMALS = 12


@dataclass(frozen=True)
class PageVectors:
    """One page: its blocks' features (blocks, features) and what similarity needs of them."""

    features: Floats
    gram: NDArray[np.float32]  # (blocks, blocks), G
    dots: NDArray[np.float32]  # (blocks,), d
    lengths: NDArray[np.float32]  # (blocks,), n
    gold_length: float
    gold_norm: float

    @classmethod
    def of(
        cls,
        features: Floats,
        block_words: Sequence[Iterable[str]],
        gold_words: Iterable[str],
    ) -> "PageVectors":
        """Merge blocks of equal features, which no limits can tell apart, and drop empty ones."""
        gold = Counter(word for word in gold_words if metrics.is_term(word))
        bags = [Counter(word for word in block if metrics.is_term(word)) for block in block_words]
        full = [i for i, bag in enumerate(bags) if bag]
        column = {word: i for i, word in enumerate(sorted({w for i in full for w in bags[i]}))}
        kinds, kind_of = np.unique(features[full], axis=0, return_inverse=True)
        terms = np.zeros((len(kinds), len(column)), dtype=np.float32)
        for i, kind in zip(full, kind_of.ravel(), strict=True):
            for word, count in bags[i].items():
                terms[kind, column[word]] += count
        wanted = np.array([gold[word] for word in column], dtype=np.float32)
        return cls(
            features=kinds,
            gram=terms @ terms.T,
            dots=terms @ wanted,
            lengths=terms.sum(axis=1),
            gold_length=float(gold.total()),
            gold_norm=float(np.sqrt(sum(count * count for count in gold.values()))),
        )

    def similarity(self, masks: Masks) -> Floats:
        """Z&S eq. 2 for each choice of blocks; a choice of nothing scores 0."""
        used = np.flatnonzero(masks.any(axis=0))
        if not len(used) or not self.gold_length:
            return np.zeros(len(masks))
        chosen = masks[:, used].astype(np.float32)
        squares = (chosen @ self.gram[used[:, None], used] * chosen).sum(axis=1, dtype=np.float64)
        dots, lengths = chosen @ self.dots[used], chosen @ self.lengths[used]
        delta = np.minimum(lengths, self.gold_length) / np.maximum(lengths, self.gold_length)
        norms = np.sqrt(np.maximum(squares, 1.0)) * self.gold_norm
        return np.asarray(delta.astype(np.float64) * dots / norms, dtype=np.float64)


def one_thread_a_product() -> AbstractContextManager[object]:
    """Products this small are slower on several cores; needs scikit-learn's threadpoolctl."""
    try:
        from threadpoolctl import threadpool_limits  # noqa: PLC0415  speed only, so optional
    except ImportError:
        return nullcontext()
    limit: AbstractContextManager[object] = threadpool_limits(limits=1, user_api="blas")
    return limit


class LimitsFitness:
    """Mean similarity over pages, for the limits of a whole population.

    `upper` says which limits are upper ones.
    """

    def __init__(self, pages: Sequence[PageVectors], upper: Masks) -> None:
        self._pages = pages
        self._sign = np.where(upper, -1.0, 1.0)
        self._features = np.ascontiguousarray(
            (np.concatenate([page.features for page in pages]) * self._sign).T
        )
        self._ends = np.cumsum([0, *(len(page.features) for page in pages)])

    def of_limits(self, limits: Floats) -> Floats:
        """One mean for each row of limits, in the features' own units."""
        means: Floats = self.by_page(limits).mean(axis=0)
        return means.round(DECIMALS)

    def by_page(self, limits: Floats) -> Floats:
        """Similarities (pages, rows of limits)."""
        bounds = limits * self._sign
        kept = self._features[0] >= bounds[:, 0, None]
        for feature, bound in zip(self._features[1:], bounds.T[1:], strict=True):
            kept &= feature >= bound[:, None]
        spans = zip(self._pages, pairwise(self._ends), strict=True)
        return np.array([page.similarity(kept[:, start:end]) for page, (start, end) in spans])
