"""Train the model of kinds (newscrawl.extraction.kinds) for pages whose data hold no article."""

import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

import newscrawl.extraction
from benchmarks.scores.kinds import ARTICLE
from newscrawl.extraction.extract import parse_page
from newscrawl.extraction.kinds import KIND_FEATURES, KindModel, undeclared_features
from newscrawl.extraction.methods import METHODS
from newscrawl.training.corpus import CorpusError, GoldPage, Split, map_pages

MODEL_FILE: Final = Path(newscrawl.extraction.__file__).parent / "data" / "kinds.json"
# Ours: by what the squares of the weights of standardised features are multiplied.
PENALTY: Final = 10.0
STEPS: Final = 30  # of Newton's method, which needs ten
DIGITS: Final = 4


@dataclass(frozen=True, slots=True)
class KindExample:
    """The features of a page whose data hold no article (`kinds.undeclared_features`)."""

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
) -> list[KindExample]:
    """Return the examples of those pages whose data hold no article."""
    features = map_pages(_features_of, pages, on_page=on_page)
    return [KindExample(page, each) for page, each in zip(pages, features, strict=True) if each]


def _features_of(page: GoldPage) -> tuple[float, ...]:
    parsed = parse_page(page.html, page.url)
    paragraphs = METHODS["combined"](parsed).paragraphs
    return undeclared_features(parsed, paragraphs, page.url)


def fit_kinds(examples: Sequence[KindExample]) -> KindModel:
    """Learn the model; a site with many pages weighs as the root of their number.

    Raises:
        CorpusError: articles or other pages are missing.
    """
    is_other = np.array([not example.is_article for example in examples])
    if not len(is_other) or is_other.all() or not is_other.any():
        raise CorpusError(
            "the model of kinds needs articles and other pages that have a url and no article "
            "in their data: add some, with their page_type"
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
        slope = columns.T @ (shares * (likely - is_other)) + penalty @ weights
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
