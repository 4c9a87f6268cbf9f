"""Ingest WARC files on all cores: read, extract, match, store.

A file is divided into ranges of bytes, its parts. The worker of a part searches for its first
record; the worker of the previous part reports the true offset of that record. If the two differ (a
page may contain text like a record), the part is read again from the true offset, so that no page
can forge a record.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from hashlib import sha256
from typing import Final

from newscrawl.archive import ArchiveError
from newscrawl.archive.dataset import Dataset
from newscrawl.archive.page_processor import PRELOAD, Part, PartResult, ReadingConfig, process_part
from newscrawl.archive.remote import ArchiveFile, open_file, size_of
from newscrawl.cluster import Workers, open_pool
from newscrawl.extraction.template_memory import templates
from newscrawl.reading import versions_of
from newscrawl.storage import Database
from newscrawl.storage.batch import IngestionWriter
from newscrawl.storage.saved_state import Step, memories

# Ours: about 50 pages, half a second of work and one transaction.
PART_BYTES: Final = 2 * 1024 * 1024
# Ours: bytes that are skipped around a page that crashes its worker.
_MIN_PART_BYTES: Final = 128 * 1024
_IDENTIFYING_BYTES: Final = 64 * 1024


@dataclass(slots=True, kw_only=True)
class FileProgress:
    """Progress of a file: the records before `position` are done, with the outcomes `counts`.

    Both include earlier, interrupted runs. `done_before` is the time at which an earlier run
    finished the file; `problem` is the error that ended the reading.
    """

    path: ArchiveFile
    task: str = ""
    size: int = 0
    position: int = 0
    bytes_read: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    done_before: datetime | None = None
    problem: str = ""

    @property
    def is_open(self) -> bool:
        """Return whether records are left."""
        return not self.problem and (not self.task or self.position < self.size)


class Ingestion:
    """Ingest files with a number of local processes or on a cluster, into a database or Parquet
    files, up to `limit` stored articles (only into a database).

    `on_progress` is called with the bytes and articles done since its last call.
    """

    def __init__(
        self,
        target: Database | Dataset,
        config: ReadingConfig,
        *,
        workers: Workers,
        limit: int | None = None,
        on_progress: Callable[[int, int], None] = lambda _bytes, _articles: None,
    ) -> None:
        self._target: IngestionWriter | Dataset
        if isinstance(target, Database):
            self._target = IngestionWriter(target, "ingested", versions_of(config.companies))
            config = replace(
                with_template_memories(config, target), has_vectors=target.dialect == "postgresql"
            )
        else:
            self._target = target
        self._config = config
        work = partial(process_part, self._config)
        self._workers = open_pool(work, workers, preload=PRELOAD, files=self._config.files)
        self._left = limit
        self._on_progress = on_progress

    def run(self, files: Sequence[ArchiveFile]) -> list[FileProgress]:
        """Ingest the files and return the progress of each. Raises StorageError."""
        states = [FileProgress(path=path) for path in dict.fromkeys(files)]
        by_path = {state.path: state for state in states}
        try:
            parts = (part for state in states for part in self._parts(state))
            for part, result in self._workers.results(parts):
                self._take(by_path[part.path], part, result)
                if self._left == 0:
                    break
        finally:
            self._target.close()
        for state in states:
            if (
                state.task
                and not state.is_open
                and not state.counts["records"]
                and not state.done_before
            ):
                state.problem = state.problem or f"{state.path} holds no WARC record"
        return states

    def _parts(self, state: FileProgress) -> Iterator[Part]:
        """Yield the parts of a file that earlier runs have left."""
        try:
            state.task, state.size = task_of(state.path, self._config), size_of(state.path)
        except OSError as error:
            state.problem = f"can't read {state.path}: {error.strerror}"
            return
        except ArchiveError as error:
            state.problem = str(error)
            return
        done = self._target.progress(state.task)
        state.position, state.counts = done.position, Counter(done.counts)
        state.done_before = done.finished_at
        self._on_progress(done.position, 0)
        start = state.position
        while start < state.size and state.is_open:
            stop = min(start + PART_BYTES, state.size)
            yield Part(state.path, start, stop)
            start = stop

    def _take(
        self,
        state: FileProgress,
        part: Part,
        batch: PartResult | ArchiveError | None,
    ) -> None:
        if part.stop <= state.position or not state.is_open:
            return  # a record that begins before the part extends beyond it
        if isinstance(batch, PartResult) and batch.first != state.position:
            again = Part(part.path, state.position, part.stop)
            batch = self._workers.run_alone(again)
        if batch is None and part.stop - part.start > _MIN_PART_BYTES:
            middle = (part.start + part.stop) // 2
            for start, stop in ((part.start, middle), (middle, part.stop)):
                half = Part(part.path, start, stop)
                self._take(state, half, self._workers.run_alone(half))
            return
        if batch is None:
            # The pages are given up. Their records are read again: a search for the next one at the
            # end of the part may find something that the given-up page itself contains.
            skipped = Part(part.path, state.position, part.stop, is_deadly=True)
            batch = self._workers.run_alone(skipped)
        if batch is None:  # the records themselves are deadly
            counts = Counter(parts_lost=1)
            batch = PartResult(counts=counts, first=state.position, position=part.stop)
        if isinstance(batch, ArchiveError):
            state.problem = str(batch)
            return
        records = batch.records
        is_whole = self._left is None or len(records) <= self._left
        if not is_whole:
            records = records[: self._left]
        counts = state.counts + batch.counts
        counts["articles"] -= len(batch.records) - len(records)

        def step_of(outcomes: Counter[str]) -> Step:
            return Step(
                task=state.task,
                position=batch.position,
                counts=counts + outcomes,
                finished=batch.position >= state.size,
            )

        # If the limit cuts a part off, the next run processes the part again.
        outcomes = self._target.store(records, batch.origins, step_of if is_whole else None)
        state.counts = counts + outcomes
        if is_whole:
            self._on_progress(batch.position - state.position, len(records))
            state.bytes_read += batch.position - state.position
            state.position = batch.position
        if self._left is not None:
            self._left -= len(records)


def task_of(path: ArchiveFile, config: ReadingConfig) -> str:
    """Return the task name of a file: equal for the same file and filter, even in another folder.

    Raises OSError and ArchiveError.
    """
    with open_file(path, _IDENTIFYING_BYTES) as stream:
        head = stream.read(_IDENTIFYING_BYTES)
    facts = {
        "file": path.name,
        "bytes": size_of(path),
        "begins": sha256(head).hexdigest()[:16],
        **config.page_filter.as_json(),
    }
    return f"ingest {json.dumps(facts, sort_keys=True)}"


def with_template_memories(config: ReadingConfig, database: Database) -> ReadingConfig:
    """Return the config with what crawls have learned of each source (`template_memory`)."""
    learned = {slug: templates(memory) for slug, memory in memories(database)}
    return replace(config, reader=replace(config.reader, memories=learned))
