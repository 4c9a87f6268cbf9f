"""The upgrade of a database of schema 0014, the last one before the first release, to 0015.

Nothing but names differs: tables are copied to their new names, columns renamed in place.
"""

from sqlalchemy import Connection, inspect, text

from newscrawl.storage.models import Base

BEFORE, AFTER = "0014", "0015"

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


def upgrade(connection: Connection) -> None:
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
    connection.execute(text(f"UPDATE alembic_version SET version_num = '{AFTER}'"))  # noqa: S608 - our own


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
