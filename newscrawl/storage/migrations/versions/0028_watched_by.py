"""Who began to watch a company."""

import sqlalchemy as sa

from newscrawl.storage.migrations import add_missing_column

revision = "0028"
down_revision = "0027"


def upgrade() -> None:
    column = sa.Column("added_by", sa.Text(), nullable=False, server_default="")
    add_missing_column("watched_companies", column)
