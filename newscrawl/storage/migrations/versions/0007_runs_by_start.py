"""Runs can be found by their start: what the last day brought is asked for again and again."""

from alembic import op

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    op.create_index("ix_runs_started_at", "runs", ["started_at"])
