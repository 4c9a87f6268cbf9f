"""Why a page became the article it became: its blocks, their features against the limits,
the tag ratios of its lines, and what each method took."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from newscrawl.extraction import cetr, features
from newscrawl.extraction.blocks import clean
from newscrawl.extraction.classifier import load_network
from newscrawl.extraction.extract import extract
from newscrawl.extraction.methods import METHODS, ParsedPage, parse_page
from newscrawl.items import Article
from newscrawl.training import metrics
from newscrawl.training.explain_reasons import Reason, reasons_of_all
from newscrawl.training.metrics import SHINGLE_LENGTH

# Methods that take whole blocks or parts of them on evidence; the baselines take everything.
EVIDENCE = tuple(name for name in METHODS if name not in {"pr", "tb"})
TAKEN_SHARE = 0.5  # of a block's shingles, for methods that do not work on blocks


@dataclass(frozen=True, slots=True)
class FeatureReading:
    """A feature of a block beside its limit; `upper` where the value may not exceed it."""

    name: str
    value: float
    limit: float
    upper: bool

    @property
    def holds(self) -> bool:
        return self.value <= self.limit if self.upper else self.value >= self.limit


@dataclass(frozen=True, slots=True)
class BlockReading:
    """A block in the order of the page; `taken_by` the methods that kept it, `probability` and
    `reasons` what the network of the combined method makes of it."""

    number: int
    text: str
    words: int
    probability: float
    reasons: tuple[Reason, ...]
    readings: tuple[FeatureReading, ...]
    taken_by: frozenset[str]

    @property
    def failed(self) -> tuple[FeatureReading, ...]:
        return tuple(reading for reading in self.readings if not reading.holds)


@dataclass(frozen=True, slots=True)
class MethodReading:
    """What a method took: its words, and how much that is the explained method's text
    (similarity of Ziegler & Skubacz)."""

    name: str
    words: int
    confidence: float
    similarity: float


@dataclass(frozen=True, slots=True)
class LineReading:
    """A line of the page's source as CETR sees it."""

    smoothed: float
    kept: bool


@dataclass(frozen=True, slots=True)
class Explanation:
    """All that the page of `newscrawl explain` shows."""

    article: Article
    size: int
    blocks: tuple[BlockReading, ...]
    methods: tuple[MethodReading, ...]
    lines: tuple[LineReading, ...]


def explain(
    html: bytes, url: str | None = None, *, encoding: str | None = None, method: str = "combined"
) -> Explanation:
    """Take the article out of a page by every method and say why. Raises ValueError for an
    unknown method, nothing for any page."""
    articles = {
        name: extract(html, url, encoding=encoding, method=name) for name in {*METHODS, method}
    }
    view = parse_page(html, url, encoding=encoding)
    return Explanation(
        article=articles[method],
        size=len(html),
        blocks=tuple(_blocks(view, articles)),
        methods=tuple(_methods(articles, method)),
        lines=tuple(_lines(view.source)),
    )


def _blocks(view: ParsedPage, articles: dict[str, Article]) -> Iterator[BlockReading]:
    texts = [clean(raw) for raw in view.blocks.raw]
    taken = {name: taken_blocks(texts, articles[name].paragraphs) for name in EVIDENCE}
    limits = features.limits_for(view.features).values
    network = load_network()
    probabilities = np.zeros(len(texts))
    probabilities[view.candidates.places] = network.probabilities(view.block_features)
    why = reasons_of_all(network, view.candidates, view.block_features, len(texts))
    for number, text in enumerate(texts):
        yield BlockReading(
            number=number + 1,
            text=text,
            words=int(view.features.tokens.words[number]),
            probability=float(probabilities[number]),
            reasons=why[number],
            readings=tuple(
                FeatureReading(name, float(value), float(limit), name in features.UPPER_LIMITS)
                for name, value, limit in zip(
                    features.NAMES, view.features.values[number], limits, strict=True
                )
            ),
            taken_by=frozenset(name for name in EVIDENCE if taken[name][number]),
        )


def taken_blocks(blocks: Sequence[str], paragraphs: Sequence[str]) -> list[bool]:
    """Which blocks a method's paragraphs hold: those that are paragraphs, in order; or, for
    methods that cut otherwise, those of whose shingles the text holds at least half."""
    taken, position = [], 0
    for block in blocks:
        found = position < len(paragraphs) and block == paragraphs[position]
        taken.append(found)
        position += found
    if position == len(paragraphs):
        return taken
    words = [word for paragraph in paragraphs for word in metrics.words(paragraph)]
    held = {n: set(_shingles(words, n)) for n in range(1, SHINGLE_LENGTH + 1)}
    return [_share_in(metrics.words(block), held) >= TAKEN_SHARE for block in blocks]


def _share_in(words: Sequence[str], held: dict[int, set[tuple[str, ...]]]) -> float:
    length = min(len(words), SHINGLE_LENGTH)
    if not length:
        return 0.0
    return float(np.mean([shingle in held[length] for shingle in _shingles(words, length)]))


def _shingles(words: Sequence[str], n: int) -> Iterator[tuple[str, ...]]:
    return zip(*(words[start:] for start in range(n)), strict=False)


def _methods(articles: dict[str, Article], method: str) -> Iterator[MethodReading]:
    bags = {name: Counter(metrics.words(article.text)) for name, article in articles.items()}
    for name in METHODS:
        yield MethodReading(
            name=name,
            words=bags[name].total(),
            confidence=articles[name].confidence,
            similarity=metrics.similarity(bags[name], bags[method]),
        )


def _lines(source: bytes) -> Iterator[LineReading]:
    lines = cetr.read_lines(source.decode("utf-8", "replace"))
    smoothed = cetr.smooth(cetr.tag_ratios(lines))
    for value, kept in zip(smoothed, cetr.keep_lines(lines, "cetr"), strict=True):
        yield LineReading(float(value), bool(kept))
