"""PostgreSQL's index of the companies of an article holds the companies themselves."""

from alembic import op

revision = "0025"
down_revision = "0024"


def upgrade() -> None:
    if op.get_bind().dialect.name != "postgresql":
        return
    name = "ix_appearances_article_id"
    op.drop_index(name)
    op.create_index(
        name, "appearances", ["article_id"], postgresql_include=["company_id", "minute"]
    )
