"""Which sources are due."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from sqlalchemy import func, select

from newscrawl.storage.models import FrontierUrl, Poll, Source

if TYPE_CHECKING:
    from newscrawl.storage.database import Database


@dataclass(frozen=True, slots=True, kw_only=True)
class DueSource:
    """A source whose crawl is worth it now.

    `due_at` and `polled_at` are None where it was never crawled to the end. `waiting` counts the
    pages that can be asked for: new ones, retries and revisits.
    """

    slug: str
    due_at: datetime | None
    polled_at: datetime | None
    waiting: int


def due_sources(
    database: "Database",
    now: datetime,
    slugs: Collection[str],
    *,
    rest: timedelta = timedelta(minutes=10),
) -> list[DueSource]:
    """Those of the sources that are due: never crawled ones first, then the latest.

    A source is due when its poll is, or when a page waits for a retry or revisit, but not
    before it has had its `rest` since the last crawl. `slugs` may name sources that the
    database doesn't know yet.
    """
    states = _states(database, now)
    due = [
        found
        for slug in dict.fromkeys(slugs)
        if (found := _due(slug, states.get(slug), now, rest)) is not None
    ]
    return sorted(due, key=lambda one: (one.due_at is not None, one.due_at or now, one.slug))


@dataclass(frozen=True, slots=True)
class _State:
    poll_at: datetime
    polled_at: datetime
    page_at: datetime | None
    waiting: int


def _states(database: "Database", now: datetime) -> dict[str, _State]:
    pages = (
        select(
            FrontierUrl.source_id,
            func.min(FrontierUrl.due_at).label("page_at"),
            func.count().label("waiting"),
        )
        .where(FrontierUrl.due_at <= now)
        .group_by(FrontierUrl.source_id)
        .subquery()
    )
    asked = (
        select(Source.slug, Poll.next_poll_at, Poll.polled_at, pages.c.page_at, pages.c.waiting)
        .join(Poll, Poll.source_id == Source.id)
        .outerjoin(pages, pages.c.source_id == Source.id)
    )
    with database.reading() as session:
        return {
            slug: _State(poll_at, polled_at, page_at, waiting or 0)
            for slug, poll_at, polled_at, page_at, waiting in session.execute(asked)
        }


def _due(slug: str, state: _State | None, now: datetime, rest: timedelta) -> DueSource | None:
    if state is None:
        return DueSource(slug=slug, due_at=None, polled_at=None, waiting=0)
    wanted = min(filter(None, (state.poll_at, state.page_at)))
    due_at = max(wanted, state.polled_at + rest)
    if due_at > now:
        return None
    return DueSource(slug=slug, due_at=due_at, polled_at=state.polled_at, waiting=state.waiting)
