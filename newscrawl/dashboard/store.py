"""The database of the pages: opened for the first request, and again when it was replaced."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock

from newscrawl.storage import Database, StorageError, open_database
from newscrawl.storage.engine import parse_url, sqlite_file
from newscrawl.storage.errors import QuestionError


class Store:
    """Gives the same open database to every request, until its file is gone or replaced."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._file = sqlite_file(parse_url(url))
        self._lock = Lock()
        self._database: Database | None = None
        self._opened: tuple[int, int] | None = None

    @contextmanager
    def reading(self) -> Iterator[Database]:
        """Yield the database for one request; raise StorageError where it can't be read, after
        which the next request opens it again."""
        database = self._current()
        try:
            yield database
        except QuestionError:
            raise
        except StorageError:
            self._forget(database)
            raise

    def close(self) -> None:
        """Close the connections."""
        with self._lock:
            if self._database is not None:
                self._database.close()
            self._database = None

    def _current(self) -> Database:
        with self._lock:
            identity = _identity(self._file)
            if self._database is not None and identity == self._opened:
                return self._database
            if self._database is not None:
                self._database.close()
                self._database = None
            self._database = open_database(self._url, create=False)
            self._opened = _identity(self._file)
            return self._database

    def _forget(self, database: Database) -> None:
        with self._lock:
            if self._database is database:
                self._database = None
        database.close()


def _identity(file: Path | None) -> tuple[int, int] | None:
    """Return what identifies a file: an open connection keeps the old one after a replacement."""
    if file is None:
        return None
    try:
        stat = file.stat()
    except OSError:
        return (0, 0)
    return stat.st_dev, stat.st_ino
