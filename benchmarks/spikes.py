"""Measure the rule for spikes on simulated companies: false alarms, and detected spikes.

python -m benchmarks.spikes --days 6000
"""

import argparse
from dataclasses import dataclass
from datetime import date, timedelta

import numpy as np

from newscrawl.monitoring.alerts import HISTORY_DAYS, DayCount, assess

# What `simulate` tries, all ours: articles of a company on a working day, scatters, and by how
# much a spike multiplies them.
MEANS = (0.3, 3.0, 30.0)
SCATTERS = (0.0, 0.1, 0.5)
TIMES = (3, 5, 10)
# The articles of all sources on a working day, and the share of that on a weekend's day.
_READ = 2000
_WEEKEND_READ, _WEEKEND_NAMED = 0.6, 0.5
_GAPS, _HALVES = 0.1, 0.1
_MONDAY = date(2026, 1, 5)
_DAYS_OF_WEEK = 7


@dataclass(frozen=True, slots=True, kw_only=True)
class DetectionRate:
    """A kind of company: the share of usual days with an alarm, and for each of TIMES the share of
    days with an alarm when the articles are multiplied by it."""

    mean: float
    scatter: float
    days: int
    false_alarms: float
    found: tuple[float, ...]


def simulate(days: int, seed: int) -> list[DetectionRate]:
    """Measure the rule on made-up companies; the same seed gives the same figures.

    A company is named about `mean` times on a working day and half as often on Saturdays and
    Sundays, when the sources write less, too. Its counts are negative binomial with a scatter
    that the rule does not know; one day in ten is a gap, and on one in ten half the sources fail.
    Each of the days comes after a history of its own, as usual or with `times` the articles.
    """
    dice = np.random.default_rng(seed)
    return [
        DetectionRate(
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
        first = _MONDAY + timedelta(days=number % _DAYS_OF_WEEK)
        history = [
            _random_day(dice, first + timedelta(days=day), mean, scatter)
            for day in range(HISTORY_DAYS)
        ]
        last = first + timedelta(days=HISTORY_DAYS)
        today = _random_day(dice, last, mean * times, scatter, gaps=0.0)
        assessment = assess(history, today)
        alarms += assessment is not None and assessment.is_spike
    return alarms / days


def _random_day(
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


def main() -> None:
    """Print a row for each kind of company."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--days", type=int, default=2000, help="for each kind of company")
    parser.add_argument("--seed", type=int, default=1, help="the same seed gives the same figures")
    options = parser.parse_args()
    print("usual", "scatter", "false a day", *(f"x{times} found" for times in TIMES), sep="\t")
    for rate in simulate(options.days, options.seed):
        shares = (f"{share:.0%}" for share in rate.found)
        print(rate.mean, rate.scatter, f"{rate.false_alarms:.2%}", *shares, sep="\t")


if __name__ == "__main__":
    main()
