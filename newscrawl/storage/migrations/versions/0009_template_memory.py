"""What the pages of a source have in common."""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    op.create_table(
        "template_memories",
        sa.Column("source_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("pages", sa.Integer(), nullable=False),
        sa.Column("seen", sa.JSON(), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["source_id"], ["sources.id"], name="fk_template_memories_source_id_sources"
        ),
        sa.PrimaryKeyConstraint("source_id", name="pk_template_memories"),
    )
