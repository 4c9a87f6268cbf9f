"""The tables of crawls: the queue, feeds and sitemaps, when each source is due, and what crawls and
long tasks store for their next run."""

from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, ForeignKey, Index, LargeBinary, UniqueConstraint, text
from sqlalchemy.orm import Mapped, mapped_column

from newscrawl.storage.models.base import Base, BigKey


class Listing(Base):
    """A feed or sitemap of a source, and its last reading.

    Entries older than `cutoff` were skipped at that reading; none if it is empty. `offered` counts
    its articles, `newest_at` is the date of the youngest. `quiet` counts the readings since the
    last one with a new article, `failures` those that failed in a row.
    """

    __tablename__ = "listings"
    __table_args__ = (UniqueConstraint("source_id", "url"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    source_id: Mapped[int] = mapped_column(ForeignKey("sources.id"))
    parent_id: Mapped[int | None] = mapped_column(
        ForeignKey("listings.id", ondelete="CASCADE"), index=True
    )
    url: Mapped[str]
    etag: Mapped[str | None]
    last_modified: Mapped[str | None]
    body_hash: Mapped[str | None]
    cutoff: Mapped[datetime | None]
    offered: Mapped[int]
    newest_at: Mapped[datetime | None]
    checked_at: Mapped[datetime | None]
    changed_at: Mapped[datetime | None]
    quiet: Mapped[int]
    failures: Mapped[int]
    interval_seconds: Mapped[float | None]
    next_poll_at: Mapped[datetime | None]


class FrontierUrl(Base):
    """An article's address in a feed or sitemap.

    `url` is the canonical one, `fetch_url` the one to request. `state` is "pending" until a first
    response, then "done" or, without a further retry, "failed"; `reason` is the outcome of the last
    fetch. It is to be requested (again) from `due_at` on, or never. `visits` counts the responses,
    `attempts` the failures since the last one. `run_id` is the run that has dequeued it and not
    reported its result; if that run has ended, it was killed. `crash_count` counts the runs that
    the page may have killed. `named_at` is about when a listing last had it, if that was long after
    its discovery.
    """

    __tablename__ = "frontier"
    __table_args__ = (
        Index(
            "ix_frontier_due",
            "source_id",
            "due_at",
            sqlite_where=text("due_at IS NOT NULL"),
            postgresql_where=text("due_at IS NOT NULL"),
        ),
        Index(
            None,
            "listing_id",
            sqlite_where=text("listing_id IS NOT NULL"),
            postgresql_where=text("listing_id IS NOT NULL"),
        ),
    )

    id: Mapped[int] = mapped_column(BigKey, primary_key=True)
    source_id: Mapped[int] = mapped_column(ForeignKey("sources.id"))
    listing_id: Mapped[int | None] = mapped_column(ForeignKey("listings.id", ondelete="SET NULL"))
    url: Mapped[str] = mapped_column(unique=True)
    fetch_url: Mapped[str]
    hints: Mapped[dict[str, Any]]
    moment: Mapped[datetime | None]
    discovered_at: Mapped[datetime]
    state: Mapped[str]
    reason: Mapped[str | None]
    due_at: Mapped[datetime | None]
    run_id: Mapped[int | None]
    visits: Mapped[int]
    attempts: Mapped[int]
    crash_count: Mapped[int] = mapped_column(server_default="0")
    named_at: Mapped[datetime | None]
    visited_at: Mapped[datetime | None]
    etag: Mapped[str | None]
    last_modified: Mapped[str | None]


class Poll(Base):
    """When a source was last polled for its feeds and sitemaps, and when it is due again."""

    __tablename__ = "polls"

    source_id: Mapped[int] = mapped_column(ForeignKey("sources.id"), primary_key=True)
    polled_at: Mapped[datetime]
    interval_seconds: Mapped[float]
    next_poll_at: Mapped[datetime] = mapped_column(index=True)


class TemplateMemory(Base):
    """The number of a source's `pages` on which each text occurred.

    `seen` has counts by the fingerprints of the texts, as hexadecimal numbers of 16 digits.
    """

    __tablename__ = "template_memories"

    source_id: Mapped[int] = mapped_column(ForeignKey("sources.id"), primary_key=True)
    pages: Mapped[int]
    seen: Mapped[dict[str, Any]]
    updated_at: Mapped[datetime]


class RobotsPolicy(Base):
    """The last robots.txt of a host that could be read.

    `rules` are the file's bytes, compressed by zlib; empty if the server had no such file.
    """

    __tablename__ = "robots_policies"

    origin: Mapped[str] = mapped_column(primary_key=True)
    status: Mapped[int]
    rules: Mapped[bytes] = mapped_column(LargeBinary)
    fetched_at: Mapped[datetime] = mapped_column(index=True)


class Progress(Base):
    """The progress of a long task: the ingestion of a file, a re-extraction, a new search for
    mentions.

    `task` identifies the work with its options: other filters make another task. Everything before
    `position` (bytes of a file, places in a list, an article's id) is done, with these `counts`.
    """

    __tablename__ = "progress"

    task: Mapped[str] = mapped_column(primary_key=True)
    position: Mapped[int] = mapped_column(BigInteger)
    counts: Mapped[dict[str, Any]]
    started_at: Mapped[datetime]
    updated_at: Mapped[datetime]
    finished_at: Mapped[datetime | None]
