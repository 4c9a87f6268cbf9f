"""The state of the watch: incidents, the health of each source, and its past, running and late
crawls.

An incident is a fault of a source, or of the watch itself. Its start, its end, and whether it was
reported are recorded.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from enum import StrEnum
from typing import Any, Literal, get_args

from sqlalchemy import ColumnElement, Integer, and_, case, func, or_, select, update
from sqlalchemy.orm import Session

from newscrawl.config import Span, digest_times
from newscrawl.items import Withheld, copy_fields
from newscrawl.storage import models
from newscrawl.storage.database import reads, writes
from newscrawl.storage.frontier.listings import PAUSED, due_sources, next_crawls
from newscrawl.storage.leases import clock
from newscrawl.storage.models import (
    Article,
    Coverage,
    Lease,
    QuarantinedRevision,
    Run,
    Source,
    SourceCheckup,
    Worker,
)

# Faults of a source; the watch itself has "behind", and those that most sources have at once.
IncidentKind = Literal[
    "unreachable",
    "feed_failed",
    "blocked",
    "stale",
    "incomplete",
    "missing",
    "not_crawled",
    "layout_changed",
    "drift",
    "quarantined",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Incident:
    """A fault of a source, or (with source None) of the watch itself.

    A single incident of each `cause` is open at a time. `id` and `opened_at` are None until the
    incident is recorded, `recovered_at` until it is over.
    """

    kind: str
    source: str | None
    note: str
    facts: Mapping[str, object] = field(default_factory=dict)
    id: int | None = None
    opened_at: datetime | None = None
    recovered_at: datetime | None = None

    @property
    def cause(self) -> str:
        return f"{self.source or 'watch'}/{self.kind}"


@writes
def record_incidents(
    session: Session, observed: Collection[Incident], cleared: Collection[str]
) -> None:
    """Open an incident for each new cause, update those that are open, and close those whose
    causes are `cleared`. An open incident in neither stays open: its state is unknown."""
    wrong = {incident.cause: incident for incident in observed}
    table = models.Incident
    now = clock(session)
    is_open = table.recovered_at.is_(None)
    open_rows = {row.cause: row for row in session.scalars(select(table).where(is_open))}
    for cause, row in open_rows.items():
        if incident := wrong.get(cause):
            row.note, row.facts, row.seen_at = incident.note, dict(incident.facts), now
        elif cause in cleared:
            row.recovered_at = now
    new = [incident for cause, incident in wrong.items() if cause not in open_rows]
    slugs = {incident.source for incident in new if incident.source is not None}
    query = select(Source.slug, Source.id).where(Source.slug.in_(slugs))
    ids = dict(session.execute(query).all())
    for incident in new:
        if incident.source is not None and incident.source not in ids:
            continue  # a source that was never crawled
        session.add(
            table(
                cause=incident.cause,
                kind=incident.kind,
                source_id=ids.get(incident.source or ""),
                note=incident.note,
                facts=dict(incident.facts),
                opened_at=now,
                seen_at=now,
            )
        )


@reads
def list_incidents(session: Session) -> tuple[Incident, ...]:
    """Return the incidents that are not over, the newest first."""
    table = models.Incident
    query = _QUERY.where(table.recovered_at.is_(None))
    rows = session.execute(query.order_by(table.opened_at.desc(), table.id.desc()))
    return tuple(_incident(row, slug) for row, slug in rows)


@writes
def claim_unreported(session: Session) -> tuple[list[Incident], list[Incident]]:
    """Return the incidents, and the recoveries, that were not reported; the caller reports them. An
    incident that was over before it was reported is not reported at all."""
    table = models.Incident
    now = clock(session)
    opened = (table.reported_at.is_(None), table.recovered_at.is_(None))
    over = (
        table.reported_at.is_not(None),
        table.recovered_at.is_not(None),
        table.recovery_reported_at.is_(None),
    )
    return (
        _claim(session, opened, {"reported_at": now}),
        _claim(session, over, {"recovery_reported_at": now}),
    )


@writes
def release_unreported(
    session: Session, incidents: Collection[Incident], *, recoveries: bool
) -> None:
    """Allow incidents that could not be reported to be claimed again."""
    ids = [incident.id for incident in incidents]
    values = {"recovery_reported_at": None} if recoveries else {"reported_at": None}
    session.execute(update(models.Incident).where(models.Incident.id.in_(ids)).values(values))


_QUERY = select(models.Incident, Source.slug).outerjoin(
    Source, Source.id == models.Incident.source_id
)


def _claim(
    session: Session, conditions: tuple[ColumnElement[bool], ...], values: Mapping[str, datetime]
) -> list[Incident]:
    table = models.Incident
    claim = update(table).where(*conditions).values(values).returning(table.id)
    claimed = session.scalars(claim).all()
    rows = session.execute(_QUERY.where(table.id.in_(claimed)).order_by(table.id))
    return [_incident(row, slug) for row, slug in rows]


def _incident(row: models.Incident, slug: str | None) -> Incident:
    return copy_fields(Incident, row, source=slug)


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
    "incomplete": Health.DEGRADED,
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
    "refused": Health.BLOCKED,
    "stale_feed": Health.STALE,
    "incomplete": Health.DEGRADED,
}
_SEVERITY = {health: place for place, health in enumerate(Health)}
# Ours. A source is late when it has been due for this time; a worker is silent when it has sent no
# heartbeat for this time; gaps are searched for in this number of full days.
LATE = timedelta(minutes=15)
SILENT = timedelta(minutes=2)
GAP_DAYS = 7
_FAILED = "newscrawl/pages_failed/"
# How crawls end that were stopped from outside (Scrapy's finish_reason).
_STOPPED = ("shutdown", "monitor_gone", "lease_lost")
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
    source was not read. `next_at` is when its next crawl is due. `last_state` and `last_note` are
    those of the last crawl that came to its end in these days, empty if all were stopped.
    `failures` counts the crawls of monitors that failed in a row, `failure_note` is the cause of
    the last one. `new_*` count articles, `runs_day` and `pages_failed_day` those of the last 24
    hours, as are `withheld_day`, the pages that may not be read by reason; `causes` are those of
    the last crawl with failed pages. `last_success` is the end of the last crawl of these 24 hours
    that read a listing.
    `quarantined` revisions wait for a decision.
    """

    source: str
    name: str = ""
    health: Health = field(init=False, default=Health.HEALTHY)
    reason: str = field(init=False, default="")
    incidents: Mapping[str, str] = field(default_factory=dict)
    coverage: str | None = None
    coverage_note: str = ""
    last_state: str | None = None
    last_note: str = ""
    running_since: datetime | None = None
    worker: str | None = None
    last_start: datetime | None = None
    last_end: datetime | None = None
    last_success: datetime | None = None
    due_at: datetime | None = None
    next_at: datetime | None = None
    waiting: int = 0
    late: bool = False
    failures: int = 0
    failure_note: str = ""
    runs_day: int = 0
    new_hour: int = 0
    new_day: int = 0
    pages_failed_day: int = 0
    withheld_day: Mapping[str, int] = field(default_factory=dict)
    causes: Mapping[str, int] = field(default_factory=dict)
    gaps: tuple[date, ...] = ()
    quarantined: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "health", _health(self))
        object.__setattr__(self, "reason", _reason(self))

    @property
    def is_paused(self) -> bool:
        """Return whether no monitor crawls it until it is resumed."""
        return self.next_at == PAUSED

    @property
    def severity(self) -> int:
        """Return the rank of its health; 0 is the worst."""
        return _SEVERITY[self.health]


def _health(status: SourceStatus) -> Health:
    """Return the worst health that an open incident gives the source, or that a fact gives it
    before an inspection has opened the incident."""
    if status.last_start is None and not status.failures:
        return Health.NEVER_CRAWLED
    possible = {_HEALTH_BY_INCIDENT.get(kind, Health.DEGRADED) for kind in status.incidents}
    state = status.coverage if status.last_state is None else status.last_state
    if state in _HEALTH_BY_COVERAGE:
        possible.add(_HEALTH_BY_COVERAGE[state])
    if status.failures:
        possible.add(Health.FAILING)
    if status.late and not status.running_since:
        possible.add(Health.LATE)
    return min(possible, key=_SEVERITY.__getitem__, default=Health.HEALTHY)


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
        return f"{status.failure_note} (failed {times})"
    if status.last_state is not None:
        return status.last_note if status.last_state in _HEALTH_BY_COVERAGE else ""
    return status.coverage_note if status.coverage in _HEALTH_BY_COVERAGE else ""


def _failure_cause(slug: str, note: str) -> str:
    """Return why a crawl failed, from what a monitor noted of its end: why the monitor ended it,
    and the crawl's last line, at the end of which is its state with the cause in brackets."""
    ended, line, summary = f"; {note}".partition(f"; {slug}: ")
    if ended or not line:
        return ended.removeprefix("; ") or note
    state = summary.rpartition("; state ")[2]
    return state.partition(" (")[2].removesuffix(")") or state


@dataclass(frozen=True, slots=True, kw_only=True)
class NextDigest:
    """When the next digest is sent, in the time zone of its schedule; `monitored` says whether a
    monitor with this schedule runs, or did a few minutes ago."""

    span: Span
    at: datetime
    monitored: bool

    def __str__(self) -> str:
        text = f"{self.span}, {self.at:%A %Y-%m-%d %H:%M} {self.at.tzinfo}"
        return text if self.monitored else f"{text}, as soon as newscrawl monitor runs"


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchStatus:
    """The state of the watch at one moment; `queued` sources wait for a worker."""

    moment: datetime
    queued: int
    workers: tuple[WorkerStatus, ...]
    sources: tuple[SourceStatus, ...]
    incidents: tuple[Incident, ...]
    digests: tuple[NextDigest, ...] = ()


@dataclass(frozen=True, slots=True)
class LastMonitor:
    """The monitor that was seen last; one that is `running` was not stopped, and is not silent."""

    seen_at: datetime
    running: bool


@reads
def last_monitor(session: Session) -> LastMonitor | None:
    """Return the monitor that was seen last; None before the first one."""
    running = and_(Worker.stopped_at.is_(None), Worker.seen_at >= clock(session) - SILENT)
    order = (running.desc(), Worker.seen_at.desc())
    row = session.execute(select(Worker.seen_at, running).order_by(*order).limit(1)).first()
    return None if row is None else LastMonitor(row.seen_at, bool(row[1]))


@reads
def next_digests(
    session: Session, setting: str, now: datetime | None = None
) -> tuple[NextDigest, ...]:
    """Return the next digest of each kind, by the schedule of the monitors that run, or by that of
    the last round, or else by NEWSCRAWL_DIGEST as it is here; raise SettingError for an invalid
    one."""
    moment = clock(session)
    recent = select(Worker).where(Worker.seen_at > moment - LATE)
    workers = session.scalars(recent.order_by(Worker.started_at.desc())).all()
    running = [worker for worker in workers if worker.stopped_at is None]
    schedules = {worker.digests for worker in running or workers[:1]} - {""}
    digests = {
        time.span: NextDigest(
            span=time.span,
            at=next(at for at in time.moments(now or moment) if at > (now or moment)),
            monitored=bool(schedules),
        )
        for schedule in schedules or {setting}
        for time in digest_times("NEWSCRAWL_DIGEST", schedule)
    }
    return tuple(sorted(digests.values(), key=lambda digest: digest.at))


def only_checked() -> ColumnElement[bool]:
    """Return the condition for sources that were visited by `newscrawl sources check` and never
    crawled: hundreds of them would be listed otherwise."""
    crawled = [
        select(1).where(table.source_id == Source.id).correlate(Source).exists()
        for table in (Run, Coverage, Lease, Article)
    ]
    checked = select(1).where(SourceCheckup.source_id == Source.id).correlate(Source).exists()
    return and_(checked, ~or_(*crawled))


@reads
def watch_status(session: Session, slugs: Sequence[str] | None = None) -> WatchStatus:
    """Return the state of these sources, or of all that are crawled into the database, and of the
    workers."""
    now = clock(session)
    if slugs is None:
        query = select(Source.slug).where(~only_checked()).order_by(Source.slug)
        slugs = session.scalars(query).all()
    moments = Run.started_at.label("last_start"), Run.finished_at.label("last_end")
    runs = select(Run.id).where(Run.source_id == Source.id).order_by(Run.id.desc())
    newest = runs.limit(1).correlate(Source).scalar_subquery()
    lease_query = select(Source.slug, Lease).join(Lease, Lease.source_id == Source.id)
    by_slug = {}
    for slug, lease in session.execute(lease_query):
        running = lease.expires_at is not None and lease.expires_at > now
        by_slug[slug] = {
            "running_since": lease.taken_at if running else None,
            "worker": lease.holder if running else None,
            "failures": lease.failures,
            "failure_note": _failure_cause(slug, lease.note or "") if lease.failures else "",
        }
    pending = (
        select(Source.slug, func.count().label("quarantined"))
        .join(Article, Article.source_id == Source.id)
        .join(QuarantinedRevision, QuarantinedRevision.article_id == Article.id)
        .where(QuarantinedRevision.state == "pending")
        .group_by(Source.slug)
    )
    parts: list[Mapping[str, Mapping[str, Any]]] = [
        _by_slug(session, select(Source.slug, Source.name)),
        by_slug,
        _by_slug(session, select(Source.slug, *moments).join(Run, Run.id == newest)),
        _last_states(session, now),
        _last_day(session, now),
        _coverage(session, now.date()),
        _causes(session, now),
        _by_slug(session, pending),
    ]
    workers, incidents = _workers(session, now), list_incidents(session)
    notes: dict[str, dict[str, Any]] = {}
    for incident in incidents:
        if incident.source is not None:
            of_source = notes.setdefault(incident.source, {"incidents": {}})
            of_source["incidents"][incident.kind] = incident.note
    parts.append(notes)
    waiting = select(func.count()).where(Lease.queued_until > now)
    queued = session.scalars(waiting).one()
    due = due_sources(session, now.astimezone(UTC), slugs)
    parts.append(
        {
            source.slug: {
                "due_at": source.due_at,
                "waiting": source.waiting,
                "late": source.due_at is not None and now - source.due_at > LATE,
            }
            for source in due
        }
    )
    parts.append({slug: {"next_at": at} for slug, at in next_crawls(session).items()})
    sources = tuple(
        SourceStatus(source=slug, **{k: v for part in parts for k, v in part.get(slug, {}).items()})
        for slug in slugs
    )
    return WatchStatus(
        moment=now, queued=queued, workers=workers, sources=sources, incidents=incidents
    )


def _by_slug(session: Session, query: Any) -> dict[str, dict[str, Any]]:
    """Return the columns of rows by slug; their names are those of a SourceStatus's fields."""
    rows = map(dict, session.execute(query).mappings())
    return {row.pop("slug"): row for row in rows}


def _last_states(session: Session, now: datetime) -> dict[str, dict[str, Any]]:
    """Return the state of the last crawl of each source that came to its end. The state is empty if
    all its crawls were stopped, which says nothing of the source, and None if an earlier version
    wrote none."""
    state, note = (Run.counts[f"newscrawl/{name}"].as_string() for name in ("state", "note"))
    is_stopped = Run.reason.in_(_STOPPED)
    newest = (
        select(func.coalesce(func.max(case((~is_stopped, Run.id))), func.max(Run.id)))
        .where(Run.finished_at > now - timedelta(days=GAP_DAYS), state.is_not(None))
        .group_by(Run.source_id)
    )
    last_state = case((is_stopped, ""), else_=state).label("last_state")
    columns = Source.slug, last_state, note.label("last_note")
    return _by_slug(session, select(*columns).join(Run).where(Run.id.in_(newest)))


def _last_day(session: Session, now: datetime) -> dict[str, dict[str, Any]]:
    new = _count_column("newscrawl/articles_new")
    read = _count_column("newscrawl/listings_read") + _count_column("newscrawl/listings_rested")
    hour = Run.finished_at > now - timedelta(hours=1)
    reasons = get_args(Withheld)
    query = (
        select(
            Source.slug,
            func.count(Run.id).label("runs_day"),
            func.sum(new).label("new_day"),
            func.sum(case((hour, new), else_=0)).label("new_hour"),
            func.sum(_count_column("newscrawl/pages_failed")).label("pages_failed_day"),
            *(
                func.sum(_count_column(f"newscrawl/pages_{reason}")).label(reason)
                for reason in reasons
            ),
            func.max(case((read > 0, Run.finished_at))).label("last_success"),
        )
        .join(Run, Run.source_id == Source.id)
        .where(Run.started_at > now - timedelta(days=1))
        .group_by(Source.slug)
    )
    counts = _by_slug(session, query)
    for row in counts.values():
        row["withheld_day"] = {reason: number for reason in reasons if (number := row.pop(reason))}
    return counts


def _count_column(name: str) -> ColumnElement[int]:
    return func.coalesce(Run.counts[name].as_integer(), 0, type_=Integer())


def _coverage(session: Session, today: date) -> dict[str, dict[str, Any]]:
    """Return the state of the newest day of each source, and the days without a reading."""
    query = (
        select(Source.slug, Coverage.day, Coverage.state, Coverage.note)
        .join(Coverage, Coverage.source_id == Source.id)
        .order_by(Source.slug, Coverage.day)
    )
    first = today - timedelta(days=GAP_DAYS)
    begun = dict(
        session.execute(
            select(Source.slug, func.min(Coverage.day)).join(Coverage).group_by(Source.slug)
        ).all()
    )
    days = {first + timedelta(days=number) for number in range(GAP_DAYS)}
    coverage: dict[str, dict[str, Any]] = {
        slug: {"gaps": {day for day in days if day >= begin}} for slug, begin in begun.items()
    }
    for slug, day, state, note in session.execute(query.where(Coverage.day >= first)):
        coverage[slug] |= {"coverage": state, "coverage_note": note}
        if state in _READ:
            coverage[slug]["gaps"].discard(day)
    for of_source in coverage.values():
        of_source["gaps"] = tuple(sorted(of_source["gaps"]))
    return coverage


def _causes(session: Session, now: datetime) -> dict[str, dict[str, Any]]:
    last = (
        select(func.max(Run.id))
        .where(
            Run.started_at > now - timedelta(days=1), _count_column("newscrawl/pages_failed") > 0
        )
        .group_by(Run.source_id)
    )
    query = select(Source.slug, Run.counts).join(Run).where(Run.id.in_(last))
    causes: dict[str, dict[str, Any]] = {}
    for slug, counts in session.execute(query):
        failed = {k.removeprefix(_FAILED): v for k, v in counts.items() if k.startswith(_FAILED)}
        causes[slug] = {"causes": dict(sorted(failed.items(), key=lambda item: -item[1]))}
    return causes


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
        copy_fields(WorkerStatus, worker, running=crawls, silent=now - worker.seen_at > SILENT)
        for worker, crawls in session.execute(query)
    )
