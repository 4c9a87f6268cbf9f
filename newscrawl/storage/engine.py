"""The differences between SQLite and PostgreSQL: URLs, engines, error messages, waits for an SQLite
database that another program has locked, and the fastest INSERTs of many rows.

A crawl that ended because of a lock would lose the pages that it is fetching, and a backup or a
long write of another program ends within minutes.

Many new rows go to the driver by a statement that is compiled once (`BulkInsert`). SQLAlchemy
executes all other statements; a list of values is one parameter of them (`one_of`).
"""

import logging
import os
import random
import re
import sqlite3
import time
from collections.abc import Callable, Sequence
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


# The conversions of columns for a driver; None for a column that needs none.
_Processors = dict[str, Callable[[Any], Any] | None]


class BulkInsert:
    """An INSERT of many rows into the named columns of a table or model, by default into all but a
    numbered `id`: tuples in the order of the names.

    `conflict` is the SQL for rows that exist already, in the dialect of both databases. The
    statement is compiled once, and the driver gets all values: SQLAlchemy takes longer to prepare a
    row than SQLite to insert it. PostgreSQL gets an array for each column, in one message.
    """

    def __init__(
        self, of: Any, names: Sequence[str] = (), conflict: Callable[[Any], Any] | None = None
    ) -> None:
        self._table: TableClause = getattr(of, "__table__", of)
        self._names = names or [column.key for column in self._table.c if column.key != "id"]
        self._conflict = conflict or (lambda statement: statement)
        self._compiled: dict[str, tuple[str, _Processors]] = {}

    def write(self, connection: Connection, rows: Sequence[Sequence[Any]]) -> None:
        """Insert the rows, if there are any."""
        if not rows:
            return
        dialect = connection.dialect
        if dialect.name not in self._compiled:
            self._compiled[dialect.name] = self._compile(dialect)
        sql, processors = self._compiled[dialect.name]
        values = dict(zip(self._names, zip(*rows, strict=True), strict=True))
        columns: dict[str, Any] = {
            name: map(process, values[name]) if process else values[name]
            for name, process in processors.items()
        }
        if dialect.name == "sqlite":
            connection.exec_driver_sql(sql, list(zip(*columns.values(), strict=True)))
        else:
            for name, column in columns.items():
                if isinstance(self._table.c[name].type, Integer):
                    # PostgreSQL's notation, in a third of the time that the driver takes.
                    written = ("NULL" if number is None else str(number) for number in column)
                    columns[name] = f"{{{','.join(written)}}}"
                else:
                    columns[name] = [*column]
            connection.exec_driver_sql(sql, columns)

    def _compile(self, dialect: Dialect) -> tuple[str, _Processors]:
        """Return the SQL, and the conversions of its columns in their order there."""
        table, names = self._table, self._names
        if dialect.name == "sqlite":
            statement: Any = sqlite.insert(table)
        else:
            arrays = (bindparam(name, type_=postgresql.ARRAY(table.c[name].type)) for name in names)
            rows = func.unnest(*arrays).table_valued(*names).render_derived()
            chosen = select(*(rows.c[name] for name in names))
            statement = postgresql.insert(table).from_select(names, chosen)
        # Inline: without RETURNING, which would fetch each row's id.
        compiled = self._conflict(statement).inline().compile(dialect=dialect, column_keys=names)
        processors: _Processors = {
            name: table.c[name].type.dialect_impl(dialect).bind_processor(dialect)
            for name in compiled.positiontup or names
        }
        return str(compiled), processors


def new_ids(connection: Connection, of: Any, count: int) -> list[int]:
    """Return new ids for rows of a model. SQLite has one writer, so the largest id can be
    incremented."""
    table: TableClause = of.__table__
    if connection.dialect.name == "sqlite":
        last = connection.scalar(select(func.max(table.c.id))) or 0
        return list(range(last + 1, last + 1 + count))
    each = func.generate_series(1, count).table_valued("number")
    number = func.nextval(func.pg_get_serial_sequence(table.name, "id"))
    return list(connection.scalars(select(number).select_from(each)))
