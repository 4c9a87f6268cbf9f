"""Short documents for tests of storage and queries."""

from collections.abc import Iterable, Sequence
from datetime import UTC, date, datetime, timedelta
from functools import cache

import psycopg
from sqlalchemy import text

from newscrawl.items import Access, Article, Document, Kind, Mention, Page
from newscrawl.mentions import Companies, load_companies
from newscrawl.storage import Database, SaveResult, UnstorableDocument, engine
from newscrawl.storage.articles import stored_urls
from newscrawl.storage.batch import FinishedPage, write_batch
from newscrawl.storage.models import Base

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
LONG = "The council met on Tuesday to talk about the new bridge across the river. " * 5


@cache
def bundled_companies() -> Companies:
    """Return the registry, read once: it gathers its context words at the first doubtful name."""
    return load_companies()


def document(
    path: str = "a",
    *,
    source: str = "ft",
    title: str | None = "A headline",
    text: str = LONG,
    mentions: Sequence[Mention] = (),
    published: datetime | None = NOON,
    fetched_at: datetime = NOON,
    language: str | None = "en",
    section: str | None = None,
    access: Access = "open",
    kind: Kind = "article",
    fetched_from: str | None = None,
    boilerplate: Sequence[tuple[str, int]] = (),
) -> Document:
    """Return a document of `https://SOURCE.example/PATH`."""
    url = f"https://{source}.example/{path}"
    page = Page(
        url=fetched_from or url, source=source, html=b"", fetched_at=fetched_at, access=access
    )
    article = Article(
        url=url,
        title=title,
        text=text,
        published=published,
        language=language,
        section=section,
        kind=kind,
    )
    return Document(
        page=page, article=article, mentions=tuple(mentions), boilerplate=tuple(boilerplate)
    )


def headline(company: str) -> Mention:
    """Return a mention at the beginning of a headline."""
    return Mention(
        company=company, surface=company, start=0, end=len(company), section="title", rule="name"
    )


def body(company: str, start: int = 0) -> Mention:
    """Return a mention in the text."""
    return Mention(
        company=company,
        surface=company,
        start=start,
        end=start + len(company),
        section="body",
        rule="name",
    )


def register(database: Database, slug: str = "ft", language: str = "en") -> int:
    """Register a source and start a run; return the run's number."""
    database.register_source(slug, slug.upper(), "gb", language, f"https://{slug}.example/")
    return database.start_run(slug)


def day(number: int) -> date:
    """Return the day of NOON plus a number of days."""
    return (NOON + timedelta(days=number)).date()


def moment(number: int) -> datetime:
    """Return NOON plus a number of days."""
    return NOON + timedelta(days=number)


def empty(postgres_url: str) -> None:
    """Empty all tables of a PostgreSQL database."""
    with psycopg.connect(postgres_url) as connection:
        for table in reversed(Base.metadata.sorted_tables):
            connection.execute(f"DELETE FROM {table.name}")  # noqa: S608 - our own names


def execute(url: str, statement: str) -> list[tuple[object, ...]]:
    """Execute SQL in a database of any schema, and return the rows of its result."""
    opened = engine.make_engine(engine.parse_url(url))
    with opened.execution_options(writes=True).begin() as connection:
        result = connection.execute(text(statement))
        rows = [tuple(row) for row in result] if result.returns_rows else []
    opened.dispose()
    return rows


def set_schema_version(url: str, version: str) -> None:
    """Make it a database of another schema by name; that of the last former number has the same
    tables."""
    execute(url, f"UPDATE alembic_version SET version_num = '{version}'")  # noqa: S608 - our own


def save_documents(
    database: Database, documents: Sequence[Document], run_id: int
) -> list[SaveResult]:
    """Store documents as a crawl does, in one transaction; raise UnstorableDocument for one."""
    pages = [FinishedPage(document=one) for one in documents]
    outcomes = []
    for outcome in write_batch(database, run_id, pages):
        if isinstance(outcome, UnstorableDocument):
            raise outcome
        assert outcome is not None
        outcomes.append(outcome)
    return outcomes


def save_document(database: Database, document: Document, run_id: int) -> SaveResult:
    """Store a document as a crawl does."""
    (saved,) = save_documents(database, [document], run_id)
    return saved


def known_urls(database: Database, urls: Iterable[str]) -> set[str]:
    """Return the canonical URLs that are stored, as URL or alias of an article."""
    with database.reading() as session:
        return stored_urls(session.connection(), urls)
