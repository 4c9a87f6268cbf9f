"""What the pages of a source have in common, learned by crawls."""

from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey
from sqlalchemy.orm import Mapped, mapped_column

from newscrawl.storage.models.base import Base


class TemplateMemory(Base):
    """On how many of the `pages` of a source each text stood.

    `seen` has counts by the fingerprints of the texts, as hexadecimal numbers of 16 digits.
    """

    __tablename__ = "template_memories"

    source_id: Mapped[int] = mapped_column(ForeignKey("sources.id"), primary_key=True)
    pages: Mapped[int]
    seen: Mapped[dict[str, Any]]
    updated_at: Mapped[datetime]
