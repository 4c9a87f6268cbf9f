"""Nothing in the tables: words of the search index are folded to plain letters (ł is l), so that
`newscrawl.storage.migrations.upgrade` makes the index of an older database again."""

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Change no table."""
