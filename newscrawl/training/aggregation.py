"""Means of scores over groups of pages, with confidence intervals by resampling sites."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from newscrawl.training import scores
from newscrawl.training.evaluation import PageScore
from newscrawl.training.metrics import harmonic_mean

Grouping = Literal["all", "set", "lang", "site", "page_type", "method"]
Combine = Callable[[NDArray[np.float64]], NDArray[np.float64]]
RESAMPLES = 1000  # ours: the ends of a 95 % interval stay put in the third digit
CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True)
class Mean:
    """A mean over pages, and the ends of its confidence interval by resampling sites."""

    value: float
    low: float
    high: float
    pages: int


def group(page_scores: Iterable[PageScore], by: Grouping) -> dict[str, list[PageScore]]:
    """Scores by the value of a field, in order of that value; "all" makes one group."""
    groups: dict[str, list[PageScore]] = defaultdict(list)
    for score in page_scores:
        groups["all" if by == "all" else getattr(score, by)].append(score)
    return dict(sorted(groups.items()))


def mean(page_scores: Iterable[PageScore], measure: str, *, seed: int = 0) -> Mean | None:
    """The mean of a value over the pages that have it; None where none has.

    "M.f1_of_means" is the F1 of the mean precision and mean recall, the F of Barbaresi &
    Lejeune's tables; "M.f1" is the mean of the pages' F1. The four of "mentions" are those of
    all (page, company) pairs together.
    """
    names, combine = _RATIOS.get(measure, ((measure,), _first))
    if measure.endswith(".f1_of_means"):
        overlap = measure.removesuffix(".f1_of_means")
        names, combine = (f"{overlap}.precision", f"{overlap}.recall"), _f1_of_means
    table = [
        (score.site, [score.values[name] for name in names])
        for score in page_scores
        if names[0] in score.values
    ]
    if not table:
        return None
    by_site, counts = _sums([site for site, _ in table], np.array([row for _, row in table]))
    value = combine((by_site.sum(axis=0) / counts.sum())[None])[0]
    drawn = _resamples(len(counts), seed)
    resampled = combine((drawn @ by_site) / (drawn @ counts)[:, None])
    tail = (1 - CONFIDENCE) / 2
    low, high = np.quantile(resampled, [tail, 1 - tail])
    return Mean(float(value), float(low), float(high), len(table))


def worst(page_scores: Iterable[PageScore], measure: str, count: int) -> list[PageScore]:
    """The pages that a measure likes least, worst first."""
    having = [score for score in page_scores if measure in score.values]
    sign = -1 if measure in scores.SMALLER_IS_BETTER else 1
    return sorted(having, key=lambda score: (sign * score.values[measure], score.id))[:count]


def _sums(
    sites: Sequence[str], rows: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Sums of rows and numbers of pages by site."""
    _, index, counts = np.unique(np.array(sites), return_inverse=True, return_counts=True)
    sums = np.zeros((len(counts), rows.shape[1]))
    np.add.at(sums, index, rows)
    return sums, counts.astype(np.float64)


def _resamples(sites: int, seed: int) -> NDArray[np.float64]:
    """How often each site is drawn in each resample of as many sites, with replacement."""
    random = np.random.default_rng(seed)
    return random.multinomial(sites, np.full(sites, 1 / sites), size=RESAMPLES).astype(np.float64)


def _first(means: NDArray[np.float64]) -> NDArray[np.float64]:
    return means[:, 0]


def _f1_of_means(means: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.array([harmonic_mean(precision, recall) for precision, recall in means])


def _ratio(means: NDArray[np.float64]) -> NDArray[np.float64]:
    """The first column over the sum of the others; 1 where neither has anything."""
    whole = means[:, 1:].sum(axis=1)
    return np.where(whole > 0, means[:, 0] / np.where(whole > 0, whole, 1.0), 1.0)


def _f1_of_counts(means: NDArray[np.float64]) -> NDArray[np.float64]:
    return _ratio(means * np.array([2.0, 1.0, 1.0]))


# Ratios of sums, so of means: what is summed, and how the sums become the measure.
_RATIOS: dict[str, tuple[tuple[str, ...], Combine]] = {
    "mentions.precision": (("mentions.common", "mentions.found"), _ratio),
    "mentions.recall": (("mentions.common", "mentions.wanted"), _ratio),
    "mentions.f1": (("mentions.common", "mentions.found", "mentions.wanted"), _f1_of_counts),
    "mentions.count_ratio": (("mentions.count", "mentions.gold_count"), _ratio),
}
