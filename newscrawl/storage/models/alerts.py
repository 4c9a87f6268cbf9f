"""The tables of analysts' alerts: what they wait for, and what has been told.

`watches` are companies, or pairs of them. `notices` are what was noticed; of one cause there is
one only, so that nobody is told twice, whichever worker noticed it.
"""

from datetime import date, datetime
from typing import Any

from sqlalchemy import UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from newscrawl.storage.models.base import Base, BigKey


class Watch(Base):
    """A company that an analyst waits for, or a pair (`other`, else "")."""

    __tablename__ = "watches"
    __table_args__ = (UniqueConstraint("company", "other"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    company: Mapped[str]
    other: Mapped[str]
    added_at: Mapped[datetime]


class Notice(Base):
    """Something noticed about a company on a UTC day.

    `told` names the channels that passed it on, `told_at` is when the last of them did; until
    `claimed_until` a worker is at it.
    """

    __tablename__ = "notices"

    id: Mapped[int] = mapped_column(BigKey, primary_key=True)
    cause: Mapped[str] = mapped_column(unique=True)
    kind: Mapped[str]
    company: Mapped[str]
    other: Mapped[str]
    day: Mapped[date]
    facts: Mapped[dict[str, Any]]
    noticed_at: Mapped[datetime] = mapped_column(index=True)
    claimed_until: Mapped[datetime | None]
    told: Mapped[list[str]]
    told_at: Mapped[datetime | None]
