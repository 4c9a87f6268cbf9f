"""What a source's own past lets expect of a day: articles by weekday, and how pages come out.

All limits here are ours. They are chosen so that chance alone trips them about once in years of
a source's days (3 to 4 standard deviations), and a real change on its first day.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from math import sqrt
from statistics import median

from newscrawl.storage.source_stats import DailySourceStats

# Days of history without which nothing is expected, and equal weekdays without which weekdays
# are not told apart.
LEAST_DAYS = 7
LEAST_WEEKDAYS = 3
# Pages without which a day's pages tell nothing.
LEAST_PAGES = 10
# Standard deviations beyond which a number of articles, or a measure of pages, is no chance.
ARTICLE_SIGMAS = 3.0
PAGE_SIGMAS = 4.0
# Smaller changes are no incident, however certain: half of the articles, a fifth of the pages,
# a factor of two in lengths.
ARTICLE_PART = 0.5
PAGE_PART = 0.2
FACTOR = 2.0
# A median's distance to its own median, in standard deviations of a normal distribution.
_MAD_SIGMA = 1.4826


@dataclass(frozen=True, slots=True)
class Expected:
    """A number of articles, and its standard deviation."""

    number: float
    deviation: float

    def missed_by(self, found: int) -> bool:
        """Whether so few are no chance, and few enough to matter."""
        low = self.number - ARTICLE_SIGMAS * self.deviation
        return found < low and found < self.number * ARTICLE_PART


def expected_articles(history: Sequence[DailySourceStats], day: date) -> Expected | None:
    """The new articles to be expected of a full day: the median of equal weekdays, or of all
    days. Days without a run say nothing. None where the history is too short."""
    known = [one for one in history if one.day < day and one.runs > one.failed_runs]
    if len(known) < LEAST_DAYS:
        return None
    alike = [one.new for one in known if one.day.weekday() == day.weekday()]
    numbers = alike if len(alike) >= LEAST_WEEKDAYS else [one.new for one in known]
    middle = median(numbers)
    spread = _MAD_SIGMA * median(abs(number - middle) for number in numbers)
    # Articles come at least as unevenly as chance (Poisson) lets them.
    return Expected(middle, max(spread, sqrt(middle), 1.0))


@dataclass(frozen=True, slots=True)
class Change:
    """A measure of pages that is not what it was: `now` against the median `before`."""

    measure: str
    now: float
    before: float


def changed_share(
    measure: str, part: int, whole: int, before: Sequence[tuple[int, int]], *, both: bool = False
) -> Change | None:
    """Whether a share of pages has risen (or, with `both`, moved) beyond chance.

    `before` are parts and wholes of earlier days.
    """
    shares = [p / w for p, w in before if w >= LEAST_PAGES]
    if whole < LEAST_PAGES or len(shares) < LEAST_DAYS:
        return None
    usual, now = median(shares), part / whole
    # One page in twenty is always unlike the others, so that a share of 0 is not taken for a law.
    chance = sqrt(max(usual * (1 - usual), 0.05 * 0.95) / whole)
    spread = max(chance, _MAD_SIGMA * median(abs(share - usual) for share in shares))
    moved = abs(now - usual) if both else now - usual
    if moved > PAGE_PART and moved > PAGE_SIGMAS * spread:
        return Change(measure, now, usual)
    return None


def changed_level(measure: str, now: float | None, before: Sequence[float]) -> Change | None:
    """Whether a level (a length, a part) has moved by a factor of two, beyond its own spread."""
    if now is None or len(before) < LEAST_DAYS:
        return None
    usual = median(before)
    if not usual:
        return None
    spread = _MAD_SIGMA * median(abs(value - usual) for value in before)
    far = abs(now - usual) > PAGE_SIGMAS * spread
    return (
        Change(measure, now, usual) if far and not usual / FACTOR < now < usual * FACTOR else None
    )
