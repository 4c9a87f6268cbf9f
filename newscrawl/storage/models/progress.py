"""How far long work has come, so that it can go on after it was broken off."""

from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger
from sqlalchemy.orm import Mapped, mapped_column

from newscrawl.storage.models.base import Base


class Progress(Base):
    """A piece of long work: the ingestion of a file, a new extraction, a new count of mentions.

    `task` says what is done to what, and how: other filters make another task. All before
    `position` (bytes of a file, places in a list, an article's number) is done; `counts` says
    with what result.
    """

    __tablename__ = "progress"

    task: Mapped[str] = mapped_column(primary_key=True)
    position: Mapped[int] = mapped_column(BigInteger)
    counts: Mapped[dict[str, Any]]
    started_at: Mapped[datetime]
    updated_at: Mapped[datetime]
    finished_at: Mapped[datetime | None]
