"""The tables of crawls and of the watch: the queue, feeds and sitemaps, when each source is due;
what crawls and long tasks store for their next run; leases, workers, statistics of sources,
incidents, and alerts about companies.

Each cause has one open incident, and one company alert: so that several workers report nothing
twice.
"""

from datetime import date, datetime
from typing import Any

from sqlalchemy import BigInteger, ForeignKey, LargeBinary, UniqueConstraint, text
from sqlalchemy.orm import Mapped, mapped_column

from newscrawl.storage.models.articles import Base, BigKey, partial_index


class Listing(Base):
    """A feed or sitemap of a source, and its last reading.

    Entries older than `skipped_before` were skipped at that reading; none if it is empty.
    `entry_count` counts its articles, `newest_at` is the date of the youngest. `polls_since_new`
    counts the readings since the last one with a new article, `failures` those that failed in a
    row.
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
    skipped_before: Mapped[datetime | None]
    entry_count: Mapped[int]
    newest_at: Mapped[datetime | None]
    checked_at: Mapped[datetime | None]
    changed_at: Mapped[datetime | None]
    polls_since_new: Mapped[int]
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
        partial_index("ix_frontier_due", "source_id", "due_at", where=text("due_at IS NOT NULL")),
        partial_index(None, "listing_id", where=text("listing_id IS NOT NULL")),
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


class Rematch(Base):
    """A new search for mentions in all articles of a source since a day; None means all. The
    mentions of articles stored before it are those of its `versions`."""

    __tablename__ = "rematches"

    id: Mapped[int] = mapped_column(primary_key=True)
    started_at: Mapped[datetime]
    finished_at: Mapped[datetime]
    source: Mapped[str | None]
    since: Mapped[date | None]
    versions: Mapped[dict[str, Any]]


class Lease(Base):
    """The right to crawl a source, which one worker has at a time, until `expires_at`.

    A running worker extends it repeatedly; that of a dead worker expires at that time. While the
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
    """A running `newscrawl monitor`, or one that has stopped; `digests` says when it sends them, as
    the setting does."""

    __tablename__ = "workers"

    name: Mapped[str] = mapped_column(primary_key=True)
    host: Mapped[str]
    pid: Mapped[int]
    slots: Mapped[int]
    version: Mapped[str]
    started_at: Mapped[datetime]
    seen_at: Mapped[datetime]
    stopped_at: Mapped[datetime | None]
    digests: Mapped[str] = mapped_column(server_default="")


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
        partial_index(
            "uq_incidents_open_cause", "cause", where=text("recovered_at IS NULL"), unique=True
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


class SourceCheckup(Base):
    """The last check of a source, which tests whether it can be crawled.

    `state` is a `CheckState` of storage/source_stats.py; `last_ok` is the last check that found it
    healthy. `working` of its `listings` could be read, `newest_at` is the date of their youngest
    article, `moved_to` the new address of a home page that has moved permanently.
    """

    __tablename__ = "source_checkups"

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
    added_by: Mapped[str] = mapped_column(server_default="")


class CompanyAlert(Base):
    """An event that analysts are notified of, about a company on a UTC day.

    `delivered_by` names the channels that have delivered it, `delivered_at` is when the last of
    them did; until `claimed_until` a worker is delivering it, or a pause after a failure lasts.
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


class Recipient(Base):
    """A person or a program that gets notices about companies and groups; no `companies` are all
    of them. `kind` is "e-mail", "webhook", "slack" or "teams", `gets` has "alerts" or "digests".
    """

    __tablename__ = "recipients"

    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(unique=True)
    kind: Mapped[str]
    address: Mapped[str]
    companies: Mapped[list[str]]
    gets: Mapped[list[str]]
    added_at: Mapped[datetime]
    added_by: Mapped[str]


class SentNotice(Base):
    """An attempt to send a notice about companies; `fault` is "" if it was delivered."""

    __tablename__ = "sent_notices"

    id: Mapped[int] = mapped_column(BigKey, primary_key=True)
    sent_at: Mapped[datetime] = mapped_column(index=True)
    recipient: Mapped[str]
    cause: Mapped[str]
    subject: Mapped[str]
    fault: Mapped[str]


class Token(Base):
    """A right to read or to edit, with the name under which it is used.

    The token itself is not stored, but its hash.
    """

    __tablename__ = "tokens"

    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(unique=True)
    rights: Mapped[str]
    token_hash: Mapped[str] = mapped_column(unique=True)
    made_at: Mapped[datetime]
    revoked_at: Mapped[datetime | None]


class RegistryChange(Base):
    """A change of the companies file by the dashboard: who saved or deleted which entry."""

    __tablename__ = "registry_changes"

    id: Mapped[int] = mapped_column(BigKey, primary_key=True)
    made_at: Mapped[datetime]
    made_by: Mapped[str]
    action: Mapped[str]
    entry: Mapped[str]
