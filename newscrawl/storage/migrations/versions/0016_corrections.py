"""Corrections of mentions by people."""

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"


def upgrade() -> None:
    texts = ("kind", "company", "section", "surface", "sentence", "made_by", "state")
    numbers = ("start_offset", "end_offset", "sentence_offset")
    key = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
    op.create_table(
        "corrections",
        sa.Column("id", key, primary_key=True),
        sa.Column(
            "article_id",
            key,
            sa.ForeignKey("articles.id", ondelete="CASCADE"),
            index=True,
            nullable=False,
        ),
        *(sa.Column(name, sa.Text(), nullable=False) for name in texts),
        *(sa.Column(name, sa.Integer(), nullable=False) for name in numbers),
        sa.Column("made_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("replaced", sa.JSON(), nullable=False),
    )
