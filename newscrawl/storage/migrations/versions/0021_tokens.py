"""Tokens of the dashboard, and who has changed the registry."""

import sqlalchemy as sa
from alembic import op

revision = "0021"
down_revision = "0020"


def upgrade() -> None:
    moment = sa.DateTime(timezone=True)
    op.create_table(
        "tokens",
        sa.Column("id", sa.Integer(), primary_key=True),
        sa.Column("name", sa.Text(), nullable=False, unique=True),
        sa.Column("rights", sa.Text(), nullable=False),
        *(
            sa.Column(name, sa.Text(), nullable=False, unique=True)
            for name in ("token_hash", "session_hash")
        ),
        sa.Column("made_at", moment, nullable=False),
        sa.Column("revoked_at", moment),
    )
    op.create_table(
        "registry_changes",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), primary_key=True),
        sa.Column("made_at", moment, nullable=False),
        *(sa.Column(name, sa.Text(), nullable=False) for name in ("made_by", "action", "entry")),
    )
