"""The rule for spikes: weekdays, gaps, scatter; its false alarms, simulated."""

from datetime import date, timedelta
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from benchmarks.spikes import TIMES, simulate
from newscrawl.monitoring import alerts
from newscrawl.monitoring.alerts import (
    ALPHA,
    MIN_HISTORY,
    Assessment,
    DayCount,
    assess,
    tail,
)

MONDAY = date(2026, 9, 7)
PAGE = Path(__file__).parents[2] / "docs" / "alerts.md"


def history(days: int = 56, usual: int = 3, weekend: int = 3, read: int = 100) -> list[DayCount]:
    counts = []
    for number in range(days):
        day = MONDAY + timedelta(days=number)
        counts.append(DayCount(day, weekend if day.weekday() > 4 else usual, read))
    return counts


def after(days: list[DayCount], articles: int | None, read: int = 100) -> Assessment | None:
    return assess(days, DayCount(days[-1].day + timedelta(days=1), articles, read))


@pytest.mark.parametrize(
    ("articles", "spike"), [(3, False), (6, False), (14, True), (60, True)], ids=str
)
def test_count_far_above_the_history_is_a_spike(articles, spike):
    assessment = after(history(), articles)
    assert assessment.is_spike is spike
    assert assessment.expected == pytest.approx(3, abs=0.1)


def test_few_articles_are_no_spike():
    assessment = after(history(usual=0, weekend=0), 4)
    assert assessment.chance < ALPHA
    assert not assessment.is_spike


def test_expected_number_depends_on_the_weekday():
    days = history(55, usual=40, weekend=2)
    saturday = after(days[:54], 20)
    monday = after(days + history(1, usual=2), 41)
    assert days[53].day.weekday() == 4
    assert saturday.is_spike
    assert saturday.expected < 15
    assert not monday.is_spike
    assert monday.expected > 30


def test_gaps_are_not_counted_as_zeros():
    complete = history()
    holes = [
        day if number % 2 else DayCount(day.day, None, 0) for number, day in enumerate(complete)
    ]
    zeros = [
        day if number % 2 else DayCount(day.day, 0, 100) for number, day in enumerate(complete)
    ]
    assert after(holes, 8).expected == pytest.approx(3, abs=0.2)
    assert after(zeros, 8).expected == pytest.approx(1.5, abs=0.3)


def test_expected_number_grows_with_articles_read():
    assert after(history(), 12, read=400).expected == pytest.approx(12, abs=0.5)
    assert not after(history(), 12, read=400).is_spike
    assert after(history(), 12, read=50).is_spike


@pytest.mark.parametrize(
    ("days", "articles", "read"),
    [
        pytest.param(history(MIN_HISTORY - 1), 50, 100, id="too short"),
        pytest.param(history(), None, 0, id="nobody looked"),
        pytest.param(history(), 0, 0, id="nothing read"),
        pytest.param([DayCount(d.day, None, 0) for d in history()], 9, 100, id="only gaps"),
    ],
)
def test_short_history_gives_no_assessment(days, articles, read):
    assert after(days, articles, read) is None


def test_bursty_company_needs_more_articles_for_a_spike():
    calm = history(usual=4, weekend=4)
    bursty = [DayCount(day.day, 0 if number % 4 else 16, 100) for number, day in enumerate(calm)]
    assert after(calm, 18).is_spike
    assert not after(bursty, 18).is_spike


@given(mean=st.floats(0.01, 500), scatter=st.floats(0.05, 3), count=st.integers(1, 400))
def test_tail_falls_with_the_count(mean, scatter, count):
    here, further = tail(count, mean, scatter), tail(count + 1, mean, scatter)
    assert 0 <= further <= here <= 1


@pytest.mark.parametrize(
    ("count", "mean", "scatter", "chance"),
    [
        # A geometric distribution: p = 1/3, (2/3)^count.
        pytest.param(5, 2.0, 1.0, (2 / 3) ** 5, id="geometric"),
        pytest.param(20, 2.0, 1.0, (2 / 3) ** 20, id="far out"),
        pytest.param(2, 2.0, 1.0, 1.0, id="not above the mean"),
    ],
)
def test_tail_is_that_of_a_negative_binomial(count, mean, scatter, chance):
    assert tail(count, mean, scatter) == pytest.approx(chance, rel=1e-6)


def test_false_alarms_are_rare_and_spikes_are_found():
    rates = simulate(days=120, seed=7)
    days = sum(rate.days for rate in rates)
    alarms = sum(rate.days * rate.false_alarms for rate in rates)
    assert alarms / days < 0.005
    big = next(rate for rate in rates if (rate.mean, rate.scatter) == (30.0, 0.1))
    assert dict(zip(TIMES, big.found, strict=True))[10] > 0.9
    assert simulate(days=8, seed=3) == simulate(days=8, seed=3)


def test_docs_list_the_constants():
    page = PAGE.read_text(encoding="utf-8")
    for name in (
        "HISTORY_DAYS",
        "MIN_HISTORY",
        "ALPHA",
        "FACTOR",
        "MIN_ARTICLES",
        "MIN_SCATTER",
        "CAUTION",
        "WEEKDAY_PRIOR",
    ):
        value = getattr(alerts, name)
        assert f"| alerts.{name} | {value} |" in page
    assert f"| alerts.SAME_BURST | {alerts.SAME_BURST.days} days |" in page
    assert f"| alerts.HIGHER | {alerts.HIGHER} |" in page
    assert f"| alerts.MIN_READ | {alerts.MIN_READ} |" in page
