"""Feeds and sitemaps: their last readings, and the gaps between these.

A gap has the articles that a feed may have dropped before it was read again. It has rolled over if
none of its articles was known at its last reading.
"""

from bisect import bisect
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import wraps
from math import ceil, sqrt
from typing import Any, Concatenate, ParamSpec, TypeVar

from sqlalchemy import (
    ColumnElement,
    Connection,
    bindparam,
    func,
    insert,
    literal,
    or_,
    select,
    update,
)
from sqlalchemy.orm import Session, aliased

from newscrawl.config import SettingError, duration, durations
from newscrawl.items import copy_fields
from newscrawl.storage.database import Database, reads, writes
from newscrawl.storage.documents import clean
from newscrawl.storage.models import (
    Article,
    ArticleUrl,
    FrontierUrl,
    Listing,
    Poll,
    Source,
    UtcDateTime,
)

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


@writes
def reschedule(session: Session, slugs: Collection[str], schedule: Schedule) -> None:
    """Compute again when the listings of these sources, and the sources, are due: a schedule that
    was changed after their last crawls counts at once.

    The time of a failed reading isn't stored: its next one comes sooner if the minimum interval is
    shorter, and not later if it is longer.
    """
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
        if listing.parent_id is None and poll.polled_at < poll.next_poll_at < PAUSED:
            change: dict[str, Any] = {
                "row": poll.source_id,
                "was": poll.next_poll_at,
                "at": due_at,
            }
            change = polls.setdefault(poll.source_id, change)
            change["at"] = max(poll.polled_at, min(change["at"], due_at))
    _move(session, Listing, Listing.id, listings)
    _move(session, Poll, Poll.source_id, list(polls.values()))


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


# When a paused source is due: the last day of the calendar.
PAUSED = datetime(9999, 12, 31, tzinfo=UTC)


@writes
def pause_source(session: Session, slug: str, now: datetime, *, paused: bool) -> None:
    """Pause a source, so that no monitor crawls it, or let it be due at once again."""
    number = session.scalars(select(Source.id).where(Source.slug == slug)).one()
    values = {"next_poll_at": PAUSED if paused else now}
    this = update(Poll).where(Poll.source_id == number)
    if session.connection().execute(this.values(values)).rowcount == 0:
        polled_at = now - SOURCE_PAUSE
        session.add(Poll(source_id=number, polled_at=polled_at, interval_seconds=0, **values))


@reads
def due_sources(
    session: Session,
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
    polls = _polls(session, FrontierUrl.due_at <= now)
    due = []
    for slug in dict.fromkeys(slugs):
        if slug not in polls:
            due.append(DueSource(slug=slug, due_at=None, polled_at=None, waiting=0))
            continue
        poll_at, polled_at, page_at, waiting = polls[slug]
        due_at = _due_at(poll_at, polled_at, page_at, pause)
        # The clock was wrong then, and may have said so for days.
        if polled_at - now > pause and poll_at != PAUSED:
            due_at = now
        if due_at <= now:
            waiting = waiting or 0
            due.append(DueSource(slug=slug, due_at=due_at, polled_at=polled_at, waiting=waiting))
    return sorted(
        due, key=lambda source: (source.due_at is not None, source.due_at or now, source.slug)
    )


@reads
def next_crawls(session: Session) -> dict[str, datetime]:
    """Return when each source that was crawled is due next, in the past where it is late: with its
    poll or with its first page, and not during its pause after the last crawl."""
    polls = _polls(session, FrontierUrl.due_at.is_not(None))
    return {
        slug: _due_at(poll_at, polled_at, page_at, SOURCE_PAUSE)
        for slug, (poll_at, polled_at, page_at, _) in polls.items()
    }


def _polls(session: Session, which: ColumnElement[bool]) -> dict[str, Sequence[Any]]:
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
    return {slug: poll for slug, *poll in session.execute(query)}


def _due_at(
    poll_at: datetime, polled_at: datetime, page_at: datetime | None, pause: timedelta
) -> datetime:
    if poll_at == PAUSED:
        return PAUSED
    if poll_at > polled_at:
        pause = min(pause, poll_at - polled_at)
    return max(min(filter(None, (poll_at, page_at))), polled_at + pause)


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


Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")
Part = TypeVar("Part", bound="SourceListings")

# Servers refuse longer validators.
_MAX_VALIDATOR = 1_000


def transaction(
    method: Callable[Concatenate[Part, Connection, Arguments], Result],
) -> Callable[Concatenate[Part, Arguments], Result]:
    """Give a method the connection of a transaction of its own."""

    @wraps(method)
    def run(part: Part, /, *args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
        return part.database.transact(lambda connection: method(part, connection, *args, **kwargs))

    return run


def utc_now() -> datetime:
    """Return the current time."""
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownListing:
    """A feed or sitemap with its last reading; a new one has only `id` and `url`.

    Entries older than `skipped_before` were skipped at that reading; None if none were. `failures`
    counts the failed readings since then, including those that may have killed a crawl.
    """

    id: int
    url: str
    etag: str | None = None
    last_modified: str | None = None
    body_hash: str | None = None
    skipped_before: datetime | None = None
    entry_count: int = 0
    newest_at: datetime | None = None
    checked_at: datetime | None = None
    failures: int = 0
    next_poll_at: datetime | None = None

    def covers(self, since: datetime | None) -> bool:
        """Return whether a reading that skips entries older than `since` would find nothing
        more."""
        if self.checked_at is None:
            return False
        return self.skipped_before is None or (since is not None and since >= self.skipped_before)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """A reading of a listing: `entry_count` articles, of which `fresh` were new to the queue.

    `interval` is the time between two of them, None if it is unknown.
    """

    etag: str | None
    last_modified: str | None
    body_hash: str
    skipped_before: datetime | None
    entry_count: int
    fresh: int
    newest_at: datetime | None
    interval: timedelta | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceListings:
    """The feeds and sitemaps of a source, for one run of it."""

    database: Database
    source_id: int
    run_id: int
    schedule: Schedule
    clock: Callable[[], datetime] = utc_now

    @transaction
    def listings(
        self, connection: Connection, urls: Collection[str], parent_id: int | None = None
    ) -> list[KnownListing]:
        """Return the state of the listings, in their order; new ones are added. With a parent they
        become the only children of that index."""
        if parent_id is not None:
            orphans = update(Listing).where(
                Listing.parent_id == parent_id, Listing.url.not_in(urls)
            )
            connection.execute(orphans.values(parent_id=None))
        query = select(Listing).where(Listing.source_id == self.source_id, Listing.url.in_(urls))
        rows = {row.url: row for row in connection.execute(query)}
        new = [
            {
                "source_id": self.source_id,
                "parent_id": parent_id,
                "url": url,
                "entry_count": 0,
                "polls_since_new": 0,
                "failures": 0,
            }
            for url in dict.fromkeys(urls)
            if url not in rows
        ]
        if parent_id is not None and rows:
            mine = update(Listing).where(Listing.id.in_([row.id for row in rows.values()]))
            connection.execute(mine.values(parent_id=parent_id))
        if new:
            connection.execute(insert(Listing), new)
            rows = {row.url: row for row in connection.execute(query)}
        return [copy_fields(KnownListing, rows[url]) for url in dict.fromkeys(urls)]

    def children(self, listing_id: int) -> list[KnownListing]:
        """Return the sitemaps in an index at its last reading."""
        query = select(Listing).where(Listing.parent_id == listing_id).order_by(Listing.id)
        with self.database.reading() as session:
            return [copy_fields(KnownListing, row) for row in session.scalars(query)]

    @transaction
    def record_reading(self, connection: Connection, listing_id: int, reading: Reading) -> None:
        """Record the reading of a listing, after all of its articles were queued."""
        row, now = _row(connection, listing_id), self.clock()
        polls_since_new = 0 if reading.fresh else row.polls_since_new + 1
        interval = reading.interval or interval_by_history(
            None if row.interval_seconds is None else timedelta(seconds=row.interval_seconds),
            row.checked_at and now - row.checked_at,
            reading.fresh,
        )
        values = {
            "etag": validator(reading.etag),
            "last_modified": validator(reading.last_modified),
            "body_hash": reading.body_hash,
            "skipped_before": reading.skipped_before,
            "entry_count": reading.entry_count,
            "newest_at": reading.newest_at,
            "checked_at": now,
            "polls_since_new": polls_since_new,
            "failures": 0,
            "interval_seconds": interval.total_seconds(),
            "next_poll_at": self.schedule.poll_at(interval, polls_since_new, 0, now),
        }
        if reading.fresh:
            values["changed_at"] = now
        connection.execute(update(Listing).where(Listing.id == listing_id).values(values))

    @transaction
    def record_unchanged(self, connection: Connection, listing_id: int) -> None:
        """Record that a listing is unchanged."""
        row, now = _row(connection, listing_id), self.clock()
        interval = timedelta(seconds=row.interval_seconds or 0.0)
        values = {
            "checked_at": now,
            "polls_since_new": row.polls_since_new + 1,
            "failures": 0,
            "next_poll_at": self.schedule.poll_at(interval, row.polls_since_new + 1, 0, now),
        }
        connection.execute(update(Listing).where(Listing.id == listing_id).values(values))

    @transaction
    def record_failure(self, connection: Connection, listing_id: int) -> None:
        """Record that a listing couldn't be read."""
        failures = _row(connection, listing_id).failures + 1
        values = {
            "failures": failures,
            "next_poll_at": self.schedule.poll_at(timedelta(), 0, failures, self.clock()),
        }
        connection.execute(update(Listing).where(Listing.id == listing_id).values(values))

    def overlap(self, listing_id: int | None, urls: Collection[str], since: datetime) -> Overlap:
        """Return which of these pages were known at `since`: as a page of the queue, or as an
        address of an article, which may have moved to this one."""
        queued = select(FrontierUrl.url, FrontierUrl.listing_id, FrontierUrl.discovered_at).where(
            FrontierUrl.url.in_(list(urls))
        )
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
        with self.database.reading() as session:
            rows = session.execute(queued).all()
            before = {row.url for row in rows if row.discovered_at <= since}
            before.update(session.scalars(stored))
        new = {row.url for row in rows if row.listing_id == listing_id} - before
        return Overlap(before=frozenset(before), since=frozenset(new))

    def estimate_gap(self, articles: Collection[str], since: datetime) -> GapEstimate:
        """Return how many articles the source has published since, and how many of them are known.

        Its pace is the most that it published in a time as long, in the four weeks before; if it
        was watched for a shorter time, that of its newest articles. Pages without a date are known
        if they are among `articles`.
        """
        now, moment = self.clock(), Article.published_at
        dated = select(moment, Article.first_seen_at).where(
            Article.source_id == self.source_id,
            Article.day >= (since - _PACE_DAYS).date(),
            moment > since - _PACE_DAYS,
            moment <= now,
        )
        recovered = select(func.count()).where(
            FrontierUrl.source_id == self.source_id,
            FrontierUrl.discovered_at > since,
            or_(FrontierUrl.moment > since, FrontierUrl.url.in_(list(articles))),
        )
        with self.database.reading() as session:
            rows = session.execute(dated.order_by(moment)).all()
            recovered_articles = session.execute(recovered).scalar_one()
        moments = [published for published, _ in rows if published is not None]
        watched_since = min((row[1] for row in rows), default=now)
        earlier, later = moments[: bisect(moments, since)], moments[bisect(moments, since) :]
        if since - watched_since >= now - since:
            expected = most_within(earlier[bisect(earlier, watched_since) :], now - since)
        else:
            expected = max(in_proportion(earlier, now - since), in_proportion(later, now - since))
        return GapEstimate(expected=expected or None, recovered=recovered_articles)

    def record_poll(self, connection: Connection, listing_ids: Iterable[int]) -> datetime:
        """Record and return when the source is due again: with the first of its listings."""
        now = self.clock()
        # A listing that was not read, for any reason, is due at once.
        due_at = func.coalesce(Listing.next_poll_at, literal(now, UtcDateTime()))
        first = select(func.min(due_at, type_=UtcDateTime())).where(
            Listing.id.in_(list(listing_ids))
        )
        latest = now + self.schedule.poll_max
        due = max(min(connection.execute(first).scalar() or latest, latest), now)
        values = {
            "polled_at": now,
            "next_poll_at": due,
            "interval_seconds": (due - now).total_seconds(),
        }
        this = update(Poll).where(Poll.source_id == self.source_id)
        # One that was paused during its crawl stays so.
        paused = this.where(Poll.next_poll_at == PAUSED).values(polled_at=now)
        if connection.execute(paused).rowcount:
            return PAUSED
        if connection.execute(this.values(values)).rowcount == 0:
            connection.execute(insert(Poll), {"source_id": self.source_id, **values})
        return due


def _row(connection: Connection, listing_id: int) -> Any:
    query = select(
        Listing.polls_since_new, Listing.failures, Listing.interval_seconds, Listing.checked_at
    )
    return connection.execute(query.where(Listing.id == listing_id)).one()


def validator(value: str | None) -> str | None:
    """Return a validator that can be stored and sent, or None."""
    return clean(value) if value and len(value) <= _MAX_VALIDATOR else None
