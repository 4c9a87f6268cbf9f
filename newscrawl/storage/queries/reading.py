"""One article with all that is known of it: its text, mentions, addresses and former versions."""

from dataclasses import dataclass
from datetime import date, datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from newscrawl.items import Mention
from newscrawl.storage import models
from newscrawl.storage.database import Database


@dataclass(frozen=True, slots=True, kw_only=True)
class FormerVersion:
    """A version of an article that was replaced at `replaced_at`."""

    number: int
    title: str | None
    text: str
    access: str
    seen_at: datetime
    replaced_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class FullArticle:
    """An article in its newest version, the `revision`-th. `mentions` stand in reading order,
    title first; `revisions` are the former versions, the oldest first; `addresses` are the
    other URLs under which the article was met."""

    id: int
    url: str
    title: str | None
    text: str
    source: str
    source_name: str
    authors: tuple[str, ...]
    day: date
    published_at: datetime | None
    modified_at: datetime | None
    first_seen_at: datetime
    last_seen_at: datetime
    language: str | None
    section: str | None
    access: str
    kind: str
    method: str
    confidence: float
    revision: int
    addresses: tuple[str, ...]
    mentions: tuple[Mention, ...]
    revisions: tuple[FormerVersion, ...]


def full_article(database: Database, url: str) -> FullArticle | None:
    """The article that was met under this URL, canonical or not; None where none was."""
    query = (
        select(models.Article, models.Source)
        .join(models.ArticleUrl, models.ArticleUrl.article_id == models.Article.id)
        .join(models.Source, models.Source.id == models.Article.source_id)
        .where(models.ArticleUrl.url == url)
    )
    with database.reading() as session:
        found = session.execute(query).first()
        return found and _full(session, *found)


def _full(session: Session, article: models.Article, source: models.Source) -> FullArticle:
    urls = select(models.ArticleUrl.url).where(models.ArticleUrl.article_id == article.id)
    return FullArticle(
        id=article.id,
        url=article.url,
        title=article.title,
        text=article.text,
        source=source.slug,
        source_name=source.name,
        authors=tuple(article.authors),
        day=article.day,
        published_at=article.published_at,
        modified_at=article.modified_at,
        first_seen_at=article.first_seen_at,
        last_seen_at=article.last_seen_at,
        language=article.language,
        section=article.section,
        access=article.access,
        kind=article.kind,
        method=article.method,
        confidence=article.confidence,
        revision=article.revision,
        addresses=tuple(sorted(set(session.scalars(urls)) - {article.url})),
        mentions=_mentions(session, article.id),
        revisions=_revisions(session, article.id),
    )


def _mentions(session: Session, article_id: int) -> tuple[Mention, ...]:
    query = (
        select(models.Mention, models.Company.name)
        .join(models.Company, models.Company.id == models.Mention.company_id)
        .where(models.Mention.article_id == article_id)
    )
    found = [
        Mention(
            company=name,
            surface=row.surface,
            start=row.start_offset,
            end=row.end_offset,
            section="title" if row.section == "title" else "body",
            rule=row.rule,
        )
        for row, name in session.execute(query)
    ]
    return tuple(sorted(found, key=lambda m: (m.section != "title", m.start, m.end, m.company)))


def _revisions(session: Session, article_id: int) -> tuple[FormerVersion, ...]:
    query = (
        select(models.Revision)
        .where(models.Revision.article_id == article_id)
        .order_by(models.Revision.number)
    )
    return tuple(
        FormerVersion(
            number=row.number,
            title=row.title,
            text=row.text,
            access=row.access,
            seen_at=row.seen_at,
            replaced_at=row.replaced_at,
        )
        for row in session.scalars(query)
    )
