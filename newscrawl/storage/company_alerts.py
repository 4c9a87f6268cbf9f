"""What analysts wait for, and what they have been told of, once each."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from typing import Any, Literal, get_args

from sqlalchemy import ColumnElement, delete, or_, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session, aliased

from newscrawl.storage.database import Database
from newscrawl.storage.leases import clock
from newscrawl.storage.models import Appearance, Article, Company, Notice, Watch

AlertKind = Literal["spike", "first mention", "first pair", "digest"]
ALERT_KINDS: tuple[AlertKind, ...] = get_args(AlertKind)

# Ours: a worker that took a notice and was not heard of again loses it after so long, and what
# could not be told for so long is history, not news.
CLAIM = timedelta(minutes=10)
STALE = timedelta(days=3)


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchedCompany:
    """A company that somebody waits for, or with `other` a pair."""

    company: str
    other: str
    added_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class CompanyAlert:
    """What was alert; `cause` is what makes it one and the same."""

    cause: str
    kind: AlertKind
    company: str
    day: date
    other: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredAlert:
    """A notice in the database; `told` names the channels that passed it on."""

    number: int
    alert: CompanyAlert
    raised_at: datetime
    told: tuple[str, ...]
    told_at: datetime | None


def watch_company(database: Database, company: str, other: str = "") -> bool:
    """Waits for a company, or a pair, from now on; False where it is waited for already."""
    company, other = _pair(company, other)

    def work(session: Session) -> bool:
        if session.scalar(select(Watch.id).where(*_of(company, other))) is not None:
            return False
        session.add(Watch(company=company, other=other, added_at=clock(session)))
        return True

    return database.write(work)


def unwatch_company(database: Database, company: str, other: str = "") -> bool:
    """Waits no more; False where nobody did."""
    company, other = _pair(company, other)

    def work(session: Session) -> bool:
        gone = session.execute(delete(Watch).where(*_of(company, other)).returning(Watch.id))
        return gone.first() is not None

    return database.write(work)


def watched_companies(database: Database) -> list[WatchedCompany]:
    """All that is waited for, by name."""
    query = select(Watch).order_by(Watch.company, Watch.other)
    with database.reading() as session:
        rows = [
            WatchedCompany(company=row.company, other=row.other, added_at=row.added_at)
            for row in session.scalars(query)
        ]
    return sorted(rows, key=lambda row: (row.company, row.other))


def first_mention_day(database: Database, watch: WatchedCompany) -> date | None:
    """The day of the first article that names the company, or the pair, if it came in since it
    is waited for; None where there is none, or one was there before."""
    query = select(Article.day, Article.first_seen_at).join(
        Appearance, Appearance.article_id == Article.id
    )
    query = query.join(Company, Company.id == Appearance.company_id).where(
        Company.name == watch.company
    )
    if watch.other:
        beside, other = aliased(Appearance), aliased(Company)
        query = query.join(beside, beside.article_id == Article.id)
        query = query.join(other, other.id == beside.company_id).where(other.name == watch.other)
    with database.reading() as session:
        # Nearly all companies were named before: that is found at once, without an order.
        if session.execute(query.where(Article.first_seen_at < watch.added_at).limit(1)).first():
            return None
        found = session.execute(query.order_by(Article.first_seen_at).limit(1)).first()
    return found[0] if found else None


def record_alerts(database: Database, found: Iterable[CompanyAlert]) -> list[CompanyAlert]:
    """Keeps what is new among the things alert, and gives that."""
    wanted = {one.cause: one for one in found}

    def work(session: Session) -> list[CompanyAlert]:
        known = set(session.scalars(select(Notice.cause).where(Notice.cause.in_(wanted))))
        now = clock(session)
        return [
            one for cause, one in wanted.items() if cause not in known and _keep(session, one, now)
        ]

    return database.write(work) if wanted else []


def _keep(session: Session, one: CompanyAlert, now: datetime) -> bool:
    row = Notice(
        cause=one.cause,
        kind=one.kind,
        company=one.company,
        other=one.other,
        day=one.day,
        facts=dict(one.facts),
        noticed_at=now,
        told=[],
    )
    try:
        with session.begin_nested():
            session.add(row)
    except IntegrityError:
        # Another worker alert it at the same moment.
        return False
    return True


def claim_alerts(database: Database) -> list[StoredAlert]:
    """The alerts that are still to be told, taken from all other workers for a while."""

    def work(session: Session) -> list[StoredAlert]:
        now = clock(session)
        free = or_(Notice.claimed_until.is_(None), Notice.claimed_until < now)
        taken = session.scalars(
            update(Notice)
            .where(Notice.told_at.is_(None), Notice.noticed_at > now - STALE, free)
            .where(Notice.kind != "digest")
            .values(claimed_until=now + CLAIM)
            .returning(Notice)
        )
        return [_kept(row) for row in taken]

    return sorted(database.write(work), key=lambda kept: kept.number)


def mark_delivered(database: Database, number: int, told: Sequence[str], *, done: bool) -> None:
    """Notes the channels that have passed a notice on, and gives it free; `done`: for good."""

    def work(session: Session) -> None:
        session.execute(
            update(Notice)
            .where(Notice.id == number)
            .values(told=list(told), claimed_until=None, told_at=clock(session) if done else None)
        )

    database.write(work)


def delete_alert(database: Database, cause: str) -> None:
    """Drops a notice, so that it may be alert again."""
    database.write(lambda session: session.execute(delete(Notice).where(Notice.cause == cause)))


def find_alert(database: Database, cause: str) -> StoredAlert | None:
    """The notice of this cause, or None where nothing was alert."""
    with database.reading() as session:
        row = session.scalar(select(Notice).where(Notice.cause == cause))
        return None if row is None else _kept(row)


def list_alerts(
    database: Database,
    *,
    kinds: Sequence[AlertKind] | None = None,
    company: str | None = None,
    since: date | None = None,
    limit: int | None = None,
) -> list[StoredAlert]:
    """What was alert, the newest first; `since` is the first day it may be about."""
    query = select(Notice).order_by(Notice.noticed_at.desc(), Notice.id.desc())
    if kinds is not None:
        query = query.where(Notice.kind.in_(kinds))
    if company is not None:
        query = query.where(or_(Notice.company == company, Notice.other == company))
    if since is not None:
        query = query.where(Notice.day >= since)
    with database.reading() as session:
        return [_kept(row) for row in session.scalars(query.limit(limit))]


def _of(company: str, other: str) -> tuple[ColumnElement[bool], ColumnElement[bool]]:
    return Watch.company == company, Watch.other == other


def _pair(company: str, other: str) -> tuple[str, str]:
    """A pair is the same in either order."""
    first, second = sorted((company, other)) if other else (company, "")
    return first, second


def _kept(row: Notice) -> StoredAlert:
    kind = next(kind for kind in ALERT_KINDS if kind == row.kind)
    return StoredAlert(
        number=row.id,
        alert=CompanyAlert(
            cause=row.cause,
            kind=kind,
            company=row.company,
            other=row.other,
            day=row.day,
            facts=row.facts,
        ),
        raised_at=row.noticed_at,
        told=tuple(row.told),
        told_at=row.told_at,
    )
