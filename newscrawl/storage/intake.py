"""Takes in documents of many sources at once, as ingestion does."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection, bindparam, select, update
from sqlalchemy.orm import Session

from newscrawl.items import Document, Origin
from newscrawl.storage import models
from newscrawl.storage.analysis import Analysis
from newscrawl.storage.bulk import BulkInsert, RowIds
from newscrawl.storage.database import Database
from newscrawl.storage.documents import Record, record_of
from newscrawl.storage.errors import UnstorableDocument
from newscrawl.storage.progress import Step, note_step
from newscrawl.storage.saving import Saved, save_records

_TABLES = models.Base.metadata.tables
_SOURCES = select(models.Source.slug, models.Source.id).where(
    models.Source.slug.in_(bindparam("slugs", expanding=True))
)
_SOURCE_NUMBERS = RowIds(_TABLES["sources"])
_ADD_SOURCES = BulkInsert(
    _TABLES["sources"], ("id", "slug", "name", "country", "language", "home", "registered_at")
)
_RUN_NUMBERS = RowIds(_TABLES["runs"])
_ADD_RUNS = BulkInsert(_TABLES["runs"], ("id", "source_id", "started_at"))
_END_RUN = (
    update(models.Run)
    .where(models.Run.id == bindparam("run"))
    .values(finished_at=bindparam("at"), reason=bindparam("ended_by"), counts=bindparam("counted"))
)


class Intake:
    """Stores records with a run for each of their sources, which `close` ends.

    Not for several threads at once. Its methods raise StorageError.
    """

    def __init__(self, database: Database, reason: str) -> None:
        self._database = database
        self._reason = reason
        self._runs: dict[str, int] = {}
        self._counts: dict[str, Counter[str]] = {}

    def store(
        self,
        records: Sequence[Record],
        origins: Iterable[Origin],
        step_of: Callable[[Counter[str]], Step] | None = None,
    ) -> Counter[str]:
        """Stores records of these origins, in one transaction; in the same one it notes the
        step that `step_of` makes of what came of them. Of origins with one slug the first counts.

        The counts are those of the outcomes and of the mentions.
        """
        first: dict[str, Origin] = {}
        for origin in origins:
            first.setdefault(origin.slug, origin)

        def work(session: Session) -> tuple[dict[str, int], list[tuple[str, Saved]]]:
            needed = {record.source for record in records} - self._runs.keys()
            connection = session.connection()
            begun = _begin_runs(connection, [first[slug] for slug in sorted(needed)])
            runs = self._runs | begun
            analysis = Analysis(connection)
            incoming = [(record, runs[record.source]) for record in records]
            saved = save_records(connection, incoming, analysis)
            told = [(record.source, one) for record, one in zip(records, saved, strict=True)]
            analysis.write()
            if step_of is not None:
                note_step(session, step_of(_sum(told)))
            return begun, told

        begun, told = self._database.write(work)
        self._runs |= begun
        for source, saved in told:
            held = saved.outcome == "quarantined"
            name = "revisions_quarantined" if held else f"articles_{saved.outcome}"
            found = {name: 1, "mentions": saved.mentions}
            self._counts.setdefault(source, Counter()).update(found)
        return _sum(told)

    def close(self) -> None:
        """Ends the runs, with what each of them counted."""

        now = datetime.now(UTC)
        rows = [
            {
                "run": number,
                "at": now,
                "ended_by": self._reason,
                "counted": {
                    f"newscrawl/{name}": count
                    for name, count in self._counts.get(slug, Counter()).items()
                },
            }
            for slug, number in self._runs.items()
        ]
        if rows:
            self._database.write(lambda session: session.connection().execute(_END_RUN, rows))
            self._runs = {}


def records_of(documents: Iterable[Document]) -> Iterator[Record]:
    """What is to be stored of documents, without those that no database can hold."""
    for document in documents:
        with suppress(UnstorableDocument):
            yield record_of(document)


def _sum(told: Sequence[tuple[str, Saved]]) -> Counter[str]:
    counts: Counter[str] = Counter()
    for _, saved in told:
        counts.update({saved.outcome: 1, "mentions": saved.mentions})
    return +counts


def _begin_runs(connection: Connection, origins: Sequence[Origin]) -> dict[str, int]:
    """The numbers of new runs by source; a source that is unknown yet is registered."""
    if not origins:
        return {}
    now = datetime.now(UTC)
    slugs = [origin.slug for origin in origins]
    known = dict(connection.execute(_SOURCES, {"slugs": slugs}).all())
    fresh = [origin for origin in origins if origin.slug not in known]
    rows: list[dict[str, Any]] = [
        {
            "id": number,
            "slug": origin.slug,
            "name": origin.name,
            "country": origin.country,
            "language": origin.language,
            "home": origin.home,
            "registered_at": now,
        }
        for number, origin in zip(_SOURCE_NUMBERS.take(connection, len(fresh)), fresh, strict=True)
    ]
    _ADD_SOURCES.write(connection, rows)
    known |= {row["slug"]: row["id"] for row in rows}
    begun = dict(zip(slugs, _RUN_NUMBERS.take(connection, len(slugs)), strict=True))
    _ADD_RUNS.write(
        connection,
        [
            {"id": number, "source_id": known[slug], "started_at": now}
            for slug, number in begun.items()
        ],
    )
    return begun
