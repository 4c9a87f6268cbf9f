"""Documents for storage and queries, as short as a test can say what matters to it."""

from collections.abc import Iterable, Sequence
from datetime import UTC, date, datetime, timedelta

import psycopg

from newscrawl.items import Access, Article, Document, Kind, Mention, Page
from newscrawl.storage import Database, SaveResult, UnstorableDocument
from newscrawl.storage.articles import stored_urls
from newscrawl.storage.batch import FinishedPage, write_batch
from newscrawl.storage.models import Base

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
LONG = "The council met on Tuesday to talk about the new bridge across the river. " * 5


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
) -> Document:
    """A document of `https://SOURCE.example/PATH`."""
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
    return Document(page=page, article=article, mentions=tuple(mentions))


def headline(company: str) -> Mention:
    """The company at the beginning of a headline."""
    return Mention(
        company=company, surface=company, start=0, end=len(company), section="title", rule="name"
    )


def body(company: str, start: int = 0) -> Mention:
    """The company in the text."""
    return Mention(
        company=company,
        surface=company,
        start=start,
        end=start + len(company),
        section="body",
        rule="name",
    )


def register(database: Database, slug: str = "ft", language: str = "en") -> int:
    """A source, and the number of a run of it."""
    database.register_source(slug, slug.upper(), "gb", language, f"https://{slug}.example/")
    return database.start_run(slug)


def day(number: int) -> date:
    """The day so many days after NOON's."""
    return (NOON + timedelta(days=number)).date()


def moment(number: int) -> datetime:
    """Noon so many days after NOON."""
    return NOON + timedelta(days=number)


def empty(postgres_url: str) -> None:
    """Leaves nothing but the tables in a PostgreSQL database."""
    with psycopg.connect(postgres_url) as connection:
        for table in reversed(Base.metadata.sorted_tables):
            connection.execute(f"DELETE FROM {table.name}")  # noqa: S608 - our own names


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
    """Return those of the canonical URLs that are stored, as an article's own or as an alias."""
    with database.reading() as session:
        return stored_urls(session.connection(), urls)
