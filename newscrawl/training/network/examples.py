"""Labelled pages as the network learns from them: evidence, and which blocks are gold."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from newscrawl.extraction.block_features import Evidence, opening_words
from newscrawl.extraction.methods import look
from newscrawl.training import metrics
from newscrawl.training.corpus import GoldPage
from newscrawl.training.labels import label
from newscrawl.training.scores import HEADLINE_IN_TEXT, without_headline
from newscrawl.training.splits import Split

# Ours: a word is learned when it occurs on so many sites; rarer ones would name sites.
HINT_SITES: Final = 6
WORD_SITES: Final = 15


@dataclass(frozen=True, slots=True)
class Example:
    """A page's evidence and labels: for each block its words, and how many of them are gold.

    `openings` are the words that the blocks open with, whose numbers the evidence has.
    The headline's block counts for neither side: the article's text leaves it out.
    `gold_words` are those of the gold text without the headline.
    """

    page: GoldPage
    title: str | None
    texts: tuple[str, ...]
    evidence: Evidence
    openings: list[list[str]]
    words: NDArray[np.int64]
    matched: NDArray[np.int64]
    gold_words: int

    @property
    def blocks(self) -> int:
        """How many blocks the page has."""
        return len(self.words)


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The words of names and of texts that the network learns vectors for, sorted."""

    hints: tuple[str, ...]
    words: tuple[str, ...]


def read_examples(
    pages: Iterable[GoldPage], processes: int, told: Callable[[], None] = lambda: None
) -> list[Example]:
    """Read all pages that have a gold text and a block; `told` is called after each page."""
    examples: list[Example] = []
    labelled = [page for page in pages if page.text]
    with ProcessPoolExecutor(processes) as pool:
        for example in pool.map(read_example, labelled, chunksize=8):
            told()
            if example is not None:
                examples.append(example)
    return examples


def read_example(page: GoldPage) -> Example | None:
    """Read one page; None where it has no blocks."""
    view = look(page.html, page.url)
    if not len(view.candidates.page):
        return None
    texts = view.candidates.page.texts
    in_text = page.set in HEADLINE_IN_TEXT
    gold = page.text or ""
    settled = gold if in_text else without_headline(gold, page.title)
    labels = label(texts, settled)
    evidence = view.evidence
    is_title = evidence.is_title
    gold_words = len(metrics.words(settled))
    return Example(
        page=page,
        title=view.facts.title,
        texts=tuple(texts),
        evidence=evidence,
        openings=opening_words(view.candidate_features),
        words=np.where(is_title, 0, labels.words),
        matched=np.where(is_title, 0, labels.matched),
        gold_words=max(gold_words - int(labels.matched[is_title].sum()), 0),
    )


def sides(examples: Sequence[Example], split: Split) -> tuple[list[Example], list[Example]]:
    """The examples for training and those for testing."""
    train, test = frozenset(split.train), frozenset(split.test)
    return (
        [example for example in examples if example.page in train],
        [example for example in examples if example.page in test],
    )


def learn_vocabulary(examples: Sequence[Example]) -> Vocabulary:
    """The words that occur on enough sites to say something about sites never seen."""
    hint_sites: dict[str, set[str]] = defaultdict(set)
    word_sites: dict[str, set[str]] = defaultdict(set)
    for example in examples:
        site = example.page.owner
        for names in example.evidence.hints:
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
