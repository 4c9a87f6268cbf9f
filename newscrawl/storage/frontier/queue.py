"""The queue's statements: what is offered to it, and what came of pages."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal

from sqlalchemy import (
    JSON,
    Connection,
    Insert,
    Row,
    bindparam,
    case,
    func,
    literal,
    select,
    update,
)
from sqlalchemy.dialects import postgresql, sqlite

from newscrawl.items import Hints
from newscrawl.storage.addresses import add_urls, numbers_at, stored_urls
from newscrawl.storage.documents import MAX_URL_BYTES, clean
from newscrawl.storage.frontier.telling import (
    UNTOLD,
    Queued,
    Told,
    packed,
    told_again,
    told_meanwhile,
)
from newscrawl.storage.models import FrontierUrl
from newscrawl.storage.prepared import Prepared, among

# "read": an answer came, and the page is worth another look by the schedule of revisits.
# "closed": an answer came that makes another look useless. "failed": none came, and it is tried
# again by the schedule of retries. "died": so, since it ended the process that read it.
# "deferred": it was not asked for, since nobody could tell whether it may be, and waits.
# "hopeless": none will come. "postponed": it stays in the queue for a crawl that wants articles as
# old as this one.
Outcome = Literal["read", "closed", "failed", "died", "deferred", "hopeless", "postponed"]

# Why a page waits that nobody has asked for.
UNREACHABLE_ROBOTS = "robots.txt unreachable"
# Reasons of a last look that brought a text or a correction, or another page in their place.
_OF_A_NEW_TEXT = frozenset({"new", "revised", "quarantined"})
# Ours: that a listing still names a page is noted so often, since it is a write, for
# storage/pruning.py.
NAMED_AGAIN = timedelta(days=7)
# Longer validators are no use to anyone, and servers would refuse them.
_MAX_VALIDATOR = 1_000
_ADD: Mapping[str, Insert] = {
    dialect: said_by.insert(FrontierUrl).on_conflict_do_nothing().returning(FrontierUrl.id)
    for dialect, said_by in (("sqlite", sqlite), ("postgresql", postgresql))
}


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
# A row of _QUEUED: number, URL, reason, when it is due, when it was looked at last, about when it
# was named last, when it was published, hints.
_Queued = Row[
    int, str, str | None, datetime | None, datetime | None, datetime, datetime | None, Any
]
_ADVANCE = (
    update(FrontierUrl)
    .where(FrontierUrl.id.in_(bindparam("numbers", expanding=True)))
    .values(due_at=bindparam("to_due_at"))
)
_NAME = (
    update(FrontierUrl)
    .where(FrontierUrl.id.in_(bindparam("numbers", expanding=True)))
    .values(named_at=bindparam("to_named_at"))
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """An article that a listing tells of: its canonical URL, and the one to be asked for.

    `modified` is when the listing says that its page was last changed. Where one of the addresses
    `twin_of` is known, this is another one of the same article.
    """

    url: str
    fetch_url: str
    hints: Hints
    moment: datetime | None = None
    modified: datetime | None = None
    twin_of: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Offered:
    """Of the offers: how many articles are stored already or wait under a twin's address, how many
    were new to the queue, and how many have been changed since we read them."""

    known: int
    fresh: int
    changed: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Settlement:
    """What came of a page that was asked for, ready to be written into its row."""

    queue_id: int
    first: bool
    columns: Mapping[str, Any]


def offer(
    connection: Connection,
    source_id: int,
    listing_id: int | None,
    offers: Sequence[Offer],
    now: datetime,
) -> Offered:
    """Queue what is neither queued nor stored; URLs that no database can hold are passed over.

    Pages that are kept from us, and of which no listing had told the headline, wait again. So do
    those that a listing says have been changed. What was not known of pages that wait is added.
    """
    by_url = {one.url: one for one in offers if len(one.url.encode()) <= MAX_URL_BYTES}
    waiting_twins = _waiting_twins(connection, by_url)
    by_url = {url: one for url, one in by_url.items() if url not in waiting_twins}
    urls = list(by_url)
    known = stored_urls(connection, urls)
    known_number = len(known) + len(waiting_twins)
    queued = {row.url: row for row in connection.execute(_QUEUED.where(FrontierUrl.url.in_(urls)))}
    told_again(connection, _told(queued, by_url), _numbers(queued, known), now)
    changed = [row.id for url, row in queued.items() if _is_changed(row, by_url[url], now)]
    if changed:
        connection.execute(_ADVANCE, {"numbers": changed, "to_due_at": now})
    # Of what is stored its address tells enough.
    named = [
        row.id
        for url, row in queued.items()
        if url not in known and now - row.named_at > NAMED_AGAIN
    ]
    if named:
        connection.execute(_NAME, {"numbers": named, "to_named_at": now})
    rows = [
        {
            "source_id": source_id,
            "listing_id": listing_id,
            "url": url,
            "fetch_url": one.fetch_url,
            "hints": packed(one.hints),
            "moment": one.moment,
            "discovered_at": now,
            "state": "pending",
            "due_at": now,
            "visits": 0,
            "attempts": 0,
        }
        for url, one in by_url.items()
        if url not in known and url not in queued
    ]
    if not rows:
        return Offered(known=known_number, fresh=0, changed=len(changed))
    added = connection.execute(_ADD[connection.dialect.name], rows).all()
    return Offered(known=known_number, fresh=len(added), changed=len(changed))


def _waiting_twins(connection: Connection, by_url: Mapping[str, Offer]) -> set[str]:
    """Those of the addresses whose article waits, or is offered, under another one that they are a
    twin's of. Where it is stored, they become addresses of it."""
    asked = {twin for one in by_url.values() for twin in one.twin_of}
    if not asked:
        return set()
    stored = numbers_at(connection, asked)
    twins = [
        (url, stored[twin])
        for url, one in by_url.items()
        if (twin := next(filter(stored.__contains__, one.twin_of), None)) is not None
    ]
    add_urls(connection, twins)
    queued = select(FrontierUrl.url).where(
        FrontierUrl.url.in_(asked), FrontierUrl.state != "failed"
    )
    waiting = {*connection.execute(queued).scalars(), *by_url}
    joined = {url for url, _ in twins}
    return {
        url
        for url, one in by_url.items()
        if url not in joined and not waiting.isdisjoint(one.twin_of)
    }


def _is_changed(row: _Queued, told: Offer, now: datetime) -> bool:
    """Whether a page is to be looked at before its time, since a listing says it was changed.

    A listing that said so of a page in which we found nothing new is not believed again.
    """
    due_at: datetime | None = row.due_at
    visited_at: datetime | None = row.visited_at
    if told.modified is None or visited_at is None or row.reason not in _OF_A_NEW_TEXT:
        return False
    return (due_at is None or due_at > now) and visited_at < told.modified <= now


def _told(queued: Mapping[str, _Queued], by_url: Mapping[str, Offer]) -> list[Told]:
    return [
        Told(
            Queued(row.id, row.reason, row.due_at, row.moment, row.hints),
            by_url[url].hints,
            by_url[url].moment,
        )
        for url, row in queued.items()
    ]


def _numbers(queued: Mapping[str, _Queued], urls: Collection[str]) -> list[int]:
    return [row.id for url, row in queued.items() if url in urls]


def tell(connection: Connection, offers: Sequence[Offer], now: datetime) -> None:
    """Add what the offers say to pages that are in the queue already; queue nothing new."""
    by_url = {one.url: one for one in offers}
    asked = _QUEUED.where(FrontierUrl.url.in_(list(by_url)))
    queued = {row.url: row for row in connection.execute(asked)}
    known = stored_urls(connection, queued)
    told_again(connection, _told(queued, by_url), _numbers(queued, known), now)


_SETTLE = Prepared(
    update(FrontierUrl)
    .where(FrontierUrl.id == bindparam("queue_id"))
    .values(
        state=bindparam("to_state"),
        reason=bindparam("to_reason"),
        due_at=bindparam("to_due_at"),
        # What nobody will ask for again needs no hints.
        hints=case((bindparam("to_keep_hints"), FrontierUrl.hints), else_=literal({}, JSON())),
        moment=func.coalesce(
            bindparam("to_moment", type_=FrontierUrl.moment.type), FrontierUrl.moment
        ),
        run_id=None,
        visits=FrontierUrl.visits + bindparam("to_visits"),
        attempts=bindparam("to_attempts"),
        deaths=bindparam("to_deaths"),
        visited_at=func.coalesce(
            bindparam("to_visited_at", type_=FrontierUrl.visited_at.type), FrontierUrl.visited_at
        ),
        etag=bindparam("to_etag"),
        last_modified=bindparam("to_last_modified"),
    )
)


def settle(connection: Connection, settlements: Sequence[Settlement]) -> None:
    """Write what came of pages."""
    left = [one for one in settlements if one.columns["to_reason"] in UNTOLD]
    if left:
        now = max(one.columns["to_visited_at"] for one in left)
        told = told_meanwhile(connection, [one.queue_id for one in left], now)
        settlements = [one for one in settlements if one.queue_id not in told]
    if settlements:
        rows = [{"queue_id": one.queue_id, **one.columns} for one in settlements]
        _SETTLE.run_all(connection, rows)


def settle_saved(
    connection: Connection, settlement: Settlement, outcome: str, urls: Sequence[str]
) -> None:
    """Write what came of a page whose article is stored in this transaction.

    Another address of an article that is stored already is not looked at again: the article's
    own one is. The article's further addresses leave the queue with it.
    """
    columns = {**settlement.columns, "to_reason": outcome}
    if settlement.first and outcome == "unchanged":
        columns |= {"to_reason": "alias", "to_due_at": None, "to_keep_hints": False}
    _SETTLE.run(connection, {"queue_id": settlement.queue_id, **columns})
    if len(urls) > 1:
        _CLOSE_ALIASES.run(connection, {"urls": list(urls), "queue_id": settlement.queue_id})


_CLOSE_ALIASES = Prepared(
    update(FrontierUrl)
    .where(
        among(FrontierUrl.url, "urls"),
        FrontierUrl.id != bindparam("queue_id"),
        FrontierUrl.state == "pending",
    )
    .values(state="done", reason="alias", due_at=None)
)


def validator(value: str | None) -> str | None:
    """Return a validator that can be stored and sent back, or None."""
    return clean(value) if value and len(value) <= _MAX_VALIDATOR else None
