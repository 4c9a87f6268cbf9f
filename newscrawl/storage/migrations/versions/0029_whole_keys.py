"""Days by section, stories of pairs of companies, and keys whose index answers alone."""

import sqlalchemy as sa
from alembic import op

revision = "0029"
down_revision = "0028"

_DAY = {
    "postgresql": "DATE '0001-01-01' + minute / 1440",
    "sqlite": "date('0001-01-01', '+' || (minute / 1440) || ' days')",
}
_SECTIONS = """
INSERT INTO daily_sections (day, source_id, language, section, read, articles, limited, in_title,
    in_body)
SELECT {day} AS day, source_id, language, section, count(*),
    sum(CASE WHEN in_title + in_body > 0 THEN 1 ELSE 0 END),
    sum(CASE WHEN in_title + in_body > 0 THEN limited ELSE 0 END), sum(in_title), sum(in_body)
FROM counted_articles GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4
"""
_PAIRS = """
INSERT INTO company_pairs (company_id, other_id, minute, article_id, limited, story_id)
SELECT p.company_id, p.other_id, p.minute, p.article_id, p.limited, c.story_id
FROM earlier_pairs AS p
JOIN counted_articles AS c ON c.minute = p.minute AND c.article_id = p.article_id
"""
_PAIR = ("company_id", "other_id", "minute", "article_id", "limited", "story_id")
_LONG = frozenset({"article_id", "story_id"})
# The columns that the index of a key has in addition to the key.
_WHOLE = {
    "appearances": (
        ("company_id", "minute", "article_id"),
        ("source_id", "language", "section", "limited", "in_title", "in_body", "story_id"),
    ),
    "daily_company_sources": (
        ("company_id", "source_id", "day", "language"),
        ("articles", "limited", "in_title", "in_body"),
    ),
}


def upgrade() -> None:
    database = op.get_bind().dialect.name
    numbers = ("read", "articles", "limited", "in_title", "in_body")
    op.create_table(
        "daily_sections",
        sa.Column("day", sa.Date(), primary_key=True),
        sa.Column("source_id", sa.Integer(), primary_key=True, autoincrement=False),
        sa.Column("language", sa.Text(), primary_key=True),
        sa.Column("section", sa.Text(), primary_key=True),
        *(sa.Column(name, sa.Integer(), nullable=False) for name in numbers),
        sqlite_with_rowid=False,
    )
    op.execute(_SECTIONS.format(day=_DAY[database]))
    _add_stories_to_pairs(database)
    if database == "postgresql":
        for table, (key, further) in _WHOLE.items():
            _include(table, key, further)


def _add_stories_to_pairs(database: str) -> None:
    op.rename_table("company_pairs", "earlier_pairs")
    if database == "postgresql":
        op.execute("ALTER TABLE earlier_pairs DROP CONSTRAINT pk_company_pairs")
    long = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
    columns = (sa.Column(n, long if n in _LONG else sa.Integer(), nullable=False) for n in _PAIR)
    # PostgreSQL sorts for an index in less time than it takes to add each row to it.
    key = sa.PrimaryKeyConstraint(*_PAIR, name="pk_company_pairs")
    in_table = (key,) if database == "sqlite" else ()
    op.create_table("company_pairs", *columns, *in_table, sqlite_with_rowid=False)
    op.execute(_PAIRS)
    op.drop_table("earlier_pairs")
    if database == "postgresql":
        op.create_primary_key("pk_company_pairs", "company_pairs", [*_PAIR])


def _include(table: str, key: tuple[str, ...], further: tuple[str, ...]) -> None:
    whole = f"whole_{table}"
    op.create_index(whole, table, key, unique=True, postgresql_include=further)
    op.execute(
        f"ALTER TABLE {table} DROP CONSTRAINT pk_{table}, "
        f"ADD CONSTRAINT pk_{table} PRIMARY KEY USING INDEX {whole}"
    )
