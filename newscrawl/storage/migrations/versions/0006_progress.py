"""How far ingestions, new extractions and new counts have come."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    moment = sa.DateTime(timezone=True)
    op.create_table(
        "progress",
        sa.Column("task", sa.Text(), nullable=False),
        sa.Column("position", sa.BigInteger(), nullable=False),
        sa.Column("counts", sa.JSON(), nullable=False),
        sa.Column("started_at", moment, nullable=False),
        sa.Column("updated_at", moment, nullable=False),
        sa.Column("finished_at", moment, nullable=True),
        sa.PrimaryKeyConstraint("task", name="pk_progress"),
    )
