"""Delete articles at a publisher's request, with a source or by age, and reduce those to what their
feed published whose pages robots.txt forbids.

Their words are erased from the files of SQLite, too. FTS5 marks the words of a deleted row as
deleted, and keeps them, in order, until all parts of the index that are older than the mark are
merged (sqlite.org/fts5.html, 6.8). That happens here once after a deletion, in steps between which
crawls can write. SQLite's journal, which has earlier pages of the file, is emptied after it.
PostgreSQL removes deleted rows by VACUUM, which it runs itself.
"""

import time
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from functools import partial
from typing import Any, Final

from sqlalchemy import (
    ColumnElement,
    Connection,
    and_,
    delete,
    exists,
    func,
    null,
    or_,
    select,
    text,
    update,
)
from sqlalchemy.dialects import sqlite
from sqlalchemy.orm import Session, aliased

from newscrawl.items import Document, Hints
from newscrawl.storage import models
from newscrawl.storage.articles import lock_source
from newscrawl.storage.database import Database, reads
from newscrawl.storage.documents import DELETED, record_of
from newscrawl.storage.frontier.queue import NAMED_AGAIN, unpack_hints
from newscrawl.storage.mentions import write_occurrences
from newscrawl.storage.models import (
    Article,
    ArticleUrl,
    FrontierUrl,
    Incident,
    Listing,
    Poll,
    Progress,
    QuarantinedRevision,
    QueryMatch,
    Revision,
    Run,
    Source,
)
from newscrawl.storage.rollups import RollupUpdate
from newscrawl.storage.unregistered import write_unregistered

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
# Of addresses in the queue: without validators, since a page that is allowed again must be sent.
_ANEW: Final[dict[str, Any]] = {"etag": None, "last_modified": None}
_NEVER_AGAIN = {"state": "done", "reason": DELETED, "due_at": None, "hints": {}, **_ANEW}


@dataclass(frozen=True, slots=True)
class StoredAddress:
    """An article that is to be deleted."""

    number: int
    url: str
    title: str | None


@reads
def articles_under(
    session: Session, urls: Collection[str]
) -> tuple[list[StoredAddress], list[str]]:
    """Return the articles under these URLs which are not deleted yet; and the URLs under which
    there is none."""
    query = (
        select(ArticleUrl.url, Article.id, Article.url, Article.title)
        .join(Article, Article.id == ArticleUrl.article_id)
        .where(Article.kind != DELETED, ArticleUrl.url.in_(urls))
        .order_by(Article.id)
    )
    rows = session.execute(query).all()
    articles = {
        number: StoredAddress(number, article_url, title) for _, number, article_url, title in rows
    }
    stored_urls = {address for address, *_ in rows}
    return list(articles.values()), [url for url in urls if url not in stored_urls]


@reads
def articles_of(
    session: Session, source: str | None, before: date | None = None
) -> list[StoredAddress]:
    """Return the articles of a source, or of all, which are not deleted yet; only those of days
    before `before` if it is given."""
    query = select(Article.id, Article.url, Article.title).where(Article.kind != DELETED)
    if source is not None:
        query = query.join(Source, Source.id == Article.source_id).where(Source.slug == source)
    if before is not None:
        query = query.where(Article.day < before)
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

    def work(some: Sequence[int], connection: Connection) -> None:
        for number in some:
            lock_source(connection, number)
        rollups = RollupUpdate(connection)
        with rollups.updating(some):
            _replace(connection, some, (*OF_THE_PAGE, QueryMatch), _EMPTY, _NEVER_AGAIN)
        rollups.write()
        require_erasure(connection)

    for start in range(0, len(chosen), _AT_ONCE):
        some = chosen[start : start + _AT_ONCE]
        database.transact(partial(work, some))
        report(start + len(some), len(chosen))
    return erase_deleted(database)


def _replace(
    connection: Connection,
    numbers: Sequence[int],
    tables: Iterable[Any],
    columns: Mapping[str, Any],
    in_queue: Mapping[str, Any],
) -> None:
    """Delete what tables have of articles, and change their columns and those of their addresses in
    the queue."""
    for table in tables:
        connection.execute(delete(table).where(table.article_id.in_(numbers)))
    connection.execute(update(Article).where(Article.id.in_(numbers)).values(columns))
    addresses = select(ArticleUrl.url).where(ArticleUrl.article_id.in_(numbers))
    queued = update(FrontierUrl).where(FrontierUrl.url.in_(addresses))
    connection.execute(queued.values(in_queue))


# --- Erasure ---

_ERASE = "erase"
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
        .values(task=_ERASE, position=0, counts={}, started_at=now, updated_at=now)
        .on_conflict_do_update(index_elements=[Progress.task], set_={"updated_at": now})
    )


def erase_deleted(database: Database, is_stopping: Callable[[], bool] = lambda: False) -> bool:
    """Erase the words of deleted texts; return False if that is still to be done, because it was
    stopped or others use the journal. Raise StorageError."""
    if database.dialect != "sqlite":
        return True
    with database.reading() as session:
        required = session.scalar(select(Progress.updated_at).where(Progress.task == _ERASE))
    if required is None:
        return True
    # The first step puts all parts of the index in line to be merged into one.
    pages = -_STEP
    while _merge(database, pages) or pages < 0:
        pages = _STEP
        if is_stopping():
            return False
        time.sleep(_PAUSE)
    done = delete(Progress).where(Progress.task == _ERASE, Progress.updated_at == required)
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
    models.UnregisteredName,
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


@reads
def count_read_articles(session: Session, sources: Collection[str] | None) -> int:
    """Return the number of articles that `read_articles` yields."""
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


@reads
def published_hints(session: Session, numbers: Sequence[int]) -> dict[int, PublishedHints]:
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
    hints: dict[int, Hints] = {}
    for number, title, standfirst in session.execute(before):
        hints[number] = Hints(title=title, standfirst=standfirst or None)
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
                columns = {**record.columns, "content_hash": record.content_hash}
                columns |= {"fingerprint": record.fingerprint, "revision": 1, "revised_at": None}
                columns = {key: columns[key] for key in columns.keys() - {"url", "published_at"}}
                _replace(connection, [number], OF_THE_PAGE, columns, _ANEW)
                write_occurrences(connection, {number: record.mentions}, {})
                write_unregistered(connection, {number: record.unregistered})
        rollups.write()
        require_erasure(connection)

    database.transact(work)


# --- Rows that are no longer needed ---

# Pruning keeps a database that is used for years from growing by more than its articles:
#
# - A page of the queue that will not be requested again, once an article is stored under its
#   address, or once no feed or sitemap has listed it for `keep`. Stored articles are never fetched
#   again: their addresses are kept with them, and a stored address is not queued.
# - A feed or sitemap that no crawl of its source has requested since, such as those of a past day.
# - A run without an article of its own; one with articles loses its counts, which are summed in the
#   days of its source.
# - A monitor that has ended, an incident that is over, a copy of a robots.txt that was not read
#   since, a revision that has left the quarantine, the record of a sent notice.
#
# Rows are selected in pieces, by their ids, and deleted in short transactions: crawls continue
# meanwhile, and an interrupted pruning starts again the next day.

_PRUNE = "prune"
EVERY = timedelta(days=1)
# The record that a listing still has a page may be this old: a shorter time would delete the page.
MIN_KEEP = 2 * NAMED_AGAIN
# Ours: rows that are examined in a piece, and that are deleted in one transaction.
_PIECE, _PRUNED_AT_ONCE = 10_000, 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Pruning:
    """Deletes rows older than `keep`. `is_stopping` is called between two pieces of work, and
    `report` with the number of rows done and of all."""

    database: Database
    keep: timedelta
    now: datetime = field(default_factory=lambda: datetime.now(UTC))
    is_stopping: Callable[[], bool] = lambda: False
    report: Callable[[int, int], None] = lambda _done, _of: None

    def __post_init__(self) -> None:
        if self.keep < MIN_KEEP:
            raise ValueError(f"keep {self.keep}: less than {MIN_KEEP}")

    def run(self) -> dict[str, int]:
        """Delete the rows, only a part of them if it is stopped, and return their numbers by name;
        some of the runs have lost only their counts. Raise StorageError."""
        limit = self.now - self.keep
        # Rows of sources that were not crawled since are kept.
        crawled = select(Poll.source_id).where(Poll.polled_at >= limit)
        seen_at = func.coalesce(FrontierUrl.visited_at, FrontierUrl.discovered_at)
        stored = exists().where(ArticleUrl.url == FrontierUrl.url)
        listed_at = func.coalesce(FrontierUrl.named_at, FrontierUrl.discovered_at)
        # A listing that has had new entries since would have listed the page again.
        silent = exists().where(
            Listing.id == FrontierUrl.listing_id,
            or_(Listing.changed_at > limit + NAMED_AGAIN, Listing.next_poll_at < limit),
        )
        unnamed = and_(
            listed_at < limit,
            FrontierUrl.source_id.in_(crawled),
            or_(FrontierUrl.listing_id.is_(None), silent),
        )
        pages = and_(FrontierUrl.due_at.is_(None), seen_at < limit, or_(stored, unnamed))
        listings = and_(Listing.next_poll_at < limit, Listing.source_id.in_(crawled))
        # The last run of each source is kept for its time.
        later = aliased(Run)
        is_followed = exists().where(later.source_id == Run.source_id, later.id > Run.id)
        runs = and_(Run.started_at < limit, is_followed)
        empty = and_(runs, ~exists().where(Article.run_id == Run.id))
        old: Mapping[str, tuple[Any, ColumnElement[bool]]] = {
            "pages": (FrontierUrl, pages),
            "listings": (Listing, listings),
            "runs": (Run, empty),
            "monitors": (models.Worker, models.Worker.seen_at < limit),
            "incidents": (Incident, Incident.recovered_at < limit),
            "robots_policies": (models.RobotsPolicy, models.RobotsPolicy.fetched_at < limit),
            "revisions": (QuarantinedRevision, QuarantinedRevision.closed_at < limit),
            "sent_notices": (models.SentNotice, models.SentNotice.sent_at < limit),
        }
        dropped = {name: self._drop(table, condition) for name, (table, condition) in old.items()}
        for numbers in self._find_ids(Run, and_(runs, Run.counts.is_not(None))):
            without = update(Run).where(Run.id.in_(numbers)).values(counts=null())
            dropped["runs"] += self._write(without)
        return dropped

    def _drop(self, table: Any, condition: ColumnElement[bool]) -> int:
        """Delete the rows, each only if the condition still holds; return their number."""
        if not hasattr(table, "id"):  # of so few that one statement suffices
            return self._write(delete(table).where(condition))
        dropped, at_once = 0, 1 if table is Listing else _PRUNED_AT_ONCE
        for numbers in self._find_ids(table, condition):
            for start in range(0, len(numbers), at_once):
                chosen = numbers[start : start + at_once]
                dropped += self._write(delete(table).where(table.id.in_(chosen), condition))
        return dropped

    def _find_ids(self, table: Any, condition: ColumnElement[bool]) -> Iterator[Sequence[int]]:
        """Yield the ids of the rows, piece by piece through the whole table."""
        with self.database.reading() as session:
            last = session.scalar(select(func.max(table.id))) or 0
        done = 0
        while done < last and not self.is_stopping():
            ahead = select(table.id).where(table.id > done).order_by(table.id).limit(_PIECE)
            with self.database.reading() as session:
                end = session.scalar(select(func.max(ahead.subquery().c.id))) or last
                query = select(table.id).where(table.id > done, table.id <= end, condition)
                numbers = session.scalars(query).all()
            if numbers:
                yield numbers
            done = end
            self.report(done, last)

    def _write(self, statement: Any) -> int:
        def work(session: Session) -> int:
            # These rows aren't in the session.
            options = {"synchronize_session": False}
            result: Any = session.execute(statement, execution_options=options)
            return int(result.rowcount)

        changed = self.database.write(work)
        time.sleep(_PAUSE)
        return changed


def prune_daily(
    database: Database, keep: timedelta, is_stopping: Callable[[], bool] = lambda: False
) -> dict[str, int] | None:
    """Delete old rows, unless that was done within a day, on this machine or another; return the
    numbers, or None. Raise StorageError."""
    now = datetime.now(UTC)
    if not database.write(lambda session: _claim(session, now)):
        return None
    pruned = Pruning(database=database, keep=keep, now=now, is_stopping=is_stopping).run()

    def note(session: Session) -> None:
        row = session.get(models.Progress, _PRUNE)
        if row is not None:
            row.counts = pruned
            row.updated_at = row.finished_at = datetime.now(UTC)

    database.write(note)
    erase_deleted(database, is_stopping)
    return pruned


def _claim(session: Session, now: datetime) -> bool:
    """Return whether this process is to prune: one of several at the same time does."""
    table = models.Progress
    mine = update(table).where(table.task == _PRUNE, table.started_at <= now - EVERY)
    begun: Any = session.execute(
        mine.values(started_at=now, updated_at=now, finished_at=None),
        execution_options={"synchronize_session": False},
    )
    if begun.rowcount or session.get(table, _PRUNE) is not None:
        return bool(begun.rowcount)
    session.add(table(task=_PRUNE, position=0, counts={}, started_at=now, updated_at=now))
    return True
