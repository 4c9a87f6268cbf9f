"""Data that crawls and long tasks save for their next run: the template memory of a source,
robots.txt files, and the progress of a task.

The progress is stored in the transaction that does a part of the work. A part and its record are
written together: a restart after a crash repeats nothing.
"""

import zlib
from collections.abc import Collection, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from newscrawl.items import Memory, RobotsPolicy, Versions, copy_fields
from newscrawl.storage import models
from newscrawl.storage.database import Database, reads, source_number, writes
from newscrawl.storage.documents import MAX_URL_BYTES
from newscrawl.storage.engine import BulkInsert
from newscrawl.storage.scope import Scope

_MEMORIES = select(models.Source.slug, models.TemplateMemory).join(models.TemplateMemory)


@reads
def memory_of(session: Session, slug: str) -> Memory:
    """Return the template memory of a source; an empty one if nothing was learned yet."""
    row = session.execute(_MEMORIES.where(models.Source.slug == slug)).one_or_none()
    return Memory() if row is None else _memory(row[1])


def memories(database: Database) -> Iterator[tuple[str, Memory]]:
    """Yield the slugs and template memories of all sources that have one."""
    with database.reading() as session:
        for slug, row in session.execute(_MEMORIES.order_by(models.Source.slug)):
            yield slug, _memory(row)


@writes
def keep_memory(session: Session, slug: str, memory: Memory) -> None:
    """Replace the template memory of a registered source."""
    counts = {f"{fingerprint:016x}": count for fingerprint, count in memory.seen.items()}
    source_id = source_number(session, slug)
    session.merge(
        models.TemplateMemory(
            source_id=source_id, pages=memory.pages, seen=counts, updated_at=datetime.now(UTC)
        )
    )


def _memory(row: models.TemplateMemory) -> Memory:
    return Memory(pages=row.pages, seen={int(key, 16): count for key, count in row.seen.items()})


_POLICY = models.RobotsPolicy
_KEEP_POLICY = BulkInsert(
    _POLICY,
    conflict=lambda row: row.on_conflict_do_update(
        index_elements=["origin"],
        set_={name: row.excluded[name] for name in ("status", "rules", "fetched_at")},
        where=_POLICY.fetched_at <= row.excluded.fetched_at,
    ),
)
# Ours: hosts in one statement.
_AT_ONCE = 500


@writes
def keep_robots_policy(session: Session, policy: RobotsPolicy) -> None:
    """Replace the robots.txt of a host, unless the stored one is newer."""
    if len(policy.origin.encode()) <= MAX_URL_BYTES:  # no host has a longer name
        row = (policy.origin, policy.status, zlib.compress(policy.rules), policy.fetched_at)
        _KEEP_POLICY.write(session.connection(), [row])


@reads
def robots_policy(session: Session, origin: str) -> RobotsPolicy | None:
    """Return the last robots.txt of a host, None if it was never read."""
    return robots_policies(session, [origin]).get(origin)


@reads
def robots_policies(session: Session, origins: Collection[str]) -> dict[str, RobotsPolicy]:
    """Return the last robots.txt of these hosts, of those that were ever read."""
    hosts = list(dict.fromkeys(origins))
    policies: dict[str, RobotsPolicy] = {}
    for start in range(0, len(hosts), _AT_ONCE):
        chosen = models.RobotsPolicy.origin.in_(hosts[start : start + _AT_ONCE])
        for row in session.scalars(select(models.RobotsPolicy).where(chosen)):
            rules = zlib.decompress(row.rules)
            policies[row.origin] = copy_fields(RobotsPolicy, row, rules=rules)
    return policies


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


@reads
def load_progress(session: Session, task: str) -> TaskProgress:
    """Return the progress of a task; a new one is at position 0."""
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


@writes
def record_rematch(
    session: Session, scope: Scope, versions: Versions, started_at: datetime
) -> None:
    """Record that the mentions of all articles of a scope were found again."""
    rematch = models.Rematch(
        started_at=started_at,
        finished_at=datetime.now(UTC),
        source=scope.source,
        since=scope.since,
        versions=asdict(versions),
    )
    session.add(rematch)


@writes
def delete_progress(session: Session, task: str) -> None:
    """Delete the progress of a task, so that it starts from the beginning."""
    session.execute(delete(models.Progress).where(models.Progress.task == task))
