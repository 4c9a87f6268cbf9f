"""The combined method: a network weighs the features of all blocks of a page."""

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib.resources import as_file, files
from itertools import chain, compress, repeat
from operator import is_
from threading import Lock
from typing import Final

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import LibController, ThreadpoolController

from newscrawl.extraction.block_features import ANCESTORS_NAMED, BlockFeatures, hints_of
from newscrawl.extraction.blocks import ElementNames
from newscrawl.extraction.tokens import WordTable, number_words

FloatArray = NDArray[np.float32]

STANDARDISED_LIMIT: Final = 4.0  # ours: features are clipped at four standard deviations
NAME_CACHE_SIZE: Final = 8192  # elements of names never seen before; ours: 1 MB
DILATIONS: Final = (1, 2, 4, 8, 1)  # ours, fitted by `python -m benchmarks.recipes network`


@dataclass(frozen=True)
class Network:
    """The learned weights, and the numbers of known words; 0 is an unknown word.

    Weights of layers have a row for each member; in tables of vectors those of all members are
    side by side. Computed arrays have the members first: member, block, number.
    """

    weights: dict[str, FloatArray]
    names: "NameVectors"
    words: WordTable

    def probabilities(self, features: BlockFeatures) -> FloatArray:
        """Return for each block of a page the probability that it is content."""
        if not len(features.values):
            return np.zeros(0, dtype=np.float32)
        with _one_thread():
            return self._run(features)

    def _run(self, features: BlockFeatures) -> FloatArray:
        hidden = self._context(self._of_blocks(features))
        mean = np.add.reduce(hidden, axis=1, keepdims=True) / np.float32(hidden.shape[1])
        page_vector = (mean, np.maximum.reduce(hidden, axis=1, keepdims=True))
        page = self._relu(np.concatenate(page_vector, axis=2), "page")
        width = page.shape[2]
        weights = self.weights["out_hidden"]
        of_page = page @ weights[:, width:] + self.weights["out_hidden_bias"]
        last = np.maximum(hidden @ weights[:, :width] + of_page, 0)
        logits = self._linear(last, "out")[:, :, 0].mean(axis=0)
        return np.asarray(1 / (1 + np.exp(-logits)), dtype=np.float32)

    def _of_blocks(self, features: BlockFeatures) -> FloatArray:
        """Return a vector for each block, from its own features and the names of its ancestors."""
        weights = self.weights
        standard = features.values - weights["mean"]
        standard *= weights["scale"]
        np.maximum(standard, -STANDARDISED_LIMIT, out=standard)
        np.minimum(standard, STANDARDISED_LIMIT, out=standard)
        words = self.words.look_up(features.words)
        inputs = np.concatenate(
            (
                standard[None].repeat(self.members, axis=0),
                self._apart(_pool(words, features.word_counts, weights["word"])),
                self._apart(weights["opener"][features.openers]),
            ),
            axis=2,
            dtype=np.float32,
        )
        tags = weights["tag"][np.minimum(features.tags, len(weights["tag"]) - 1)]
        names = self.names.vectors_of(features.elements)
        elements = np.concatenate((self._apart(names), self._apart(tags)), axis=2)
        around = elements.take(features.paths, axis=1).reshape(
            self.members, len(standard), ANCESTORS_NAMED * elements.shape[2]
        )
        layers = (self._relu(inputs, "own"), self._relu(around, "around"))
        return self._relu(np.concatenate(layers, axis=2), "mix")

    @property
    def members(self) -> int:
        """Return the number of networks."""
        return len(self.weights["out"])

    def _apart(self, vectors: FloatArray) -> FloatArray:
        """Split rows of vectors of all members into rows of each of them."""
        return vectors.reshape(len(vectors), self.members, -1).transpose(1, 0, 2)

    def _context(self, hidden: FloatArray) -> FloatArray:
        """Add to each block the blocks 1, 2, 4, 8 and 1 places before and after it."""
        members, _, width = hidden.shape
        for number, step in enumerate(DILATIONS):
            weights = self.weights[f"context_{number}"].reshape(members, 3, width, width)
            parts = hidden[:, None] @ weights  # from each block to the next, itself, the last
            context = parts[:, 1]
            context[:, step:] += parts[:, 0, :-step]
            context[:, :-step] += parts[:, 2, step:]
            context += self.weights[f"context_{number}_bias"]
            np.maximum(context, 0, out=context)
            context += hidden
            hidden = context
        return hidden

    def _linear(self, values: FloatArray, name: str) -> FloatArray:
        result: FloatArray = values @ self.weights[name]
        result += self.weights[f"{name}_bias"]
        return result

    def _relu(self, values: FloatArray, name: str) -> FloatArray:
        result = self._linear(values, name)
        return np.maximum(result, 0, out=result)


@contextmanager
def _one_thread() -> Iterator[None]:
    """Run matrices in one thread: they are so small that more threads take longer."""
    libraries = [(library, library.num_threads) for library in _matrix_libraries()]
    for library, threads in libraries:
        if threads != 1:
            library.set_num_threads(1)
    try:
        yield
    finally:
        for library, threads in libraries:
            if threads != 1:
                library.set_num_threads(threads)


@cache
def _matrix_libraries() -> tuple[LibController, ...]:
    return tuple(ThreadpoolController().select(user_api="blas").lib_controllers)


def _pool(numbers: NDArray[np.int64], counts: NDArray[np.int64], table: FloatArray) -> FloatArray:
    """Return the sum of the vectors of each bag's known words over the root of their number.

    Bag i are the next `counts[i]` of `numbers`, rows of the table; row 0, that of unknown words, is
    zeros.
    """
    starts = counts.cumsum()
    starts -= counts
    if not counts.all():  # an empty bag is one of an unknown word
        numbers = np.insert(numbers, starts[counts == 0], 0)
        return _pool(numbers, np.maximum(counts, 1), table)
    pooled = np.add.reduceat(table.take(numbers, axis=0), starts, axis=0)
    measured = np.add.reduceat(numbers > 0, starts, dtype=np.float32)
    pooled /= np.sqrt(np.maximum(measured, 1))[:, None]
    return pooled


class NameVectors:
    """The vectors of elements' names: the sum of those of their known words over the root of the
    words' number. Pages name few elements in new ways, so vectors are cached."""

    def __init__(self, words: Sequence[str], table: FloatArray) -> None:
        self._numbers = rows_of_words(words)
        self._table = table
        self._rows: dict[ElementNames, int] = {}
        self._lock = Lock()  # pages may be read in several threads
        self._cached = np.zeros((NAME_CACHE_SIZE, table.shape[1]), dtype=np.float32)

    def vectors_of(self, elements: Sequence[ElementNames]) -> FloatArray:
        """Return a row for each element, by what names it."""
        if len(elements) > NAME_CACHE_SIZE:
            return self.vectors(list(map(hints_of, elements)))
        with self._lock:
            rows = list(map(self._rows.get, elements))
            if None in rows:
                new = dict.fromkeys(compress(elements, map(is_, rows, repeat(None))))
                if len(self._rows) + len(new) > NAME_CACHE_SIZE:
                    self._rows.clear()
                    new = dict.fromkeys(elements)
                first, end = len(self._rows), len(self._rows) + len(new)
                self._cached[first:end] = self.vectors(list(map(hints_of, new)))
                self._rows.update(zip(new, range(first, end), strict=True))
                rows = list(map(self._rows.get, elements))
            return self._cached.take(np.array(rows, dtype=np.int64), axis=0)

    def vectors(self, names: Sequence[tuple[str, ...]]) -> FloatArray:
        """Return a row for each element, by the words of its names."""
        counts = np.array([*map(len, names)], dtype=np.int64)
        rows = [*map(self._numbers.get, chain.from_iterable(names), repeat(0))]
        return _pool(np.array(rows, dtype=np.int64), counts, self._table)


def rows_of_words(words: Iterable[str]) -> dict[str, int]:
    """Return the rows of known words in their table of vectors; row 0 is for unknown ones."""
    return {word: number for number, word in enumerate(words, start=1)}


def word_table(words: Sequence[str]) -> WordTable:
    """Return these rows for words that are known by their numbers."""
    return WordTable(number_words(words), np.arange(1, len(words) + 1))


@cache
def load_network() -> Network:
    """Return the network in `data/combined.npz`, which `benchmarks.recipes` writes."""
    folder = files("newscrawl.extraction").joinpath("data")
    about = json.loads(folder.joinpath("combined.json").read_text("utf-8"))
    with as_file(folder.joinpath("combined.npz")) as path, np.load(path) as stored:
        weights = {name: stored[name].astype(np.float32) for name in stored.files}
    return Network(
        weights=weights,
        names=NameVectors(about["hints"], weights["hint"]),
        words=word_table(about["words"]),
    )


@cache
def _steps() -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the F1 that the network expects and the mean of what pages of unseen sites have, which
    `python -m benchmarks.recipes confidence` writes."""
    file = files("newscrawl.extraction").joinpath("data", "confidence.json")
    stored = json.loads(file.read_text("utf-8"))
    return np.array(stored["expected"]), np.array(stored["f1"])


def calibrate(expected_f1: float) -> float:
    """Return the mean F1 of pages of unseen sites of which the network expects this one."""
    return float(np.interp(expected_f1, *_steps()))


# The maximum threshold of a block's probability: balanced, for precision, and for recall (ours;
# `python -m benchmarks.recipes network --folds 5` prints the scores of each on unseen sites).
BALANCED: Final = 0.5
FOR_PRECISION: Final = 0.7
FOR_RECALL: Final = 0.3
# On fronts, lists and services the network, which was mostly trained on articles, is less certain
# (ours, fitted on pages of wcxb that aren't articles).
FOR_OTHER_PAGES: Final = 0.05


@dataclass(frozen=True, slots=True)
class Choice:
    """Which blocks are content; `confidence` is the F1 that is expected by their probabilities,
    before `calibrate`."""

    mask: NDArray[np.bool_]
    confidence: float


def combine(
    probabilities: NDArray[np.float32],
    is_title: NDArray[np.bool_],
    words: NDArray[np.int64],
    threshold: float = BALANCED,
) -> Choice:
    """Choose the blocks of a page by their probabilities; `words[i]` are the words of block i.

    Blocks below the threshold are kept if that raises the expected F1: on a page with none above
    it, the likeliest ones.
    """
    likely = np.where(is_title, 0, probabilities)
    least = _least_probability(likely, probabilities, words) * threshold / BALANCED
    top = likely[words > 0].max(initial=0)
    chosen = (likely >= min(least, top)) & (likely > 0)
    words_chosen = float(words[chosen].sum())
    certain = words * probabilities
    common = 2 * float(certain[chosen].sum())
    expected_f1 = common / (words_chosen + float(certain.sum())) if words_chosen else 0.0
    return Choice(mask=chosen, confidence=min(expected_f1, 1.0))


def _least_probability(
    likely: NDArray[np.float32], probabilities: NDArray[np.float32], words: NDArray[np.int64]
) -> float:
    """Return the probability from which blocks are kept for the highest expected F1; it is half of
    that F1 (Lipton, Elkan & Naryanaswamy 2014)."""
    if not words.any():
        return BALANCED
    order = (-likely).argsort(kind="stable")
    words_above = words[order].cumsum()
    common = (words * likely)[order].cumsum()
    expected = common / (words_above + float((words * probabilities).sum()))
    return min(float(likely[order[expected.argmax()]]), BALANCED)
