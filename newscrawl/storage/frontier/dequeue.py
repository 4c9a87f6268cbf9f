"""Dequeue pages, each once in a run.

A killed run leaves pages that it had dequeued. One of them may have killed it, so the next run
dequeues them last. After several killed runs of a source, each of these pages is quarantined:
dequeued alone, and given up if runs still crash on it.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, and_, case, func, or_, select, update

from newscrawl.items import FetchAttempt, Hints
from newscrawl.storage.frontier.queue import HEADLINE_KNOWN, UNREACHABLE_ROBOTS, unpacked
from newscrawl.storage.models import FrontierUrl, Run

# Ours: the number of crashes, of crawls that fetched nothing else, after which a page is given up.
MAX_CRASHES = 3
# Ours: the number of killed runs of a source in a row that are no coincidence.
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """Which pages a run may dequeue: those of its source, none twice, and none older than `since`.
    With `careful`, the runs before it were killed one after the other.

    Pages that were done since the run `began` are left to the next run, even if they are due again.
    """

    source_id: int
    run_id: int
    began: datetime | None = None
    since: datetime | None = None
    careful: bool = False


def dequeue(connection: Connection, claim: Claim, limit: int, now: datetime) -> list[DequeuedPage]:
    """Mark pages as dequeued by the run and return them: new ones before revisits, newest first.

    Pages that a killed run had dequeued come after the others, since one of them may have killed
    it. A careful run leaves them to `dequeue_quarantined`.
    """
    conditions = [*_due(claim, now), FrontierUrl.crash_count == 0]
    if claim.careful:
        conditions.append(FrontierUrl.run_id.is_(None))
    order = (FrontierUrl.visits > 0, FrontierUrl.run_id.is_not(None), *_NEWEST)
    rows = connection.execute(
        select(FrontierUrl).where(*conditions).order_by(*order).limit(limit)
    ).all()
    if rows:
        mark = update(FrontierUrl).where(FrontierUrl.id.in_([row.id for row in rows]))
        connection.execute(mark.values(run_id=claim.run_id))
    return [_page(row, crash_count=0) for row in rows]


def dequeue_quarantined(connection: Connection, claim: Claim, now: datetime) -> DequeuedPage | None:
    """Dequeue a page that may have killed a run, for a run that fetches nothing else meanwhile, so
    that a crash would be the page's fault.

    The `crash_count` of its attempt includes this run until the page is done; above MAX_CRASHES the
    page is to be given up.
    """
    quarantined = or_(FrontierUrl.crash_count > 0, FrontierUrl.run_id.is_not(None))
    row = connection.execute(
        select(FrontierUrl)
        .where(*_due(claim, now), quarantined)
        .order_by(FrontierUrl.crash_count, FrontierUrl.visits > 0, *_NEWEST)
        .limit(1)
    ).first()
    if row is None:
        return None
    crash_count = row.crash_count + 1
    mark = update(FrontierUrl).where(FrontierUrl.id == row.id)
    connection.execute(mark.values(run_id=claim.run_id, crash_count=crash_count))
    return _page(row, crash_count=crash_count)


def return_to_queue(connection: Connection, claim: Claim) -> None:
    """Return to the queue the pages that this run has dequeued without a result. The run ends
    normally, so none of these pages is suspected of a crash."""
    crash_count = FrontierUrl.crash_count
    connection.execute(
        update(FrontierUrl)
        .where(
            FrontierUrl.source_id == claim.source_id,
            FrontierUrl.due_at.is_not(None),
            FrontierUrl.run_id == claim.run_id,
        )
        .values(run_id=None, crash_count=case((crash_count > 0, crash_count - 1), else_=0))
    )


def were_killed(connection: Connection, source_id: int, run_id: int) -> bool:
    """Return whether the runs of the source right before this one were all killed."""
    before = (
        select(Run.finished_at)
        .where(Run.source_id == source_id, Run.id < run_id)
        .order_by(Run.id.desc())
        .limit(_KILLED_RUNS)
    )
    ends = connection.execute(before).scalars().all()
    return len(ends) == _KILLED_RUNS and not any(ends)


def _page(row: Any, *, crash_count: int) -> DequeuedPage:
    return DequeuedPage(
        fetch_url=row.fetch_url,
        hints=unpacked(row.hints),
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


def count_due(connection: Connection, claim: Claim, now: datetime) -> int:
    """Return how many pages could still be dequeued."""
    query = select(func.count()).where(*_due(claim, now))
    return connection.execute(query).scalar_one()


def _due(claim: Claim, now: datetime) -> list[ColumnElement[bool]]:
    due = [
        FrontierUrl.source_id == claim.source_id,
        FrontierUrl.due_at <= now,
        or_(FrontierUrl.run_id.is_(None), FrontierUrl.run_id != claim.run_id),
    ]
    if claim.began is not None:
        due += [
            or_(FrontierUrl.visited_at.is_(None), FrontierUrl.visited_at < claim.began),
            or_(
                and_(
                    FrontierUrl.attempts == 0,
                    FrontierUrl.reason.is_distinct_from(UNREACHABLE_ROBOTS),
                ),
                FrontierUrl.due_at <= claim.began,
            ),
        ]
    if claim.since is not None:
        due.append(or_(FrontierUrl.moment.is_(None), FrontierUrl.moment >= claim.since))
    return due


def hints_of(connection: Connection, queue_id: int) -> Hints:
    """Return the hints that listings have given for a page."""
    query = select(FrontierUrl.hints).where(FrontierUrl.id == queue_id)
    return unpacked(connection.execute(query).scalar() or {})
