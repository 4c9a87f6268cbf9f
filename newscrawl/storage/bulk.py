"""Many rows at once, as each database takes them fastest."""

from collections.abc import Callable, Iterable, Sequence
from operator import itemgetter
from typing import Any, Final, TypeVar

from sqlalchemy import Connection, Integer, TableClause, bindparam, func, select
from sqlalchemy.dialects import postgresql, sqlite

from newscrawl.storage.prepared import Prepared, Values, driver_errors, processor

# Ours: fewer rows go to PostgreSQL one by one; for more it is worth to begin a COPY.
_FEW: Final = 16

Thing = TypeVar("Thing")


class ManyRows:
    """An INSERT of many rows into the named columns of a table.

    `conflict` adds to the statement what becomes of rows that are there already; both databases say
    it in one way. PostgreSQL gets many rows by COPY, or where they may be there already as one
    statement with an array for each column: its driver would send a message for each row.
    """

    def __init__(
        self, table: TableClause, names: Sequence[str], conflict: Callable[[Any], Any] | None = None
    ) -> None:
        resolved: Callable[[Any], Any] = conflict or (lambda statement: statement)
        self._columns = [table.c[name] for name in names]
        self._copy = None if conflict else f"COPY {table.name} ({', '.join(names)}) FROM STDIN"
        said_by = {"sqlite": sqlite, "postgresql": postgresql}
        self._rows = Prepared(
            {name: resolved(said.insert(table)).inline() for name, said in said_by.items()}, names
        )
        given = (bindparam(c.name, type_=postgresql.ARRAY(c.type)) for c in self._columns)
        arrays = func.unnest(*given).table_valued(*names).render_derived()
        chosen = select(*(arrays.c[name] for name in names))
        self._arrays = Prepared(resolved(postgresql.insert(table).from_select(names, chosen)))
        self._names = names

    def write(self, connection: Connection, rows: Sequence[Values]) -> None:
        """Writes the rows, if there are any."""
        self.write_made(connection, rows, _as_it_is)

    def write_made(
        self, connection: Connection, things: Sequence[Thing], row_of: Callable[[Thing], Values]
    ) -> None:
        """Writes each thing's row; PostgreSQL works on the first ones while others are made."""
        if not things:
            return
        rows = map(row_of, things)
        if len(things) == 1:
            self._rows.run(connection, next(rows))
        elif connection.dialect.name == "sqlite" or len(things) <= _FEW:
            self._rows.run_all(connection, rows)
        elif self._copy:
            self._write_copy(connection, self._copy, rows)
        else:
            made = list(rows)
            columns = {name: [row[name] for row in made] for name in self._names}
            self._arrays.run(connection, columns)

    def _write_copy(self, connection: Connection, sql: str, rows: Iterable[Values]) -> None:
        values_of = itemgetter(*self._names)
        found = [processor(column.type, connection.dialect) for column in self._columns]
        converted = [(place, process) for place, process in enumerate(found) if process]
        cursor: Any = connection.connection.cursor()
        with driver_errors(connection, sql), cursor.copy(sql) as copy:
            for row in rows:
                values = list(values_of(row))
                for place, process in converted:
                    values[place] = process(values[place])
                copy.write_row(values)


def _as_it_is(row: Values) -> Values:
    return row


class Numbers:
    """Numbers for new rows of a table, by its column `id`."""

    def __init__(self, table: TableClause) -> None:
        self._largest = Prepared(select(func.max(table.c.id)))
        sequence = func.pg_get_serial_sequence(table.name, "id")
        rows = func.generate_series(1, bindparam("count", type_=Integer())).table_valued("number")
        self._next = Prepared(select(func.nextval(sequence)).select_from(rows))

    def take(self, connection: Connection, count: int) -> list[int]:
        """So many numbers. SQLite has one writer, which may count on from the largest."""
        if not count:
            return []
        if connection.dialect.name == "sqlite":
            ((largest,),) = self._largest.rows(connection, {})
            return list(range((largest or 0) + 1, (largest or 0) + 1 + count))
        return [number for (number,) in self._next.rows(connection, {"count": count})]
