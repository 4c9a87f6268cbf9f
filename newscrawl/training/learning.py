"""A training session: vectors of both sides of a split, the swarm, scores by folds."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from newscrawl.extraction.blocks import ProfileName
from newscrawl.training.corpus import Corpus, CorpusError, GoldPage
from newscrawl.training.fit import (
    NO_LIMITS,
    UPPER,
    LimitsFit,
    fit_limits,
    read_vectors,
    score_limits,
)
from newscrawl.training.fitness import Floats, LimitsFitness, PageVectors
from newscrawl.training.pso import Generation, SwarmSettings
from newscrawl.training.splits import Split

UNSPACED_LANGS = ("zh", "ja", "th", "lo", "km", "my")  # those of extraction.tokens

Vectors = Mapping[GoldPage, PageVectors]
OnGeneration = Callable[[Generation], None]


@dataclass(frozen=True)
class Plan:
    """What to learn and how; populations have seeds counting up from the settings' seed.

    `unspaced`: for the scripts without blanks between words alone.
    """

    profile: ProfileName
    settings: SwarmSettings
    populations: int = 1
    unspaced: bool = False

    @property
    def name(self) -> str:
        """What these limits are called in the limits file."""
        return f"{self.profile} unspaced" if self.unspaced else self.profile


@dataclass(frozen=True)
class UnseenScore:
    """Similarity of a page by limits learned without its site (FE) and with all blocks (PR)."""

    page: GoldPage
    fe: float
    pr: float


def learnable(
    corpus: Corpus,
    *,
    unspaced: bool = False,
    sets: Sequence[str] = (),
    langs: Sequence[str] = (),
    page_types: Sequence[str] = ("article",),
) -> Corpus:
    """The pages to learn from: those with a gold text, articles where nothing else is asked."""
    if unspaced and not langs:
        langs = [lang for lang in UNSPACED_LANGS if lang in {page.lang for page in corpus}]
        if not langs:
            raise CorpusError(f"{corpus.name}: no page in {', '.join(UNSPACED_LANGS)}")
    return corpus.select(sets=sets, langs=langs, page_types=page_types, with_text=True)


def vectors_of(corpus: Corpus, plan: Plan, on_page: Callable[[], None]) -> Vectors:
    """Each page's vectors under the plan's profile."""
    pages = corpus.pages
    return dict(zip(pages, read_vectors(pages, plan.profile, on_page=on_page), strict=True))


def learn(split: Split, vectors: Vectors, plan: Plan, on_generation: OnGeneration) -> LimitsFit:
    """Limits from the training side, scored on the test side."""
    return fit_limits(
        _of(vectors, split.train),
        _of(vectors, split.test),
        plan.settings,
        populations=plan.populations,
        on_generation=on_generation,
    )


def cross_validate(
    splits: Sequence[Split], vectors: Vectors, plan: Plan, on_generation: OnGeneration
) -> list[UnseenScore]:
    """Learn once a split; every test page scored by limits that never saw its site."""
    scores = []
    for split in splits:
        fit = learn(split, vectors, plan, on_generation)
        fitness = LimitsFitness(_of(vectors, split.test), UPPER)
        both = fitness.by_page(np.stack([fit.limits, NO_LIMITS])).tolist()
        scores += [
            UnseenScore(page, fe, pr) for page, (fe, pr) in zip(split.test, both, strict=True)
        ]
    return scores


def score_on(corpus: Corpus, vectors: Vectors, limits: Floats) -> float:
    """Mean similarity of the blocks within the limits."""
    return score_limits(_of(vectors, corpus), limits)


def _of(vectors: Vectors, corpus: Corpus) -> list[PageVectors]:
    return [vectors[page] for page in corpus]
