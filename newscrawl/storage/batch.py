"""Store documents in batches: those of a crawl, with the results of their fetches, and those of an
ingestion, from many sources at once.

A transaction for each page would take twice the time (make bench-crawl). A killed crawl loses no
more than the pages of one batch, which the next crawl fetches again. One thread writes them: two
would only wait for each other's locks.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from functools import partial
from typing import Final, Generic, TypeVar

from sqlalchemy import Connection, update
from sqlalchemy.orm import Session

from newscrawl.items import Article, Document, Origin, Versions
from newscrawl.storage import StorageError, UnstorableDocument, models
from newscrawl.storage.articles import (
    LostArticle,
    SaveResult,
    quarantine_lost_article,
    save_records,
    stored_urls,
    without_wrong_claims,
)
from newscrawl.storage.database import Database, Params, Result, register_sources
from newscrawl.storage.documents import Record, record_of
from newscrawl.storage.frontier.queue import FetchResult, mark_done, mark_stored
from newscrawl.storage.quarantine import is_unannounced
from newscrawl.storage.rollups import RollupUpdate
from newscrawl.storage.saved_state import Step, TaskProgress, load_progress, record_step

Part = TypeVar("Part")

# Ours: seconds that the first part of a batch waits for more parts, and the number of parts after
# which it waits no longer. A polite crawl writes each page by itself; an unthrottled one reads
# about ten in that time. After a batch of BUSY_BATCH parts or more the next one waits longer, which
# reduces the cost of each part by an eighth (make bench-crawl).
PAUSE: Final = 0.1
LONG_PAUSE: Final = 0.3
BUSY_BATCH: Final = 5
MAX_PARTS: Final = 32


class Writer:
    """Writes in order, in a thread outside the event loop.

    `on_failure` is called, in the event loop, with each StorageError except those of single
    documents, which are raised to the caller.
    """

    def __init__(self, on_failure: Callable[[StorageError], None]) -> None:
        self._on_failure = on_failure
        self._worker = ThreadPoolExecutor(1, "storage")

    async def do(
        self, work: Callable[Params, Result], *args: Params.args, **kwargs: Params.kwargs
    ) -> Result:
        """Return the result of the work; raise its exception."""
        return await self.begin(work, *args, **kwargs)

    def begin(
        self, work: Callable[Params, Result], *args: Params.args, **kwargs: Params.kwargs
    ) -> asyncio.Future[Result]:
        """Start the work; the future has its result or its exception."""
        begun = asyncio.wrap_future(self._worker.submit(work, *args, **kwargs))

        def done(future: asyncio.Future[Result]) -> None:
            error = _error_of(future)
            if isinstance(error, StorageError) and not isinstance(error, UnstorableDocument):
                self._on_failure(error)

        begun.add_done_callback(done)
        return begun

    def later(
        self, work: Callable[Params, object], *args: Params.args, **kwargs: Params.kwargs
    ) -> None:
        """Do the work without waiting for it; only a failure is reported."""

        def done(future: asyncio.Future[object]) -> None:
            error = _error_of(future)
            if isinstance(error, UnstorableDocument):
                self._on_failure(error)
            elif error is not None and not isinstance(error, StorageError):
                raise error  # the event loop logs it

        self.begin(work, *args, **kwargs).add_done_callback(done)

    def close(self) -> None:
        """Wait until everything is written."""
        self._worker.shutdown()


class Batches(Generic[Part, Result]):
    """Collects parts that arrive together, which a Writer writes in one batch.

    `write` takes the parts of a batch in their order, and returns a result for each.
    """

    def __init__(self, writer: Writer, write: Callable[[Sequence[Part]], Sequence[Result]]) -> None:
        self._writer = writer
        self._write = write
        self._parts: list[Part] = []
        self._waiting: dict[int, asyncio.Future[Result]] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._pause = PAUSE

    async def do(self, part: Part) -> Result:
        """Return the result of the part; raise the exception of its batch."""
        future: asyncio.Future[Result] = asyncio.get_running_loop().create_future()
        self._waiting[len(self._parts)] = future
        self.later(part)
        return await future

    def later(self, part: Part) -> None:
        """Write the part without waiting for it; only a failure is reported."""
        self._parts.append(part)
        if len(self._parts) >= MAX_PARTS:
            self.flush()
        elif self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(self._pause, self.flush)

    def flush(self) -> None:
        """Start writing the parts collected so far."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._parts:
            batch = self._writer.begin(self._write, self._parts)
            batch.add_done_callback(partial(_share, self._waiting))
            self._pause = LONG_PAUSE if len(self._parts) >= BUSY_BATCH else PAUSE
            self._parts, self._waiting = [], {}


def _share(
    waiting: Mapping[int, asyncio.Future[Result]], batch: asyncio.Future[Sequence[Result]]
) -> None:
    """Set the results of a batch on the futures of its parts."""
    error = _error_of(batch)
    for place, future in waiting.items():
        if future.done():
            continue
        if error is None:
            future.set_result(batch.result()[place])
        else:
            future.set_exception(error)
    if error is not None and not waiting and not isinstance(error, StorageError):
        raise error  # the event loop logs it


def _error_of(future: asyncio.Future[Result]) -> BaseException | None:
    return None if future.cancelled() else future.exception()


@dataclass(frozen=True, slots=True, kw_only=True)
class FinishedPage:
    """A page that a crawl has finished: its document, if it has one, and its result for the queue,
    if it came from there. `lost` is set if it was fetched again and has no article any more."""

    document: Document | None = None
    result: FetchResult | None = None
    lost: LostArticle | None = None


# The outcome of a page, or why no database can store its document; None for a page without a
# document, unless an article is stored under its URL.
Written = SaveResult | UnstorableDocument | None


@dataclass(frozen=True, slots=True)
class _BatchEntry:
    """A document to be stored, and its place in the batch."""

    place: int
    document: Document
    record: Record

    @property
    def is_first(self) -> bool:
        attempt = self.document.page.attempt
        return attempt is not None and attempt.first


def write_batch(database: Database, run_id: int, pages: Sequence[FinishedPage]) -> list[Written]:
    """Store the documents and write the results of their fetches, in one transaction: atomically.
    Raise StorageError.

    A page whose document can't be stored gets no result. A page that is fetched for the first time,
    of an already stored article, only adds its URL; one that is unannounced (SaveResult) adds
    nothing, and is fetched again as scheduled.
    """
    outcomes: list[Written] = [None] * len(pages)
    incoming = []
    for place, document in enumerate(page.document for page in pages):
        if document is not None:
            try:
                incoming.append(_BatchEntry(place, document, record_of(document)))
            except UnstorableDocument as error:
                outcomes[place] = error

    def work(connection: Connection) -> tuple[list[SaveResult], list[SaveResult | None]]:
        claimed = without_wrong_claims(connection, [entry.record for entry in incoming])
        entries = [
            replace(entry, record=record) for entry, record in zip(incoming, claimed, strict=True)
        ]
        records = _without_copies(connection, entries)
        rollups = RollupUpdate(connection)
        saved = save_records(connection, [(record, run_id) for record in records], rollups)
        rollups.write()
        for entry, record, outcome in zip(incoming, records, saved, strict=True):
            if (result := pages[entry.place].result) is None:
                continue
            if outcome.unannounced:
                columns = {**result.columns, "to_reason": "unannounced"}
                mark_done(connection, [replace(result, columns=columns)])
            else:
                if outcome.reason == "text_replaced" or outcome.outcome == "gone":
                    # Without validators: it must be known whether the page has this version again.
                    columns = {**result.columns, "to_etag": None, "to_last_modified": None}
                    result = replace(result, columns=columns)
                # A version that was quarantined before counts as unchanged.
                reason = "unchanged" if outcome.again else outcome.outcome
                mark_stored(connection, result, reason, record.urls if outcome.applied else ())
        without = [page.result for page in pages if page.document is None]
        mark_done(connection, [result for result in without if result is not None])
        lost = [
            quarantine_lost_article(connection, page.lost, run_id) if page.lost else None
            for page in pages
        ]
        return saved, lost

    stored, lost = database.transact(work)
    for entry, saved in zip(incoming, stored, strict=True):
        outcomes[entry.place] = saved
    return [outcome or loss for outcome, loss in zip(outcomes, lost, strict=True)]


def _without_copies(connection: Connection, incoming: Sequence[_BatchEntry]) -> list[Record]:
    """Return the documents' records; those of copies have only their URLs."""
    urls = (url for entry in incoming if entry.is_first for url in _addresses(entry))
    stored = stored_urls(connection, urls)
    records = []
    for entry in incoming:
        is_known = not stored.isdisjoint(_addresses(entry))
        is_copy = entry.is_first and is_known and not is_unannounced(entry.record)
        record = entry.record
        if is_copy:
            # A print view, an AMP twin or a reader view has slightly different words, which would
            # otherwise count as a correction of the article.
            nothing = Article(url=record.urls[0], kind="other")
            document = replace(entry.document, article=nothing, mentions=(), barrier=None)
            record = replace(record_of(document), only_address=True, announced=None)
        records.append(record)
        if entry.is_first:
            # The addresses of a version that is quarantined are not stored.
            stored.update(entry.record.urls)
    return records


def _addresses(entry: _BatchEntry) -> set[str]:
    return {entry.record.urls[0], entry.document.page.url}


_StepOf = Callable[[Counter[str]], Step]


class IngestionWriter:
    """Stores records of many sources, with a run for each source, which `close` ends.

    Not thread-safe. Methods raise StorageError.
    """

    def __init__(
        self,
        database: Database,
        reason: str,
        versions: Versions | None = None,
        *,
        dry_run: bool = False,
    ) -> None:
        self._database = database
        self._reason = reason
        self._versions = asdict(versions) if versions else None
        self._dry_run = dry_run
        self._runs: dict[str, int] = {}
        self._counts: dict[str, Counter[str]] = {}

    def progress(self, task: str) -> TaskProgress:
        """Return the progress of a task of earlier runs."""
        return load_progress(self._database, task)

    def store(
        self, records: Sequence[Record], origins: Iterable[Origin], step_of: _StepOf | None = None
    ) -> Counter[str]:
        """Return the counts of the outcomes, and of the mentions, of what `save` stores."""
        return _sum(self.save(records, origins, step_of))

    def save(
        self, records: Sequence[Record], origins: Iterable[Origin], step_of: _StepOf | None = None
    ) -> list[SaveResult]:
        """Store records of these origins, and the step that `step_of` returns for their counts, in
        one transaction; return the outcome of each. If origins have the same slug, the first is
        used. In a dry run, the transaction is undone."""
        first: dict[str, Origin] = {}
        for origin in origins:
            first.setdefault(origin.slug, origin)

        def work(session: Session) -> tuple[dict[str, int], list[SaveResult]]:
            savepoint = session.begin_nested() if self._dry_run else None
            needed = {record.source for record in records} - self._runs.keys()
            numbers = register_sources(session, [first[slug] for slug in sorted(needed)])
            now = datetime.now(UTC)
            begun = {
                slug: models.Run(source_id=number, started_at=now, versions=self._versions)
                for slug, number in sorted(numbers.items())
            }
            session.add_all(begun.values())
            session.flush()
            begun_runs = {slug: run.id for slug, run in begun.items()}
            connection = session.connection()
            runs = self._runs | begun_runs
            rollups = RollupUpdate(connection)
            claimed = without_wrong_claims(connection, records)
            incoming = [(record, runs[record.source]) for record in claimed]
            saved = save_records(connection, incoming, rollups)
            rollups.write()
            if savepoint is not None:
                savepoint.rollback()
                return {}, saved
            if step_of is not None:
                record_step(session, step_of(_sum(saved)))
            return begun_runs, saved

        begun_runs, saved_records = self._database.write(work)
        self._runs |= begun_runs
        for record, saved in zip(records, saved_records, strict=True):
            is_quarantined = saved.outcome == "quarantined"
            name = "revisions_quarantined" if is_quarantined else f"articles_{saved.outcome}"
            counts = {name: 1, "mentions": saved.mentions}
            self._counts.setdefault(record.source, Counter()).update(counts)
        return saved_records

    def close(self) -> None:
        """End the runs, with the counts of each."""

        now = datetime.now(UTC)
        rows = [
            {
                "id": number,
                "finished_at": now,
                "reason": self._reason,
                "counts": {
                    f"newscrawl/{name}": count
                    for name, count in self._counts.get(slug, Counter()).items()
                },
            }
            for slug, number in self._runs.items()
        ]
        if rows:
            self._database.write(lambda session: session.execute(update(models.Run), rows))
            self._runs = {}


def records_of(documents: Iterable[Document]) -> Iterator[Record]:
    """Yield the records of documents, without those that no database can store."""
    for document in documents:
        with suppress(UnstorableDocument):
            yield record_of(document)


def _sum(saved_records: Sequence[SaveResult]) -> Counter[str]:
    counts: Counter[str] = Counter()
    for saved in saved_records:
        counts.update({saved.outcome: 1, "mentions": saved.mentions})
    return +counts
