"""Learn the eight limits of FE by a particle swarm (Ziegler & Skubacz 2007, section 3.5).

Fitness is the similarity of a choice of blocks to the gold text, for a whole swarm at once. It
needs no text once a page's vectors are known. Let T be its blocks' term vectors, g the gold
vector, and m a 0/1 choice of blocks: with G = T Tᵀ, d = T g and n the blocks' lengths, the dot
product is m·d, the squared norm m·G·m and the length m·n. Counts are whole numbers below 2²⁴, so
these products are exact in single precision and in any order of summation.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from newscrawl.cluster import Workers
from newscrawl.extraction.blocks import ProfileName, read_blocks
from newscrawl.extraction.features import NAMES, UPPER_LIMITS, VERSION, measure
from newscrawl.extraction.html import decode, parse
from newscrawl.training import metrics
from newscrawl.training.corpus import Corpus, CorpusError, GoldPage, Split, map_pages
from newscrawl.training.evaluation import gold_headline, without_headline
from newscrawl.training.pso import Generation, SwarmRun, SwarmSettings, fly

Floats = NDArray[np.float64]
Masks = NDArray[np.bool_]  # (choices, blocks)

# Means are rounded so that the last digit, which may differ between processors, doesn't decide
# which particle is better.
DECIMALS = 12


@dataclass(frozen=True)
class PageVectors:
    """One page: its blocks' features (blocks, features) and what similarity needs of them."""

    features: Floats
    gram: NDArray[np.float32]  # (blocks, blocks), G
    dots: NDArray[np.float32]  # (blocks,), d
    lengths: NDArray[np.float32]  # (blocks,), n
    gold_length: float
    gold_norm: float

    @classmethod
    def of(
        cls,
        features: Floats,
        block_words: Sequence[Iterable[str]],
        gold_words: Iterable[str],
    ) -> "PageVectors":
        """Merge blocks of equal features, which no limits can tell apart, and drop empty ones."""
        gold = Counter(word for word in gold_words if metrics.is_term(word))
        bags = [Counter(word for word in block if metrics.is_term(word)) for block in block_words]
        full = [i for i, bag in enumerate(bags) if bag]
        column = {word: i for i, word in enumerate(sorted({w for i in full for w in bags[i]}))}
        kinds, kind_of = np.unique(features[full], axis=0, return_inverse=True)
        terms = np.zeros((len(kinds), len(column)), dtype=np.float32)
        for i, kind in zip(full, kind_of.ravel(), strict=True):
            for word, count in bags[i].items():
                terms[kind, column[word]] += count
        gold_counts = np.array([gold[word] for word in column], dtype=np.float32)
        return cls(
            features=kinds,
            gram=terms @ terms.T,
            dots=terms @ gold_counts,
            lengths=terms.sum(axis=1),
            gold_length=float(gold.total()),
            gold_norm=float(np.sqrt(sum(count * count for count in gold.values()))),
        )

    def similarity(self, masks: Masks) -> Floats:
        """Return Z&S eq. 2 for each choice of blocks; an empty choice scores 0."""
        used = np.flatnonzero(masks.any(axis=0))
        if not len(used) or not self.gold_length:
            return np.zeros(len(masks))
        chosen = masks[:, used].astype(np.float32)
        squares = (chosen @ self.gram[used[:, None], used] * chosen).sum(axis=1, dtype=np.float64)
        dots, lengths = chosen @ self.dots[used], chosen @ self.lengths[used]
        delta = np.minimum(lengths, self.gold_length) / np.maximum(lengths, self.gold_length)
        norms = np.sqrt(np.maximum(squares, 1.0)) * self.gold_norm
        return np.asarray(delta.astype(np.float64) * dots / norms, dtype=np.float64)


class LimitsFitness:
    """Mean similarity over pages, for the limits of a whole population.

    `upper` says which limits are upper ones.
    """

    def __init__(self, pages: Sequence[PageVectors], upper: Masks) -> None:
        self._pages = pages
        self._sign = np.where(upper, -1.0, 1.0)
        self._features = np.ascontiguousarray(
            (np.concatenate([page.features for page in pages]) * self._sign).T
        )
        self._ends = np.cumsum([0, *(len(page.features) for page in pages)])

    def of_limits(self, limits: Floats) -> Floats:
        """Return one mean for each row of limits, in the features' own units."""
        means: Floats = self.by_page(limits).mean(axis=0)
        return means.round(DECIMALS)

    def by_page(self, limits: Floats) -> Floats:
        """Return similarities (pages, rows of limits)."""
        bounds = limits * self._sign
        mask = self._features[0] >= bounds[:, 0, None]
        for feature, bound in zip(self._features[1:], bounds.T[1:], strict=True):
            mask &= feature >= bound[:, None]
        spans = zip(self._pages, pairwise(self._ends), strict=True)
        return np.array([page.similarity(mask[:, start:end]) for page, (start, end) in spans])


UPPER = np.array([name in UPPER_LIMITS for name in NAMES])
NO_LIMITS = np.where(UPPER, np.inf, -np.inf)

# Ours. A feature's range ends where 95 % of the words are in blocks below it: up to the greatest
# value, a few outliers would leave too small a range for the start of the swarm.
RANGE_QUANTILE = 0.95

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
    every block pass. For example, most blocks have no format tag: if only the range were covered,
    every particle would begin with a limit on them, and few would keep any content.
    """

    low: Floats
    span: Floats

    @classmethod
    def of(cls, pages: Iterable[PageVectors]) -> "Ranges":
        """Return the ranges over pages. Features begin at 0 and end at RANGE_QUANTILE."""
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
        """Return limits in the features' own units for positions of the swarm.

        No feature is below 0, so a lower limit below 0 is one of 0.
        """
        limits = self.low + positions * self.span
        return np.where(UPPER, limits, limits.clip(min=0.0))


@dataclass(frozen=True, kw_only=True)
class LimitsFit:
    """Limits in the order of `features.NAMES`, their scores, and the flights that found them."""

    limits: Floats
    train_score: float
    test_score: float
    flights: tuple[SwarmRun, ...]

    @property
    def interrupted(self) -> bool:
        return any(flight.interrupted for flight in self.flights)


def page_vectors(page: GoldPage, profile: ProfileName) -> PageVectors:
    """Return the vectors of a page's blocks and gold body without the headline, which extraction
    separates from the text."""
    if page.text is None:
        raise CorpusError(f"{page.set}/{page.id}: no gold text to learn from; leave its set out")
    blocks = read_blocks(parse(decode(page.html)), profile)
    headline = gold_headline(page)
    title = metrics.words(headline or "")
    words = [metrics.words(text) for text in blocks.texts]
    return PageVectors.of(
        measure(blocks).values,
        [[] if title and block == title else block for block in words],
        metrics.words(without_headline(page.text, headline)),
    )


def fit_limits(
    train: Sequence[PageVectors],
    test: Sequence[PageVectors],
    settings: SwarmSettings,
    *,
    populations: int = 1,
    on_generation: Callable[[Generation], None] = lambda _: None,
) -> LimitsFit:
    """Run one swarm for each population, and return the limits that were best in training.

    Ctrl-C ends the current population and starts no other.
    """
    ranges = Ranges.of(train)
    fitness = LimitsFitness(train, UPPER)
    flights: list[SwarmRun] = []
    for number in range(populations):
        seeded = replace(settings, seed=settings.seed + number)
        # Products this small are slower on several cores.
        with threadpool_limits(limits=1, user_api="blas"):
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
    """Return the mean similarity of the blocks within the limits."""
    return float(LimitsFitness(pages, UPPER).of_limits(limits[None])[0])


def features_digest(profile: ProfileName) -> str:
    """Return a short hash over the features of a sample page, which changes when they do."""
    values = measure(read_blocks(parse(_SAMPLE.encode()), profile)).values
    return hashlib.sha256(np.round(values, 6).tobytes()).hexdigest()[:16]


UNSPACED_LANGS = ("zh", "ja", "th", "lo", "km", "my")  # those of extraction.tokens

Vectors = Mapping[GoldPage, PageVectors]
OnGeneration = Callable[[Generation], None]


@dataclass(frozen=True)
class Plan:
    """The task of learning limits; populations have seeds counting up from the settings' seed.

    `unspaced`: for the scripts without blanks between words alone.
    """

    profile: ProfileName
    settings: SwarmSettings
    populations: int = 1
    unspaced: bool = False

    @property
    def name(self) -> str:
        """Return the name of these limits in the limits file."""
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
    """Return the pages to learn from: those with a gold text, by default articles."""
    if unspaced and not langs:
        langs = [lang for lang in UNSPACED_LANGS if lang in {page.lang for page in corpus}]
        if not langs:
            raise CorpusError(f"{corpus.name}: no page in {', '.join(UNSPACED_LANGS)}")
    return corpus.select(sets=sets, langs=langs, page_types=page_types, with_text=True)


def vectors_of(
    corpus: Corpus, plan: Plan, on_page: Callable[[], None], workers: Workers | None = None
) -> Vectors:
    """Return each page's vectors under the plan's profile."""
    job = partial(page_vectors, profile=plan.profile)
    vectors = map_pages(job, corpus.pages, workers=workers, on_page=on_page)
    return dict(zip(corpus.pages, vectors, strict=True))


def learn(split: Split, vectors: Vectors, plan: Plan, on_generation: OnGeneration) -> LimitsFit:
    """Return limits learned from the training side and scored on the test side."""
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
    """Learn once for each split, and score each test page by limits that never saw its site."""
    scores = []
    for split in splits:
        fit = learn(split, vectors, plan, on_generation)
        fitness = LimitsFitness(_of(vectors, split.test), UPPER)
        scores_with_and_without = fitness.by_page(np.stack([fit.limits, NO_LIMITS])).tolist()
        scores += [
            UnseenScore(page, fe, pr)
            for page, (fe, pr) in zip(split.test, scores_with_and_without, strict=True)
        ]
    return scores


def _of(vectors: Vectors, corpus: Corpus) -> list[PageVectors]:
    return [vectors[page] for page in corpus]


LIMITS_FILE = Path(__file__).parent.parent / "extraction" / "data" / "thresholds.json"


class LimitsError(Exception):
    """Limits that must not be written or can't be read; the message is one line."""


@dataclass(frozen=True)
class Origin:
    """The provenance of limits, which is written with them.

    `fingerprint` is that of the whole corpus, on which the split depends; `pages` were learned
    from or tested on.
    """

    corpus: str
    fingerprint: str
    pages: int
    seed: int
    command: str


def read_limits(path: Path, name: str) -> Floats | None:
    """Return the limits on file in the order of `features.NAMES`; None if there are none.

    Raises:
        LimitsError: a file that is not one of limits.
    """
    entry = _read_file(path).get(name)
    if entry is None:
        return None
    try:
        return np.array([entry["limits"][name] for name in NAMES], dtype=np.float64)
    except (KeyError, TypeError, ValueError) as error:
        raise LimitsError(
            f"{path}: {name} lacks a limit ({error}); give --force to overwrite it"
        ) from error


def check_corpus(path: Path, corpus: Corpus) -> None:
    """Raise a CorpusError if any limits on file were learned from other pages than these."""
    for name, entry in _read_file(path).items():
        learned = f"{path.name} ({name})"
        corpus.check_unchanged(str(entry["provenance"]["fingerprint"]), learned)


def check_better(fit: LimitsFit, earlier: float | None, path: Path) -> None:
    """Raise a LimitsError if the limits on file score better on the same test pages."""
    if earlier is not None and earlier > fit.test_score:
        raise LimitsError(
            f"{path}: kept, its limits score {earlier:.4f} on these test pages and the new ones "
            f"{fit.test_score:.4f}; give --force to overwrite them"
        )


def write_limits(path: Path, plan: Plan, fit: LimitsFit, origin: Origin) -> None:
    """Write the limits of the plan's name and leave all others; the file is replaced at once."""
    content = _read_file(path) if path.is_file() else {}
    content[plan.name] = {
        "limits": dict(zip(NAMES, fit.limits.tolist(), strict=True)),
        "provenance": {
            "feature_version": VERSION,
            "features_digest": features_digest(plan.profile),
            **asdict(origin),
            "train_score": fit.train_score,
            "test_score": fit.test_score,
            "date": f"{datetime.now(UTC):%Y-%m-%d}",
        },
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_name(path.name + ".new")
    fresh.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
    fresh.replace(path)


def _read_file(path: Path) -> dict[str, Any]:
    if not path.is_file():
        return {}
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise LimitsError(f"{path}: not JSON ({error}); move or correct it") from error
    if not isinstance(content, dict):
        raise LimitsError(f"{path}: not a file of limits; name another one with --output")
    return content
