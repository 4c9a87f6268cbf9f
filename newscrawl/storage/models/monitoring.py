"""The tables of the watch: leases, workers, statistics of sources, incidents, and alerts about
companies.

Each cause has one open incident, and one company alert: nothing is reported twice, by whichever
worker.
"""

from datetime import date, datetime
from typing import Any

from sqlalchemy import BigInteger, ForeignKey, Index, UniqueConstraint, text
from sqlalchemy.orm import Mapped, mapped_column

from newscrawl.storage.models.base import Base, BigKey

_OPEN = text("recovered_at IS NULL")


class Lease(Base):
    """The right to crawl a source, which one worker has at a time, until `expires_at`.

    A running worker extends it repeatedly; one that died loses the source at that time. While the
    source is queued, it is not queued again before `queued_until`. `failures` counts the crawls
    that failed in a row, `retry_at` is the time of the next attempt; `code` and `note` are the
    result of the last one.
    """

    __tablename__ = "leases"

    source_id: Mapped[int] = mapped_column(ForeignKey("sources.id"), primary_key=True)
    holder: Mapped[str | None]
    taken_at: Mapped[datetime | None]
    expires_at: Mapped[datetime | None]
    queued_until: Mapped[datetime | None]
    failures: Mapped[int]
    retry_at: Mapped[datetime | None]
    ended_at: Mapped[datetime | None]
    code: Mapped[int | None]
    note: Mapped[str]


class Worker(Base):
    """A running `newscrawl monitor`, or one that has stopped."""

    __tablename__ = "workers"

    name: Mapped[str] = mapped_column(primary_key=True)
    host: Mapped[str]
    pid: Mapped[int]
    slots: Mapped[int]
    version: Mapped[str]
    started_at: Mapped[datetime]
    seen_at: Mapped[datetime]
    stopped_at: Mapped[datetime | None]


class SourceStats(Base):
    """A source on a UTC day: the counts of its runs added up.

    `characters` is the median length of the articles' texts, `page_characters` and
    `text_characters` are sums over the same pages: what is not text is markup and boilerplate.
    """

    __tablename__ = "source_stats"

    source_id: Mapped[int] = mapped_column(ForeignKey("sources.id"), primary_key=True)
    day: Mapped[date] = mapped_column(primary_key=True, index=True)
    runs: Mapped[int]
    failed_runs: Mapped[int]
    new: Mapped[int]
    fetched: Mapped[int]
    failed: Mapped[int]
    refused: Mapped[int]
    dropped: Mapped[int]
    read: Mapped[int]
    undated: Mapped[int]
    untitled: Mapped[int]
    characters: Mapped[float | None]
    confidence: Mapped[float | None]
    page_characters: Mapped[int] = mapped_column(BigInteger)
    text_characters: Mapped[int] = mapped_column(BigInteger)


class Incident(Base):
    """A fault of a source, or of the watch itself (no source).

    It is open until `recovered_at`; one of each cause is open at a time. `reported_at` and
    `recovery_reported_at` are when people were notified.
    """

    __tablename__ = "incidents"
    __table_args__ = (
        Index(
            "uq_incidents_open_cause",
            "cause",
            unique=True,
            sqlite_where=_OPEN,
            postgresql_where=_OPEN,
        ),
    )

    id: Mapped[int] = mapped_column(BigKey, primary_key=True)
    cause: Mapped[str]
    kind: Mapped[str]
    source_id: Mapped[int | None] = mapped_column(ForeignKey("sources.id"), index=True)
    note: Mapped[str]
    facts: Mapped[dict[str, Any]]
    opened_at: Mapped[datetime] = mapped_column(index=True)
    seen_at: Mapped[datetime]
    recovered_at: Mapped[datetime | None]
    reported_at: Mapped[datetime | None]
    recovery_reported_at: Mapped[datetime | None]


class SourceHealth(Base):
    """The last check of a source, which tests whether it can be crawled.

    `state` is one of newscrawl.sources.discovery.State; `last_ok` is the last check that found it
    healthy. `working` of its `listings` could be read, `newest_at` is the date of their youngest
    article, `moved_to` the new address of a home page that has moved permanently.
    """

    __tablename__ = "source_health"

    source_id: Mapped[int] = mapped_column(ForeignKey("sources.id"), primary_key=True)
    checked_at: Mapped[datetime]
    state: Mapped[str]
    note: Mapped[str]
    listings: Mapped[int]
    working: Mapped[int]
    newest_at: Mapped[datetime | None]
    moved_to: Mapped[str | None]
    last_ok: Mapped[datetime | None]


class WatchedCompany(Base):
    """A watched company, or a pair of companies (`other` is "" for one)."""

    __tablename__ = "watched_companies"
    __table_args__ = (UniqueConstraint("company", "other"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    company: Mapped[str]
    other: Mapped[str]
    added_at: Mapped[datetime]


class CompanyAlert(Base):
    """An event that analysts are notified of, about a company on a UTC day.

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
