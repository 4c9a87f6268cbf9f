"""What the pages of each source have in common: read when a crawl begins, kept when it ends."""

from collections.abc import Iterator
from datetime import UTC, datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from newscrawl.items import Memory
from newscrawl.storage import models
from newscrawl.storage.database import Database
from newscrawl.storage.errors import StorageError


def memory_of(database: Database, slug: str) -> Memory:
    """The memory of a source; an empty one where nothing was learned yet."""
    wanted = (
        select(models.TemplateMemory)
        .join(models.Source, models.Source.id == models.TemplateMemory.source_id)
        .where(models.Source.slug == slug)
    )
    with database.reading() as session:
        row = session.scalar(wanted)
        return Memory() if row is None else _memory(row)


def memories(database: Database) -> Iterator[tuple[str, Memory]]:
    """The memories of all sources that have one, with the sources' slugs."""
    wanted = select(models.Source.slug, models.TemplateMemory).join(
        models.TemplateMemory, models.Source.id == models.TemplateMemory.source_id
    )
    with database.reading() as session:
        for slug, row in session.execute(wanted.order_by(models.Source.slug)):
            yield slug, _memory(row)


def keep_memory(database: Database, slug: str, memory: Memory) -> None:
    """Put the memory of a registered source in the place of the one before."""
    seen = {f"{fingerprint:016x}": count for fingerprint, count in memory.seen.items()}

    def work(session: Session) -> None:
        source_id = session.scalar(select(models.Source.id).where(models.Source.slug == slug))
        if source_id is None:
            raise StorageError(f"no source {slug!r} in the database: register_source adds it")
        row = session.get(models.TemplateMemory, source_id)
        if row is None:
            row = models.TemplateMemory(source_id=source_id)
            session.add(row)
        row.pages, row.seen, row.updated_at = memory.pages, seen, datetime.now(UTC)

    database.write(work)


def _memory(row: models.TemplateMemory) -> Memory:
    return Memory(pages=row.pages, seen={int(key, 16): count for key, count in row.seen.items()})
