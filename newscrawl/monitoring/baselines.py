"""Expected numbers of a source, from its own past: articles of a day, and measures of its pages.

All limits here are ours. Chance alone exceeds them about once in years of a source's days (3 to 4
standard deviations); a real change exceeds them on its first day.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from math import sqrt
from statistics import median

from newscrawl.storage.source_stats import DailySourceStats

# Minimum days of history for an expectation; minimum days of one weekday, below which all weekdays
# are taken together.
MIN_DAYS = 7
MIN_WEEKDAYS = 3
# Minimum pages of a day that is assessed.
MIN_PAGES = 10
# Standard deviations beyond which a number of articles, or a measure of pages, is not due to
# chance.
ARTICLE_SIGMAS = 3.0
PAGE_SIGMAS = 4.0
# Smaller changes are no incident, even if they are certain: half of the articles, a fifth of the
# pages, a factor of two in lengths.
ARTICLE_PART = 0.5
PAGE_PART = 0.2
FACTOR = 2.0
# Standard deviations of a normal distribution in one median absolute deviation.
_MAD_SIGMA = 1.4826


@dataclass(frozen=True, slots=True)
class Expected:
    """A number of articles, and its standard deviation."""

    number: float
    deviation: float

    def is_missed_by(self, articles: int) -> bool:
        """Return whether a day's articles are fewer than chance allows, and far fewer."""
        low = self.number - ARTICLE_SIGMAS * self.deviation
        return articles < low and articles < self.number * ARTICLE_PART


def expected_articles(history: Sequence[DailySourceStats], day: date) -> Expected | None:
    """Return the new articles expected of a full day: the median of the same weekday, or of all
    days. Days without a successful run are left out. None where the history is too short."""
    known = [one for one in history if one.day < day and one.runs > one.failed_runs]
    if len(known) < MIN_DAYS:
        return None
    same_weekday = [one.new for one in known if one.day.weekday() == day.weekday()]
    numbers = same_weekday if len(same_weekday) >= MIN_WEEKDAYS else [one.new for one in known]
    middle = median(numbers)
    spread = _MAD_SIGMA * median(abs(number - middle) for number in numbers)
    # Articles vary at least as much as in Poisson's distribution.
    return Expected(middle, max(spread, sqrt(middle), 1.0))


@dataclass(frozen=True, slots=True)
class Change:
    """A measure of pages that has changed: `now` against the median `before`."""

    measure: str
    now: float
    before: float


def changed_share(
    measure: str, part: int, whole: int, before: Sequence[tuple[int, int]]
) -> Change | None:
    """Return the change of a share of pages that has risen beyond chance, or None.

    `before` holds parts and wholes of earlier days.
    """
    shares = [p / w for p, w in before if w >= MIN_PAGES]
    if whole < MIN_PAGES or len(shares) < MIN_DAYS:
        return None
    usual, now = median(shares), part / whole
    # One page in twenty may always differ, so that a usual share of 0 is no absolute limit.
    chance = sqrt(max(usual * (1 - usual), 0.05 * 0.95) / whole)
    spread = max(chance, _MAD_SIGMA * median(abs(share - usual) for share in shares))
    if now - usual > max(PAGE_PART, PAGE_SIGMAS * spread):
        return Change(measure, now, usual)
    return None


def changed_level(measure: str, now: float | None, before: Sequence[float]) -> Change | None:
    """Return the change of a level (a length, a share) by a factor of two that is beyond its own
    spread, or None."""
    if now is None or len(before) < MIN_DAYS:
        return None
    usual = median(before)
    if not usual:
        return None
    spread = _MAD_SIGMA * median(abs(value - usual) for value in before)
    is_beyond_spread = abs(now - usual) > PAGE_SIGMAS * spread
    if is_beyond_spread and not usual / FACTOR < now < usual * FACTOR:
        return Change(measure, now, usual)
    return None
