"""When a monitor sends digests."""

import sqlalchemy as sa

from newscrawl.storage.migrations import add_missing_column

revision = "0030"
down_revision = "0029"


def upgrade() -> None:
    column = sa.Column("digests", sa.Text(), nullable=False, server_default="")
    add_missing_column("workers", column)
