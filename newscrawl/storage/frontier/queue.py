"""The queue: pages are enqueued from listings, dequeued once in a run, and leave the queue with the
result of their fetch.

Hints of listings are merged. A sitemap may list a page first, and a feed its headline later: before
the page is fetched, while it is being fetched, or after it was dropped for lack of one.

A killed run leaves pages that it had dequeued. One of them may have killed it, so the next run
dequeues them last. After several killed runs of a source, each of these pages is quarantined:
dequeued alone, and given up if runs still crash on it.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any, Literal, get_args

from sqlalchemy import (
    JSON,
    ColumnElement,
    Connection,
    Insert,
    Row,
    and_,
    bindparam,
    case,
    func,
    literal,
    or_,
    select,
    update,
)
from sqlalchemy.dialects import postgresql, sqlite

from newscrawl.items import FetchAttempt, Hints, Withheld
from newscrawl.storage.articles import add_urls, numbers_at, stored_urls
from newscrawl.storage.database import Database, source_number
from newscrawl.storage.documents import MAX_URL_BYTES
from newscrawl.storage.engine import one_of
from newscrawl.storage.frontier.listings import Schedule, SourceListings, transaction, validator
from newscrawl.storage.models import FrontierUrl, Run

# "read": there was a response, and the page is revisited by schedule. "closed": the response makes
# a revisit useless. "failed": there was no response, and the page is retried by schedule.
# "crashed": the same, because the page ended the process that read it. "deferred": the page was not
# requested, since robots.txt could not be read. "hopeless": there will be no response. "postponed":
# the page stays in the queue for a crawl that wants articles as old as this one.
FetchOutcome = Literal["read", "closed", "failed", "crashed", "deferred", "hopeless", "postponed"]

# The reason of a page that waits because robots.txt could not be read.
UNREACHABLE_ROBOTS = "robots.txt unreachable"
# Reasons why a page without a headline from a listing was dropped: `Access` other than "open", or
# a consent page or paywall.
WITHOUT_HEADLINE = frozenset({*get_args(Withheld), "ConsentOrPaywall"})
# The reason of a page that was queued again when a listing had its headline.
HEADLINE_KNOWN = "headline known"
# Reasons of a last fetch with a new text, a correction, or another page in its place.
_NEW_TEXT = frozenset({"new", "revised", "quarantined"})
# Ours: the interval between two records, for storage/deletion.py, that a listing still has a page;
# each is a write.
NAMED_AGAIN = timedelta(days=7)

_ADD: Mapping[str, Insert] = {
    name: dialect.insert(FrontierUrl).on_conflict_do_nothing().returning(FrontierUrl.id)
    for name, dialect in (("sqlite", sqlite), ("postgresql", postgresql))
}
_FAILURES: frozenset[FetchOutcome] = frozenset({"failed", "crashed", "deferred", "hopeless"})

_QUEUED = select(
    FrontierUrl.id,
    FrontierUrl.url,
    FrontierUrl.reason,
    FrontierUrl.due_at,
    FrontierUrl.visited_at,
    func.coalesce(FrontierUrl.named_at, FrontierUrl.discovered_at).label("named_at"),
    FrontierUrl.moment,
    FrontierUrl.hints,
)
# A row of _QUEUED: id, URL, reason, due time, last visit, approximate time of the last listing,
# time of publication, hints.
_Queued = Row[
    int, str, str | None, datetime | None, datetime | None, datetime, datetime | None, Any
]
_THESE = update(FrontierUrl).where(one_of(FrontierUrl.id, "ids"))
_SET_DUE = _THESE.values(due_at=bindparam("to_due_at"))
_SET_NAMED = _THESE.values(named_at=bindparam("to_named_at"))

_THIS = update(FrontierUrl).where(FrontierUrl.id == bindparam("queue_id"))
_MOMENT = func.coalesce(FrontierUrl.moment, bindparam("to_moment", type_=FrontierUrl.moment.type))
_ADD_HINTS = _THIS.values(hints=bindparam("to_hints"), moment=_MOMENT)
# The page is reset as if it was never fetched: without validators, and allowed in the crawl that
# dropped it.
_REOPEN = _THIS.values(
    hints=bindparam("to_hints"),
    moment=_MOMENT,
    due_at=bindparam("to_due_at"),
    state="pending",
    reason=HEADLINE_KNOWN,
    run_id=None,
    visits=0,
    crash_count=0,
    visited_at=None,
    etag=None,
    last_modified=None,
)
_MARK_DONE = _THIS.values(
    state=bindparam("to_state"),
    reason=bindparam("to_reason"),
    due_at=bindparam("to_due_at"),
    # A page that is never fetched again needs no hints.
    hints=case((bindparam("to_keep_hints"), FrontierUrl.hints), else_=literal({}, JSON())),
    moment=func.coalesce(bindparam("to_moment", type_=FrontierUrl.moment.type), FrontierUrl.moment),
    run_id=None,
    visits=FrontierUrl.visits + bindparam("to_visits"),
    attempts=bindparam("to_attempts"),
    crash_count=bindparam("to_crash_count"),
    visited_at=func.coalesce(
        bindparam("to_visited_at", type_=FrontierUrl.visited_at.type), FrontierUrl.visited_at
    ),
    etag=bindparam("to_etag"),
    last_modified=bindparam("to_last_modified"),
)
_CLOSE_ALIASES = (
    update(FrontierUrl)
    .where(
        one_of(FrontierUrl.url, "urls"),
        FrontierUrl.id != bindparam("queue_id"),
        FrontierUrl.state == "pending",
    )
    .values(state="done", reason="alias", due_at=None)
)


@dataclass(frozen=True, slots=True, kw_only=True)
class FrontierEntry:
    """An article in a listing: its canonical URL, and the URL to fetch.

    `modified` is its last change, according to the listing. If one of the URLs `twin_of` is known,
    this is another URL of the same article.
    """

    url: str
    fetch_url: str
    hints: Hints
    moment: datetime | None = None
    modified: datetime | None = None
    twin_of: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class EnqueueCounts:
    """The number of entries that are stored already or wait under a twin's URL (`known`), that were
    added to the queue (`fresh`), and that have changed since they were read (`changed`)."""

    known: int
    fresh: int
    changed: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchResult:
    """The result of a fetch, for the page's row of the queue."""

    queue_id: int
    first: bool
    columns: Mapping[str, Any]


# Ours: the number of crashes, of crawls that fetched nothing else, after which a page is given up.
MAX_CRASHES = 3
# Ours: the number of killed runs of a source in a row that is not coincidence.
_KILLED_RUNS = 2

_NEWEST = (FrontierUrl.moment.desc().nulls_last(), FrontierUrl.id)


@dataclass(frozen=True, slots=True, kw_only=True)
class DequeuedPage:
    """A page to fetch now; `attempt` is passed on to `Frontier.fetch_result`.

    `again` is set if this crawl may have fetched it before its headline was known.
    """

    fetch_url: str
    hints: Hints
    attempt: FetchAttempt
    again: bool = False


def open_frontier(database: Database, slug: str, run_id: int, schedule: Schedule) -> "Frontier":
    """Return the frontier of a registered source for one of its runs; raise StorageError."""
    with database.reading() as session:
        source_id = source_number(session, slug)
        before = (
            select(Run.finished_at)
            .where(Run.source_id == source_id, Run.id < run_id)
            .order_by(Run.id.desc())
            .limit(_KILLED_RUNS)
        )
        ends = session.scalars(before).all()
    return Frontier(
        database=database,
        source_id=source_id,
        run_id=run_id,
        schedule=schedule,
        careful=len(ends) == _KILLED_RUNS and not any(ends),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Frontier(SourceListings):
    """The queue and the listings of a source, for one run of it. Each method is one transaction.

    No page is dequeued twice since the run `began`: pages that were done since then are left to the
    next run, even if they are due again. The frontier is `careful` if the runs before it were
    killed one after the other. Methods are thread-safe and raise StorageError.
    """

    careful: bool = False
    began: datetime | None = None

    @transaction
    def enqueue(
        self, connection: Connection, listing_id: int | None, entries: Sequence[FrontierEntry]
    ) -> EnqueueCounts:
        """Enqueue the entries of a listing that are neither queued nor stored; URLs that no
        database can store are skipped.

        Pages that were dropped for lack of a headline are queued again, and so are those that a
        listing declares changed. Hints are added to waiting pages.
        """
        now = self.clock()
        by_url = {entry.url: entry for entry in entries if len(entry.url.encode()) <= MAX_URL_BYTES}
        waiting_twins = _waiting_twins(connection, by_url)
        by_url = {url: entry for url, entry in by_url.items() if url not in waiting_twins}
        stored = stored_urls(connection, by_url)
        queued = _find_queued(connection, by_url)
        _merge_hints(connection, queued, by_url, stored, now)
        changed = [row.id for url, row in queued.items() if _is_changed(row, by_url[url], now)]
        if changed:
            connection.execute(_SET_DUE, {"ids": changed, "to_due_at": now})
        # The URL is added to the stored article.
        listed_again = [
            row.id
            for url, row in queued.items()
            if url not in stored and now - row.named_at > NAMED_AGAIN
        ]
        if listed_again:
            connection.execute(_SET_NAMED, {"ids": listed_again, "to_named_at": now})
        rows = [
            {
                "source_id": self.source_id,
                "listing_id": listing_id,
                "url": entry.url,
                "fetch_url": entry.fetch_url,
                "hints": pack_hints(entry.hints),
                "moment": entry.moment,
                "discovered_at": now,
                "state": "pending",
                "due_at": now,
                "visits": 0,
                "attempts": 0,
            }
            for url, entry in by_url.items()
            if url not in stored and url not in queued
        ]
        added = connection.execute(_ADD[connection.dialect.name], rows).all() if rows else ()
        return EnqueueCounts(
            known=len(stored) + len(waiting_twins), fresh=len(added), changed=len(changed)
        )

    @transaction
    def add_hints(self, connection: Connection, entries: Sequence[FrontierEntry]) -> None:
        """Add the hints of a further listing to queued pages; enqueue nothing."""
        by_url = {entry.url: entry for entry in entries}
        queued = _find_queued(connection, by_url)
        stored = stored_urls(connection, queued)
        _merge_hints(connection, queued, by_url, stored, self.clock())

    def hints(self, queue_id: int) -> Hints:
        """Return the hints that listings have given for a page so far."""
        with self.database.reading() as session:
            query = select(FrontierUrl.hints).where(FrontierUrl.id == queue_id)
            return unpack_hints(session.scalar(query) or {})

    @transaction
    def dequeue(
        self, connection: Connection, limit: int, since: datetime | None = None
    ) -> list[DequeuedPage]:
        """Mark the next pages as dequeued by the run and return them, none twice in a run: new ones
        before revisits, the newest first. Pages that are older than `since` stay in the queue.

        Pages that a killed run had dequeued come after the others, since one of them may have
        killed it. A careful run leaves them to `dequeue_quarantined`.
        """
        conditions = [*self._due(since), FrontierUrl.crash_count == 0]
        if self.careful:
            conditions.append(FrontierUrl.run_id.is_(None))
        order = (FrontierUrl.visits > 0, FrontierUrl.run_id.is_not(None), *_NEWEST)
        rows = connection.execute(
            select(FrontierUrl).where(*conditions).order_by(*order).limit(limit)
        ).all()
        if rows:
            mark = update(FrontierUrl).where(FrontierUrl.id.in_([row.id for row in rows]))
            connection.execute(mark.values(run_id=self.run_id))
        return [_page(row, crash_count=0) for row in rows]

    @transaction
    def dequeue_quarantined(
        self, connection: Connection, since: datetime | None = None
    ) -> DequeuedPage | None:
        """Dequeue a page that may have killed a run, for a run that fetches nothing else meanwhile,
        so that the page is the cause of a crash.

        The `crash_count` of its attempt includes this run until the page is done; above MAX_CRASHES
        the page is to be given up.
        """
        quarantined = or_(FrontierUrl.crash_count > 0, FrontierUrl.run_id.is_not(None))
        row = connection.execute(
            select(FrontierUrl)
            .where(*self._due(since), quarantined)
            .order_by(FrontierUrl.crash_count, FrontierUrl.visits > 0, *_NEWEST)
            .limit(1)
        ).first()
        if row is None:
            return None
        crash_count = row.crash_count + 1
        mark = update(FrontierUrl).where(FrontierUrl.id == row.id)
        connection.execute(mark.values(run_id=self.run_id, crash_count=crash_count))
        return _page(row, crash_count=crash_count)

    def count_waiting(self, since: datetime | None = None) -> int:
        """Return how many pages could still be dequeued."""
        with self.database.reading() as session:
            return session.scalars(select(func.count()).where(*self._due(since))).one()

    def _due(self, since: datetime | None) -> list[ColumnElement[bool]]:
        """Return the condition for pages that the run may dequeue."""
        due = [
            FrontierUrl.source_id == self.source_id,
            FrontierUrl.due_at <= self.clock(),
            or_(FrontierUrl.run_id.is_(None), FrontierUrl.run_id != self.run_id),
        ]
        if self.began is not None:
            due += [
                or_(FrontierUrl.visited_at.is_(None), FrontierUrl.visited_at < self.began),
                or_(
                    and_(
                        FrontierUrl.attempts == 0,
                        FrontierUrl.reason.is_distinct_from(UNREACHABLE_ROBOTS),
                    ),
                    FrontierUrl.due_at <= self.began,
                ),
            ]
        if since is not None:
            due.append(or_(FrontierUrl.moment.is_(None), FrontierUrl.moment >= since))
        return due

    def fetch_result(
        self,
        attempt: FetchAttempt,
        outcome: FetchOutcome,
        reason: str,
        *,
        published: datetime | None = None,
    ) -> FetchResult:
        """Return the result of a page that was fetched or deferred.

        `published` is the date on the page itself. The validators of `attempt` are those of the
        response.
        """
        now = self.clock()
        is_answered = outcome in {"read", "closed"}
        failures = attempt.failures + 1 if outcome in _FAILURES else 0
        deferred_to = self.schedule.deferred_to(attempt.born, now)
        if outcome == "deferred" and deferred_to is not None:
            # A page that was not requested keeps its state and waits.
            due_at: datetime | None = deferred_to
            failures, reason = attempt.failures, UNREACHABLE_ROBOTS
            state = "pending" if attempt.first else "done"
        else:
            due_at = now if outcome == "postponed" else None
            if outcome == "read":
                due_at = self.schedule.revisit_at(published or attempt.born, now)
            elif outcome in {"failed", "crashed", "deferred"}:
                due_at = self.schedule.retry_at(failures, now)
            state = "failed" if failures and attempt.first else "done"
            if outcome == "postponed" or (failures and due_at and attempt.first):
                state = "pending"
        # `dequeue_quarantined` counts a crash in advance, which is subtracted unless the page
        # crashed.
        crash_count = 0 if is_answered else max(attempt.crash_count - 1, 0)
        columns = {
            "to_state": state,
            "to_reason": reason,
            "to_due_at": due_at,
            "to_keep_hints": due_at is not None,
            "to_moment": published,
            "to_visits": int(is_answered),
            "to_attempts": failures,
            "to_crash_count": max(attempt.crash_count, 1) if outcome == "crashed" else crash_count,
            "to_visited_at": now if is_answered else None,
            "to_etag": validator(attempt.etag),
            "to_last_modified": validator(attempt.last_modified),
        }
        return FetchResult(queue_id=attempt.queue_id, first=attempt.first, columns=columns)

    @transaction
    def mark_done(self, connection: Connection, *results: FetchResult) -> None:
        """Write the results of pages without an article; `batch.write_batch` writes the others."""
        mark_done(connection, results)

    @transaction
    def finish(self, connection: Connection, listing_ids: Iterable[int]) -> datetime:
        """Record and return when the source is due again, by these listings; return to the queue
        the pages that this run has dequeued without a result. The run ends normally, so none of
        them is suspected of a crash."""
        crash_count = FrontierUrl.crash_count
        connection.execute(
            update(FrontierUrl)
            .where(
                FrontierUrl.source_id == self.source_id,
                FrontierUrl.due_at.is_not(None),
                FrontierUrl.run_id == self.run_id,
            )
            .values(run_id=None, crash_count=case((crash_count > 0, crash_count - 1), else_=0))
        )
        return self.record_poll(connection, listing_ids)


def mark_done(connection: Connection, results: Sequence[FetchResult]) -> None:
    """Write the results of pages without an article."""
    dropped = [result for result in results if result.columns["to_reason"] in WITHOUT_HEADLINE]
    if dropped:
        now = max(result.columns["to_visited_at"] for result in dropped)
        query = select(FrontierUrl.id, FrontierUrl.hints).where(
            FrontierUrl.id.in_([result.queue_id for result in dropped]),
            FrontierUrl.visits == 0,
            # A page that was reopened once and still has no article is dropped.
            FrontierUrl.reason.is_distinct_from(HEADLINE_KNOWN),
        )
        given_headlines = [
            {"queue_id": row.id, "to_hints": row.hints, "to_moment": None, "to_due_at": now}
            for row in connection.execute(query)
            if row.hints.get("title")
        ]
        if given_headlines:
            connection.execute(_REOPEN, given_headlines)
        reopened = {row["queue_id"] for row in given_headlines}
        results = [result for result in results if result.queue_id not in reopened]
    if results:
        rows = [{"queue_id": result.queue_id, **result.columns} for result in results]
        connection.execute(_MARK_DONE, rows)


def mark_stored(
    connection: Connection, result: FetchResult, outcome: str, urls: Sequence[str]
) -> None:
    """Write the result of a page whose article is stored in this transaction.

    A further URL of a stored article is not revisited; the article's own URL is. The article's
    further URLs leave the queue with it.
    """
    columns = {**result.columns, "to_reason": outcome}
    if result.first and outcome == "unchanged":
        columns |= {"to_reason": "alias", "to_due_at": None, "to_keep_hints": False}
    connection.execute(_MARK_DONE, [{"queue_id": result.queue_id, **columns}])
    if len(urls) > 1:
        aliases = {"urls": list(urls), "queue_id": result.queue_id}
        connection.execute(_CLOSE_ALIASES, [aliases])


def pack_hints(hints: Hints) -> dict[str, Any]:
    """Return the hints as JSON for the queue, without missing ones."""
    published = hints.published and hints.published.isoformat()
    values = asdict(hints) | {"authors": list(hints.authors), "published": published}
    return {name: value for name, value in values.items() if value}


def unpack_hints(columns: Mapping[str, Any]) -> Hints:
    """Return the hints of the queue's JSON."""
    published = columns.get("published")
    return Hints(
        **{
            **columns,
            "authors": tuple(columns.get("authors", ())),
            "published": datetime.fromisoformat(published) if published else None,
        }
    )


def _find_queued(connection: Connection, urls: Iterable[str]) -> dict[str, _Queued]:
    query = _QUEUED.where(FrontierUrl.url.in_(list(urls)))
    return {row.url: row for row in connection.execute(query)}


def _waiting_twins(connection: Connection, by_url: Mapping[str, FrontierEntry]) -> set[str]:
    """Return the URLs that are twins of another URL whose article waits or is being enqueued. If
    the article is stored, they become URLs of it."""
    candidates = {twin for entry in by_url.values() for twin in entry.twin_of}
    if not candidates:
        return set()
    stored = numbers_at(connection, candidates)
    twins = [
        (url, stored[twin])
        for url, entry in by_url.items()
        if (twin := next(filter(stored.__contains__, entry.twin_of), None)) is not None
    ]
    add_urls(connection, twins)
    query = select(FrontierUrl.url).where(
        FrontierUrl.url.in_(candidates), FrontierUrl.state != "failed"
    )
    waiting = {*connection.execute(query).scalars(), *by_url}
    joined = {url for url, _ in twins}
    return {
        url
        for url, entry in by_url.items()
        if url not in joined and not waiting.isdisjoint(entry.twin_of)
    }


def _is_changed(row: _Queued, entry: FrontierEntry, now: datetime) -> bool:
    """Return whether to fetch a page before its time, since a listing declares it changed.

    If an earlier declaration of this kind was wrong, the listing is ignored.
    """
    due_at: datetime | None = row.due_at
    visited_at: datetime | None = row.visited_at
    if entry.modified is None or visited_at is None or row.reason not in _NEW_TEXT:
        return False
    return (due_at is None or due_at > now) and visited_at < entry.modified <= now


def _merge_hints(
    connection: Connection,
    queued: Mapping[str, _Queued],
    by_url: Mapping[str, FrontierEntry],
    stored: Collection[str],
    now: datetime,
) -> None:
    """Add missing hints to pages that wait or are being fetched, and queue pages again that were
    dropped for lack of a headline; not those whose article is `stored`."""
    added, reopened = [], []
    for url, row in queued.items():
        entry = by_url[url]
        hints = {**pack_hints(entry.hints), **row.hints}
        values = {"queue_id": row.id, "to_hints": hints, "to_moment": entry.moment}
        if row.reason in WITHOUT_HEADLINE and entry.hints.title and url not in stored:
            reopened.append({**values, "to_due_at": now})
        elif row.due_at is not None and (hints != row.hints or (entry.moment and not row.moment)):
            added.append(values)
    if added:
        connection.execute(_ADD_HINTS, added)
    if reopened:
        connection.execute(_REOPEN, reopened)


def _page(row: Any, *, crash_count: int) -> DequeuedPage:
    return DequeuedPage(
        fetch_url=row.fetch_url,
        hints=unpack_hints(row.hints),
        again=row.reason == HEADLINE_KNOWN,
        attempt=FetchAttempt(
            queue_id=row.id,
            url=row.url,
            born=row.moment or row.discovered_at,
            first=row.visits == 0,
            failures=row.attempts,
            crash_count=crash_count,
            etag=row.etag,
            last_modified=row.last_modified,
        ),
    )
