"""What is stored of articles, for whoever has read their pages anew."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from newscrawl.items import Document, Hints
from newscrawl.storage import models
from newscrawl.storage.database import Database
from newscrawl.storage.documents import rank, record_of
from newscrawl.storage.models import Article, ArticleUrl, Company, FrontierUrl, Source
from newscrawl.storage.quarantine import layout_changed_since, version_of
from newscrawl.storage.revision_check import (
    Reason,
    SourceContext,
    Version,
    names_of_site,
    reason_against,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredVersion:
    """An article in its newest version, which was fetched at `seen_at`.

    `facts` are what its page or its feed told of it, `companies` the mentions of each, `rank`
    says how much of the article it holds (see documents.rank). `kept` is what the rule for
    revisions compares, `names` are those of the site, and `layout_changed` is since when the
    incident of this name has been open for the source.
    """

    source: str
    day: date
    facts: Hints
    characters: int
    access: str
    content_hash: str
    rank: int
    seen_at: datetime
    companies: Counter[str]
    kept: Version
    names: tuple[str, ...] = ()
    layout_changed: datetime | None = None

    def is_said_by(self, document: Document) -> bool:
        """Whether headline and text are the same; raises UnstorableDocument."""
        return record_of(document).content_hash == self.content_hash

    def gives_way_to(self, document: Document) -> bool:
        """Whether the document holds as much of the article; raises UnstorableDocument."""
        return record_of(document).rank >= self.rank

    def reason_against(self, document: Document) -> Reason | None:
        """Why the document would make the article worse; raises UnstorableDocument."""
        record = record_of(document)
        names = (*self.names, record.columns["site_name"])
        since = self.layout_changed
        context = SourceContext(
            names=tuple(filter(None, names)),
            layout_changed=since is not None and since <= record.seen_at,
        )
        return reason_against(self.kept, version_of(record), context)


def articles_at(database: Database, urls: Sequence[str]) -> dict[str, tuple[int, str]]:
    """The numbers of the articles under canonical URLs, and the URLs that are their own."""
    query = (
        select(ArticleUrl.url, Article.id, Article.url)
        .join(Article, Article.id == ArticleUrl.article_id)
        .where(ArticleUrl.url.in_(urls))
    )
    with database.reading() as session:
        return {url: (number, own) for url, number, own in session.execute(query)}


def versions_at(database: Database, urls: Sequence[str]) -> dict[str, StoredVersion]:
    """The articles under canonical URLs, their own or an alias."""
    query = (
        select(ArticleUrl.url, Article, Source)
        .join(Article, Article.id == ArticleUrl.article_id)
        .join(Source, Source.id == Article.source_id)
        .where(ArticleUrl.url.in_(urls))
    )
    with database.reading() as session:
        rows = session.execute(query).all()
        companies = _companies(session, {article.id for _, article, _ in rows})
        connection = session.connection()
        changed = {
            number: layout_changed_since(connection, number)
            for number in {source.id for _, _, source in rows}
        }
        return {
            url: replace(
                _version(article, source, companies.get(article.id, Counter())),
                layout_changed=changed[source.id],
            )
            for url, article, source in rows
        }


def listed_at(database: Database, urls: Sequence[str]) -> dict[str, str]:
    """The sources of those canonical URLs that a feed or sitemap has told of."""
    query = (
        select(FrontierUrl.url, Source.slug)
        .join(Source, Source.id == FrontierUrl.source_id)
        .where(FrontierUrl.url.in_(urls))
    )
    with database.reading() as session:
        return dict(session.execute(query).all())


def _version(article: Article, source: Source, companies: Counter[str]) -> StoredVersion:
    facts = Hints(
        title=article.title,
        authors=tuple(article.authors),
        published=article.published_at,
        section=article.section,
        language=article.language,
    )
    held = rank(article.access, article.kind, has_text=bool(article.text))
    names = (*names_of_site(source.name, source.slug, source.home), article.site_name)
    return StoredVersion(
        source=source.slug,
        day=article.day,
        facts=facts,
        characters=len(article.text),
        access=article.access,
        content_hash=article.content_hash,
        rank=held,
        seen_at=article.revised_at or article.first_seen_at,
        companies=companies,
        kept=Version(title=article.title, text=article.text, rank=held, kind=article.kind),
        names=tuple(filter(None, names)),
    )


def _companies(session: Session, numbers: Iterable[int]) -> dict[int, Counter[str]]:
    table = models.Mention
    query = (
        select(table.article_id, Company.name, func.count())
        .join(Company, Company.id == table.company_id)
        .where(table.article_id.in_(list(numbers)))
        .group_by(table.article_id, Company.name)
    )
    found: dict[int, Counter[str]] = {}
    for number, company, count in session.execute(query):
        found.setdefault(number, Counter())[company] = count
    return found
