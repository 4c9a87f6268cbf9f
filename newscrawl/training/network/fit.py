"""Train the network on labelled pages: F1 of the pages' words and cross entropy together."""

import copy
import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from newscrawl.training.network.encoding import KNOWN_TAGS, Encoded, Encoder, Targets, batch
from newscrawl.training.network.examples import Example, Vocabulary, learn_vocabulary
from newscrawl.training.network.model import BlockNetwork, Shape, Sizes


@dataclass(frozen=True, slots=True)
class Recipe:
    """How training runs. All values ours, fitted on the development corpus by folds of sites."""

    seed: int = 0
    members: int = 2  # networks that decide together, each with a seed of its own
    epochs: int = 7
    pages_at_once: int = 16
    learning_rate: float = 3e-3
    weight_decay: float = 1e-2
    most_blocks: int = 900  # longer pages cost much and teach little
    share_of_others: float = 1 / 3  # of the pages that are no articles, anew in each epoch
    set_weights: dict[str, float] = field(default_factory=lambda: {"fundus": 2.5})
    shape: Shape = field(default_factory=Shape)


@dataclass(frozen=True, slots=True)
class Fitted:
    """Trained networks, which decide together, and the words they know."""

    members: tuple[BlockNetwork, ...]
    vocabulary: Vocabulary


@dataclass(frozen=True, slots=True)
class Epoch:
    """What is told after each epoch: its number from 1, mean losses."""

    number: int
    f1_loss: float
    cross_entropy: float


def fit(
    examples: Sequence[Example], recipe: Recipe, told: Callable[[Epoch], None] = lambda _: None
) -> Fitted:
    """Train all members, one after the other."""
    torch.set_num_threads(1)  # the matrices are too small to be shared out
    vocabulary = learn_vocabulary(examples)
    encoder = Encoder(vocabulary)
    pages = [encoder.encode(example) for example in examples]
    members = []
    for number in range(recipe.members):
        own = replace(recipe, seed=recipe.seed + number)
        torch.manual_seed(own.seed)
        members.append(
            _fit_member(_new_network(examples, vocabulary, own), examples, pages, own, told)
        )
    return Fitted(tuple(members), vocabulary)


def _fit_member(
    network: BlockNetwork,
    examples: Sequence[Example],
    pages: Sequence[Encoded],
    recipe: Recipe,
    told: Callable[[Epoch], None],
) -> BlockNetwork:
    """Train a network on examples, which are `pages` in numbers.

    The result is the running mean of the weights, which varies less than the last.
    """
    chance = np.random.default_rng(recipe.seed)
    mean = copy.deepcopy(network)
    weights = _page_weights(examples, recipe)
    usable = [n for n, example in enumerate(examples) if example.blocks <= recipe.most_blocks]
    optimiser = torch.optim.AdamW(
        network.parameters(), lr=recipe.learning_rate, weight_decay=recipe.weight_decay
    )
    steps_at_most = recipe.epochs * math.ceil(len(usable) / recipe.pages_at_once)
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimiser, recipe.learning_rate, total_steps=steps_at_most, pct_start=0.2
    )
    for epoch in range(recipe.epochs):
        network.train()
        losses = []
        for chosen in _batches(examples, usable, recipe, chance):
            inputs, targets = batch([pages[n] for n in chosen])
            f1_loss, entropy = _losses(network(inputs), targets, weights[chosen])
            optimiser.zero_grad()
            torch.autograd.backward(f1_loss + entropy)
            nn.utils.clip_grad_norm_(network.parameters(), 1.0)
            optimiser.step()
            schedule.step()
            _follow(mean, network, schedule.last_epoch)
            losses.append((f1_loss.item(), entropy.item()))
        f1_mean, entropy_mean = np.mean(losses, axis=0)
        told(Epoch(epoch + 1, float(f1_mean), float(entropy_mean)))
    return mean.eval()


def _new_network(
    examples: Sequence[Example], vocabulary: Vocabulary, recipe: Recipe
) -> BlockNetwork:
    values = np.concatenate([example.evidence.values for example in examples])
    sizes = Sizes(len(vocabulary.hints) + 1, len(vocabulary.words) + 1, KNOWN_TAGS)
    mean, deviation = values.mean(axis=0), values.std(axis=0) + 1e-3
    return BlockNetwork(mean.astype(np.float32), deviation.astype(np.float32), sizes, recipe.shape)


def _page_weights(examples: Sequence[Example], recipe: Recipe) -> Tensor:
    """A site with many pages weighs more than one with a single page, but not as many times."""
    pages_of = Counter(example.page.owner for example in examples)
    return torch.tensor(
        [
            recipe.set_weights.get(example.page.set, 1.0)
            * 2
            / math.sqrt(1 + pages_of[example.page.owner])
            for example in examples
        ],
        dtype=torch.float32,
    )


def _batches(
    examples: Sequence[Example], usable: list[int], recipe: Recipe, chance: np.random.Generator
) -> Iterator[list[int]]:
    """Pages of like length together, in random order."""
    others = [n for n in usable if examples[n].page.page_type != "article"]
    some = chance.choice(others, int(len(others) * recipe.share_of_others), replace=False)
    pool = [n for n in usable if examples[n].page.page_type == "article"] + some.tolist()
    lengths = [examples[n].blocks * chance.uniform(0.7, 1.4) for n in pool]
    order = [pool[place] for place in np.argsort(lengths)]
    size = recipe.pages_at_once
    starts = list(range(0, len(order), size))
    chance.shuffle(starts)
    yield from (order[start : start + size] for start in starts)


def _losses(logits: Tensor, targets: Targets, weights: Tensor) -> tuple[Tensor, Tensor]:
    """One less the soft F1 of the pages' words, and the cross entropy weighed by words."""
    inside = (targets.words >= 0).float()
    words = targets.words.clamp(min=0)
    chosen = torch.sigmoid(logits) * inside
    common = (chosen * targets.matched).sum(1)
    f1 = 2 * common / ((chosen * words).sum(1) + targets.gold_words)
    is_gold = (targets.matched >= 0.5 * words.clamp(min=1)).float()
    share = words / targets.gold_words.unsqueeze(1)
    weight = (20 * share + 0.1).clamp(0.1, 5.0) * inside
    entropy = functional.binary_cross_entropy_with_logits(logits, is_gold, reduction="none")
    entropy = (entropy * weight).sum(1) / weight.sum(1)
    return ((1 - f1) * weights).mean(), (entropy * weights).mean()


@torch.no_grad()
def _follow(mean: nn.Module, network: nn.Module, step: int) -> None:
    keep = min(0.99, step / (step + 10))
    for own, new in zip(mean.parameters(), network.parameters(), strict=True):
        own.mul_(keep).add_(new, alpha=1 - keep)
