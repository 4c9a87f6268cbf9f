"""Recipients of alerts and digests, and what was sent to them."""

import sqlalchemy as sa
from alembic import op

revision = "0020"
down_revision = "0019"


def upgrade() -> None:
    moment = sa.DateTime(timezone=True)
    op.create_table(
        "recipients",
        sa.Column("id", sa.Integer(), primary_key=True),
        sa.Column("name", sa.Text(), nullable=False, unique=True),
        *(sa.Column(name, sa.Text(), nullable=False) for name in ("kind", "address")),
        *(sa.Column(name, sa.JSON(), nullable=False) for name in ("companies", "gets")),
        sa.Column("added_at", moment, nullable=False),
        sa.Column("added_by", sa.Text(), nullable=False),
    )
    op.create_table(
        "sent_notices",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), primary_key=True),
        sa.Column("sent_at", moment, nullable=False, index=True),
        *(
            sa.Column(name, sa.Text(), nullable=False)
            for name in ("recipient", "cause", "subject", "fault")
        ),
    )
