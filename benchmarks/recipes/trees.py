"""A decision tree and boosted trees over the features of blocks; they need the extra [train].

Ziegler & Skubacz (2007) name decision trees over the same features as the next step after
their limits (section 4.4). They are here for comparison: no method of the extractor runs them.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal, Protocol, get_args

import joblib
import lightgbm
import numpy as np
from numpy.typing import NDArray
from sklearn.tree import DecisionTreeClassifier

from benchmarks.recipes.examples import Example, ExampleScore, score_kept, sides
from newscrawl.extraction.classifier import BALANCED
from newscrawl.training.corpus import CorpusError, Split

TreesName = Literal["tree", "boosted"]
TREES: Final[tuple[TreesName, ...]] = get_args(TreesName)

# Ours, chosen without a search: deep enough to use each of the eight features once, and leaves with
# the blocks of more than one page.
DEPTH: Final = 8
LEAF_BLOCKS: Final = 50
ROUNDS: Final = 200
LEARNING_RATE: Final = 0.05

Table = NDArray[np.float32]


class Trees(Protocol):
    """Trees that were fitted."""

    def probabilities(self, table: Table) -> NDArray[np.float64]:
        """Return how likely each row of `table_of` is content."""

    def write(self, path: Path) -> None:
        """Write a file that the library of these trees reads."""


@dataclass(frozen=True, slots=True)
class DecisionTree:
    """scikit-learn's tree; its file is joblib's, which must not be read from untrusted sources."""

    model: Any

    def probabilities(self, table: Table) -> NDArray[np.float64]:
        """Return how likely each row is content."""
        return np.asarray(self.model.predict_proba(table)[:, 1], dtype=np.float64)

    def write(self, path: Path) -> None:
        """Write it as joblib does."""
        joblib.dump(self.model, path)


@dataclass(frozen=True, slots=True)
class BoostedTrees:
    """LightGBM's trees; its file is text."""

    booster: Any

    def probabilities(self, table: Table) -> NDArray[np.float64]:
        """Return how likely each row is content."""
        return np.asarray(self.booster.predict(table), dtype=np.float64)

    def write(self, path: Path) -> None:
        """Write it as LightGBM's text."""
        self.booster.save_model(path)


@dataclass(frozen=True, slots=True)
class _Rows:
    """The blocks that have words; a page's weights sum to 1, shared out by words."""

    table: Table
    content: NDArray[np.bool_]
    weights: NDArray[np.float64]


def table_of(example: Example) -> Table:
    """Return a row for each block: its features, and the number of the element that opens it."""
    features = example.block_features
    return np.column_stack([features.values, features.openers]).astype(np.float32)


def fit_trees(examples: Sequence[Example], name: TreesName, seed: int) -> Trees:
    """Learn which blocks are content: those of whose words half or more are gold.

    Raises:
        CorpusError: all blocks are content, or none is.
    """
    with_words = [(example, example.words > 0) for example in examples if example.words.any()]
    if not with_words:
        raise CorpusError("no block has words to learn from; train on more pages")
    rows = _Rows(
        table=np.concatenate([table_of(example)[some] for example, some in with_words]),
        content=np.concatenate(
            [2 * example.matched[some] >= example.words[some] for example, some in with_words]
        ),
        weights=np.concatenate(
            [example.words[some] / example.words.sum() for example, some in with_words]
        ),
    )
    if rows.content.all() or not rows.content.any():
        raise CorpusError("all training blocks have the same label; train on more pages")
    return _tree(rows, seed) if name == "tree" else _train_boosted(rows, seed)


def score_trees(examples: Sequence[Example], trees: Trees) -> list[ExampleScore]:
    """Extract the text of each page by the trees, and score it."""
    return [score_kept(example, _keep_blocks(example, trees), BALANCED) for example in examples]


def cross_validate(
    examples: Sequence[Example],
    splits: Sequence[Split],
    name: TreesName,
    seed: int,
    on_split: Callable[[], None] = lambda: None,
) -> list[ExampleScore]:
    """Train once for each split; every test page is scored by trees that were not trained on its
    site."""
    scored: list[ExampleScore] = []
    for split in splits:
        train, test = sides(examples, split)
        scored += score_trees(test, fit_trees(train, name, seed))
        on_split()
    return scored


def _keep_blocks(example: Example, trees: Trees) -> NDArray[np.bool_]:
    likely = trees.probabilities(table_of(example)) >= BALANCED
    return np.asarray(likely & ~example.block_features.is_title)


def _tree(rows: _Rows, seed: int) -> DecisionTree:
    model = DecisionTreeClassifier(max_depth=DEPTH, min_samples_leaf=LEAF_BLOCKS, random_state=seed)
    return DecisionTree(model.fit(rows.table, rows.content, sample_weight=rows.weights))


def _train_boosted(rows: _Rows, seed: int) -> BoostedTrees:
    # LightGBM's bounds on a leaf's curvature expect weights around 1.
    weights = rows.weights / rows.weights.mean()
    settings = {
        "objective": "binary",
        "learning_rate": LEARNING_RATE,
        "min_data_in_leaf": LEAF_BLOCKS,
        "seed": seed,
        "deterministic": True,
        "force_row_wise": True,
        "verbosity": -1,
    }
    data = lightgbm.Dataset(rows.table, rows.content.astype(np.int8), weight=weights)
    return BoostedTrees(lightgbm.train(settings, data, ROUNDS))
