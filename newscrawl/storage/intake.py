"""Takes in documents of many sources at once, as ingestion does."""

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from datetime import UTC, datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from newscrawl.items import Document, Origin
from newscrawl.storage import models
from newscrawl.storage.analysis import Analysis
from newscrawl.storage.database import Database
from newscrawl.storage.documents import Record, record_of
from newscrawl.storage.errors import UnstorableDocument
from newscrawl.storage.progress import Step, note_step
from newscrawl.storage.saving import Saved, save_records


class Intake:
    """Stores documents with a run for each of their sources, which `close` ends.

    Not for several threads at once. Its methods raise StorageError.
    """

    def __init__(self, database: Database, reason: str) -> None:
        self._database = database
        self._reason = reason
        self._runs: dict[str, int] = {}
        self._counts: dict[str, Counter[str]] = {}

    def store(
        self,
        documents: Sequence[Document],
        origins: Collection[Origin],
        step_of: Callable[[Counter[str]], Step] | None = None,
    ) -> Counter[str]:
        """Stores documents of these origins, in one transaction; in the same one it notes the
        step that `step_of` makes of what came of them.

        The counts are those of Database.save's outcomes, of the mentions, and of documents that
        are "unstorable", which are left out.
        """
        records, refused = _records(documents)
        first = {origin.slug: origin for origin in origins}

        def work(session: Session) -> tuple[dict[str, int], list[tuple[str, Saved]]]:
            needed = {record.source for record in records} - self._runs.keys()
            begun = _begin_runs(session, [first[slug] for slug in sorted(needed)])
            runs = self._runs | begun
            connection = session.connection()
            analysis = Analysis(connection)
            incoming = [(record, runs[record.source]) for record in records]
            saved = save_records(connection, incoming, analysis)
            told = [(record.source, one) for record, one in zip(records, saved, strict=True)]
            analysis.write()
            if step_of is not None:
                note_step(session, step_of(_sum(told, refused)))
            return begun, told

        begun, told = self._database.write(work)
        self._runs |= begun
        for source, saved in told:
            found = {f"articles_{saved.outcome}": 1, "mentions": saved.mentions}
            self._counts.setdefault(source, Counter()).update(found)
        return _sum(told, refused)

    def close(self) -> None:
        """Ends the runs, with what each of them counted."""

        def work(session: Session) -> None:
            for slug, number in self._runs.items():
                run = session.get_one(models.Run, number)
                run.finished_at, run.reason = datetime.now(UTC), self._reason
                run.counts = {
                    f"newscrawl/{name}": count
                    for name, count in self._counts.get(slug, Counter()).items()
                }

        if self._runs:
            self._database.write(work)
            self._runs = {}


def _sum(told: Sequence[tuple[str, Saved]], refused: int) -> Counter[str]:
    counts = Counter(unstorable=refused)
    for _, saved in told:
        counts.update({saved.outcome: 1, "mentions": saved.mentions})
    return +counts


def _records(documents: Sequence[Document]) -> tuple[list[Record], int]:
    records, refused = [], 0
    for document in documents:
        try:
            records.append(record_of(document))
        except UnstorableDocument:
            refused += 1
    return records, refused


def _begin_runs(session: Session, origins: Sequence[Origin]) -> dict[str, int]:
    """The numbers of new runs by source; a source that is unknown yet is registered."""
    now = datetime.now(UTC)
    slugs = [origin.slug for origin in origins]
    known = {
        source.slug: source
        for source in session.scalars(select(models.Source).where(models.Source.slug.in_(slugs)))
    }
    begun = {}
    for origin in origins:
        source = known.get(origin.slug)
        if source is None:
            source = models.Source(
                slug=origin.slug,
                name=origin.name,
                country=origin.country,
                language=origin.language,
                home=origin.home,
                registered_at=now,
            )
            session.add(source)
            session.flush()
        run = models.Run(source_id=source.id, started_at=now)
        session.add(run)
        session.flush()
        begun[origin.slug] = run.id
    return begun
