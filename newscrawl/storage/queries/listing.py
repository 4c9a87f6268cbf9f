"""Lists: articles, coverage, names, and what is in the database at all."""

from collections import defaultdict
from collections.abc import Sequence
from datetime import date

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from newscrawl.storage import schema
from newscrawl.storage.database import COVERAGE_STATES, Database
from newscrawl.storage.models import Article, Company, Coverage, Mention, Revision, Run, Source
from newscrawl.storage.queries.rows import ArticleRow, CoverageDay, DatabaseFacts, Scope
from newscrawl.storage.queries.scoping import (
    between,
    days,
    first_days,
    last_day,
    scoped,
    watched,
)

# An article's mentions: company, section and number of occurrences.
_Found = dict[int, list[tuple[str, str, int]]]


def articles(
    database: Database,
    *,
    company: str | None = None,
    scope: Scope | None = None,
    limit: int = 50,
    every_kind: bool = False,
) -> list[ArticleRow]:
    """The newest articles first; with `every_kind` also the pages that count for nothing."""
    query = scoped(select(Article, Source.slug), scope or Scope(), every_kind=every_kind)
    if company is not None:
        named = select(Mention.article_id).join(Company).where(Company.name == company)
        query = query.where(Article.id.in_(named))
    newest = (Article.day.desc(), Article.published_at.desc().nulls_last(), Article.id.desc())
    with database.reading() as session:
        rows = session.execute(query.order_by(*newest).limit(limit)).all()
        found = _mentions_of(session, [article.id for article, _ in rows])
    return [_article_row(article, source, found, company) for article, source in rows]


def coverage(database: Database, *, scope: Scope | None = None) -> list[CoverageDay]:
    """Source by source, each day from its first recorded crawl to `until` or today; days
    without a record stand there with the state None. Scope's language is the source's."""
    scope = scope or Scope()
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


def _mentions_of(session: Session, article_ids: Sequence[int]) -> _Found:
    query = (
        select(Mention.article_id, Company.name, Mention.section, func.count())
        .join(Company, Company.id == Mention.company_id)
        .where(Mention.article_id.in_(article_ids))
        .group_by(Mention.article_id, Company.name, Mention.section)
    )
    found: _Found = defaultdict(list)
    for article_id, company, section, number in session.execute(query):
        found[article_id].append((company, section, number))
    return found


def _article_row(article: Article, source: str, found: _Found, company: str | None) -> ArticleRow:
    mentions = found[article.id]
    asked = [mention for mention in mentions if company in {None, mention[0]}]
    return ArticleRow(
        url=article.url,
        title=article.title,
        source=source,
        day=article.day,
        published_at=article.published_at,
        language=article.language,
        access=article.access,
        kind=article.kind,
        revision=article.revision,
        companies=tuple(sorted({name for name, _, _ in mentions})),
        in_title=sum(number for _, section, number in asked if section == "title"),
        in_body=sum(number for _, section, number in asked if section == "body"),
    )


def _coverage_day(slug: str, day: date, row: Coverage | None) -> CoverageDay:
    if row is None:
        return CoverageDay(source=slug, day=day, state=None)
    state = next(state for state in COVERAGE_STATES if state == row.state)
    return CoverageDay(
        source=slug, day=day, state=state, found=row.found, stored=row.stored, note=row.note
    )
