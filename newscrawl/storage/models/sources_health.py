"""What `newscrawl sources check` last found of each source."""

from datetime import datetime

from sqlalchemy import ForeignKey
from sqlalchemy.orm import Mapped, mapped_column

from newscrawl.storage.models.base import Base


class SourceHealth(Base):
    """The last visit to a source that only looked whether it can be crawled.

    `state` is one of newscrawl.sources.checks.States; `last_ok` is the last visit that found it
    in order. `working` of its `listings` could be read, `newest_at` is their youngest article,
    `moved_to` the home page's new address where it has moved for good.
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
