"""An index that tells by itself how many sources were read on a day."""

from alembic import op

revision = "0010"
down_revision = "0009"


def upgrade() -> None:
    op.create_index("ix_coverage_day_state", "coverage", ["day", "state"])
    op.drop_index("ix_coverage_day", "coverage")
