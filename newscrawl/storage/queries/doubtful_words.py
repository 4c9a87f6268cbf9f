"""Doubtful words: a company's spellings in articles that do not count for it.

The matcher leaves out words that need support and have none in their article, and parts of other
names. They are not stored, so the proof of a number searches them in the full-text index, and then
in the texts that it finds.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Self

from sqlalchemy import Select, func, select
from sqlalchemy.orm import Session

from newscrawl.items import Section
from newscrawl.storage.engine import one_of
from newscrawl.storage.models import (
    Article,
    Company,
    Correction,
    CountedArticle,
    DailyCompany,
    DailyTotal,
    Mention,
)
from newscrawl.storage.queries.article_details import MarkedMention
from newscrawl.storage.queries.text_search import OtherArticles, find_other_articles
from newscrawl.storage.scope import Scope, day_of_minute, first_minute
from newscrawl.storage.scope_conditions import between
from newscrawl.storage.search_language import Node, Or, Term
from newscrawl.storage.words import (
    folded_words,
    places_of_words,
    without_accents,
    writes_no_blanks,
)

# Ours: the limits of a search (docs/queries.md): spellings of a group or of an owner, articles that
# count for them, among which the others are looked for (the newest ones), and texts that are read.
MAX_SPELLINGS = 200
MAX_COUNTED = 5_000
MAX_TEXTS = 2_000
_AT_ONCE = 200
# Ours: PostgreSQL examines the words of an article in the time of four places in its index.
_FEW = 4
# Characters of an example on both sides of a form.
_AROUND = 40

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class DoubtfulWords:
    """The articles, by their keys and the newest first, and the spellings in them, the most
    frequent first. `since` is the first day that was searched, None for all of the scope."""

    articles: tuple[int, ...] = ()
    spellings: tuple[str, ...] = ()
    since: date | None = None


@dataclass(frozen=True, slots=True)
class Spellings:
    """The spellings of companies: each with its company, by folded words."""

    known: Mapping[tuple[str, ...], tuple[str, str]]
    pattern: re.Pattern[str]

    @classmethod
    def of(cls, scope: Scope, name: str) -> Self | None:
        """Return the spellings of a company or group; None for a saved query, or without a
        registry."""
        spellings: dict[tuple[str, ...], tuple[str, str]] = {}
        for company in scope.members(name):
            for spelling in scope.structure.spellings.get(company, ()):
                if words := tuple(folded_words(spelling)):
                    spellings.setdefault(words, (company, spelling))
        if not spellings:
            return None
        spellings = dict(list(spellings.items())[:MAX_SPELLINGS])
        longest_first = sorted(
            (spelling for _, spelling in spellings.values()), key=len, reverse=True
        )
        return cls(spellings, re.compile("|".join(map(_as_written, longest_first))))

    @property
    def query(self) -> Node:
        """Return the search for articles with one of the spellings, in any case."""
        return Or(tuple(Term(words) for words in self.known))

    def find(self, section: Section, text: str) -> Iterator[MarkedMention]:
        """Yield the places of the spellings with a capital, as in names."""
        for match in self.pattern.finditer(text):
            spelling = self._company_of(match[0])
            # Capitals may be those of another word: "I" is also the capital of a Turkish letter.
            if spelling is None:
                continue
            company, _ = spelling
            yield MarkedMention(
                company=company,
                section=section,
                start=match.start(),
                end=match.end(),
                surface=match[0],
                rule="doubtful",
            )

    def spelling_of(self, surface: str) -> str:
        """Return the spelling of words that were found."""
        spelling = self._company_of(surface)
        return spelling[1] if spelling else surface

    def _company_of(self, surface: str) -> tuple[str, str] | None:
        return self.known.get(tuple(folded_words(surface)))


def _as_written(spelling: str) -> str:
    """Return a pattern of a spelling: unchanged, in capitals or with a first capital, with or
    without accents, and with any signs between its words."""
    words = [spelling[start:end] for start, end in places_of_words(spelling)]
    pattern = r"(?<!\w)" if not writes_no_blanks(words[0]) else ""
    for place, word in enumerate(words):
        if place:
            least = 0 if writes_no_blanks(word) or writes_no_blanks(words[place - 1]) else 1
            pattern += rf"[\W_]{{{least},3}}"
        bare = without_accents(word)
        forms = {
            form
            for variant in (word, bare)
            for form in (
                variant,
                variant.upper(),
                variant[0].upper() + variant[1:],
            )
        }
        pattern += f"(?:{'|'.join(map(re.escape, sorted(forms)))})"
    return pattern + (r"(?!\w)" if not writes_no_blanks(words[-1]) else "")


def find_doubtful_words(
    session: Session, spellings: Spellings, scope: Scope, eligible: Select[int]
) -> DoubtfulWords:
    """Return the articles, among the `eligible` ones of the scope, that contain a spelling as a
    name is written and mention none of the companies there; articles with a correction by a person
    are left out. The newest ones are searched, up to the limits above."""
    names = {company for company, _ in spellings.known.values()}
    companies = session.scalars(select(Company.id).where(Company.name.in_(names))).all()
    since, few = _first_day(session, companies, scope)
    begins = None if since is None else first_minute(since)
    others = OtherArticles(companies, begins, few)
    keys = find_other_articles(session, spellings.query, scope, MAX_TEXTS + 1, others)
    if len(keys) > MAX_TEXTS:
        keys = keys[:MAX_TEXTS]
        minute = select(CountedArticle.minute).where(CountedArticle.article_id == keys[-1])
        since = day_of_minute(session.scalars(minute).one())
    within = eligible.where(one_of(CountedArticle.article_id, "numbers"))
    keys_left = {*session.scalars(within, {"numbers": list(keys)})}
    keys_left -= {
        *session.scalars(
            select(Correction.article_id).where(
                Correction.company.in_(names),
                Correction.kind == "wrong",
                Correction.undone_at.is_(None),
            )
        )
    }
    unread = [key for key in keys if key in keys_left]
    articles: list[int] = []
    times: Counter[str] = Counter()
    for start in range(0, len(unread), _AT_ONCE):
        some = unread[start : start + _AT_ONCE]
        doubtful = doubtful_in(session, spellings, some)
        articles += [key for key in some if doubtful[key]]
        times.update(
            spellings.spelling_of(word.surface) for words in doubtful.values() for word in words
        )
    in_order = sorted(times, key=lambda spelling: (-times[spelling], spelling))
    return DoubtfulWords(tuple(articles), tuple(in_order), since)


def _first_day(
    session: Session, companies: Sequence[int], scope: Scope
) -> tuple[date | None, bool]:
    """Return the day since which the companies have MAX_COUNTED articles, None if they have fewer;
    and whether all articles since then are few beside theirs of all days.

    As theirs have the words, too, the index finds them all: this limits what it finds.
    """
    table, total = DailyCompany, DailyTotal
    query = select(table.day, func.sum(table.articles)).where(table.company_id.in_(companies))
    query = query.where(*between(table.day, scope.widened())).group_by(table.day)
    number, first = 0, None
    for day, articles in session.execute(query.order_by(table.day.desc())):
        number += articles
        if first is None and number > MAX_COUNTED:
            first = day
    if first is None or (scope.since is not None and first <= scope.since):
        return None, False
    read = select(func.sum(total.read)).where(total.day >= first)
    articles = session.scalar(read.where(*between(total.day, scope))) or 0
    return first, articles * _FEW < number


def doubtful_in(
    session: Session, spellings: Spellings, articles: Sequence[int]
) -> dict[int, list[MarkedMention]]:
    """Return the places of the spellings in each article that are not those of a mention, which
    may be of another company: "Siemens" in "Siemens Energy"."""
    place = Mention.article_id, Mention.section, Mention.start_offset, Mention.end_offset
    mentions: dict[tuple[int, str], list[Span]] = defaultdict(list)
    for key, section, start, end in session.execute(
        select(*place).where(Mention.article_id.in_(articles))
    ):
        mentions[key, section].append((start, end))
    query = select(Article.id, Article.title, Article.text).where(Article.id.in_(articles))
    mentions_by_article: dict[int, list[MarkedMention]] = {key: [] for key in articles}
    for key, title, text in session.execute(query):
        words = (*spellings.find("title", title or ""), *spellings.find("body", text))
        mentions_by_article[key] = [
            word
            for word in words
            if not any(
                word.start < end and start < word.end for start, end in mentions[key, word.section]
            )
        ]
    return mentions_by_article


def _day_of(session: Session, article: int) -> date:
    """Return the UTC day of an article."""
    minute = select(CountedArticle.minute).where(CountedArticle.article_id == article)
    return day_of_minute(session.scalars(minute).one())


@dataclass(frozen=True, slots=True, kw_only=True)
class FormInArticles:
    """A form of a company with the number of its stored places, their mean score and one place."""

    company: str
    form: str
    places: int
    score: float
    example: str


def least_certain_forms(session: Session, limit: int) -> list[FormInArticles]:
    """Return the forms whose places in stored articles look least like a company, by the mean of
    their scores."""
    score = func.avg(Mention.score)
    query = (
        select(Company.name, Mention.surface, func.count(), score, func.max(Mention.id))
        .join(Company, Company.id == Mention.company_id)
        .where(Mention.score.is_not(None))
        .group_by(Company.name, Mention.surface)
        .order_by(score, func.count().desc(), Company.name, Mention.surface)
        .limit(limit)
    )
    rows = session.execute(query).all()
    places = select(Mention, Article.title, Article.text).join(
        Article, Article.id == Mention.article_id
    )
    examples = {}
    for mention, title, text in session.execute(
        places.where(Mention.id.in_([latest for *_, latest in rows]))
    ):
        section = title or "" if mention.section == "title" else text
        begin, end = max(0, mention.start_offset - _AROUND), mention.end_offset + _AROUND
        examples[mention.id] = " ".join(section[begin:end].split())
    return [
        FormInArticles(
            company=company,
            form=form,
            places=places,
            score=round(mean, 3),
            example=examples.get(latest, ""),
        )
        for company, form, places, mean, latest in rows
    ]
