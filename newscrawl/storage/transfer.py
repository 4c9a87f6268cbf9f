"""Copying a database into an empty one, also of the other kind: from SQLite to PostgreSQL."""

from collections.abc import Callable
from typing import Final

from sqlalchemy import JSON, Connection, Table, bindparam, func, insert, select

from newscrawl.storage import StorageError
from newscrawl.storage.database import Database, open_database, upgrade_database
from newscrawl.storage.models import Base, SavedQuery
from newscrawl.storage.rollups import BY_DAY, rebuild

# Ours: rows in memory at a time.
_AT_ONCE: Final = 1000
_REBUILT: Final = frozenset(table.__tablename__ for table in BY_DAY)


def copy_database(
    source: Database, target_url: str, report: Callable[[int, int], None] = lambda _done, _of: None
) -> int:
    """Copy all rows with their ids, and rebuild counts and search index; return the number of
    articles.

    All in one transaction: after an interruption the target is empty. What crawls store in the
    source meanwhile may be missing. `report` is called with the articles indexed, and all. Raise
    StorageError unless the target is empty.
    """
    upgrade_database(target_url)
    tables = [table for table in Base.metadata.sorted_tables if table.name not in _REBUILT]
    with open_database(target_url) as target, source.reading() as session:
        if session.scalar(
            select(SavedQuery.company_id).where(SavedQuery.pending_text.is_not(None))
        ):
            raise StorageError("a saved query is being counted: newscrawl queries recount ends it")
        rows_of = session.connection()

        def work(connection: Connection) -> int:
            for table in tables:
                if connection.execute(select(table).limit(1)).first() is not None:
                    raise StorageError(
                        f"the database {target.name} is not empty ({table.name}): name a new one"
                    )
            for table in tables:
                _copy(table, rows_of, connection)
            return rebuild(connection, progress=report)

        return target.transact(work)


def _copy(table: Table, source: Connection, target: Connection) -> None:
    ordered = select(table).order_by(*table.primary_key.columns)
    # Otherwise None would become the JSON value null, which no "IS NULL" finds.
    json = [column.name for column in table.c if isinstance(column.type, JSON) and column.nullable]
    nulls = {name: bindparam(f"new_{name}", type_=JSON(none_as_null=True)) for name in json}
    added = insert(table).values(nulls) if nulls else insert(table)
    with source.execute(ordered.execution_options(yield_per=_AT_ONCE)) as result:
        for rows in result.mappings().partitions(_AT_ONCE):
            values = [
                {f"new_{name}" if name in nulls else name: value for name, value in row.items()}
                for row in rows
            ]
            target.execute(added, values)
    if target.dialect.name == "postgresql" and "id" in table.c:
        sequence = func.pg_get_serial_sequence(table.name, "id")
        last = select(func.max(table.c.id)).scalar_subquery()
        # Without rows, the sequence stays at its beginning.
        target.execute(select(func.setval(sequence, last)).where(last.is_not(None)))
