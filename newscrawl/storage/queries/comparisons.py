"""Questions that compare companies with each other, or a period with the one before it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from heapq import nlargest
from math import exp, lgamma, log, log1p
from typing import Literal

from sqlalchemy import ColumnElement, Select, Subquery, and_, func, select, union_all
from sqlalchemy.orm import Session, aliased

from newscrawl.storage import QuestionError
from newscrawl.storage.models import Appearance, Company, CompanyPair, SavedQuery
from newscrawl.storage.queries.company_counts import (
    Unions,
    hits_by_name,
    hits_over_time,
    listed_companies,
    unions_of,
)
from newscrawl.storage.queries.completeness import (
    Completeness,
    completeness_by,
    completeness_within,
)
from newscrawl.storage.queries.counts import (
    LEFT_OUT,
    days_left_out_by,
    hits_by,
    ranked_companies,
)
from newscrawl.storage.queries.questions import ANY, about, cache_answers, question
from newscrawl.storage.queries.rollup_tables import (
    CompanyDays,
    Hits,
    UnionMembers,
    company_days,
    counts_on,
    families,
    minutes_within,
    rollup_table,
    subjects_of,
)
from newscrawl.storage.saved_queries import limited_to
from newscrawl.storage.scope import By, Measure, Scope, last_day

# Ours: the chance of no real change below which a change is named, and the number of earlier
# articles below which no percentage is given.
ALPHA = 0.01
MIN_FOR_PERCENT = 10
_NEGLIGIBLE = 1e-18  # of a sum of chances

Verdict = Literal["more", "fewer", "unclear", "unknown"]


@dataclass(frozen=True, slots=True)
class Day:
    """The articles of a company on a day, and all articles read on it."""

    articles: int
    read: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """The articles of a company now and before; None if nothing was read then.

    `chance` is that of a difference at least as large if the share of the articles read has not
    changed; None if it can't be computed. `rises` says whether the share does, and `growth` by
    how much, 0.5 for half as large again; None for small numbers, whose percentages mean little.
    """

    now: int
    before: int | None
    chance: float | None = None
    rises: bool = False
    growth: float | None = None

    @property
    def verdict(self) -> Verdict:
        """Return which of the two is larger, if that is hardly chance."""
        if self.before is None or self.chance is None:
            return "unknown"
        if self.chance >= ALPHA:
            return "unclear"
        return "more" if self.rises else "fewer"


def compare(now: Sequence[Day], before: Sequence[Day]) -> Change:
    """Return the change between the days of two periods."""
    read, read_before = sum(day.read for day in now), sum(day.read for day in before)
    articles, articles_before = (
        sum(day.articles for day in now),
        sum(day.articles for day in before),
    )
    if not before or not read_before:
        return Change(now=articles, before=None)
    if not read or not (articles or articles_before):
        return Change(now=articles, before=articles_before)
    # How much more the days vary than Poisson counts of their periods' rates.
    squares, days = 0.0, 0
    for period in (now, before):
        rate = sum(day.articles for day in period) / sum(day.read for day in period)
        expected = [(day.articles, rate * day.read) for day in period if day.read and rate]
        squares += sum((number - mean) ** 2 / mean for number, mean in expected)
        days += max(len(expected) - 1, 0)
    scatter = max(1.0, squares / days) if days else 1.0
    share = read / (read + read_before)
    growth = None
    if articles_before >= MIN_FOR_PERCENT:
        growth = articles / read / (articles_before / read_before) - 1
    return Change(
        now=articles,
        before=articles_before,
        chance=two_sided(round(articles / scatter), round(articles_before / scatter), share),
        rises=articles / read > articles_before / read_before,
        growth=growth,
    )


def two_sided(now: int, before: int, share: float) -> float:
    """Return the chance that of `now + before` articles, each of which belongs to the later period
    with the chance `share`, a number as improbable as `now` or more so does: twice the smaller
    tail."""
    total = now + before
    if total == 0 or share in {0.0, 1.0}:
        return 1.0
    is_high = now > total * share
    tail = _tail(now, total, share) if is_high else _tail(before, total, 1 - share)
    return min(1.0, 2 * tail)


def _tail(least: int, total: int, share: float) -> float:
    """Return the chance of `least` or more out of `total`; the terms fall from the mean on."""
    term = exp(
        lgamma(total + 1)
        - lgamma(least + 1)
        - lgamma(total - least + 1)
        + least * log(share)
        + (total - least) * log1p(-share)
    )
    odds, tail = share / (1 - share), 0.0
    for number in range(least, total + 1):
        tail += term
        term *= (total - number) / (number + 1) * odds
        if term < _NEGLIGIBLE * tail:
            break
    return min(tail, 1.0)


__all__ = [
    "CoMention",
    "Overview",
    "OverviewRow",
    "Share",
    "co_mentions",
    "overview",
    "share_of_voice",
]

# Ours: the days of an overview without a period.
OVERVIEW_DAYS = 30
_NO_HITS, _NOTHING_READ = Hits(), Completeness()


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """A company's share among those that it is compared with, 0 to 1."""

    key: str | None = field(metadata=about("the period or group; null for the whole scope"))
    company: str
    number: int | None = field(metadata=about("the measured count; null if nothing was crawled"))
    share: float | None = field(metadata=about("null if none of the companies was mentioned"))
    days_left_out: int | None = field(default=None, metadata=LEFT_OUT)


@dataclass(frozen=True, slots=True, kw_only=True)
class OverviewRow:
    """A company's row in the overview."""

    company: str
    hits: Hits
    before: Hits | None = field(
        metadata=about("of the days before; null if nothing was crawled then")
    )
    change: float | None = field(metadata=about("growth of articles: 0.5 is half as many again"))
    chance: float | None = field(
        metadata=about(
            "of such a change or a larger one if the share of the articles read has not changed: "
            "below 0.01 it is hardly chance; null if it can't be computed"
        )
    )
    spark: tuple[int | None, ...] = field(metadata=about("articles by day; null in gaps"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Overview:
    """The companies by articles; each spark has a number for each of the days."""

    days: tuple[date, ...]
    completeness: Completeness
    before: Completeness
    companies: tuple[OverviewRow, ...]


@question("/share", names={"companies": "company"})
def share_of_voice(
    session: Session,
    companies: Sequence[str],
    *,
    by: By | None = None,
    measure: Measure = "articles",
    scope: Scope = ANY,
) -> list[Share]:
    """Return each company's share of the sum of all of them, in the order given.

    With `by` there is a share for each period or group, otherwise one for the whole scope. An
    article that mentions two of the companies counts for both. Raise QuestionError for fewer than
    two companies.
    """
    chosen = list(dict.fromkeys(companies))
    if len(chosen) < 2:
        raise QuestionError("a share of voice needs two companies or more")
    stories = measure == "stories"
    scopes = limited_to(session, chosen, scope)
    if by is None:
        within = {limited: completeness_within(session, limited) for limited in {*scopes.values()}}
        hits = hits_by_name(session, chosen, scope, stories=stories)
        return _shares({name: within[scopes[name]] for name in chosen}, hits, measure)
    each = {name: hits_by(session, by, name, scope, stories=stories) for name in chosen}
    read_by_scope = {
        limited: completeness_by(session, by, limited) for limited in {scope, *scopes.values()}
    }
    left_out = days_left_out_by(read_by_scope[scope], by, scope)
    return [
        share
        for key in read_by_scope[scope]
        for share in _shares(
            {name: read_by_scope[scopes[name]].get(key, _NOTHING_READ) for name in chosen},
            {name: each[name].get(key) for name in chosen},
            measure,
            key=key,
            days_left_out=left_out.get(key),
        )
    ]


def _shares(
    read: Mapping[str, Completeness],
    hits: Mapping[str, Hits | None],
    measure: Measure,
    *,
    key: str | None = None,
    days_left_out: int | None = None,
) -> list[Share]:
    numbers = {
        name: None
        if read[name].level == "none"
        else getattr(company_hits or _NO_HITS, measure) or 0
        for name, company_hits in hits.items()
    }
    total = sum(filter(None, numbers.values()))
    return [
        Share(
            key=key,
            company=name,
            number=number,
            share=None if number is None or not total else number / total,
            days_left_out=days_left_out,
        )
        for name, number in numbers.items()
    ]


@question("/overview")
def overview(
    session: Session,
    *,
    scope: Scope = ANY,
    limit: int = 20,
    ranked: Literal["now", "before"] = "now",
) -> Overview:
    """Return the companies, saved queries and groups of the scope by articles, compared with an
    equally long period before it; or those with the most articles "before", of which some may have
    none now.

    Without `since`, the scope is the last 30 days.
    """
    scope, earlier = two_periods(scope)
    completeness, completeness_before = (
        completeness_by(session, "day", period) for period in (scope, earlier)
    )
    leading, compared = (scope, earlier) if ranked == "now" else (earlier, scope)
    leading_hits = {row.company: row.hits for row in ranked_companies(session, leading, limit)}
    names = tuple(leading_hits)
    # With subsidiaries, a company counts otherwise in a list.
    unlisted = [name for name in names if not scope.subsidiaries or name in scope.structure.groups]
    compared_hits = hits_by_name(session, unlisted, compared)
    if scope.subsidiaries:
        for name, (_, hits) in listed_companies(session, compared, names).items():
            compared_hits.setdefault(name, hits)
    now, hits_before = (
        (leading_hits, compared_hits) if ranked == "now" else (compared_hits, leading_hits)
    )
    series = daily_hits(session, tuple(filter(now.get, names)), scope)
    series_before = daily_hits(session, tuple(filter(hits_before.get, names)), earlier)
    read_days, read_days_before = (
        known_days(session, names, period) for period in (scope, earlier)
    )
    # Most names have the days of all sources: summed once.
    all_days = [*read_days.values(), *read_days_before.values()]
    by_identity = {id(days): days for days in all_days}
    sums = {key: sum(days.values(), Completeness()) for key, days in by_identity.items()}
    rows = []
    for name in names:
        hits_now, by_day = now.get(name) or Hits(), series.get(name, {})
        days, days_before = read_days[name], read_days_before[name]
        if sums[id(days)].compared_with(sums[id(days_before)]).level == "none":
            days_before = {}
        before = (hits_before.get(name) or Hits()) if days_before else None
        change = compare(_days(by_day, days), _days(series_before.get(name, {}), days_before))
        rows.append(
            OverviewRow(
                company=name,
                hits=hits_now,
                before=before,
                change=hits_now.articles / before.articles - 1
                if before and before.articles
                else None,
                chance=change.chance,
                spark=tuple(
                    None
                    if days.get(day, _NOTHING_READ).level == "none"
                    else by_day.get(day, _NO_HITS).articles
                    for day in completeness
                ),
            )
        )
    read = sum(completeness.values(), Completeness())
    return Overview(
        days=tuple(map(date.fromisoformat, completeness)),
        completeness=read,
        before=read.compared_with(sum(completeness_before.values(), Completeness())),
        companies=tuple(rows),
    )


def known_days(
    session: Session, names: Sequence[str], scope: Scope
) -> dict[str, dict[str, Completeness]]:
    """Return the completeness of each day for each of the companies and saved queries."""
    scopes = limited_to(session, names, scope)
    read_by_scope = {
        limited: completeness_by(session, "day", limited) for limited in {*scopes.values()}
    }
    return {name: read_by_scope[limited] for name, limited in scopes.items()}


def two_periods(scope: Scope) -> tuple[Scope, Scope]:
    """Return the scope with both ends, and the equally long one before it."""
    last = last_day(scope)
    since = scope.since or last - timedelta(days=OVERVIEW_DAYS - 1)
    until = last if since <= last else scope.until or last
    length = until - since + timedelta(days=1)
    earlier = replace(scope, since=since - length, until=since - timedelta(days=1))
    return replace(scope, since=since, until=until), earlier


@cache_answers
def daily_hits(
    session: Session, names: tuple[str, ...], scope: Scope
) -> dict[str, dict[str, Hits]]:
    owners = families(session, scope)
    subjects = subjects_of(session, names, scope) | {
        name: owners[name] for name in names if name in owners
    }
    return hits_over_time(session, subjects, scope, "day")


def _days(hits: Mapping[str, Hits], read_days: Mapping[str, Completeness]) -> list[Day]:
    """Return the articles of the days that were crawled."""
    return [
        Day(hits.get(key, _NO_HITS).articles, complete.read)
        for key, complete in read_days.items()
        if complete.level != "none"
    ]


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
@cache_answers
def co_mentions(
    session: Session, company: str, *, scope: Scope = ANY, limit: int = 20, stories: bool = False
) -> list[CoMention]:
    """Return the companies mentioned in the same articles as this one, most articles first."""
    days = company_days(session, company, scope)
    rollup = rollup_table(session, scope, by=None, company=days)
    all_articles = session.scalar(rollup.select(rollup.hits()[0])) or 0
    unions, owners = unions_of(session, scope)
    one = days[0].number
    many = all_articles > FEW_ARTICLES and not unions
    saved = {*session.scalars(select(SavedQuery.company_id))} if many else set()
    in_pairs = many and _has_pairs(days, saved, scope)
    if in_pairs:
        pair, pair_queries = CompanyPair, []
        for is_on_this_side, other_id, key in (
            (Company.id > one, pair.other_id, pair.company_id),
            (Company.id < one, pair.company_id, pair.other_id),
        ):
            in_pairs_of = select(func.count()).where(key == one, other_id == Company.id)
            in_pairs_of = in_pairs_of.where(*minutes_within(pair, scope)).correlate(Company)
            number = in_pairs_of.scalar_subquery()
            pair_queries.append(select(Company.id, number).where(is_on_this_side))
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
