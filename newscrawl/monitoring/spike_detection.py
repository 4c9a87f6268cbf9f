"""Find spikes: days on which a company has more articles than its own history makes likely.

The expected number of a day is the company's share of all articles read, times the articles read
that day, times the company's own factor for that weekday: if half the sources failed, half is
expected. Days without coverage are gaps and do not count.

News comes in bursts: counts scatter more than Poisson's. They are modelled as negative binomial,
with a scatter that is fitted to the company's own days by moments and increased by the uncertainty
of a short history. A day is a spike if so high a count has a chance below ALPHA, is FACTOR times
the expected number, and MIN_ARTICLES at least. `benchmarks.spikes` measures how often that is a
false alarm, and how often it finds a spike.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

import numpy as np

# All ours; ALPHA, MIN_SCATTER and CAUTION set by `python -m benchmarks.spikes`.
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
    counts = np.array([day.articles for day in days], dtype=float)
    read = np.array([day.read for day in days], dtype=float)
    weekdays = np.array([day.day.weekday() for day in days])
    # Half an article more: otherwise 0 would be expected of a company that was never named.
    rate = (counts.sum() + 0.5) / read.sum()
    observed = np.bincount(weekdays, counts, _DAYS_OF_WEEK)
    average = np.bincount(weekdays, read * rate, _DAYS_OF_WEEK)
    factors = (observed + WEEKDAY_PRIOR) / (average + WEEKDAY_PRIOR)
    fitted = read * rate * factors[weekdays]
    expected = today.read * rate * factors[today.day.weekday()]
    # The negative binomial's 1/r, by moments: variance = mean + mean² / r.
    freedom = len(counts) / max(1, len(counts) - _DAYS_OF_WEEK)
    excess = freedom * ((counts - fitted) ** 2).sum() - fitted.sum()
    scatter = max(MIN_SCATTER, CAUTION * float(excess / (fitted**2).sum()))
    same_weekdays = len(days) / _DAYS_OF_WEEK + WEEKDAY_PRIOR / max(fitted.mean(), WEEKDAY_PRIOR)
    uncertainty = 1 / len(days) + 1 / (same_weekdays * _DAYS_OF_WEEK)
    scatter += (scatter + 1 / fitted.mean()) * uncertainty
    chance = tail(today.articles, float(expected), float(scatter))
    return Assessment(
        articles=today.articles, expected=float(expected), chance=chance, history=len(days)
    )


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
