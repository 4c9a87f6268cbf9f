"""Suggested companies: names of organisations in articles that no registry lists."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import date
from itertools import islice

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from newscrawl.storage.database import reads
from newscrawl.storage.models import Article, Source, UnregisteredName
from newscrawl.storage.queries.questions import ANY
from newscrawl.storage.queries.text_search import find_candidates
from newscrawl.storage.scope import Scope
from newscrawl.storage.scope_conditions import articles_within, validate_in
from newscrawl.storage.search_language import Or, Term
from newscrawl.storage.words import folded_words
from newscrawl.text import sentence_around

# Rows of the list that are compared with the registry at a time.
_AT_ONCE = 500
# Ours: articles in which a new entry is searched, which takes some ten seconds.
MOST_ARTICLES = 5_000
# Ours: articles whose spelling of a word is looked at.
_NEWEST = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class SuggestedName:
    """A name with the articles of the scope that have it, and the newest sentence that is kept."""

    name: str
    articles: int
    sentence: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedSentence:
    """A sentence with a suggested name, and its article."""

    url: str
    sentence: str
    day: date
    source: str
    country: str


@reads
def suggested_names(
    session: Session,
    is_registered: Callable[[str], bool],
    *,
    scope: Scope = ANY,
    limit: int = 50,
) -> list[SuggestedName]:
    """Return the names in most articles of the scope without those that `is_registered` knows by
    now, such as `is_registered` of `newscrawl.load_companies()`. Raise QuestionError."""
    scope = validate_in(session, scope)
    names = select(
        UnregisteredName.name, func.count(), func.max(UnregisteredName.article_id)
    ).join_from(UnregisteredName, Article, Article.id == UnregisteredName.article_id)
    names = articles_within(names, scope).group_by(UnregisteredName.name)
    names = names.order_by(func.count().desc(), UnregisteredName.name)
    rows = session.execute(names.execution_options(yield_per=_AT_ONCE))
    chosen = []
    for name, articles, newest in rows:
        if not is_registered(name):
            chosen.append((name, articles, newest))
        if len(chosen) == limit:
            break
    rows.close()
    return [
        SuggestedName(
            name=name,
            articles=articles,
            sentence=session.scalar(
                select(UnregisteredName.sentence).where(
                    UnregisteredName.name == name, UnregisteredName.article_id == newest
                )
            )
            or "",
        )
        for name, articles, newest in chosen
    ]


@reads
def articles_naming(session: Session, name: str, forms: Iterable[str]) -> list[int]:
    """Return the ids of the articles with a suggested name, or with one of the forms by the search
    index: the newest MOST_ARTICLES."""
    terms = [Term(tuple(words)) for form in (name, *forms) if (words := folded_words(form))]
    suggested = select(UnregisteredName.article_id).where(UnregisteredName.name == name)
    numbers = {*session.scalars(suggested)}
    if terms:
        scope = Scope().validate()
        numbers.update(find_candidates(session, Or(tuple(terms)), scope, MOST_ARTICLES, 0))
    return sorted(numbers)[-MOST_ARTICLES:]


@dataclass(frozen=True, slots=True, kw_only=True)
class WordInArchive:
    """A word in the newest articles with it: their number, how many have it in small letters, and
    sentences in which it is written as it is given."""

    articles: int
    in_small_letters: int
    sentences: tuple[str, ...]


@reads
def word_in_archive(session: Session, word: str, *, sentences: int = 10) -> WordInArchive:
    """Return how a form of one word is written in the newest articles that the index finds."""
    term, scope = Term(tuple(folded_words(word))), Scope().validate()
    numbers = find_candidates(session, term, scope, _NEWEST, 0) if term.words else ()
    newest = select(Article.text).where(Article.id.in_(numbers)).order_by(Article.id.desc())
    texts = session.scalars(newest).all()
    small = re.compile(rf"\b{re.escape(word.lower())}\b")
    places = (
        (text, place)
        for text in texts
        if (place := re.search(rf"\b{re.escape(word)}\b", text)) is not None
    )
    return WordInArchive(
        articles=len(texts),
        in_small_letters=sum(small.search(text) is not None for text in texts),
        sentences=tuple(
            text[slice(*sentence_around(text, *place.span()))].strip()
            for text, place in islice(places, sentences)
        ),
    )


@reads
def named_sentences(
    session: Session, name: str, *, scope: Scope = ANY, limit: int = 3
) -> list[NamedSentence]:
    """Return the newest sentences that are kept of a name."""
    query = (
        select(Article.url, UnregisteredName.sentence, Article.day)
        .add_columns(Source.slug.label("source"), Source.country)
        .join_from(UnregisteredName, Article, Article.id == UnregisteredName.article_id)
        .where(UnregisteredName.name == name, UnregisteredName.sentence != "")
    )
    newest = articles_within(query, scope).order_by(UnregisteredName.article_id.desc())
    return [NamedSentence(**row) for row in session.execute(newest.limit(limit)).mappings()]
