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
from newscrawl.extraction.extract import extract_from, parse_page
from newscrawl.extraction.methods import ParsedPage
from newscrawl.items import copy_fields
from newscrawl.mentions import Companies, load_companies
from newscrawl.training import metrics
from newscrawl.training.corpus import GoldPage, map_pages
from newscrawl.training.metrics import harmonic_mean

HEADLINE_IN_TEXT = {
    "daniel": "93 % of its gold texts begin with the headline, which has no field of its own",
    "dragnet": "copied from the browser, headline first; for 60 % it is the title that we read",
    "irdata": "93 % begin with the title that we read",
}


@dataclass(frozen=True)
class TextPair:
    """A found and a gold text, as lists of words and as bags of them."""

    extracted: list[str]
    gold: list[str]
    found_bag: metrics.Bag
    gold_bag: metrics.Bag


_OVERLAPS: dict[str, Callable[[TextPair], metrics.Overlap]] = {
    "word": lambda c: metrics.occ_eval(c.found_bag, c.gold_bag),
    "voc": lambda c: metrics.voc_eval(c.found_bag, c.gold_bag),
    "shingle": lambda c: metrics.shingle_eval(c.extracted, c.gold),
    "clean": lambda c: metrics.clean_eval(c.extracted, c.gold),
}
_NUMBERS: dict[str, Callable[[TextPair], float]] = {
    "similarity": lambda c: metrics.similarity(c.found_bag, c.gold_bag),
    "kl": lambda c: metrics.kl_eval(c.found_bag, c.gold_bag),
    "euclidean": lambda c: metrics.euclidean(c.found_bag, c.gold_bag),
    "cosine": lambda c: metrics.cosine_distance(c.found_bag, c.gold_bag),
}
PHRASES = "phrases"
MEASURES = (*_NUMBERS, *_OVERLAPS, PHRASES)
DEFAULT_MEASURES = tuple(name for name in MEASURES if name != "clean")  # quadratic: on request
OVERLAP_MEASURES = tuple(_OVERLAPS)
SMALLER_IS_BETTER = frozenset({"kl", "euclidean", "cosine"})


def score_page(
    page: GoldPage, text: str, title: str | None, measures: Iterable[str] = DEFAULT_MEASURES
) -> dict[str, float]:
    """Return the value of each measure for a tool's output for a page.

    An overlap measure M gives three entries: "M.precision", "M.recall" and "M.f1".
    A measure without its gold is left out: phrases without gold phrases, all others without a gold
    text.
    """
    names = set(measures)
    result: dict[str, float] = {}
    if PHRASES in names and (page.with_ or page.without):
        result[PHRASES] = metrics.phrase_score(text, page.with_, page.without)
    if page.text is None:
        return result
    compared = compare(page, text, title)
    for name, number in _NUMBERS.items():
        if name in names:
            result[name] = number(compared)
    for name, overlap in _OVERLAPS.items():
        if name in names:
            overlaps = overlap(compared)
            result |= {
                f"{name}.precision": overlaps.precision,
                f"{name}.recall": overlaps.recall,
                f"{name}.f1": overlaps.f1,
            }
    return result


def compare(page: GoldPage, text: str, title: str | None) -> TextPair:
    """Return the words of the two texts, with or without the headline in both."""
    extracted, gold = (metrics.words(side) for side in align_headlines(page, text, title))
    return TextPair(extracted, gold, Counter(extracted), Counter(gold))


def align_headlines(page: GoldPage, text: str, title: str | None) -> tuple[str, str]:
    """Return a tool's text and the gold text, by the rule on headlines."""
    gold = page.text or ""
    if page.set in HEADLINE_IN_TEXT:
        return led_by(title, text), gold
    return without_headline(text, page.title), without_headline(gold, page.title)


def without_headline(text: str, title: str | None) -> str:
    """Return the text without its first line if that is the title."""
    title_words = metrics.words(title or "")
    first, _, body = text.lstrip().partition("\n")
    return body if title_words and metrics.words(first) == title_words else text


def gold_headline(page: GoldPage) -> str | None:
    """Return the headline that a gold text may begin with.

    In sets of `HEADLINE_IN_TEXT` it is a first line that ends without a full stop; ours, true
    of 96 % of daniel's pages.
    """
    if page.set not in HEADLINE_IN_TEXT:
        return page.title
    first, _, body = (page.text or "").strip().partition("\n")
    return first if body and not first.rstrip().endswith((".", "。")) else None


def led_by(title: str | None, text: str) -> str:
    """Return the text after the title, unless it already begins with the title."""
    headline = metrics.words(title or "")
    beginning = metrics.words(text[: 2 * len(title or "") + 100])[: len(headline)]
    return text if beginning == headline else f"{title}\n\n{text}"


MENTIONS = "mentions"


@dataclass(frozen=True, slots=True, kw_only=True)
class PageScore:
    """The scores of one method on one page. `values` are named as in score_page.

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
    measures: Sequence[str] = DEFAULT_MEASURES,
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
    start = time.perf_counter()
    parsed = parse_page(page.html, page.url)
    of_parsing = time.perf_counter() - start
    results = []
    for method in methods:
        start = time.perf_counter()
        # What one method has found of the page is found again by the next, whose time it counts in.
        fresh = ParsedPage(parsed.source, parsed.tree, parsed.metadata)
        article = extract_from(fresh, page.url, method=method)
        seconds = of_parsing + time.perf_counter() - start
        values = score_page(page, article.text, article.title, measures)
        if MENTIONS in measures and page.text is not None:
            companies, gold = (
                Counter(mention.company for mention in _companies().find(text, language=page.lang))
                for text in align_headlines(page, article.text, article.title)
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
    # The sums of rows and the numbers of pages by site.
    _, index, pages = np.unique(
        np.array([site for site, _ in table]), return_inverse=True, return_counts=True
    )
    by_site, counts = np.zeros((len(pages), len(table[0][1]))), pages.astype(np.float64)
    np.add.at(by_site, index, np.array([row for _, row in table]))
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
    sign = -1 if measure in SMALLER_IS_BETTER else 1
    return sorted(having, key=lambda score: (sign * score.values[measure], score.id))[:count]


def _ratio(means: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the first column over the sum of the others; 1 where both are 0."""
    totals = means[:, 1:].sum(axis=1)
    return np.where(totals > 0, means[:, 0] / np.where(totals > 0, totals, 1.0), 1.0)


# Ratios of sums, so of means: what is summed, and how the sums become the measure.
_RATIOS: dict[str, tuple[tuple[str, ...], Combine]] = {
    "mentions.precision": (("mentions.common", "mentions.found"), _ratio),
    "mentions.recall": (("mentions.common", "mentions.wanted"), _ratio),
    "mentions.f1": (
        ("mentions.common", "mentions.found", "mentions.wanted"),
        lambda means: _ratio(means * np.array([2.0, 1.0, 1.0])),
    ),
    "mentions.count_ratio": (("mentions.count", "mentions.gold_count"), _ratio),
}
