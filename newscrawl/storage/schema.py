"""The schema's version: which one a database has, which one we need, and the way there."""

from pathlib import Path

from sqlalchemy import Connection, Engine, inspect, text

from newscrawl.storage.rebuilding import rebuild

# The newest file of migrations/versions. Written here too so that opening a database does
# not load Alembic; a test holds the two equal.
HEAD = "0014"

# The version with which came what `newscrawl.storage.rebuilding` makes of older articles.
_COUNTED_SINCE = "0003"

_VERSION_TABLE = "alembic_version"
# Any number will do, as long as nobody else's is the same: "news" as ASCII.
_UPGRADE_LOCK = 0x6E657773


def version_of(connection: Connection) -> str | None:
    """The schema's version, or None in a database without our tables."""
    if not inspect(connection).has_table(_VERSION_TABLE):
        return None
    return connection.execute(text(f"SELECT version_num FROM {_VERSION_TABLE}")).scalar()  # noqa: S608


def upgrade(engine: Engine) -> tuple[str | None, str]:
    """Brings the database to HEAD, in one transaction; gives the versions before and after.

    What questions are answered from is made for the articles of a database that had it not yet.

    Whoever comes second, here or on another machine, waits and finds nothing left to do.
    """
    from alembic import command  # noqa: PLC0415 - a quarter of a second, for a rare need
    from alembic.config import Config  # noqa: PLC0415

    config = Config()
    folder = Path(__file__).parent / "migrations"
    config.set_main_option("script_location", str(folder).replace("%", "%%"))
    with engine.execution_options(writes=True).begin() as connection:
        if connection.dialect.name == "postgresql":
            connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _UPGRADE_LOCK})
        before = version_of(connection)
        if before is None or before < HEAD:
            config.attributes["connection"] = connection
            command.upgrade(config, "head")
            if before is not None and before < _COUNTED_SINCE:
                rebuild(connection)
        return before, version_of(connection) or HEAD
