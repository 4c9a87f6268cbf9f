"""Full-text search by SQLite's FTS5 and PostgreSQL."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date
from itertools import islice
from typing import Any

from sqlalchemy import Select, and_, func, literal_column, select
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
    SearchedArticle,
    Without,
    evaluate,
    is_exact,
    parse_query,
    parts_of,
    query_text,
    spans,
)
from newscrawl.storage.text_index import search_index
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
        candidates = find_candidates(session, node, scope, MAX_EXAMINED, 0)
        matching = (
            key for key, each in _examined(session, candidates) if evaluate(node, each) is not None
        )
        numbers = [*islice(matching, offset, offset + limit)]
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
    for key, article in _examined(session, examined):
        if evaluate(node, article) is not None:
            keys.append(key)
        elif wide != node and evaluate(wide, article) is not None:
            only_wider += 1
    wider = None if wide == node else len(keys) + only_wider
    return _Counted(keys, len(examined), complete, wider)


def _examined(session: Session, keys: Sequence[int]) -> Iterator[tuple[int, SearchedArticle]]:
    """Yield articles as queries are evaluated, some of them in memory at a time."""
    for start in range(0, len(keys), _AT_ONCE):
        some = keys[start : start + _AT_ONCE]
        articles = searched_articles(session, some)
        yield from ((key, articles[key]) for key in some if key in articles)


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
    query = _candidates(session, node, scope)
    if session.get_bind().dialect.name == "sqlite":
        return session.scalars(query.limit(limit).offset(offset)).all()
    if (sources := source_ids(session, scope)) is not None:
        number = NEWEST_OF_SOURCES
        while number and number <= MOST_OF_SOURCES:
            # Among the newest articles of the sources, this number of them at least.
            days = select(DailySource.day, func.sum(DailySource.read))
            days = days.where(DailySource.source_id.in_(sources)).group_by(DailySource.day)
            days = days.where(*between(DailySource.day, scope.widened()))
            total, begins = 0, date.min
            for day, read in session.execute(days.order_by(DailySource.day.desc())):
                total, begins = total + read, day
                if total >= number:
                    break
            newest = (
                _candidates(session, node, scope, by_index=False)
                .join(Article, Article.id == search_index(session).article)
                .where(Article.source_id.in_(sources), Article.day >= begins)
            )
            keys = session.scalars(newest.limit(limit + offset)).all()
            if len(keys) == limit + offset:
                return keys[offset:]
            # Half as many again as are expected to be enough; for a rare word the index is fast.
            number = 3 * number * (limit + offset) // (2 * len(keys)) if keys else 0
    return _newest(session, query, scope, limit, offset)


def find_other_articles(
    session: Session,
    node: Node,
    scope: Scope,
    limit: int,
    companies: Collection[int],
    begins: int | None,
    *,
    few: bool,
) -> Sequence[int]:
    """Return the keys of articles that the index finds and that mention none of the companies, all
    or those from the minute `begins` on, the newest first. If these are `few` beside those with the
    words, PostgreSQL reads them all, in place of all places of the words in its index."""
    index = search_index(session)
    query = _candidates(session, node, scope, by_index=begins is None or not few)
    naming: Select[Any] = select(literal_column("1")).where(
        Appearance.company_id.in_(companies),
        Appearance.minute == index.minute,
        Appearance.article_id == index.article,
    )
    if begins is not None:
        naming = naming.where(Appearance.minute >= begins)
    query = query.where(*index.within(begins), ~naming.exists())
    if begins is None and session.get_bind().dialect.name == "postgresql":
        return _newest(session, query, scope, limit, 0)
    return session.scalars(query.limit(limit)).all()


def _newest(
    session: Session, query: Select[int], scope: Scope, limit: int, offset: int
) -> Sequence[int]:
    """Return the first keys of a query in PostgreSQL."""
    query, index = query.limit(limit + offset), search_index(session)
    newest = select(index.minute).where(*index.within(*minutes_of(scope)))
    newest = newest.order_by(index.minute.desc()).limit(1)
    last, first = session.scalar(newest), session.scalar(newest.offset(NEWEST))
    beginnings = []
    if last is not None and first is not None:
        # Shorter ones have few articles of some sources besides those that were compared.
        stretches = STRETCHES[-1:] if scope.narrows_sources else STRETCHES
        beginnings = [last - (last - first) * times for times in stretches]
    for begins in beginnings:
        keys = session.scalars(query.where(index.minute >= begins)).all()
        if len(keys) >= limit + offset:
            return list(keys[offset:])
    return list(session.scalars(query).all()[offset:])


def _candidates(
    session: Session, node: Node, scope: Scope, *, by_index: bool = True
) -> Select[int]:
    """Return a query of the articles that the index finds, the newest first."""
    index = search_index(session)
    matches = index.matches(node, by_index=by_index)
    query = select(index.article).where(matches, *index.within(*minutes_of(scope)))
    if scope.narrows:
        counted = rollup_table(session, scope, by="hour", company=None)
        same = CountedArticle.minute == index.minute, CountedArticle.article_id == index.article
        query = query.join(CountedArticle, and_(*same)).where(*counted.conditions)
    return query.order_by(*index.newest_first)
