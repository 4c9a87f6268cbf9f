"""Examples become tensors: words become numbers, pages stand side by side."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from newscrawl.extraction.block_features import MOST_HINTS, OPENING_WORDS
from newscrawl.extraction.classifier import numbered
from newscrawl.training.network.examples import Example, Vocabulary
from newscrawl.training.network.model import Batch

KNOWN_TAGS: Final = 256  # the parser's numbers of HTML's elements lie below; above: unknown ones


@dataclass(frozen=True, slots=True)
class Encoded:
    """A page in numbers: a row for each block, but `hints` and `tags` for each element."""

    values: NDArray[np.float32]
    openers: NDArray[np.int64]
    paths: NDArray[np.int64]
    words: NDArray[np.int64]
    hints: NDArray[np.int64]
    tags: NDArray[np.int64]
    known: NDArray[np.float32]
    matched: NDArray[np.float32]
    gold_words: int


@dataclass(frozen=True, slots=True)
class Targets:
    """Words of each block, those of them that are gold, and the gold words of each page.

    Where a page has no more blocks, its words are -1.
    """

    words: Tensor
    matched: Tensor
    gold_words: Tensor


class Encoder:
    """Numbers the words of a vocabulary."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._hints = numbered(vocabulary.hints)
        self._words = numbered(vocabulary.words)

    def encode(self, example: Example) -> Encoded:
        """Put one page in numbers."""
        evidence = example.evidence
        return Encoded(
            values=evidence.values.astype(np.float32),
            openers=evidence.openers,
            paths=evidence.paths,
            words=_numbers(example.openings, self._words, OPENING_WORDS + 1),
            hints=_numbers(evidence.hints, self._hints, MOST_HINTS),
            tags=np.minimum(evidence.tags, KNOWN_TAGS - 1),
            known=example.words.astype(np.float32),
            matched=example.matched.astype(np.float32),
            gold_words=max(example.gold_words, 1),
        )


def _numbers(bags: Sequence[Sequence[str]], known: dict[str, int], width: int) -> NDArray[np.int64]:
    table = np.zeros((len(bags), width), dtype=np.int64)
    for row, bag in enumerate(bags):
        numbers = [number for word in bag if (number := known.get(word))]
        table[row, : len(numbers)] = numbers
    return table


def batch(pages: Sequence[Encoded]) -> tuple[Batch, Targets]:
    """Put pages side by side, shorter ones filled up."""
    most = max(len(page.values) for page in pages)
    offsets = np.cumsum([0, *(len(page.tags) for page in pages)])
    paths = [
        np.where(page.paths > 0, page.paths + offset, 0)
        for page, offset in zip(pages, offsets[:-1], strict=True)
    ]
    known = _filled([page.known for page in pages], most, -1)
    inputs = Batch(
        values=_filled([page.values for page in pages], most),
        openers=_filled([page.openers for page in pages], most),
        hints=torch.from_numpy(np.concatenate([page.hints for page in pages])),
        tags=torch.from_numpy(np.concatenate([page.tags for page in pages])),
        paths=_filled(paths, most),
        words=_filled([page.words for page in pages], most),
        mask=(known >= 0).float(),
    )
    matched = _filled([page.matched for page in pages], most)
    gold_words = torch.tensor([page.gold_words for page in pages], dtype=torch.float32)
    return inputs, Targets(known, matched, gold_words)


def _filled(arrays: Sequence[NDArray[np.generic]], length: int, value: int = 0) -> Tensor:
    shape = (len(arrays), length, *arrays[0].shape[1:])
    table = np.full(shape, value, dtype=arrays[0].dtype)
    for row, array in enumerate(arrays):
        table[row, : len(array)] = array
    return torch.from_numpy(table)
