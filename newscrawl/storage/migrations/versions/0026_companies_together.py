"""The days between which sources mention companies, and the pairs of companies in an article."""

import sqlalchemy as sa
from alembic import op

revision = "0026"
down_revision = "0025"

_SOURCES = """
INSERT INTO company_sources (company_id, source_id, first_day, last_day)
SELECT company_id, source_id, min(day), max(day) FROM daily_company_sources
WHERE articles > 0 GROUP BY company_id, source_id
"""
_NAMED = "company_id NOT IN (SELECT company_id FROM saved_queries)"
# More than 30 companies: MAX_PAIRED of newscrawl/storage/rollups.py, as of this schema.
_CROWDED = (
    f"(SELECT article_id FROM appearances WHERE {_NAMED} "  # noqa: S608 - our own words
    "GROUP BY article_id HAVING count(*) > 30)"
)
_PAIRS = f"""
INSERT INTO company_pairs (company_id, other_id, minute, article_id, limited)
SELECT one.company_id, other.company_id, one.minute, one.article_id, one.limited
FROM appearances AS one
JOIN appearances AS other
ON other.article_id = one.article_id AND other.company_id > one.company_id
WHERE one.{_NAMED} AND other.{_NAMED} AND one.article_id NOT IN {_CROWDED}
"""  # noqa: S608
_OF_CROWDED = f"""
INSERT INTO company_pairs (company_id, other_id, minute, article_id, limited)
SELECT company_id, 0, minute, article_id, limited
FROM appearances WHERE {_NAMED} AND article_id IN {_CROWDED}
"""  # noqa: S608


def upgrade() -> None:
    op.create_table(
        "company_sources",
        *(
            sa.Column(name, sa.Integer(), primary_key=True, autoincrement=False)
            for name in ("company_id", "source_id")
        ),
        sa.Column("first_day", sa.Date(), nullable=False),
        sa.Column("last_day", sa.Date(), nullable=False),
        sqlite_with_rowid=False,
    )
    key = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
    op.create_table(
        "company_pairs",
        *(
            sa.Column(name, sa.Integer(), primary_key=True, autoincrement=False)
            for name in ("company_id", "other_id", "minute")
        ),
        sa.Column("article_id", key, primary_key=True, autoincrement=False),
        sa.Column("limited", sa.Integer(), primary_key=True, autoincrement=False),
        sqlite_with_rowid=False,
    )
    for statement in (_SOURCES, _PAIRS, _OF_CROWDED):
        op.execute(statement)
