"""Quality floors: no method falls below the scores that it has reached."""

from pathlib import Path

import pytest

from benchmarks.extraction import floors
from benchmarks.extraction.floors import (
    MethodMean,
    check_floors,
    falls,
    load_floors,
    moved,
    reached,
)
from newscrawl.extraction.methods import METHODS
from newscrawl.training.corpus import Corpus, load_corpus
from newscrawl.training.evaluation import evaluate

BUNDLED = Path(__file__).parents[1] / "corpus"
FLOORS: floors.Floors = {"f": {"fe": {"news": {"word.f1": 0.9}}}}


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return load_corpus(BUNDLED)


def fe_on_news(f1: float) -> list[MethodMean]:
    return [MethodMean("fe", "news", "word.f1", f1)]


def test_no_method_falls_below_its_floor(corpus):
    on_file = load_floors()
    assert set(on_file[corpus.fingerprint]) == set(METHODS)
    scores = evaluate(corpus.pages, tuple(METHODS), ("word", "similarity", "phrases"), workers=1)
    assert falls(reached(scores), corpus.fingerprint, on_file) == []


def test_fall_is_reported_with_both_numbers():
    assert falls(fe_on_news(0.5), "f", FLOORS) == [
        "fe: word.f1 on news is 0.5000, below its floor 0.9000"
    ]
    assert falls(fe_on_news(0.5), "another corpus", FLOORS) == []


def test_floors_only_rise_unless_they_are_lowered_on_request():
    assert moved(fe_on_news(0.5), "f", FLOORS) == FLOORS
    assert moved(fe_on_news(0.95), "f", FLOORS)["f"]["fe"]["news"]["word.f1"] == 0.948
    assert moved(fe_on_news(0.5), "f", FLOORS, lower=True)["f"]["fe"]["news"]["word.f1"] == 0.498


def test_command_exits_with_1_below_a_floor(run_benchmark, corpus, tmp_path, monkeypatch):
    high = moved([MethodMean("tb", "mini", "word.f1", 1.0)], corpus.fingerprint, {})
    monkeypatch.setattr(floors, "FLOORS_FILE", tmp_path / "floors.json")
    floors.save_floors(high)
    ran = run_benchmark(check_floors, "--corpus", BUNDLED)
    assert ran.code == 1
    assert "below its floor: tb: word.f1 on mini is" in ran.err
    ran = run_benchmark(check_floors, "--corpus", BUNDLED, "--lower-floors")
    assert ran.code == 0
    assert set(load_floors()[corpus.fingerprint]) == set(METHODS)
