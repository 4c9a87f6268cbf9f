"""Sources, runs, articles with their addresses and revisions, mentions, coverage."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


moment = sa.DateTime(timezone=True)
big_key = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.create_table(
        "companies",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_companies"),
        sa.UniqueConstraint("name", name="uq_companies_name"),
    )
    op.create_table(
        "sources",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("slug", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("country", sa.Text(), nullable=False),
        sa.Column("language", sa.Text(), nullable=False),
        sa.Column("home", sa.Text(), nullable=False),
        sa.Column("registered_at", moment, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_sources"),
        sa.UniqueConstraint("slug", name="uq_sources_slug"),
    )
    op.create_table(
        "coverage",
        sa.Column("source_id", sa.Integer(), nullable=False),
        sa.Column("day", sa.Date(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("found", sa.Integer(), nullable=False),
        sa.Column("stored", sa.Integer(), nullable=False),
        sa.Column("note", sa.Text(), nullable=False),
        sa.Column("recorded_at", moment, nullable=False),
        sa.ForeignKeyConstraint(
            ["source_id"], ["sources.id"], name="fk_coverage_source_id_sources"
        ),
        sa.PrimaryKeyConstraint("source_id", "day", name="pk_coverage"),
    )
    op.create_index("ix_coverage_day", "coverage", ["day"])
    op.create_table(
        "runs",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("source_id", sa.Integer(), nullable=False),
        sa.Column("started_at", moment, nullable=False),
        sa.Column("finished_at", moment, nullable=True),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.Column("counts", sa.JSON(), nullable=True),
        sa.ForeignKeyConstraint(["source_id"], ["sources.id"], name="fk_runs_source_id_sources"),
        sa.PrimaryKeyConstraint("id", name="pk_runs"),
    )
    op.create_index("ix_runs_source_id", "runs", ["source_id"])
    op.create_table(
        "articles",
        sa.Column("id", big_key, nullable=False),
        sa.Column("source_id", sa.Integer(), nullable=False),
        sa.Column("run_id", sa.Integer(), nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("title", sa.Text(), nullable=True),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("authors", sa.JSON(), nullable=False),
        sa.Column("published_at", moment, nullable=True),
        sa.Column("modified_at", moment, nullable=True),
        sa.Column("day", sa.Date(), nullable=False),
        sa.Column("language", sa.Text(), nullable=True),
        sa.Column("section", sa.Text(), nullable=True),
        sa.Column("site_name", sa.Text(), nullable=True),
        sa.Column("image", sa.Text(), nullable=True),
        sa.Column("paywalled", sa.Boolean(), nullable=True),
        sa.Column("access", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("method", sa.Text(), nullable=False),
        sa.Column("confidence", sa.Double(), nullable=False),
        sa.Column("content_hash", sa.Text(), nullable=False),
        sa.Column("fingerprint", sa.Text(), nullable=True),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("first_seen_at", moment, nullable=False),
        sa.Column("last_seen_at", moment, nullable=False),
        sa.Column("revised_at", moment, nullable=True),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name="fk_articles_run_id_runs"),
        sa.ForeignKeyConstraint(
            ["source_id"], ["sources.id"], name="fk_articles_source_id_sources"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_articles"),
        sa.UniqueConstraint("url", name="uq_articles_url"),
    )
    op.create_index("ix_articles_day", "articles", ["day"])
    op.create_index("ix_articles_run_id", "articles", ["run_id"])
    op.create_index("ix_articles_source_id_day", "articles", ["source_id", "day"])
    op.create_index("ix_articles_source_id_fingerprint", "articles", ["source_id", "fingerprint"])
    op.create_table(
        "article_urls",
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("article_id", big_key, nullable=False),
        sa.ForeignKeyConstraint(
            ["article_id"],
            ["articles.id"],
            name="fk_article_urls_article_id_articles",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("url", name="pk_article_urls"),
    )
    op.create_index("ix_article_urls_article_id", "article_urls", ["article_id"])
    op.create_table(
        "mentions",
        sa.Column("id", big_key, nullable=False),
        sa.Column("article_id", big_key, nullable=False),
        sa.Column("company_id", sa.Integer(), nullable=False),
        sa.Column("section", sa.Text(), nullable=False),
        sa.Column("start_offset", sa.Integer(), nullable=False),
        sa.Column("end_offset", sa.Integer(), nullable=False),
        sa.Column("surface", sa.Text(), nullable=False),
        sa.Column("rule", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["article_id"],
            ["articles.id"],
            name="fk_mentions_article_id_articles",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["company_id"], ["companies.id"], name="fk_mentions_company_id_companies"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_mentions"),
    )
    op.create_index("ix_mentions_article_id", "mentions", ["article_id"])
    op.create_index("ix_mentions_company_id_article_id", "mentions", ["company_id", "article_id"])
    op.create_table(
        "revisions",
        sa.Column("id", big_key, nullable=False),
        sa.Column("article_id", big_key, nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("title", sa.Text(), nullable=True),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("access", sa.Text(), nullable=False),
        sa.Column("content_hash", sa.Text(), nullable=False),
        sa.Column("seen_at", moment, nullable=False),
        sa.Column("replaced_at", moment, nullable=False),
        sa.ForeignKeyConstraint(
            ["article_id"],
            ["articles.id"],
            name="fk_revisions_article_id_articles",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name="pk_revisions"),
        sa.UniqueConstraint("article_id", "number", name="uq_revisions_article_id_number"),
    )
