"""The watch: leases, workers, how each source fared day by day, findings."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


moment = sa.DateTime(timezone=True)
big_key = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
is_open = sa.text("recovered_at IS NULL")


def upgrade() -> None:
    op.create_table(
        "leases",
        sa.Column("source_id", sa.Integer(), nullable=False),
        sa.Column("holder", sa.Text(), nullable=True),
        sa.Column("taken_at", moment, nullable=True),
        sa.Column("expires_at", moment, nullable=True),
        sa.Column("queued_until", moment, nullable=True),
        sa.Column("failures", sa.Integer(), nullable=False),
        sa.Column("retry_at", moment, nullable=True),
        sa.Column("ended_at", moment, nullable=True),
        sa.Column("code", sa.Integer(), nullable=True),
        sa.Column("note", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["source_id"], ["sources.id"], name="fk_leases_source_id_sources"),
        sa.PrimaryKeyConstraint("source_id", name="pk_leases"),
    )
    op.create_table(
        "workers",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("host", sa.Text(), nullable=False),
        sa.Column("pid", sa.Integer(), nullable=False),
        sa.Column("slots", sa.Integer(), nullable=False),
        sa.Column("version", sa.Text(), nullable=False),
        sa.Column("started_at", moment, nullable=False),
        sa.Column("seen_at", moment, nullable=False),
        sa.Column("stopped_at", moment, nullable=True),
        sa.PrimaryKeyConstraint("name", name="pk_workers"),
    )
    op.create_table(
        "vitals",
        sa.Column("source_id", sa.Integer(), nullable=False),
        sa.Column("day", sa.Date(), nullable=False),
        *(
            sa.Column(name, sa.Integer(), nullable=False)
            for name in (
                "runs",
                "failed_runs",
                "new",
                "fetched",
                "failed",
                "refused",
                "dropped",
                "read",
                "undated",
                "untitled",
            )
        ),
        sa.Column("characters", sa.Double(), nullable=True),
        sa.Column("confidence", sa.Double(), nullable=True),
        sa.Column("page_characters", sa.BigInteger(), nullable=False),
        sa.Column("text_characters", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["source_id"], ["sources.id"], name="fk_vitals_source_id_sources"),
        sa.PrimaryKeyConstraint("source_id", "day", name="pk_vitals"),
    )
    op.create_index("ix_vitals_day", "vitals", ["day"])
    op.create_table(
        "findings",
        sa.Column("id", big_key, nullable=False),
        sa.Column("cause", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("source_id", sa.Integer(), nullable=True),
        sa.Column("note", sa.Text(), nullable=False),
        sa.Column("facts", sa.JSON(), nullable=False),
        sa.Column("opened_at", moment, nullable=False),
        sa.Column("seen_at", moment, nullable=False),
        sa.Column("recovered_at", moment, nullable=True),
        sa.Column("told_at", moment, nullable=True),
        sa.Column("recovery_told_at", moment, nullable=True),
        sa.ForeignKeyConstraint(
            ["source_id"], ["sources.id"], name="fk_findings_source_id_sources"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_findings"),
    )
    op.create_index("ix_findings_opened_at", "findings", ["opened_at"])
    op.create_index("ix_findings_source_id", "findings", ["source_id"])
    op.create_index(
        "uq_findings_open_cause",
        "findings",
        ["cause"],
        unique=True,
        sqlite_where=is_open,
        postgresql_where=is_open,
    )
