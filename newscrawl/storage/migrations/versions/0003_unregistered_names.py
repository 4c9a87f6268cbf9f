"""Names of organisations that no registry lists, with their articles."""

import sqlalchemy as sa
from alembic import op

from newscrawl.storage.models.articles import BigKey

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Add the table."""
    op.create_table(
        "unregistered_names",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("article_id", BigKey, nullable=False),
        sa.Column("sentence", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["article_id"],
            ["articles.id"],
            name="fk_unregistered_names_article_id_articles",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("name", "article_id", name="pk_unregistered_names"),
        sqlite_with_rowid=False,
        if_not_exists=True,
    )
    op.create_index(
        "ix_unregistered_names_article_id",
        "unregistered_names",
        ["article_id"],
        if_not_exists=True,
    )
