"""Articles that may not be kept: deleted at a publisher's request, with a source or by age, or
reduced to what their feed published, if robots.txt forbids their pages.

Their words are erased from the files of SQLite, too. FTS5 marks the words of a deleted row as
deleted, and keeps them, in order, until all parts of the index that are older than the mark are
merged (sqlite.org/fts5.html, 6.8). That happens here once after a deletion, in steps between which
crawls can write. SQLite's journal, which has earlier pages of the file, is emptied after it.
PostgreSQL removes deleted rows by VACUUM, which it runs itself.
"""

import time
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from functools import partial
from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, delete, func, select, text, update
from sqlalchemy.dialects import sqlite

from newscrawl.items import Document, Hints
from newscrawl.storage import models
from newscrawl.storage.articles import lock_source
from newscrawl.storage.database import Database
from newscrawl.storage.documents import DELETED, Record, record_of
from newscrawl.storage.frontier.queue import unpack_hints
from newscrawl.storage.mentions import write_occurrences
from newscrawl.storage.models import (
    Article,
    ArticleUrl,
    FrontierUrl,
    Progress,
    QueryMatch,
    Revision,
    Source,
)
from newscrawl.storage.rollups import RollupUpdate

# --- Deletion ---

# Ours: articles in one transaction; crawls wait a second at most.
_AT_ONCE: Final = 100
# The columns of a deleted article that held its content; its URLs, its day and the hash of its text
# stay, so that it is recognised under any address.
_EMPTY: Final[dict[str, Any]] = {
    "title": None,
    "text": "",
    "authors": [],
    "modified_at": None,
    "section": None,
    "site_name": None,
    "image": None,
    "paywalled": None,
    "access": "open",
    "kind": DELETED,
    "content_hash": "",
    "revision": 1,
    "revised_at": None,
}


@dataclass(frozen=True, slots=True)
class StoredAddress:
    """An article that is to be deleted."""

    number: int
    url: str
    title: str | None


def articles_under(
    database: Database, urls: Collection[str]
) -> tuple[list[StoredAddress], list[str]]:
    """Return the articles under these URLs which are not deleted yet; and the URLs under which
    there is none."""
    query = (
        select(ArticleUrl.url, Article.id, Article.url, Article.title)
        .join(Article, Article.id == ArticleUrl.article_id)
        .where(Article.kind != DELETED, ArticleUrl.url.in_(urls))
        .order_by(Article.id)
    )
    with database.reading() as session:
        rows = session.execute(query).all()
    articles = {
        number: StoredAddress(number, article_url, title) for _, number, article_url, title in rows
    }
    stored_urls = {address for address, *_ in rows}
    return list(articles.values()), [url for url in urls if url not in stored_urls]


def articles_of(
    database: Database, source: str | None, before: date | None = None
) -> list[StoredAddress]:
    """Return the articles of a source, or of all, which are not deleted yet; only those of days
    before `before` if it is given."""
    query = select(Article.id, Article.url, Article.title).where(Article.kind != DELETED)
    if source is not None:
        query = query.join(Source, Source.id == Article.source_id).where(Source.slug == source)
    if before is not None:
        query = query.where(Article.day < before)
    with database.reading() as session:
        return [StoredAddress(*row) for row in session.execute(query.order_by(Article.id))]


def delete_articles(
    database: Database,
    numbers: Iterable[int],
    report: Callable[[int, int], None] = lambda _done, _of: None,
) -> bool:
    """Delete the texts of articles and all data derived from them, and update the counts; return
    whether their words were also erased from the files of the database (`erase_deleted`).

    The addresses stay, so that no crawl, ingestion or reextraction stores the articles again.
    """
    chosen = sorted(set(numbers))
    for start in range(0, len(chosen), _AT_ONCE):
        some = chosen[start : start + _AT_ONCE]
        database.transact(partial(_delete, some))
        report(start + len(some), len(chosen))
    return erase_deleted(database)


def _delete(numbers: Sequence[int], connection: Connection) -> None:
    for number in numbers:
        lock_source(connection, number)
    rollups = RollupUpdate(connection)
    with rollups.updating(numbers):
        for table in (*OF_THE_PAGE, QueryMatch):
            connection.execute(delete(table).where(table.article_id.in_(numbers)))
        connection.execute(update(Article).where(Article.id.in_(numbers)).values(_EMPTY))
    rollups.write()
    require_erasure(connection)
    addresses = select(ArticleUrl.url).where(ArticleUrl.article_id.in_(numbers))
    connection.execute(
        update(FrontierUrl)
        .where(FrontierUrl.url.in_(addresses))
        .values(state="done", reason=DELETED, due_at=None, hints={}, etag=None, last_modified=None)
    )


# --- Erasure ---

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


# --- Reduction ---

# Ours: articles that are examined, and that are reduced, in one transaction.
AT_ONCE = 500
REDUCED_AT_ONCE = 50
# The columns of an article that come from its page.
OF_THE_PAGE = (
    models.Mention,
    models.Correction,
    models.Boilerplate,
    models.MentionChange,
    models.Revision,
    models.QuarantinedRevision,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadArticle:
    """An article that is stored with more than its feed published: `addresses` are all its URLs."""

    number: int
    source: str
    url: str
    day: date
    addresses: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedHints:
    """The stored hints of an article that a feed published: at least its headline.

    `language` is the article's own.
    """

    source: str
    url: str
    hints: Hints
    language: str | None


def count_read_articles(database: Database, sources: Collection[str] | None) -> int:
    """Return the number of articles that `read_articles` yields."""
    with database.reading() as session:
        joined = select(func.count()).join_from(Article, Source, Source.id == Article.source_id)
        return session.scalar(joined.where(*_were_read(sources))) or 0


def read_articles(
    database: Database, sources: Collection[str] | None
) -> Iterator[list[ReadArticle]]:
    """Yield the articles of these sources, or of all, whose pages were read, AT_ONCE at a time."""
    last = 0
    query = (
        select(Article.id, Source.slug, Article.url, Article.day)
        .join(Source, Source.id == Article.source_id)
        .where(*_were_read(sources))
    )
    while True:
        with database.reading() as session:
            more = query.where(Article.id > last).order_by(Article.id).limit(AT_ONCE)
            rows = session.execute(more).all()
            addresses: defaultdict[int, list[str]] = defaultdict(list)
            addresses_query = select(ArticleUrl.article_id, ArticleUrl.url).where(
                ArticleUrl.article_id.in_([row.id for row in rows])
            )
            for number, url in session.execute(addresses_query):
                addresses[number].append(url)
        if not rows:
            return
        yield [
            ReadArticle(
                number=row.id,
                source=row.slug,
                url=row.url,
                day=row.day,
                addresses=tuple(dict.fromkeys((row.url, *sorted(addresses[row.id])))),
            )
            for row in rows
        ]
        last = rows[-1].id


def _were_read(sources: Collection[str] | None) -> list[ColumnElement[bool]]:
    were_read = [Article.access == "open"]
    return were_read if sources is None else [*were_read, Source.slug.in_(sources)]


def published_hints(database: Database, numbers: Sequence[int]) -> dict[int, PublishedHints]:
    """Return the hints that feeds published of articles: from the queue, or as they were stored
    before the page could be read; else the stored headline only."""
    chosen = Article.id.in_(numbers)
    articles = (
        select(Article.id, Article.url, Article.title, Article.language, Source.slug)
        .join(Source, Source.id == Article.source_id)
        .where(chosen)
    )
    queued = (
        select(ArticleUrl.article_id, FrontierUrl.hints)
        .join(FrontierUrl, FrontierUrl.url == ArticleUrl.url)
        .where(ArticleUrl.article_id.in_(numbers))
        .order_by(FrontierUrl.id)
    )
    before = (
        select(Revision.article_id, Revision.title, Revision.text)
        .where(Revision.article_id.in_(numbers), Revision.access != "open")
        .order_by(Revision.article_id, Revision.number)
    )
    with database.reading() as session:
        hints: dict[int, Hints] = {}
        for number, title, text in session.execute(before):
            hints[number] = Hints(title=title, standfirst=text or None)
        for number, packed in session.execute(queued):
            if packed.get("title"):
                hints[number] = unpack_hints(packed)
        return {
            row.id: PublishedHints(
                source=row.slug,
                url=row.url,
                hints=hints.get(row.id) or Hints(title=row.title),
                language=row.language,
            )
            for row in session.execute(articles)
        }


def reduce_articles(database: Database, documents: Mapping[int, Document]) -> None:
    """Replace articles, by their ids, by these documents, in one transaction.

    Their texts, revisions and mentions are deleted, and all rollups are updated. Days and URLs are
    kept. Raise StorageError, and UnstorableDocument for an invalid document.
    """
    records = {number: record_of(document) for number, document in documents.items()}

    def work(connection: Connection) -> None:
        rollups = RollupUpdate(connection)
        with rollups.updating(sorted(records)):
            for number, record in sorted(records.items()):
                _reduce(connection, number, record)
        rollups.write()
        require_erasure(connection)

    database.transact(work)


def _reduce(connection: Connection, number: int, record: Record) -> None:
    for table in OF_THE_PAGE:
        connection.execute(delete(table).where(table.article_id == number))
    unchanged = {"url", "published_at"}
    columns = {name: value for name, value in record.columns.items() if name not in unchanged}
    connection.execute(
        update(Article)
        .where(Article.id == number)
        .values(
            **columns,
            content_hash=record.content_hash,
            fingerprint=record.fingerprint,
            revision=1,
            revised_at=None,
        )
    )
    write_occurrences(connection, {number: record.mentions}, {})
    # If the page is allowed again, the server must not respond that nothing has changed.
    addresses = select(ArticleUrl.url).where(ArticleUrl.article_id == number)
    connection.execute(
        update(FrontierUrl)
        .where(FrontierUrl.url.in_(addresses))
        .values(etag=None, last_modified=None)
    )
