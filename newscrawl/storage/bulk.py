"""INSERTs of many rows in the fastest way of each database.

SQLite gets one statement with many rows of parameters. PostgreSQL gets many rows by COPY, or, if
they may exist already, one statement with an array for each column: its driver would send a message
for each row. Compared with SQLAlchemy's own batching, this saves more than half of the processor
time of storing an article (0.6 ms instead of 1.3 ms, 100 articles in a transaction). All other
statements are SQLAlchemy's: statements prepared by hand took 0.1 ms less, about 1 % of the time of
a page.
"""

from collections.abc import Callable, Mapping, Sequence
from operator import itemgetter
from typing import Any, Final

from sqlalchemy import Connection, Integer, TableClause, bindparam, func, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import DBAPIError

# Ours: the number of rows above which PostgreSQL gets a COPY instead of single INSERTs.
_FEW: Final = 16

Values = Mapping[str, Any]


class BulkInsert:
    """An INSERT of many rows into the named columns of a table.

    `conflict` is the SQL for rows that exist already, in the dialect of both databases.
    """

    def __init__(
        self, table: TableClause, names: Sequence[str], conflict: Callable[[Any], Any] | None = None
    ) -> None:
        resolve: Callable[[Any], Any] = conflict or (lambda statement: statement)
        self._names = names
        self._columns = [table.c[name] for name in names]
        self._copy = None if conflict else f"COPY {table.name} ({', '.join(names)}) FROM STDIN"
        # Inline: without RETURNING, which would fetch each row's id.
        self._rows = {
            name: resolve(dialect.insert(table)).inline()
            for name, dialect in (("sqlite", sqlite), ("postgresql", postgresql))
        }
        given = (bindparam(c.name, type_=postgresql.ARRAY(c.type)) for c in self._columns)
        arrays = func.unnest(*given).table_valued(*names).render_derived()
        chosen = select(*(arrays.c[name] for name in names))
        self._arrays = resolve(postgresql.insert(table).from_select(names, chosen))

    def write(self, connection: Connection, rows: Sequence[Values]) -> None:
        """Insert the rows, if there are any."""
        if not rows:
            return
        if connection.dialect.name == "sqlite" or len(rows) <= _FEW:
            connection.execute(self._rows[connection.dialect.name], rows)
        elif self._copy:
            self._write_copy(connection, self._copy, rows)
        else:
            columns = {name: [row[name] for row in rows] for name in self._names}
            connection.execute(self._arrays, columns)

    def _write_copy(self, connection: Connection, sql: str, rows: Sequence[Values]) -> None:
        values_of = itemgetter(*self._names)
        dialect = connection.dialect
        found = [
            column.type.dialect_impl(dialect).bind_processor(dialect) for column in self._columns
        ]
        converted = [(place, process) for place, process in enumerate(found) if process]
        cursor: Any = connection.connection.cursor()
        try:
            with cursor.copy(sql) as copy:
                for row in rows:
                    values = list(values_of(row))
                    for place, process in converted:
                        values[place] = process(values[place])
                    copy.write_row(values)
        except dialect.loaded_dbapi.Error as error:
            raise _as_sqlalchemy(connection, sql, error) from error


class RowIds:
    """New ids for rows of a table."""

    def __init__(self, table: TableClause) -> None:
        self._largest = select(func.max(table.c.id))
        sequence = func.pg_get_serial_sequence(table.name, "id")
        rows = func.generate_series(1, bindparam("count", type_=Integer())).table_valued("number")
        self._next = select(func.nextval(sequence)).select_from(rows)

    def take(self, connection: Connection, count: int) -> list[int]:
        """Return `count` new ids. SQLite has one writer, so the largest id can be incremented."""
        if not count:
            return []
        if connection.dialect.name == "sqlite":
            largest = connection.execute(self._largest).scalar() or 0
            return list(range(largest + 1, largest + 1 + count))
        return list(connection.execute(self._next, {"count": count}).scalars())


def _as_sqlalchemy(connection: Connection, sql: str, error: Any) -> Any:
    """Return the error that SQLAlchemy raises for one of the driver."""
    dialect = connection.dialect
    errors: Any = dialect.loaded_dbapi
    raw: Any = connection.connection.dbapi_connection
    return DBAPIError.instance(
        sql,
        None,
        error,
        errors.Error,
        hide_parameters=True,
        connection_invalidated=dialect.is_disconnect(error, raw, None),
        dialect=dialect,
    )
