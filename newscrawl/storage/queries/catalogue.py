"""What is in the database: names to choose from, and how much of everything."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime

from sqlalchemy import func, select

from newscrawl.storage import migrations
from newscrawl.storage.database import Database
from newscrawl.storage.models import (
    Article,
    Company,
    CountedArticle,
    DailySource,
    Mention,
    Revision,
    Run,
    Source,
)
from newscrawl.storage.queries.questions import ANY, question
from newscrawl.storage.scope import Scope, watched
from newscrawl.storage.status import SourceStatus, watch_status

__all__ = [
    "DatabaseFacts",
    "SourceStatus",
    "company_names",
    "countries",
    "facts",
    "languages",
    "sections",
    "source_health",
    "source_slugs",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class DatabaseFacts:
    """How much is in the database, of which days, and how fresh it is."""

    version: str
    rows: Mapping[str, int] = field(default_factory=dict)
    first_day: date | None = None
    last_day: date | None = None
    last_run: datetime | None = None


@question("/companies")
def company_names(database: Database) -> list[str]:
    """Return all companies that were ever mentioned, by name."""
    with database.reading() as session:
        return sorted(session.scalars(select(Company.name)))


@question("/sources")
def source_slugs(database: Database) -> list[str]:
    """Return all sources that were ever crawled into this database."""
    with database.reading() as session:
        return sorted(session.scalars(select(Source.slug)))


@question("/sources/health")
def source_health(database: Database, *, scope: Scope = ANY) -> list[SourceStatus]:
    """Return the present health of the scope's sources, the worst first.

    The days of the scope don't matter.
    """
    query = select(Source.slug).where(*watched(scope)).order_by(Source.slug)
    with database.reading() as session:
        slugs = session.scalars(query).all()
    return sorted(watch_status(database, slugs).sources, key=lambda one: one.severity)


@question("/countries")
def countries(database: Database) -> list[str]:
    """Return the countries of these sources."""
    with database.reading() as session:
        return sorted(session.scalars(select(Source.country).distinct()))


@question("/languages")
def languages(database: Database) -> list[str]:
    """Return the languages of all articles that count."""
    query = select(DailySource.language).where(DailySource.read > 0).distinct()
    with database.reading() as session:
        return sorted(filter(None, session.scalars(query)))


@question("/sections")
def sections(database: Database, *, limit: int = 100) -> list[str]:
    """Return the publishers' sections with the most articles that count, by name."""
    number = func.count()
    query = (
        select(CountedArticle.section)
        .where(CountedArticle.section != "")
        .group_by(CountedArticle.section)
        .order_by(number.desc(), CountedArticle.section)
        .limit(limit)
    )
    with database.reading() as session:
        return sorted(session.scalars(query))


@question("/facts")
def facts(database: Database) -> DatabaseFacts:
    """Return how much is in the database, and how fresh it is."""
    tables = {
        "sources": Source,
        "runs": Run,
        "articles": Article,
        "revisions": Revision,
        "companies": Company,
        "mentions": Mention,
    }
    with database.reading() as session:
        rows = {
            name: session.scalar(select(func.count()).select_from(table)) or 0
            for name, table in tables.items()
        }
        first, last = session.execute(select(func.min(Article.day), func.max(Article.day))).one()
        last_run = session.scalar(select(func.max(Run.started_at)))
    return DatabaseFacts(
        version=migrations.HEAD, rows=rows, first_day=first, last_day=last, last_run=last_run
    )
