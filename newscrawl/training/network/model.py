"""The network in PyTorch: the arithmetic of `newscrawl.extraction.classifier`, with dropout."""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from newscrawl.extraction.block_features import ANCESTORS_NAMED, OPENERS
from newscrawl.extraction.classifier import DILATIONS, STANDARDISED_LIMIT


@dataclass(frozen=True, slots=True)
class Shape:
    """Sizes of the network and how much of its input is withheld in training (ours, fitted)."""

    width: int = 32
    hint: int = 12
    word: int = 8
    tag: int = 6
    opener: int = 8
    dropout: float = 0.3
    names_dropout: float = 0.5  # whole elements, whole openings: sites never seen name otherwise
    noise: float = 0.2
    neighbours: bool = True  # whether blocks see those before and after them


@dataclass(frozen=True, slots=True)
class Sizes:
    """How many hints, words and tags there are vectors for, 0 included."""

    hints: int
    words: int
    tags: int


@dataclass(frozen=True, slots=True)
class Batch:
    """Pages side by side, shorter ones filled up; `mask` is 1 where a block is.

    `paths` index the rows of `hints` and `tags`, which hold the elements of all pages.
    """

    values: Tensor
    openers: Tensor
    hints: Tensor
    tags: Tensor
    paths: Tensor
    words: Tensor
    mask: Tensor


class BlockNetwork(nn.Module):
    """Evidence of the blocks of pages in, logits of being content out."""

    def __init__(
        self, mean: NDArray[np.float32], deviation: NDArray[np.float32], sizes: Sizes, shape: Shape
    ) -> None:
        super().__init__()
        self.shape = shape
        self.register_buffer("mean", torch.from_numpy(mean))
        self.register_buffer("deviation", torch.from_numpy(deviation))
        self.hint = nn.EmbeddingBag(sizes.hints, shape.hint, padding_idx=0, mode="sum")
        self.word = nn.EmbeddingBag(sizes.words, shape.word, padding_idx=0, mode="sum")
        self.tag = nn.Embedding(sizes.tags, shape.tag, padding_idx=0)
        self.opener = nn.Embedding(len(OPENERS) + 1, shape.opener)
        for table in (self.hint, self.word, self.tag):
            nn.init.normal_(table.weight, std=0.1)
            table.weight.data[0] = 0
        width = shape.width
        self.own = nn.Linear(len(mean) + shape.word + shape.opener, width)
        self.around = nn.Linear(ANCESTORS_NAMED * (shape.hint + shape.tag), width)
        self.mix = nn.Linear(2 * width, width)
        self.context = nn.ModuleList(
            [nn.Linear(3 * width, width) for _ in DILATIONS if shape.neighbours]
        )
        self.page = nn.Linear(2 * width, width)
        self.out_hidden = nn.Linear(2 * width, width)
        self.out = nn.Linear(width, 1)
        self.drop = nn.Dropout(shape.dropout)

    def forward(self, batch: Batch) -> Tensor:
        """Logits, a row a page."""
        mask = batch.mask.unsqueeze(2)
        both = (
            functional.relu(self.own(self._own(batch))),
            functional.relu(self.around(self._around(batch))),
        )
        hidden = functional.relu(self.mix(self.drop(torch.cat(both, 2)))) * mask
        for layer, step in zip(self.context, DILATIONS, strict=False):
            seen = self.drop(hidden)
            padded = functional.pad(seen, (0, 0, step, step))
            places = (padded[:, : -2 * step], seen, padded[:, 2 * step :])
            hidden = (hidden + functional.relu(layer(torch.cat(places, 2)))) * mask
        mean = hidden.sum(1) / mask.sum(1)
        largest = (hidden - 1e4 * (1 - mask)).max(1).values
        page = functional.relu(self.page(torch.cat((mean, largest), 1)))
        page = page.unsqueeze(1).expand(-1, hidden.shape[1], -1)
        last = functional.relu(self.out_hidden(self.drop(torch.cat((hidden, page), 2))))
        logits: Tensor = self.out(last).squeeze(2)
        return logits

    def _own(self, batch: Batch) -> Tensor:
        standard = (batch.values - self.mean) / self.deviation
        standard = standard.clamp(-STANDARDISED_LIMIT, STANDARDISED_LIMIT)
        sizes = (batch.words > 0).sum(2, keepdim=True).clamp(min=1).sqrt()
        words = self.word(batch.words.flatten(0, 1)).view(*batch.words.shape[:2], -1) / sizes
        if self.training:
            standard = standard + self.shape.noise * torch.randn_like(standard)
            words = words * self._kept(words.shape[0], words.shape[1], 1)
        return torch.cat((standard, words, self.opener(batch.openers)), 2)

    def _around(self, batch: Batch) -> Tensor:
        sizes = (batch.hints > 0).sum(1, keepdim=True).clamp(min=1).sqrt()
        elements = torch.cat((self.hint(batch.hints) / sizes, self.tag(batch.tags)), 1)
        if self.training:
            elements = elements * self._kept(elements.shape[0], 1)
        return functional.embedding(batch.paths, elements).flatten(2)

    def _kept(self, *shape: int) -> Tensor:
        return torch.rand(*shape) > self.shape.names_dropout
