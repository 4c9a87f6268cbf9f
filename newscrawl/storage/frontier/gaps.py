"""Gaps: the articles that a feed may have dropped before it was read again.

A feed has rolled over if none of its articles was known at its last reading.
"""

from bisect import bisect
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from math import ceil, sqrt

from sqlalchemy import Connection, func, or_, select
from sqlalchemy.orm import aliased

from newscrawl.storage.models import Article, ArticleUrl, FrontierUrl

# Ours: how far back the pace of a source is measured, so that every weekday counts.
_PACE_DAYS = timedelta(days=28)
# Ours: an upper bound is three standard deviations (of Poisson's distribution) above the number to
# be expected; chance exceeds it once in a thousand gaps.
_SIGMAS = 3.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Overlap:
    """Articles of a listing by when they became known: `before` its last reading, or `since` then
    and from this listing. Those that another listing has brought since are in neither."""

    before: frozenset[str]
    since: frozenset[str]


def overlap(
    connection: Connection, listing_id: int | None, urls: Collection[str], since: datetime
) -> Overlap:
    """Return which of these pages were known at `since`: as a page of the queue, or as an address
    of an article, which may have moved to this one."""
    queued = select(FrontierUrl.url, FrontierUrl.listing_id, FrontierUrl.discovered_at).where(
        FrontierUrl.url.in_(list(urls))
    )
    rows = connection.execute(queued).all()
    address = aliased(ArticleUrl)
    stored = (
        select(ArticleUrl.url)
        .join(Article, Article.id == ArticleUrl.article_id)
        .join(address, address.article_id == ArticleUrl.article_id)
        .outerjoin(FrontierUrl, FrontierUrl.url == address.url)
        .where(
            ArticleUrl.url.in_(list(urls)),
            # A page is known when a listing has brought it, and stored later.
            or_(Article.first_seen_at <= since, FrontierUrl.discovered_at <= since),
        )
    )
    before = {row.url for row in rows if row.discovered_at <= since}
    before.update(connection.execute(stored).scalars())
    new = {row.url for row in rows if row.listing_id == listing_id and row.discovered_at > since}
    return Overlap(before=frozenset(before), since=frozenset(new - before))


@dataclass(frozen=True, slots=True, kw_only=True)
class GapEstimate:
    """The articles of a source in a gap: `expected` by its pace, None if that is unknown, and
    `recovered`, known by now."""

    expected: float | None
    recovered: int

    @property
    def missing(self) -> int | None:
        """Return an upper bound of the articles that are missing; None if it is unknown."""
        if self.expected is None:
            return None
        bound = ceil(self.expected + _SIGMAS * sqrt(self.expected))
        return max(1, bound - self.recovered)

    @property
    def is_filled(self) -> bool:
        """Return whether as many articles are known as were to be expected, one more or less."""
        return self.expected is not None and self.recovered + 1 >= self.expected


def estimate_gap(
    connection: Connection,
    source_id: int,
    articles: Collection[str],
    since: datetime,
    now: datetime,
) -> GapEstimate:
    """Return how many articles the source has published since, and how many of them are known.

    Its pace is the most that it published in a time as long, in the four weeks before; if it was
    watched for a shorter time, that of its newest articles. Pages without a date are known if they
    are among `articles`.
    """
    moment = Article.published_at
    dated = select(moment, Article.first_seen_at).where(
        Article.source_id == source_id,
        Article.day >= (since - _PACE_DAYS).date(),
        moment > since - _PACE_DAYS,
        moment <= now,
    )
    rows = connection.execute(dated.order_by(moment)).all()
    moments = [published for published, _ in rows if published is not None]
    watched_since = min((row[1] for row in rows), default=now)
    earlier, later = moments[: bisect(moments, since)], moments[bisect(moments, since) :]
    if since - watched_since >= now - since:
        expected = most_within(earlier[bisect(earlier, watched_since) :], now - since)
    else:
        expected = max(in_proportion(earlier, now - since), in_proportion(later, now - since))
    recovered = select(func.count()).where(
        FrontierUrl.source_id == source_id,
        FrontierUrl.discovered_at > since,
        or_(FrontierUrl.moment > since, FrontierUrl.url.in_(list(articles))),
    )
    return GapEstimate(
        expected=expected or None, recovered=connection.execute(recovered).scalar_one()
    )


def most_within(moments: Sequence[datetime], length: timedelta) -> float:
    """Return the most of these times, which are in order, within any period of this length."""
    most, first = 0, 0
    for last, moment in enumerate(moments):
        while moment - moments[first] > length:
            first += 1
        most = max(most, last - first + 1)
    return float(most)


def in_proportion(moments: Sequence[datetime], length: timedelta) -> float:
    """Return the number of articles in a period of this length, at the pace of these times, which
    are in order, or of their newer half: one much older article must not slow it down."""
    paces = (
        (len(part) - 1) * (length / (part[-1] - part[0]))
        for part in (moments, moments[len(moments) // 2 :])
        if len(part) > 1 and part[0] < part[-1]
    )
    return max(paces, default=0.0)
