"""The versions of newscrawl, companies and models that found articles and mentions."""

import sqlalchemy as sa
from alembic import op

revision = "0023"
down_revision = "0022"


def upgrade() -> None:
    op.add_column("runs", sa.Column("versions", sa.JSON(), nullable=True))
    moment = sa.DateTime(timezone=True)
    op.create_table(
        "rematches",
        sa.Column("id", sa.Integer(), primary_key=True),
        sa.Column("started_at", moment, nullable=False),
        sa.Column("finished_at", moment, nullable=False),
        sa.Column("source", sa.Text(), nullable=True),
        sa.Column("since", sa.Date(), nullable=True),
        sa.Column("versions", sa.JSON(), nullable=False),
    )
