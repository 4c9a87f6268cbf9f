"""Copy a SQLite database into PostgreSQL by COPY, many times as fast as storing it again, once or
several times: each article then has further addresses, in other sources of its language.

Rows are copied into tables without keys and indexes, which are made afterwards.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Final

import psycopg
from psycopg import sql

from benchmarks.query.news_year import SOURCES
from newscrawl.storage import upgrade_database
from newscrawl.storage.models import Base

# The number of copy `c` of `times`, next to the first one, as if all had been stored in order.
_ID = "({} - 1) * times + c + 1"
# Ten sources further on, whose language and country are the same.
_SOURCE = f"(source_id - 1 + 10 * c) % {SOURCES} + 1"
_ADDRESS = "CASE c WHEN 0 THEN url ELSE url || '-' || c END"
_CHANGED: Final = {
    "id": _ID.format("id"),
    "article_id": _ID.format("article_id"),
    "story_id": _ID.format("story_id"),
    "source_id": _SOURCE,
    "url": _ADDRESS,
    "fingerprint": "overlay(fingerprint PLACING c::text FROM 1)",
}
_REPEATED: Final = (
    *("articles", "article_urls", "mentions", "counted_articles", "appearances", "stories"),
    *("company_pairs", "sketches", "sketch_values", "article_search"),
)
_SUMMED: Final = (
    *("daily_totals", "daily_sources", "daily_sections", "daily_companies"),
    *("daily_company_sources", "company_sources"),
)
_EARLIEST: Final = {"first_day": "min", "last_day": "max"}
_CONSTRAINTS = (
    "SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid) FROM pg_constraint "
    "WHERE connamespace = 'public'::regnamespace AND contype = ANY(%s) ORDER BY conname"
)
_INDEXES = (
    "SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = 'public' AND NOT EXISTS "
    "(SELECT FROM pg_constraint WHERE conname = indexname) ORDER BY indexname"
)


def copy_to_postgres(file: Path, url: str, times: int = 1) -> None:
    """Fill the empty database at the URL with all rows of the file, of articles `times` copies.

    It is not one transaction, so that intermediate tables are deleted from the disk at once.
    """
    upgrade_database(url)
    with (
        closing(sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True)) as source,
        psycopg.connect(url, autocommit=True) as target,
    ):
        target.execute("SET TIME ZONE 'UTC'")
        target.execute("SET maintenance_work_mem = '1GB'")
        target.execute("SET work_mem = '256MB'")
        target.execute("CREATE SCHEMA drawn")
        with _without_indexes(target):
            for table in Base.metadata.sorted_tables:
                names = [column.name for column in table.columns]
                rows = source.execute(f"SELECT {', '.join(names)} FROM {table.name}")  # noqa: S608
                place = table.name
                if table.name in (*_REPEATED, *_SUMMED) and times > 1:
                    place = _drawn(target, table.name)
                _copy(target, place, names, rows)
            schema = "drawn" if times > 1 else "public"
            if schema == "drawn":
                _drawn(target, "article_search")
            # The generated words are plain ASCII, which PostgreSQL splits as we do.
            target.execute(
                f"INSERT INTO {schema}.article_search "  # noqa: S608 - our own names
                "SELECT id, minute, to_tsvector('simple', title) || to_tsvector('simple', text) "
                f"FROM {schema}.articles JOIN {schema}.counted_articles ON article_id = id "
                "ORDER BY id"
            )
            if times > 1:
                _repeat(target, times)
        target.execute("DROP SCHEMA drawn CASCADE")
        for table in Base.metadata.sorted_tables:
            _number_on(target, table.name, [column.name for column in table.columns])
        target.execute("VACUUM ANALYZE")


def _drawn(target: psycopg.Connection[Any], table: str) -> str:
    """Create a table with the same columns in the schema `drawn`; return its name."""
    target.execute(f"CREATE UNLOGGED TABLE drawn.{table} (LIKE public.{table})")
    return f"drawn.{table}"


def _repeat(target: psycopg.Connection[Any], times: int) -> None:
    """Fill the tables from those of the schema `drawn`."""
    for table in (*_REPEATED, *_SUMMED):
        names = [
            name
            for (name,) in target.execute(
                "SELECT attname FROM pg_attribute WHERE attrelid = %s::regclass AND attnum > 0",
                [f"public.{table}"],
            )
        ]
        values = [_CHANGED.get(name, name) for name in names]
        grouping = ""
        if table in _SUMMED:
            keys = [name for name in names if name in {"day", "source_id", "language", "section"}]
            keys += [name for name in names if name == "company_id"]
            values = [
                value if name in keys else f"{_EARLIEST.get(name, 'sum')}({name})"
                for name, value in zip(names, values, strict=True)
            ]
            grouping = f"GROUP BY {', '.join(_CHANGED.get(key, key) for key in keys)}"
            if "day" in keys:
                grouping += " ORDER BY day"  # as articles are stored
        target.execute(
            f"INSERT INTO public.{table} ({', '.join(names)}) "  # noqa: S608 - our own names
            # Not a join, which would return one copy of all after the other.
            f"SELECT {', '.join(values)} FROM (SELECT *, {times} AS times, "
            f"generate_series(0, {times - 1}) AS c FROM drawn.{table}) AS copies {grouping}"
        )
        target.execute(f"DROP TABLE drawn.{table}")


@contextmanager
def _without_indexes(target: psycopg.Connection[Any]) -> Iterator[None]:
    """Drop keys, other constraints between tables, and indexes; create them again at the end."""
    between = target.execute(_CONSTRAINTS, [["f"]]).fetchall()
    keys = target.execute(_CONSTRAINTS, [["p", "u"]]).fetchall()
    indexes = target.execute(_INDEXES).fetchall()
    for table, name, _ in between + keys:
        target.execute(f"ALTER TABLE {table} DROP CONSTRAINT {name}")
    for name, _ in indexes:
        target.execute(f"DROP INDEX {name}")
    yield
    for table, name, definition in keys:
        target.execute(f"ALTER TABLE {table} ADD CONSTRAINT {name} {definition}")
    for _, definition in indexes:
        target.execute(definition)
    for table, name, definition in between:
        target.execute(f"ALTER TABLE {table} ADD CONSTRAINT {name} {definition}")


def _copy(
    target: psycopg.Connection[Any], table: str, names: list[str], rows: Iterator[Any]
) -> None:
    columns = sql.SQL(", ").join(map(sql.Identifier, names))
    place = sql.Identifier(*table.split("."))
    with target.cursor().copy(sql.SQL("COPY {} ({}) FROM STDIN").format(place, columns)) as copy:
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
