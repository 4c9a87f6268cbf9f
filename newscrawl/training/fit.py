"""The swarm learns the eight limits of FE (Ziegler & Skubacz 2007, section 3.5)."""

import hashlib
import multiprocessing
import os
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from newscrawl.extraction.blocks import ProfileName, read_blocks
from newscrawl.extraction.features import NAMES, UPPER_LIMITS, measure
from newscrawl.extraction.html import decode, parse
from newscrawl.training import metrics
from newscrawl.training.corpus import CorpusError, GoldPage
from newscrawl.training.fitness import Floats, LimitsFitness, PageVectors, one_thread_a_product
from newscrawl.training.pso import Flight, Generation, SwarmSettings, fly
from newscrawl.training.scores import gold_headline, without_headline

UPPER = np.array([name in UPPER_LIMITS for name in NAMES])
NO_LIMITS = np.where(UPPER, np.inf, -np.inf)

# Ours. A feature's range ends where 95 % of the words stand in blocks below it: up to the
# greatest value, a few freak blocks would leave the swarm no room to start from.
RANGE_QUANTILE = 0.95

FEW_PAGES = 50  # ours: a process takes as long to start as about 50 pages to read

# The two runs of Figure 3. The paper says that both components are about 2 and that the
# cognitive one outweighs the social one in the first run; by how much is ours.
FIGURE_3 = {"cognition": (2.5, 1.5), "equal": (2.0, 2.0)}  # tau, phi

_SAMPLE = (
    "<h1>Bank cuts rates</h1><p>The <b>central</b> bank has cut its rates, <a href=x>it says</a>. "
    "Is it enough?<ul><li><a href=x>News</a><li>Sport</ul><div>中国新闻。银行降息了。</div>"
    "<table><tr><td>Der Gewinn ist um 3,5 % gefallen.<br><br>Das war zu erwarten.</table>"
)


@dataclass(frozen=True)
class Ranges:
    """How positions in the unit cube become limits: `low + position * span`, feature by feature.

    Ours: the cube covers each feature's range and as much again on the side where a limit lets
    every block pass. Most blocks have no format tag, say: were the range alone covered, no
    particle would begin without a limit on them, and few would keep any content.
    """

    low: Floats
    span: Floats

    @classmethod
    def of(cls, pages: Iterable[PageVectors]) -> "Ranges":
        """Features begin at 0; where their range ends, see RANGE_QUANTILE."""
        vectors = list(pages)
        values = np.concatenate([page.features for page in vectors])
        words = np.concatenate([page.lengths for page in vectors]).astype(np.float64)
        ends = np.zeros(len(NAMES))
        for feature, column in enumerate(values.T):
            order = np.argsort(column, kind="stable")
            reached = np.searchsorted(words[order].cumsum(), RANGE_QUANTILE * words.sum())
            ends[feature] = column[order][min(int(reached), len(column) - 1)]
        return cls(np.where(UPPER, 0.0, -ends), 2 * ends)

    def limits(self, positions: Floats) -> Floats:
        """Limits in the features' own units for positions of the swarm.

        No feature is below 0, so a lower limit below 0 is one of 0.
        """
        limits = self.low + positions * self.span
        return np.where(UPPER, limits, limits.clip(min=0.0))


@dataclass(frozen=True, kw_only=True)
class LimitsFit:
    """Limits in the order of `features.NAMES`, what they score, and how they were found."""

    limits: Floats
    train_score: float
    test_score: float
    flights: tuple[Flight, ...]

    @property
    def interrupted(self) -> bool:
        return any(flight.interrupted for flight in self.flights)


def processes_worth(pages: int) -> int:
    """One process for few pages, which are done before others have started; else one a core."""
    return 1 if pages < FEW_PAGES else os.cpu_count() or 1


def page_vectors(page: GoldPage, profile: ProfileName) -> PageVectors:
    """A page's blocks and gold body, both without the headline, which extraction sets apart."""
    if page.text is None:
        raise CorpusError(f"{page.set}/{page.id}: no gold text to learn from; leave its set out")
    blocks = read_blocks(parse(decode(page.html).utf8), profile)
    headline = gold_headline(page)
    title = metrics.words(headline or "")
    words = [metrics.words(text) for text in blocks.texts]
    return PageVectors.of(
        measure(blocks).values,
        [[] if title and block == title else block for block in words],
        metrics.words(without_headline(page.text, headline)),
    )


def read_vectors(
    pages: Sequence[GoldPage],
    profile: ProfileName,
    *,
    workers: int | None = None,
    on_page: Callable[[], None] = lambda: None,
) -> list[PageVectors]:
    """The vectors of all pages in order; `workers` as in `processes_worth` by default."""
    job = partial(page_vectors, profile=profile)
    results = []
    if (workers or processes_worth(len(pages))) == 1:
        for page in pages:
            results.append(job(page))
            on_page()
        return results
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(workers, mp_context=context) as pool:
        for vectors in pool.map(job, pages, chunksize=8):
            results.append(vectors)
            on_page()
    return results


def fit_limits(
    train: Sequence[PageVectors],
    test: Sequence[PageVectors],
    settings: SwarmSettings,
    *,
    populations: int = 1,
    on_generation: Callable[[Generation], None] = lambda _: None,
) -> LimitsFit:
    """Fly one swarm a population, seeds counting up, and take the limits best in training.

    Ctrl-C ends the current population and starts no other.
    """
    ranges = Ranges.of(train)
    fitness = LimitsFitness(train, UPPER)
    flights: list[Flight] = []
    for number in range(populations):
        seeded = replace(settings, seed=settings.seed + number)
        with one_thread_a_product():
            flights.append(
                fly(
                    lambda p: fitness.of_limits(ranges.limits(p)), len(NAMES), seeded, on_generation
                )
            )
        if flights[-1].interrupted:
            break
    best = max(flights, key=lambda flight: flight.fitness)
    limits = ranges.limits(best.position)
    return LimitsFit(
        limits=limits,
        train_score=best.fitness,
        test_score=score_limits(test, limits),
        flights=tuple(flights),
    )


def score_limits(pages: Sequence[PageVectors], limits: Floats) -> float:
    """Mean similarity of the blocks within the limits."""
    return float(LimitsFitness(pages, UPPER).of_limits(limits[None])[0])


def features_digest(profile: ProfileName) -> str:
    """A short hash over the features of a sample page: it changes when features do."""
    values = measure(read_blocks(parse(_SAMPLE.encode()), profile)).values
    return hashlib.sha256(np.round(values, 6).tobytes()).hexdigest()[:16]
