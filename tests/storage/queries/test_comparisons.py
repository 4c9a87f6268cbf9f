"""What a change is worth: the chances are exact, and chance alone is rarely taken for a change."""

import random

import pytest
from hypothesis import given, strategies as st

from benchmarks.changes import share_named
from newscrawl.answers.words import change_text, verdict_text
from newscrawl.storage.queries.comparisons import ALPHA, Change, Day, compare, two_sided


@given(
    now=st.integers(0, 3000),
    before=st.integers(0, 3000),
    share=st.floats(0.01, 0.99),
)
def test_chance_is_twice_the_smaller_tail_of_the_binomial(
    now: int, before: int, share: float
) -> None:
    from scipy.stats import binom  # noqa: PLC0415 - takes a second of all processes of pytest

    total = now + before
    tails = binom.cdf(now, total, share), binom.sf(now - 1, total, share)
    expected = min(1.0, 2 * min(tails))
    assert two_sided(now, before, share) == pytest.approx(expected, rel=1e-6, abs=1e-12)


def steady(articles: int, read: int, days: int = 30) -> list[Day]:
    return [Day(articles, read)] * days


def test_clear_rise_and_fall_are_named() -> None:
    low, high = steady(2, 100), steady(4, 100)
    assert compare(high, low).verdict == "more"
    assert compare(low, high).verdict == "fewer"
    assert compare(low, low).verdict == "unclear"


def test_half_of_the_sources_failing_is_no_fall() -> None:
    change = compare(steady(2, 50), steady(4, 100))
    assert (change.verdict, change.growth) == ("unclear", 0.0)


def test_more_papers_read_are_no_growth() -> None:
    change = compare([Day(131, 658)], [Day(36, 219)])
    assert change_text(change) == "+21%"


def test_one_to_three_is_told_in_counts() -> None:
    change = compare([Day(3, 100)], [Day(1, 100)])
    assert change_text(change) == "1 → 3"
    assert change.growth is None
    assert verdict_text(change).startswith("no clear change")


def test_new_company_has_no_percentage() -> None:
    assert change_text(compare(steady(1, 100), steady(0, 100))) == "0 → 30"


def test_nothing_read_before_is_not_compared() -> None:
    change = compare(steady(2, 100), [])
    assert (change.verdict, change.before, verdict_text(change)) == (
        "unknown",
        None,
        "no previous period yet",
    )
    assert change_text(change) == "no data before"


def test_percentage_stands_beside_the_chance() -> None:
    change = Change(now=150, before=100, chance=0.0004, rises=True, growth=0.5)
    assert change_text(change) == "+50%"
    assert verdict_text(change) == "a larger share than before (p\u00a0<\u00a00.001)"


@pytest.mark.parametrize("scatter", [0.0, 0.5])
@pytest.mark.parametrize("mean", [0.3, 3.0])
def test_chance_alone_is_rarely_called_a_change(mean: float, scatter: float) -> None:
    false = share_named(random.Random(7), mean, scatter, 1.0, 400)  # noqa: S311 - no secret
    # More than the limit promises, for the luck of the draw.
    assert false <= 2.5 * ALPHA


def test_twice_as_many_articles_are_called_more() -> None:
    rng = random.Random(7)  # noqa: S311 - no secret
    assert share_named(rng, 3.0, 0.1, 2.0, 100) > 0.85
