"""Delete articles permanently: at a publisher's request, or all of a source."""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from functools import partial
from typing import Any, Final

from sqlalchemy import Connection, delete, select, update

from newscrawl.storage.articles import lock_source
from newscrawl.storage.database import Database
from newscrawl.storage.documents import DELETED
from newscrawl.storage.erasure import erase_deleted, require_erasure
from newscrawl.storage.models import Article, ArticleUrl, FrontierUrl, QueryMatch, Source
from newscrawl.storage.retention import OF_THE_PAGE
from newscrawl.storage.rollups import RollupUpdate

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
