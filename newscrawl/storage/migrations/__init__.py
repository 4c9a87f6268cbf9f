"""The schema's version: that of a database, the required one, and the upgrade.

The numbers began again at 0001, because nothing had been released. A database of the last number
before has the same tables, and only gets the new one.
"""

from pathlib import Path

from sqlalchemy import Connection, Engine, inspect, text

from newscrawl.storage import StorageError, engine as engines
from newscrawl.storage.models import Base
from newscrawl.storage.rollups import rebuild

FIRST = "0001"
# The newest file of migrations/versions. Written here too so that opening a database does
# not load Alembic; a test holds the two equal.
HEAD = "0003"
# The former numbers, and the last version that upgrades from one to the other.
FORMER_FIRST, FORMER_LAST, FORMER_VERSION = "0014", "0031", "commit a6a1feb7"
# A table that databases have since the former 0015: without it, 0001 is the former one.
_SINCE_FORMER = "incidents"

SCRIPTS = Path(__file__).parent
# Since this number, words of the search index are folded otherwise: an older index is made again.
_REINDEXED = "0002"
_VERSION_TABLE = "alembic_version"
# Ours: "news" as ASCII, which other programs are unlikely to use.
_UPGRADE_LOCK = 0x6E657773


def version_of(connection: Connection) -> str | None:
    """Return the schema's version; None for a database without our tables. Raise StorageError for
    one of a former number that only the version before can upgrade."""
    tables = inspect(connection).get_table_names()
    if _VERSION_TABLE not in tables:
        return None
    version = connection.execute(text(f"SELECT version_num FROM {_VERSION_TABLE}")).scalar()  # noqa: S608
    if version is None:
        return None
    if FORMER_FIRST <= version < FORMER_LAST or _SINCE_FORMER not in tables:
        raise StorageError(
            f"the database {engines.display_name(connection.engine.url)} has schema {version} of "
            f"a development version: run newscrawl db upgrade of {FORMER_VERSION} first"
        )
    return str(version)


def is_older(version: str) -> bool:
    """Return whether `upgrade` brings the version to HEAD."""
    return version < HEAD or version == FORMER_LAST


def is_newer(version: str) -> bool:
    """Return whether a newer newscrawl made a database of the version."""
    return version > HEAD and not is_older(version)


def upgrade(engine: Engine) -> tuple[str | None, str]:
    """Bring the database to HEAD, in one transaction; return the versions before and after.

    If several processes upgrade a database at once, one does and the others wait for it. Raise
    StorageError for a schema too old to be upgraded, and where another program has its tables.
    """
    from alembic import command  # noqa: PLC0415 - a quarter of a second, for a rare need
    from alembic.config import Config  # noqa: PLC0415

    config = Config()
    config.set_main_option("script_location", str(SCRIPTS).replace("%", "%%"))
    with engine.execution_options(writes=True).begin() as connection:
        config.attributes["connection"] = connection
        if connection.dialect.name == "postgresql":
            connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _UPGRADE_LOCK})
        before = version_of(connection)
        if before is None:
            # PostgreSQL may have tables of others: programs share schemas there.
            foreign = {*inspect(connection).get_table_names()} - {_VERSION_TABLE}
            if connection.dialect.name == "postgresql":
                foreign &= {*Base.metadata.tables}
            if foreign:
                raise StorageError(
                    f"the database {connection.engine.url.database} has tables of another program "
                    f"({', '.join(sorted(foreign)[:3])}): name a new one in NEWSCRAWL_DATABASE_URL"
                )
            command.upgrade(config, FIRST)
            _set_version(connection, HEAD)
        elif is_older(before):
            if before == FORMER_LAST:
                _set_version(connection, FIRST)
            command.upgrade(config, "head")
            if before < _REINDEXED or before == FORMER_LAST:
                rebuild(connection)
        return before, version_of(connection) or HEAD


def _set_version(connection: Connection, version: str) -> None:
    change = text(f"UPDATE {_VERSION_TABLE} SET version_num = :version")  # noqa: S608 - our own
    connection.execute(change, {"version": version})
