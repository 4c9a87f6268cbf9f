"""The queue's statements of what a run takes from it: pages of its own, each once.

A run that is killed leaves pages behind that it had taken. One of them may be what it died of, so
that the next run takes them last. Where runs of a source are cut off one after the other, each of
these pages is taken alone, and given up when runs go on dying of it.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, and_, case, func, or_, select, update

from newscrawl.items import Hints, Visit
from newscrawl.storage.frontier.queue import UNREACHABLE_ROBOTS
from newscrawl.storage.frontier.telling import TOLD, unpacked
from newscrawl.storage.models import FrontierUrl, Run

# Ours: a page is given up when so many crawls have died that were busy with nothing else.
MOST_DEATHS = 3
# Ours: so many crawls of a source that were cut off one after the other are no chance any more.
_CUT_OFF = 2

_NEWEST = (FrontierUrl.moment.desc().nulls_last(), FrontierUrl.id)


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """A page to be asked for now; `visit` goes with it and back into `Frontier.settlement`.

    `again` tells that this very crawl may have asked for it before it heard of its headline.
    """

    fetch_url: str
    hints: Hints
    visit: Visit
    again: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """Which pages a run may take: those of its source, none of them twice, and none that is known
    to be older than `since`. With `careful`, the runs before it were cut off one after the other.

    What was settled since `began` is left to the next run, even where it is due again by now.
    """

    source_id: int
    run_id: int
    began: datetime | None = None
    since: datetime | None = None
    careful: bool = False


def take(connection: Connection, claim: Claim, limit: int, now: datetime) -> list[Waiting]:
    """Mark pages as taken by the run and return them: new ones first, the newest before all.

    What an earlier run has taken and never settled is taken again, since that run was killed; but
    after the others, since it may be what killed it. A careful run leaves it to `take_suspect`.
    """
    conditions = [*_due(claim, now), FrontierUrl.deaths == 0]
    if claim.careful:
        conditions.append(FrontierUrl.run_id.is_(None))
    order = (FrontierUrl.visits > 0, FrontierUrl.run_id.is_not(None), *_NEWEST)
    rows = connection.execute(
        select(FrontierUrl).where(*conditions).order_by(*order).limit(limit)
    ).all()
    if rows:
        taken = update(FrontierUrl).where(FrontierUrl.id.in_([row.id for row in rows]))
        connection.execute(taken.values(run_id=claim.run_id))
    return [_waiting(row, deaths=0) for row in rows]


def take_suspect(connection: Connection, claim: Claim, now: datetime) -> Waiting | None:
    """Mark a page as taken that may have killed a run, and return it: for a run that is busy with
    nothing else, so that its death would be the page's.

    Its visit's `deaths` count this run's until the page is settled: more than MOST_DEATHS, and it
    is to be given up.
    """
    suspected = or_(FrontierUrl.deaths > 0, FrontierUrl.run_id.is_not(None))
    row = connection.execute(
        select(FrontierUrl)
        .where(*_due(claim, now), suspected)
        .order_by(FrontierUrl.deaths, FrontierUrl.visits > 0, *_NEWEST)
        .limit(1)
    ).first()
    if row is None:
        return None
    deaths = row.deaths + 1
    taken = update(FrontierUrl).where(FrontierUrl.id == row.id)
    connection.execute(taken.values(run_id=claim.run_id, deaths=deaths))
    return _waiting(row, deaths=deaths)


def give_back(connection: Connection, claim: Claim) -> None:
    """Leave to the next run what this one has taken and not come to: it ends in order, and none of
    it is to blame for anything."""
    connection.execute(
        update(FrontierUrl)
        .where(
            FrontierUrl.source_id == claim.source_id,
            FrontierUrl.due_at.is_not(None),
            FrontierUrl.run_id == claim.run_id,
        )
        .values(run_id=None, deaths=case((FrontierUrl.deaths > 0, FrontierUrl.deaths - 1), else_=0))
    )


def were_cut_off(connection: Connection, source_id: int, run_id: int) -> bool:
    """Whether the runs of the source right before this one were all killed."""
    before = (
        select(Run.finished_at)
        .where(Run.source_id == source_id, Run.id < run_id)
        .order_by(Run.id.desc())
        .limit(_CUT_OFF)
    )
    ends = connection.execute(before).scalars().all()
    return len(ends) == _CUT_OFF and not any(ends)


def _waiting(row: Any, *, deaths: int) -> Waiting:
    return Waiting(
        fetch_url=row.fetch_url,
        hints=unpacked(row.hints),
        again=row.reason == TOLD,
        visit=Visit(
            queue_id=row.id,
            url=row.url,
            born=row.moment or row.discovered_at,
            first=row.visits == 0,
            failures=row.attempts,
            deaths=deaths,
            etag=row.etag,
            last_modified=row.last_modified,
        ),
    )


def count_due(connection: Connection, claim: Claim, now: datetime) -> int:
    """Return how many pages could still be taken."""
    asked = select(func.count()).where(*_due(claim, now))
    return connection.execute(asked).scalar_one()


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
    """Return what listings have told of a page."""
    kept = connection.execute(select(FrontierUrl.hints).where(FrontierUrl.id == queue_id)).scalar()
    return unpacked(kept or {})
