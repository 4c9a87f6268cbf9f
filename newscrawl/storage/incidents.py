"""Incidents: faults of a source, or of the watch itself, since when, and whether they were
reported."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from sqlalchemy import ColumnElement, select, update
from sqlalchemy.orm import Session

from newscrawl.storage import models
from newscrawl.storage.database import Database
from newscrawl.storage.leases import clock
from newscrawl.storage.models import Source

# Faults of a source; the watch itself has "behind", and those that most sources have at once.
IncidentKind = Literal[
    "unreachable",
    "feed_failed",
    "blocked",
    "stale",
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


def record_incidents(
    database: Database, observed: Iterable[Incident], cleared: Collection[str]
) -> None:
    """Open an incident for each new cause, update those that are open, and close those whose
    causes are `cleared`. An open incident in neither stays open: its state is unknown."""
    wrong = {incident.cause: incident for incident in observed}
    table = models.Incident

    def work(session: Session) -> None:
        now = clock(session)
        is_open = table.recovered_at.is_(None)
        known = {row.cause: row for row in session.scalars(select(table).where(is_open))}
        for cause, row in known.items():
            if incident := wrong.get(cause):
                row.note, row.facts, row.seen_at = incident.note, dict(incident.facts), now
            elif cause in cleared:
                row.recovered_at = now
        new = [incident for cause, incident in wrong.items() if cause not in known]
        ids = _source_ids(session, new)
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

    database.write(work)


def open_incidents(session: Session) -> tuple[Incident, ...]:
    """Return what `list_incidents` does, within a session."""
    table = models.Incident
    query = _QUERY.where(table.recovered_at.is_(None))
    rows = session.execute(query.order_by(table.opened_at.desc(), table.id.desc()))
    return tuple(_incident(row, slug) for row, slug in rows)


def list_incidents(database: Database) -> tuple[Incident, ...]:
    """Return the incidents that are not over, the newest first."""
    with database.reading() as session:
        return open_incidents(session)


def claim_unreported(database: Database) -> tuple[list[Incident], list[Incident]]:
    """Return the incidents, and the recoveries, that were not reported; the caller reports them. An
    incident that was over before it was reported is not reported at all."""
    table = models.Incident

    def work(session: Session) -> tuple[list[Incident], list[Incident]]:
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

    return database.write(work)


def release_unreported(
    database: Database, incidents: Iterable[Incident], *, recoveries: bool
) -> None:
    """Allow incidents that could not be reported to be claimed again."""
    ids = [incident.id for incident in incidents]
    values = {"recovery_reported_at": None} if recoveries else {"reported_at": None}

    def work(session: Session) -> None:
        session.execute(update(models.Incident).where(models.Incident.id.in_(ids)).values(values))

    database.write(work)


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
    return Incident(
        id=row.id,
        kind=row.kind,
        source=slug,
        note=row.note,
        facts=row.facts,
        opened_at=row.opened_at,
        recovered_at=row.recovered_at,
    )


def _source_ids(session: Session, incidents: Iterable[Incident]) -> dict[str, int]:
    slugs = {incident.source for incident in incidents if incident.source is not None}
    query = select(Source.slug, Source.id).where(Source.slug.in_(slugs))
    return dict(session.execute(query).all())
