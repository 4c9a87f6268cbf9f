"""Plain names for columns of `listings` and for the table of the last checks of sources."""

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"

_LISTINGS = {
    "cutoff": "skipped_before",
    "offered": "entry_count",
    "quiet": "polls_since_new",
}
_CHECKUPS = "source_id, checked_at, state, note, listings, working, newest_at, moved_to, last_ok"


def upgrade() -> None:
    for old, new in _LISTINGS.items():
        op.execute(f"ALTER TABLE listings RENAME COLUMN {old} TO {new}")
    # A new table and not a renamed one, so that its constraints have the new name too.
    moment = sa.DateTime(timezone=True)
    op.create_table(
        "source_checkups",
        sa.Column("source_id", sa.Integer(), sa.ForeignKey("sources.id"), primary_key=True),
        sa.Column("checked_at", moment, nullable=False),
        *(sa.Column(name, sa.Text(), nullable=False) for name in ("state", "note")),
        *(sa.Column(name, sa.Integer(), nullable=False) for name in ("listings", "working")),
        sa.Column("newest_at", moment),
        sa.Column("moved_to", sa.Text()),
        sa.Column("last_ok", moment),
    )
    # Both names are of this file: nothing is injected.
    op.execute(f"INSERT INTO source_checkups ({_CHECKUPS}) SELECT {_CHECKUPS} FROM source_health")  # noqa: S608
    op.drop_table("source_health")
