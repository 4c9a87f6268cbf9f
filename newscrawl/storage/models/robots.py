"""What each host's robots.txt said when it was last read."""

from datetime import datetime

from sqlalchemy import LargeBinary
from sqlalchemy.orm import Mapped, mapped_column

from newscrawl.storage.models.base import Base


class RobotsPolicy(Base):
    """The last answer of a host that tells what it allows; what could not be read leaves no trace.

    `rules` are the file's bytes, packed by zlib; none where the server had no such file.
    """

    __tablename__ = "robots_policies"

    origin: Mapped[str] = mapped_column(primary_key=True)
    status: Mapped[int]
    rules: Mapped[bytes] = mapped_column(LargeBinary)
    fetched_at: Mapped[datetime] = mapped_column(index=True)
