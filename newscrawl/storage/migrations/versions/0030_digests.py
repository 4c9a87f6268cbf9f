"""When a monitor sends digests."""

import sqlalchemy as sa
from alembic import op

revision = "0030"
down_revision = "0029"


def upgrade() -> None:
    column = sa.Column("digests", sa.Text(), nullable=False, server_default="")
    known = sa.inspect(op.get_bind()).get_columns("workers")
    # A database of schema 0014 got its table as the models have it now.
    if column.name not in {one["name"] for one in known}:
        op.add_column("workers", column)
