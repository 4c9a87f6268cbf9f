"""Stored texts as they are, for whoever reads them anew: a definition that is being tried out."""

from dataclasses import dataclass
from datetime import date

from sqlalchemy import func, or_, select

from newscrawl.storage.database import Database
from newscrawl.storage.documents import COUNTED_KINDS
from newscrawl.storage.models import Article, Company, Mention, Source


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredText:
    """An article's words; `known` are the stored mentions of the company asked for."""

    url: str
    title: str
    text: str
    language: str | None
    source: str
    day: date
    known: int


def newest_texts(database: Database, *, company: str, limit: int) -> list[StoredText]:
    """The newest articles that count, the newest first."""
    newest = (
        select(Article, Source.slug)
        .join(Source, Source.id == Article.source_id)
        .where(or_(Article.kind.in_(COUNTED_KINDS), Article.access != "open"))
        .order_by(Article.day.desc(), Article.id.desc())
        .limit(limit)
    )
    with database.reading() as session:
        rows = session.execute(newest).all()
        counted = (
            select(Mention.article_id, func.count())
            .join(Company, Company.id == Mention.company_id)
            .where(
                Company.name == company,
                Mention.article_id >= min((article.id for article, _ in rows), default=0),
            )
            .group_by(Mention.article_id)
        )
        known = dict(session.execute(counted).all())
    return [
        StoredText(
            url=article.url,
            title=article.title or "",
            text=article.text,
            language=article.language,
            source=source,
            day=article.day,
            known=known.get(article.id, 0),
        )
        for article, source in rows
    ]
