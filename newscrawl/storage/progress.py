"""The progress of long work, stored in the transaction that does a part of it.

A part is done and recorded, or neither: a restart after a crash repeats nothing.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from sqlalchemy.orm import Session

from newscrawl.storage import models
from newscrawl.storage.database import Database


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskProgress:
    """The finished part of a task: everything before `position`, with these `counts`."""

    position: int = 0
    counts: Mapping[str, int] = field(default_factory=dict)
    finished_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """A finished part of a task, up to `position`; `counts` are those of all parts so far."""

    task: str
    position: int
    counts: Mapping[str, int]
    finished: bool = False


def load_progress(database: Database, task: str) -> TaskProgress:
    """Return the progress of a task; a new one is at position 0."""
    with database.reading() as session:
        row = session.get(models.Progress, task)
        if row is None:
            return TaskProgress()
        return TaskProgress(position=row.position, counts=row.counts, finished_at=row.finished_at)


def record_step(session: Session, step: Step) -> None:
    """Write the step, in the transaction of its work."""
    now = datetime.now(UTC)
    row = session.get(models.Progress, step.task)
    if row is None:
        row = models.Progress(task=step.task, started_at=now)
        session.add(row)
    row.position, row.counts = step.position, dict(step.counts)
    row.updated_at, row.finished_at = now, now if step.finished else None


def delete_progress(database: Database, task: str) -> None:
    """Delete the progress of a task, so that it starts from the beginning."""

    def work(session: Session) -> None:
        row: Any = session.get(models.Progress, task)
        if row is not None:
            session.delete(row)

    database.write(work)
