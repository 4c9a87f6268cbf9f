"""Somebody stands by each crawl: renews its lease while it makes progress, and ends what must not
go on."""

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass

from newscrawl.monitoring.crawling import Command, Crawl
from newscrawl.storage import StorageError
from newscrawl.storage.leases import Leases, Outcome

logger = logging.getLogger(__name__)

# Seconds between two looks at a crawl that runs: so soon a stop is passed on.
LOOK = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """How a crawl ended. `code` is the exit code, negative for a signal."""

    outcome: Outcome
    code: int | None
    note: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Seconds: the longest that a crawl may take, the longest that it may go without progress,
    and what it gets to end in order."""

    longest: float = 7200.0
    stall: float = 600.0
    last_orders: float = 60.0


class Attendant:
    """Runs crawls whose leases are ours; `stopping` tells whether all work is to end."""

    def __init__(
        self, leases: Leases, command: Command, limits: Limits, stopping: Callable[[], bool]
    ) -> None:
        self._leases = leases
        self._command = command
        self._limits = limits
        self._stopping = stopping

    def run(self, slug: str) -> Ended:
        """Crawls the source; gives what came of it."""
        beat = _Heartbeat(slug, self._leases)
        with Crawl(slug, self._command) as crawl:
            reason = self._wait(crawl, beat)
            if reason:
                self._end(crawl, beat)
            code, words = crawl.wait(0), crawl.last_words()
        if code is not None and code < 0 and not reason:
            reason = f"killed by signal {-code}"
        note = "; ".join(filter(None, (reason, words)))
        if reason == _STOPPED:
            return Ended(outcome="stopped", code=code, note=note)
        return Ended(outcome="failed" if code or reason else "done", code=code, note=note)

    def _wait(self, crawl: Crawl, beat: "_Heartbeat") -> str:
        """Waits for the crawl's end; gives the reason where it must be ended."""
        deadline = time.monotonic() + self._limits.longest
        progressed = time.monotonic()
        while crawl.wait(LOOK) is None:
            if self._stopping():
                return _STOPPED
            if crawl.has_progressed():
                progressed = time.monotonic()
            elif time.monotonic() - progressed > self._limits.stall:
                return f"no progress for {self._limits.stall:g} seconds"
            if not beat.goes_on():
                return "the lease was lost"
            if time.monotonic() > deadline:
                return f"still running after {self._limits.longest:g} seconds"
        return ""

    def _end(self, crawl: Crawl, beat: "_Heartbeat") -> None:
        crawl.stop()
        deadline = time.monotonic() + self._limits.last_orders
        while crawl.wait(LOOK) is None:
            if not beat.goes_on() or time.monotonic() > deadline:
                crawl.kill()


_STOPPED = "told to stop"


class _Heartbeat:
    """Renews a lease three times in its length; a database that is away for a while does no
    harm until the lease has run out."""

    def __init__(self, slug: str, leases: Leases) -> None:
        self._slug = slug
        self._leases = leases
        self._length = leases.terms.length.total_seconds()
        self._renewed = self._tried = time.monotonic()
        self._lost = False

    def goes_on(self) -> bool:
        now = time.monotonic()
        if self._lost or now - self._tried < self._length / 3:
            return not self._lost
        self._tried = now
        try:
            self._lost = not self._leases.renew(self._slug)
            self._renewed = now
        except StorageError as error:
            logger.warning("%s: the lease is not renewed: %s", self._slug, error)
            self._lost = now - self._renewed > self._length * 2 / 3
        return not self._lost
