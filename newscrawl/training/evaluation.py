"""Every method over every page of a corpus, and means of the scores.

Confidence intervals come from resampling sites, as pages of one site are alike.
"""

import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from newscrawl.cluster import Workers
from newscrawl.extraction.extract import extract
from newscrawl.items import copy_fields
from newscrawl.mentions import Companies, load_companies
from newscrawl.training import scores
from newscrawl.training.corpus import GoldPage, map_pages
from newscrawl.training.metrics import harmonic_mean

MENTIONS = "mentions"


@dataclass(frozen=True, slots=True, kw_only=True)
class PageScore:
    """The scores of one method on one page. `values` are named as in scores.score_page.

    Counts of companies, where asked for, are "mentions.found", "mentions.wanted" and
    "mentions.common" (companies), "mentions.count" and "mentions.gold_count" (mentions).
    """

    method: str
    id: str
    set: str
    lang: str
    site: str
    page_type: str
    length: str
    path: str
    seconds: float
    values: Mapping[str, float] = field(default_factory=dict)


def evaluate(
    pages: Sequence[GoldPage],
    methods: Sequence[str],
    measures: Sequence[str] = scores.DEFAULT_MEASURES,
    *,
    workers: Workers | None = None,
    on_page: Callable[[], None] = lambda: None,
) -> list[PageScore]:
    """Score every method on every page, pages in order and methods in order within a page.

    `workers` and `on_page` are those of `map_pages`.
    """
    if MENTIONS in measures:
        load_companies()  # so that a broken file is reported here, not by a dead process
    job = partial(evaluate_page, methods=tuple(methods), measures=tuple(measures))
    by_page = map_pages(job, pages, workers=workers, on_page=on_page)
    return [score for page_scores in by_page for score in page_scores]


def evaluate_page(
    page: GoldPage, methods: Sequence[str], measures: Sequence[str]
) -> list[PageScore]:
    """Return the scores of one page by each method."""
    html = page.html
    results = []
    for method in methods:
        start = time.perf_counter()
        article = extract(html, page.url, method=method)
        seconds = time.perf_counter() - start
        values = scores.score_page(page, article.text, article.title, measures)
        if MENTIONS in measures and page.text is not None:
            companies, gold = (
                Counter(mention.company for mention in _companies().find(text, language=page.lang))
                for text in scores.align_headlines(page, article.text, article.title)
            )
            values |= {
                f"{MENTIONS}.found": len(companies),
                f"{MENTIONS}.wanted": len(gold),
                f"{MENTIONS}.common": len(companies.keys() & gold.keys()),
                f"{MENTIONS}.count": companies.total(),
                f"{MENTIONS}.gold_count": gold.total(),
            }
        results.append(
            copy_fields(
                PageScore,
                page,
                method=method,
                site=page.owner,
                path=str(page.path),
                seconds=seconds,
                values=values,
            )
        )
    return results


@cache
def _companies() -> Companies:
    """Return the bundled registry, read once in each process."""
    return load_companies()


Grouping = Literal["all", "set", "lang", "site", "page_type", "length", "method"]
Combine = Callable[[NDArray[np.float64]], NDArray[np.float64]]
RESAMPLES = 1000  # ours: the ends of a 95 % interval no longer change in the third digit
CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True)
class Mean:
    """A mean over pages, and the ends of its confidence interval by resampling sites."""

    value: float
    low: float
    high: float
    pages: int


def group(page_scores: Iterable[PageScore], by: Grouping) -> dict[str, list[PageScore]]:
    """Return scores by the value of a field, in order of that value; "all" makes one group."""
    groups: dict[str, list[PageScore]] = defaultdict(list)
    for score in page_scores:
        groups["all" if by == "all" else getattr(score, by)].append(score)
    return dict(sorted(groups.items()))


def mean(page_scores: Iterable[PageScore], measure: str, *, seed: int = 0) -> Mean | None:
    """Return the mean of a value over the pages that have it; None if none has.

    "M.f1_of_means" is the F1 of the mean precision and mean recall, the F of Barbaresi &
    Lejeune's tables; "M.f1" is the mean of the pages' F1. The four of "mentions" are those of
    all (page, company) pairs together.
    """
    names, combine = _RATIOS.get(measure, ((measure,), lambda means: means[:, 0]))
    if measure.endswith(".f1_of_means"):
        overlap = measure.removesuffix(".f1_of_means")
        names, combine = (
            (f"{overlap}.precision", f"{overlap}.recall"),
            lambda means: np.array(
                [harmonic_mean(precision, recall) for precision, recall in means]
            ),
        )
    table = [
        (score.site, [score.values[name] for name in names])
        for score in page_scores
        if names[0] in score.values
    ]
    if not table:
        return None
    by_site, counts = _sums([site for site, _ in table], np.array([row for _, row in table]))
    value = combine((by_site.sum(axis=0) / counts.sum())[None])[0]
    # How often each site is drawn in each resample of as many sites, with replacement.
    sites = len(counts)
    random = np.random.default_rng(seed)
    drawn = random.multinomial(sites, np.full(sites, 1 / sites), size=RESAMPLES).astype(np.float64)
    resampled = combine((drawn @ by_site) / (drawn @ counts)[:, None])
    tail = (1 - CONFIDENCE) / 2
    low, high = np.quantile(resampled, [tail, 1 - tail])
    return Mean(float(value), float(low), float(high), len(table))


def worst(page_scores: Iterable[PageScore], measure: str, count: int) -> list[PageScore]:
    """Return the pages with the worst values of a measure, worst first."""
    having = [score for score in page_scores if measure in score.values]
    sign = -1 if measure in scores.SMALLER_IS_BETTER else 1
    return sorted(having, key=lambda score: (sign * score.values[measure], score.id))[:count]


def _sums(
    sites: Sequence[str], rows: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the sums of rows and the numbers of pages by site."""
    _, index, counts = np.unique(np.array(sites), return_inverse=True, return_counts=True)
    sums = np.zeros((len(counts), rows.shape[1]))
    np.add.at(sums, index, rows)
    return sums, counts.astype(np.float64)


def _ratio(means: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the first column over the sum of the others; 1 where both are 0."""
    totals = means[:, 1:].sum(axis=1)
    return np.where(totals > 0, means[:, 0] / np.where(totals > 0, totals, 1.0), 1.0)


def _f1_of_counts(means: NDArray[np.float64]) -> NDArray[np.float64]:
    return _ratio(means * np.array([2.0, 1.0, 1.0]))


# Ratios of sums, so of means: what is summed, and how the sums become the measure.
_RATIOS: dict[str, tuple[tuple[str, ...], Combine]] = {
    "mentions.precision": (("mentions.common", "mentions.found"), _ratio),
    "mentions.recall": (("mentions.common", "mentions.wanted"), _ratio),
    "mentions.f1": (("mentions.common", "mentions.found", "mentions.wanted"), _f1_of_counts),
    "mentions.count_ratio": (("mentions.count", "mentions.gold_count"), _ratio),
}
