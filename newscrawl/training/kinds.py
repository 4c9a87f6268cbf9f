"""Kinds of pages: count the detected kinds of labelled pages, and train the model for pages that
declare nothing."""

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, get_args

import numpy as np

import newscrawl.extraction
from newscrawl.cluster import Workers
from newscrawl.extraction.extract import extract
from newscrawl.extraction.kinds import KIND_FEATURES, KindModel, undeclared_features
from newscrawl.extraction.methods import METHODS, parse_page
from newscrawl.items import Kind
from newscrawl.reading import NOT_ARTICLES
from newscrawl.training.corpus import CorpusError, GoldPage, Split, map_pages

KINDS: Final[tuple[Kind, ...]] = get_args(Kind)
ARTICLE: Final = "article"
ALL_OTHERS: Final = "all others"


@dataclass(frozen=True, slots=True)
class TypeScore:
    """The numbers of pages of a type (`GoldPage.page_type`) by detected kind."""

    page_type: str
    kinds: Counter[Kind]

    @property
    def pages(self) -> int:
        """Return the number of pages of the type."""
        return self.kinds.total()

    @property
    def stored(self) -> float:
        """Return the share of pages that a crawl stores, or whose teaser it looks for."""
        dropped = sum(self.kinds[kind] for kind in NOT_ARTICLES)
        return 1 - dropped / self.pages


def score_kinds(
    pages: Sequence[GoldPage],
    on_page: Callable[[], None] = lambda: None,
    workers: Workers | None = None,
) -> list[TypeScore]:
    """Return a row for each type, articles first, the others by name, and one for all others."""
    kinds = map_pages(kind_of, pages, workers=workers, on_page=on_page)
    return by_type(zip((page.page_type for page in pages), kinds, strict=True))


def kind_of(page: GoldPage) -> Kind:
    """Return the kind of a page, as in a crawl."""
    return extract(page.html, page.url).kind


def by_type(decided: Iterable[tuple[str, Kind]]) -> list[TypeScore]:
    """Count pairs of type and kind."""
    counts: dict[str, Counter[Kind]] = defaultdict(Counter)
    for page_type, kind in decided:
        counts[page_type][kind] += 1
    names = sorted(counts, key=lambda name: (name != ARTICLE, name))
    others = [name for name in names if name != ARTICLE]
    scores = [TypeScore(name, counts[name]) for name in names]
    if len(others) > 1:
        total = sum((counts[name] for name in others), Counter[Kind]())
        scores.append(TypeScore(ALL_OTHERS, total))
    return scores


# --- Learning -------------------------------------------------------------------------------------

MODEL_FILE: Final = Path(newscrawl.extraction.__file__).parent / "data" / "kinds.json"
# Ours: by what the squares of the weights of standardised features are multiplied.
PENALTY: Final = 5.0
STEPS: Final = 30  # of Newton's method, which needs ten
DIGITS: Final = 4


@dataclass(frozen=True, slots=True)
class KindExample:
    """The features of a page that declares nothing (`kinds.undeclared_features`)."""

    page: GoldPage
    features: tuple[float, ...]

    @property
    def is_article(self) -> bool:
        """Return whether its label is that of an article."""
        return self.page.page_type == ARTICLE


@dataclass(frozen=True, slots=True)
class PageRejection:
    """A page, and whether a model that has not seen its site rejects it at a probability."""

    page: GoldPage
    least: float
    rejected: bool


def read_kind_examples(
    pages: Sequence[GoldPage],
    on_page: Callable[[], None] = lambda: None,
    workers: Workers | None = None,
) -> list[KindExample]:
    """Return the examples of those pages that declare nothing."""
    features = map_pages(_features_of, pages, workers=workers, on_page=on_page)
    return [KindExample(page, each) for page, each in zip(pages, features, strict=True) if each]


def _features_of(page: GoldPage) -> tuple[float, ...]:
    parsed = parse_page(page.html, page.url)
    return undeclared_features(parsed, METHODS["combined"](parsed).paragraphs, page.url)


def fit_kinds(examples: Sequence[KindExample]) -> KindModel:
    """Learn the model; a site with many pages weighs as the root of their number.

    Raises:
        CorpusError: articles or other pages are missing.
    """
    others = np.array([not example.is_article for example in examples])
    if not len(others) or others.all() or not others.any():
        raise CorpusError(
            "the model of kinds needs articles and other pages that have a url and declare no "
            "article: add some, with their page_type"
        )
    pages_of = Counter(example.page.owner for example in examples)
    shares = np.array([pages_of[example.page.owner] ** -0.5 for example in examples])
    raw = np.array([example.features for example in examples])
    mean, deviation = raw.mean(axis=0), np.maximum(raw.std(axis=0), 1e-6)
    columns = np.column_stack(((raw - mean) / deviation, np.ones(len(raw))))
    penalty = np.diag([PENALTY] * raw.shape[1] + [0.0])
    weights = np.zeros(columns.shape[1])
    for _ in range(STEPS):
        likely = 1 / (1 + np.exp(-(columns @ weights)))
        slope = columns.T @ (shares * (likely - others)) + penalty @ weights
        curve = (columns.T * (shares * likely * (1 - likely))) @ columns + penalty
        weights = weights - np.linalg.solve(curve, slope)
    learned = weights[:-1] / deviation
    bias = float(weights[-1] - learned @ mean)
    return KindModel(tuple(np.round(learned, DIGITS).tolist()), round(bias, DIGITS))


def cross_validate_kinds(
    examples: Sequence[KindExample], splits: Sequence[Split], probabilities: Sequence[float]
) -> list[PageRejection]:
    """Score each page by a model that was learned without its site."""
    rejected = []
    for split in splits:
        train, test = frozenset(split.train), frozenset(split.test)
        model = fit_kinds([example for example in examples if example.page in train])
        for example in examples:
            if example.page in test:
                rejected += [
                    PageRejection(example.page, least, model.rejects(example.features, least))
                    for least in probabilities
                ]
    return rejected


def write_kinds(model: KindModel, path: Path, provenance: dict[str, object]) -> None:
    """Write the model with its provenance."""
    weights = dict(zip(KIND_FEATURES, model.weights, strict=True))
    stored = {"provenance": provenance, "weights": weights, "bias": model.bias}
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(stored, indent=1) + "\n", encoding="utf-8")
