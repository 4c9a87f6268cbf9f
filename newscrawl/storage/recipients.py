"""The recipients of alerts and digests, and the record of what was sent to them."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Literal, get_args
from urllib.parse import urlsplit

from sqlalchemy import delete, func, select, update
from sqlalchemy.orm import Session

from newscrawl.items import copy_fields
from newscrawl.storage import StorageError
from newscrawl.storage.database import Database
from newscrawl.storage.leases import clock
from newscrawl.storage.models import Recipient as RecipientRow, SentNotice as SentRow

RecipientKind = Literal["e-mail", "webhook", "slack", "teams"]
NoticeKind = Literal["alerts", "digests"]
RECIPIENT_KINDS: tuple[RecipientKind, ...] = get_args(RecipientKind)
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
    for other in recipients:
        gets = [kind for kind in recipient.gets if kind in other.gets]
        about = [company for company in recipient.companies if company in other.companies]
        overlap = about or not (recipient.companies and other.companies)
        same = _comparison_key(recipient) == _comparison_key(other) and recipient.name != other.name
        if same and gets and overlap:
            names = about or recipient.companies or other.companies or ["all that is watched"]
            sentences.append(
                f"{recipient.shown_address} already gets {' and '.join(gets)} about "
                f"{', '.join(names)} as {other.name!r}: they will come twice."
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


def add_recipient(database: Database, recipient: Recipient) -> None:
    """Store a recipient; raise RecipientError if the name is taken."""

    def work(session: Session) -> None:
        if session.scalar(select(RecipientRow.id).where(RecipientRow.name == recipient.name)):
            raise RecipientError(
                f"{recipient.name} is a recipient already: edit it, or choose another name"
            )
        session.add(RecipientRow(**asdict(recipient) | {"added_at": clock(session)}))

    database.write(work)


def edit_recipient(database: Database, recipient: Recipient) -> None:
    """Give the recipient of this name another kind, address, companies and notices; raise
    RecipientError if there is none."""
    values = {name: getattr(recipient, name) for name in ("kind", "address", "companies", "gets")}

    def work(session: Session) -> None:
        changed = update(RecipientRow).where(RecipientRow.name == recipient.name).values(values)
        if session.scalar(changed.returning(RecipientRow.id)) is None:
            raise RecipientError(f"no recipient {recipient.name} is in the database")

    database.write(work)


def remove_recipient(database: Database, name: str) -> bool:
    """Delete a recipient; return False if there is none of this name."""

    def work(session: Session) -> bool:
        removed = session.execute(
            delete(RecipientRow).where(RecipientRow.name == name).returning(RecipientRow.id)
        )
        return removed.first() is not None

    return database.write(work)


def rename_in_recipients(session: Session, name: str, new_name: str) -> None:
    """Rename a company in the lists of recipients, in the caller's transaction."""
    for row in session.scalars(select(RecipientRow)):
        if name in row.companies:
            row.companies = [new_name if company == name else company for company in row.companies]


def list_recipients(database: Database) -> list[Recipient]:
    """Return all recipients by name, in alphabetical order."""
    with database.reading() as session:
        rows = session.scalars(select(RecipientRow)).all()
        return sorted(
            (_recipient(row) for row in rows), key=lambda recipient: recipient.name.casefold()
        )


def _recipient(row: RecipientRow) -> Recipient:
    gets = tuple(kind for kind in NOTICE_KINDS if kind in row.gets)
    return copy_fields(Recipient, row, companies=tuple(row.companies), gets=gets)


def record_sent(session: Session, notices: Iterable[SentNotice]) -> None:
    """Record attempts to send notices, in the caller's transaction."""
    now = clock(session)
    session.add_all(SentRow(**asdict(notice) | {"sent_at": now}) for notice in notices)


def confirm_sent(session: Session, notice: SentNotice) -> None:
    """Give the last attempt to send a notice to its recipient the fault that it had, in the
    caller's transaction."""
    same = (SentRow.cause == notice.cause, SentRow.recipient == notice.recipient)
    last = select(func.max(SentRow.id)).where(*same).scalar_subquery()
    session.execute(update(SentRow).where(SentRow.id == last).values(fault=notice.fault))


def failures(session: Session, cause: str) -> Sequence[datetime]:
    """Return when a notice with this cause was sent in vain to at least one recipient, in order."""
    failed = (SentRow.cause == cause, SentRow.fault.not_in(("", UNCONFIRMED)))
    query = select(SentRow.sent_at).where(*failed).distinct().order_by(SentRow.sent_at)
    return session.scalars(query).all()


def last_failure(database: Database, cause: str) -> datetime | None:
    """Return when a notice with this cause was last sent in vain; None if it never was."""
    with database.reading() as session:
        return max(failures(session, cause), default=None)


def sent_notices(database: Database, limit: int) -> Sequence[SentNotice]:
    """Return the newest attempts to send notices, the newest first."""
    query = select(SentRow).order_by(SentRow.sent_at.desc(), SentRow.id.desc()).limit(limit)
    with database.reading() as session:
        return [copy_fields(SentNotice, row) for row in session.scalars(query)]
