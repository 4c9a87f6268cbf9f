"""An index of the articles of which headline and standfirst alone are known."""

import sqlalchemy as sa
from alembic import op

revision = "0027"
down_revision = "0026"


def upgrade() -> None:
    limited = sa.text("limited > 0")
    op.create_index(
        "ix_counted_articles_limited",
        "counted_articles",
        ["minute"],
        sqlite_where=limited,
        postgresql_where=limited,
    )
