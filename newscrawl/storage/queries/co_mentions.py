"""The companies that are mentioned in the same articles as another one.

The articles and stories of one company by itself are counted from the pairs of companies in an
article, whose key has all that is needed: a range of it for each other company. Where a question is
about few articles, several companies together, or some of the sources, languages or sections, all
appearances in the company's articles are read instead.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import nlargest
from typing import Literal

from sqlalchemy import ColumnElement, Row, Select, Subquery, and_, func, select, union_all
from sqlalchemy.orm import Session, aliased

from newscrawl.storage import QuestionError
from newscrawl.storage.database import Database
from newscrawl.storage.models import Appearance, Company, CompanyPair, SavedQuery
from newscrawl.storage.queries.company_counts import Unions, unions_of
from newscrawl.storage.queries.questions import ANY, about, cache_answers, question
from newscrawl.storage.queries.rollup_tables import (
    CompanyDays,
    UnionMembers,
    company_days,
    counts_on,
    minutes_within,
    rollup_table,
)
from newscrawl.storage.scope import Scope

__all__ = ["CoMention", "co_mentions"]

# Ours: articles of which the companies are read faster than the pairs with a thousand companies.
FEW_ARTICLES = 250
# Ours: names that are asked for one by one.
MAX_NAMED = 300

# Made once, as they take longer to write than to run.
_OTHER = aliased(Appearance)
_IN_LISTS = select(Company.id, Company.name, SavedQuery.company_id.is_not(None)).outerjoin(
    SavedQuery, SavedQuery.company_id == Company.id
)


@dataclass(frozen=True, slots=True, kw_only=True)
class CoMention:
    """A company or saved query in the same articles."""

    company: str
    kind: Literal["company", "saved query"] = field(
        default="company", metadata=about(shown="files")
    )
    articles: int = field(metadata=about("articles that mention both"))
    stories: int | None = field(
        default=None,
        metadata=about("stories that mention both; null if they were not requested"),
    )
    share: float = field(metadata=about("of the other company's articles, 0 to 1"))


@question("/companies/{company}/together")
def co_mentions(
    database: Database, company: str, *, scope: Scope = ANY, limit: int = 20, stories: bool = False
) -> list[CoMention]:
    """Return the companies mentioned in the same articles as this one, most articles first."""
    with database.reading() as session:
        return _co_mentions(session, company, scope, limit, stories=stories)


@cache_answers
def _co_mentions(
    session: Session, company: str, scope: Scope, limit: int, *, stories: bool
) -> list[CoMention]:
    asked = company_days(session, company, scope)
    rollup = rollup_table(session, scope, by=None, company=asked)
    whole = session.scalar(rollup.select(rollup.hits()[0])) or 0
    unions, owners = unions_of(session, scope)
    one = asked[0].number
    many = whole > FEW_ARTICLES and not unions
    saved = {*session.scalars(select(SavedQuery.company_id))} if many else set()
    in_pairs = many and _has_pairs(asked, saved, scope)
    if in_pairs:
        found = _count_pairs(session, one, saved, scope)
    else:
        found = _count_beside(session, asked, unions, scope)
    if found and not whole:
        raise QuestionError(
            f"the daily counts of {company} are missing: newscrawl db rebuild counts them again"
        )
    named = _names_of(session, found, limit)
    names = {number: name for number, name, _ in named} | owners
    queries = {number for number, _, is_query in named if is_query}
    order = sorted(names.keys() & found, key=lambda other: (-found[other], names[other]))[:limit]
    counted: Mapping[int, int] = {}
    if stories and order and in_pairs:
        counted = _count_stories_of_pairs(session, one, order, saved, scope)
    elif stories and order:
        counted = _count_beside(session, asked, unions, scope, stories_of=order)
    return [
        CoMention(
            company=names[other],
            kind="saved query" if other in queries else "company",
            articles=found[other],
            stories=counted.get(other),
            share=found[other] / whole,
        )
        for other in order
    ]


def _names_of(
    session: Session, found: Mapping[int, int], limit: int
) -> Sequence[Row[int, str, bool]]:
    """Return the number and name of the companies that may be among the first, by their articles,
    and whether each is a saved query."""
    least = min(nlargest(limit, found.values()), default=0)
    first = [other for other, articles in found.items() if articles >= least]
    # A statement has few parameters; all names are read faster than those of very many.
    query = _IN_LISTS.where(Company.id.in_(first)) if len(first) <= MAX_NAMED else _IN_LISTS
    return session.execute(query).all()


def count_articles_of_both(session: Session, company: str, beside: str, scope: Scope) -> int | None:
    """Return the number of articles that mention both companies; None where the pairs don't have
    it."""
    asked = [company_days(session, name, scope) for name in (company, beside)]
    saved = {*session.scalars(select(SavedQuery.company_id))}
    if not all(_has_pairs(days, saved, scope) for days in asked):
        return None
    one, other = sorted(days[0].number for days in asked)
    if one in {0, other}:
        return 0
    both = _stories_of_both(one, other, set(), scope)
    return session.scalar(select(func.count()).select_from(both)) or 0


def _has_pairs(days: Sequence[CompanyDays], saved: set[int], scope: Scope) -> bool:
    """Return whether the pairs have all articles of a question: about one company at all times,
    which is not a saved query, in a scope that is limited by time alone."""
    number = days[0].number
    return days == [CompanyDays(number)] and number not in saved and not scope.narrows


def _count_pairs(session: Session, company: int, saved: set[int], scope: Scope) -> dict[int, int]:
    """Return the number of articles that each other company has in common with this one."""
    queries = [*_pairs_beside(company, scope)]
    for rows in _unpaired_beside(company, saved, scope):
        beside = rows.subquery().c.other
        queries.append(select(beside, func.count()).group_by(beside))
    found: dict[int, int] = {}
    for query in queries:
        for other, articles in session.execute(query):
            if articles:
                found[other] = found.get(other, 0) + articles
    return found


def _count_stories_of_pairs(
    session: Session, company: int, others: Sequence[int], saved: set[int], scope: Scope
) -> dict[int, int]:
    """Return the number of stories that each of the others has in common with this company: one by
    one, since the stories of all of them would not fit into PostgreSQL's memory for a sort."""
    counted = {}
    for other in others:
        stories = _stories_of_both(company, other, saved, scope).c.story_id
        counted[other] = session.scalar(select(func.count(stories.distinct()))) or 0
    return counted


def _stories_of_both(company: int, other: int, saved: set[int], scope: Scope) -> Subquery:
    """Return the story of each article that mentions both companies."""
    pair = CompanyPair
    first, second = sorted((company, other))
    paired = select(pair.story_id).where(pair.company_id == first, pair.other_id == second)
    unpaired = (
        rows.where(rows.selected_columns.other == other).with_only_columns(
            rows.selected_columns.story_id
        )
        for rows in _unpaired_beside(company, saved, scope)
    )
    return union_all(paired.where(*minutes_within(pair, scope)), *unpaired).subquery()


def _pairs_beside(company: int, scope: Scope) -> Iterator[Select[int, int]]:
    """Yield queries of the companies with higher and lower numbers, with the articles in which they
    are a pair with this one."""
    pair = CompanyPair
    for is_on_this_side, other, key in (
        (Company.id > company, pair.other_id, pair.company_id),
        (Company.id < company, pair.company_id, pair.other_id),
    ):
        number = (
            select(func.count())
            .where(key == company, other == Company.id, *minutes_within(pair, scope))
            .correlate(Company)
            .scalar_subquery()
        )
        yield select(Company.id, number).where(is_on_this_side)


def _unpaired_beside(company: int, saved: set[int], scope: Scope) -> Iterator[Select[int, int]]:
    """Yield queries of what is in no pairs, with the stories of the articles beside this company:
    the companies in articles of very many, and saved queries."""
    pair, other = CompanyPair, _OTHER
    crowded = select(pair.article_id).where(pair.company_id == company, pair.other_id == 0)
    beside = select(other.company_id.label("other"), other.story_id)
    yield beside.where(
        other.article_id.in_(crowded.where(*minutes_within(pair, scope))),
        other.company_id.not_in({company, *saved}),
    )
    if saved:
        one = aliased(Appearance)
        same = and_(one.minute == other.minute, one.article_id == other.article_id)
        yield beside.join(one, same).where(
            one.company_id == company,
            other.company_id.in_(saved),
            *minutes_within(one, scope),
            *minutes_within(other, scope),
        )


def _count_beside(
    session: Session,
    asked: Sequence[CompanyDays],
    unions: Unions,
    scope: Scope,
    *,
    stories_of: Sequence[int] | None = None,
) -> dict[int, int]:
    """Return the number of articles, or of stories of some, that each other company or union has in
    common with this one."""
    rollup = rollup_table(session, scope, by="hour", company=asked)
    table, other = rollup.table, _OTHER
    members = UnionMembers(session, other, unions)
    beside: ColumnElement[int] = members.union
    # Without unions, a company is beside this one at most once in an article.
    number: ColumnElement[int] = func.count(table.article_id.distinct()) if unions else func.count()
    if stories_of is not None:
        number = func.count(table.story_id.distinct())
    query = (
        rollup.select(beside, number)
        .join(other, other.article_id == table.article_id)
        .where(counts_on(other.company_id, other, asked, negated=True))
        # With these conditions, PostgreSQL reads only a part of the joined table.
        .where(*minutes_within(other, scope))
        .group_by(beside)
    )
    if stories_of is not None:
        query = query.where(beside.in_(stories_of))
    return dict(session.execute(members.join(query)).all())
