"""Statements of the writes that a crawl and an ingestion wait for: prepared once, not each time.

SQLAlchemy writes a statement for each database and knows how values of each type are stored. To
carry one out costs it as much again as the database. Here it is asked the first time only; from
then on the driver gets the same text, and the values as the database takes them.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any, cast

from sqlalchemy import (
    JSON,
    BindParameter,
    ColumnElement,
    Connection,
    Dialect,
    Executable,
    bindparam,
)
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.types import TypeEngine

Values = Mapping[str, Any]
_Process = Callable[[Any], Any]


class Prepared:
    """A statement, the same for all databases or one for each.

    `names` are the columns that an INSERT fills in. Values are converted as their types want it,
    but what comes back is as the driver gives it: a time in SQLite is a text.
    """

    def __init__(
        self, statement: Executable | Mapping[str, Executable], names: Sequence[str] | None = None
    ) -> None:
        self._statement = statement
        self._names = names
        self._ready: dict[str, _Ready] = {}

    def rows(self, connection: Connection, values: Values) -> list[tuple[Any, ...]]:
        """What a query finds."""
        ready = self._of(connection.dialect)
        cursor = _carried_out(connection, ready.sql, ready.bound(values))
        return list(cursor.fetchall())

    def run(self, connection: Connection, values: Values) -> None:
        """Carries the statement out."""
        ready = self._of(connection.dialect)
        _carried_out(connection, ready.sql, ready.bound(values))

    def run_all(self, connection: Connection, rows: Iterable[Values]) -> None:
        """Carries it out for each of the rows."""
        ready = self._of(connection.dialect)
        _carried_out(connection, ready.sql, list(map(ready.bound, rows)), many=True)

    def _of(self, dialect: Dialect) -> "_Ready":
        ready = self._ready.get(dialect.name)
        if ready is None:
            said: Any = self._statement
            said = said[dialect.name] if isinstance(said, Mapping) else said
            compiled = said.compile(dialect=dialect, column_keys=self._names)
            ready = self._ready[dialect.name] = _ready(cast(SQLCompiler, compiled), dialect)
        return ready


def among(column: Any, name: str) -> ColumnElement[bool]:
    """Whether the column is one of the values of the parameter, a list: in one text of the
    statement however many they are."""
    return _Among(column, name)


def processor(kind: TypeEngine[Any], dialect: Dialect) -> _Process | None:
    """How the driver gets values of a type; None where it takes them as they are."""
    return kind.dialect_impl(dialect).bind_processor(dialect)


class _Among(ColumnElement[bool]):
    inherit_cache = False

    def __init__(self, column: Any, name: str) -> None:
        self.column = column
        kind = ARRAY(column.type).with_variant(JSON(), "sqlite")
        self.values: BindParameter[Any] = bindparam(name, type_=kind)


@compiles(_Among, "sqlite")
def _in_json(element: _Among, compiler: SQLCompiler, **given: Any) -> str:
    column, values = (compiler.process(part, **given) for part in (element.column, element.values))
    return f"{column} IN (SELECT value FROM json_each({values}))"  # noqa: S608 - SQLAlchemy's own


@compiles(_Among, "postgresql")
def _in_array(element: _Among, compiler: SQLCompiler, **given: Any) -> str:
    column, values = (compiler.process(part, **given) for part in (element.column, element.values))
    return f"{column} = ANY({values})"


@dataclass(frozen=True, slots=True)
class _Ready:
    """A statement as a driver takes it; `order` are its parameters where they have no names."""

    sql: str
    fixed: Values
    processors: Mapping[str, _Process]
    order: Callable[[Values], Any] | None

    def bound(self, values: Values) -> Any:
        bound = values
        if self.fixed or self.processors:
            bound = {**self.fixed, **values}
            for name, process in self.processors.items():
                bound[name] = process(bound[name])
        return bound if self.order is None else self.order(bound)


def _ready(compiled: SQLCompiler, dialect: Dialect) -> _Ready:
    found = {name: processor(bind.type, dialect) for name, bind in compiled.binds.items()}
    order: Callable[[Values], Any] | None = None
    if compiled.positional:
        names = compiled.positiontup or []
        order = itemgetter(*names) if len(names) > 1 else lambda bound: [bound[n] for n in names]
    return _Ready(
        str(compiled),
        {name: bind.value for name, bind in compiled.binds.items() if not bind.required},
        {name: process for name, process in found.items() if process is not None},
        order,
    )


def _carried_out(connection: Connection, sql: str, values: Any, *, many: bool = False) -> Any:
    """A cursor that has carried the statement out; errors are those that SQLAlchemy raises."""
    with driver_errors(connection, sql):
        cursor = connection.connection.cursor()
        if many:
            cursor.executemany(sql, values)
        else:
            cursor.execute(sql, values)
        return cursor


class driver_errors:  # noqa: N801 - used as a function; a generator would cost as much as a query
    """Makes errors of the driver those that SQLAlchemy raises for them."""

    __slots__ = ("_connection", "_sql")

    def __init__(self, connection: Connection, sql: str) -> None:
        self._connection = connection
        self._sql = sql

    def __enter__(self) -> None:
        return None

    def __exit__(self, _kind: Any, error: BaseException | None, _trace: Any) -> None:
        dialect = self._connection.dialect
        errors: Any = dialect.loaded_dbapi
        if not isinstance(error, errors.Error):
            return
        raw: Any = self._connection.connection.dbapi_connection
        lost = dialect.is_disconnect(error, raw, None)
        raise DBAPIError.instance(
            self._sql,
            None,
            error,
            errors.Error,
            hide_parameters=True,
            connection_invalidated=lost,
            dialect=dialect,
        ) from error
