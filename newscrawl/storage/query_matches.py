"""Update the matches of saved queries in the transactions that store articles
(`newscrawl.storage.rollups`)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from sqlalchemy import Connection, and_, delete, select

from newscrawl.storage import QuestionError
from newscrawl.storage.engine import BulkInsert, one_of
from newscrawl.storage.models import QueryMatch, SavedQuery, Source
from newscrawl.storage.search_language import (
    Facts,
    Node,
    SearchedArticle,
    evaluate,
    needed_words,
    parse_query as parse,
)
from newscrawl.storage.words import Wording, lines

# Occurrences in headline and body, by the number of the saved query.
Matches = dict[int, tuple[int, int]]

_QUERIES = select(
    SavedQuery.company_id, SavedQuery.text, SavedQuery.version, SavedQuery.pending_text
)
_SOURCES = select(Source.id, Source.slug, Source.country).where(one_of(Source.id, "sources"))
_COUNTING = and_(
    SavedQuery.company_id == QueryMatch.company_id, SavedQuery.version == QueryMatch.version
)
_STORED = (
    select(QueryMatch.article_id, QueryMatch.company_id, QueryMatch.in_title, QueryMatch.in_body)
    .join(SavedQuery, _COUNTING)
    .where(one_of(QueryMatch.article_id, "numbers"))
)
_ADD = BulkInsert(QueryMatch)


# An article to be matched: its number, that of its source, its language ("" if unknown), its words.
MatchedArticle = tuple[int, int, str, Wording]


@dataclass(frozen=True, slots=True)
class _Query:
    """A version of a saved query; `counts` says whether it is the present one."""

    number: int
    version: int
    counts: bool
    node: Node
    needed: tuple[frozenset[str], ...]


@lru_cache(maxsize=256)
def parse_saved(text: str) -> Node | None:
    """Return the parsed query of a saved text; None if only an earlier version of newscrawl accepts
    it."""
    try:
        return parse(text)
    except QuestionError:
        return None


def count_hits(node: Node, article: SearchedArticle) -> tuple[int, int] | None:
    """Return the numbers of hits in headline and body; None for an article that doesn't match."""
    hits = evaluate(node, article)
    if hits is None:
        return None
    sections = [section for section, _, _ in hits]
    return sections.count("title"), sections.count("body")


def _searched_article(wording: Wording, facts: Facts) -> SearchedArticle:
    return SearchedArticle(lines(wording.title), lines(wording.body), facts)


class SavedQueryTexts:
    """Saved queries, their texts by name, to be matched with articles outside of a database."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        nodes = {name: parse_saved(text) for name, text in texts.items()}
        self._queries = [(name, node, needed_words(node)) for name, node in nodes.items() if node]
        self.texts = texts

    def matches(self, wording: Wording, facts: Facts) -> dict[str, tuple[int, int]]:
        """Return the numbers of hits in headline and body, by the name of the query."""
        if not self._queries:
            return {}
        article = _searched_article(wording, facts)
        hits_by_query = {
            name: count_hits(node, article)
            for name, node, needed in self._queries
            if article.may_match(needed)
        }
        return {name: hits for name, hits in hits_by_query.items() if hits is not None}


def stored_matches(connection: Connection, numbers: Sequence[int]) -> dict[int, Matches]:
    """Return the matches that count, by article."""
    matches: dict[int, Matches] = {}
    rows = connection.execute(_STORED, {"numbers": list(numbers)})
    for article, query, in_title, in_body in rows:
        matches.setdefault(article, {})[query] = in_title, in_body
    return matches


def write_matches(connection: Connection, rows: Sequence[tuple[int, int, int, int, int]]) -> None:
    """Insert matches that are not stored: the query's number and version, the article's number and
    the hits in headline and body."""
    _ADD.write(connection, rows)


class QueryMatcher:
    """All saved queries in a transaction.

    On PostgreSQL, reading them locks them against changes until it ends (`saved_queries`).
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._queries: list[_Query] = []
        for number, text, version, pending_text in connection.execute(_QUERIES):
            if version and (node := parse_saved(text)):
                self._queries.append(_Query(number, version, True, node, needed_words(node)))
            if pending_text is not None and (node := parse_saved(pending_text)):
                pending = _Query(number, version + 1, False, node, needed_words(node))
                self._queries.append(pending)
        self._facts: dict[int, tuple[str, str]] = {}

    def update(
        self, articles: Sequence[MatchedArticle], changed: Sequence[int] = ()
    ) -> dict[int, Matches]:
        """Store the matches of articles in place of those of the `changed` ones; return those that
        count."""
        if not self._queries:
            return {}
        if changed:
            old = delete(QueryMatch).where(QueryMatch.article_id.in_(changed))
            self._connection.execute(old)
        if missing := sorted({source for _, source, *_ in articles} - self._facts.keys()):
            for number, slug, country in self._connection.execute(_SOURCES, {"sources": missing}):
                self._facts[number] = slug, country
        rows: list[tuple[int, int, int, int, int]] = []
        matches: dict[int, Matches] = {}
        for article, source, language, wording in articles:
            searched = _searched_article(wording, Facts(language, *self._facts[source]))
            for query in self._queries:
                if not searched.may_match(query.needed):
                    continue
                hits = count_hits(query.node, searched)
                if hits is None:
                    continue
                rows.append((query.number, query.version, article, *hits))
                if query.counts:
                    matches.setdefault(article, {})[query.number] = hits
        write_matches(self._connection, rows)
        return matches
