"""What revisits brought that would make a stored article worse."""

from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey, Index, text
from sqlalchemy.orm import Mapped, mapped_column

from newscrawl.storage.models.base import Base, BigKey

_PENDING = text("state = 'pending'")


class QuarantinedRevision(Base):
    """A version of an article that was not applied, for a `reason` of storage/quarantine.py.

    An article has one that is "pending", the newest; `first_seen_at` is when the first of those in
    a row came, `times` how many they were. It ends as "superseded" (a good version came), "applied"
    or "discarded"; "replaced" is a text that an operator has put an earlier version in the place
    of. What has ended keeps its hash, so that a text that was turned down is not listed again, and
    nothing of its text. A page without any article has an empty text, and can't be applied.

    `run_id` is no foreign key: runs without articles are forgotten before this is.
    """

    __tablename__ = "quarantine"
    __table_args__ = (
        Index(
            "uq_quarantine_pending",
            "article_id",
            unique=True,
            sqlite_where=_PENDING,
            postgresql_where=_PENDING,
        ),
        Index(None, "article_id", "content_hash"),
    )

    id: Mapped[int] = mapped_column(BigKey, primary_key=True)
    article_id: Mapped[int] = mapped_column(ForeignKey("articles.id", ondelete="CASCADE"))
    run_id: Mapped[int]
    state: Mapped[str]
    reason: Mapped[str]
    note: Mapped[str]
    first_seen_at: Mapped[datetime]
    seen_at: Mapped[datetime]
    closed_at: Mapped[datetime | None]
    times: Mapped[int]
    title: Mapped[str | None]
    text: Mapped[str]
    characters: Mapped[int]
    facts: Mapped[dict[str, Any]]
    mentions: Mapped[list[dict[str, Any]]]
    boilerplate: Mapped[dict[str, int]]
    content_hash: Mapped[str]
    fingerprint: Mapped[str | None]
