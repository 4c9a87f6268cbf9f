"""The network of the combined method in PyTorch: training, validation by folds, and export.

It has the arithmetic of `newscrawl.extraction.classifier`, with dropout. The loss is F1 of the
pages' words and cross entropy together.
"""

import copy
import json
import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

import newscrawl.extraction
from benchmarks.recipes.examples import (
    Example,
    ExampleScore,
    Vocabulary,
    learn_vocabulary,
    score_kept,
    sides,
)
from newscrawl.extraction.block_features import (
    ANCESTORS_NAMED,
    MAX_HINTS,
    NAMES,
    OPENERS,
    OPENING_WORDS,
)
from newscrawl.extraction.classifier import (
    BALANCED,
    DILATIONS,
    STANDARDISED_LIMIT,
    NameVectors,
    Network,
    combine,
    rows_of_words,
    word_table,
)
from newscrawl.extraction.features import VERSION
from newscrawl.training.corpus import Split


@dataclass(frozen=True, slots=True)
class Shape:
    """Sizes of the network and the share of its input that is withheld in training (ours,
    fitted)."""

    width: int = 32
    hint: int = 12
    word: int = 8
    tag: int = 6
    opener: int = 8
    dropout: float = 0.3
    names_dropout: float = 0.5  # whole elements, whole openings: sites never seen name otherwise
    page_dropout: float = 0.15  # all names of a page, all openings, its JSON-LD, its headline
    noise: float = 0.2
    neighbours: bool = True  # whether blocks see those before and after them


@dataclass(frozen=True, slots=True)
class Sizes:
    """The numbers of hints, words and tags that have vectors, 0 included."""

    hints: int
    words: int
    tags: int


@dataclass(frozen=True, slots=True)
class Batch:
    """A batch of pages, with shorter ones padded; `mask` is 1 for each block.

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
    """A module from the features of blocks to their logits of being content."""

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
        """Return logits, a row for each page."""
        if self.training:
            # The pages, some without all names, openings, JSON-LD or the headline, whose columns
            # then have the values of a page without them.
            pages, blocks = batch.mask.shape
            names, words, data, headline = torch.rand(4, pages, 1, 1) < self.shape.page_dropout
            values = batch.values.masked_fill(data & torch.tensor(_OF_DATA), 0)
            without = values.masked_fill(torch.tensor(_OF_HEADLINE), 0)
            without[..., _AFTER_HEADLINE] = 1
            without[..., _FROM_HEADLINE] = torch.arange(1, blocks + 1).clamp(max=50) / 10
            batch = replace(
                batch,
                values=torch.where(headline, without, values),
                paths=batch.paths.masked_fill(names, 0),
                words=batch.words.masked_fill(words, 0),
            )
        mask = batch.mask.unsqueeze(2)
        layers = (
            functional.relu(self.own(self._own_vectors(batch))),
            functional.relu(self.around(self._surrounding_vectors(batch))),
        )
        hidden = functional.relu(self.mix(self.drop(torch.cat(layers, 2)))) * mask
        for layer, step in zip(self.context, DILATIONS, strict=False):
            dropped = self.drop(hidden)
            padded = functional.pad(dropped, (0, 0, step, step))
            places = (padded[:, : -2 * step], dropped, padded[:, 2 * step :])
            hidden = (hidden + functional.relu(layer(torch.cat(places, 2)))) * mask
        mean = hidden.sum(1) / mask.sum(1)
        largest = (hidden - 1e4 * (1 - mask)).max(1).values
        page = functional.relu(self.page(torch.cat((mean, largest), 1)))
        page = page.unsqueeze(1).expand(-1, hidden.shape[1], -1)
        last = functional.relu(self.out_hidden(self.drop(torch.cat((hidden, page), 2))))
        logits: Tensor = self.out(last).squeeze(2)
        return logits

    def _own_vectors(self, batch: Batch) -> Tensor:
        standard = (batch.values - self.mean) / self.deviation
        standard = standard.clamp(-STANDARDISED_LIMIT, STANDARDISED_LIMIT)
        sizes = (batch.words > 0).sum(2, keepdim=True).clamp(min=1).sqrt()
        words = self.word(batch.words.flatten(0, 1)).view(*batch.words.shape[:2], -1) / sizes
        if self.training:
            standard = standard + self.shape.noise * torch.randn_like(standard)
            words = words * self._dropout_mask(words.shape[0], words.shape[1], 1)
        return torch.cat((standard, words, self.opener(batch.openers)), 2)

    def _surrounding_vectors(self, batch: Batch) -> Tensor:
        sizes = (batch.hints > 0).sum(1, keepdim=True).clamp(min=1).sqrt()
        elements = torch.cat((self.hint(batch.hints) / sizes, self.tag(batch.tags)), 1)
        if self.training:
            elements = elements * self._dropout_mask(elements.shape[0], 1)
        return functional.embedding(batch.paths, elements).flatten(2)

    def _dropout_mask(self, *shape: int) -> Tensor:
        return torch.rand(*shape) > self.shape.names_dropout


_OF_DATA: Final = tuple(name in ("has_data", "data_begins", "data_ends") for name in NAMES)
_OF_HEADLINE: Final = tuple(name in ("has_headline", "is_title") for name in NAMES)
_AFTER_HEADLINE: Final = NAMES.index("after_headline")
_FROM_HEADLINE: Final = NAMES.index("from_headline")
KNOWN_TAGS: Final = 256  # the parser's numbers of HTML's elements lie below; above: unknown ones


@dataclass(frozen=True, slots=True)
class EncodedPage:
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
        self._hints = rows_of_words(vocabulary.hints)
        self._words = rows_of_words(vocabulary.words)

    def encode(self, example: Example) -> EncodedPage:
        """Put one page in numbers."""
        features = example.block_features
        return EncodedPage(
            values=features.values.astype(np.float32),
            openers=features.openers,
            paths=features.paths,
            words=_numbers(example.openings, self._words, OPENING_WORDS + 1),
            hints=_numbers(features.hints, self._hints, MAX_HINTS),
            tags=np.minimum(features.tags, KNOWN_TAGS - 1),
            known=example.words.astype(np.float32),
            matched=example.matched.astype(np.float32),
            gold_words=max(example.gold_words, 1),
        )


def _numbers(
    bags: Sequence[Sequence[str]], number_of: dict[str, int], width: int
) -> NDArray[np.int64]:
    table = np.zeros((len(bags), width), dtype=np.int64)
    for row, bag in enumerate(bags):
        numbers = [number for word in bag if (number := number_of.get(word))]
        table[row, : len(numbers)] = numbers
    return table


def batch(pages: Sequence[EncodedPage]) -> tuple[Batch, Targets]:
    """Join pages to a batch, with shorter ones padded."""
    most = max(len(page.values) for page in pages)
    offsets = np.cumsum([0, *(len(page.tags) for page in pages)])
    paths = [
        np.where(page.paths > 0, page.paths + offset, 0)
        for page, offset in zip(pages, offsets[:-1], strict=True)
    ]
    known = _pad([page.known for page in pages], most, -1)
    inputs = Batch(
        values=_pad([page.values for page in pages], most),
        openers=_pad([page.openers for page in pages], most),
        hints=torch.from_numpy(np.concatenate([page.hints for page in pages])),
        tags=torch.from_numpy(np.concatenate([page.tags for page in pages])),
        paths=_pad(paths, most),
        words=_pad([page.words for page in pages], most),
        mask=(known >= 0).float(),
    )
    matched = _pad([page.matched for page in pages], most)
    gold_words = torch.tensor([page.gold_words for page in pages], dtype=torch.float32)
    return inputs, Targets(known, matched, gold_words)


def _pad(arrays: Sequence[NDArray[np.generic]], length: int, value: int = 0) -> Tensor:
    shape = (len(arrays), length, *arrays[0].shape[1:])
    table = np.full(shape, value, dtype=arrays[0].dtype)
    for row, array in enumerate(arrays):
        table[row, : len(array)] = array
    return torch.from_numpy(table)


@dataclass(frozen=True, slots=True)
class NetworkSettings:
    """How training runs. All values ours, fitted on the development corpus by folds of sites."""

    seed: int = 0
    members: int = 2  # networks that decide together, each with a seed of its own
    epochs: int = 7
    pages_at_once: int = 16
    learning_rate: float = 3e-3
    weight_decay: float = 1e-2
    max_blocks: int = 900  # longer pages take much time and improve little
    share_of_others: float = 1 / 3  # of the pages that are not articles, drawn in each epoch
    set_weights: dict[str, float] = field(default_factory=lambda: {"fundus": 2.5})
    shape: Shape = field(default_factory=Shape)


@dataclass(frozen=True, slots=True)
class TrainedNetworks:
    """Trained networks, whose results are averaged, and their known words."""

    members: tuple[BlockNetwork, ...]
    vocabulary: Vocabulary
    provenance: dict[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Epoch:
    """The number of an epoch, from 1, and its mean losses."""

    number: int
    f1_loss: float
    cross_entropy: float


def fit(
    examples: Sequence[Example],
    settings: NetworkSettings,
    on_epoch: Callable[[Epoch], None] = lambda _: None,
) -> TrainedNetworks:
    """Train all members, one after the other."""
    torch.set_num_threads(1)  # the matrices are too small to be shared out
    vocabulary = learn_vocabulary(examples)
    encoder = Encoder(vocabulary)
    pages = [encoder.encode(example) for example in examples]
    members = []
    for number in range(settings.members):
        member_settings = replace(settings, seed=settings.seed + number)
        torch.manual_seed(member_settings.seed)
        network = _new_network(examples, vocabulary, member_settings)
        members.append(_fit_member(network, examples, pages, member_settings, on_epoch))
    return TrainedNetworks(tuple(members), vocabulary)


def _fit_member(
    network: BlockNetwork,
    examples: Sequence[Example],
    pages: Sequence[EncodedPage],
    settings: NetworkSettings,
    on_epoch: Callable[[Epoch], None],
) -> BlockNetwork:
    """Train a network on examples, which are `pages` in numbers.

    The result is the running mean of the weights, which varies less than the last.
    """
    chance = np.random.default_rng(settings.seed)
    mean = copy.deepcopy(network)
    weights = _page_weights(examples, settings)
    usable = [n for n, example in enumerate(examples) if example.blocks <= settings.max_blocks]
    optimiser = torch.optim.AdamW(
        network.parameters(), lr=settings.learning_rate, weight_decay=settings.weight_decay
    )
    steps_at_most = settings.epochs * math.ceil(len(usable) / settings.pages_at_once)
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimiser, settings.learning_rate, total_steps=steps_at_most, pct_start=0.2
    )
    for epoch in range(settings.epochs):
        network.train()
        losses = []
        for chosen in _batches(examples, usable, settings, chance):
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
        on_epoch(Epoch(epoch + 1, float(f1_mean), float(entropy_mean)))
    return mean.eval()


def _new_network(
    examples: Sequence[Example], vocabulary: Vocabulary, settings: NetworkSettings
) -> BlockNetwork:
    values = np.concatenate([example.block_features.values for example in examples])
    sizes = Sizes(len(vocabulary.hints) + 1, len(vocabulary.words) + 1, KNOWN_TAGS)
    mean, deviation = values.mean(axis=0), values.std(axis=0) + 1e-3
    return BlockNetwork(
        mean.astype(np.float32), deviation.astype(np.float32), sizes, settings.shape
    )


def _page_weights(examples: Sequence[Example], settings: NetworkSettings) -> Tensor:
    """Return the weights of pages: a site weighs as the square root of the number of its pages."""
    pages_of = Counter(example.page.owner for example in examples)
    return torch.tensor(
        [
            settings.set_weights.get(example.page.set, 1.0)
            * 2
            / math.sqrt(1 + pages_of[example.page.owner])
            for example in examples
        ],
        dtype=torch.float32,
    )


def _batches(
    examples: Sequence[Example],
    usable: list[int],
    settings: NetworkSettings,
    chance: np.random.Generator,
) -> Iterator[list[int]]:
    """Yield pages of similar length together, in random order."""
    not_articles = [n for n in usable if examples[n].page.page_type != "article"]
    few = chance.choice(
        not_articles, int(len(not_articles) * settings.share_of_others), replace=False
    )
    pool = [*sorted(set(usable).difference(not_articles)), *few.tolist()]
    lengths = [examples[n].blocks * chance.uniform(0.7, 1.4) for n in pool]
    order = [pool[place] for place in np.argsort(lengths)]
    size = settings.pages_at_once
    starts = list(range(0, len(order), size))
    chance.shuffle(starts)
    yield from (order[start : start + size] for start in starts)


def _losses(logits: Tensor, targets: Targets, weights: Tensor) -> tuple[Tensor, Tensor]:
    """Return one minus the soft F1 of the pages' words, and the cross entropy weighed by words."""
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
    for average, new in zip(mean.parameters(), network.parameters(), strict=True):
        average.mul_(keep).add_(new, alpha=1 - keep)


DATA_FOLDER = Path(newscrawl.extraction.__file__).parent / "data"
_LINEAR = ("own", "around", "mix", "page", "out_hidden", "out")
_TABLES = ("hint", "word", "tag", "opener")


def as_runtime(fitted: TrainedNetworks) -> Network:
    """Return the networks as the extractor runs them, with the file's half-precision weights."""
    each = [_weights(member) for member in fitted.members]
    weights = {"mean": each[0]["mean"], "scale": each[0]["scale"]}  # of the pages, so of all
    weights |= {name: np.concatenate([one[name] for one in each], axis=1) for name in _TABLES}
    layers = each[0].keys() - weights.keys()
    weights |= {name: np.stack([one[name] for one in each]) for name in sorted(layers)}
    halved = {
        name: np.ascontiguousarray(array, dtype=np.float16).astype(np.float32)
        for name, array in weights.items()
    }
    return Network(
        weights=halved,
        names=NameVectors(fitted.vocabulary.hints, halved["hint"]),
        words=word_table(fitted.vocabulary.words),
    )


def _weights(network: BlockNetwork) -> dict[str, NDArray[np.float32]]:
    """Return a network's weights by our names; those of a layer have a row for each input."""
    state = {name: tensor.numpy() for name, tensor in network.state_dict().items()}
    weights = {"mean": state["mean"], "scale": 1 / state["deviation"]}
    weights |= {name: state[f"{name}.weight"] for name in _TABLES}
    for name in _LINEAR:
        weights[name] = state[f"{name}.weight"].T
        weights[f"{name}_bias"] = state[f"{name}.bias"][None]
    width = network.shape.width
    silent = {"weight": np.zeros((width, 3 * width)), "bias": np.zeros(width)}  # adds nothing
    for number in range(len(DILATIONS)):
        layer = {part: state.get(f"context.{number}.{part}", silent[part]) for part in silent}
        weights[f"context_{number}"] = layer["weight"].T
        weights[f"context_{number}_bias"] = layer["bias"][None]
    return weights


def write(
    fitted: TrainedNetworks, folder: Path, names: Sequence[str], provenance: dict[str, object]
) -> None:
    """Write `combined.npz` and `combined.json` into a folder; `names` are those of the features."""
    folder.mkdir(parents=True, exist_ok=True)
    network = as_runtime(fitted)
    arrays = {name: array.astype(np.float16) for name, array in network.weights.items()}
    np.savez_compressed(folder / "combined.npz", allow_pickle=False, **arrays)
    about = {
        "provenance": provenance | {"feature_version": VERSION},
        "evidence": list(names),
        "hints": list(fitted.vocabulary.hints),
        "words": list(fitted.vocabulary.words),
    }
    text = json.dumps(about, ensure_ascii=False, indent=0)
    (folder / "combined.json").write_text(text + "\n", encoding="utf-8")


def read(folder: Path = DATA_FOLDER) -> TrainedNetworks:
    """Return the networks that `write` wrote into a folder, to be trained further."""
    about = json.loads((folder / "combined.json").read_text(encoding="utf-8"))
    with np.load(folder / "combined.npz") as stored:
        weights = {name: torch.from_numpy(stored[name].astype(np.float32)) for name in stored.files}
    vocabulary = Vocabulary(tuple(about["hints"]), tuple(about["words"]))
    count = len(weights["own"])
    members = tuple(_member(weights, number, count) for number in range(count))
    return TrainedNetworks(members, vocabulary, about["provenance"])


def _member(weights: dict[str, Tensor], number: int, count: int) -> BlockNetwork:
    """Return one of the networks of a file, of which `_weights` are the inverse."""
    state = {f"{name}.weight": weights[name].chunk(count, dim=1)[number] for name in _TABLES}
    contexts = (f"context_{step}" for step in range(len(DILATIONS)))
    for name in (*_LINEAR, *contexts):
        place = name.replace("_", ".") if name.startswith("context") else name
        state[f"{place}.weight"] = weights[name][number].T
        state[f"{place}.bias"] = weights[f"{name}_bias"][number][0]
    hint, word, tag, opener = (state[f"{name}.weight"].shape[1] for name in _TABLES)
    width = len(state["out_hidden.bias"])
    network = BlockNetwork(
        weights["mean"].numpy(),
        1 / weights["scale"].numpy(),
        Sizes(*(len(weights[name]) for name in _TABLES[:3])),
        Shape(width=width, hint=hint, word=word, tag=tag, opener=opener, page_dropout=0),
    )
    network.load_state_dict(
        state | {name: getattr(network, name) for name in ("mean", "deviation")}
    )
    return network


def settings_of_archives(seed: int = 0, epochs: int | None = None) -> NetworkSettings:
    """Return how networks are trained further: few small steps, so that the weights change little
    (ours, fitted on the pages of the development corpus that state their text)."""
    return NetworkSettings(seed=seed, epochs=epochs or 3, learning_rate=3e-4, set_weights={})


def fit_further(
    fitted: TrainedNetworks,
    examples: Sequence[Example],
    settings: NetworkSettings,
    on_epoch: Callable[[Epoch], None] = lambda _: None,
) -> TrainedNetworks:
    """Train networks further on other pages, with the words that they know."""
    torch.set_num_threads(1)
    encoder = Encoder(fitted.vocabulary)
    pages = [encoder.encode(example) for example in examples]
    members = []
    for number, member in enumerate(fitted.members):
        member_settings = replace(settings, seed=settings.seed + number)
        torch.manual_seed(member_settings.seed)
        members.append(
            _fit_member(copy.deepcopy(member), examples, pages, member_settings, on_epoch)
        )
    return TrainedNetworks(tuple(members), fitted.vocabulary)


@dataclass(frozen=True, slots=True)
class ScoreComparison:
    """Scores of the same pages, of sites not trained on, before and after more training; `fitted`
    is the last of the networks that were trained further."""

    before: list[ExampleScore]
    after: list[ExampleScore]
    fitted: TrainedNetworks

    @property
    def gain(self) -> float:
        """Return the difference of the mean word F1."""
        before, after = (
            sum(each.values["word.f1"] for each in scored) for scored in (self.before, self.after)
        )
        return (after - before) / len(self.before)


def compare_further(
    fitted: TrainedNetworks,
    examples: Sequence[Example],
    splits: Sequence[Split],
    settings: NetworkSettings,
    on_epoch: Callable[[Epoch], None] = lambda _: None,
) -> ScoreComparison:
    """Train networks further on each split's training sites, and score its other pages."""
    before: list[ExampleScore] = []
    after: list[ExampleScore] = []
    old, new = as_runtime(fitted), fitted
    for split in splits:
        train, test = sides(examples, split)
        new = fit_further(fitted, train, settings, on_epoch)
        runtime = as_runtime(new)
        before += [score(example, old, BALANCED) for example in test]
        after += [score(example, runtime, BALANCED) for example in test]
    return ScoreComparison(before, after, new)


def cross_validate(
    examples: Sequence[Example],
    splits: Sequence[Split],
    settings: NetworkSettings,
    thresholds: Sequence[float],
    on_epoch: Callable[[Epoch], None] = lambda _: None,
) -> list[ExampleScore]:
    """Train on each split's training sites and score its other pages as the extractor would."""
    scored: list[ExampleScore] = []
    for split in splits:
        train, test = sides(examples, split)
        network = as_runtime(fit(train, settings, on_epoch))
        for threshold in thresholds:
            scored += [score(example, network, threshold) for example in test]
    return scored


def score(example: Example, network: Network, threshold: float) -> ExampleScore:
    """Extract the text of a page by a network, and score it."""
    features = example.block_features
    choice = combine(network.probabilities(features), features.is_title, example.words, threshold)
    return score_kept(example, choice.mask, threshold)
