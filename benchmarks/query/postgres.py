"""Copy a SQLite database into PostgreSQL by COPY, many times as fast as storing it again."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
from psycopg import sql

from newscrawl.storage import upgrade_database
from newscrawl.storage.models import Base

_SEARCH_INDEX = "ix_article_search_words"


def copy_to_postgres(file: Path, url: str) -> None:
    """Fill the empty database at the URL with all rows of the file."""
    upgrade_database(url)
    with closing(sqlite3.connect(file)) as source, psycopg.connect(url) as target:
        target.execute("SET TIME ZONE 'UTC'")
        target.execute("SET maintenance_work_mem = '512MB'")
        for table in Base.metadata.sorted_tables:
            names = [column.name for column in table.columns]
            rows = source.execute(f"SELECT {', '.join(names)} FROM {table.name}")  # noqa: S608
            _copy(target, table.name, names, rows)
            _number_on(target, table.name, names)
        (definition,) = target.execute(
            "SELECT indexdef FROM pg_indexes WHERE indexname = %s", [_SEARCH_INDEX]
        ).fetchone() or ("",)
        target.execute(f"DROP INDEX {_SEARCH_INDEX}")
        # The made-up words are ASCII and plain: PostgreSQL reads them as we do.
        target.execute(
            "INSERT INTO article_search SELECT id, minute, to_tsvector('simple', title) || "
            "to_tsvector('simple', text) FROM articles JOIN counted_articles ON article_id = id"
        )
        target.execute(definition)
    with psycopg.connect(url, autocommit=True) as target:
        target.execute("VACUUM ANALYZE")


def _copy(
    target: psycopg.Connection[Any], table: str, names: list[str], rows: Iterator[Any]
) -> None:
    columns = sql.SQL(", ").join(map(sql.Identifier, names))
    statement = sql.SQL("COPY {} ({}) FROM STDIN").format(sql.Identifier(table), columns)
    with target.cursor().copy(statement) as copy:
        for row in rows:
            copy.write_row(row)


def _number_on(target: psycopg.Connection[Any], table: str, names: list[str]) -> None:
    """Set the sequence so that new rows are numbered after the copied ones."""
    if "id" in names:
        target.execute(
            f"SELECT setval(pg_get_serial_sequence('{table}', 'id'), max(id)) FROM {table}"  # noqa: S608
            " HAVING max(id) IS NOT NULL AND pg_get_serial_sequence(%s, 'id') IS NOT NULL",
            [table],
        )
