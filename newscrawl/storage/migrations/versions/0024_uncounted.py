"""An index of the few stored pages that don't count as articles."""

import sqlalchemy as sa
from alembic import op

revision = "0024"
down_revision = "0023"


def upgrade() -> None:
    uncounted = sa.text("access = 'open' AND kind NOT IN ('article', 'live', 'gallery', 'video')")
    op.create_index(
        "ix_articles_uncounted",
        "articles",
        ["day"],
        sqlite_where=uncounted,
        postgresql_where=uncounted,
    )
