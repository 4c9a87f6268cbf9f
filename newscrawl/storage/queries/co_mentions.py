"""The companies that are mentioned in the same articles as another one.

The articles and stories of one company by itself are counted from the pairs of companies in an
article, whose key has all that is needed: a range of it for each other company. Where a question is
about few articles, several companies together, or some of the sources, languages or sections, all
appearances in the company's articles are read instead.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from heapq import nlargest
from typing import Literal

from sqlalchemy import ColumnElement, Select, Subquery, and_, func, select, union_all
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
    days = company_days(session, company, scope)
    rollup = rollup_table(session, scope, by=None, company=days)
    all_articles = session.scalar(rollup.select(rollup.hits()[0])) or 0
    unions, owners = unions_of(session, scope)
    one = days[0].number
    many = all_articles > FEW_ARTICLES and not unions
    saved = {*session.scalars(select(SavedQuery.company_id))} if many else set()
    in_pairs = many and _has_pairs(days, saved, scope)
    if in_pairs:
        pair_queries = [*_pairs_beside(one, scope)]
        for rows in _unpaired_beside(one, saved, scope):
            beside_column = rows.subquery().c.other
            pair_queries.append(select(beside_column, func.count()).group_by(beside_column))
        articles_by_company: dict[int, int] = {}
        for pairs_query in pair_queries:
            for beside_id, count in session.execute(pairs_query):
                if count:
                    articles_by_company[beside_id] = articles_by_company.get(beside_id, 0) + count
    else:
        articles_by_company = _count_beside(session, days, unions, scope)
    if articles_by_company and not all_articles:
        raise QuestionError(
            f"the daily counts of {company} are missing: newscrawl db rebuild counts them again"
        )
    least = min(nlargest(limit, articles_by_company.values()), default=0)
    first = [beside for beside, articles in articles_by_company.items() if articles >= least]
    # A statement has few parameters; all names are read faster than those of very many.
    query = _IN_LISTS.where(Company.id.in_(first)) if len(first) <= MAX_NAMED else _IN_LISTS
    named_rows = session.execute(query).all()
    names = {number: name for number, name, _ in named_rows} | owners
    queries = {number for number, _, is_query in named_rows if is_query}
    order = sorted(
        names.keys() & articles_by_company,
        key=lambda beside: (-articles_by_company[beside], names[beside]),
    )[:limit]
    counted: dict[int, int] = {}
    if stories and order and in_pairs:
        # One by one: the stories of all would not fit into PostgreSQL's memory for a sort.
        for beside in order:
            shared = _stories_of_both(one, beside, saved, scope).c.story_id
            counted[beside] = session.scalar(select(func.count(shared.distinct()))) or 0
    elif stories and order:
        counted = _count_beside(session, days, unions, scope, stories_of=order)
    return [
        CoMention(
            company=names[beside],
            kind="saved query" if beside in queries else "company",
            articles=articles_by_company[beside],
            stories=counted.get(beside),
            share=articles_by_company[beside] / all_articles,
        )
        for beside in order
    ]


def count_articles_of_both(session: Session, company: str, beside: str, scope: Scope) -> int | None:
    """Return the number of articles that mention both companies; None where the pairs don't have
    it."""
    days_of_both = [company_days(session, name, scope) for name in (company, beside)]
    saved = {*session.scalars(select(SavedQuery.company_id))}
    if not all(_has_pairs(days, saved, scope) for days in days_of_both):
        return None
    first, second = sorted(days[0].number for days in days_of_both)
    if first in {0, second}:
        return 0
    shared_stories = _stories_of_both(first, second, set(), scope)
    return session.scalar(select(func.count()).select_from(shared_stories)) or 0


def _has_pairs(days: Sequence[CompanyDays], saved: set[int], scope: Scope) -> bool:
    """Return whether the pairs have all articles of a question: about one company at all times,
    which is not a saved query, in a scope that is limited by time alone."""
    number = days[0].number
    return days == [CompanyDays(number)] and number not in saved and not scope.narrows


def _stories_of_both(company: int, beside: int, saved: set[int], scope: Scope) -> Subquery:
    """Return the story of each article that mentions both companies."""
    pair = CompanyPair
    first, second = sorted((company, beside))
    paired = select(pair.story_id).where(pair.company_id == first, pair.other_id == second)
    unpaired = (
        rows.where(rows.selected_columns.other == beside).with_only_columns(
            rows.selected_columns.story_id
        )
        for rows in _unpaired_beside(company, saved, scope)
    )
    return union_all(paired.where(*minutes_within(pair, scope)), *unpaired).subquery()


def _pairs_beside(company: int, scope: Scope) -> Iterator[Select[int, int]]:
    """Yield queries of the companies with higher and lower numbers, with the articles in which they
    are a pair with this one."""
    pair = CompanyPair
    for is_on_this_side, other_id, key in (
        (Company.id > company, pair.other_id, pair.company_id),
        (Company.id < company, pair.company_id, pair.other_id),
    ):
        number = (
            select(func.count())
            .where(key == company, other_id == Company.id, *minutes_within(pair, scope))
            .correlate(Company)
            .scalar_subquery()
        )
        yield select(Company.id, number).where(is_on_this_side)


def _unpaired_beside(company: int, saved: set[int], scope: Scope) -> Iterator[Select[int, int]]:
    """Yield queries of what is in no pairs, with the stories of the articles beside this company:
    the companies in articles of very many, and saved queries."""
    pair, appearance = CompanyPair, _OTHER
    crowded = select(pair.article_id).where(pair.company_id == company, pair.other_id == 0)
    beside = select(appearance.company_id.label("other"), appearance.story_id)
    yield beside.where(
        appearance.article_id.in_(crowded.where(*minutes_within(pair, scope))),
        appearance.company_id.not_in({company, *saved}),
    )
    if saved:
        own_appearance = aliased(Appearance)
        same = and_(
            own_appearance.minute == appearance.minute,
            own_appearance.article_id == appearance.article_id,
        )
        yield beside.join(own_appearance, same).where(
            own_appearance.company_id == company,
            appearance.company_id.in_(saved),
            *minutes_within(own_appearance, scope),
            *minutes_within(appearance, scope),
        )


def _count_beside(
    session: Session,
    days: Sequence[CompanyDays],
    unions: Unions,
    scope: Scope,
    *,
    stories_of: Sequence[int] | None = None,
) -> dict[int, int]:
    """Return the number of articles, or of stories of some, that each other company or union has in
    common with this one."""
    rollup = rollup_table(session, scope, by="hour", company=days)
    table, appearance = rollup.table, _OTHER
    members = UnionMembers(session, appearance, unions)
    beside: ColumnElement[int] = members.union
    # Without unions, a company is beside this one at most once in an article.
    number: ColumnElement[int] = func.count(table.article_id.distinct()) if unions else func.count()
    if stories_of is not None:
        number = func.count(table.story_id.distinct())
    query = (
        rollup.select(beside, number)
        .join(appearance, appearance.article_id == table.article_id)
        .where(counts_on(appearance.company_id, appearance, days, negated=True))
        # With these conditions, PostgreSQL reads only a part of the joined table.
        .where(*minutes_within(appearance, scope))
        .group_by(beside)
    )
    if stories_of is not None:
        query = query.where(beside.in_(stories_of))
    return dict(session.execute(members.join(query)).all())
