"""Which blocks of a page are its gold text: aligned in order, not compared as bags of words.

A teaser that repeats the first sentence and the menu entry that is also a word of the article
must not be labelled as content; so each stretch of the gold text is given to one block at most,
and blocks take theirs in the order of the page.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from newscrawl.training import metrics

SHINGLE: Final = 3  # ours: words that must follow each other to place a block in the gold text
COVERED: Final = 0.5  # ours: the share of its words that a block must find there
SLACK: Final = 3  # ours: words by which neighbours may overlap in the gold text


@dataclass(frozen=True, slots=True)
class Labels:
    """For each block the words of its text, and how many of them the gold text has from it."""

    words: NDArray[np.int64]
    matched: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class _Span:
    block: int
    start: int
    end: int
    matched: int


def label(texts: Sequence[str], gold: str) -> Labels:
    """Align the blocks of a page with its gold text."""
    blocks = [metrics.words(text) for text in texts]
    gold_words = metrics.words(gold)
    places = _places(gold_words)
    spans = [
        span
        for number, words in enumerate(blocks)
        for span in _spans(number, words, gold_words, places)
    ]
    matched = np.zeros(len(blocks), dtype=np.int64)
    for span in _chain(spans):
        matched[span.block] = span.matched
    return Labels(np.array([len(words) for words in blocks], dtype=np.int64), matched)


def _places(gold: list[str]) -> dict[tuple[str, ...], list[int]]:
    places: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for size in range(1, SHINGLE + 1):
        for start in range(len(gold) - size + 1):
            places[tuple(gold[start : start + size])].append(start)
    return places


def _spans(
    number: int, words: list[str], gold: list[str], places: dict[tuple[str, ...], list[int]]
) -> list[_Span]:
    """Where in the gold text a block could stand: at most a few places."""
    size = min(SHINGLE, len(words))
    if not size:
        return []
    votes: dict[int, int] = defaultdict(int)
    for offset in range(len(words) - size + 1):
        for place in places.get(tuple(words[offset : offset + size]), ())[:20]:
            votes[(place - offset) // 4] += 1
    best = sorted(votes, key=lambda cell: (-votes[cell], cell))[:6]
    spans = []
    for start in {max(cell * 4, 0) for cell in best}:
        low, high = max(start - 8, 0), min(start + len(words) + 12, len(gold))
        span = _match(number, words, gold, low, high)
        if span and span.matched >= COVERED * len(words):
            spans.append(span)
    return spans


def _match(number: int, words: list[str], gold: list[str], low: int, high: int) -> _Span | None:
    """Match a block's words with a window of the gold text, greedily and in order."""
    where: dict[str, list[int]] = defaultdict(list)
    for place in range(low, high):
        where[gold[place]].append(place)
    matched, cursor, first = 0, low, -1
    for word in words:
        following = next((p for p in where.get(word, ()) if p >= cursor), None)
        if following is None or following - cursor > 12:
            continue
        first = following if first < 0 else first
        matched, cursor = matched + 1, following + 1
    return _Span(number, first, cursor, matched) if matched else None


def _chain(spans: list[_Span]) -> list[_Span]:
    """The heaviest chain of spans that goes forward both on the page and in the gold text."""
    best: list[float] = []
    came_from: list[int] = []
    for index, span in enumerate(spans):
        top, source = 0.0, -1
        for other in range(index):
            before = spans[other]
            if before.block < span.block and before.end <= span.start + SLACK and best[other] > top:
                top, source = best[other], other
        best.append(top + span.matched)
        came_from.append(source)
    chain: list[_Span] = []
    index = int(np.argmax(best)) if best else -1
    while index >= 0:
        chain.append(spans[index])
        index = came_from[index]
    return chain
