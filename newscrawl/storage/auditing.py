"""Articles whose page was read, for whoever asks whether it may be; and what is left of those that
may not: what their feed told everybody."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from sqlalchemy import ColumnElement, Connection, delete, func, select, update

from newscrawl.items import Document, Hints
from newscrawl.storage import models
from newscrawl.storage.analysis import Analysis
from newscrawl.storage.database import Database
from newscrawl.storage.documents import Record, record_of
from newscrawl.storage.frontier.queue import unpacked
from newscrawl.storage.models import Article, ArticleUrl, FrontierUrl, Revision, Source
from newscrawl.storage.occurrences import write_occurrences

# Ours: articles that are looked at, and that are reduced, in one transaction.
AT_ONCE = 500
REDUCED_AT_ONCE = 50
# What is kept of an article's page beside the article itself.
_OF_THE_PAGE = (
    models.Mention,
    models.Boilerplate,
    models.MentionChange,
    models.Revision,
    models.QuarantinedRevision,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadArticle:
    """An article of which more is stored than its feed told: `addresses` are all it was met at."""

    number: int
    source: str
    url: str
    day: date
    addresses: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What is still known of what a feed told of an article: its headline, where nothing else is.

    `language` is the article's own.
    """

    source: str
    url: str
    hints: Hints
    language: str | None


def count_read_articles(database: Database, sources: Collection[str] | None) -> int:
    """Return how many articles `read_articles` would give."""
    with database.reading() as session:
        joined = select(func.count()).join_from(Article, Source, Source.id == Article.source_id)
        return session.scalar(joined.where(*_were_read(sources))) or 0


def read_articles(
    database: Database, sources: Collection[str] | None
) -> Iterator[list[ReadArticle]]:
    """Yield the articles of these sources, or of all, whose pages were read, AT_ONCE at a time."""
    last = 0
    asked = (
        select(Article.id, Source.slug, Article.url, Article.day)
        .join(Source, Source.id == Article.source_id)
        .where(*_were_read(sources))
    )
    while True:
        with database.reading() as session:
            more = asked.where(Article.id > last).order_by(Article.id).limit(AT_ONCE)
            rows = session.execute(more).all()
            addresses: defaultdict[int, list[str]] = defaultdict(list)
            met = select(ArticleUrl.article_id, ArticleUrl.url).where(
                ArticleUrl.article_id.in_([row.id for row in rows])
            )
            for number, url in session.execute(met):
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


def told_of(database: Database, numbers: Sequence[int]) -> dict[int, Told]:
    """Return what feeds told of articles: as it waits in the queue, or as it was stored before the
    page could be read; else the stored headline alone."""
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
                hints[number] = unpacked(packed)
        return {
            row.id: Told(
                source=row.slug,
                url=row.url,
                hints=hints.get(row.id) or Hints(title=row.title),
                language=row.language,
            )
            for row in session.execute(articles)
        }


def reduce_articles(database: Database, documents: Mapping[int, Document]) -> None:
    """Have articles, by their numbers, say no more than these documents, in one transaction.

    Their texts, their revisions and all that was found in them go, and what is counted follows.
    Days and addresses stay. Raise StorageError, and UnstorableDocument for a document at fault.
    """
    records = {number: record_of(document) for number, document in documents.items()}

    def work(connection: Connection) -> None:
        analysis = Analysis(connection)
        with analysis.changing(sorted(records)):
            for number, record in sorted(records.items()):
                _reduce(connection, number, record)
        analysis.write()

    database.write(lambda session: work(session.connection()))


def _reduce(connection: Connection, number: int, record: Record) -> None:
    for table in _OF_THE_PAGE:
        connection.execute(delete(table).where(table.article_id == number))
    kept = {"url", "published_at"}
    columns = {name: value for name, value in record.columns.items() if name not in kept}
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
    # Should the page be allowed again, it must not answer that nothing has changed.
    addresses = select(ArticleUrl.url).where(ArticleUrl.article_id == number)
    connection.execute(
        update(FrontierUrl)
        .where(FrontierUrl.url.in_(addresses))
        .values(etag=None, last_modified=None)
    )
