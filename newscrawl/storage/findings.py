"""What was found to be wrong, since when, and whether people know of it."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from sqlalchemy import ColumnElement, select, update
from sqlalchemy.orm import Session

from newscrawl.storage.database import Database
from newscrawl.storage.leases import clock
from newscrawl.storage.models import Finding, Source


@dataclass(frozen=True, slots=True, kw_only=True)
class Trouble:
    """Something that is wrong now: of a source, or (None) of the watch itself. `cause` is the
    same for as long as it is the same trouble."""

    kind: str
    source: str | None
    note: str
    facts: Mapping[str, object] = field(default_factory=dict)

    @property
    def cause(self) -> str:
        return f"{self.source or 'watch'}/{self.kind}"


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownFinding:
    """A finding of the database."""

    id: int
    kind: str
    source: str | None
    note: str
    facts: Mapping[str, object]
    opened_at: datetime
    recovered_at: datetime | None

    @property
    def cause(self) -> str:
        return f"{self.source or 'watch'}/{self.kind}"


def record_findings(
    database: Database, troubles: Iterable[Trouble], cleared: Collection[str]
) -> None:
    """Opens a finding for each new trouble, keeps those known up to date, and closes those whose
    causes are `cleared`. What is in neither can't be told now and stays as it is."""
    wrong = {trouble.cause: trouble for trouble in troubles}

    def work(session: Session) -> None:
        now = clock(session)
        known = {
            finding.cause: finding
            for finding in session.scalars(select(Finding).where(Finding.recovered_at.is_(None)))
        }
        for cause, finding in known.items():
            if trouble := wrong.get(cause):
                finding.note, finding.facts = trouble.note, dict(trouble.facts)
                finding.seen_at = now
            elif cause in cleared:
                finding.recovered_at = now
        new = [trouble for cause, trouble in wrong.items() if cause not in known]
        ids = _source_ids(session, new)
        for trouble in new:
            if trouble.source is not None and trouble.source not in ids:
                continue  # a source that nobody has crawled yet
            session.add(
                Finding(
                    cause=trouble.cause,
                    kind=trouble.kind,
                    source_id=ids.get(trouble.source or ""),
                    note=trouble.note,
                    facts=dict(trouble.facts),
                    opened_at=now,
                    seen_at=now,
                )
            )

    database.write(work)


def claim_untold(database: Database) -> tuple[list[KnownFinding], list[KnownFinding]]:
    """The findings, and the recoveries, that nobody was told of: whoever gets them tells it.

    A trouble that was over before anybody heard of it is not told at all.
    """

    def work(session: Session) -> tuple[list[KnownFinding], list[KnownFinding]]:
        now = clock(session)
        opened = (Finding.told_at.is_(None), Finding.recovered_at.is_(None))
        over = (
            Finding.told_at.is_not(None),
            Finding.recovered_at.is_not(None),
            Finding.recovery_told_at.is_(None),
        )
        return (
            _claim(session, opened, {"told_at": now}),
            _claim(session, over, {"recovery_told_at": now}),
        )

    return database.write(work)


def give_back_untold(database: Database, ids: Collection[int], *, recoveries: bool) -> None:
    """Lets what couldn't be told be claimed again."""
    values = {"recovery_told_at": None} if recoveries else {"told_at": None}

    def work(session: Session) -> None:
        session.execute(update(Finding).where(Finding.id.in_(ids)).values(values))

    database.write(work)


def _claim(
    session: Session, conditions: tuple[ColumnElement[bool], ...], values: Mapping[str, datetime]
) -> list[KnownFinding]:
    claimed = session.scalars(
        update(Finding).where(*conditions).values(values).returning(Finding.id)
    ).all()
    query = (
        select(Finding, Source.slug)
        .outerjoin(Source, Source.id == Finding.source_id)
        .where(Finding.id.in_(claimed))
        .order_by(Finding.id)
    )
    return [_known(finding, slug) for finding, slug in session.execute(query)]


def _known(finding: Finding, slug: str | None) -> KnownFinding:
    return KnownFinding(
        id=finding.id,
        kind=finding.kind,
        source=slug,
        note=finding.note,
        facts=finding.facts,
        opened_at=finding.opened_at,
        recovered_at=finding.recovered_at,
    )


def _source_ids(session: Session, troubles: Iterable[Trouble]) -> dict[str, int]:
    slugs = {trouble.source for trouble in troubles if trouble.source is not None}
    query = select(Source.slug, Source.id).where(Source.slug.in_(slugs))
    return dict(session.execute(query).all())
