"""Stories: one text that many articles tell, with small edits."""

from collections.abc import Sequence

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from newscrawl.storage.database import Database
from newscrawl.storage.models import Article, CountedArticle
from newscrawl.storage.queries.articles import ArticleRow, StoryRow
from newscrawl.storage.queries.finding import rows_of
from newscrawl.storage.queries.ledgers import ledger
from newscrawl.storage.queries.periods import day_of_minute
from newscrawl.storage.queries.rows import Scope

# Ours: a list of copies shows so many, at most.
MOST_COPIES = 200


def stories(
    database: Database,
    *,
    company: str | None = None,
    scope: Scope | None = None,
    limit: int = 20,
    least: int = 1,
) -> list[StoryRow]:
    """The stories of the scope that were told most often, of those with `least` articles in it;
    with a company, only the articles that mention it are looked at."""
    scope = (scope or Scope()).at_now()
    with database.reading() as session:
        found = ledger(session, scope, by=None, company=company, stories=True)
        table = found.table
        articles, newest = func.count(), func.max(table.minute)
        query = (
            found.select(
                table.story_id,
                articles,
                func.count(table.source_id.distinct()),
                func.min(table.minute),
                newest,
            )
            .group_by(table.story_id)
            .having(articles >= least)
            .order_by(articles.desc(), newest.desc(), table.story_id.desc())
            .limit(limit)
        )
        rows = session.execute(query).all()
        firsts = _firsts(session, [(story, first) for story, _, _, first, _ in rows])
    return [
        StoryRow(
            story=story,
            title=firsts[story][0],
            url=firsts[story][1],
            articles=number,
            sources=sources,
            first_day=day_of_minute(first),
            last_day=day_of_minute(last),
        )
        for story, number, sources, first, last in rows
    ]


def story_articles(database: Database, story: int, *, limit: int = MOST_COPIES) -> list[ArticleRow]:
    """The articles that tell a story, the oldest first."""
    with database.reading() as session:
        return rows_of(session, copies_of(session, story, limit=limit), None)


def copies_of(session: Session, story: int, *, limit: int = MOST_COPIES) -> Sequence[int]:
    """The numbers of a story's articles, the oldest first."""
    query = (
        select(CountedArticle.article_id)
        .where(CountedArticle.story_id == story)
        .order_by(CountedArticle.minute, CountedArticle.article_id)
        .limit(limit)
    )
    return session.scalars(query).all()


def _firsts(
    session: Session, firsts: Sequence[tuple[int, int]]
) -> dict[int, tuple[str | None, str]]:
    """Headline and address of the articles with which stories begin, in the scope asked for."""
    query = (
        select(CountedArticle.story_id, Article.title, Article.url)
        .join(Article, Article.id == CountedArticle.article_id)
        .order_by(Article.id.desc())
    )
    found = {}
    for story, minute in firsts:
        this = query.where(CountedArticle.story_id == story, CountedArticle.minute == minute)
        for number, title, url in session.execute(this):
            found[number] = (title, url)
    return found
