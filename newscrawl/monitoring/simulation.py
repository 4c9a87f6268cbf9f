"""How often the rule for spikes gives false alarms, and how often it finds a spike: simulated.

A made-up company is named about `mean` times on a working day and half as often on Saturdays
and Sundays, when the sources write less, too. Its counts are negative binomial with a scatter of
its own, which the rule does not know; one day in ten is a gap, and on one in ten half the
sources fail. Then one more day comes, as usual or with `times` as many articles.
"""

from dataclasses import dataclass
from datetime import date, timedelta

import numpy as np

from newscrawl.monitoring.surprise import HISTORY_DAYS, DayCount, surprise

MEANS = (0.3, 3.0, 30.0)
SCATTERS = (0.0, 0.1, 0.5)
TIMES = (3, 5, 10)
# Ours: the articles that all sources write on a working day, and on a weekend's relative to it.
_READ = 2000
_WEEKEND_READ, _WEEKEND_NAMED = 0.6, 0.5
_GAPS, _HALVES = 0.1, 0.1
_MONDAY = date(2026, 1, 5)


@dataclass(frozen=True, slots=True, kw_only=True)
class Simulated:
    """A kind of company: the share of usual days that raised an alarm, and for each of TIMES
    that of days with so many times as many articles."""

    mean: float
    scatter: float
    days: int
    false_alarms: float
    found: tuple[float, ...]


def simulate(days: int = 2000, seed: int = 1) -> list[Simulated]:
    """Each kind of company on so many days after a history of its own; the same seed gives the
    same figures."""
    dice = np.random.default_rng(seed)
    return [
        Simulated(
            mean=mean,
            scatter=scatter,
            days=days,
            false_alarms=_alarms(dice, mean, scatter, 1, days),
            found=tuple(_alarms(dice, mean, scatter, times, days // 4) for times in TIMES),
        )
        for mean in MEANS
        for scatter in SCATTERS
    ]


def _alarms(dice: np.random.Generator, mean: float, scatter: float, times: int, days: int) -> float:
    alarms = 0
    for number in range(days):
        # The history begins on each weekday in turn.
        first = _MONDAY + timedelta(days=number % 7)
        history = [
            _day(dice, first + timedelta(days=day), mean, scatter) for day in range(HISTORY_DAYS)
        ]
        today = _day(dice, first + timedelta(days=HISTORY_DAYS), mean * times, scatter, gaps=0.0)
        found = surprise(history, today)
        alarms += found is not None and found.is_spike
    return alarms / days


def _day(
    dice: np.random.Generator, day: date, mean: float, scatter: float, gaps: float = _GAPS
) -> DayCount:
    if dice.random() < gaps:
        return DayCount(day, None, 0)
    reached = 0.5 if dice.random() < _HALVES else 1.0
    weekend = day.weekday() >= 5
    expected = mean * reached * (_WEEKEND_NAMED if weekend else 1.0)
    burst = dice.gamma(1 / scatter, scatter) if scatter else 1.0
    read = dice.poisson(_READ * reached * (_WEEKEND_READ if weekend else 1.0))
    return DayCount(day, int(dice.poisson(expected * burst)), int(read))
