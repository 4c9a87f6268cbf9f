"""The state of the watch: what ran, what runs, what is late, and the health of each source."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from enum import StrEnum
from typing import Any

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


class Health(StrEnum):
    """The health of a source, the worst first: `_health` decides it."""

    BLOCKED = "blocked"
    FAILING = "failing"
    STALE = "stale"
    DEGRADED = "degraded"
    LATE = "late"
    NEVER_CRAWLED = "never_crawled"
    HEALTHY = "healthy"


# The health that an open incident of a kind gives its source.
_HEALTH_BY_INCIDENT: Mapping[str, Health] = {
    "unreachable": Health.FAILING,
    "blocked": Health.BLOCKED,
    "stale": Health.STALE,
    "feed_failed": Health.DEGRADED,
    "missing": Health.DEGRADED,
    "layout_changed": Health.DEGRADED,
    "drift": Health.DEGRADED,
    "quarantined": Health.DEGRADED,
    "not_crawled": Health.LATE,
}
# The health that the coverage of the newest day gives.
_HEALTH_BY_COVERAGE: Mapping[str | None, Health] = {
    "failed": Health.FAILING,
    "blocked_by_robots": Health.BLOCKED,
    "stale_feed": Health.STALE,
}
_SEVERITY = {health: place for place, health in enumerate(Health)}
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
    """The health of a source at present, the reason if it isn't healthy, and the facts.

    `incidents` are the notes of its open incidents by their kind. `coverage` and `coverage_note`
    are those of the newest day of the last seven; `gaps` are the full days of these on which the
    source was not read. `failures` counts the crawls of monitors that failed in a row,
    `failure_note` is the last line of the last one. `new_*` count articles, `runs_day` and
    `pages_failed_day` those of the last 24 hours; `causes` are those of the last crawl with failed
    pages. `last_success` is the end of the last crawl of these 24 hours that read a listing.
    `quarantined` revisions wait for a decision.
    """

    source: str
    health: Health = field(init=False, default=Health.HEALTHY)
    reason: str = field(init=False, default="")
    incidents: Mapping[str, str] = field(default_factory=dict)
    coverage: str | None = None
    coverage_note: str = ""
    running_since: datetime | None = None
    worker: str | None = None
    last_start: datetime | None = None
    last_end: datetime | None = None
    last_success: datetime | None = None
    due_at: datetime | None = None
    waiting: int = 0
    late: bool = False
    failures: int = 0
    failure_note: str = ""
    runs_day: int = 0
    new_hour: int = 0
    new_day: int = 0
    pages_failed_day: int = 0
    causes: Mapping[str, int] = field(default_factory=dict)
    gaps: tuple[date, ...] = ()
    quarantined: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "health", _health(self))
        object.__setattr__(self, "reason", _reason(self))

    @property
    def severity(self) -> int:
        """Return the rank of its health; 0 is the worst."""
        return _SEVERITY[self.health]


def _health(status: SourceStatus) -> Health:
    """Return the worst health that an open incident gives the source, or that a fact gives it
    before an inspection has opened the incident."""
    if status.last_start is None and not status.failures:
        return Health.NEVER_CRAWLED
    found = {_HEALTH_BY_INCIDENT.get(kind, Health.DEGRADED) for kind in status.incidents}
    if status.coverage in _HEALTH_BY_COVERAGE:
        found.add(_HEALTH_BY_COVERAGE[status.coverage])
    if status.failures:
        found.add(Health.FAILING)
    if status.late and not status.running_since:
        found.add(Health.LATE)
    return min(found, key=_SEVERITY.__getitem__, default=Health.HEALTHY)


def _reason(status: SourceStatus) -> str:
    notes = [
        note
        for kind, note in status.incidents.items()
        if _HEALTH_BY_INCIDENT.get(kind, Health.DEGRADED) == status.health
    ]
    if notes:
        return "; ".join(notes)
    if status.failures:
        times = "once" if status.failures == 1 else f"{status.failures} times in a row"
        # The last part of a crawl's last line is the reason; or else the signal that ended it.
        before, _, state = status.failure_note.rpartition("; state ")
        why = before.partition(f"; {status.source}: ")[0] if state == "ok" else state
        return f"failed {times}: {why}"
    return status.coverage_note if status.coverage in _HEALTH_BY_COVERAGE else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchStatus:
    """The state of the watch at one moment; `queued` sources wait for a worker."""

    moment: datetime
    queued: int
    workers: tuple[WorkerStatus, ...]
    sources: tuple[SourceStatus, ...]
    incidents: tuple[Incident, ...]


def watch_status(database: Database, slugs: Sequence[str] | None = None) -> WatchStatus:
    """Return the state of these sources, or of all in the database, and of the workers."""
    with database.reading() as session:
        now = clock(session)
        if slugs is None:
            slugs = session.scalars(select(Source.slug).order_by(Source.slug)).all()
        parts: list[Mapping[str, Mapping[str, Any]]] = [
            _leases(session, now),
            _last_runs(session),
            _last_day(session, now),
            _coverage(session, now.date()),
            _causes(session, now),
            _quarantined(session),
        ]
        workers, incidents = _workers(session, now), open_incidents(session)
        parts.append(_incidents(incidents))
        waiting = select(func.count()).where(Lease.queued_until > now)
        queued = session.scalars(waiting).one()
    parts.append(_due(database, slugs, now))
    sources = tuple(
        SourceStatus(source=slug, **{k: v for part in parts for k, v in part.get(slug, {}).items()})
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
            "failure_note": lease.note if lease.failures else "",
        }
    return found


def _incidents(incidents: Iterable[Incident]) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for one in incidents:
        if one.source is not None:
            found.setdefault(one.source, {"incidents": {}})["incidents"][one.kind] = one.note
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
        select(Source.slug, Coverage.day, Coverage.state, Coverage.note)
        .join(Coverage, Coverage.source_id == Source.id)
        .where(Coverage.day >= first)
        .order_by(Source.slug, Coverage.day)
    )
    states: dict[str, dict[date, str]] = {}
    newest: dict[str, dict[str, Any]] = {}
    for slug, day, state, note in session.execute(query):
        states.setdefault(slug, {})[day] = state
        newest[slug] = {"coverage": state, "coverage_note": note}
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
            **newest.get(slug, {}),
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
