"""The last good copy of each host's robots.txt: obeyed for a day while it can't be read."""

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"


def upgrade() -> None:
    op.create_table(
        "robots_policies",
        sa.Column("origin", sa.Text(), nullable=False),
        sa.Column("status", sa.Integer(), nullable=False),
        sa.Column("rules", sa.LargeBinary(), nullable=False),
        sa.Column("fetched_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("origin", name="pk_robots_policies"),
    )
    op.create_index("ix_robots_policies_fetched_at", "robots_policies", ["fetched_at"])
