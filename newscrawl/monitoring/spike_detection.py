"""Find spikes: days on which a company has more articles than its own history makes likely.

The expected number of a day is the company's share of all articles read, times the articles read
that day, times the company's own factor for that weekday: if half the sources failed, half is
expected. Days without coverage are gaps and do not count.

News comes in bursts: counts scatter more than Poisson's. They are modelled as negative binomial,
with a scatter that is fitted to the company's own days by moments and increased by the uncertainty
of a short history. A day is a spike if so high a count has a chance below ALPHA, is FACTOR times
the expected number, and MIN_ARTICLES at least. `simulate` measures how often that is a false alarm,
and how often it finds a spike.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta

import numpy as np
from numpy.typing import NDArray

# All ours; ALPHA, MIN_SCATTER and CAUTION set by `newscrawl alerts simulate`.
HISTORY_DAYS = 56
MIN_HISTORY = 14
ALPHA = 0.0005
FACTOR = 2.0
MIN_ARTICLES = 5
# The least scatter that is assumed, the factor by which the measured scatter is raised (few days
# measure it badly, and too little of it means false alarms), and how many articles a weekday's
# factor must outweigh.
MIN_SCATTER = 0.1
CAUTION = 1.5
WEEKDAY_PRIOR = 10.0
# A tail's terms below this share of its sum change nothing.
_NEGLIGIBLE = 1e-12
_DAYS_OF_WEEK = 7

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


@dataclass(frozen=True, slots=True)
class DayCount:
    """A company's articles on a day, None if no source was covered, and all articles read."""

    day: date
    articles: int | None
    read: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Assessment:
    """A day's count against the expected number; `chance` is that of this count or more,
    `history` the number of days that the expectation comes from."""

    articles: int
    expected: float
    chance: float
    history: int

    @property
    def is_spike(self) -> bool:
        return (
            self.chance < ALPHA
            and self.articles >= MIN_ARTICLES
            and self.articles >= FACTOR * self.expected
        )


def assess(history: Sequence[DayCount], today: DayCount) -> Assessment | None:
    """Return how today's count compares to the days before; None if these are too few, or today is
    not covered."""
    days = [day for day in history if day.articles is not None and day.read > 0]
    if len(days) < MIN_HISTORY or today.articles is None or today.read <= 0:
        return None
    named = np.array([day.articles for day in days], dtype=float)
    read = np.array([day.read for day in days], dtype=float)
    weekdays = np.array([day.day.weekday() for day in days])
    # Half an article more: otherwise 0 would be expected of a company that was never named.
    rate = (named.sum() + 0.5) / read.sum()
    factors = _weekday_factors(named, read * rate, weekdays)
    fitted = read * rate * factors[weekdays]
    expected = today.read * rate * factors[today.day.weekday()]
    scatter = _scatter(named, fitted)
    same_weekdays = len(days) / _DAYS_OF_WEEK + WEEKDAY_PRIOR / max(fitted.mean(), WEEKDAY_PRIOR)
    uncertainty = 1 / len(days) + 1 / (same_weekdays * _DAYS_OF_WEEK)
    scatter += (scatter + 1 / fitted.mean()) * uncertainty
    chance = tail(today.articles, float(expected), float(scatter))
    return Assessment(
        articles=today.articles, expected=float(expected), chance=chance, history=len(days)
    )


def _weekday_factors(
    counts: NDArray[np.float64],
    expected: NDArray[np.float64],
    weekdays: NDArray[np.int64],
) -> NDArray[np.float64]:
    """Return by how much the company is named more or less on each weekday than on average."""
    seen = np.bincount(weekdays, counts, _DAYS_OF_WEEK)
    average = np.bincount(weekdays, expected, _DAYS_OF_WEEK)
    return (seen + WEEKDAY_PRIOR) / (average + WEEKDAY_PRIOR)


def _scatter(
    counts: NDArray[np.float64],
    fitted: NDArray[np.float64],
) -> float:
    """Return the negative binomial's 1/r, by moments: variance = mean + mean² / r."""
    freedom = len(counts) / max(1, len(counts) - _DAYS_OF_WEEK)
    excess = freedom * ((counts - fitted) ** 2).sum() - fitted.sum()
    return max(MIN_SCATTER, CAUTION * float(excess / (fitted**2).sum()))


def tail(count: int, mean: float, scatter: float) -> float:
    """Return the chance of `count` or more under a negative binomial of variance
    mean + scatter·mean²."""
    if count <= mean:
        return 1.0
    size = 1 / scatter
    odds = mean / (mean + size)
    term = math.exp(
        math.lgamma(count + size)
        - math.lgamma(size)
        - math.lgamma(count + 1)
        + count * math.log(odds)
        - size * math.log1p(mean / size)
    )
    total, number = term, count
    while term > total * _NEGLIGIBLE:
        term *= (number + size) / (number + 1) * odds
        total += term
        number += 1
    return min(1.0, total)


@dataclass(frozen=True, slots=True, kw_only=True)
class DetectionRate:
    """A kind of company: the share of usual days with an alarm, and for each of TIMES the share of
    days with an alarm when the articles are multiplied by it."""

    mean: float
    scatter: float
    days: int
    false_alarms: float
    found: tuple[float, ...]


def simulate(days: int = 2000, seed: int = 1) -> list[DetectionRate]:
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
