"""The frontier: addresses that wait to be fetched, feeds and sitemaps, when sources are due."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


moment = sa.DateTime(timezone=True)
big_key = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
waits = sa.text("due_at IS NOT NULL")


def upgrade() -> None:
    op.create_table(
        "listings",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("source_id", sa.Integer(), nullable=False),
        sa.Column("parent_id", sa.Integer(), nullable=True),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("etag", sa.Text(), nullable=True),
        sa.Column("last_modified", sa.Text(), nullable=True),
        sa.Column("body_hash", sa.Text(), nullable=True),
        sa.Column("cutoff", moment, nullable=True),
        sa.Column("offered", sa.Integer(), nullable=False),
        sa.Column("newest_at", moment, nullable=True),
        sa.Column("checked_at", moment, nullable=True),
        sa.Column("changed_at", moment, nullable=True),
        sa.Column("quiet", sa.Integer(), nullable=False),
        sa.Column("failures", sa.Integer(), nullable=False),
        sa.Column("interval_seconds", sa.Double(), nullable=True),
        sa.Column("next_poll_at", moment, nullable=True),
        sa.ForeignKeyConstraint(
            ["parent_id"],
            ["listings.id"],
            name="fk_listings_parent_id_listings",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["source_id"], ["sources.id"], name="fk_listings_source_id_sources"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_listings"),
        sa.UniqueConstraint("source_id", "url", name="uq_listings_source_id_url"),
    )
    op.create_index("ix_listings_parent_id", "listings", ["parent_id"])
    op.create_table(
        "frontier",
        sa.Column("id", big_key, nullable=False),
        sa.Column("source_id", sa.Integer(), nullable=False),
        sa.Column("listing_id", sa.Integer(), nullable=True),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("fetch_url", sa.Text(), nullable=False),
        sa.Column("hints", sa.JSON(), nullable=False),
        sa.Column("moment", moment, nullable=True),
        sa.Column("discovered_at", moment, nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.Column("due_at", moment, nullable=True),
        sa.Column("run_id", sa.Integer(), nullable=True),
        sa.Column("visits", sa.Integer(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("visited_at", moment, nullable=True),
        sa.Column("etag", sa.Text(), nullable=True),
        sa.Column("last_modified", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(
            ["listing_id"],
            ["listings.id"],
            name="fk_frontier_listing_id_listings",
            ondelete="SET NULL",
        ),
        sa.ForeignKeyConstraint(
            ["source_id"], ["sources.id"], name="fk_frontier_source_id_sources"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_frontier"),
        sa.UniqueConstraint("url", name="uq_frontier_url"),
    )
    op.create_index(
        "ix_frontier_due",
        "frontier",
        ["source_id", "due_at"],
        sqlite_where=waits,
        postgresql_where=waits,
    )
    op.create_table(
        "polls",
        sa.Column("source_id", sa.Integer(), nullable=False),
        sa.Column("polled_at", moment, nullable=False),
        sa.Column("interval_seconds", sa.Double(), nullable=False),
        sa.Column("next_poll_at", moment, nullable=False),
        sa.ForeignKeyConstraint(["source_id"], ["sources.id"], name="fk_polls_source_id_sources"),
        sa.PrimaryKeyConstraint("source_id", name="pk_polls"),
    )
    op.create_index("ix_polls_next_poll_at", "polls", ["next_poll_at"])
