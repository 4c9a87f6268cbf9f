"""Who has applied or discarded a quarantined version."""

import sqlalchemy as sa
from alembic import op

revision = "0022"
down_revision = "0021"


def upgrade() -> None:
    op.add_column("quarantine", sa.Column("decided_by", sa.Text(), nullable=True))
