"""The tables of company alerts: the companies that analysts watch, and the alerts about them.

Of one cause there is one alert, so that nobody is notified twice, whichever worker raised it.
"""

from datetime import date, datetime
from typing import Any

from sqlalchemy import UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from newscrawl.storage.models.base import Base, BigKey


class WatchedCompany(Base):
    """A company that an analyst watches, or a pair of companies (`other` is "" for one)."""

    __tablename__ = "watched_companies"
    __table_args__ = (UniqueConstraint("company", "other"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    company: Mapped[str]
    other: Mapped[str]
    added_at: Mapped[datetime]


class CompanyAlert(Base):
    """Something that analysts are notified of, about a company on a UTC day.

    `delivered_by` names the channels that have delivered it, `delivered_at` is when the last of
    them did; until `claimed_until` a worker is delivering it.
    """

    __tablename__ = "company_alerts"

    id: Mapped[int] = mapped_column(BigKey, primary_key=True)
    cause: Mapped[str] = mapped_column(unique=True)
    kind: Mapped[str]
    company: Mapped[str]
    other: Mapped[str]
    day: Mapped[date]
    facts: Mapped[dict[str, Any]]
    raised_at: Mapped[datetime] = mapped_column(index=True)
    claimed_until: Mapped[datetime | None]
    delivered_by: Mapped[list[str]]
    delivered_at: Mapped[datetime | None]
