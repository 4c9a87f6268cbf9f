"""Convert labelled pages to training examples: features of blocks, and their gold labels.

Blocks are aligned with the gold text in order, not compared as bags of words. A teaser that repeats
the first sentence and a menu entry that is also a word of the article must not be labelled as
content; so each stretch of the gold text is given to one block at most, and blocks take theirs in
the order of the page.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray

from newscrawl.extraction.block_features import BlockFeatures, opening_words
from newscrawl.extraction.extract import parse_page
from newscrawl.training import metrics
from newscrawl.training.corpus import GoldPage, Split, map_pages
from newscrawl.training.evaluation import HEADLINE_IN_TEXT, score_page, without_headline

SHINGLE: Final = 3  # ours: words in a row that place a block in the gold text
COVERED: Final = 0.5  # ours: the share of its words that a block must find there
OVERLAP: Final = 0.2  # ours: the share of a block by which it may overlap the one before
PLACES: Final = 6  # ours: places in the gold text that are tried for one block
MARGIN: Final = 8  # ours: words around a place in which a block that differs a little is sought
# 64 % of the date lines and 76 % of the bylines below the headline are gold there, of the other
# large sets 10 % at most: in training they count for neither side.
BYLINES_IN_TEXT: Final = frozenset({"dragnet"})
MAX_BYLINE: Final = 15  # ours: words of a byline, date line or subtitle
MIN_PARAGRAPH: Final = 20  # ours: words of the paragraph that ends the lines below a headline


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
    """Align the blocks of a page with its gold text.

    Blocks of `SHINGLE` words and more are placed first, then shorter ones in the gaps that
    their neighbours leave.
    """
    blocks = [metrics.words(text) for text in texts]
    gold_words = metrics.words(gold)
    places = _places(gold_words)
    spans = [
        span
        for number, words in enumerate(blocks)
        if len(words) >= SHINGLE
        for span in _spans(number, words, gold_words, places)
    ]
    matched = np.zeros(len(blocks), dtype=np.int64)
    chain = _chain(spans)
    for span in chain:
        matched[span.block] = span.matched
    for number in _short_in_gaps(chain, blocks, gold_words):
        matched[number] = len(blocks[number])
    return Labels(np.array([len(words) for words in blocks], dtype=np.int64), matched)


def _places(gold: list[str]) -> dict[tuple[str, ...], list[int]]:
    places: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for start in range(len(gold) - SHINGLE + 1):
        places[tuple(gold[start : start + SHINGLE])].append(start)
    return places


def _spans(
    number: int, words: list[str], gold: list[str], places: dict[tuple[str, ...], list[int]]
) -> list[_Span]:
    """Return the places in the gold text that match a block exactly or nearly."""
    size = len(words)
    exact = [at for at in places.get(tuple(words[:SHINGLE]), ()) if gold[at : at + size] == words]
    if exact:
        return [_Span(number, at, at + size, size) for at in exact]
    votes: dict[int, int] = defaultdict(int)
    for offset in range(size - SHINGLE + 1):
        for place in places.get(tuple(words[offset : offset + SHINGLE]), ()):
            votes[place - offset] += 1
    best = sorted(votes, key=lambda start: (-votes[start], start))[:PLACES]
    spans = (_match(number, words, gold, max(start, 0)) for start in best)
    return [span for span in spans if span and span.matched >= COVERED * size]


def _match(number: int, words: list[str], gold: list[str], start: int) -> _Span | None:
    """Match a block's words with those around a place of the gold text, runs of two at least."""
    low = max(start - MARGIN, 0)
    window = gold[low : start + len(words) + MARGIN]
    matcher = SequenceMatcher(None, words, window, autojunk=False)
    runs = [run for run in matcher.get_matching_blocks() if run.size > 1]
    if not runs:
        return None
    end = low + runs[-1].b + runs[-1].size
    return _Span(number, low + runs[0].b, end, sum(run.size for run in runs))


def _chain(spans: list[_Span]) -> list[_Span]:
    """Return the heaviest chain of spans that are in the same order on the page and in the gold
    text."""
    best: list[float] = []
    came_from: list[int] = []
    for index, span in enumerate(spans):
        top, source = 0.0, -1
        latest = span.start + OVERLAP * (span.end - span.start)
        for earlier in range(index):
            before = spans[earlier]
            if before.block < span.block and before.end <= latest and best[earlier] > top:
                top, source = best[earlier], earlier
        best.append(top + span.matched)
        came_from.append(source)
    chain: list[_Span] = []
    index = int(np.argmax(best)) if best else -1
    while index >= 0:
        chain.append(spans[index])
        index = came_from[index]
    return chain[::-1]


def _short_in_gaps(chain: list[_Span], blocks: list[list[str]], gold: list[str]) -> Iterator[int]:
    """Yield the blocks of one or two words that the gold text has between their neighbours."""
    bounds = [_Span(-1, 0, 0, 0), *chain, _Span(len(blocks), len(gold), len(gold), 0)]
    for before, after in pairwise(bounds):
        gap = gold[before.end : after.start]
        for number in range(before.block + 1, after.block):
            words = blocks[number]
            if not gap or not 0 < len(words) < SHINGLE:
                continue
            starts = range(min(len(gap) - len(words), MARGIN) + 1)
            place = next((at for at in starts if gap[at : at + len(words)] == words), None)
            if place is not None:
                gap = gap[place + len(words) :]
                yield number


# Ours: minimum number of sites of a learned word; rarer words would identify sites.
HINT_SITES: Final = 6
WORD_SITES: Final = 15


@dataclass(frozen=True, slots=True)
class Example:
    """The features and labels of a page: for each block its words, and how many of them are gold.

    `openings` are the words that the blocks open with, whose numbers the features have.
    The headline's block counts for neither side, as the article's text leaves it out, and so does
    a byline that the gold of a set has and others have not; `gold_words` are without these.
    """

    page: GoldPage
    title: str | None
    texts: tuple[str, ...]
    block_features: BlockFeatures
    openings: list[list[str]]
    words: NDArray[np.int64]
    matched: NDArray[np.int64]
    gold_words: int

    @property
    def blocks(self) -> int:
        """Return the number of blocks of the page."""
        return len(self.words)


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The words of names and of texts that the network learns vectors for, sorted."""

    hints: tuple[str, ...]
    words: tuple[str, ...]


def read_examples(
    pages: Iterable[GoldPage],
    on_page: Callable[[], None] = lambda: None,
) -> list[Example]:
    """Return the examples of all pages that have a gold text and a block, and no doubt about it."""
    labelled = [page for page in pages if page.text and not page.doubt]
    examples = map_pages(read_example, labelled, on_page=on_page)
    return [example for example in examples if example]


def read_example(page: GoldPage) -> Example | None:
    """Return the example of a page; None if the page has no blocks."""
    parsed = parse_page(page.html, page.url)
    if not len(parsed.candidates.page):
        return None
    gold = page.text or ""
    if page.set not in HEADLINE_IN_TEXT:
        gold = without_headline(gold, page.title)
    texts = parsed.candidates.page.texts
    labels = label(texts, gold)
    aside = parsed.block_features.is_title
    if page.set in BYLINES_IN_TEXT:
        aside = aside | _bylines(labels)
    return Example(
        page=page,
        title=parsed.metadata.title,
        texts=tuple(texts),
        block_features=parsed.block_features,
        openings=opening_words(parsed.candidate_features),
        words=np.where(aside, 0, labels.words),
        matched=np.where(aside, 0, labels.matched),
        gold_words=max(len(metrics.words(gold)) - int(labels.matched[aside].sum()), 0),
    )


def _bylines(labels: Labels) -> NDArray[np.bool_]:
    """Return which blocks are short lines of the gold text before its first paragraph."""
    is_gold = (labels.matched > 0) & (labels.matched >= COVERED * labels.words)
    paragraphs = np.flatnonzero(is_gold & (labels.words >= MIN_PARAGRAPH))
    first = paragraphs[0] if len(paragraphs) else 0
    before = np.arange(len(is_gold)) < first
    return np.asarray(is_gold & before & (labels.words <= MAX_BYLINE))


def sides(examples: Sequence[Example], split: Split) -> tuple[list[Example], list[Example]]:
    """Return the examples for training and those for testing."""
    train, test = frozenset(split.train), frozenset(split.test)
    return (
        [example for example in examples if example.page in train],
        [example for example in examples if example.page in test],
    )


def learn_vocabulary(examples: Sequence[Example]) -> Vocabulary:
    """Return the words that occur on enough sites to be useful on sites never seen."""
    hint_sites: dict[str, set[str]] = defaultdict(set)
    word_sites: dict[str, set[str]] = defaultdict(set)
    for example in examples:
        site = example.page.owner
        for names in example.block_features.hints:
            for hint in names:
                hint_sites[hint].add(site)
        for opening in example.openings:
            for word in opening:
                word_sites[word].add(site)
    return Vocabulary(
        hints=tuple(sorted(word for word, sites in hint_sites.items() if len(sites) >= HINT_SITES)),
        words=tuple(
            sorted(
                word
                for word, sites in word_sites.items()
                if len(sites) >= WORD_SITES and not word.isdigit()
            )
        ),
    )


MEASURES = ("word", "shingle", "similarity")


@dataclass(frozen=True, slots=True)
class ExampleScore:
    """The scores of one page (`scores.score_page`) at one threshold."""

    example: Example
    threshold: float
    values: dict[str, float]


def score_kept(example: Example, mask: NDArray[np.bool_], threshold: float) -> ExampleScore:
    """Score the text of the blocks that were kept at a threshold."""
    text = "\n\n".join(
        text for text, is_chosen in zip(example.texts, mask, strict=True) if is_chosen
    )
    return ExampleScore(example, threshold, score_page(example.page, text, example.title, MEASURES))


def by_group(scored: Iterable[ExampleScore]) -> dict[tuple[float, str], list[ExampleScore]]:
    """Group by threshold: articles and other pages by set and by length, daniel's by language."""
    groups: dict[tuple[float, str], list[ExampleScore]] = defaultdict(list)
    for each in scored:
        page = each.example.page
        kind = "article" if page.page_type == "article" else "other"
        groups[each.threshold, f"{page.set} {kind}"].append(each)
        groups[each.threshold, f"{kind} {page.length}"].append(each)
        if page.set == "daniel" and kind == "article":
            groups[each.threshold, f"{page.set} {page.lang}"].append(each)
    return dict(sorted(groups.items()))
