"""When something is worth asking for again. Pure: times go in, times come out.

- A page that was read is read again at ages that fall further and further apart, since nearly
  all corrections come in an article's first hours. An article older than the last of them is
  never asked for again.
- A page that couldn't be fetched is retried a limited number of times, after growing delays.
- A page that wasn't asked for, since its robots.txt was out of reach, waits: the longer, the older
  it is. That is nothing the page has failed in.
- A feed or sitemap is polled about as often as it brings an article, less often while it brings
  none, and never outside of two bounds.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

# Ours, all four. The rate of publication is that of the last articles, up to this number: enough to
# be steady, few enough to follow a day's course.
_MAX_RECENT = 20
# Where neither dates nor earlier readings tell a rate.
_DEFAULT_INTERVAL = timedelta(hours=1)
# Each reading that brings nothing makes the next interval so much longer, each failure so much.
_QUIET_FACTOR = 1.5
_FAILURE_FACTOR = 2.0
# A page that waits for a robots.txt is tried again after a quarter of its age, within bounds, and
# counts as one that failed when it is older than this: RFC 9309, 2.3.1.4, takes 30 days as an
# example of the time after which an unreachable robots.txt need no longer be waited for.
_DEFERRED_SHARE, _DEFERRED_LEAST = 4, timedelta(hours=1)
_DEFERRED_UNTIL = timedelta(days=30)


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """`revisits` are ages of an article, `retries` rests after a first, second, ... failure."""

    revisits: tuple[timedelta, ...]
    retries: tuple[timedelta, ...]
    poll_min: timedelta
    poll_max: timedelta

    def revisit_at(self, born: datetime, now: datetime) -> datetime | None:
        """Return when a page that was read now is to be read again; `born` is when it was
        published."""
        since = min(born, now)
        return next((since + age for age in self.revisits if since + age > now), None)

    def retry_at(self, failures: int, now: datetime) -> datetime | None:
        """Return when a page is to be tried again after as many failures in a row; None for
        never."""
        return now + self.retries[failures - 1] if failures <= len(self.retries) else None

    def deferred_to(self, born: datetime, now: datetime) -> datetime | None:
        """Return when a page that waits for its robots.txt is to be tried again; None where it
        is so old that it counts as failed."""
        age = now - born
        if age > _DEFERRED_UNTIL:
            return None
        return now + max(_DEFERRED_LEAST, min(age / _DEFERRED_SHARE, self.poll_max))

    def poll_at(self, interval: timedelta, quiet: int, failures: int, now: datetime) -> datetime:
        """Return when to request a listing again, after as many readings without news, or
        failures."""
        if failures:
            return now + self._bounded(self.poll_min, _FAILURE_FACTOR, failures)
        return now + self._bounded(interval, _QUIET_FACTOR, quiet)

    def _bounded(self, interval: timedelta, factor: float, times: int) -> timedelta:
        base = min(max(interval, self.poll_min), self.poll_max)
        # Beyond twenty times an interval is over any bound; larger powers overflow.
        return min(base * factor ** min(times, 20), self.poll_max)


def interval_by_history(
    before: timedelta | None, passed: timedelta | None, fresh: int
) -> timedelta:
    """Return the time between two articles of a listing without dates, by what it brings.

    `fresh` articles came since the reading before, which was `passed` ago; `before` is what was
    thought then. A new figure counts as much as all older ones.
    """
    usual = before or _DEFAULT_INTERVAL
    return (usual + passed / fresh) / 2 if fresh and passed else usual


def publishing_interval(
    moments: Iterable[datetime], told: timedelta | None, now: datetime
) -> timedelta | None:
    """Return the mean time between the newest articles of a listing, not yet bounded.

    `told` is what a feed asks for (ttl, sy:updatePeriod); it is kept unless entries would then
    leave the listing before they are seen. None where neither dates nor the feed tell anything.
    """
    dated = sorted((moment for moment in moments if moment <= now), reverse=True)
    if len(dated) < 2:
        return told
    newest = dated[:_MAX_RECENT]
    gap = (newest[0] - newest[-1]) / (len(newest) - 1)
    if told is None or told <= gap:
        return gap
    return max(gap, min(told, (now - dated[-1]) / 2))
