"""Lists: coverage, names, and what is in the database at all."""

from datetime import date

from sqlalchemy import func, select

from newscrawl.storage import schema
from newscrawl.storage.database import COVERAGE_STATES, Database
from newscrawl.storage.models import (
    Article,
    Company,
    CountedArticle,
    Coverage,
    DailySource,
    Mention,
    Revision,
    Run,
    Source,
)
from newscrawl.storage.queries.rows import CoverageDay, DatabaseFacts, Scope
from newscrawl.storage.queries.scoping import between, days, first_days, last_day, watched


def coverage(database: Database, *, scope: Scope | None = None) -> list[CoverageDay]:
    """Source by source, each day from its first recorded crawl to `until`, or today if that is
    earlier; days without a record stand there with the state None. Scope's language is the
    source's."""
    scope = (scope or Scope()).at_now()
    query = (
        select(Source.slug, Coverage)
        .join(Source, Source.id == Coverage.source_id)
        .where(*watched(scope), *between(Coverage.day, scope))
    )
    with database.reading() as session:
        first = first_days(session, scope)
        recorded = {(slug, row.day): row for slug, row in session.execute(query)}
    return [
        _coverage_day(slug, day, recorded.get((slug, day)))
        for slug, start in sorted(first.items())
        for day in days(max(start, scope.since or start), last_day(scope))
    ]


def company_names(database: Database) -> list[str]:
    """All companies that were ever mentioned, by name."""
    with database.reading() as session:
        return sorted(session.scalars(select(Company.name)))


def source_slugs(database: Database) -> list[str]:
    """All sources that were ever crawled into this database."""
    with database.reading() as session:
        return sorted(session.scalars(select(Source.slug)))


def countries(database: Database) -> list[str]:
    """The countries of all sources that were ever crawled into this database."""
    with database.reading() as session:
        return sorted(session.scalars(select(Source.country).distinct()))


def languages(database: Database) -> list[str]:
    """The languages of all articles that count."""
    query = select(DailySource.language).where(DailySource.read > 0).distinct()
    with database.reading() as session:
        return sorted(filter(None, session.scalars(query)))


def sections(database: Database, *, limit: int = 100) -> list[str]:
    """The publishers' sections with the most articles that count, by name."""
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


def facts(database: Database) -> DatabaseFacts:
    """What is in the database, in numbers."""
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
        version=schema.HEAD, rows=rows, first_day=first, last_day=last, last_run=last_run
    )


def _coverage_day(slug: str, day: date, row: Coverage | None) -> CoverageDay:
    if row is None:
        return CoverageDay(source=slug, day=day, state=None)
    state = next(state for state in COVERAGE_STATES if state == row.state)
    return CoverageDay(
        source=slug, day=day, state=state, found=row.found, stored=row.stored, note=row.note
    )
