"""Full-text search: what someone typed, as a query of SQLite's FTS5 and of PostgreSQL."""

import re
from dataclasses import dataclass

from sqlalchemy import ColumnElement, Select, and_, cast, literal_column, select
from sqlalchemy.dialects import postgresql
from sqlalchemy.orm import Session

from newscrawl.items import Section
from newscrawl.storage.database import Database
from newscrawl.storage.errors import QuestionError
from newscrawl.storage.models import CountedArticle
from newscrawl.storage.queries.article_lists import (
    FoundArticle,
    Span,
    article_rows,
    snippets,
    texts_of,
)
from newscrawl.storage.queries.questions import ANY, question
from newscrawl.storage.queries.rollup_tables import rollup_table
from newscrawl.storage.scope import Scope, minutes_of
from newscrawl.storage.search_index import (
    NUMBER_BITS,
    POSTGRES_SEARCH,
    SQLITE_SEARCH,
    article_of,
    search_key,
)
from newscrawl.storage.words import Word, folded_words, words_of

__all__ = ["search"]

# Ours: PostgreSQL searches the newest articles first, this number times each of STRETCHES, then
# all. Its text index has no order by time: for a frequent word it would return all articles to be
# sorted, and three searches are enough for a rare one.
NEWEST = 5_000
STRETCHES = (1, 10, 60)

_PART = re.compile(r'(?P<minus>-?)(?:"(?P<phrase>[^"]*)"|(?P<word>[^\s"]+))(?P<star>\*?)')
# Ours: each word costs an index lookup.
MAX_WORDS = 32


@dataclass(frozen=True, slots=True)
class Term:
    """Consecutive words; with `prefix` the last one is the beginning of a word."""

    words: tuple[str, ...]
    prefix: bool = False

    def spans(self, words: list[Word]) -> list[tuple[int, int]]:
        """Return the places of the term in the text of these words, as start and end."""
        length = len(self.words)
        return [
            (words[first].start, words[first + length - 1].end)
            for first in range(len(words) - length + 1)
            if self._matches([word.text for word in words[first : first + length]])
        ]

    def _matches(self, words: list[str]) -> bool:
        if self.prefix:
            *whole, begun = self.words
            return words[:-1] == whole and words[-1].startswith(begun)
        return words == list(self.words)


@dataclass(frozen=True, slots=True)
class SearchText:
    """An article matches if it has a term of each group in `wanted`, and none of `unwanted`."""

    wanted: tuple[tuple[Term, ...], ...]
    unwanted: tuple[Term, ...]

    @property
    def terms(self) -> tuple[Term, ...]:
        return tuple(term for group in self.wanted for term in group)

    def for_sqlite(self) -> str:
        """Return the query in FTS5's language."""
        wanted = " AND ".join(f"({' OR '.join(map(_fts5, group))})" for group in self.wanted)
        unwanted = " OR ".join(map(_fts5, self.unwanted))
        return f"({wanted}) NOT ({unwanted})" if unwanted else wanted

    def for_postgres(self) -> str:
        """Return the query as the text of a tsquery."""
        groups = [f"({' | '.join(map(_tsquery, group))})" for group in self.wanted]
        return " & ".join([*groups, *(f"!({_tsquery(term)})" for term in self.unwanted)])


def parse_search(text: str) -> SearchText:
    """Parse words, "phrases", begin*, -unwanted and OR between two of them.

    A word of several tokens ("Coca-Cola", all of Chinese) becomes a phrase. Raise
    QuestionError for a query without a wanted word, or with more than MAX_WORDS.
    """
    wanted: list[list[Term]] = []
    unwanted: list[Term] = []
    joins = False
    for part in _PART.finditer(text):
        if part["word"] == "OR" and not part["minus"]:
            joins = bool(wanted)
            continue
        term = _term(part)
        if term is None:
            continue
        if part["minus"]:
            unwanted.append(term)
        elif joins:
            wanted[-1].append(term)
        else:
            wanted.append([term])
        joins = False
    parsed = SearchText(tuple(map(tuple, wanted)), tuple(unwanted))
    if not wanted:
        raise QuestionError(
            f'nothing to search for in {text!r}: write words, or a "phrase" in quotation marks'
        )
    if sum(len(term.words) for term in (*parsed.terms, *unwanted)) > MAX_WORDS:
        raise QuestionError(f"more than {MAX_WORDS} words to search for: leave some out")
    return parsed


def _term(part: re.Match[str]) -> Term | None:
    text = part["phrase"] if part["phrase"] is not None else part["word"]
    words = tuple(folded_words(text))
    prefix = bool(part["star"]) or (part["word"] or "").endswith("*")
    return Term(words, prefix) if words else None


def _fts5(term: Term) -> str:
    return f'"{" ".join(term.words)}"{" *" if term.prefix else ""}'


def _tsquery(term: Term) -> str:
    *whole, last = (f"'{word}'" for word in term.words)
    return " <-> ".join([*whole, f"{last}:*" if term.prefix else last])


@question("/search", names={"query": "q"})
def search(
    database: Database,
    query: str,
    *,
    scope: Scope = ANY,
    limit: int = 50,
    offset: int = 0,
    each: int = 3,
) -> list[FoundArticle]:
    """Return the articles with these words in headline or text, the newest first.

    All words must occur, in any order; case and accents don't matter. "Several words" are a
    phrase, -word must not occur, begin* is the beginning of a word, and of words with OR between
    them one is enough. Chinese and Japanese text is found as it is written. Each article has up to
    `each` snippets with the words marked. Raise QuestionError for a query without words.
    """
    asked = parse_search(query)
    with database.reading() as session:
        numbers = _matching(session, asked, scope, limit, offset)
        rows = article_rows(session, numbers, None)
        texts = texts_of(session, [row.number for row in rows])
    results = []
    for row in rows:
        body = texts[row.number]
        spans: dict[Section, list[Span]] = {
            "title": _spans(asked, row.title or ""),
            "body": _spans(asked, body),
        }
        results.append(FoundArticle(article=row, snippets=snippets(row.title, body, spans, each)))
    return results


def _matching(
    session: Session, asked: SearchText, scope: Scope, limit: int, offset: int
) -> list[int]:
    """Return the keys of the articles, the newest first."""
    if session.get_bind().dialect.name == "sqlite":
        query = _in_sqlite(session, asked, scope).limit(limit).offset(offset)
        return [article_of(key) for key in session.scalars(query)]
    query = _in_postgres(session, asked, scope).limit(limit + offset)
    for begins in _stretches(session, scope):
        keys = session.scalars(query.where(POSTGRES_SEARCH.c.minute >= begins)).all()
        if len(keys) >= limit + offset:
            return list(keys[offset:])
    return list(session.scalars(query).all()[offset:])


def _stretches(session: Session, scope: Scope) -> list[int]:
    """Return the first minutes of growing ranges of the newest articles."""
    minute = POSTGRES_SEARCH.c.minute
    newest = select(minute).where(*_minutes(scope)).order_by(minute.desc()).limit(1)
    last, first = session.scalar(newest), session.scalar(newest.offset(NEWEST))
    if last is None or first is None:
        return []
    return [last - (last - first) * times for times in STRETCHES]


def _in_sqlite(session: Session, asked: SearchText, scope: Scope) -> Select[int]:
    """Return a query of keys. Their order is that of time, so nothing is sorted, and a period is
    a range of them."""
    key = SQLITE_SEARCH.c.rowid
    matches = literal_column("article_search").op("MATCH")(asked.for_sqlite())
    query = select(key).where(matches)
    since, until = minutes_of(scope)
    if since is not None:
        query = query.where(key >= search_key(since, 0))
    if until is not None:
        query = query.where(key < search_key(until, 0))
    if _narrows(scope):
        counted = rollup_table(session, scope, by="hour", company=None)
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
        counted = rollup_table(session, scope, by="hour", company=None)
        same = and_(
            CountedArticle.minute == search.minute, CountedArticle.article_id == search.article_id
        )
        query = query.join(CountedArticle, same).where(*counted.conditions)
    # The sum keeps the planner from scanning all articles by time for a word
    # that it takes for more frequent than it is.
    return query.order_by(search.minute.op("+")(0).desc(), search.article_id.desc())


def _minutes(scope: Scope) -> list[ColumnElement[bool]]:
    since, until = minutes_of(scope)
    minute = POSTGRES_SEARCH.c.minute
    conditions = [] if since is None else [minute >= since]
    return conditions if until is None else [*conditions, minute < until]


def _narrows(scope: Scope) -> bool:
    """Return whether a scope is limited by more than time."""
    parts = (scope.source, scope.country, scope.language, scope.section)
    return any(part is not None for part in parts)


def _spans(asked: SearchText, text: str) -> list[Span]:
    words = list(words_of(text))
    return sorted({span for term in asked.terms for span in term.spans(words)})
