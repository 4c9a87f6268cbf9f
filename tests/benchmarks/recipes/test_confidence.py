"""The steps of the confidence."""

from benchmarks.recipes import confidence
from benchmarks.recipes.confidence import Expectation, fit_steps


def test_steps_are_means_of_groups_that_never_fall(monkeypatch):
    monkeypatch.setattr(confidence, "MIN_PAGES", 2)
    scored = [(0.2, 0.1), (0.3, 0.3), (0.5, 0.8), (0.6, 0.8), (0.7, 0.6), (0.8, 0.6), (0.9, 1.0)]
    pairs = [Expectation(*each) for each in (*scored, (1.0, 0.9))]
    steps = fit_steps(pairs[::-1])
    assert steps == [(0.25, 0.2), (0.65, 0.7), (0.95, 0.95)]
