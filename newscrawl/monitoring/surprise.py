"""The rule for a spike: is a day's count more than a company's own history makes likely?

What a day lets expect is the company's share of all articles read, times the articles read that
day, so that a day on which half the sources failed expects half; times the company's own habit
on that weekday. Days on which nobody looked are gaps and count for nothing.

News comes in bursts: counts scatter more than Poisson's. They are taken for negative binomial,
with a scatter that is fitted to the company's own days by moments and widened by what a short
history leaves open. A day is a spike if so high a count has a chance below ALPHA, and is
FACTOR times what was expected, and FEWEST articles at least. `simulate` measures how often that
is a false alarm, and how often it finds a spike.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

import numpy as np
from numpy.typing import NDArray

# All ours; ALPHA, SCATTER and CAUTION set by `newscrawl alerts simulate`.
HISTORY_DAYS = 56
SHORTEST_HISTORY = 14
ALPHA = 0.0005
FACTOR = 2.0
FEWEST = 5
# The least scatter that is assumed, the factor by which what is measured is raised (few days
# tell it badly, and too little of it means false alarms), and how many articles a weekday's
# habit must outweigh.
SCATTER = 0.1
CAUTION = 1.5
EASE = 10.0
# A tail's terms below this share of its sum change nothing.
_NEGLIGIBLE = 1e-12
_DAYS_OF_WEEK = 7


@dataclass(frozen=True, slots=True)
class DayCount:
    """A company's articles on a day and all articles read; None where nobody looked."""

    day: date
    articles: int | None
    read: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Surprise:
    """How a day's count stands to what was expected; `chance` is that of so many or more."""

    articles: int
    expected: float
    chance: float
    history: int

    @property
    def is_spike(self) -> bool:
        return (
            self.chance < ALPHA
            and self.articles >= FEWEST
            and self.articles >= FACTOR * self.expected
        )


def surprise(history: Sequence[DayCount], today: DayCount) -> Surprise | None:
    """What the days before say of today's count; None where they are too few to say anything, or
    nobody looked today."""
    days = [day for day in history if day.articles is not None and day.read > 0]
    if len(days) < SHORTEST_HISTORY or today.articles is None or today.read <= 0:
        return None
    named = np.array([day.articles for day in days], dtype=float)
    read = np.array([day.read for day in days], dtype=float)
    weekdays = np.array([day.day.weekday() for day in days])
    # Half an article more: a company that was never named could not be expected at all.
    rate = (named.sum() + 0.5) / read.sum()
    habit = _habits(named, read * rate, weekdays)
    fitted = read * rate * habit[weekdays]
    weekday = today.day.weekday()
    expected = today.read * rate * habit[weekday]
    scatter = _scatter(named, fitted)
    alike = len(days) / _DAYS_OF_WEEK + EASE / max(fitted.mean(), EASE)
    scatter += (scatter + 1 / fitted.mean()) * (1 / len(days) + 1 / (alike * _DAYS_OF_WEEK))
    chance = tail(today.articles, float(expected), float(scatter))
    return Surprise(
        articles=today.articles, expected=float(expected), chance=chance, history=len(days)
    )


def _habits(
    named: NDArray[np.float64],
    plain: NDArray[np.float64],
    weekdays: NDArray[np.int64],
) -> NDArray[np.float64]:
    """By how much the company is named more or less on each weekday than all news would make."""
    seen = np.bincount(weekdays, named, _DAYS_OF_WEEK)
    thought = np.bincount(weekdays, plain, _DAYS_OF_WEEK)
    return (seen + EASE) / (thought + EASE)


def _scatter(
    named: NDArray[np.float64],
    fitted: NDArray[np.float64],
) -> float:
    """The negative binomial's 1/r, by moments: variance = mean + mean² / r."""
    freedom = len(named) / max(1, len(named) - _DAYS_OF_WEEK)
    excess = freedom * ((named - fitted) ** 2).sum() - fitted.sum()
    return max(SCATTER, CAUTION * float(excess / (fitted**2).sum()))


def tail(count: int, mean: float, scatter: float) -> float:
    """The chance of `count` or more under a negative binomial of variance mean + scatter·mean²."""
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
    whole, number = term, count
    while term > whole * _NEGLIGIBLE:
        term *= (number + size) / (number + 1) * odds
        whole += term
        number += 1
    return min(1.0, whole)
