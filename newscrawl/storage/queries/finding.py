"""Articles: the newest, those behind a number, those that a text is found in."""

from collections import defaultdict
from collections.abc import Sequence

from sqlalchemy import ColumnElement, Select, and_, cast, func, literal_column, select
from sqlalchemy.dialects import postgresql
from sqlalchemy.orm import Session, defer

from newscrawl.items import Section
from newscrawl.storage.database import Database
from newscrawl.storage.models import Article, Company, CountedArticle, Mention, Source
from newscrawl.storage.queries.articles import ArticleRow, FoundArticle
from newscrawl.storage.queries.ledgers import ledger
from newscrawl.storage.queries.periods import minutes_of
from newscrawl.storage.queries.rows import Scope
from newscrawl.storage.queries.scoping import scoped
from newscrawl.storage.queries.searching import SearchText, parse_search
from newscrawl.storage.queries.snippets import Span, snippets
from newscrawl.storage.search_index import (
    NUMBER_BITS,
    POSTGRES_SEARCH,
    SQLITE_SEARCH,
    article_of,
    search_key,
)
from newscrawl.storage.words import words_of

# Ours: PostgreSQL looks for words among so many of the newest articles first, then as many times
# as far back, then everywhere. Its index knows nothing of time: of a frequent word it would
# give all articles to be sorted, and what is rare is not worth more than three looks.
NEWEST = 5_000
STRETCHES = (1, 10, 60)

# An article's mentions: company, section and number of occurrences.
_Found = dict[int, list[tuple[str, str, int]]]


def articles(
    database: Database,
    *,
    company: str | None = None,
    scope: Scope | None = None,
    limit: int = 50,
    offset: int = 0,
    every_kind: bool = False,
) -> list[ArticleRow]:
    """The newest articles first; with `every_kind` also the pages that count for nothing."""
    scope = (scope or Scope()).at_now()
    with database.reading() as session:
        numbers = _newest(session, company, scope, every_kind=every_kind)
        return rows_of(session, list(session.scalars(numbers.limit(limit).offset(offset))), company)


def company_articles(
    database: Database,
    company: str,
    *,
    scope: Scope | None = None,
    limit: int = 50,
    offset: int = 0,
    each: int = 3,
) -> list[FoundArticle]:
    """The articles behind a company's numbers, the newest first, each with up to `each` of the
    sentences that name it; the marks are the mentions that were counted."""
    scope = (scope or Scope()).at_now()
    with database.reading() as session:
        numbers = _newest(session, company, scope, every_kind=False).limit(limit).offset(offset)
        rows = rows_of(session, list(session.scalars(numbers)), company)
        places = _places_of(session, [row.number for row in rows], company)
        texts = _texts_of(session, [row.number for row in rows])
    return [
        FoundArticle(
            article=row,
            snippets=snippets(row.title, texts[row.number], places[row.number], each),
        )
        for row in rows
    ]


def search(
    database: Database,
    query: str,
    *,
    scope: Scope | None = None,
    limit: int = 50,
    offset: int = 0,
    each: int = 3,
) -> list[FoundArticle]:
    """The articles in whose headline or text the words stand, the newest first.

    All words must be there, in any order, whatever their case and accents; "several words"
    are a phrase, -word must not be there, begin* is the beginning of a word, and OR stands
    between words of which one is enough. Chinese and Japanese are found as they are written.
    Each comes with up to `each` snippets, the words marked. Raises QuestionError for a query
    without words.
    """
    asked = parse_search(query)
    with database.reading() as session:
        numbers = _matching(session, asked, (scope or Scope()).at_now(), limit, offset)
        rows = rows_of(session, numbers, None)
        texts = _texts_of(session, [row.number for row in rows])
    found = []
    for row in rows:
        body = texts[row.number]
        spans: dict[Section, list[Span]] = {
            "title": _spans(asked, row.title or ""),
            "body": _spans(asked, body),
        }
        found.append(FoundArticle(article=row, snippets=snippets(row.title, body, spans, each)))
    return found


def rows_of(session: Session, numbers: Sequence[int], company: str | None) -> list[ArticleRow]:
    """The rows of these articles, in this order; occurrences are those of the company, or all."""
    query = (
        select(Article, Source.slug, CountedArticle.story_id)
        .join(Source, Source.id == Article.source_id)
        .outerjoin(CountedArticle, CountedArticle.article_id == Article.id)
        .where(Article.id.in_(numbers))
        .options(defer(Article.text))
    )
    stored = {
        article.id: (article, source, story) for article, source, story in session.execute(query)
    }
    mentions = _mentions_of(session, numbers)
    return [
        _row(*stored[number], mentions[number], company) for number in numbers if number in stored
    ]


def _newest(
    session: Session, company: str | None, scope: Scope, *, every_kind: bool
) -> Select[int]:
    if every_kind:
        moment = func.coalesce(Article.published_at, Article.first_seen_at)
        query = scoped(select(Article.id).select_from(Article), scope, every_kind=True)
        if company is not None:
            named = select(Mention.article_id).join(Company).where(Company.name == company)
            query = query.where(Article.id.in_(named))
        return query.order_by(Article.day.desc(), moment.desc(), Article.id.desc())
    found = ledger(session, scope, by="hour", company=company)
    table = found.table
    return found.select(table.article_id).order_by(table.minute.desc(), table.article_id.desc())


def _matching(
    session: Session, asked: SearchText, scope: Scope, limit: int, offset: int
) -> list[int]:
    """The numbers of the articles, the newest first."""
    if session.get_bind().dialect.name == "sqlite":
        query = _in_sqlite(session, asked, scope).limit(limit).offset(offset)
        return [article_of(key) for key in session.scalars(query)]
    query = _in_postgres(session, asked, scope).limit(limit + offset)
    for begins in _stretches(session, scope):
        found = session.scalars(query.where(POSTGRES_SEARCH.c.minute >= begins)).all()
        if len(found) >= limit + offset:
            return list(found[offset:])
    return list(session.scalars(query).all()[offset:])


def _stretches(session: Session, scope: Scope) -> list[int]:
    """The minutes at which longer and longer stretches of the newest articles begin."""
    minute = POSTGRES_SEARCH.c.minute
    newest = select(minute).where(*_minutes(scope)).order_by(minute.desc()).limit(1)
    last, first = session.scalar(newest), session.scalar(newest.offset(NEWEST))
    if last is None or first is None:
        return []
    return [last - (last - first) * times for times in STRETCHES]


def _in_sqlite(session: Session, asked: SearchText, scope: Scope) -> Select[int]:
    """The keys lie in the order of time, so that nothing has to be sorted; and a stretch of
    time is a stretch of them."""
    key = SQLITE_SEARCH.c.rowid
    matches = literal_column("article_search").op("MATCH")(asked.for_sqlite())
    query = select(key).where(matches)
    since, until = minutes_of(scope)
    if since is not None:
        query = query.where(key >= search_key(since, 0))
    if until is not None:
        query = query.where(key < search_key(until, 0))
    if _narrows(scope):
        counted = ledger(session, scope, by="hour", company=None)
        here = counted.table.minute == key.op(">>")(NUMBER_BITS)
        query = query.join(CountedArticle, and_(here, CountedArticle.article_id == article_of(key)))
        query = query.where(*counted.conditions)
    return query.order_by(key.desc())


def _in_postgres(session: Session, asked: SearchText, scope: Scope) -> Select[int]:
    search = POSTGRES_SEARCH.c
    query = select(search.article_id).where(
        search.words.op("@@")(cast(asked.for_postgres(), postgresql.TSQUERY()))
    )
    query = query.where(*_minutes(scope))
    if _narrows(scope):
        counted = ledger(session, scope, by="hour", company=None)
        same = and_(
            CountedArticle.minute == search.minute, CountedArticle.article_id == search.article_id
        )
        query = query.join(CountedArticle, same).where(*counted.conditions)
    # The sum keeps the planner from walking through all articles by time, looking for a word
    # that it takes for more frequent than it is.
    return query.order_by(search.minute.op("+")(0).desc(), search.article_id.desc())


def _minutes(scope: Scope) -> list[ColumnElement[bool]]:
    since, until = minutes_of(scope)
    minute = POSTGRES_SEARCH.c.minute
    conditions = [] if since is None else [minute >= since]
    return conditions if until is None else [*conditions, minute < until]


def _narrows(scope: Scope) -> bool:
    """Whether a scope means more than a stretch of time."""
    parts = (scope.source, scope.country, scope.language, scope.section)
    return any(part is not None for part in parts)


def _spans(asked: SearchText, text: str) -> list[Span]:
    words = list(words_of(text))
    return sorted({span for term in asked.terms for span in term.spans(words)})


def _texts_of(session: Session, numbers: Sequence[int]) -> dict[int, str]:
    query = select(Article.id, Article.text).where(Article.id.in_(numbers))
    return dict(session.execute(query).all())


def _places_of(
    session: Session, numbers: Sequence[int], company: str
) -> dict[int, dict[Section, list[Span]]]:
    """Where the company stands in each of the articles."""
    query = (
        select(Mention.article_id, Mention.section, Mention.start_offset, Mention.end_offset)
        .join(Company, Company.id == Mention.company_id)
        .where(Mention.article_id.in_(numbers), Company.name == company)
        .order_by(Mention.start_offset)
    )
    places: dict[int, dict[Section, list[Span]]] = {
        number: {"title": [], "body": []} for number in numbers
    }
    for number, section, start, end in session.execute(query):
        places[number]["title" if section == "title" else "body"].append((start, end))
    return places


def _mentions_of(session: Session, numbers: Sequence[int]) -> _Found:
    query = (
        select(Mention.article_id, Company.name, Mention.section, func.count())
        .join(Company, Company.id == Mention.company_id)
        .where(Mention.article_id.in_(numbers))
        .group_by(Mention.article_id, Company.name, Mention.section)
    )
    found: _Found = defaultdict(list)
    for number, company, section, times in session.execute(query):
        found[number].append((company, section, times))
    return found


def _row(
    article: Article,
    source: str,
    story: int | None,
    mentions: Sequence[tuple[str, str, int]],
    company: str | None,
) -> ArticleRow:
    asked = [mention for mention in mentions if company in {None, mention[0]}]
    return ArticleRow(
        number=article.id,
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
        in_title=sum(times for _, section, times in asked if section == "title"),
        in_body=sum(times for _, section, times in asked if section == "body"),
        story=story,
    )
