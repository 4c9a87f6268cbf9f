"""Many rows at once, as each database takes them fastest."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, Table, insert, text
from sqlalchemy.dialects import postgresql


class ManyRows:
    """An INSERT of many rows into the named columns of a table.

    PostgreSQL gets one statement with an array for each column: its driver would send a
    message for each row.
    """

    def __init__(self, table: Table, names: Sequence[str]) -> None:
        self._names = names
        self._rows = insert(table)
        dialect = postgresql.dialect()  # type: ignore[no-untyped-call]
        arrays = [f"CAST(:{n} AS {table.c[n].type.compile(dialect)}[])" for n in names]
        self._arrays = text(
            f"INSERT INTO {table.name} ({', '.join(names)}) "  # noqa: S608 - our own names
            f"SELECT * FROM unnest({', '.join(arrays)})"
        )

    def write(self, connection: Connection, rows: list[dict[str, Any]]) -> None:
        """Writes the rows, if there are any."""
        if not rows:
            return
        if connection.dialect.name == "postgresql":
            columns = {name: [row[name] for row in rows] for name in self._names}
            connection.execute(self._arrays, columns)
        else:
            connection.execute(self._rows, rows)
