"""What differs between SQLite and PostgreSQL: URLs, engines, error messages, waits for an SQLite
database that another program has locked, and the fastest INSERTs of many rows.

A crawl that ended because of a lock would lose the pages that it is fetching, and a backup or a
long write of another program ends within minutes.

For an INSERT, SQLite gets one statement with many rows of parameters, as tuples: SQLAlchemy would
prepare each row by itself. PostgreSQL gets many rows by COPY, or, if they may exist already, one
statement with an array for each column: its driver would send a message for each row. All other
statements are SQLAlchemy's; a list of values is one parameter of them (`one_of`).
"""

import logging
import os
import random
import re
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Final, Self

from sqlalchemy import (
    JSON,
    URL,
    Boolean,
    ColumnElement,
    Connection,
    Dialect,
    Engine,
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

from newscrawl.storage.errors import StorageError

# Seconds that SQLite waits for another writer in one attempt, which can't be interrupted
# (`LockWait` below repeats attempts), and PostgreSQL for a connection; `?timeout=`, if it is less,
# and `?connect_timeout=` in the URL override them.
SQLITE_ATTEMPT = 1.0
# Ours, in KiB and pages of 4 KiB: with 2 MiB and 1,000 pages, SQLite's own, a batch of articles
# into a million of them is half as fast (make bench-query).
SQLITE_CACHE = 65_536
SQLITE_WAL_PAGES = 10_000
POSTGRES_CONNECT_TIMEOUT = 10

_EXAMPLES = "sqlite:///newscrawl.sqlite or postgresql://user:password@host/name"
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
# libpq's addition to "connection refused"; our message says it once, with our setting's name.
_DRIVER_ADVICE = re.compile(r"\s*Is the server running .*?\?", re.DOTALL)


def parse_url(text: str) -> URL:
    """Return the URL with its driver; raise StorageError unless it is of SQLite or PostgreSQL."""
    try:
        url = make_url(text)
    except (ArgumentError, ValueError) as error:
        raise StorageError(
            f"not a database URL: {mask(text)!r}. Write it as {_EXAMPLES}"
        ) from error
    if url.drivername in SQLITE:
        return url
    if url.drivername in _POSTGRES:
        return url.set(drivername="postgresql+psycopg")
    raise StorageError(
        f"no support for the database {url.drivername!r}: SQLite and PostgreSQL are. "
        f"Write the URL as {_EXAMPLES}"
    )


def mask(text: str) -> str:
    """Return the URL for messages: *** in place of user and password, even if the URL is
    invalid."""
    return re.sub(r"(?<=://)[^/]*@|(?<=://).*@", "***@", text)


def shown(url: URL) -> str:
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
        return _sqlite_engine(url, cache)
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
    event.listen(engine, "connect", partial(_check_encoding, shown(url)), insert=True)
    return engine


def _check_encoding(name: str, connection: Any, _record: object) -> None:
    encoding = connection.info.parameter_status("server_encoding")
    if encoding != "UTF8":
        raise StorageError(
            f"the database {name} has the encoding {encoding}, which can't hold every text: make "
            "one by CREATE DATABASE name ENCODING 'UTF8' TEMPLATE template0"
        )


def _sqlite_engine(url: URL, cache: int) -> Engine:
    arguments: dict[str, Any] = {"timeout": min(SQLITE_ATTEMPT, longest_wait(url))}
    if sqlite_file(url) is None:
        # One connection for all threads: each further one would open an empty database.
        arguments["check_same_thread"] = False
        engine = create_engine(url, connect_args=arguments, poolclass=StaticPool)
    else:
        engine = create_engine(url, connect_args=arguments)
    event.listen(engine, "connect", partial(_prepare_sqlite, cache))
    event.listen(engine, "begin", _begin_sqlite)
    return engine


def make_reading_engine(url: URL, file: Path, cache: int = SQLITE_CACHE) -> Engine:
    """Return an engine for an SQLite file that can't be written to, or in whose folder SQLite can't
    write. Each session opens it anew, since another program may have written to it."""
    timeout = min(SQLITE_ATTEMPT, longest_wait(url))
    engine = create_engine(
        "sqlite://", creator=partial(_opened_for_reading, file, timeout), poolclass=NullPool
    )
    event.listen(engine, "connect", partial(_prepare_reading, cache))
    event.listen(engine, "begin", _begin_sqlite)
    return engine


def may_write(file: Path) -> bool:
    """Return whether an SQLite file, and SQLite's files beside it, can be written to."""
    return os.access(file, os.W_OK) and os.access(file.absolute().parent, os.W_OK)


def _opened_for_reading(file: Path, timeout: float) -> sqlite3.Connection:
    """Return a connection for reading: a usual one if possible, or else one to a file without a
    writer, for which SQLite needs no other files (sqlite.org/wal.html, Read-Only Databases)."""
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


def _prepare_reading(cache: int, connection: sqlite3.Connection, _record: object) -> None:
    connection.isolation_level = None
    connection.execute(f"PRAGMA cache_size = -{cache}")


def _prepare_sqlite(cache: int, connection: sqlite3.Connection, _record: object) -> None:
    # The module's own BEGIN comes too late, and never for DDL: _begin_sqlite sends it.
    connection.isolation_level = None
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute(f"PRAGMA cache_size = -{cache}")
    connection.execute(f"PRAGMA wal_autocheckpoint = {SQLITE_WAL_PAGES}")


def _begin_sqlite(connection: Connection) -> None:
    # A writer takes its lock at once: one that reads first and writes later can't wait for another
    # writer (SQLITE_BUSY_SNAPSHOT) and fails.
    writes = connection.get_execution_options().get("writes", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def longest_wait(url: URL) -> float:
    """Return the maximum seconds to wait for a locked SQLite database; raise StorageError for an
    invalid number."""
    given = url.query.get("timeout", str(MAX_WAIT))
    try:
        return max(0.0, float(str(given)))
    except ValueError as error:
        raise StorageError(
            f"not a number of seconds in the database URL: timeout={given}"
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


def named(error: DBAPIError, url: URL) -> StorageError:
    """Return the error as one line that names the database and says what to do."""
    cause = " ".join(_DRIVER_ADVICE.sub("", str(error.orig)).split()) or type(error.orig).__name__
    where = shown(url)
    if url.drivername in SQLITE:
        return StorageError(_sqlite_advice(cause, url))
    if isinstance(error, IntegrityError) or getattr(error.orig, "sqlstate", None):
        return StorageError(f"the database {where} refused: {cause}")
    if url.password:
        cause = cause.replace(str(url.password), "***")
    return StorageError(
        f"can't reach the database {where}: {cause}. Is the server up, and are the address, user "
        "and password in NEWSCRAWL_DATABASE_URL right?"
    )


def locked(url: URL) -> str:
    """Return the message for an SQLite database that stays locked."""
    return (
        f"the database {shown(url)} is still locked by another process: "
        "end the other writer, or use PostgreSQL when several write at once"
    )


def _sqlite_advice(cause: str, url: URL) -> str:
    where = shown(url)
    if "locked" in cause:
        return locked(url)
    if "unable to open" in cause:
        return (
            f"can't open the database {where}: does its folder exist, and may you write there? "
            "NEWSCRAWL_DATABASE_URL names the file"
        )
    if "not a database" in cause or "malformed" in cause:
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


def _never() -> bool:
    return False


class LockWait:
    """The waits for one database. `is_closing` returns whether the process is closing; the opener
    of the database may set it."""

    def __init__(self, name: str, longest: float = MAX_WAIT) -> None:
        self.longest = longest
        self.is_closing: Callable[[], bool] = _never
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
        """Return the condition as it is: SQLAlchemy would compare it with 1 on SQLite, which would
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
        # In the order of the table, as SQLAlchemy writes them.
        self._columns = [column for column in table.c if column.name in names]
        self._names = [column.name for column in self._columns]
        self._copy = (
            None if conflict else f"COPY {table.name} ({', '.join(self._names)}) FROM STDIN"
        )
        # Inline: without RETURNING, which would fetch each row's id.
        self._rows = resolve(postgresql.insert(table)).inline()
        self._sqlite = resolve(sqlite.insert(table)).inline()
        self._sqlite_text: str | None = None
        self._processors: dict[str, list[Callable[[Any], Any] | None]] = {}
        given = (bindparam(c.name, type_=postgresql.ARRAY(c.type)) for c in self._columns)
        arrays = func.unnest(*given).table_valued(*self._names).render_derived()
        chosen = select(*(arrays.c[name] for name in self._names))
        self._arrays = resolve(postgresql.insert(table).from_select(self._names, chosen))

    def write(self, connection: Connection, rows: Sequence[Values]) -> None:
        """Insert the rows, if there are any."""
        if not rows:
            return
        if connection.dialect.name == "sqlite":
            self._write_sqlite(connection, rows)
        elif len(rows) <= _FEW:
            connection.execute(self._rows, rows)
        elif self._copy:
            self._write_copy(connection, self._copy, rows)
        else:
            columns = {name: [row[name] for row in rows] for name in self._names}
            connection.execute(self._arrays, columns)

    def _write_sqlite(self, connection: Connection, rows: Sequence[Values]) -> None:
        if self._sqlite_text is None:
            compiled = self._sqlite.compile(dialect=connection.dialect, column_keys=self._names)
            self._sqlite_text = str(compiled)
        columns = self._converted(connection.dialect, rows)
        # By the driver, which a crawl's batches of one article need a dozen times each.
        with _driver_cursor(connection, self._sqlite_text) as cursor:
            cursor.executemany(self._sqlite_text, zip(*columns, strict=True))

    def _write_copy(self, connection: Connection, sql: str, rows: Sequence[Values]) -> None:
        columns = self._converted(connection.dialect, rows)
        with _driver_cursor(connection, sql) as cursor, cursor.copy(sql) as copy:
            for row in zip(*columns, strict=True):
                copy.write_row(row)

    def _converted(self, dialect: Dialect, rows: Sequence[Values]) -> Iterator[Iterable[Any]]:
        """Yield the values of each column, as the driver takes them."""
        processors = self._processors.get(dialect.name)
        if processors is None:
            types = [column.type.dialect_impl(dialect) for column in self._columns]
            processors = [kind.bind_processor(dialect) for kind in types]
            self._processors[dialect.name] = processors
        for name, process in zip(self._names, processors, strict=True):
            values = [row[name] for row in rows]
            yield map(process, values) if process else values


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


@contextmanager
def _driver_cursor(connection: Connection, sql: str) -> Iterator[Any]:
    """Yield a cursor of the driver in the connection's transaction; raise its errors as
    SQLAlchemy's."""
    if not connection.in_transaction():
        connection.begin()
    cursor: Any = connection.connection.cursor()
    try:
        yield cursor
    except connection.dialect.loaded_dbapi.Error as error:
        raise _as_sqlalchemy(connection, sql, error) from error
    finally:
        cursor.close()


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
