"""Limits learned by the swarm: vectors, fitness, fits, the file they go to."""

import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st

from newscrawl.extraction.blocks import ProfileName, read_blocks
from newscrawl.extraction.features import (
    NAMES,
    VERSION,
    keep,
    limits_for,
    load_limits,
    measure,
)
from newscrawl.extraction.html import decode, parse
from newscrawl.training import limits, metrics
from newscrawl.training.corpus import Corpus, CorpusError, folds_by_site, load_corpus
from newscrawl.training.limits import (
    NO_LIMITS,
    UPPER,
    LimitsFit,
    LimitsFitness,
    PageVectors,
    Plan,
    Ranges,
    cross_validate,
    features_digest,
    fit_limits,
    learnable,
    page_vectors,
    score_limits,
)
from newscrawl.training.pso import Generation, SwarmSettings

SMALL = SwarmSettings(particles=20, generations=15)
BUNDLED = Path(__file__).parents[1] / "corpus"


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return load_corpus(BUNDLED)


@pytest.fixture(scope="module")
def vectors(corpus: Corpus) -> list[PageVectors]:
    return [page_vectors(page, "html5") for page in corpus]


BLOCK = st.lists(st.sampled_from(["bank", "cuts", "rates", "news", "a", "中"]), max_size=6)


@given(
    blocks=st.lists(st.tuples(st.integers(0, 2), BLOCK), max_size=8),
    gold=BLOCK,
    limit=st.integers(0, 3),
)
def test_similarity_of_vectors_equals_that_of_texts(blocks, gold, limit):
    features = np.array([[value] for value, _ in blocks], dtype=float).reshape(-1, 1)
    page = PageVectors.of(features, [words for _, words in blocks], gold)
    fitness = LimitsFitness([page], np.array([False]))
    kept = Counter(word for value, words in blocks if value >= limit for word in words)
    expected = metrics.similarity(kept, Counter(gold))
    if not any(metrics.is_term(word) for word in gold):
        expected = 0.0  # a page without gold terms teaches nothing
    assert fitness.of_limits(np.array([[float(limit)]]))[0] == pytest.approx(expected)


def test_training_and_extraction_keep_equal_blocks(vectors):
    """The swarm's comparison of features and limits is the runtime's."""
    html = (BUNDLED / "mini" / "pages" / "northwind-factory.html").read_bytes()
    blocks = read_blocks(parse(html))
    features, limits = measure(blocks), load_limits()
    words = [metrics.words(text) for text in blocks.texts]
    gold = [word for block in words for word in block]
    page = PageVectors.of(features.values, words, gold)
    kept = keep(features, limits)
    found = Counter(w for block, good in zip(words, kept, strict=True) if good for w in block)
    assert score_limits([page], limits.values) == pytest.approx(
        metrics.similarity(found, Counter(gold))
    )


def test_headline_is_removed_from_text_and_gold(corpus):
    page = next(page for page in corpus if page.id == "alkyona")
    vectors = page_vectors(page, "html5")
    gold = Counter(word for word in metrics.words(page.text or "") if metrics.is_term(word))
    assert vectors.gold_length == gold.total()
    everything = vectors.lengths.sum()
    html_words = len([w for w in metrics.words(page.title or "") if metrics.is_term(w)])
    with_title = page_vectors(
        type(page)(**{name: getattr(page, name) for name in page.__slots__} | {"title": None}),
        "html5",
    )
    assert with_title.lengths.sum() == everything + html_words


def test_page_without_a_gold_text_is_refused(corpus):
    page = corpus.pages[0]
    bare = type(page)(**{name: getattr(page, name) for name in page.__slots__} | {"text": None})
    with pytest.raises(CorpusError, match="no gold text to learn from"):
        page_vectors(bare, "html5")


def test_swarm_scores_better_than_keeping_everything(vectors):
    fit = fit_limits(vectors[:8], vectors[8:], SMALL)
    assert fit.train_score > score_limits(vectors[:8], NO_LIMITS) + 0.1
    assert fit.test_score > score_limits(vectors[8:], NO_LIMITS) + 0.1


def test_equal_seeds_give_equal_limits(vectors):
    one, other = (fit_limits(vectors, vectors, SMALL) for _ in range(2))
    assert one.limits.tobytes() == other.limits.tobytes()
    assert one.train_score == other.train_score


def test_more_populations_never_lower_the_training_score(vectors):
    alone = fit_limits(vectors, vectors, SMALL)
    several = fit_limits(vectors, vectors, SMALL, populations=3)
    assert len(several.flights) == 3
    assert several.train_score >= alone.train_score
    assert several.flights[0].history == alone.flights[0].history


def test_interrupt_starts_no_further_population(vectors):
    def stop(generation: Generation) -> None:
        if generation.number == 3:
            raise KeyboardInterrupt

    fit = fit_limits(vectors, vectors, SMALL, populations=3, on_generation=stop)
    assert fit.interrupted
    assert len(fit.flights) == 1
    assert fit.train_score == score_limits(vectors, fit.limits)


def test_range_ignores_outlier_blocks():
    features = np.zeros((100, len(NAMES)))
    features[:, 0] = np.arange(100)
    features[99, 0] = 10_000
    page = PageVectors.of(features, [["word"]] * 100, ["word"])
    assert Ranges.of([page]).span[0] == 2 * 94


def test_half_of_a_range_switches_a_feature_off():
    page = PageVectors.of(np.full((10, len(NAMES)), 0.5), [["word"]] * 10, ["word"])
    ranges = Ranges.of([page])
    ends = ranges.limits(np.array([np.zeros(8), np.ones(8)]))
    middle = ranges.limits(np.full((1, 8), 0.5))
    assert middle.tolist() == [np.where(UPPER, 0.5, 0.0).tolist()]
    lower, upper = ends[:, ~UPPER], ends[:, UPPER]
    assert lower.tolist() == [[0.0] * 6, [0.5] * 6]
    assert upper.tolist() == [[0.0] * 2, [1.0] * 2]


def test_cross_validation_scores_every_page_once(corpus, vectors):
    known = dict(zip(corpus, vectors, strict=True))
    told: list[Generation] = []
    splits = folds_by_site(corpus, k=3)
    scores = cross_validate(splits, known, Plan("html5", SMALL), told.append)
    assert Counter(score.page.id for score in scores) == Counter(page.id for page in corpus)
    assert len(told) == 3 * (SMALL.generations + 1)
    assert np.mean([s.fe for s in scores]) > np.mean([s.pr for s in scores])


def a_fit(score: float = 0.5) -> LimitsFit:
    return LimitsFit(limits=np.arange(8) / 10, train_score=score, test_score=score, flights=())


ORIGIN = limits.Origin(
    corpus="mini", fingerprint="f" * 64, pages=12, seed=3, command="newscrawl train"
)


def test_limits_are_read_unchanged_from_the_file(tmp_path):
    path = tmp_path / "new" / "limits.json"
    limits.write_limits(path, Plan("html5", SMALL), a_fit(), ORIGIN)
    limits.write_limits(path, Plan("html5", SMALL, unspaced=True), a_fit(0.25), ORIGIN)
    read = limits.read_limits(path, "html5")
    assert read.tolist() == (np.arange(8) / 10).tolist()
    entry = json.loads(path.read_text())["html5 unspaced"]
    assert entry["provenance"]["test_score"] == 0.25
    assert entry["provenance"]["feature_version"] == VERSION
    assert list(path.parent.iterdir()) == [path]


def test_better_limits_are_kept(tmp_path):
    with pytest.raises(limits.LimitsError, match=r"score 0\.6000 .* 0\.5000; give --force"):
        limits.check_better(a_fit(0.5), 0.6, tmp_path / "limits.json")
    limits.check_better(a_fit(0.5), 0.5, tmp_path / "limits.json")
    limits.check_better(a_fit(0.5), None, tmp_path / "limits.json")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "not JSON"),
        ("[]", "not a file of limits"),
        ('{"html5": {"limits": {"sentences": 1}}}', "lacks a limit"),
    ],
    ids=["torn", "list", "limit missing"],
)
def test_invalid_limits_file_is_named(tmp_path, content, message):
    path = tmp_path / "limits.json"
    path.write_text(content)
    with pytest.raises(limits.LimitsError, match=message):
        limits.read_limits(path, "html5")


@pytest.mark.parametrize("name", ["html5", "html5 unspaced", "2007"])
def test_shipped_limits_have_the_current_feature_version(name):
    """When this fails, features changed: raise features.VERSION and run `newscrawl train`."""
    entry = json.loads(limits.LIMITS_FILE.read_text())[name]
    provenance = entry["provenance"]
    assert provenance["feature_version"] == VERSION
    profile: ProfileName = "2007" if name == "2007" else "html5"
    assert provenance["features_digest"] == features_digest(profile)
    assert list(entry["limits"]) == list(NAMES)
    assert len(provenance["fingerprint"]) == 64
    assert provenance["command"].startswith("newscrawl train")
    assert 0.5 < provenance["test_score"] <= 1


@pytest.mark.parametrize(
    ("page", "unspaced"),
    [("qingsong", True), ("shirasagi", True), ("northwind-factory", False), ("alkyona", False)],
)
def test_page_uses_the_limits_of_its_script(page, unspaced):
    html = (BUNDLED / "mini" / "pages" / f"{page}.html").read_bytes()
    features = measure(read_blocks(parse(decode(html))))
    assert limits_for(features) is load_limits("html5", unspaced=unspaced)


def test_limits_of_unspaced_scripts_are_trained_on_their_pages(corpus):
    assert {page.lang for page in learnable(corpus, unspaced=True)} == {"zh", "ja"}
    with pytest.raises(CorpusError, match="no page in zh, ja"):
        learnable(corpus.select(langs=["en"]), unspaced=True)
