"""Erase the words of deleted texts from the files of an SQLite database.

FTS5 marks the words of a deleted row as deleted, and keeps them, in order, until all parts of the
index that are older than the mark are merged (sqlite.org/fts5.html, 6.8). That happens here once
after a deletion, in steps between which crawls can write. SQLite's journal, which has earlier pages
of the file, is emptied after it. PostgreSQL removes deleted rows by VACUUM, which it runs itself.
"""

import time
from collections.abc import Callable
from datetime import UTC, datetime

from sqlalchemy import Connection, delete, select, text
from sqlalchemy.dialects import sqlite

from newscrawl.storage.database import Database
from newscrawl.storage.models import Progress

TASK = "erase"
# Ours: pages of the index that are written in one transaction, which takes a twentieth of a second,
# and seconds of the pause after it, in which others may write.
_STEP, _PAUSE = 500, 0.01

_MERGE = text("INSERT INTO article_search (article_search, rank) VALUES ('merge', :pages)")
_CHANGES = text("SELECT total_changes()")


def require_erasure(connection: Connection) -> None:
    """Record, in the transaction that deletes texts, that their words are to be erased: after an
    interruption, the next deletion or daily pruning does so."""
    if connection.dialect.name != "sqlite":
        return
    now = datetime.now(UTC)
    connection.execute(
        sqlite.insert(Progress)
        .values(task=TASK, position=0, counts={}, started_at=now, updated_at=now)
        .on_conflict_do_update(index_elements=[Progress.task], set_={"updated_at": now})
    )


def erase_deleted(database: Database, is_stopping: Callable[[], bool] = lambda: False) -> bool:
    """Erase the words of deleted texts; return False if that is still to be done, because it was
    stopped or others use the journal. Raise StorageError."""
    if database.dialect != "sqlite":
        return True
    with database.reading() as session:
        required = session.scalar(select(Progress.updated_at).where(Progress.task == TASK))
    if required is None:
        return True
    # The first step puts all parts of the index in line to be merged into one.
    pages = -_STEP
    while _merge(database, pages) or pages < 0:
        pages = _STEP
        if is_stopping():
            return False
        time.sleep(_PAUSE)
    done = delete(Progress).where(Progress.task == TASK, Progress.updated_at == required)
    database.write(lambda session: session.execute(done))
    if database.empty_journal():
        return True
    database.transact(require_erasure)
    return False


def _merge(database: Database, pages: int) -> bool:
    """Merge parts of the index up to a number of written pages; return whether any were."""

    def work(connection: Connection) -> bool:
        before = connection.scalar(_CHANGES) or 0
        connection.execute(_MERGE, {"pages": pages})
        # The command itself counts as a change (sqlite.org/fts5.html, 6.8).
        return (connection.scalar(_CHANGES) or 0) - before > 1

    return database.transact(work)
