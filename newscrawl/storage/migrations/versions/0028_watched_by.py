"""Who began to watch a company."""

import sqlalchemy as sa
from alembic import op

revision = "0028"
down_revision = "0027"


def upgrade() -> None:
    column = sa.Column("added_by", sa.Text(), nullable=False, server_default="")
    known = sa.inspect(op.get_bind()).get_columns("watched_companies")
    # A database of schema 0014 got its table as the models have it now.
    if column.name not in {one["name"] for one in known}:
        op.add_column("watched_companies", column)
