"""How long work waits for an SQLite database that another program has locked.

A crawl that ended for that would lose the pages on their way, and a backup or a long write of
somebody else's is over in minutes.
"""

import logging
import random
import time
from collections.abc import Callable
from typing import Final

logger = logging.getLogger(__name__)

# Ours, in seconds: the longest wait (`?timeout=` in the database's URL overrides it), and that of
# whoever answers people and can't keep them waiting.
LONGEST: Final = 600.0
SHORT: Final = 20.0
# Ours: seconds after which a log tells of it, and between two such lines.
FIRST_LINE: Final = 5.0
LINES: Final = 60.0
# Ours: seconds that all work together still waits when its process is to end.
LAST_ORDERS: Final = 3.0
# Ours: seconds between two tries; SQLite itself waits within each (engine.SQLITE_ATTEMPT).
_PAUSE: Final = (0.05, 0.15)


def _never() -> bool:
    return False


class Patience:
    """The waits of one database. `hurried` is asked again and again whether its process is to end;
    it may be set by whoever opened the database."""

    def __init__(self, name: str, longest: float = LONGEST) -> None:
        self.longest = longest
        self.hurried: Callable[[], bool] = _never
        self._name = name
        self._hurried_at: float | None = None
        self._told_at = float("-inf")
        self._locked = False

    @property
    def is_spent(self) -> bool:
        """Whether no try is worth its time: the database was locked, and the process ends."""
        now = time.monotonic()
        return self._locked and self.hurried() and now - self._since_hurried(now) > LAST_ORDERS

    def went_through(self) -> None:
        """Note that the database is not locked."""
        self._locked = False

    def waits(self, since: float, longest: float | None = None) -> bool:
        """Pause and return True, where work that has waited `since` a moment (time.monotonic) tries
        again; False where it has waited long enough, `longest` where that is less."""
        self._locked = True
        now = time.monotonic()
        if self.hurried() and now - self._since_hurried(now) > LAST_ORDERS:
            return False
        waited = now - since
        if waited > min(self.longest, self.longest if longest is None else longest):
            return False
        if waited > FIRST_LINE and now - self._told_at > LINES:
            self._told_at = now
            logger.warning(
                "the database %s is locked by another program: waiting, for %d minutes at most",
                self._name,
                max(1, round(self.longest / 60)),
            )
        time.sleep(random.uniform(*_PAUSE))  # noqa: S311 - spreads the writers
        return True

    def _since_hurried(self, now: float) -> float:
        if self._hurried_at is None:
            self._hurried_at = now
        return self._hurried_at
