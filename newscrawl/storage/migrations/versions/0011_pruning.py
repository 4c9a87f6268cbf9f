"""What a queue needs that is to stay small and to get past pages that kill crawls.

Rows that were there before were named by a listing when they were discovered, as far as we know.
"""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"

from_a_listing = sa.text("listing_id IS NOT NULL")


def upgrade() -> None:
    op.add_column("frontier", sa.Column("deaths", sa.Integer(), server_default="0", nullable=False))
    op.add_column("frontier", sa.Column("named_at", sa.DateTime(timezone=True), nullable=True))
    # A listing that goes leaves its rows without one, which must be found for it.
    op.create_index(
        "ix_frontier_listing_id",
        "frontier",
        ["listing_id"],
        sqlite_where=from_a_listing,
        postgresql_where=from_a_listing,
    )
