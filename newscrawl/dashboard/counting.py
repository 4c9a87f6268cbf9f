"""Counts the history of saved queries while the dashboard goes on."""

import logging
from threading import Lock, Thread

from newscrawl.storage import StorageError, open_database
from newscrawl.storage.saved_queries import count_history

logger = logging.getLogger(__name__)


class CountingJobs:
    """The counts that run, a thread for each query; safe to share between threads. A count that
    ends with the server is continued by the next one that is started."""

    def __init__(self, database_url: str) -> None:
        self._url = database_url
        self._lock = Lock()
        self._progress: dict[str, tuple[int, int]] = {}

    def progress(self, name: str) -> tuple[int, int] | None:
        """Return the numbers of finished articles and of all; None if the query is not counted."""
        return self._progress.get(name)

    def start(self, name: str) -> None:
        """Begin to count a query, or go on with it, unless that is being done."""
        with self._lock:
            if name in self._progress:
                return
            self._progress[name] = (0, 0)
        Thread(target=self._run, args=(name,), daemon=True, name="count").start()

    def _run(self, name: str) -> None:
        def advance(done: int, of: int) -> None:
            self._progress[name] = (done, of)

        try:
            with open_database(self._url, create=False) as database:
                count_history(database, name, advance)
        except StorageError as error:
            logger.warning("the saved query %s is not counted: %s", name, error)
        finally:
            with self._lock:
                del self._progress[name]
