"""Leases: one worker at a time crawls a source, on all machines that share the database.

Each source has a lease in the database of articles; a worker renews it while it crawls, and other
workers may take it when it has expired. A scheduler first places a source with one of its workers.
`Leases` are those of a monitor, `SourceLease` is that of a crawl which a person started: both are
the same lease, so that neither crawls a source that the other is crawling.

All times are those of one clock: the database server's, or on SQLite the machine's.
"""

import os
import platform
import re
import time
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final, Literal
from uuid import uuid4

from sqlalchemy import ColumnElement, Update, and_, func, or_, select, update
from sqlalchemy.orm import InstrumentedAttribute, Session

from newscrawl.items import Origin
from newscrawl.storage.database import Database, register_sources, source_number, writes
from newscrawl.storage.engine import MAX_INTERACTIVE_WAIT
from newscrawl.storage.models import Lease, Source, Worker

Outcome = Literal["done", "failed", "stopped"]

# Ours: how often a lease is renewed during its length, and the part of it after which one that is
# not renewed counts as lost; the rest is for the end of the crawl.
RENEWALS: Final = 3
MAX_UNRENEWED: Final = 0.75
# Ours: no lease and no pause is as long.
_FARTHEST = timedelta(days=1)
_RELEASED = {"holder": None, "taken_at": None, "expires_at": None}


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaseTerms:
    """`length` is the duration of a lease without renewal. After a crawl a source is paused for
    `min_pause`, twice as long after each failure, and `max_pause` at most."""

    length: timedelta
    min_pause: timedelta = timedelta(minutes=1)
    max_pause: timedelta = timedelta(hours=6)

    def pause_after(self, failures: int) -> timedelta:
        """Return how long a source is paused after this number of failed crawls in a row."""
        return min(self.min_pause * float(2 ** min(failures, 30)), self.max_pause)


class Leases:
    """The leases of one worker. `holder` is its unique name; `same_host_sources` are, for a source,
    those on the same host, of which one is crawled at a time."""

    def __init__(
        self,
        database: Database,
        holder: str,
        terms: LeaseTerms,
        same_host_sources: Mapping[str, Collection[str]] | None = None,
    ) -> None:
        self._database = database
        self.holder = holder
        self._same_host_sources = same_host_sources or {}
        # Taken and not yet released. The database can't distinguish two threads of one holder.
        self._held: set[str] = set()
        self.terms = terms

    def register(self, sources: Collection[Origin]) -> None:
        """Register the sources, and add a lease for each."""

        def work(session: Session) -> None:
            numbers = register_sources(session, sources).values()
            leased = set(session.scalars(select(Lease.source_id)))
            session.add_all(
                Lease(source_id=number, failures=0, note="")
                for number in numbers
                if number not in leased
            )

        self._database.write(work)

    def place(self, slugs: Collection[str], room: int) -> list[str]:
        """Place the first of the sources, at most `room` of them, that are neither leased, resting
        nor placed within the length of a lease; return their slugs. After that time, the worker
        that has not taken it is assumed to be lost."""

        def work(session: Session) -> list[str]:
            now = clock(session)
            free = (_free(now), _has_rested(now), _past(Lease.queued_until, now))
            ready = set(session.scalars(select(Source.slug).join(Lease).where(*free)))
            placed: list[str] = []
            for slug in slugs:
                if len(placed) >= room:
                    break
                if slug not in ready or not self._has_its_turn(session, slug, now):
                    continue
                query = _of(slug).where(*free).values(queued_until=now + self.terms.length)
                if _changes_row(session, query):  # no other worker was faster
                    placed.append(slug)
            return placed

        return self._database.write(work)

    def interrupted_sources(self) -> list[str]:
        """Return the sources whose last crawl was interrupted (its worker died or was stopped) or
        failed."""
        with self._database.reading() as session:
            now = clock(session)
            died = and_(Lease.holder.is_not(None), Lease.expires_at <= now)
            query = select(Source.slug).join(Lease).where(or_(died, Lease.code != 0))
            return list(session.scalars(query.order_by(Source.slug)))

    def take(self, slug: str) -> bool:
        """Take the lease of a source; return False if it or a source on its host is leased, if it
        is paused, or if another thread has not yet released it."""
        if slug in self._held:
            return False

        def work(session: Session) -> bool:
            now = clock(session)
            if not self._has_its_turn(session, slug, now, lock=True):
                return False
            query = _of(slug).where(_free(now), _has_rested(now))
            claim = query.values(
                holder=self.holder,
                taken_at=now,
                expires_at=now + self.terms.length,
                queued_until=None,
            )
            return _changes_row(session, claim)

        is_taken = self._database.write(work)
        if is_taken:
            self._held.add(slug)
        return is_taken

    def renew(self, slug: str) -> bool:
        """Extend the lease; return False if it is no longer ours."""

        def work(session: Session) -> bool:
            now = clock(session)
            ours = _of(slug).where(Lease.holder == self.holder, Lease.expires_at > now)
            return _changes_row(session, ours.values(expires_at=now + self.terms.length))

        # The thread that renews also supervises a crawl.
        return self._database.write(work, longest=MAX_INTERACTIVE_WAIT)

    def release(self, slug: str, outcome: Outcome, code: int | None, note: str) -> None:
        """Release the lease, if it is still ours, and record the outcome of the crawl."""

        def work(session: Session) -> None:
            now = clock(session)
            lease = session.scalar(
                select(Lease)
                .join(Source)
                .where(Source.slug == slug, Lease.holder == self.holder)
                .with_for_update(of=Lease)
            )
            if lease is None:
                return
            lease.holder = lease.taken_at = lease.expires_at = None
            lease.ended_at, lease.code, lease.note = now, code, note
            if outcome != "stopped":
                lease.failures = lease.failures + 1 if outcome == "failed" else 0
                lease.retry_at = now + self.terms.pause_after(lease.failures)

        try:
            self._database.write(work)
        finally:
            self._held.discard(slug)

    def release_unused(self, slug: str) -> None:
        """Release a lease that was not used; nothing is recorded."""
        ours = _of(slug).where(Lease.holder == self.holder)
        try:
            self._database.write(lambda session: _changes_row(session, ours.values(_RELEASED)))
        finally:
            self._held.discard(slug)

    def cancel(self, slug: str) -> None:
        """Allow a source to be placed again that a worker could not take. A lease is not released:
        another worker may have taken it."""
        self._database.write(
            lambda session: _changes_row(session, _of(slug).values(queued_until=None))
        )

    def _has_its_turn(
        self, session: Session, slug: str, now: datetime, *, lock: bool = False
    ) -> bool:
        """Return whether no source on the same host is leased. With `lock`, none of them can be
        leased before this transaction has ended; the order of the locks prevents a deadlock."""
        neighbours = self._same_host_sources.get(slug)
        if not neighbours:
            return True
        query = (
            select(Source.slug, Lease.expires_at)
            .join(Lease, Lease.source_id == Source.id)
            .where(Source.slug.in_([slug, *neighbours]))
            .order_by(Lease.source_id)
        )
        leases = session.execute(query.with_for_update(of=Lease) if lock else query).all()
        return not any(
            source != slug and until and now < until <= now + _FARTHEST for source, until in leases
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerFacts:
    """What is recorded of a monitor when it starts; `digests` says when it sends them, as the
    setting does."""

    host: str
    pid: int
    slots: int
    version: str
    digests: str = ""


@writes
def record_worker_start(session: Session, worker: str, facts: WorkerFacts) -> None:
    """Record that a worker has started."""
    now = clock(session)
    session.merge(Worker(name=worker, **asdict(facts), started_at=now, seen_at=now))


@writes
def record_heartbeat(session: Session, worker: str, *, stopped: bool = False) -> None:
    """Record that a worker is still running, or that it has stopped."""
    now = clock(session)
    values = {"seen_at": now, "stopped_at": now if stopped else None}
    session.execute(update(Worker).where(Worker.name == worker).values(values))


def clock(session: Session) -> datetime:
    """Return the time by the clock that all workers share."""
    if session.get_bind().dialect.name == "postgresql":
        now: datetime = session.scalars(select(func.clock_timestamp())).one()
        return now.astimezone(UTC)
    return datetime.now(UTC)


def _of(slug: str) -> Update:
    number = select(Source.id).where(Source.slug == slug).scalar_subquery()
    return update(Lease).where(Lease.source_id == number)


def _free(now: datetime) -> ColumnElement[bool]:
    return _past(Lease.expires_at, now)


def _has_rested(now: datetime) -> ColumnElement[bool]:
    """Return whether a source's pause is over; one after a crawl that ended in the future is that
    of a clock that was wrong."""
    return or_(_past(Lease.retry_at, now), Lease.ended_at > now)


def _past(column: InstrumentedAttribute[datetime | None], now: datetime) -> ColumnElement[bool]:
    """Return whether a moment is over, or so far away that only a clock that was wrong set it."""
    return or_(column.is_(None), column <= now, column > now + _FARTHEST)


def _changes_row(session: Session, query: Update) -> bool:
    return bool(session.connection().execute(query).rowcount)


_HOLDER = re.compile(
    r"(?P<host>.*):(?P<number>[0-9]+):crawl:(?P<place>[^:]*):(?P<start>[0-9]*)(:[0-9a-f]{8})?"
)
# The field of the start time in /proc/PID/stat, counted after the name (proc(5)).
_START_FIELD = 19


class SourceBusyError(Exception):
    """Another process crawls the source: one line that says which, since when and what to do."""


@dataclass(frozen=True, slots=True)
class Process:
    """A process and where it runs: `place` distinguishes machines and containers with equal names,
    `start` distinguishes processes with equal ids. Both are empty if unknown."""

    host: str
    number: int
    place: str
    start: str

    def __str__(self) -> str:
        return f"{self.host}:{self.number}:crawl:{self.place}:{self.start}"

    def is_gone(self) -> bool:
        """Return whether the process has certainly ended; one on another machine may always be
        alive."""
        here = this_process()
        if not self.place or (self.host, self.place) != (here.host, here.place):
            return False
        started = _start_of(self.number)
        return not started or started != self.start


def this_process() -> Process:
    """Return the current process."""
    number, place = os.getpid(), ""
    with suppress(OSError):
        # This machine's boot and this container, on Linux.
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        place = f"{boot}/{Path('/proc/self/ns/pid').readlink().name.strip('pid:[]')}"
    return Process(platform.node(), number, place, _start_of(number))


def process_of(holder: str) -> Process | None:
    """Return the process that holds a lease; None for a monitor."""
    match = _HOLDER.fullmatch(holder)
    if match is None:
        return None
    return Process(match["host"], int(match["number"]), match["place"], match["start"])


class SourceLease:
    """The lease of this process on a registered source. The pauses of a monitor don't apply to
    it."""

    def __init__(self, database: Database, slug: str, length: timedelta) -> None:
        self._database = database
        self._slug = slug
        # A process may have several crawls.
        self._holder = f"{this_process()}:{uuid4().hex[:8]}"
        self.length = length

    # Renewals in the length of the lease.
    renewals = RENEWALS

    @property
    def is_on_server(self) -> bool:
        """Return whether others may take the lease while the database doesn't answer us."""
        return self._database.dialect == "postgresql"

    def take(self) -> None:
        """Take the lease; raise SourceBusyError if another process has it that may be alive."""

        def work(session: Session) -> None:
            now = clock(session)
            number = source_number(session, self._slug)
            lease = session.get(Lease, number, with_for_update=True)
            if lease is None:
                lease = Lease(source_id=number, failures=0, note="")
                session.add(lease)
            if lease.holder and lease.expires_at and lease.expires_at > now:
                process = process_of(lease.holder)
                if process is None or not process.is_gone():
                    who = f"the monitor {lease.holder}"
                    if process:
                        who = f"process {process.number} on {process.host}"
                    since = "a moment ago"
                    if lease.taken_at:
                        since = f"{lease.taken_at:%Y-%m-%d %H:%M:%S} UTC"
                    remaining = max(1, round((lease.expires_at - now).total_seconds()))
                    raise SourceBusyError(
                        f"{self._slug} is being crawled by {who} since {since}: wait until that "
                        "has ended; if it died, its lease of the source expires in "
                        f"{remaining} seconds (NEWSCRAWL_LEASE)"
                    )
            lease.holder, lease.taken_at, lease.expires_at = self._holder, now, now + self.length

        self._database.write(work)

    def renew(self) -> float:
        """Extend the lease; return for how many seconds, 0 if another process has taken it."""

        ours = _of(self._slug).where(Lease.holder == self._holder)
        is_ours = self._database.write(
            lambda session: _changes_row(
                session, ours.values(expires_at=clock(session) + self.length)
            )
        )
        return self.length.total_seconds() if is_ours else 0.0

    def release(self) -> None:
        """Release the lease, if it is still ours."""
        ours = _of(self._slug).where(Lease.holder == self._holder)
        self._database.write(lambda session: session.execute(ours.values(_RELEASED)))


class MonitorsLease(SourceLease):
    """The lease of a monitor, as the crawl that it has started reads it: only the monitor, which
    may have stopped meanwhile, renews it."""

    # Twice as often as the monitor renews it, so that each renewal is read in time.
    renewals = 2 * RENEWALS

    def __init__(self, database: Database, slug: str, length: timedelta, holder: str) -> None:
        super().__init__(database, slug, length)
        self._holder = holder

    def take(self) -> None:
        """Raise SourceBusyError if the monitor no longer has the lease."""
        if not self.renew():
            raise SourceBusyError(
                f"the monitor that started this crawl lost its lease of {self._slug}"
            )

    def renew(self) -> float:
        """Return for how many seconds the monitor has the lease, 0 if it has lost it."""
        with self._database.reading() as session:
            query = select(Lease.expires_at).join(Source).where(Source.slug == self._slug)
            expires_at = session.scalar(query.where(Lease.holder == self._holder))
            if expires_at is None:
                return 0.0
            return max(0.0, (expires_at - clock(session)).total_seconds())

    def release(self) -> None:
        """Leave the lease to the monitor."""


def boot_time() -> float:
    """Return seconds by a clock that goes on while the process is stopped or the machine sleeps."""
    if hasattr(time, "CLOCK_BOOTTIME"):
        return time.clock_gettime(time.CLOCK_BOOTTIME)
    return time.monotonic()  # on macOS it stops while the machine sleeps


def _start_of(number: int) -> str:
    """Return when a process was started, by the machine's own count; empty for one that has ended,
    even if its parent has not waited for it."""
    try:
        stat = Path(f"/proc/{number}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    state, *fields = stat.rpartition(")")[2].split()
    return "" if state in {"Z", "X"} else fields[_START_FIELD - 1]
