"""The score of a mention, and who undid a correction."""

import sqlalchemy as sa
from alembic import op

revision = "0018"
down_revision = "0017"


def upgrade() -> None:
    op.add_column("mentions", sa.Column("score", sa.Double(), nullable=True))
    op.add_column("corrections", sa.Column("undone_by", sa.Text(), nullable=True))
    op.add_column("corrections", sa.Column("undone_at", sa.DateTime(timezone=True), nullable=True))
