"""Full-text search by SQLite's FTS5 and PostgreSQL."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from sqlalchemy import ColumnElement, Select, and_, cast, func, literal_column, select
from sqlalchemy.dialects import postgresql
from sqlalchemy.orm import Session

from newscrawl.storage.engine import one_of
from newscrawl.storage.models import Appearance, Article, CountedArticle, DailySource, Source
from newscrawl.storage.queries.article_lists import FoundArticle, article_rows, snippets
from newscrawl.storage.queries.questions import ANY, about, question
from newscrawl.storage.queries.rollup_tables import rollup_table
from newscrawl.storage.saved_queries import (
    SavedQueryRow,
    list_queries,
    searched_articles,
    with_slugs,
)
from newscrawl.storage.scope import Scope, minutes_of
from newscrawl.storage.scope_conditions import between, source_ids
from newscrawl.storage.search_language import (
    And,
    Facts,
    Near,
    Node,
    Or,
    Without,
    evaluate,
    for_postgres,
    for_sqlite,
    is_exact,
    parse_query,
    parts_of,
    query_text,
    spans,
)
from newscrawl.storage.text_index import (
    NUMBER_BITS,
    POSTGRES_SEARCH,
    SQLITE_SEARCH,
    article_of,
    search_key,
)
from newscrawl.text import count_of

__all__ = ["QueryPart", "QueryPreview", "preview_query", "saved_queries", "search"]

# Ours: PostgreSQL searches the newest articles first, this number times each of STRETCHES, then
# all. Its text index has no order by time: for a frequent word it would return all articles to be
# sorted, and three searches are enough for a rare one.
NEWEST = 5_000
STRETCHES = (1, 10, 60)

# Ours: articles of the scope's sources, the newest first, whose words PostgreSQL compares before it
# asks its index, which returns the places of a frequent word in all sources; and the largest number
# that it compares if by those that match the page is full within it.
NEWEST_OF_SOURCES = 500
MOST_OF_SOURCES = 8_000

# Ours: the candidates of the index, the newest first, of which a search examines the texts if the
# index can't decide (a distance, a field); and the number of texts in memory at a time.
MAX_EXAMINED = 5_000
_AT_ONCE = 200

# Ours: the words of the wider NEAR that a preview counts, about two sentences.
WIDER_NEAR = 20

# Ours: the parts of a query without matches that are counted one by one.
MAX_PARTS = 10


@question("/search", names={"query": "q"})
def search(
    session: Session,
    query: str,
    *,
    scope: Scope = ANY,
    limit: int = 50,
    offset: int = 0,
    each: int = 3,
) -> list[FoundArticle]:
    """Return the articles that match a query, the newest first.

    All words must occur in headline or text, in any order; case and accents don't matter. "Several
    words" are a phrase, -word must not occur, begin* is the beginning of a word, and of words with
    OR between them one is enough. AND, NOT, NEAR/10, parentheses, title:, text:, language:, source:
    and country: are explained in docs/queries.md; where they are used, the newest 5,000 articles
    with the words are examined. Chinese and Japanese text is found as it is written. Each article
    has up to `each` snippets with the words marked. Raise QuestionError for a query with a fault,
    or with a source, country or language of which nothing is stored.
    """
    node = parse_query(with_slugs(session, query))
    if is_exact(node):
        numbers = find_candidates(session, node, scope, limit, offset)
    else:
        numbers = []
        candidates = find_candidates(session, node, scope, MAX_EXAMINED, 0)
        for start in range(0, len(candidates), _AT_ONCE):
            some = candidates[start : start + _AT_ONCE]
            articles = searched_articles(session, some)
            numbers += [key for key in some if evaluate(node, articles[key]) is not None]
            if len(numbers) >= limit + offset:
                break
        numbers = numbers[offset : offset + limit]
    rows = article_rows(session, numbers, None)
    texts = select(Article.id, Article.text, Source.country).join(Source)
    contents = session.execute(texts.where(Article.id.in_(numbers))) if rows else ()
    bodies = {number: (text, country) for number, text, country in contents}
    results = []
    for row in rows:
        body, country = bodies[row.number]
        marks = spans(node, row.title or "", body, Facts(row.language, row.source, country))
        results.append(FoundArticle(article=row, snippets=snippets(row.title, body, marks, each)))
    return results


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryPart:
    """A part of a query that each match must have, and how many articles it matches alone, of the
    newest 5,000 with its words."""

    text: str
    articles: int


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryPreview:
    """What a query would count: `articles` of the newest `examined` ones with its words match, and
    these are in the `sources`. If none does, `parts` says what each part finds alone, up to ten."""

    articles: int
    examined: int
    complete: bool = field(metadata=about("whether all articles with its words were examined"))
    sources: tuple[str, ...]
    wider: int | None = field(
        metadata=about("articles with NEAR/20 in place of smaller distances; null without these")
    )
    examples: tuple[FoundArticle, ...]
    parts: tuple[QueryPart, ...]

    @property
    def why_none(self) -> str:
        """Return in a sentence why no article matches, from what the parts find alone; "" if one
        does, or the query has no such part."""
        if not self.parts:
            return ""
        absent = [repr(part.text) for part in self.parts if not part.articles]
        found_parts = [
            f"{part.text!r} in {'at least ' * (part.articles == MAX_EXAMINED)}"
            f"{count_of(part.articles, 'article')}"
            for part in self.parts
            if part.articles
        ]
        if absent:
            verb = "is" if len(absent) == 1 else "are"
            further = f"; {', '.join(found_parts)}" if found_parts else ""
            none = f"{' and '.join(absent)} {verb} in no article of the period and sources chosen"
            return f"{none}{further}."
        newest = f"None of the newest {self.examined:,} articles with its words"
        which = "No article" if self.complete else newest
        return f"{which} matches the whole query; each part alone: {', '.join(found_parts)}."


@question("/queries")
def saved_queries(session: Session) -> list[SavedQueryRow]:
    """Return the saved queries, which count like companies, by name."""
    return list_queries(session)


@question("/queries/preview", names={"query": "q"})
def preview_query(
    session: Session, query: str, *, scope: Scope = ANY, limit: int = 5
) -> QueryPreview:
    """Return how many articles of the scope a query matches, and the `limit` newest of them.

    The newest 5,000 articles with its words are examined. Raise QuestionError for a query with a
    fault.
    """
    node = parse_query(with_slugs(session, query))
    matches = _count(session, node, scope)
    alone = [] if matches.keys else list(parts_of(node))[:MAX_PARTS]
    parts = tuple(
        QueryPart(text=query_text(part), articles=len(_count(session, part, scope).keys))
        for part in alone
    )
    slugs = select(Source.slug).join(Article, Article.source_id == Source.id).distinct()
    in_some = session.scalars(
        slugs.where(one_of(Article.id, "numbers")), {"numbers": list(matches.keys)}
    )
    return QueryPreview(
        articles=len(matches.keys),
        examined=matches.examined,
        complete=matches.complete,
        sources=tuple(sorted(in_some)),
        wider=matches.wider,
        examples=tuple(search(session, query, scope=scope, limit=limit, each=2)),
        parts=parts,
    )


@dataclass(frozen=True, slots=True)
class _Counted:
    """The keys of the articles that match, how many were examined, whether these were all with the
    words, and how many match with a wider NEAR."""

    keys: Sequence[int]
    examined: int
    complete: bool
    wider: int | None = None


def _count(session: Session, node: Node, scope: Scope) -> _Counted:
    candidates = find_candidates(session, node, scope, MAX_EXAMINED + 1, 0)
    examined = candidates[:MAX_EXAMINED]
    complete = len(candidates) <= MAX_EXAMINED
    if is_exact(node):
        return _Counted(examined, len(examined), complete)
    # The index finds the same articles for each distance, so their texts are read once.
    wide = _widened(node)
    keys: list[int] = []
    only_wider = 0
    for start in range(0, len(examined), _AT_ONCE):
        articles = searched_articles(session, examined[start : start + _AT_ONCE])
        for key, article in articles.items():
            if evaluate(node, article) is not None:
                keys.append(key)
            elif wide != node and evaluate(wide, article) is not None:
                only_wider += 1
    wider = None if wide == node else len(keys) + only_wider
    return _Counted(keys, len(examined), complete, wider)


def _widened(node: Node) -> Node:
    """Return a query whose wanted words may be WIDER_NEAR words apart, or as far as they may be."""
    match node:
        case Near():
            first, second = map(_widened, node.parts)
            return Near((first, second), max(node.distance, WIDER_NEAR))
        case And() | Or():
            return type(node)(tuple(map(_widened, node.parts)))
        case Without():
            return Without((_widened(node.parts[0]), node.parts[1]))
    return node


def find_candidates(
    session: Session, node: Node, scope: Scope, limit: int, offset: int
) -> Sequence[int]:
    """Return the keys of articles that the index finds, the newest first."""
    if session.get_bind().dialect.name == "sqlite":
        query = _in_sqlite(session, node, scope).limit(limit).offset(offset)
        return [article_of(key) for key in session.scalars(query)]
    if (sources := source_ids(session, scope)) is not None:
        number = NEWEST_OF_SOURCES
        while number and number <= MOST_OF_SOURCES:
            query = _newest_of_sources(session, node, scope, sources, number)
            keys = session.scalars(query.limit(limit + offset)).all()
            if len(keys) == limit + offset:
                return keys[offset:]
            # Half as many again as are expected to be enough; for a rare word the index is fast.
            number = 3 * number * (limit + offset) // (2 * len(keys)) if keys else 0
    return _newest(session, _in_postgres(session, node, scope), scope, limit, offset)


def _newest_of_sources(
    session: Session, node: Node, scope: Scope, sources: Sequence[int], least: int
) -> Select[int]:
    """Return a query of keys among the newest articles of some sources, `least` of them at least,
    in PostgreSQL."""
    search, table = POSTGRES_SEARCH.c, DailySource
    days = select(table.day, func.sum(table.read)).where(table.source_id.in_(sources))
    days = days.where(*between(table.day, scope.widened())).group_by(table.day)
    number, begins = 0, date.min
    for day, read in session.execute(days.order_by(table.day.desc())):
        number, begins = number + read, day
        if number >= least:
            break
    return (
        _in_postgres(session, node, scope, words=_without_index(search.words))
        .join(Article, Article.id == search.article_id)
        .where(Article.source_id.in_(sources), Article.day >= begins)
    )


@dataclass(frozen=True, slots=True)
class OtherArticles:
    """The articles that mention none of the companies, all or those from the minute `begins` on; if
    these are `few` beside those with the words, PostgreSQL reads them all, in place of all places
    of the words in its index."""

    companies: Collection[int]
    begins: int | None
    few: bool


def find_other_articles(
    session: Session, node: Node, scope: Scope, limit: int, others: OtherArticles
) -> Sequence[int]:
    """Return the keys of those articles that the index finds, the newest first."""
    companies, begins = others.companies, others.begins
    if session.get_bind().dialect.name == "sqlite":
        key = SQLITE_SEARCH.c.rowid
        query = _in_sqlite(session, node, scope).limit(limit)
        naming = _mentions_of(companies, key.op(">>")(NUMBER_BITS), article_of(key))
        if begins is not None:
            query = query.where(key >= search_key(begins, 0))
        return [article_of(key) for key in session.scalars(query.where(~naming.exists()))]
    search = POSTGRES_SEARCH.c
    query = _in_postgres(session, node, scope)
    naming = _mentions_of(companies, search.minute, search.article_id)
    if begins is None:
        return _newest(session, query.where(~naming.exists()), scope, limit, 0)
    if others.few:
        query = _in_postgres(session, node, scope, words=_without_index(search.words))
    naming = naming.where(Appearance.minute >= begins)
    query = query.where(search.minute >= begins, ~naming.exists()).limit(limit)
    return session.scalars(query).all()


def _mentions_of(companies: Collection[int], minute: Any, article: Any) -> Select[int]:
    """Return a query of the mentions of companies in an article, for EXISTS."""
    in_article = Appearance.minute == minute, Appearance.article_id == article
    return select(literal_column("1")).where(Appearance.company_id.in_(companies), *in_article)


def _newest(
    session: Session, query: Select[int], scope: Scope, limit: int, offset: int
) -> Sequence[int]:
    """Return the first keys of a query in PostgreSQL."""
    query = query.limit(limit + offset)
    minute = POSTGRES_SEARCH.c.minute
    newest = select(minute).where(*_minutes(scope)).order_by(minute.desc()).limit(1)
    last, first = session.scalar(newest), session.scalar(newest.offset(NEWEST))
    beginnings = []
    if last is not None and first is not None:
        # Shorter ones have few articles of some sources besides those that were compared.
        stretches = STRETCHES[-1:] if scope.narrows_sources else STRETCHES
        beginnings = [last - (last - first) * times for times in stretches]
    for begins in beginnings:
        keys = session.scalars(query.where(POSTGRES_SEARCH.c.minute >= begins)).all()
        if len(keys) >= limit + offset:
            return list(keys[offset:])
    return list(session.scalars(query).all()[offset:])


def _in_sqlite(session: Session, node: Node, scope: Scope) -> Select[int]:
    """Return a query of keys. Their order is that of time, so nothing is sorted, and a period is
    a range of them."""
    key = SQLITE_SEARCH.c.rowid
    matches = literal_column("article_search").op("MATCH")(for_sqlite(node))
    query = select(key).where(matches)
    since, until = minutes_of(scope)
    if since is not None:
        query = query.where(key >= search_key(since, 0))
    if until is not None:
        query = query.where(key < search_key(until, 0))
    if scope.narrows:
        counted = rollup_table(session, scope, by="hour", company=None)
        here = counted.table.minute == key.op(">>")(NUMBER_BITS)
        query = query.join(CountedArticle, and_(here, CountedArticle.article_id == article_of(key)))
        query = query.where(*counted.conditions)
    return query.order_by(key.desc())


def _without_index(words: ColumnElement[Any]) -> ColumnElement[Any]:
    """Return the words of a column so that PostgreSQL doesn't read its index."""
    return func.coalesce(words, literal_column("''"))


def _in_postgres(
    session: Session, node: Node, scope: Scope, words: ColumnElement[Any] | None = None
) -> Select[int]:
    """Return a query of keys."""
    search = POSTGRES_SEARCH.c
    column = search.words if words is None else words
    matches = column.op("@@")(cast(for_postgres(node), postgresql.TSQUERY()))
    query = select(search.article_id).where(matches)
    query = query.where(*_minutes(scope))
    if scope.narrows:
        counted = rollup_table(session, scope, by="hour", company=None)
        same = and_(
            CountedArticle.minute == search.minute, CountedArticle.article_id == search.article_id
        )
        query = query.join(CountedArticle, same).where(*counted.conditions)
    # The sum keeps the planner from scanning all articles by time for a word whose frequency it
    # overestimates.
    return query.order_by(search.minute.op("+")(0).desc(), search.article_id.desc())


def _minutes(scope: Scope) -> list[ColumnElement[bool]]:
    since, until = minutes_of(scope)
    minute = POSTGRES_SEARCH.c.minute
    conditions = [] if since is None else [minute >= since]
    return conditions if until is None else [*conditions, minute < until]
