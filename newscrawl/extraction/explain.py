"""Explain the extraction of a page: its blocks, their features against the limits, the tag ratios
of its lines, the text of each method, and the features that moved the network.

The reasons of the network are found by leaving features out (occlusion): it is run again with one
kind of feature set to its mean for all blocks of the page, and the change of a block's log-odds is
the weight of that kind. That is crude, since features are correlated, but describes the network
itself.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from newscrawl.extraction import cetr, features
from newscrawl.extraction.block_features import OPENERS, BlockFeatures
from newscrawl.extraction.blocks import clean
from newscrawl.extraction.classifier import Network, load_network
from newscrawl.extraction.extract import Clock, extract, extract_from, parse_page
from newscrawl.extraction.metadata.reader import Metadata
from newscrawl.extraction.methods import METHODS, ParsedPage, rule_of_no_text
from newscrawl.extraction.tokens import count
from newscrawl.items import Article

# Methods that choose among blocks or lines; the baselines take everything.
CHOOSING_METHODS: Final = tuple(name for name in METHODS if name not in {"pr", "tb"})
# Ours: words in a row, and the share of a block's shingles that a text must contain to include the
# block.
SHINGLE_LENGTH: Final = 4
TAKEN_SHARE: Final = 0.5

# Kinds of features as a person would name them, by the names of their columns; a name that ends in
# "_" means all that begin with it.
KINDS: Final[Mapping[str, tuple[str, ...]]] = {
    "length": ("words", "unlinked_words", "chars"),
    "sentences": ("sentence_length", "sentences", "commas", "quotes", "ends_sentence",
                  "ends_colon"),
    "characters": ("characters", "capitals", "digits", "separators", "others", "word_length"),
    "stop words": ("stop_words", "stop_words_of_page"),
    "links": ("anchors", "link_share_"),
    "tags inside": ("formats", "lists", "structure", "after_break", "images"),
    "tag ratio": ("tags", "ratio", "smoothed", "smoothed_over_deviation", "derivative"),
    "prose around": ("depth", "prose_share_", "prose_per_block_", "blocks_", "same_place",
                     "same_parent"),
    "landmark": ("in_",),
    "place": ("place", "words_before"),
    "menus beside": ("left_out_",),
    "JSON-LD": ("has_data", "data_"),
    "headline": ("is_title", "from_headline", "after_headline", "has_headline"),
    "repetition": ("repeated",),
    "page": ("page_words", "page_blocks", "page_unlinked_share"),
}  # fmt: skip
NAMES, OPENING = "class names", "first words"  # of elements around the block; of the block itself
IN_MENU = "run of short links"  # why a block is not a candidate
MAX_REASONS: Final = 3
MIN_MOVE: Final = 0.5  # of the log-odds: a smaller move isn't shown
MAX_LOG_ODDS: Final = 12.0  # log-odds are cut here: beyond, a probability is 0 or 1


@dataclass(frozen=True, slots=True)
class FeatureReading:
    """A feature of a block and its limit; `upper` if the value may not exceed it."""

    name: str
    value: float
    limit: float
    upper: bool

    @property
    def holds(self) -> bool:
        """Return whether the value is within the limit."""
        return self.value <= self.limit if self.upper else self.value >= self.limit


@dataclass(frozen=True, slots=True)
class Reason:
    """A kind of feature and by how much it raised the block's log-odds."""

    kind: str
    move: float


@dataclass(frozen=True, slots=True)
class BlockReading:
    """A block in the order of the page; `taken_by` are the methods that kept it, `probability` and
    `reasons` come from the network of the combined method."""

    number: int
    text: str
    words: int
    probability: float
    reasons: tuple[Reason, ...]
    readings: tuple[FeatureReading, ...]
    taken_by: frozenset[str]

    @property
    def failed(self) -> tuple[FeatureReading, ...]:
        """Return the features beyond their limits."""
        return tuple(reading for reading in self.readings if not reading.holds)


@dataclass(frozen=True, slots=True)
class MethodReading:
    """The text of a method: its words, and its similarity to the explained method's (F1 of
    words)."""

    name: str
    words: int
    confidence: float
    similarity: float


@dataclass(frozen=True, slots=True)
class LineReading:
    """A line of the page's source as CETR sees it."""

    smoothed: float
    is_content: bool


@dataclass(frozen=True, slots=True)
class Explanation:
    """Everything that the page of `newscrawl explain` shows."""

    article: Article
    size: int
    blocks: tuple[BlockReading, ...]
    methods: tuple[MethodReading, ...]
    lines: tuple[LineReading, ...]
    metadata: Metadata = field(default_factory=Metadata)


def explain(
    html: bytes, url: str | None = None, *, encoding: str | None = None, method: str = "combined"
) -> Explanation:
    """Extract the article of a page by every method and explain the choice of one. Raise ValueError
    for an unknown method; no page raises."""
    articles = {
        name: extract(html, url, encoding=encoding, method=name) for name in {*METHODS, method}
    }
    page = parse_page(html, url, encoding=encoding)
    return Explanation(
        article=articles[method],
        size=len(html),
        blocks=tuple(_blocks(page, articles)),
        methods=tuple(_methods(articles, method)),
        lines=tuple(_lines(page.source)),
        metadata=page.metadata,
    )


def times(
    html: bytes, url: str | None = None, *, encoding: str | None = None, method: str = "combined"
) -> dict[str, float]:
    """Return the seconds that each step (`extract.STEPS`) takes for a page, the second time: the
    first one loads what a process loads once."""
    for _ in range(2):
        clock = Clock()
        page = parse_page(html, url, encoding=encoding, clock=clock)
        extract_from(page, url, method=method, clock=clock)
    return clock.seconds


def _blocks(page: ParsedPage, articles: Mapping[str, Article]) -> Iterator[BlockReading]:
    texts = [clean(raw) for raw in page.blocks.raw]
    blocks_by_method = {
        name: taken_blocks(texts, articles[name].paragraphs) for name in CHOOSING_METHODS
    }
    limits = features.limits_for(page.features).values
    network = load_network()
    places = page.candidates.places
    probabilities = np.zeros(len(texts))
    probabilities[places] = page.probabilities
    why: list[tuple[Reason, ...]] = [(Reason(IN_MENU, -MAX_LOG_ODDS),)] * len(texts)
    for place, of_block in zip(places, reasons(network, page.block_features), strict=True):
        why[place] = of_block
    for number, text in enumerate(texts):
        words = int(page.features.tokens.words[number])
        if rule := rule_of_no_text(page.blocks.raw[number], words):
            why[number] = (Reason(rule.name, -MAX_LOG_ODDS), *why[number])
        yield BlockReading(
            number=number + 1,
            text=text,
            words=words,
            probability=float(probabilities[number]),
            reasons=why[number],
            readings=tuple(
                FeatureReading(name, float(value), float(limit), name in features.UPPER_LIMITS)
                for name, value, limit in zip(
                    features.NAMES, page.features.values[number], limits, strict=True
                )
            ),
            taken_by=frozenset(name for name in CHOOSING_METHODS if blocks_by_method[name][number]),
        )


def _methods(articles: Mapping[str, Article], method: str) -> Iterator[MethodReading]:
    bags = {name: Counter(_words(article.text)) for name, article in articles.items()}
    for name in METHODS:
        common, total = bags[name] & bags[method], bags[name].total() + bags[method].total()
        yield MethodReading(
            name=name,
            words=bags[name].total(),
            confidence=articles[name].confidence,
            similarity=2 * common.total() / total if total else 1.0,
        )


def _lines(source: bytes) -> Iterator[LineReading]:
    lines = cetr.read_lines(source.decode("utf-8", "replace"))
    smoothed = cetr.smooth(cetr.tag_ratios(lines))
    for value, is_content in zip(smoothed, cetr.keep_lines(lines, "cetr"), strict=True):
        yield LineReading(float(value), bool(is_content))


# --- Blocks that a method took -------------------------------------------------------------------


def taken_blocks(blocks: Sequence[str], paragraphs: Sequence[str]) -> list[bool]:
    """Return for each block whether a method's paragraphs hold it: the block is a paragraph, in
    order; or, for methods that cut otherwise, at least half of its shingles are in the text."""
    ticks, position = [], 0
    for block in blocks:
        is_next = position < len(paragraphs) and block == paragraphs[position]
        ticks.append(is_next)
        position += is_next
    if position == len(paragraphs):
        return ticks
    words = _words("\n\n".join(paragraphs))
    shingles = {length: set(_shingles(words, length)) for length in range(1, SHINGLE_LENGTH + 1)}
    return [_share_in(_words(block), shingles) >= TAKEN_SHARE for block in blocks]


def share_of(text: str, full_text: str) -> float:
    """Return the share of a text's shingles that another text contains."""
    words = _words(full_text)
    shingles = {length: set(_shingles(words, length)) for length in range(1, SHINGLE_LENGTH + 1)}
    return _share_in(_words(text), shingles)


def _words(text: str) -> list[int]:
    numbers: list[int] = count((text,)).numbers.tolist()
    return numbers


def _share_in(words: Sequence[int], shingles: Mapping[int, set[tuple[int, ...]]]) -> float:
    length = min(len(words), SHINGLE_LENGTH)
    if not length:
        return 0.0
    return float(np.mean([shingle in shingles[length] for shingle in _shingles(words, length)]))


def _shingles(words: Sequence[int], length: int) -> Iterator[tuple[int, ...]]:
    return zip(*(words[start:] for start in range(length)), strict=False)


# --- Reasons of the network ----------------------------------------------------------------------


def reasons(network: Network, block_features: BlockFeatures) -> list[tuple[Reason, ...]]:
    """Return for each candidate the kinds of features that moved it most, the strongest first."""
    log_odds = _log_odds(network, block_features)
    kinds = [*KINDS, NAMES, OPENING]
    moves = np.array(
        [log_odds - _log_odds(network, _without(network, block_features, kind)) for kind in kinds]
    )
    result = []
    for column in moves.T:
        order = np.argsort(-np.abs(column), kind="stable")[:MAX_REASONS]
        strong = (i for i in order if abs(column[i]) >= MIN_MOVE)
        result.append(tuple(Reason(kinds[i], float(column[i])) for i in strong))
    return result


def columns_of(kind: str, names: tuple[str, ...]) -> list[int]:
    """Return the columns of the features that belong to a kind."""
    kind_names = KINDS[kind]
    starts = tuple(name for name in kind_names if name.endswith("_"))
    return [
        i
        for i, name in enumerate(names)
        if name in kind_names or (starts and name.startswith(starts))
    ]


def _without(network: Network, block_features: BlockFeatures, kind: str) -> BlockFeatures:
    """Return the features with one kind neutral: at the mean over all training pages, or
    unknown."""
    if kind == NAMES:
        return replace(
            block_features,
            elements=[None] * len(block_features.elements),
            tags=np.zeros_like(block_features.tags),
            openers=np.full_like(block_features.openers, len(OPENERS)),
        )
    if kind == OPENING:
        return replace(
            block_features,
            words=block_features.words[:0],
            word_counts=np.zeros_like(block_features.word_counts),
        )
    values = block_features.values.copy()
    columns = columns_of(kind, block_features.names)
    values[:, columns] = network.weights["mean"][columns]
    return replace(block_features, values=values)


def _log_odds(network: Network, block_features: BlockFeatures) -> NDArray[np.float64]:
    probabilities = network.probabilities(block_features).astype(np.float64)
    with np.errstate(divide="ignore"):
        odds = np.log(probabilities) - np.log1p(-probabilities)
    return np.asarray(np.clip(odds, -MAX_LOG_ODDS, MAX_LOG_ODDS))
