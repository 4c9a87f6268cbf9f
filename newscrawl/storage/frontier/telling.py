"""What listings say of pages that are in the queue already.

A sitemap may name a page first, and a feed tell its headline later: before the page is asked for,
while it is on its way, or after it was left since nothing was known of it.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, bindparam, func, select, update

from newscrawl.items import Hints
from newscrawl.storage.models import FrontierUrl

# Why a page was left that no listing told the headline of: `Access` other than "open", or what
# stands before an article.
UNTOLD = frozenset({"paywalled", "disallowed", "ConsentOrPaywall"})
# The reason of a page that waits again since its headline was told after it had been left.
TOLD = "told"


@dataclass(frozen=True, slots=True)
class Queued:
    """A page of the queue, of which a listing tells again."""

    number: int
    reason: str | None
    due_at: datetime | None
    moment: datetime | None
    hints: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Told:
    """What a listing says of a page of the queue."""

    queued: Queued
    hints: Hints
    moment: datetime | None


def packed(hints: Hints) -> dict[str, Any]:
    """Return the hints as the queue keeps them: only those that were told."""
    known = {
        "title": hints.title,
        "standfirst": hints.standfirst,
        "authors": list(hints.authors),
        "published": hints.published.isoformat() if hints.published else None,
        "section": hints.section,
        "language": hints.language,
    }
    return {name: value for name, value in known.items() if value}


def unpacked(kept: Mapping[str, Any]) -> Hints:
    """Return hints as they were before they were packed."""
    published = kept.get("published")
    return Hints(
        **{
            **kept,
            "authors": tuple(kept.get("authors", ())),
            "published": datetime.fromisoformat(published) if published else None,
        }
    )


def told_again(
    connection: Connection, told: Iterable[Told], stored: Iterable[int], now: datetime
) -> None:
    """Add what was not known of pages that wait or are on their way, and queue those again that
    were left without a headline; not those whose article is `stored`."""
    stored = set(stored)
    added, opened = [], []
    for one in told:
        row = one.queued
        hints = {**packed(one.hints), **row.hints}
        values = {"queue_id": row.number, "to_hints": hints, "to_moment": one.moment}
        if row.reason in UNTOLD and one.hints.title and row.number not in stored:
            opened.append({**values, "to_due_at": now})
        elif row.due_at is not None and (hints != row.hints or (one.moment and not row.moment)):
            added.append(values)
    if added:
        connection.execute(_ADD, added)
    if opened:
        connection.execute(_OPEN, opened)


def told_meanwhile(connection: Connection, numbers: Iterable[int], now: datetime) -> set[int]:
    """Queue those of the pages again that are to be left without a headline, though a listing has
    told it since they were asked for; return their numbers."""
    asked = select(FrontierUrl.id, FrontierUrl.hints).where(
        FrontierUrl.id.in_(list(numbers)),
        FrontierUrl.visits == 0,
        # One that was queued again for its headline, and still brings nothing, is left.
        FrontierUrl.reason.is_distinct_from(TOLD),
    )
    rows = [row for row in connection.execute(asked) if row.hints.get("title")]
    if rows:
        values = [
            {"queue_id": row.id, "to_hints": row.hints, "to_moment": None, "to_due_at": now}
            for row in rows
        ]
        connection.execute(_OPEN, values)
    return {row.id for row in rows}


_MOMENT = func.coalesce(FrontierUrl.moment, bindparam("to_moment", type_=FrontierUrl.moment.type))
_ADD = (
    update(FrontierUrl)
    .where(FrontierUrl.id == bindparam("queue_id"))
    .values(hints=bindparam("to_hints"), moment=_MOMENT)
)
# It was never looked at, as it were: without validators, and open to the crawl that left it.
_OPEN = (
    update(FrontierUrl)
    .where(FrontierUrl.id == bindparam("queue_id"))
    .values(
        hints=bindparam("to_hints"),
        moment=_MOMENT,
        due_at=bindparam("to_due_at"),
        state="pending",
        reason=TOLD,
        run_id=None,
        visits=0,
        deaths=0,
        visited_at=None,
        etag=None,
        last_modified=None,
    )
)
