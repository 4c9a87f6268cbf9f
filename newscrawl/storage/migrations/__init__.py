"""The schema's version: that of a database, the required one, and the upgrade.

A database of schema 0014, the last one before the first release, is upgraded to 0015 here: nothing
but names differs, so tables are copied to their new names and columns renamed in place.
"""

from pathlib import Path
from typing import Any

from sqlalchemy import Column, Connection, Engine, inspect, text

from newscrawl.storage.errors import StorageError
from newscrawl.storage.models import Base

# The newest file of migrations/versions. Written here too so that opening a database does
# not load Alembic; a test holds the two equal.
HEAD = "0031"

_VERSION_TABLE = "alembic_version"
# Ours: "news" as ASCII, which other programs are unlikely to use.
_UPGRADE_LOCK = 0x6E657773


def version_of(connection: Connection) -> str | None:
    """Return the schema's version; None for a database without our tables."""
    if not inspect(connection).has_table(_VERSION_TABLE):
        return None
    return connection.execute(text(f"SELECT version_num FROM {_VERSION_TABLE}")).scalar()  # noqa: S608


def upgrade(engine: Engine) -> tuple[str | None, str]:
    """Bring the database to HEAD, in one transaction; return the versions before and after.

    If several processes upgrade a database at once, one does and the others wait for it. Raise
    StorageError for a schema too old to be upgraded, and where another program has its tables.
    """
    from alembic import command  # noqa: PLC0415 - a quarter of a second, for a rare need
    from alembic.config import Config  # noqa: PLC0415

    config = Config()
    folder = Path(__file__).parent
    config.set_main_option("script_location", str(folder).replace("%", "%%"))
    with engine.execution_options(writes=True).begin() as connection:
        if connection.dialect.name == "postgresql":
            connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _UPGRADE_LOCK})
        before = version_of(connection)
        if before is None:
            _refuse_others(connection)
        if before == _UNRELEASED:
            _upgrade_unreleased(connection)
        elif before is not None and before < _UNRELEASED:
            raise StorageError(
                f"the database is of schema {before}, made by a development version: upgrade it "
                "with the last version before 0015, or begin a new one"
            )
        if before is None or before < HEAD:
            config.attributes["connection"] = connection
            command.upgrade(config, "head")
        return before, version_of(connection) or HEAD


def _refuse_others(connection: Connection) -> None:
    """Raise StorageError if a file without our tables has others. PostgreSQL may have them, since
    programs share schemas there, except by the names of ours."""
    others = {*inspect(connection).get_table_names()} - {_VERSION_TABLE}
    if connection.dialect.name == "postgresql":
        others &= {*Base.metadata.tables}
    if others:
        raise StorageError(
            f"the database {connection.engine.url.database} has tables of another program "
            f"({', '.join(sorted(others)[:3])}): name a new one in NEWSCRAWL_DATABASE_URL"
        )


def add_missing_column(table: str, column: Column[Any]) -> None:
    """Add a column to a table, in a migration. A database upgraded from schema 0014 has it already:
    that upgrade makes new tables by the models of today."""
    from alembic import op  # noqa: PLC0415

    known = {one["name"] for one in inspect(op.get_bind()).get_columns(table)}
    if column.name not in known:
        op.add_column(table, column)


_UNRELEASED, _INITIAL = "0014", "0015"

# New tables by their old names, and their renamed columns: old name to new.
_TABLES: dict[str, tuple[str, dict[str, str]]] = {
    "clutter": ("boilerplate", {}),
    "findings": (
        "incidents",
        {"told_at": "reported_at", "recovery_told_at": "recovery_reported_at"},
    ),
    "notices": (
        "company_alerts",
        {"noticed_at": "raised_at", "told": "delivered_by", "told_at": "delivered_at"},
    ),
    "vitals": ("source_stats", {}),
    "watches": ("watched_companies", {}),
}
_SUMS = {"clutter": "boilerplate", "cluttered": "boilerplate_articles"}
# Columns that are renamed in tables that keep their names.
_COLUMNS: dict[str, dict[str, str]] = {
    "daily_companies": _SUMS,
    "daily_company_sources": _SUMS,
    "daily_sources": _SUMS,
    "daily_totals": _SUMS,
    "frontier": {"deaths": "crash_count"},
    "quarantine": {"clutter": "boilerplate"},
}
# Statistics of runs that have new names, by the old ones.
_COUNTS: dict[str, str] = {
    "vitals/read": "extraction/articles",
    "vitals/characters": "extraction/median_characters",
    "vitals/confidence": "extraction/median_confidence",
    "vitals/": "extraction/",
}


def _upgrade_unreleased(connection: Connection) -> None:
    """Rename tables and columns, and note the new version, in the caller's transaction."""
    for old, (new, columns) in _TABLES.items():
        _copy(connection, old, new, columns)
    for table, columns in _COLUMNS.items():
        for old, new in columns.items():
            connection.execute(text(f"ALTER TABLE {table} RENAME COLUMN {old} TO {new}"))
    connection.execute(text("UPDATE frontier SET reason = 'headline known' WHERE reason = 'told'"))
    kind = "JSON" if connection.dialect.name == "postgresql" else "TEXT"
    change = f"UPDATE runs SET counts = CAST(replace(CAST(counts AS TEXT), :old, :new) AS {kind})"  # noqa: S608 - our own
    # One after the other: names of single statistics before the prefix of them all.
    for old, new in _COUNTS.items():
        connection.execute(text(change), {"old": f'"newscrawl/{old}', "new": f'"newscrawl/{new}'})
    connection.execute(text(f"UPDATE alembic_version SET version_num = '{_INITIAL}'"))  # noqa: S608 - our own


def _copy(connection: Connection, old: str, new: str, renamed: dict[str, str]) -> None:
    """Copy a table to a new one, so that its constraints and indexes have the new names too."""
    table = Base.metadata.tables[new]
    table.create(connection)
    names = [column["name"] for column in inspect(connection).get_columns(old)]
    to_names = ", ".join(renamed.get(name, name) for name in names)
    connection.execute(
        text(f"INSERT INTO {new} ({to_names}) SELECT {', '.join(names)} FROM {old}")  # noqa: S608 - our own
    )
    connection.execute(text(f"DROP TABLE {old}"))
    if connection.dialect.name == "postgresql" and "id" in names:
        last = f"SELECT max(id) FROM {new}"  # noqa: S608 - our own
        connection.execute(text(f"SELECT setval(pg_get_serial_sequence('{new}', 'id'), ({last}))"))
