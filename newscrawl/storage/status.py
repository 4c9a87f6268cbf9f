"""The state of the watch: what ran, what runs, what is late, and what is at fault."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from typing import Any, Literal

from sqlalchemy import ColumnElement, Integer, case, func, select
from sqlalchemy.orm import Session

from newscrawl.storage.database import Database
from newscrawl.storage.frontier import due_sources
from newscrawl.storage.incidents import Incident, open_incidents
from newscrawl.storage.leases import clock
from newscrawl.storage.models import (
    Article,
    Coverage,
    Lease,
    QuarantinedRevision,
    Run,
    Source,
    Worker,
)

SourceState = Literal["running", "failing", "late", "never", "ok"]

# Ours. A source is late when it has been due for this time; a worker is silent when it has sent no
# heartbeat for this time; gaps are searched for in this number of full days.
LATE = timedelta(minutes=15)
SILENT = timedelta(minutes=2)
GAP_DAYS = 7
_FAILED = "newscrawl/pages_failed/"
# The states of a day on which the source was read, as far as that is allowed.
_READ = ("ok", "paywalled")


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerStatus:
    """A running monitor, or one without a recent heartbeat."""

    name: str
    host: str
    slots: int
    running: int
    started_at: datetime
    seen_at: datetime
    silent: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceStatus:
    """The state of a source. `quarantined` revisions wait for a decision. `new_*` count articles,
    `runs_day` and `pages_failed_day` those of the last 24 hours; `causes` are those of the last
    crawl with failed pages; `gaps` are full days of the last seven on which the source was not
    read. `last_success` is the end of the last crawl of these 24 hours that read a listing."""

    slug: str
    coverage: str | None = None
    running_since: datetime | None = None
    worker: str | None = None
    last_start: datetime | None = None
    last_end: datetime | None = None
    last_success: datetime | None = None
    due_at: datetime | None = None
    waiting: int = 0
    late: bool = False
    failures: int = 0
    note: str = ""
    runs_day: int = 0
    new_hour: int = 0
    new_day: int = 0
    pages_failed_day: int = 0
    causes: Mapping[str, int] = field(default_factory=dict)
    gaps: tuple[date, ...] = ()
    quarantined: int = 0

    @property
    def state(self) -> SourceState:
        if self.running_since:
            return "running"
        if self.failures:
            return "failing"
        if self.last_start is None:
            return "never"
        return "late" if self.late else "ok"


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchStatus:
    """The state of the watch at one moment; `queued` sources wait for a worker."""

    moment: datetime
    queued: int
    workers: tuple[WorkerStatus, ...]
    sources: tuple[SourceStatus, ...]
    incidents: tuple[Incident, ...]


def watch_status(database: Database, slugs: Collection[str]) -> WatchStatus:
    """Return the state of the sources, in the order given, and of the workers."""
    with database.reading() as session:
        now = clock(session)
        parts: list[Mapping[str, Mapping[str, Any]]] = [
            _leases(session, now),
            _last_runs(session),
            _last_day(session, now),
            _coverage(session, now.date()),
            _causes(session, now),
            _quarantined(session),
        ]
        workers, incidents = _workers(session, now), open_incidents(session)
        waiting = select(func.count()).where(Lease.queued_until > now)
        queued = session.scalars(waiting).one()
    parts.append(_due(database, slugs, now))
    sources = tuple(
        SourceStatus(slug=slug, **{k: v for part in parts for k, v in part.get(slug, {}).items()})
        for slug in slugs
    )
    return WatchStatus(
        moment=now, queued=queued, workers=workers, sources=sources, incidents=incidents
    )


def _leases(session: Session, now: datetime) -> dict[str, dict[str, Any]]:
    query = select(Source.slug, Lease).join(Lease, Lease.source_id == Source.id)
    found = {}
    for slug, lease in session.execute(query):
        running = lease.expires_at is not None and lease.expires_at > now
        found[slug] = {
            "running_since": lease.taken_at if running else None,
            "worker": lease.holder if running else None,
            "failures": lease.failures,
            "note": lease.note if lease.failures else "",
        }
    return found


def _last_runs(session: Session) -> dict[str, dict[str, Any]]:
    newest = (
        select(Run.id)
        .where(Run.source_id == Source.id)
        .order_by(Run.id.desc())
        .limit(1)
        .correlate(Source)
        .scalar_subquery()
    )
    query = select(Source.slug, Run.started_at, Run.finished_at).join(Run, Run.id == newest)
    return {
        slug: {"last_start": start, "last_end": end} for slug, start, end in session.execute(query)
    }


def _last_day(session: Session, now: datetime) -> dict[str, dict[str, Any]]:
    new = _counted("newscrawl/articles_new")
    read = _counted("newscrawl/listings_read") + _counted("newscrawl/listings_rested")
    hour = Run.finished_at > now - timedelta(hours=1)
    query = (
        select(
            Source.slug,
            func.count(Run.id),
            func.sum(new),
            func.sum(case((hour, new), else_=0)),
            func.sum(_counted("newscrawl/pages_failed")),
            func.max(case((read > 0, Run.finished_at))),
        )
        .join(Run, Run.source_id == Source.id)
        .where(Run.started_at > now - timedelta(days=1))
        .group_by(Source.slug)
    )
    return {
        slug: {
            "runs_day": runs,
            "new_day": new_day or 0,
            "new_hour": new_hour or 0,
            "pages_failed_day": failed or 0,
            "last_success": success,
        }
        for slug, runs, new_day, new_hour, failed, success in session.execute(query)
    }


def _counted(name: str) -> ColumnElement[int]:
    return func.coalesce(Run.counts[name].as_integer(), 0, type_=Integer())


def _coverage(session: Session, today: date) -> dict[str, dict[str, Any]]:
    first = today - timedelta(days=GAP_DAYS)
    query = (
        select(Source.slug, Coverage.day, Coverage.state)
        .join(Coverage, Coverage.source_id == Source.id)
        .where(Coverage.day >= first)
        .order_by(Source.slug, Coverage.day)
    )
    states: dict[str, dict[date, str]] = {}
    for slug, day, state in session.execute(query):
        states.setdefault(slug, {})[day] = state
    started = dict(
        session.execute(
            select(Source.slug, func.min(Coverage.day))
            .join(Coverage, Coverage.source_id == Source.id)
            .group_by(Source.slug)
        ).all()
    )
    days = [first + timedelta(days=number) for number in range(GAP_DAYS)]
    return {
        slug: {
            "coverage": next(reversed(states.get(slug, {}).values()), None),
            "gaps": tuple(
                day for day in days if day >= begun and states.get(slug, {}).get(day) not in _READ
            ),
        }
        for slug, begun in started.items()
    }


def _causes(session: Session, now: datetime) -> dict[str, dict[str, Any]]:
    last = (
        select(func.max(Run.id))
        .where(Run.started_at > now - timedelta(days=1), _counted("newscrawl/pages_failed") > 0)
        .group_by(Run.source_id)
    )
    query = select(Source.slug, Run.counts).join(Run).where(Run.id.in_(last))
    return {slug: {"causes": _failures(counts)} for slug, counts in session.execute(query)}


def _failures(counts: Mapping[str, int]) -> dict[str, int]:
    found = {k.removeprefix(_FAILED): v for k, v in counts.items() if k.startswith(_FAILED)}
    return dict(sorted(found.items(), key=lambda item: -item[1]))


def _quarantined(session: Session) -> dict[str, dict[str, Any]]:
    query = (
        select(Source.slug, func.count())
        .join(Article, Article.source_id == Source.id)
        .join(QuarantinedRevision, QuarantinedRevision.article_id == Article.id)
        .where(QuarantinedRevision.state == "pending")
        .group_by(Source.slug)
    )
    return {slug: {"quarantined": number} for slug, number in session.execute(query)}


def _due(database: Database, slugs: Iterable[str], now: datetime) -> dict[str, dict[str, Any]]:
    due = due_sources(database, now.astimezone(UTC), list(slugs))
    return {
        one.slug: {
            "due_at": one.due_at,
            "waiting": one.waiting,
            "late": one.due_at is not None and now - one.due_at > LATE,
        }
        for one in due
    }


def _workers(session: Session, now: datetime) -> tuple[WorkerStatus, ...]:
    running = (
        select(func.count())
        .where(Lease.holder == Worker.name, Lease.expires_at > now)
        .correlate(Worker)
        .scalar_subquery()
    )
    query = (
        select(Worker, running)
        .where(Worker.stopped_at.is_(None), Worker.seen_at > now - timedelta(days=1))
        .order_by(Worker.started_at)
    )
    return tuple(
        WorkerStatus(
            name=worker.name,
            host=worker.host,
            slots=worker.slots,
            running=crawls,
            started_at=worker.started_at,
            seen_at=worker.seen_at,
            silent=now - worker.seen_at > SILENT,
        )
        for worker, crawls in session.execute(query)
    )
