"""Cookies no longer depend on tokens: their hashes are not stored."""

import sqlalchemy as sa
from alembic import op

revision = "0031"
down_revision = "0030"

_COLUMNS = "id, name, rights, token_hash, made_at, revoked_at"


def upgrade() -> None:
    if op.get_bind().dialect.name == "postgresql":
        op.execute("ALTER TABLE tokens DROP COLUMN IF EXISTS session_hash")
        return
    # SQLite drops no column that is unique.
    moment = sa.DateTime(timezone=True)
    op.rename_table("tokens", "earlier_tokens")
    op.create_table(
        "tokens",
        sa.Column("id", sa.Integer(), primary_key=True),
        sa.Column("name", sa.Text(), nullable=False, unique=True),
        sa.Column("rights", sa.Text(), nullable=False),
        sa.Column("token_hash", sa.Text(), nullable=False, unique=True),
        sa.Column("made_at", moment, nullable=False),
        sa.Column("revoked_at", moment),
    )
    op.execute(f"INSERT INTO tokens ({_COLUMNS}) SELECT {_COLUMNS} FROM earlier_tokens")  # noqa: S608
    op.drop_table("earlier_tokens")
