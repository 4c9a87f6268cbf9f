"""Saved queries, and the articles that match them."""

import sqlalchemy as sa
from alembic import op

revision = "0019"
down_revision = "0018"


def upgrade() -> None:
    key = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
    moment = sa.DateTime(timezone=True)
    op.create_table(
        "saved_queries",
        sa.Column(
            "company_id",
            sa.Integer(),
            sa.ForeignKey("companies.id"),
            primary_key=True,
            autoincrement=False,
        ),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("pending_text", sa.Text()),
        sa.Column("position", sa.BigInteger(), nullable=False),
        sa.Column("created_at", moment, nullable=False),
        sa.Column("created_by", sa.Text(), nullable=False),
        sa.Column("changed_at", moment, nullable=False),
        sa.Column("changed_by", sa.Text(), nullable=False),
    )
    article = sa.ForeignKey("articles.id", ondelete="CASCADE")
    numbers = (sa.Column(name, sa.Integer(), nullable=False) for name in ("in_title", "in_body"))
    op.create_table(
        "query_matches",
        sa.Column("company_id", sa.Integer(), primary_key=True, autoincrement=False),
        sa.Column("version", sa.Integer(), primary_key=True, autoincrement=False),
        sa.Column("article_id", key, article, primary_key=True, index=True),
        *numbers,
        sqlite_with_rowid=False,
    )
