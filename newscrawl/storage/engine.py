"""The differences between SQLite and PostgreSQL: URLs, engines, error messages, waits for an SQLite
database that another program has locked, and the fastest INSERTs of many rows.

A crawl that ended because of a lock would lose the pages that it is fetching, and a backup or a
long write of another program ends within minutes.

The statements that store articles are compiled once (`Statement`). PostgreSQL gets many new rows by
COPY, or, if they may exist already, as one statement with an array for each column: its driver
would send a message for each row. SQLAlchemy executes all other statements; a list of values is one
parameter of them (`one_of`).
"""

import logging
import os
import random
import re
import sqlite3
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from operator import itemgetter
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, Self

from sqlalchemy import (
    JSON,
    URL,
    Boolean,
    ColumnElement,
    Connection,
    Dialect,
    Engine,
    Executable,
    FunctionElement,
    Integer,
    NullPool,
    StaticPool,
    TableClause,
    bindparam,
    create_engine,
    event,
    func,
    make_url,
    select,
)
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import ArgumentError, DBAPIError, IntegrityError
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.types import TypeEngine

from newscrawl.config import has_plain_host
from newscrawl.storage import StorageError

# Seconds that SQLite waits for another writer in one attempt, which can't be interrupted
# (`LockWait` below repeats attempts), and PostgreSQL for a connection; `?timeout=`, if it is less,
# and `?connect_timeout=` in the URL override them.
SQLITE_ATTEMPT = 1.0
# Ours, in KiB and pages of 4 KiB: with 2 MiB and 1,000 pages, SQLite's own, a batch of articles
# into a million of them is half as fast (make bench-query).
SQLITE_CACHE = 65_536
SQLITE_WAL_PAGES = 10_000
POSTGRES_CONNECT_TIMEOUT = 10

_SQLITE_EXAMPLE = "sqlite:///newscrawl.sqlite"
_EXAMPLES = f"{_SQLITE_EXAMPLE} or postgresql://user:password@host/name"
_ESCAPES = "In user and password, @ : / ? # and blanks are written as %40 %3A %2F %3F %23 %20"
_POSTGRES = {"postgres", "postgresql", "postgresql+psycopg"}
SQLITE = {"sqlite", "sqlite+pysqlite"}
# PostgreSQL's codes: serialization failure, deadlock, lock not available, too many
# connections, server shutting down or starting up. Class 08 are broken connections.
_PASSING_STATES = {"40001", "40P01", "55P03", "53300", "57P01", "57P02", "57P03"}
_UNIQUE_VIOLATION = "23505"
# Messages of libpq, which have no code, about a server that is restarting.
_COMES_BACK = re.compile(
    "Connection refused|No such file or directory|starting up|shutting down|"
    "not currently accepting connections|closed the connection unexpectedly"
)
# libpq's addition to "connection refused", for which our message names our setting.
_DRIVER_ADVICE = re.compile(r"\s*Is the server running .*?\?", re.DOTALL)


def parse_url(text: str) -> URL:
    """Return the URL with its driver; raise StorageError unless it is of SQLite or PostgreSQL.

    The message shows nothing of an invalid URL: any part of it may be one of the password. It is
    raised without its cause, which quotes a part.
    """
    try:
        url = make_url(text)
    except (ArgumentError, ValueError):
        raise StorageError(f"not a database URL: write it as {_EXAMPLES}. {_ESCAPES}") from None
    if url.drivername in SQLITE:
        if url.host or url.username:
            raise StorageError(
                f"not a database URL: one of SQLite has no host, as in {_SQLITE_EXAMPLE}"
            )
        return url
    if url.drivername not in _POSTGRES:
        raise StorageError(
            f"no support for the database {url.drivername!r}: SQLite and PostgreSQL are. "
            f"Write the URL as {_EXAMPLES}"
        )
    if not has_plain_host(text):
        raise StorageError(
            f"the database URL doesn't show where its password ends: write it as {_EXAMPLES}. "
            f"{_ESCAPES}"
        )
    return url.set(drivername="postgresql+psycopg")


def display_name(url: URL) -> str:
    """Return the name of the database in messages: the file, or the URL without its password."""
    if url.drivername in SQLITE:
        return url.database or "memory"
    return url.set(drivername="postgresql", query={}).render_as_string(hide_password=True)


def sqlite_file(url: URL) -> Path | None:
    """Return the file of an SQLite URL; None for PostgreSQL and for a database in memory."""
    if url.drivername not in SQLITE or url.database in {None, "", ":memory:"}:
        return None
    return Path(str(url.database))


def make_engine(url: URL, cache: int = SQLITE_CACHE) -> Engine:
    """Return an engine that does not connect yet; raise StorageError if the driver is missing."""
    if url.drivername in SQLITE:
        connecting: dict[str, Any] = {"timeout": min(SQLITE_ATTEMPT, longest_wait(url))}
        if sqlite_file(url) is None:
            # One connection for all threads: each further one would open an empty database.
            connecting |= {"check_same_thread": False}
            engine = create_engine(url, connect_args=connecting, poolclass=StaticPool)
        else:
            engine = create_engine(url, connect_args=connecting)
        event.listen(engine, "connect", partial(_prepare_sqlite, cache))
        event.listen(engine, "begin", _begin_sqlite)
        return engine
    arguments = (
        {} if "connect_timeout" in url.query else {"connect_timeout": POSTGRES_CONNECT_TIMEOUT}
    )
    try:
        engine = create_engine(url, connect_args=arguments, pool_pre_ping=True)
    except ModuleNotFoundError as error:
        raise StorageError(
            "PostgreSQL needs a driver that is not installed: pip install 'newscrawl[postgres]'"
        ) from error

    # First, as SQLAlchemy reads texts when it connects, which the driver does not decode then.
    @event.listens_for(engine, "connect", insert=True)
    def prepare(connection: Any, _record: object) -> None:
        encoding = connection.info.parameter_status("server_encoding")
        if encoding != "UTF8":
            raise StorageError(
                f"the database {display_name(url)} has the encoding {encoding}, which can't hold "
                "every text: make one by CREATE DATABASE name ENCODING 'UTF8' TEMPLATE template0"
            )
        # Compiling a query to machine code takes longer than executing it.
        connection.execute("SET jit = off")
        connection.execute(_MEMORY)
        connection.commit()

    return engine


# Ours: the least memory for a sort or a hash, 16 MB. PostgreSQL's default, 4 MB, is too small for
# the sources of a thousand companies, which would go through files.
_MEMORY: Final = (
    "SELECT set_config('work_mem', greatest(16384, "
    "pg_size_bytes(current_setting('work_mem')) / 1024) || 'kB', false)"
)


def make_reading_engine(url: URL, file: Path, cache: int = SQLITE_CACHE) -> Engine:
    """Return an engine for an SQLite file without write access to it or to its folder. Each session
    opens it anew, since another program may have written to it."""
    timeout = min(SQLITE_ATTEMPT, longest_wait(url))
    engine = create_engine(
        "sqlite://", creator=partial(_opened_for_reading, file, timeout), poolclass=NullPool
    )
    event.listen(engine, "connect", partial(_prepare_sqlite, cache, writes=False))
    event.listen(engine, "begin", _begin_sqlite)
    return engine


def may_write(file: Path) -> bool:
    """Return whether an SQLite file, and SQLite's additional files, can be written to."""
    return os.access(file, os.W_OK) and os.access(file.absolute().parent, os.W_OK)


def _opened_for_reading(file: Path, timeout: float) -> sqlite3.Connection:
    """Return a connection for reading: a usual one if possible, else to a file without a writer,
    for which SQLite needs no other files (sqlite.org/wal.html, Read-Only Databases)."""
    try:
        return _open_file(file, "mode=ro", timeout)
    except sqlite3.OperationalError:
        journal = Path(f"{file}-wal")
        if journal.exists() and journal.stat().st_size:
            raise StorageError(
                f"can't read the database {file}: its last changes are in {journal.name}, which "
                "can't be read without the right to write to its folder; copy both files to "
                "a folder of your own"
            ) from None
    return _open_file(file, "mode=ro&immutable=1", timeout)


def _open_file(file: Path, mode: str, timeout: float) -> sqlite3.Connection:
    uri = f"{file.absolute().as_uri()}?{mode}"
    connection = sqlite3.connect(uri, uri=True, timeout=timeout, check_same_thread=False)
    try:
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def _prepare_sqlite(
    cache: int, connection: sqlite3.Connection, _record: object, *, writes: bool = True
) -> None:
    # The module's own BEGIN is too late, and missing before DDL: _begin_sqlite sends it.
    connection.isolation_level = None
    connection.execute(f"PRAGMA cache_size = -{cache}")
    if not writes:
        return
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.execute("PRAGMA foreign_keys = ON")
    # What is deleted is overwritten at once, as Debian's SQLite does by default.
    connection.execute("PRAGMA secure_delete = ON")
    connection.execute(f"PRAGMA wal_autocheckpoint = {SQLITE_WAL_PAGES}")


def _begin_sqlite(connection: Connection) -> None:
    # A writer takes its lock at once: otherwise one that first reads fails with
    # SQLITE_BUSY_SNAPSHOT instead of waiting for another writer.
    writes = connection.get_execution_options().get("writes", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def longest_wait(url: URL) -> float:
    """Return the maximum seconds to wait for a locked SQLite database; raise StorageError for an
    invalid number."""
    value = url.query.get("timeout", str(MAX_WAIT))
    try:
        return max(0.0, float(str(value)))
    except ValueError as error:
        raise StorageError(
            f"not a number of seconds in the database URL: timeout={value}"
        ) from error


def is_locked(error: DBAPIError) -> bool:
    """Return whether another program has locked the SQLite database."""
    code = getattr(error.orig, "sqlite_errorcode", None)
    return code is not None and code & 0xFF in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}


def is_transient(error: DBAPIError) -> bool:
    """Return whether a retry of the same transaction may succeed."""
    code = getattr(error.orig, "sqlite_errorcode", None)
    if code is not None:
        unique = {sqlite3.SQLITE_CONSTRAINT_UNIQUE, sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY}
        return code & 0xFF in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED} or code in unique
    state = getattr(error.orig, "sqlstate", None) or ""
    return (
        error.connection_invalidated
        or bool(not state and _COMES_BACK.search(str(error.orig)))
        or state in _PASSING_STATES
        or state.startswith("08")
        or state == _UNIQUE_VIOLATION
    )


def as_storage_error(error: DBAPIError, url: URL) -> StorageError:
    """Return the error as one line that names the database and says what to do."""
    cause = " ".join(_DRIVER_ADVICE.sub("", str(error.orig)).split()) or type(error.orig).__name__
    where = display_name(url)
    if url.drivername in SQLITE:
        return StorageError(_sqlite_advice(cause, url))
    if isinstance(error, IntegrityError) or getattr(error.orig, "sqlstate", None):
        return StorageError(f"the database {where} refused: {cause}")
    for password in filter(None, (url.password, url.query.get("password"))):
        cause = cause.replace(str(password), "***")
    return StorageError(
        f"can't reach the database {where}: {cause}. Is the server up, and are the address, user "
        "and password in NEWSCRAWL_DATABASE_URL right?"
    )


def locked_message(url: URL) -> str:
    """Return the message for an SQLite database that stays locked."""
    return (
        f"the database {display_name(url)} is still locked by another process: "
        "end the other writer, or use PostgreSQL when several write at once"
    )


def _sqlite_advice(cause: str, url: URL) -> str:
    where = display_name(url)
    if "locked" in cause:
        return locked_message(url)
    if "unable to open" in cause:
        return (
            f"can't open the database {where}: does its folder exist, and may you write there? "
            "NEWSCRAWL_DATABASE_URL names the file"
        )
    if "not a database" in cause or "image is malformed" in cause:
        return (
            f"{where} is not an SQLite database, or a damaged one: name another file in "
            "NEWSCRAWL_DATABASE_URL or restore a backup"
        )
    if "readonly" in cause or "disk is full" in cause:
        return f"can't write to the database {where}: {cause}"
    return f"the database {where} refused: {cause}"


logger = logging.getLogger(__name__)

# Ours, in seconds: the maximum wait (`?timeout=` in the database's URL overrides it), and that of
# interactive work.
MAX_WAIT: Final = 600.0
MAX_INTERACTIVE_WAIT: Final = 20.0
# Ours: seconds after which the wait is logged, and seconds between two log lines.
FIRST_WARNING_AFTER: Final = 5.0
WARNING_INTERVAL: Final = 60.0
# Ours: maximum seconds of all further waits when the process is closing.
CLOSING_WAIT: Final = 3.0
# Ours: seconds between two attempts; SQLite itself waits within each (SQLITE_ATTEMPT).
_PAUSE: Final = (0.05, 0.15)


class LockWait:
    """The waits for one database. `is_closing` returns whether the process is closing; the opener
    of the database may set it."""

    def __init__(self, name: str, longest: float = MAX_WAIT) -> None:
        self.longest = longest
        self.is_closing: Callable[[], bool] = lambda: False
        self._name = name
        self._closing_since: float | None = None
        self._logged_at = float("-inf")
        self._locked = False

    @property
    def is_spent(self) -> bool:
        """Return whether no further attempt is allowed: the database was locked, and the process is
        closing."""
        now = time.monotonic()
        return self._locked and self.is_closing() and now - self._closing_began(now) > CLOSING_WAIT

    def record_success(self) -> None:
        """Record that the database is not locked."""
        self._locked = False

    def wait_again(self, since: float, longest: float | None = None) -> bool:
        """Pause and return True if work that has waited since a moment (time.monotonic) may be
        retried; return False after the maximum wait, which is `longest` if that is less."""
        self._locked = True
        now = time.monotonic()
        if self.is_closing() and now - self._closing_began(now) > CLOSING_WAIT:
            return False
        waited = now - since
        if waited > min(self.longest, self.longest if longest is None else longest):
            return False
        if waited > FIRST_WARNING_AFTER and now - self._logged_at > WARNING_INTERVAL:
            self._logged_at = now
            logger.warning(
                "the database %s is locked by another program: waiting, for %d minutes at most",
                self._name,
                max(1, round(self.longest / 60)),
            )
        time.sleep(random.uniform(*_PAUSE))  # noqa: S311 - spreads the writers
        return True

    def _closing_began(self, now: float) -> float:
        if self._closing_since is None:
            self._closing_since = now
        return self._closing_since


class _OneOf(FunctionElement[bool]):
    type = Boolean()
    inherit_cache = True

    def self_group(self, against: Any = None) -> Self:  # noqa: ARG002 - SQLAlchemy calls it so
        """Return the condition unchanged: SQLAlchemy would compare it with 1 on SQLite, which would
        then use no index."""
        return self


def one_of(column: Any, name: str) -> ColumnElement[bool]:
    """Return the condition that the column has one of the values of a parameter, a list.

    It is one parameter for any number of values. Those of an IN would be written into the statement
    at each execution, by SQLAlchemy and again by the driver of PostgreSQL.
    """
    values = postgresql.ARRAY(column.type).with_variant(JSON(), "sqlite")
    return _OneOf(column, bindparam(name, type_=values))


@compiles(_OneOf, "sqlite")
def _in_json(element: _OneOf, compiler: SQLCompiler, **options: Any) -> str:
    column, values = (compiler.process(part, **options) for part in element.clauses)
    return f"{column} IN (SELECT value FROM json_each({values}))"  # noqa: S608 - SQLAlchemy's own


@compiles(_OneOf, "postgresql")
def _in_array(element: _OneOf, compiler: SQLCompiler, **options: Any) -> str:
    column, values = (compiler.process(part, **options) for part in element.clauses)
    return f"{column} = ANY({values})"


Values = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class _Compiled:
    """A statement for one database. `pick` returns values as the driver takes them, by position or
    name, and is None if they already are; the conversions for some types are by these, too."""

    sql: str
    fixed: Values
    pick: Callable[[Any], Any] | None
    copy: Callable[[Any], Any]
    processors: Sequence[tuple[Any, Callable[[Any], Any]]]

    def parameters(self, values: Any) -> Any:
        """Return the values as the driver takes them."""
        if self.fixed:
            values = {**self.fixed, **values}
        row = self.pick(values) if self.pick else values
        if self.processors:
            row = self.copy(row)
            for place, process in self.processors:
                row[place] = process(row[place])
        return row

    def all_parameters(self, rows: Sequence[Any]) -> Iterable[Any]:
        """Return the parameters of each row; the driver reads them one at a time."""
        as_they_are = not (self.fixed or self.pick or self.processors)
        return rows if as_they_are else map(self.parameters, rows)


def _picker(
    names: Sequence[str] | None, order: Sequence[str] | None
) -> Callable[[Any], Any] | None:
    """Return a function that returns values as the driver takes them: in the order of the names
    `taken`, or by name if there is none. They are in the order of `given`, or by name."""
    if names is None:
        return None if order is None else _items(order)
    if order is None:
        return lambda row: dict(zip(names, row, strict=True))
    return None if list(names) == list(order) else _items([names.index(name) for name in order])


def _items(keys: Sequence[Any]) -> Callable[[Any], Sequence[Any]]:
    """Return a function that returns the values of these keys, in their order."""
    if len(keys) > 1:
        return itemgetter(*keys)
    return lambda values: [values[key] for key in keys]


class Statement:
    """A statement that is compiled once for each database, and executed by its driver.

    SQLAlchemy takes longer to execute one than SQLite, and a batch of one article has two dozen.
    `names` are the columns of an INSERT, which takes its values in their order; other statements
    take them by name. Rows are as the driver returns them: a time in SQLite is a text.
    """

    def __init__(
        self, statement: Executable | Mapping[str, Executable], names: Sequence[str] | None = None
    ) -> None:
        self._statement = statement
        self._names = names
        self._compiled: dict[str, _Compiled] = {}

    def rows(self, connection: Connection, values: Values = MappingProxyType({})) -> list[Any]:
        """Return the rows of a query, as tuples."""
        compiled = self._compile(connection.dialect)
        with _DriverCursor(connection, compiled.sql) as cursor:
            cursor.execute(compiled.sql, compiled.parameters(values))
            return list(cursor.fetchall())

    def run(self, connection: Connection, rows: Sequence[Values | Sequence[Any]]) -> None:
        """Execute the statement with each of the rows."""
        compiled = self._compile(connection.dialect)
        with _DriverCursor(connection, compiled.sql) as cursor:
            if len(rows) == 1:
                cursor.execute(compiled.sql, compiled.parameters(rows[0]))
            else:
                cursor.executemany(compiled.sql, compiled.all_parameters(rows))

    def _compile(self, dialect: Dialect) -> _Compiled:
        if (present := self._compiled.get(dialect.name)) is not None:
            return present
        statement: Any = self._statement
        if isinstance(statement, Mapping):
            statement = statement[dialect.name]
        compiled = statement.compile(dialect=dialect, column_keys=self._names)
        fixed = {name: bind.value for name, bind in compiled.binds.items() if not bind.required}
        processors = {name: processor(bind.type, dialect) for name, bind in compiled.binds.items()}
        order = compiled.positiontup if compiled.positional else None
        places: Iterable[tuple[Any, str]] = (
            zip(compiled.binds, compiled.binds, strict=True) if order is None else enumerate(order)
        )
        self._compiled[dialect.name] = _Compiled(
            sql=str(compiled),
            fixed=fixed,
            pick=_picker(self._names, order),
            copy=dict if order is None else list,
            processors=[
                (place, process) for place, name in places if (process := processors[name])
            ],
        )
        return self._compiled[dialect.name]


def processor(kind: TypeEngine[Any], dialect: Dialect) -> Callable[[Any], Any] | None:
    """Return the conversion of a type's values for the driver; None if it needs none."""
    impl = kind.dialect_impl(dialect)
    if isinstance(impl, postgresql.ARRAY) and isinstance(impl.item_type, Integer):
        # PostgreSQL's notation, in a third of the time that the driver takes.
        return lambda values: f"{{{','.join('NULL' if v is None else str(v) for v in values)}}}"
    return impl.bind_processor(dialect)


# Ours: the number of rows above which PostgreSQL gets a COPY instead of single INSERTs.
_FEW: Final = 16


class BulkInsert:
    """An INSERT of many rows into the named columns of a table or model, by default into all but a
    numbered `id`: tuples in the order of the names.

    `conflict` is the SQL for rows that exist already, in the dialect of both databases.
    """

    def __init__(
        self,
        of: Any,
        names: Sequence[str] = (),
        conflict: Callable[[Any], Any] | None = None,
    ) -> None:
        table: TableClause = getattr(of, "__table__", of)
        names = names or [column.key for column in table.c if column.key != "id"]
        resolve: Callable[[Any], Any] = conflict or (lambda statement: statement)
        self._columns = [table.c[name] for name in names]
        self._names = names
        columns = ", ".join(column.name for column in self._columns)
        self._copy = None if conflict else f"COPY {table.name} ({columns}) FROM STDIN"
        # Inline: without RETURNING, which would fetch each row's id.
        inserts = {"sqlite": sqlite.insert(table), "postgresql": postgresql.insert(table)}
        self._rows = Statement(
            {name: resolve(insert).inline() for name, insert in inserts.items()}, names
        )
        parameters = (bindparam(c.key, type_=postgresql.ARRAY(c.type)) for c in self._columns)
        arrays = func.unnest(*parameters).table_valued(*names).render_derived()
        chosen = select(*(arrays.c[name] for name in names))
        self._arrays = Statement(resolve(postgresql.insert(table).from_select(names, chosen)))

    def write(self, connection: Connection, rows: Sequence[Sequence[Any]]) -> None:
        """Insert the rows, if there are any."""
        if not rows:
            return
        if connection.dialect.name == "sqlite" or len(rows) <= _FEW:
            self._rows.run(connection, rows)
        elif self._copy:
            columns: list[Iterable[Any]] = []
            for column, values in zip(self._columns, zip(*rows, strict=True), strict=True):
                process = processor(column.type, connection.dialect)
                columns.append(map(process, values) if process else values)
            with _DriverCursor(connection, self._copy) as cursor, cursor.copy(self._copy) as copy:
                for row in zip(*columns, strict=True):
                    copy.write_row(row)
        else:
            arrays = map(list, zip(*rows, strict=True))
            self._arrays.run(connection, [dict(zip(self._names, arrays, strict=True))])


class RowIds:
    """New ids for rows of a table. SQLite has one writer, so the largest id can be incremented."""

    def __init__(self, of: Any) -> None:
        table: TableClause = of.__table__
        counted = func.generate_series(1, bindparam("count", type_=Integer()))
        sequence = func.pg_get_serial_sequence(table.name, "id")
        numbers = counted.table_valued("number")
        self._next = Statement(
            {
                "sqlite": select(func.coalesce(func.max(table.c.id), 0)),
                "postgresql": select(func.nextval(sequence)).select_from(numbers),
            }
        )

    def take(self, connection: Connection, count: int) -> list[int]:
        """Return `count` new ids."""
        if not count:
            return []
        rows = self._next.rows(connection, {"count": count})
        if connection.dialect.name == "sqlite":
            return list(range(rows[0][0] + 1, rows[0][0] + 1 + count))
        return [number for (number,) in rows]


class _DriverCursor:
    """A context with a cursor of the driver, in the connection's transaction, whose errors are
    raised as SQLAlchemy's. Not a generator, which takes as long as a short query in SQLite."""

    __slots__ = ("_connection", "_cursor", "_sql")

    def __init__(self, connection: Connection, sql: str) -> None:
        self._connection = connection
        self._sql = sql

    def __enter__(self) -> Any:
        if not self._connection.in_transaction():
            self._connection.begin()
        self._cursor: Any = self._connection.connection.cursor()
        return self._cursor

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        self._cursor.close()
        if isinstance(error, self._connection.dialect.loaded_dbapi.Error):
            dialect = self._connection.dialect
            errors: Any = dialect.loaded_dbapi
            raw: Any = self._connection.connection.dbapi_connection
            raise DBAPIError.instance(
                self._sql,
                None,
                error,
                errors.Error,
                hide_parameters=True,
                connection_invalidated=dialect.is_disconnect(error, raw, None),
                dialect=dialect,
            ) from error
