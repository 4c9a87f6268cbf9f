"""Tokens of the dashboard and its API: named, revocable, stored as hashes; and the record of who
has changed the registry with them."""

import hashlib
import secrets
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, get_args

from sqlalchemy import exists, select, update
from sqlalchemy.orm import Session

from newscrawl.items import copy_fields
from newscrawl.storage import StorageError
from newscrawl.storage.database import reads, writes
from newscrawl.storage.leases import clock
from newscrawl.storage.models import RegistryChange as ChangeRow, Token as TokenRow

Right = Literal["read", "edit"]
RIGHTS: tuple[Right, ...] = get_args(Right)
_BYTES = 32  # of randomness: such secrets can't be guessed, so no slow hash is needed


class TokenError(StorageError):
    """A token that can't be made: one line that says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    """A token without its secret."""

    name: str
    right: Right
    made_at: datetime
    revoked_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RegistryChange:
    """Who has changed which entry of the companies file, and how."""

    made_by: str
    action: str
    entry: str
    made_at: datetime


@writes
def add_token(session: Session, name: str, right: Right) -> str:
    """Store a new token and return its secret, which can't be found out later; raise TokenError if
    the name was used before."""
    secret = f"nc_{secrets.token_urlsafe(_BYTES)}"
    if session.scalar(select(TokenRow.id).where(TokenRow.name == name)) is not None:
        raise TokenError(f"a token was named {name} before: choose another name")
    row = TokenRow(name=name, rights=right, token_hash=hash_of(secret), made_at=clock(session))
    session.add(row)
    return secret


@reads
def list_tokens(session: Session) -> list[Token]:
    """Return all tokens by name, also those that were revoked."""
    rows = session.scalars(select(TokenRow)).all()
    return sorted((_token(row) for row in rows), key=lambda token: token.name.casefold())


@writes
def revoke_token(session: Session, name: str) -> bool:
    """Revoke a token; return False if there is none of this name in use."""
    revoked = session.execute(
        update(TokenRow)
        .where(TokenRow.name == name, TokenRow.revoked_at.is_(None))
        .values(revoked_at=clock(session))
        .returning(TokenRow.id)
    )
    return revoked.first() is not None


@reads
def find_token(session: Session, hashes: Collection[str]) -> Token | None:
    """Return the token in use whose secret has one of these hashes."""
    query = select(TokenRow).where(TokenRow.token_hash.in_(hashes), TokenRow.revoked_at.is_(None))
    row = session.scalar(query.limit(1))
    return None if row is None else _token(row)


@reads
def has_tokens(session: Session) -> bool:
    """Return whether a token was ever made; the dashboard stays closed when the last is revoked."""
    return bool(session.scalar(select(exists().select_from(TokenRow))))


def hash_of(secret: str) -> str:
    """Return the hash that stands for a secret."""
    return hashlib.sha256(secret.encode()).hexdigest()


@writes
def record_change(session: Session, made_by: str, action: str, entry: str) -> None:
    """Record a change of the companies file."""
    now = clock(session)
    session.add(ChangeRow(made_at=now, made_by=made_by, action=action, entry=entry))


@reads
def registry_changes(session: Session, limit: int) -> Sequence[RegistryChange]:
    """Return the last changes of the companies file, the newest first."""
    query = select(ChangeRow).order_by(ChangeRow.id.desc()).limit(limit)
    return [copy_fields(RegistryChange, row) for row in session.scalars(query)]


def _token(row: TokenRow) -> Token:
    right = next(right for right in RIGHTS if right == row.rights)
    return Token(name=row.name, right=right, made_at=row.made_at, revoked_at=row.revoked_at)
