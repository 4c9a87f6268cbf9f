"""The schema's version: that of a database, the required one, and the upgrade."""

from pathlib import Path

from sqlalchemy import Connection, Engine, inspect, text

from newscrawl.storage.errors import StorageError

# The newest file of migrations/versions. Written here too so that opening a database does
# not load Alembic; a test holds the two equal.
HEAD = "0029"
_OLDEST = "0015"

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
    StorageError for a schema too old to be upgraded.
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
        if before is not None and before < _OLDEST:
            raise StorageError(
                f"the database is of schema {before}, made by a development version: upgrade it "
                f"with the last version before {_OLDEST}, or begin a new one"
            )
        if before is None or before < HEAD:
            config.attributes["connection"] = connection
            command.upgrade(config, "head")
        return before, version_of(connection) or HEAD
