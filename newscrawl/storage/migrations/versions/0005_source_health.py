"""What a check of each source last found."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    moment = sa.DateTime(timezone=True)
    op.create_table(
        "source_health",
        sa.Column("source_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("checked_at", moment, nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("note", sa.Text(), nullable=False),
        sa.Column("listings", sa.Integer(), nullable=False),
        sa.Column("working", sa.Integer(), nullable=False),
        sa.Column("newest_at", moment, nullable=True),
        sa.Column("moved_to", sa.Text(), nullable=True),
        sa.Column("last_ok", moment, nullable=True),
        sa.ForeignKeyConstraint(
            ["source_id"], ["sources.id"], name="fk_source_health_source_id_sources"
        ),
        sa.PrimaryKeyConstraint("source_id", name="pk_source_health"),
    )
