"""What analysts wait for, and what they have been told."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"


moment = sa.DateTime(timezone=True)
big_key = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.create_table(
        "watches",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("company", sa.Text(), nullable=False),
        sa.Column("other", sa.Text(), nullable=False),
        sa.Column("added_at", moment, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_watches"),
        sa.UniqueConstraint("company", "other", name="uq_watches_company_other"),
    )
    op.create_table(
        "notices",
        sa.Column("id", big_key, nullable=False),
        sa.Column("cause", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("company", sa.Text(), nullable=False),
        sa.Column("other", sa.Text(), nullable=False),
        sa.Column("day", sa.Date(), nullable=False),
        sa.Column("facts", sa.JSON(), nullable=False),
        sa.Column("noticed_at", moment, nullable=False),
        sa.Column("claimed_until", moment, nullable=True),
        sa.Column("told", sa.JSON(), nullable=False),
        sa.Column("told_at", moment, nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_notices"),
        sa.UniqueConstraint("cause", name="uq_notices_cause"),
    )
    op.create_index("ix_notices_noticed_at", "notices", ["noticed_at"])
