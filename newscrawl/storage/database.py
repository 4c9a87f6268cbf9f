"""All writes, one transaction each; `queries` has the reads."""

import random
import sqlite3
import time
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from datetime import UTC, date, datetime
from functools import partial, wraps
from pathlib import Path
from threading import Lock
from typing import Any, Concatenate, Final, Literal, ParamSpec, Self, TypeVar, get_args

from sqlalchemy import (
    JSON,
    URL,
    Connection,
    Engine,
    Table,
    bindparam,
    func,
    insert,
    select,
    text,
    update,
)
from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import Session

from newscrawl.items import Origin, Versions
from newscrawl.storage import StorageError, engine as engines, migrations, models
from newscrawl.storage.engine import MAX_INTERACTIVE_WAIT, MAX_WAIT, LockWait
from newscrawl.storage.models import Base, SavedQuery
from newscrawl.storage.rollups import BY_DAY, rebuild

# "incomplete": the source was read, but articles are missing. "paywalled": only headlines and
# introductions could be read.
CoverageState = Literal[
    "incomplete", "ok", "paywalled", "stale_feed", "blocked_by_robots", "refused", "failed"
]

# A day keeps the first of the states of its crawls: that articles are missing, or else the best.
COVERAGE_STATES: tuple[CoverageState, ...] = get_args(CoverageState)

# Ours: seconds before each retry of a transaction that another one prevented. `engine.LockWait`
# decides how long to wait for a locked SQLite database.
RETRY_PAUSES = (0.05, 0.2, 0.8)
# Ours: answers that are kept; the largest are those of ten years by day.
MAX_ANSWERS = 500

Result = TypeVar("Result")
Params = ParamSpec("Params")

# The key of `AnswerCache.get` in the `info` of a session.
ANSWERS = "answers"


def open_database(
    url: str,
    *,
    create: bool = True,
    cache: int = engines.SQLITE_CACHE,
    keep_answers: bool = False,
    longest: float = MAX_WAIT,
) -> "Database":
    """Open the database at an SQLite or PostgreSQL URL; SQLite caches up to `cache` KiB of it. With
    `keep_answers`, questions are answered again only after something was written. A locked one is
    waited for `longest` seconds at most.

    A new SQLite file gets its tables, unless `create` is False: then a missing file is an error,
    and a file without write access can be read. Raise StorageError if the URL is invalid, the
    database can't be reached, or its schema is not the current one.
    """
    parsed = engines.parse_url(url)
    file = engines.sqlite_file(parsed)
    if file is not None and not create and not file.exists():
        raise StorageError(
            f"no database at {file}: crawl first (scrapy crawl ft), or name another one in "
            "NEWSCRAWL_DATABASE_URL"
        )
    if file is not None and not create and not engines.may_write(file):
        database = Database(engines.make_reading_engine(parsed, file, cache), parsed)
    else:
        watchable = file is not None or parsed.drivername not in engines.SQLITE
        answers = AnswerCache(file) if keep_answers and watchable else None
        database = Database(engines.make_engine(parsed, cache), parsed, answers)
    try:
        creates = create and parsed.drivername in engines.SQLITE
        database.check_schema(create=creates, longest=longest)
    except BaseException:
        database.close()
        raise
    return database


def upgrade_database(url: str) -> tuple[str | None, str]:
    """Upgrade the schema; return the versions before (None: no tables) and after. Raise
    StorageError for a database of a newer newscrawl."""
    parsed = engines.parse_url(url)
    engine = engines.make_engine(parsed)
    try:
        before, after = _retry_if_locked(
            lambda: migrations.upgrade(engine), parsed, _lock_wait(parsed)
        )
    finally:
        engine.dispose()
    if migrations.is_newer(after):
        raise StorageError(_newer(engines.display_name(parsed), after))
    return before, after


def _newer(name: str, version: str) -> str:
    return (
        f"the database {name} was made by a newer newscrawl (schema {version}, this is "
        f"{migrations.HEAD}): install that one"
    )


@dataclass(slots=True)
class _Answer:
    lock: Lock = field(default_factory=Lock)
    known: bool = False
    value: Any = None


class AnswerCache:
    """Answers to questions, kept until a transaction changes the database; for all threads.

    PostgreSQL names the transactions whose rows can be seen. SQLite counts the commits of all other
    connections for a connection, which is therefore one that never writes.
    """

    def __init__(self, file: Path | None) -> None:
        self._lock = Lock()
        self._state: object = None
        self._answers: dict[Hashable, _Answer] = {}
        self._file = file
        self._watching: sqlite3.Connection | None = None

    def close(self) -> None:
        if self._watching is not None:
            self._watching.close()

    def state(self, connection: Connection) -> object:
        """Return what differs after each change of the database."""
        if self._file is None:
            return connection.scalar(text("SELECT CAST(pg_current_snapshot() AS TEXT)"))
        with self._lock:
            try:
                if self._watching is None:
                    self._watching = sqlite3.connect(
                        self._file, isolation_level=None, check_same_thread=False
                    )
                return self._watching.execute("PRAGMA data_version").fetchone()
            except sqlite3.DatabaseError:  # it is locked, or can't be read
                return object()

    def get(
        self, state: object, session: Session, key: Hashable, compute: Callable[[], Result]
    ) -> Result:
        """Return the answer with the key, which is computed in one session for all threads. `state`
        must be read before any rows, so that no answer from earlier rows is kept for later ones."""
        with self._lock:
            if state != self._state or len(self._answers) >= MAX_ANSWERS:
                self._state, self._answers = state, {}
            answer = self._answers.setdefault(key, _Answer())
        if not answer.known:
            # Read first: threads that wait for the answer could otherwise hold all connections.
            session.connection()
            with answer.lock:
                if not answer.known:
                    answer.value, answer.known = compute(), True
        value: Result = answer.value
        return value


class Database:
    """A database of the current schema; `open_database` makes it. Methods are thread-safe; each
    raises StorageError, after retries if those may help."""

    def __init__(self, engine: Engine, url: URL, answers: AnswerCache | None = None) -> None:
        self._engine = engine
        self._writing = engine.execution_options(writes=True)
        self._url = url
        self._answers = answers
        self.lock_wait = _lock_wait(url)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._engine.dispose()
        if self._answers is not None:
            self._answers.close()

    @property
    def name(self) -> str:
        """Return the file, or the URL without its password."""
        return engines.display_name(self._url)

    @property
    def dialect(self) -> str:
        """Return "sqlite" or "postgresql"."""
        return self._engine.dialect.name

    def size_on_disk(self) -> int:
        """Return the size of the database in bytes, with SQLite's additional files."""
        file = engines.sqlite_file(self._url)
        if file is None:
            with self.reading() as session:
                return session.scalar(text("SELECT pg_database_size(current_database())")) or 0
        files = (file, *(file.with_name(file.name + end) for end in ("-wal", "-shm")))
        return sum(part.stat().st_size for part in files if part.exists())

    def empty_journal(self) -> bool:
        """Write SQLite's journal into its file and empty it; return False if others use it."""

        def work() -> bool:
            connection = self._engine.raw_connection()  # outside a transaction
            try:
                cursor = connection.cursor()
                cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
                (busy, *_) = cursor.fetchone() or (1,)
                return not busy
            finally:
                connection.close()

        return _retry_if_locked(work, self._url, self.lock_wait)

    def check_schema(self, *, create: bool, longest: float = MAX_WAIT) -> None:
        """Raise StorageError unless the schema is the current one; with `create`, an empty database
        gets its tables. A lock is waited for `longest` seconds at most."""

        def work() -> str | None:
            with self._engine.connect() as connection:
                present = migrations.version_of(connection)
            return migrations.upgrade(self._engine)[1] if present is None and create else present

        version = _retry_if_locked(work, self._url, self.lock_wait, longest)
        if version is None:
            raise StorageError(
                f"the database {self.name} has no tables of newscrawl yet: newscrawl db upgrade"
            )
        if migrations.is_older(version):
            raise StorageError(
                f"the database {self.name} is of an older version (schema {version}, before "
                f"{migrations.HEAD}): newscrawl db upgrade"
            )
        if migrations.is_newer(version):
            raise StorageError(_newer(self.name, version))

    @contextmanager
    def reading(self) -> Iterator[Session]:
        """Open a session for queries, which writes nothing. Retry while a server may restart; raise
        StorageError then, and if an SQLite file is missing."""
        file = engines.sqlite_file(self._url)
        if file is not None and not file.exists():
            # SQLite would create an empty one in its place.
            raise StorageError(f"the database {file} is missing: was it moved?")

        def connect() -> object:
            # The pool's connection is checked, or replaced.
            with self._engine.connect() as connection:
                return self._answers.state(connection) if self._answers is not None else None

        state = _retry_if_locked(connect, self._url, self.lock_wait, MAX_INTERACTIVE_WAIT)
        try:
            with Session(self._engine) as session:
                if self._answers is not None:
                    session.info[ANSWERS] = partial(self._answers.get, state, session)
                yield session
        except DBAPIError as error:
            raise engines.as_storage_error(error, self._url) from error

    def register_source(self, slug: str, name: str, country: str, language: str, home: str) -> None:
        """Add the source, or update its facts."""
        origin = Origin(slug, name, country, language, home)

        def work(session: Session) -> None:
            number = register_sources(session, [origin])[slug]
            this = update(models.Source).where(models.Source.id == number)
            session.execute(this.values(asdict(origin)))

        self.write(work)

    def start_run(self, source_slug: str, versions: Versions | None = None) -> int:
        """Return the id of a new run of a registered source, with the versions that find its
        articles."""

        def work(session: Session) -> int:
            run = models.Run(source_id=source_number(session, source_slug), started_at=_now())
            run.versions = asdict(versions) if versions else None
            session.add(run)
            session.flush()
            return run.id

        return self.write(work)

    def finish_run(self, run_id: int, reason: str, counts: Mapping[str, int | str]) -> None:
        """End a run, with the reason and its counts; and with its state and the note of that, from
        which `status` takes the health of a source."""

        def work(session: Session) -> None:
            run = session.get(models.Run, run_id)
            if run is None:
                raise StorageError(f"no run {run_id} in the database: start_run gives one")
            run.finished_at, run.reason, run.counts = _now(), reason, dict(counts)

        self.write(work)

    def record_coverage(
        self,
        source_slug: str,
        day: date,
        state: CoverageState,
        found: int,
        stored: int,
        note: str = "",
    ) -> None:
        """Record the state of a source on a UTC day.

        Of several runs in a day the first state in the order of COVERAGE_STATES is kept, with its
        note: a good run replaces an earlier failure, and a later failure is ignored. Of equal
        states the later note is kept, and both if articles are missing. `found` counts the articles
        in the listings of a run, `stored` those of them that are in the database at its end (new,
        revised, unchanged or known before); the day keeps the largest of each, so that a second
        crawl of the same pages adds nothing.
        """
        if state not in COVERAGE_STATES:
            raise ValueError(f"unknown coverage state {state!r}: {', '.join(COVERAGE_STATES)}")

        def work(session: Session) -> None:
            source_id = source_number(session, source_slug)
            row = session.get(models.Coverage, (source_id, day))
            if row is None:
                row = models.Coverage(
                    source_id=source_id, day=day, state=state, found=found, stored=stored, note=note
                )
                session.add(row)
            elif row.state == state == "incomplete":
                row.note = "; ".join(dict.fromkeys([*row.note.split("; "), note]))
            elif COVERAGE_STATES.index(state) <= COVERAGE_STATES.index(row.state):
                row.state, row.note = state, note
            row.found, row.stored = max(row.found, found), max(row.stored, stored)
            row.recorded_at = _now()

        self.write(work)

    def record_gap(self, source_slug: str, first: date, last: date, note: str) -> None:
        """Record that articles of these days may be missing, by the note, or, without a note, that
        all of them were read on the last day.

        With a note, the last day and the others that counted as covered are "incomplete"; without
        one, the days of failed crawls, and those without any, are covered.
        """
        query = (
            select(models.Coverage.day, models.Coverage.state)
            .join(models.Source, models.Source.id == models.Coverage.source_id)
            .where(models.Source.slug == source_slug, models.Coverage.day >= first)
        )
        with self.reading() as session:
            states = dict(session.execute(query).all())
        for ordinal in range(first.toordinal(), last.toordinal() + 1):
            day = date.fromordinal(ordinal)
            state = states.get(day, "failed")
            if note and (day == last or state in {"incomplete", "ok", "paywalled"}):
                self.record_coverage(source_slug, day, "incomplete", 0, 0, note)
            elif not note and day < last and state == "failed":
                self.record_coverage(source_slug, day, "ok", 0, 0, f"read on {last}")

    def rebuild(
        self, *, stories: bool = False, progress: Callable[[int, int], None] | None = None
    ) -> int:
        """Rebuild rollups and search index: see `rollups.rebuild`."""
        report = progress or (lambda _done, _of: None)
        return self.transact(
            lambda connection: rebuild(connection, stories=stories, progress=report)
        )

    def write(self, work: Callable[[Session], Result], *, longest: float | None = None) -> Result:
        """Do the work in one transaction, and retry it if another one prevented it: for at most
        `longest` seconds if another program has locked an SQLite file."""

        def with_session(connection: Connection) -> Result:
            with Session(connection) as session:
                result = work(session)
                session.commit()  # flushes; the transaction continues
                return result

        return self.transact(with_session, longest=longest)

    def transact(
        self, work: Callable[[Connection], Result], *, longest: float | None = None
    ) -> Result:
        """Do the same without a session, which takes longer than SQLite's transaction."""

        def transaction() -> Result:
            with self._writing.begin() as connection:
                return work(connection)

        return _retry_if_locked(transaction, self._url, self.lock_wait, longest)


def reads(
    function: Callable[Concatenate[Session, Params], Result],
) -> Callable[Concatenate[Database | Session, Params], Result]:
    """Let a function that reads in a session be called with a database, too, which opens one."""

    @wraps(function)
    def read(database: Database | Session, *args: Params.args, **kwargs: Params.kwargs) -> Result:
        if isinstance(database, Session):
            return function(database, *args, **kwargs)
        with database.reading() as session:
            return function(session, *args, **kwargs)

    return read  # type: ignore[return-value]  # the API names the database


def writes(
    function: Callable[Concatenate[Session, Params], Result],
) -> Callable[Concatenate[Database | Session, Params], Result]:
    """Let a function that writes in a session be called with a database, too: as a transaction of
    its own, which is repeated if another one prevented it."""

    @wraps(function)
    def write(
        database: Database | Session, /, *args: Params.args, **kwargs: Params.kwargs
    ) -> Result:
        if isinstance(database, Session):
            return function(database, *args, **kwargs)
        return database.write(lambda session: function(session, *args, **kwargs))

    return write


def register_sources(session: Session, origins: Iterable[Origin]) -> dict[str, int]:
    """Return the ids of the sources by slug, of which the new ones are added."""
    by_slug = {origin.slug: origin for origin in origins}
    query = select(models.Source.slug, models.Source.id)
    ids = dict(session.execute(query.where(models.Source.slug.in_(by_slug))).all())
    added = [
        models.Source(**asdict(origin), registered_at=_now())
        for slug, origin in by_slug.items()
        if slug not in ids
    ]
    session.add_all(added)
    session.flush()
    return ids | {source.slug: source.id for source in added}


def source_number(session: Session, slug: str) -> int:
    """Return the id of a registered source; raise StorageError for another."""
    number = session.scalar(select(models.Source.id).where(models.Source.slug == slug))
    if number is None:
        raise StorageError(f"no source {slug!r} in the database: register_source adds it")
    return number


def _lock_wait(url: URL) -> LockWait:
    return LockWait(engines.display_name(url), engines.longest_wait(url) if url.query else MAX_WAIT)


def _retry_if_locked(
    work: Callable[[], Result], url: URL, lock_wait: LockWait, longest: float | None = None
) -> Result:
    """Do the work, and retry it if another transaction prevented it; raise StorageError."""
    if lock_wait.is_spent:
        raise StorageError(engines.locked_message(url))
    pauses = iter(RETRY_PAUSES)
    since = time.monotonic()
    while True:
        try:
            result = work()
        except DBAPIError as error:
            if engines.is_locked(error):
                again = lock_wait.wait_again(since, longest)
            else:
                pause = next(pauses, None) if engines.is_transient(error) else None
                again = pause is not None
                time.sleep((pause or 0) * random.uniform(0.5, 1.5))  # noqa: S311 - spreads the writers
            if not again:
                raise engines.as_storage_error(error, url) from error
        else:
            lock_wait.record_success()
            return result


def _now() -> datetime:
    return datetime.now(UTC)


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

        def copy(table: Table, target: Connection) -> None:
            ordered = select(table).order_by(*table.primary_key.columns)
            # Otherwise None would become the JSON value null, which no "IS NULL" finds.
            json = [c.key for c in table.c if isinstance(c.type, JSON) and c.nullable]
            nulls = {name: bindparam(f"new_{name}", type_=JSON(none_as_null=True)) for name in json}
            added = insert(table).values(nulls) if nulls else insert(table)
            with rows_of.execute(ordered.execution_options(yield_per=_AT_ONCE)) as result:
                for rows in result.mappings().partitions(_AT_ONCE):
                    names = {c: f"new_{c.key}" if c.key in nulls else c.key for c in table.c}
                    target.execute(added, [{names[c]: row[c] for c in names} for row in rows])
            if target.dialect.name == "postgresql" and "id" in table.c:
                sequence = func.pg_get_serial_sequence(table.name, "id")
                last = select(func.max(table.c.id)).scalar_subquery()
                # Without rows, the sequence stays at its beginning.
                target.execute(select(func.setval(sequence, last)).where(last.is_not(None)))

        def work(connection: Connection) -> int:
            for table in tables:
                if connection.execute(select(table).limit(1)).first() is not None:
                    raise StorageError(
                        f"the database {target.name} is not empty ({table.name}): name a new one"
                    )
            for table in tables:
                copy(table, connection)
            return rebuild(connection, progress=report)

        return target.transact(work)
