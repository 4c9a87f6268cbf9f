"""The addresses under which articles are stored: their own, and those they were met under."""

from collections.abc import Iterable, Sequence

from sqlalchemy import Connection, bindparam, select

from newscrawl.storage.bulk import BulkInsert
from newscrawl.storage.models import ArticleUrl, Base

_STORED = select(ArticleUrl.url, ArticleUrl.article_id).where(
    ArticleUrl.url.in_(bindparam("urls", expanding=True))
)
_ADD = BulkInsert(
    Base.metadata.tables["article_urls"],
    ("url", "article_id"),
    lambda row: row.on_conflict_do_nothing(),
)


def stored_urls(connection: Connection, urls: Iterable[str]) -> set[str]:
    """Those of the addresses that are stored."""
    return set(numbers_at(connection, urls))


def numbers_at(connection: Connection, urls: Iterable[str]) -> dict[str, int]:
    """The numbers of the articles that are stored under the addresses, by these."""
    asked = sorted(set(urls))
    return dict(connection.execute(_STORED, {"urls": asked}).all()) if asked else {}


def add_urls(connection: Connection, addresses: Sequence[tuple[str, int]]) -> None:
    """Stores addresses of articles, by their numbers; those that are stored stay with the article
    they have."""
    rows = [{"url": url, "article_id": number} for url, number in addresses]
    _ADD.write(connection, rows)
