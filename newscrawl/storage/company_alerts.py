"""The companies that analysts watch, and the alerts about them, each delivered once."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from datetime import date, datetime, timedelta
from types import MappingProxyType
from typing import Any, Literal, get_args
from urllib.parse import urlsplit

from sqlalchemy import ColumnElement, delete, func, or_, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session, aliased

from newscrawl.items import copy_fields
from newscrawl.storage import StorageError
from newscrawl.storage.database import reads, writes
from newscrawl.storage.leases import clock
from newscrawl.storage.models import (
    Appearance,
    Article,
    Company,
    CompanyAlert as AlertRow,
    Recipient as RecipientRow,
    SentNotice as SentRow,
    WatchedCompany as WatchedRow,
)

RecipientKind = Literal["e-mail", "webhook", "slack", "teams"]
NoticeKind = Literal["alerts", "digests"]
NOTICE_KINDS: tuple[NoticeKind, ...] = get_args(NoticeKind)
# Parts of host names of products: hooks.slack.com, and the hosts of workflows for Teams.
_SLACK, _TEAMS = ("slack.com",), ("logic.azure.com", "powerplatform.com", "office.com")


# The fault of a notice before it is sent: after a kill nobody knows whether it arrived.
UNCONFIRMED = "not confirmed: it is being sent, or newscrawl ended meanwhile"


class RecipientError(StorageError):
    """A recipient that can't be saved: one line that says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipient:
    """A recipient of notices about some companies and groups, or about all if none is named.

    The `address` is an e-mail address or the URL of a webhook, whose path may be a secret.
    """

    name: str
    kind: RecipientKind
    address: str
    companies: tuple[str, ...] = ()
    gets: tuple[NoticeKind, ...] = NOTICE_KINDS
    added_at: datetime | None = None
    added_by: str = ""

    @property
    def shown_address(self) -> str:
        """Return the address without secrets: of a URL, only the host."""
        return self.address if self.kind == "e-mail" else urlsplit(self.address).hostname or ""


def describe_repeats(recipient: Recipient, recipients: Iterable[Recipient]) -> list[str]:
    """Return a sentence for each other recipient at the same address that gets the same notices."""
    sentences = []
    for second in recipients:
        gets = [kind for kind in recipient.gets if kind in second.gets]
        about = [company for company in recipient.companies if company in second.companies]
        overlap = about or not (recipient.companies and second.companies)
        same = (
            _comparison_key(recipient) == _comparison_key(second) and recipient.name != second.name
        )
        if same and gets and overlap:
            names = about or recipient.companies or second.companies or ["all that is watched"]
            sentences.append(
                f"{recipient.shown_address} already gets {' and '.join(gets)} about "
                f"{', '.join(names)} as {second.name!r}: they will come twice."
            )
    return sentences


def _comparison_key(recipient: Recipient) -> str:
    """Return the address as it is compared: the case of letters in e-mail addresses is ignored."""
    return recipient.address.casefold() if recipient.kind == "e-mail" else recipient.address


def kind_of(address: str) -> RecipientKind:
    """Return the kind of an address."""
    if "://" not in address:
        return "e-mail"
    try:
        host = urlsplit(address).hostname or ""
    except ValueError:
        host = ""
    if host.endswith(_SLACK):
        return "slack"
    return "teams" if host.endswith(_TEAMS) else "webhook"


@dataclass(frozen=True, slots=True, kw_only=True)
class SentNotice:
    """An attempt to send a notice; `fault` says why it failed, "" if it did not."""

    recipient: str
    cause: str
    subject: str
    fault: str = ""
    sent_at: datetime | None = None


@writes
def add_recipient(session: Session, recipient: Recipient) -> None:
    """Store a recipient; raise RecipientError if the name is taken."""
    if session.scalar(select(RecipientRow.id).where(RecipientRow.name == recipient.name)):
        raise RecipientError(
            f"{recipient.name} is a recipient already: edit it, or choose another name"
        )
    session.add(RecipientRow(**asdict(recipient) | {"added_at": clock(session)}))


@writes
def edit_recipient(session: Session, recipient: Recipient) -> None:
    """Give the recipient of this name another kind, address, companies and notices; raise
    RecipientError if there is none."""
    values = {name: getattr(recipient, name) for name in ("kind", "address", "companies", "gets")}
    changed = update(RecipientRow).where(RecipientRow.name == recipient.name).values(values)
    if session.scalar(changed.returning(RecipientRow.id)) is None:
        raise RecipientError(f"no recipient {recipient.name} is in the database")


@writes
def remove_recipient(session: Session, name: str) -> bool:
    """Delete a recipient; return False if there is none of this name."""
    removed = session.execute(
        delete(RecipientRow).where(RecipientRow.name == name).returning(RecipientRow.id)
    )
    return removed.first() is not None


@reads
def list_recipients(session: Session) -> list[Recipient]:
    """Return all recipients by name, in alphabetical order."""
    rows = session.scalars(select(RecipientRow)).all()
    recipients = [
        copy_fields(
            Recipient,
            row,
            companies=tuple(row.companies),
            gets=tuple(kind for kind in NOTICE_KINDS if kind in row.gets),
        )
        for row in rows
    ]
    return sorted(recipients, key=lambda recipient: recipient.name.casefold())


@writes
def record_sent(session: Session, notices: Collection[SentNotice]) -> None:
    """Record attempts to send notices, in the caller's transaction."""
    now = clock(session)
    session.add_all(SentRow(**asdict(notice) | {"sent_at": now}) for notice in notices)


def confirm_sent(session: Session, notice: SentNotice) -> None:
    """Give the last attempt to send a notice to its recipient the fault that it had, in the
    caller's transaction."""
    same = (SentRow.cause == notice.cause, SentRow.recipient == notice.recipient)
    last = select(func.max(SentRow.id)).where(*same).scalar_subquery()
    session.execute(update(SentRow).where(SentRow.id == last).values(fault=notice.fault))


@reads
def failures(session: Session, cause: str) -> Sequence[datetime]:
    """Return when a notice with this cause was sent in vain to at least one recipient, in order."""
    failed = (SentRow.cause == cause, SentRow.fault.not_in(("", UNCONFIRMED)))
    query = select(SentRow.sent_at).where(*failed).distinct().order_by(SentRow.sent_at)
    return session.scalars(query).all()


@reads
def sent_notices(session: Session, limit: int) -> Sequence[SentNotice]:
    """Return the newest attempts to send notices, the newest first."""
    query = select(SentRow).order_by(SentRow.sent_at.desc(), SentRow.id.desc()).limit(limit)
    return [copy_fields(SentNotice, row) for row in session.scalars(query)]


AlertKind = Literal["spike", "first mention", "first pair", "digest"]
# Digests are stored as alerts so that they are sent once, but not listed as alerts.
ALERTS_SHOWN: tuple[AlertKind, ...] = ("spike", "first mention", "first pair")

# All ours: how long a worker may take to deliver an alert before another one tries, the pauses
# after the first attempts that failed, the last of them after all others, and the age at which an
# undelivered alert is dropped.
CLAIM = timedelta(minutes=10)
RETRIES = (timedelta(minutes=5), timedelta(minutes=15), timedelta(hours=1))
STALE = timedelta(days=3)


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchedCompany:
    """A watched company, or with `other` a pair of companies; with `for_recipient` a company that
    is watched only because a recipient of alerts is addressed about it."""

    company: str
    other: str
    added_at: datetime
    added_by: str = ""
    for_recipient: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class CompanyAlert:
    """An event that analysts are notified of; alerts with the same `cause` are the same."""

    cause: str
    kind: AlertKind
    company: str
    day: date
    other: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredAlert:
    """An alert in the database; `delivered_by` names the channels that have delivered it."""

    number: int
    alert: CompanyAlert
    raised_at: datetime
    delivered_by: tuple[str, ...]
    delivered_at: datetime | None


@writes
def watch_company(session: Session, company: str, other: str = "", by: str = "") -> bool:
    """Watch a company or a pair, in a person's name; return False if it is watched already."""
    company, other = _pair(company, other)
    if session.scalar(select(WatchedRow.id).where(*_of(company, other))) is not None:
        return False
    row = WatchedRow(company=company, other=other, added_at=clock(session), added_by=by)
    session.add(row)
    return True


@writes
def unwatch_company(session: Session, company: str, other: str = "") -> bool:
    """Stop watching a company or a pair; return False if it was not watched."""
    company, other = _pair(company, other)
    removed = session.execute(
        delete(WatchedRow).where(*_of(company, other)).returning(WatchedRow.id)
    )
    return removed.first() is not None


@reads
def watched_companies(session: Session) -> list[WatchedCompany]:
    """Return all companies and pairs that are watched, by name, with the companies about which
    recipients get alerts."""
    rows = {
        (row.company, row.other): copy_fields(WatchedCompany, row, for_recipient=False)
        for row in session.scalars(select(WatchedRow))
    }
    addressed = session.scalars(select(RecipientRow).order_by(RecipientRow.added_at))
    for recipient in addressed:
        for company in recipient.companies if "alerts" in recipient.gets else ():
            implied = WatchedCompany(
                company=company,
                other="",
                added_at=recipient.added_at,
                added_by=recipient.added_by,
                for_recipient=True,
            )
            rows.setdefault((company, ""), implied)
    return [rows[pair] for pair in sorted(rows)]


@reads
def first_mention_day(
    session: Session,
    watch: WatchedCompany,
    groups: Mapping[str, tuple[str, ...]] = MappingProxyType({}),
) -> date | None:
    """Return the day of the first article that mentions the company, or one of the group, or the
    pair, if it was stored after the watch began; None if there is none, or an earlier article."""
    names = groups.get(watch.company, (watch.company,))
    beside_names = groups.get(watch.other, (watch.other,))
    query = select(Article.day, Article.first_seen_at).join(
        Appearance, Appearance.article_id == Article.id
    )
    query = query.join(Company, Company.id == Appearance.company_id).where(Company.name.in_(names))
    if watch.other:
        beside, beside_company = aliased(Appearance), aliased(Company)
        query = query.join(beside, beside.article_id == Article.id)
        query = query.join(beside_company, beside_company.id == beside.company_id).where(
            beside_company.name.in_(beside_names)
        )
    # Nearly all companies were mentioned before, which an unordered query finds at once.
    if session.execute(query.where(Article.first_seen_at < watch.added_at).limit(1)).first():
        return None
    first = session.execute(query.order_by(Article.first_seen_at).limit(1)).first()
    return first[0] if first else None


@writes
def record_alerts(session: Session, alerts: Collection[CompanyAlert]) -> list[CompanyAlert]:
    """Store the alerts with new causes, and return them."""
    by_cause = {alert.cause: alert for alert in alerts}
    stored = set(session.scalars(select(AlertRow.cause).where(AlertRow.cause.in_(by_cause))))
    now = clock(session)
    recorded = []
    for cause in (cause for cause in by_cause if cause not in stored):
        # Another worker may store it at the same moment.
        with suppress(IntegrityError), session.begin_nested():
            session.add(AlertRow(**asdict(by_cause[cause]), raised_at=now, delivered_by=[]))
            session.flush()
            recorded.append(by_cause[cause])
    return recorded


@writes
def claim_alerts(
    session: Session, now: datetime | None = None, *, retry: bool = False
) -> list[StoredAlert]:
    """Return the alerts to deliver, which are reserved for this worker for a while. After a failure
    an alert is left out for a pause of RETRIES, unless `retry`. `now` is that of the database by
    default."""
    moment = now or clock(session)
    for row in _paused_alerts(session, moment) if retry else ():
        row.claimed_until = None
    rows = session.scalars(
        update(AlertRow)
        .where(*_pending_conditions(moment), _free(moment))
        .values(claimed_until=moment + CLAIM)
        .returning(AlertRow)
    )
    return sorted(map(_stored_alert, rows), key=lambda alert: alert.number)


@reads
def count_paused(session: Session) -> int:
    """Return the number of alerts that failed and wait for the end of their pause."""
    return len(_paused_alerts(session, clock(session)))


def _paused_alerts(session: Session, now: datetime) -> list[AlertRow]:
    """Return the alerts that wait for the end of their pause; those that a worker delivers just now
    are reserved until another moment."""
    reserved = session.scalars(select(AlertRow).where(*_pending_conditions(now), ~_free(now)))
    return [row for row in reserved if row.claimed_until == _end_of_pause(session, row.cause)]


def _end_of_pause(session: Session, cause: str) -> datetime | None:
    failed = failures(session, cause)
    return failed[-1] + RETRIES[: len(failed)][-1] if failed else None


def _pending_conditions(now: datetime) -> tuple[ColumnElement[bool], ...]:
    fresh = AlertRow.raised_at > now - STALE
    return AlertRow.delivered_at.is_(None), fresh, AlertRow.kind != "digest"


def _free(now: datetime) -> ColumnElement[bool]:
    return or_(AlertRow.claimed_until.is_(None), AlertRow.claimed_until < now)


@writes
def mark_delivered(
    session: Session,
    number: int,
    delivered_by: Sequence[str],
    sent: Collection[SentNotice] = (),
    *,
    done: bool,
) -> None:
    """Store the channels that have delivered an alert, which can be claimed again after a pause
    unless `done`, and record what was sent just now."""
    record_sent(session, sent)
    row = session.get(AlertRow, number, with_for_update=True)
    if row is None:
        return
    row.delivered_by = list(delivered_by)
    row.delivered_at = clock(session) if done else None
    row.claimed_until = _end_of_pause(session, row.cause)


@writes
def claim_digest(session: Session, digest: CompanyAlert) -> StoredAlert | None:
    """Return a digest, stored and reserved for this worker for a while; None while another worker
    sends it."""
    record_alerts(session, [digest])
    now = clock(session)
    row = session.scalars(
        update(AlertRow)
        .where(AlertRow.cause == digest.cause, _free(now))
        .values(claimed_until=now + CLAIM)
        .returning(AlertRow)
    ).one_or_none()
    return None if row is None else _stored_alert(row)


@writes
def begin_sending(session: Session, number: int, notice: SentNotice) -> bool:
    """Record that a digest is sent to a recipient, before it is: if this process ends now, nobody
    sends it there again. Return False if it has been sent there."""
    row = session.get(AlertRow, number, with_for_update=True)
    if row is None or notice.recipient in row.delivered_by:
        return False
    row.delivered_by = [*row.delivered_by, notice.recipient]
    row.claimed_until = clock(session) + CLAIM
    record_sent(session, [replace(notice, fault=UNCONFIRMED)])
    return True


@writes
def end_sending(session: Session, number: int, notice: SentNotice) -> None:
    """Record that a digest was delivered to a recipient, or that it failed and may be sent there
    again."""
    confirm_sent(session, notice)
    row = session.get(AlertRow, number, with_for_update=True)
    if row is not None and notice.fault:
        row.delivered_by = [
            recipient for recipient in row.delivered_by if recipient != notice.recipient
        ]


@writes
def release_digest(session: Session, number: int, *, done: bool) -> None:
    """Allow others to send the rest of a digest, or with `done` record that all have it."""
    delivered_at = clock(session) if done else None
    values = {"claimed_until": None, "delivered_at": delivered_at}
    session.execute(update(AlertRow).where(AlertRow.id == number).values(values))


@writes
def delete_alert(session: Session, cause: str) -> None:
    """Delete an alert, so that it may be raised again."""
    session.execute(delete(AlertRow).where(AlertRow.cause == cause))


@reads
def list_alerts(
    session: Session,
    *,
    kinds: Sequence[AlertKind] | None = None,
    company: str | None = None,
    since: date | None = None,
    limit: int | None = None,
) -> list[StoredAlert]:
    """Return alerts, the newest first; `since` is the first day of the events."""
    query = select(AlertRow).order_by(AlertRow.raised_at.desc(), AlertRow.id.desc())
    if kinds is not None:
        query = query.where(AlertRow.kind.in_(kinds))
    if company is not None:
        query = query.where(or_(AlertRow.company == company, AlertRow.other == company))
    if since is not None:
        query = query.where(AlertRow.day >= since)
    return [_stored_alert(row) for row in session.scalars(query.limit(limit))]


def _of(company: str, other: str) -> tuple[ColumnElement[bool], ColumnElement[bool]]:
    return WatchedRow.company == company, WatchedRow.other == other


def rename_company(session: Session, name: str, new_name: str) -> None:
    """Give a company another name in the lists of recipients, where it is watched, and in its
    alerts, whose causes follow, in the caller's transaction."""
    for recipient in session.scalars(select(RecipientRow)):
        if name in recipient.companies:
            recipient.companies = [
                new_name if company == name else company for company in recipient.companies
            ]
    for row in session.scalars(select(WatchedRow).where(_names(WatchedRow, name))):
        row.company, row.other = _rename_in_pair((row.company, row.other), name, new_name)
    for alert in session.scalars(select(AlertRow).where(_names(AlertRow, name))):
        kind, _, suffix = alert.cause.partition("/")
        suffix = suffix.removeprefix("/".join(filter(None, (alert.company, alert.other))))
        alert.company, alert.other = _rename_in_pair((alert.company, alert.other), name, new_name)
        alert.cause = f"{kind}/{'/'.join(filter(None, (alert.company, alert.other)))}{suffix}"


def _names(row: type[WatchedRow] | type[AlertRow], name: str) -> ColumnElement[bool]:
    return or_(row.company == name, row.other == name)


def _rename_in_pair(pair: tuple[str, str], name: str, new_name: str) -> tuple[str, str]:
    first, second = (new_name if company == name else company for company in pair)
    return _pair(first, second)


def _pair(company: str, other: str) -> tuple[str, str]:
    """Return the pair in alphabetical order, or the company and an empty name."""
    first, second = sorted((company, other)) if other else (company, "")
    return first, second


def _stored_alert(row: AlertRow) -> StoredAlert:
    alert, channels = copy_fields(CompanyAlert, row), tuple(row.delivered_by)
    return copy_fields(StoredAlert, row, number=row.id, alert=alert, delivered_by=channels)
