"""Revisions that would make an article worse wait here; replaced versions keep all their facts."""

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"

moment = sa.DateTime(timezone=True)
big_key = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
pending = sa.text("state = 'pending'")


def upgrade() -> None:
    op.add_column("revisions", sa.Column("facts", sa.JSON(), nullable=True))
    op.create_table(
        "quarantine",
        sa.Column("id", big_key, nullable=False),
        sa.Column("article_id", big_key, nullable=False),
        sa.Column("run_id", sa.Integer(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("note", sa.Text(), nullable=False),
        sa.Column("first_seen_at", moment, nullable=False),
        sa.Column("seen_at", moment, nullable=False),
        sa.Column("closed_at", moment, nullable=True),
        sa.Column("times", sa.Integer(), nullable=False),
        sa.Column("title", sa.Text(), nullable=True),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("characters", sa.Integer(), nullable=False),
        sa.Column("facts", sa.JSON(), nullable=False),
        sa.Column("mentions", sa.JSON(), nullable=False),
        sa.Column("clutter", sa.JSON(), nullable=False),
        sa.Column("content_hash", sa.Text(), nullable=False),
        sa.Column("fingerprint", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(
            ["article_id"],
            ["articles.id"],
            name="fk_quarantine_article_id_articles",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name="pk_quarantine"),
    )
    op.create_index(
        "uq_quarantine_pending",
        "quarantine",
        ["article_id"],
        unique=True,
        sqlite_where=pending,
        postgresql_where=pending,
    )
    op.create_index(
        "ix_quarantine_article_id_content_hash", "quarantine", ["article_id", "content_hash"]
    )
