"""When pages and listings are requested again, and which sources are due."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, bindparam, func, select, update
from sqlalchemy.orm import Session

from newscrawl.config import SettingError, duration, durations
from newscrawl.storage.database import Database
from newscrawl.storage.models import FrontierUrl, Listing, Poll, Source

# Ours, all four. The rate of publication is that of the last articles, up to this number: enough
# for a stable rate, few enough to follow changes within a day.
_MAX_RECENT = 20
# The interval if neither dates nor earlier readings give a rate.
_DEFAULT_INTERVAL = timedelta(hours=1)
# The factors of the next interval for each reading without a new article, and for each failure.
_WITHOUT_NEW_FACTOR = 1.5
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

    def is_due(self, poll_at: datetime | None, now: datetime) -> bool:
        """Return whether a listing is to be requested; a time that is farther away than the longest
        interval was set by a clock that was wrong."""
        return poll_at is None or not now < poll_at <= now + self.poll_max

    def poll_at(
        self, interval: timedelta, polls_since_new: int, failures: int, now: datetime
    ) -> datetime:
        """Return when to request a listing again, after these numbers of readings without a new
        article and of failures."""
        if failures:
            return now + self._bound_interval(self.poll_min, _FAILURE_FACTOR, failures)
        return now + self._bound_interval(interval, _WITHOUT_NEW_FACTOR, polls_since_new)

    def _bound_interval(self, interval: timedelta, factor: float, times: int) -> timedelta:
        base = min(max(interval, self.poll_min), self.poll_max)
        # Beyond twenty, an interval exceeds any bound, and larger powers overflow.
        return min(base * factor ** min(times, 20), self.poll_max)


def schedule_of(settings: Mapping[str, Any]) -> Schedule:
    """Return the schedule of revisits, retries and polls; raise SettingError for an invalid
    setting."""
    poll_min = duration("NEWSCRAWL_POLL_MIN", settings["NEWSCRAWL_POLL_MIN"])
    poll_max = duration("NEWSCRAWL_POLL_MAX", settings["NEWSCRAWL_POLL_MAX"])
    if poll_max < poll_min:
        raise SettingError(
            f"NEWSCRAWL_POLL_MAX={settings['NEWSCRAWL_POLL_MAX']}: less than NEWSCRAWL_POLL_MIN"
        )
    return Schedule(
        revisits=durations("NEWSCRAWL_REVISITS", settings["NEWSCRAWL_REVISITS"]),
        retries=durations("NEWSCRAWL_RETRIES", settings["NEWSCRAWL_RETRIES"]),
        poll_min=poll_min,
        poll_max=poll_max,
    )


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
    moments: Iterable[datetime], by_feed: timedelta | None, now: datetime
) -> timedelta | None:
    """Return the mean time between the newest articles of a listing, not yet bounded.

    `by_feed` is the interval that a feed states (ttl, sy:updatePeriod); it is used unless entries
    would leave the listing before they are read. None if neither dates nor the feed give an
    interval.
    """
    dated = sorted((moment for moment in moments if moment <= now), reverse=True)
    if len(dated) < 2:
        return by_feed
    newest = dated[:_MAX_RECENT]
    gap = (newest[0] - newest[-1]) / (len(newest) - 1)
    if by_feed is None or by_feed <= gap:
        return gap
    return max(gap, min(by_feed, (now - dated[-1]) / 2))


def reschedule(database: Database, slugs: Collection[str], schedule: Schedule) -> None:
    """Compute again when the listings of these sources, and the sources, are due: a schedule that
    was changed after their last crawls counts at once.

    The time of a failed reading isn't stored: its next one comes sooner if the minimum interval is
    shorter, and not later if it is longer.
    """

    def work(session: Session) -> None:
        query = (
            select(Listing, Poll)
            .join(Source, Source.id == Listing.source_id)
            .join(Poll, Poll.source_id == Source.id)
            # Others are due at once, or are polled no more.
            .where(Source.slug.in_(slugs), Listing.next_poll_at > Poll.polled_at)
        )
        listings: list[dict[str, Any]] = []
        polls: dict[int, dict[str, Any]] = {}
        for listing, poll in session.execute(query):
            interval = timedelta(seconds=listing.interval_seconds or 0.0)
            if listing.failures or listing.checked_at is None:
                latest = schedule.poll_at(interval, 0, listing.failures, poll.polled_at)
                due_at = min(listing.next_poll_at or latest, latest)
            else:
                due_at = schedule.poll_at(interval, listing.polls_since_new, 0, listing.checked_at)
            listings.append({"row": listing.id, "was": listing.next_poll_at, "at": due_at})
            if listing.parent_id is None and poll.next_poll_at > poll.polled_at:
                change: dict[str, Any] = {
                    "row": poll.source_id,
                    "was": poll.next_poll_at,
                    "at": due_at,
                }
                change = polls.setdefault(poll.source_id, change)
                change["at"] = max(poll.polled_at, min(change["at"], due_at))
        _move(session, Listing, Listing.id, listings)
        _move(session, Poll, Poll.source_id, list(polls.values()))

    database.write(work)


def _move(session: Session, table: Any, key: Any, rows: list[dict[str, Any]]) -> None:
    """Change when rows are due, except of those that a crawl has changed meanwhile."""
    moved = [row for row in rows if row["at"] != row["was"]]
    if moved:
        unchanged = (key == bindparam("row"), table.next_poll_at == bindparam("was"))
        change = update(table).where(*unchanged).values(next_poll_at=bindparam("at"))
        session.connection().execute(change, moved)


@dataclass(frozen=True, slots=True, kw_only=True)
class DueSource:
    """A source that is due.

    `due_at` and `polled_at` are None if no crawl of it has finished. `waiting` counts the pages
    that can be requested: new ones, retries and revisits.
    """

    slug: str
    due_at: datetime | None
    polled_at: datetime | None
    waiting: int


# Ours: the shortest time between two crawls of a source, each of which reads all listings that are
# due.
SOURCE_PAUSE = timedelta(minutes=10)


def due_sources(
    database: Database,
    now: datetime,
    slugs: Collection[str],
    *,
    pause: timedelta = SOURCE_PAUSE,
) -> list[DueSource]:
    """Return the due sources: never crawled ones first, then the latest.

    A source is due when its poll is, or when a page is due for a retry or revisit, but not during
    its `pause` after the last crawl, which is shorter if its listings are polled sooner. `slugs`
    may name sources that are not in the database yet.
    """
    polls = _polls(database, FrontierUrl.due_at <= now)
    due = []
    for slug in dict.fromkeys(slugs):
        if slug not in polls:
            due.append(DueSource(slug=slug, due_at=None, polled_at=None, waiting=0))
            continue
        poll_at, polled_at, page_at, waiting = polls[slug]
        due_at = _due_at(poll_at, polled_at, page_at, pause)
        if polled_at - now > pause:  # the clock was wrong then, and may have said so for days
            due_at = now
        if due_at <= now:
            waiting = waiting or 0
            due.append(DueSource(slug=slug, due_at=due_at, polled_at=polled_at, waiting=waiting))
    return sorted(
        due, key=lambda source: (source.due_at is not None, source.due_at or now, source.slug)
    )


def next_crawls(database: Database) -> dict[str, datetime]:
    """Return when each source that was crawled is due next, in the past where it is late: with its
    poll or with its first page, and not during its pause after the last crawl."""
    polls = _polls(database, FrontierUrl.due_at.is_not(None))
    return {
        slug: _due_at(poll_at, polled_at, page_at, SOURCE_PAUSE)
        for slug, (poll_at, polled_at, page_at, _) in polls.items()
    }


def _polls(database: Database, which: ColumnElement[bool]) -> dict[str, Sequence[Any]]:
    """Return of each source when it is polled next, when it was, and the time of the first of the
    pages and their number."""
    page_at, waiting = func.min(FrontierUrl.due_at).label("page_at"), func.count().label("waiting")
    grouped = select(FrontierUrl.source_id, page_at, waiting).where(which)
    pages = grouped.group_by(FrontierUrl.source_id).subquery()
    query = (
        select(Source.slug, Poll.next_poll_at, Poll.polled_at, pages.c.page_at, pages.c.waiting)
        .join(Poll, Poll.source_id == Source.id)
        .outerjoin(pages, pages.c.source_id == Source.id)
    )
    with database.reading() as session:
        return {slug: poll for slug, *poll in session.execute(query)}


def _due_at(
    poll_at: datetime, polled_at: datetime, page_at: datetime | None, pause: timedelta
) -> datetime:
    if poll_at > polled_at:
        pause = min(pause, poll_at - polled_at)
    return max(min(filter(None, (poll_at, page_at))), polled_at + pause)
