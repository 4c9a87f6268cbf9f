"""Adds articles that are new, all of a transaction at once: a statement for each table, not one
for each article, which is what makes storing many of them fast."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Insert, bindparam, func, insert, select, tuple_
from sqlalchemy.dialects import postgresql, sqlite

from newscrawl.storage.analysis import Analysis
from newscrawl.storage.documents import Record, day_of, minute_of
from newscrawl.storage.models import Article, ArticleUrl
from newscrawl.storage.occurrences import write_clutter, write_mentions
from newscrawl.storage.tallies import Tally, counts

_ADD_ARTICLES = insert(Article)
_NUMBERS = select(Article.url, Article.id).where(Article.url.in_(bindparam("urls", expanding=True)))
_STORED_URLS = select(ArticleUrl.url).where(ArticleUrl.url.in_(bindparam("urls", expanding=True)))
_TWINS = (
    select(Article.source_id, Article.fingerprint, func.min(Article.id))
    .where(tuple_(Article.source_id, Article.fingerprint).in_(bindparam("texts", expanding=True)))
    .group_by(Article.source_id, Article.fingerprint)
)
# An INSERT that passes over rows that are there; both databases say it in one way.
_ADD_URLS: dict[str, Insert] = {
    "sqlite": sqlite.insert(ArticleUrl).on_conflict_do_nothing(),
    "postgresql": postgresql.insert(ArticleUrl).on_conflict_do_nothing(),
}


@dataclass(frozen=True, slots=True)
class Origin:
    """The numbers of a record's source and run."""

    source_id: int
    run_id: int


Incoming = tuple[Record, Origin]


def new_ones(connection: Connection, incoming: Sequence[Incoming]) -> list[bool]:
    """Which of them are certainly new: none of their addresses is stored, nor their text in an
    article of their source, and none came before them."""
    asked = {"urls": sorted({url for record, _ in incoming for url in record.urls})}
    met: set[object] = set(connection.scalars(_STORED_URLS, asked))
    texts = {text for record, origin in incoming if (text := _text(record, origin))}
    if texts:
        twins = connection.execute(_TWINS, {"texts": sorted(texts)})
        met.update((source_id, fingerprint) for source_id, fingerprint, _ in twins)
    new = []
    for record, origin in incoming:
        marks = {*record.urls, _text(record, origin)} - {None}
        new.append(not marks & met)
        met |= marks
    return new


def add_articles(connection: Connection, incoming: Sequence[Incoming], analysis: Analysis) -> None:
    """Stores articles that are new, with their addresses, mentions and clutter."""
    if not incoming:
        return
    rows = [_row(record, origin) for record, origin in incoming]
    connection.execute(_ADD_ARTICLES, rows)
    # Faster than to let the database return each number: SQLite takes rows one by one then.
    ids = dict(connection.execute(_NUMBERS, {"urls": [row["url"] for row in rows]}).all())
    numbered = [(ids[row["url"]], row, one) for row, one in zip(rows, incoming, strict=True)]
    add_urls(
        connection,
        [
            {"url": url, "article_id": number}
            for number, _, (record, _) in numbered
            for url in record.urls
        ],
    )
    named = write_mentions(connection, {number: r.mentions for number, _, (r, _) in numbered})
    clutter = write_clutter(connection, {number: r.clutter for number, _, (r, _) in numbered})
    for number, row, _ in numbered:
        if counts(row["access"], row["kind"]):
            tally = Tally(
                article_id=number,
                source_id=row["source_id"],
                day=row["day"],
                minute=minute_of(row["published_at"] or row["first_seen_at"]),
                language=row["language"] or "",
                section=row["section"] or "",
                limited=row["access"] != "open",
                companies=named[number],
                clutter=clutter[number],
            )
            analysis.add(tally, row["title"], row["text"])


def add_urls(connection: Connection, rows: list[dict[str, Any]]) -> None:
    """Stores addresses of articles; those that are stored stay with the article they have."""
    if rows:
        connection.execute(_ADD_URLS[connection.dialect.name], rows)


def _text(record: Record, origin: Origin) -> tuple[int, str] | None:
    return None if record.fingerprint is None else (origin.source_id, record.fingerprint)


def _row(record: Record, origin: Origin) -> dict[str, Any]:
    return {
        **record.columns,
        "source_id": origin.source_id,
        "run_id": origin.run_id,
        "day": day_of(record.columns["published_at"], record.seen_at),
        "content_hash": record.content_hash,
        "fingerprint": record.fingerprint,
        "revision": 1,
        "first_seen_at": record.seen_at,
        "last_seen_at": record.seen_at,
    }
