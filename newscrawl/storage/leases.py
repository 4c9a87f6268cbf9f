"""Who may crawl a source: one worker at a time, over all machines that share the database.

huey passes the work on, but what it keeps can't stand for a source's lock: its locks on SQLite
and PostgreSQL never expire, and a task that a worker has taken from the queue is gone with that
worker. So the right to crawl is a lease in the database of articles, and whoever plans puts a
source into the queue again when its lease has run out.

All moments are those of one clock: the database server's, or on SQLite the machine's.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Literal, NamedTuple

from sqlalchemy import ColumnElement, Update, and_, func, or_, select, update
from sqlalchemy.orm import InstrumentedAttribute, Session

from newscrawl.storage.database import Database
from newscrawl.storage.models import Lease, Source, Worker
from newscrawl.storage.patience import SHORT

Outcome = Literal["done", "failed", "stopped"]


class SourceFacts(NamedTuple):
    """What the database keeps of a source."""

    slug: str
    name: str
    country: str
    language: str
    home: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """`length` is how long a lease runs without being renewed. After a crawl a source rests for
    `first_rest` at least, twice as long after each failure, and never longer than `longest_rest`.
    A source that is still in the queue after `patience` is put there again.
    """

    length: timedelta
    first_rest: timedelta = timedelta(minutes=1)
    longest_rest: timedelta = timedelta(hours=6)
    patience: timedelta = timedelta(minutes=10)

    def rest(self, failures: int) -> timedelta:
        """How long a source rests after a crawl, of which so many in a row have failed."""
        return min(self.first_rest * float(2 ** min(failures, 30)), self.longest_rest)


class Leases:
    """The leases as one worker sees them. `holder` is its name, which no other worker bears;
    `neighbours` are for a source those that share a host with it: they take turns."""

    def __init__(
        self,
        database: Database,
        holder: str,
        terms: Terms,
        neighbours: Mapping[str, Collection[str]] | None = None,
    ) -> None:
        self._database = database
        self._holder = holder
        self._neighbours = neighbours or {}
        self.terms = terms

    def enrol(self, sources: Iterable[SourceFacts]) -> None:
        """Makes the sources known, so that leases can be had of them."""
        facts = {source.slug: source for source in sources}

        def work(session: Session) -> None:
            known = set(session.scalars(select(Source.slug)))
            now = clock(session)
            missing = [one for slug, one in facts.items() if slug not in known]
            session.add_all(Source(**one._asdict(), registered_at=now) for one in missing)
            session.flush()
            without = select(Source.id).where(
                Source.slug.in_(facts), Source.id.not_in(select(Lease.source_id))
            )
            for source_id in session.scalars(without).all():
                session.add(Lease(source_id=source_id, failures=0, note=""))

        self._database.write(work)

    def place(self, slugs: Collection[str], room: int) -> list[str]:
        """The first of the sources, `room` of them at most, that may go into the queue: nobody
        has them, they don't rest, and they aren't in the queue yet."""

        def work(session: Session) -> list[str]:
            now = clock(session)
            free = (_free(now), _past(Lease.retry_at, now), _past(Lease.queued_until, now))
            ready = set(session.scalars(select(Source.slug).join(Lease).where(*free)))
            placed: list[str] = []
            for slug in slugs:
                if len(placed) >= room:
                    break
                if slug not in ready or not self._has_its_turn(session, slug, now):
                    continue
                query = _of(slug).where(*free).values(queued_until=now + self.terms.patience)
                if _changed(session, query):  # nobody was faster
                    placed.append(slug)
            return placed

        return self._database.write(work)

    def interrupted(self) -> list[str]:
        """The sources whose last crawl didn't come to its end: its worker died or was stopped,
        or the crawl failed."""
        with self._database.reading() as session:
            now = clock(session)
            died = and_(Lease.holder.is_not(None), Lease.expires_at <= now)
            query = select(Source.slug).join(Lease).where(or_(died, Lease.code != 0))
            return list(session.scalars(query.order_by(Source.slug)))

    def take(self, slug: str) -> bool:
        """Takes the lease of a source, unless somebody has it or a neighbour, or it rests."""

        def work(session: Session) -> bool:
            now = clock(session)
            if not self._has_its_turn(session, slug, now, lock=True):
                return False
            query = _of(slug).where(_free(now), _past(Lease.retry_at, now))
            taken = query.values(
                holder=self._holder,
                taken_at=now,
                expires_at=now + self.terms.length,
                queued_until=None,
            )
            return _changed(session, taken)

        return self._database.write(work)

    def renew(self, slug: str) -> bool:
        """Puts off the lease's end; False where it is no longer ours."""

        def work(session: Session) -> bool:
            now = clock(session)
            ours = _of(slug).where(Lease.holder == self._holder, Lease.expires_at > now)
            return _changed(session, ours.values(expires_at=now + self.terms.length))

        # Whoever renews looks after a crawl, too.
        return self._database.write(work, longest=SHORT)

    def release(self, slug: str, outcome: Outcome, code: int | None, note: str) -> None:
        """Gives the lease back, where it is still ours, and keeps what came of the crawl."""

        def work(session: Session) -> None:
            now = clock(session)
            lease = session.scalar(
                select(Lease)
                .join(Source)
                .where(Source.slug == slug, Lease.holder == self._holder)
                .with_for_update(of=Lease)
            )
            if lease is None:
                return
            lease.holder = lease.taken_at = lease.expires_at = None
            lease.ended_at, lease.code, lease.note = now, code, note
            if outcome != "stopped":
                lease.failures = lease.failures + 1 if outcome == "failed" else 0
                lease.retry_at = now + self.terms.rest(lease.failures)

        self._database.write(work)

    def give_back(self, slug: str) -> None:
        """Gives back a lease, or a place in the queue, that wasn't used: nothing is kept of it."""
        values = {"holder": None, "taken_at": None, "expires_at": None, "queued_until": None}
        ours = or_(Lease.holder == self._holder, Lease.holder.is_(None))
        self._database.write(
            lambda session: _changed(session, _of(slug).where(ours).values(values))
        )

    def _has_its_turn(
        self, session: Session, slug: str, now: datetime, *, lock: bool = False
    ) -> bool:
        """Whether nobody crawls a neighbour. With `lock`, neighbours can't be taken before this
        transaction has ended; the order of locks keeps two of them from a deadlock."""
        others = self._neighbours.get(slug)
        if not others:
            return True
        query = (
            select(Source.slug, Lease.expires_at)
            .join(Lease, Lease.source_id == Source.id)
            .where(Source.slug.in_([slug, *others]))
            .order_by(Lease.source_id)
        )
        found = session.execute(query.with_for_update(of=Lease) if lock else query).all()
        return not any(one != slug and until and until > now for one, until in found)


def sign_on(database: Database, worker: str, host: str, pid: int, slots: int, version: str) -> None:
    """Tells that a worker is up."""

    def work(session: Session) -> None:
        now = clock(session)
        facts = {"host": host, "pid": pid, "slots": slots, "version": version}
        session.merge(Worker(name=worker, **facts, started_at=now, seen_at=now))

    database.write(work)


def sign(database: Database, worker: str, *, stopped: bool = False) -> None:
    """Tells that a worker is still up, or that it has stopped."""

    def work(session: Session) -> None:
        now = clock(session)
        values = {"seen_at": now, "stopped_at": now if stopped else None}
        session.execute(update(Worker).where(Worker.name == worker).values(values))

    database.write(work)


def clock(session: Session) -> datetime:
    """The moment by the clock that all workers share."""
    if session.get_bind().dialect.name == "postgresql":
        now: datetime = session.scalars(select(func.clock_timestamp())).one()
        return now.astimezone(UTC)
    return datetime.now(UTC)


def _of(slug: str) -> Update:
    number = select(Source.id).where(Source.slug == slug).scalar_subquery()
    return update(Lease).where(Lease.source_id == number)


def _free(now: datetime) -> ColumnElement[bool]:
    return _past(Lease.expires_at, now)


def _past(column: InstrumentedAttribute[datetime | None], now: datetime) -> ColumnElement[bool]:
    return or_(column.is_(None), column <= now)


def _changed(session: Session, query: Update) -> bool:
    return bool(session.connection().execute(query).rowcount)
