"""The lease of a source for a crawl that a person started, and not `newscrawl monitor`.

It is the same right as a monitor's (newscrawl.storage.leases), so that neither starts what the
other crawls already. Its holder is a process: where that is gone, the next one needn't wait until
the lease runs out.
"""

import os
import platform
import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from uuid import uuid4

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from newscrawl.storage.database import Database
from newscrawl.storage.errors import StorageError
from newscrawl.storage.leases import clock
from newscrawl.storage.models import Lease, Source

_HOLDER = re.compile(
    r"(?P<host>.*):(?P<number>[0-9]+):crawl:(?P<place>[^:]*):(?P<start>[0-9]*)(:[0-9a-f]{8})?"
)
# Where Linux tells of a process when it was started, counted behind its name (proc(5), stat).
_START_FIELD = 19


class SourceBusyError(Exception):
    """Another process crawls the source: one line that says who, since when and what to do."""


@dataclass(frozen=True, slots=True)
class Process:
    """A process and where it runs: `place` tells apart machines and containers of one name,
    `start` processes that bore one number after each other. Both are empty where unknown."""

    host: str
    number: int
    place: str
    start: str

    def __str__(self) -> str:
        return f"{self.host}:{self.number}:crawl:{self.place}:{self.start}"

    def is_gone(self) -> bool:
        """Whether the process has surely ended; that of another machine may always be alive."""
        here = this_process()
        if not self.place or (self.host, self.place) != (here.host, here.place):
            return False
        started = _start_of(self.number)
        return not started or started != self.start


def this_process() -> Process:
    """Return the process that asks."""
    number = os.getpid()
    return Process(platform.node(), number, _place(), _start_of(number))


def process_of(holder: str) -> Process | None:
    """Return the process that holds a lease; None for a monitor."""
    found = _HOLDER.fullmatch(holder)
    if found is None:
        return None
    return Process(found["host"], int(found["number"]), found["place"], found["start"])


class SourceLease:
    """The right of this process to crawl a registered source; a monitor's rests don't bind it."""

    def __init__(self, database: Database, slug: str, length: timedelta) -> None:
        self._database = database
        self._slug = slug
        # A process may hold several crawls.
        self._holder = f"{this_process()}:{uuid4().hex[:8]}"
        self.length = length

    def take(self) -> None:
        """Take the lease; raise SourceBusyError where somebody has it who may be alive."""

        def work(session: Session) -> None:
            now = clock(session)
            lease = self._row(session)
            if lease.holder and lease.expires_at and lease.expires_at > now:
                process = process_of(lease.holder)
                if process is None or not process.is_gone():
                    raise SourceBusyError(_busy(self._slug, lease.holder, lease, now))
            lease.holder, lease.taken_at, lease.expires_at = self._holder, now, now + self.length

        self._database.write(work)

    def renew(self) -> bool:
        """Put off the lease's end; False where another one has taken it meanwhile."""

        def work(session: Session) -> bool:
            lease = self._row(session)
            if lease.holder != self._holder:
                return False
            lease.expires_at = clock(session) + self.length
            return True

        return self._database.write(work)

    def give_back(self) -> None:
        """Let others crawl the source, where the lease is still ours."""
        number = select(Source.id).where(Source.slug == self._slug).scalar_subquery()
        ours = update(Lease).where(Lease.source_id == number, Lease.holder == self._holder)
        nothing = {"holder": None, "taken_at": None, "expires_at": None}
        self._database.write(lambda session: session.execute(ours.values(nothing)))

    def _row(self, session: Session) -> Lease:
        number = session.scalar(select(Source.id).where(Source.slug == self._slug))
        if number is None:
            raise StorageError(f"no source {self._slug!r} in the database")
        lease = session.get(Lease, number, with_for_update=True)
        if lease is None:
            lease = Lease(source_id=number, failures=0, note="")
            session.add(lease)
            session.flush()
        return lease


def _busy(slug: str, holder: str, lease: Lease, now: datetime) -> str:
    process = process_of(holder)
    who = f"process {process.number} on {process.host}" if process else f"the monitor {holder}"
    since = f"{lease.taken_at:%Y-%m-%d %H:%M:%S} UTC" if lease.taken_at else "a moment ago"
    left = max(1, round((lease.expires_at - now).total_seconds())) if lease.expires_at else 0
    return (
        f"{slug} is being crawled by {who} since {since}: wait until that has ended; if it died, "
        f"its right to the source runs out in {left} seconds (NEWSCRAWL_LEASE)"
    )


def _place() -> str:
    """Return what tells this machine's start and this container from all others, on Linux."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        return f"{boot}/{Path('/proc/self/ns/pid').readlink().name.strip('pid:[]')}"
    except OSError:
        return ""


def _start_of(number: int) -> str:
    """Return when a process was started, by the machine's own count; empty for one that is gone,
    or has ended and not been waited for."""
    try:
        told = Path(f"/proc/{number}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    state, *rest = told.rpartition(")")[2].split()
    return "" if state in {"Z", "X"} else rest[_START_FIELD - 1]
