"""Whether a number of articles has changed, or differs only by chance.

Two counts of a company are compared by the exact conditional test of two Poisson rates
(Przyborowski and Wilenski 1940): if the company's share of the articles read is the same in both
periods, its articles in the later one are binomially distributed, given its articles in both. The
number of articles read replaces time, so that days without a crawl do not look like a decrease.
News comes in bursts, unlike a Poisson distribution: therefore both counts are first divided by the
scatter of the company's own days (Pearson's chi-square by its degrees of freedom, at least 1).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, lgamma, log, log1p
from typing import Literal

# Ours: the chance of no real change below which a change is named, and the number of earlier
# articles below which no percentage is given.
ALPHA = 0.01
MIN_FOR_PERCENT = 10
_NEGLIGIBLE = 1e-18  # of a sum of chances

Verdict = Literal["more", "fewer", "unclear", "unknown"]


@dataclass(frozen=True, slots=True)
class Day:
    """The articles of a company on a day, and all articles read on it."""

    articles: int
    read: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """The articles of a company now and before; None if nothing was read then.

    `chance` is that of a difference at least as large if the share of the articles read has not
    changed; None if it can't be computed. `rises` says whether the share does, and `growth` by
    how much, 0.5 for half as large again; None for small numbers, whose percentages mean little.
    """

    now: int
    before: int | None
    chance: float | None = None
    rises: bool = False
    growth: float | None = None

    @property
    def verdict(self) -> Verdict:
        """Return which of the two is larger, if that is hardly chance."""
        if self.before is None or self.chance is None:
            return "unknown"
        if self.chance >= ALPHA:
            return "unclear"
        return "more" if self.rises else "fewer"


def compare(now: Sequence[Day], before: Sequence[Day]) -> Change:
    """Return the change between the days of two periods."""
    read, read_before = sum(day.read for day in now), sum(day.read for day in before)
    articles, articles_before = (
        sum(day.articles for day in now),
        sum(day.articles for day in before),
    )
    if not before or not read_before:
        return Change(now=articles, before=None)
    if not read:
        return Change(now=articles, before=articles_before)
    scatter = _scatter(now, before)
    share = read / (read + read_before)
    growth = None
    if articles_before >= MIN_FOR_PERCENT:
        growth = articles / read / (articles_before / read_before) - 1
    return Change(
        now=articles,
        before=articles_before,
        chance=two_sided(round(articles / scatter), round(articles_before / scatter), share),
        rises=articles / read > articles_before / read_before,
        growth=growth,
    )


def two_sided(now: int, before: int, share: float) -> float:
    """Return the chance that of `now + before` articles, each of which belongs to the later period
    with the chance `share`, a number as improbable as `now` or more so does: twice the smaller
    tail."""
    total = now + before
    if total == 0 or share in {0.0, 1.0}:
        return 1.0
    is_high = now > total * share
    tail = _tail(now, total, share) if is_high else _tail(before, total, 1 - share)
    return min(1.0, 2 * tail)


def _tail(least: int, total: int, share: float) -> float:
    """Return the chance of `least` or more out of `total`; the terms fall from the mean on."""
    term = exp(
        lgamma(total + 1)
        - lgamma(least + 1)
        - lgamma(total - least + 1)
        + least * log(share)
        + (total - least) * log1p(-share)
    )
    odds, tail = share / (1 - share), 0.0
    for number in range(least, total + 1):
        tail += term
        term *= (total - number) / (number + 1) * odds
        if term < _NEGLIGIBLE * tail:
            break
    return min(tail, 1.0)


def _scatter(*periods: Sequence[Day]) -> float:
    """Return how much more the days vary than Poisson counts of their periods' rates."""
    squares, days = 0.0, 0
    for period in periods:
        rate = sum(day.articles for day in period) / sum(day.read for day in period)
        expected = [(day.articles, rate * day.read) for day in period if day.read and rate]
        squares += sum((number - mean) ** 2 / mean for number, mean in expected)
        days += max(len(expected) - 1, 0)
    return max(1.0, squares / days) if days else 1.0
