"""Takes WARC files in over all cores: read, extracted, matched, stored.

A file is cut into parts by bytes. Where a part's first record begins is guessed by its worker
and known from the part before: where the two differ (a page may hold what looks like a record)
the part is read again from the right place, so that no page can pass itself off as another.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Final

from newscrawl.archive.captures import ArchiveError
from newscrawl.archive.line import Batch, Part, Recipe, read_part
from newscrawl.archive.remembering import remembering
from newscrawl.archive.workers import Workers
from newscrawl.storage import Database
from newscrawl.storage.intake import Intake
from newscrawl.storage.progress import Step, progress_of

# Ours: some 50 pages, half a second of work and one transaction.
PART_BYTES: Final = 2 * 1024 * 1024
_IDENTIFYING_BYTES: Final = 64 * 1024


@dataclass(slots=True, kw_only=True)
class FileProgress:
    """How far a file has come: all before `position` is done, with the result `counts`.

    Both are those of earlier runs, too, that were broken off; `done_before` is when the whole
    file had been taken in already. A `problem` ended the reading.
    """

    path: Path
    task: str = ""
    size: int = 0
    position: int = 0
    bytes_read: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    done_before: datetime | None = None
    problem: str = ""

    @property
    def is_open(self) -> bool:
        """Whether there is more to do."""
        return not self.problem and self.position < self.size


class Ingestion:
    """Takes files in with a number of worker processes; `limit` is that of articles to store.

    `on_progress` hears how many bytes more are done, and how many articles came of them.
    """

    def __init__(
        self,
        database: Database,
        recipe: Recipe,
        *,
        workers: int,
        limit: int | None = None,
        on_progress: Callable[[int, int], None] = lambda _bytes, _articles: None,
    ) -> None:
        self._database = database
        self._recipe = remembering(recipe, database)
        self._workers = Workers(partial(read_part, self._recipe), workers)
        self._left = limit
        self._on_progress = on_progress

    def run(self, files: Sequence[Path]) -> list[FileProgress]:
        """Take the files in; what became of each. Raises StorageError."""
        states = [self._begun(path) for path in dict.fromkeys(files)]
        by_path = {state.path: state for state in states}
        intake = Intake(self._database, "ingested")
        try:
            for part, batch in self._workers.results(_parts(states)):
                self._take(by_path[part.path], part, batch, intake)
                if self._left == 0:
                    break
        finally:
            intake.close()
        for state in states:
            if not state.is_open and not state.counts["records"] and not state.done_before:
                state.problem = state.problem or f"{state.path} holds no WARC record"
        return states

    def _begun(self, path: Path) -> FileProgress:
        try:
            task, size = task_of(path, self._recipe), path.stat().st_size
        except OSError as error:
            return FileProgress(path=path, problem=f"can't read {path}: {error.strerror}")
        done = progress_of(self._database, task)
        self._on_progress(done.position, 0)
        return FileProgress(
            path=path,
            task=task,
            size=size,
            position=done.position,
            counts=Counter(done.counts),
            done_before=done.finished_at,
        )

    def _take(
        self,
        state: FileProgress,
        part: Part,
        batch: Batch | ArchiveError | None,
        intake: Intake,
    ) -> None:
        if part.stop <= state.position or not state.is_open:
            return  # a record that began before it reaches beyond it
        if isinstance(batch, Batch) and batch.first != state.position:
            again = Part(part.path, state.position, part.stop)
            batch = self._workers.alone(again)
        if isinstance(batch, ArchiveError):
            state.problem = str(batch)
            return
        if batch is None:
            batch = Batch(counts=Counter(parts_lost=1), first=state.position, position=part.stop)
        self._store(state, batch, intake)

    def _store(self, state: FileProgress, batch: Batch, intake: Intake) -> None:
        records = batch.records
        whole = self._left is None or len(records) <= self._left
        if not whole:
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

        # A part of which some is left over by the limit is done again by the next run.
        outcomes = intake.store(records, batch.origins, step_of if whole else None)
        state.counts = counts + outcomes
        if whole:
            self._on_progress(batch.position - state.position, len(records))
            state.bytes_read += batch.position - state.position
            state.position = batch.position
        if self._left is not None:
            self._left -= len(records)


def task_of(path: Path, recipe: Recipe) -> str:
    """The name of a file's ingestion: the same file with the same selection has the same, even
    in another folder. Raises OSError."""
    with path.open("rb") as stream:
        head = stream.read(_IDENTIFYING_BYTES)
    facts = {
        "file": path.name,
        "bytes": path.stat().st_size,
        "begins": sha256(head).hexdigest()[:16],
        **recipe.selection.facts(),
    }
    return f"ingest {json.dumps(facts, sort_keys=True)}"


def _parts(states: Sequence[FileProgress]) -> Iterator[Part]:
    for state in states:
        start = state.position
        while start < state.size and state.is_open:
            stop = min(start + PART_BYTES, state.size)
            yield Part(state.path, start, stop)
            start = stop
