"""What a check of each source last found: written by `newscrawl sources check`."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from newscrawl.storage.database import Database
from newscrawl.storage.errors import StorageError
from newscrawl.storage.models import Source, SourceHealth


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkup:
    """What one visit to a source found; `in_order` says whether a crawl would succeed."""

    slug: str
    state: str
    in_order: bool
    note: str = ""
    listings: int = 0
    working: int = 0
    newest_at: datetime | None = None
    moved_to: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LastCheckup:
    """The last visit to a source, and the last that found it in order."""

    slug: str
    checked_at: datetime
    state: str
    note: str
    listings: int
    working: int
    newest_at: datetime | None
    moved_to: str | None
    last_ok: datetime | None


def record_checkups(
    database: Database, checkups: Iterable[Checkup], *, at: datetime | None = None
) -> None:
    """Keep what was found of registered sources, in one transaction; StorageError for others."""
    moment = at or datetime.now(UTC)
    known = list(checkups)

    def work(session: Session) -> None:
        ids = {slug: number for number, slug in session.execute(select(Source.id, Source.slug))}
        for checkup in known:
            if checkup.slug not in ids:
                raise StorageError(
                    f"no source {checkup.slug!r} in the database: register_source adds it"
                )
            row = session.get(SourceHealth, ids[checkup.slug])
            if row is None:
                row = SourceHealth(source_id=ids[checkup.slug])
                session.add(row)
            row.checked_at, row.state, row.note = moment, checkup.state, checkup.note
            row.listings, row.working = checkup.listings, checkup.working
            row.newest_at, row.moved_to = checkup.newest_at, checkup.moved_to
            if checkup.in_order:
                row.last_ok = moment

    database.write(work)


def last_checkups(database: Database) -> dict[str, LastCheckup]:
    """Return the last visit to each source that was ever checked, by slug."""
    query = select(Source.slug, SourceHealth).join(Source, Source.id == SourceHealth.source_id)
    with database.reading() as session:
        return {
            slug: LastCheckup(
                slug=slug,
                checked_at=row.checked_at,
                state=row.state,
                note=row.note,
                listings=row.listings,
                working=row.working,
                newest_at=row.newest_at,
                moved_to=row.moved_to,
                last_ok=row.last_ok,
            )
            for slug, row in session.execute(query)
        }
