"""The full-text index: FTS5 in SQLite, a tsvector with a GIN index in PostgreSQL.

Both get the same words, folded by `newscrawl.storage.words`, and so find the same articles; of a
text over MAX_INDEXED they get the beginning. SQLite's index stores no text, only words
(`content=''`): to delete an article from it, the same words must be given again. Its rows are
numbered by time, so that the newest are found without sorting.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, bindparam, column, delete, table, text
from sqlalchemy.dialects import postgresql

from newscrawl.storage.engine import BulkInsert
from newscrawl.storage.words import MAX_INDEXED, Wording

# A key is the article's minute (31 bits), then its number (32 bits).
NUMBER_BITS = 32
_NUMBER = (1 << NUMBER_BITS) - 1

SQLITE_SEARCH = table("article_search", column("rowid"), column("title"), column("body"))
POSTGRES_SEARCH = table(
    "article_search",
    column("article_id"),
    column("minute"),
    column("words", postgresql.TSVECTOR()),
)

_SQLITE_COLUMNS = ("rowid", "title", "body")
_SQLITE_ADD = BulkInsert(SQLITE_SEARCH, _SQLITE_COLUMNS)
_SQLITE_REMOVE = text(
    "INSERT INTO article_search (article_search, rowid, title, body) "
    "VALUES ('delete', :rowid, :title, :body)"
)
_SQLITE_CLEAR = text("INSERT INTO article_search (article_search) VALUES ('delete-all')")
_POSTGRES_ADD = BulkInsert(POSTGRES_SEARCH, ("article_id", "minute", "words"))
_POSTGRES_REMOVE = delete(POSTGRES_SEARCH).where(
    POSTGRES_SEARCH.c.article_id == bindparam("number")
)


@dataclass(frozen=True, slots=True)
class IndexEntry:
    """An article as it is indexed: its words and its time."""

    article_id: int
    minute: int
    wording: Wording


def search_key(minute: int, article_id: int) -> int:
    """Return the id of an article's row in SQLite's index."""
    return minute << NUMBER_BITS | article_id


def article_of(key: Any) -> Any:
    """Return the article's id in a key, or in a column of keys."""
    return key.op("&")(_NUMBER) if isinstance(key, ColumnElement) else key & _NUMBER


def add(connection: Connection, entries: Sequence[IndexEntry]) -> None:
    """Add articles to the index that are not in it."""
    if not entries:
        return
    if connection.dialect.name == "sqlite":
        # In the order of their keys: FTS5 flushes its buffer at each smaller key.
        ordered = sorted(entries, key=lambda entry: (entry.minute, entry.article_id))
        _SQLITE_ADD.write(connection, list(map(_sqlite_row, ordered)))
        return
    rows = [(one.article_id, one.minute, one.wording.vector) for one in entries]
    _POSTGRES_ADD.write(connection, rows)


def remove(connection: Connection, entries: Sequence[IndexEntry]) -> None:
    """Remove articles from the index, each exactly as it was added."""
    if not entries:
        return
    if connection.dialect.name == "sqlite":
        rows = [dict(zip(_SQLITE_COLUMNS, _sqlite_row(one), strict=True)) for one in entries]
        connection.execute(_SQLITE_REMOVE, rows)
        return
    connection.execute(_POSTGRES_REMOVE, [{"number": entry.article_id} for entry in entries])


def clear(connection: Connection) -> None:
    """Empty the index."""
    sqlite = connection.dialect.name == "sqlite"
    connection.execute(_SQLITE_CLEAR if sqlite else delete(POSTGRES_SEARCH))


def _sqlite_row(entry: IndexEntry) -> tuple[int, str, str]:
    title, body = entry.wording.title, entry.wording.body
    if len(title) + len(body) > MAX_INDEXED:
        title, body = map("\n".join, entry.wording.indexed)
    return search_key(entry.minute, entry.article_id), title, body
