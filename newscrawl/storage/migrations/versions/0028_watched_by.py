"""Who began to watch a company."""

import sqlalchemy as sa
from alembic import op

revision = "0028"
down_revision = "0027"


def upgrade() -> None:
    column = sa.Column("added_by", sa.Text(), nullable=False, server_default="")
    op.add_column("watched_companies", column)
