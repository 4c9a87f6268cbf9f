"""What questions are answered from: counts by day, stories, and the index of the full text."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0003"
down_revision = "0002"


big_key = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    _articles()
    _days()
    _stories()
    _search()


def _articles() -> None:
    op.create_table(
        "counted_articles",
        sa.Column("minute", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("article_id", big_key, nullable=False),
        sa.Column("source_id", sa.Integer(), nullable=False),
        sa.Column("language", sa.Text(), nullable=False),
        sa.Column("section", sa.Text(), nullable=False),
        sa.Column("limited", sa.Integer(), nullable=False),
        sa.Column("in_title", sa.Integer(), nullable=False),
        sa.Column("in_body", sa.Integer(), nullable=False),
        sa.Column("story_id", big_key, nullable=False),
        sa.ForeignKeyConstraint(
            ["article_id"],
            ["articles.id"],
            name="fk_counted_articles_article_id_articles",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("minute", "article_id", name="pk_counted_articles"),
        sqlite_with_rowid=False,
    )
    op.create_index(
        "ix_counted_articles_article_id", "counted_articles", ["article_id"], unique=False
    )
    op.create_index("ix_counted_articles_story_id", "counted_articles", ["story_id"], unique=False)
    op.create_table(
        "appearances",
        sa.Column("company_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("minute", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("article_id", big_key, nullable=False),
        sa.Column("source_id", sa.Integer(), nullable=False),
        sa.Column("language", sa.Text(), nullable=False),
        sa.Column("section", sa.Text(), nullable=False),
        sa.Column("limited", sa.Integer(), nullable=False),
        sa.Column("in_title", sa.Integer(), nullable=False),
        sa.Column("in_body", sa.Integer(), nullable=False),
        sa.Column("story_id", big_key, nullable=False),
        sa.ForeignKeyConstraint(
            ["article_id"],
            ["articles.id"],
            name="fk_appearances_article_id_articles",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("company_id", "minute", "article_id", name="pk_appearances"),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_appearances_article_id", "appearances", ["article_id"], unique=False)
    op.create_table(
        "clutter",
        sa.Column("article_id", big_key, nullable=False),
        sa.Column("company_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["article_id"],
            ["articles.id"],
            name="fk_clutter_article_id_articles",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("article_id", "company_id", name="pk_clutter"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "mention_changes",
        sa.Column("article_id", big_key, nullable=False),
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("company_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("difference", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["article_id"],
            ["articles.id"],
            name="fk_mention_changes_article_id_articles",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("article_id", "number", "company_id", name="pk_mention_changes"),
        sqlite_with_rowid=False,
    )


def _days() -> None:
    op.create_table(
        "daily_totals",
        sa.Column("day", sa.Date(), nullable=False),
        sa.Column("read", sa.Integer(), nullable=False),
        sa.Column("articles", sa.Integer(), nullable=False),
        sa.Column("limited", sa.Integer(), nullable=False),
        sa.Column("in_title", sa.Integer(), nullable=False),
        sa.Column("in_body", sa.Integer(), nullable=False),
        sa.Column("clutter", sa.Integer(), nullable=False),
        sa.Column("cluttered", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("day", name="pk_daily_totals"),
    )
    op.create_table(
        "daily_sources",
        sa.Column("source_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("day", sa.Date(), nullable=False),
        sa.Column("language", sa.Text(), nullable=False),
        sa.Column("read", sa.Integer(), nullable=False),
        sa.Column("articles", sa.Integer(), nullable=False),
        sa.Column("limited", sa.Integer(), nullable=False),
        sa.Column("in_title", sa.Integer(), nullable=False),
        sa.Column("in_body", sa.Integer(), nullable=False),
        sa.Column("clutter", sa.Integer(), nullable=False),
        sa.Column("cluttered", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("source_id", "day", "language", name="pk_daily_sources"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "daily_companies",
        sa.Column("company_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("day", sa.Date(), nullable=False),
        sa.Column("articles", sa.Integer(), nullable=False),
        sa.Column("limited", sa.Integer(), nullable=False),
        sa.Column("in_title", sa.Integer(), nullable=False),
        sa.Column("in_body", sa.Integer(), nullable=False),
        sa.Column("clutter", sa.Integer(), nullable=False),
        sa.Column("cluttered", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("company_id", "day", name="pk_daily_companies"),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_daily_companies_day", "daily_companies", ["day"], unique=False)
    op.create_table(
        "daily_company_sources",
        sa.Column("company_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("source_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("day", sa.Date(), nullable=False),
        sa.Column("language", sa.Text(), nullable=False),
        sa.Column("articles", sa.Integer(), nullable=False),
        sa.Column("limited", sa.Integer(), nullable=False),
        sa.Column("in_title", sa.Integer(), nullable=False),
        sa.Column("in_body", sa.Integer(), nullable=False),
        sa.Column("clutter", sa.Integer(), nullable=False),
        sa.Column("cluttered", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint(
            "company_id", "source_id", "day", "language", name="pk_daily_company_sources"
        ),
        sqlite_with_rowid=False,
    )


def _stories() -> None:
    op.create_table(
        "stories",
        sa.Column("id", big_key, nullable=False),
        sa.Column("founded_on", sa.Date(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_stories"),
    )
    op.create_table(
        "sketches",
        sa.Column("article_id", big_key, nullable=False),
        sa.Column("story_id", big_key, nullable=False),
        sa.Column("week", sa.Integer(), nullable=False),
        sa.Column("shingles", sa.Integer(), nullable=False),
        sa.Column("smallest", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["article_id"],
            ["articles.id"],
            name="fk_sketches_article_id_articles",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("article_id", name="pk_sketches"),
    )
    op.create_table(
        "sketch_values",
        sa.Column("week", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("value", big_key, autoincrement=False, nullable=False),
        sa.Column("article_id", big_key, autoincrement=False, nullable=False),
        sa.PrimaryKeyConstraint("week", "value", "article_id", name="pk_sketch_values"),
        sqlite_with_rowid=False,
    )


def _search() -> None:
    """See storage/search_index.py. What fills all these tables is no matter of the migration:
    storage/schema.py does it once all of them are done."""
    if op.get_bind().dialect.name == "sqlite":
        op.execute(
            "CREATE VIRTUAL TABLE article_search USING fts5 (title, body, content='', "
            "tokenize=\"unicode61 remove_diacritics 0 categories 'L* N* M* Co'\")"
        )
        return
    op.create_table(
        "article_search",
        sa.Column("article_id", sa.BigInteger(), nullable=False),
        sa.Column("minute", sa.Integer(), nullable=False),
        sa.Column("words", postgresql.TSVECTOR(), nullable=False),
        sa.ForeignKeyConstraint(
            ["article_id"],
            ["articles.id"],
            name="fk_article_search_article_id_articles",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("article_id", name="pk_article_search"),
    )
    op.create_index(
        "ix_article_search_minute_article_id", "article_search", ["minute", "article_id"]
    )
    op.create_index("ix_article_search_words", "article_search", ["words"], postgresql_using="gin")
