"""When to request pages and listings again: pure functions of times.

- A page is revisited at growing ages, since nearly all corrections are made in an article's first
  hours. An article older than the last age is not requested again.
- A page that couldn't be fetched is retried a limited number of times, after growing delays.
- A page that was not requested, since its robots.txt could not be read, waits, for a time that
  grows with its age; this doesn't count as a failure of the page.
- A feed or sitemap is polled about as often as it has a new article, less often while it has none,
  and within two bounds.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

# Ours, all four. The rate of publication is that of the last articles, up to this number: enough to
# be steady, few enough to follow a day's course.
_MAX_RECENT = 20
# The interval if neither dates nor earlier readings give a rate.
_DEFAULT_INTERVAL = timedelta(hours=1)
# The factors of the next interval for each reading without a new article, and for each failure.
_QUIET_FACTOR = 1.5
_FAILURE_FACTOR = 2.0
# A page that waits for a robots.txt is tried again after a quarter of its age, within bounds, and
# counts as failed when it is older than this: RFC 9309, 2.3.1.4, takes 30 days as an example of the
# time after which an unreachable robots.txt may be ignored.
_DEFERRED_SHARE, _DEFERRED_LEAST = 4, timedelta(hours=1)
_DEFERRED_UNTIL = timedelta(days=30)


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """`revisits` are ages of an article, `retries` the delays after the first, second, ...
    failure."""

    revisits: tuple[timedelta, ...]
    retries: tuple[timedelta, ...]
    poll_min: timedelta
    poll_max: timedelta

    def revisit_at(self, born: datetime, now: datetime) -> datetime | None:
        """Return when to revisit a page that was read now; `born` is its time of publication."""
        since = min(born, now)
        return next((since + age for age in self.revisits if since + age > now), None)

    def retry_at(self, failures: int, now: datetime) -> datetime | None:
        """Return when to retry a page after this number of failures in a row; None for never."""
        return now + self.retries[failures - 1] if failures <= len(self.retries) else None

    def deferred_to(self, born: datetime, now: datetime) -> datetime | None:
        """Return when to retry a page that waits for its robots.txt; None if it is so old that it
        counts as failed."""
        age = now - born
        if age > _DEFERRED_UNTIL:
            return None
        return now + max(_DEFERRED_LEAST, min(age / _DEFERRED_SHARE, self.poll_max))

    def poll_at(self, interval: timedelta, quiet: int, failures: int, now: datetime) -> datetime:
        """Return when to request a listing again, after these numbers of readings without a new
        article and of failures."""
        if failures:
            return now + self._bounded(self.poll_min, _FAILURE_FACTOR, failures)
        return now + self._bounded(interval, _QUIET_FACTOR, quiet)

    def _bounded(self, interval: timedelta, factor: float, times: int) -> timedelta:
        base = min(max(interval, self.poll_min), self.poll_max)
        # Beyond twenty, an interval is over any bound; larger powers overflow.
        return min(base * factor ** min(times, 20), self.poll_max)


def interval_by_history(
    before: timedelta | None, passed: timedelta | None, fresh: int
) -> timedelta:
    """Return the time between two articles of a listing without dates, by its readings.

    `fresh` articles are new since the reading before, which was `passed` ago; `before` is the
    result at that time. The new figure has the same weight as all older ones together.
    """
    usual = before or _DEFAULT_INTERVAL
    return (usual + passed / fresh) / 2 if fresh and passed else usual


def publishing_interval(
    moments: Iterable[datetime], stated: timedelta | None, now: datetime
) -> timedelta | None:
    """Return the mean time between the newest articles of a listing, not yet bounded.

    `stated` is the interval that a feed states (ttl, sy:updatePeriod); it is used unless entries
    would leave the listing before they are read. None if neither dates nor the feed give an
    interval.
    """
    dated = sorted((moment for moment in moments if moment <= now), reverse=True)
    if len(dated) < 2:
        return stated
    newest = dated[:_MAX_RECENT]
    gap = (newest[0] - newest[-1]) / (len(newest) - 1)
    if stated is None or stated <= gap:
        return gap
    return max(gap, min(stated, (now - dated[-1]) / 2))
