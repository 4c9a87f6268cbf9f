"""Counts of mentions with their completeness, and comparisons of companies."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from operator import add
from typing import cast

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from newscrawl.items import UNKNOWN
from newscrawl.storage.models import Company, SavedQuery, Source
from newscrawl.storage.queries.company_counts import (
    hits_by_name,
    hits_by_subject,
    hits_over_time,
    listed_companies,
    sources_naming,
    sources_of,
    stories_of,
)
from newscrawl.storage.queries.completeness import (
    Completeness,
    completeness_by,
    completeness_within,
    is_period,
)
from newscrawl.storage.queries.left_out import ProofTarget, boilerplate_sums
from newscrawl.storage.queries.questions import ANY, about, cache_answers, question
from newscrawl.storage.queries.rollup_tables import (
    Hits,
    companies_table,
    company_days,
    grouped,
    hits_of,
    rollup_table,
    subjects_of,
)
from newscrawl.storage.saved_queries import own_scope
from newscrawl.storage.scope import (
    By,
    Group,
    Period,
    Scope,
    bounds_of,
    day_of_minute,
    days_left_out,
    zone_of,
)
from newscrawl.storage.scope_conditions import first_days

__all__ = [
    "Boilerplate",
    "CompanyCount",
    "Hits",
    "MentionCount",
    "NewSource",
    "UnmentionedCompany",
    "boilerplate",
    "company_ranking",
    "mention_counts",
    "new_sources",
    "unmentioned_companies",
]

LEFT_OUT = about(
    "days of a week or a longer period that are not counted, since they lie outside the scope "
    "or in the future; null for groups",
    shown="files",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class MentionCount:
    """The numbers of a period or group; hits are None if nothing was crawled.

    `key` is an hour (2026-11-02T13:00+01:00), a day or a week's Monday (2026-11-02), a month
    (2026-11), a quarter (2026-Q4), a year, a source's slug, a country, a language, a section, or a
    group of sources.
    """

    key: str
    hits: Hits | None
    completeness: Completeness
    share: float | None = field(
        init=False,
        default=None,
        metadata=about("of the articles read, 0 to 1; null where none was read"),
    )
    days_left_out: int | None = field(default=None, metadata=LEFT_OUT)

    def __post_init__(self) -> None:
        read = self.completeness.read
        share = self.hits.articles / read if self.hits is not None and read else None
        object.__setattr__(self, "share", share)


def expected_in_gaps(by_source: Iterable[MentionCount]) -> float:
    """Return how many more articles the source-days that were not read would have had, at the pace
    of each source's other days: an estimate, rather too high, since articles of such days that
    sites still listed later are not subtracted."""
    return sum(
        row.hits.articles / complete.covered * (complete.expected - complete.covered)
        for row in by_source
        if row.hits and (complete := row.completeness).expected > complete.covered > 0
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class CompanyCount:
    """A company's place in the ranking."""

    company: str
    hits: Hits
    sources: int = field(metadata=about("sources that mention it"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Boilerplate:
    """Mentions in menus, teasers and the like, which are in no other count."""

    mentions: int = 0
    pages: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class UnmentionedCompany:
    """A registered company that no article of the scope mentions."""

    company: str
    last_mentioned: date | None = field(
        metadata=about("the last day before the scope with a mention; null for never")
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class NewSource:
    """A source that names a company for the first time."""

    source: str
    articles: int = field(metadata=about("that name it"))
    watched_since: date | None = field(
        metadata=about("the day of the source's first crawl; null before any crawl")
    )


# --- Counts of a company, or of all ---


@question("/counts")
def mention_counts(
    session: Session,
    by: By = "day",
    *,
    company: str | None = None,
    scope: Scope = ANY,
    stories: bool = False,
) -> list[MentionCount]:
    """Return how often the company, or any, was mentioned, by period or group.

    Periods are those of the scope's zone and have no gaps: from `since`, or the first known day, to
    `until`, or today if that is earlier. All watched sources, countries and languages are returned,
    also those without a mention; of sections, those with an article. Groups of sources overlap: a
    source counts in each of its groups, and one without a group in none. Coverage is
    stored by UTC days: an hour has the coverage of its day, a day of another zone that of the UTC
    day with which it shares most hours. Share and completeness of a saved query are of the articles
    and sources that its filters let through. Raise QuestionError for any other `by`.
    """
    completeness = completeness_by(session, by, own_scope(session, company, scope))
    hits = hits_by(session, by, company, scope, stories=stories)
    nothing = Hits(stories=0) if stories else Hits()
    left_out = days_left_out_by(completeness, by, scope)
    rows = [
        MentionCount(
            key=key,
            hits=None if complete.level == "none" else hits.get(key, nothing),
            completeness=complete,
            days_left_out=left_out.get(key),
        )
        for key, complete in completeness.items()
    ]
    if is_period(by):
        return rows
    return sorted(rows, key=lambda row: (-row.hits.articles if row.hits else 1, row.key))


@question("/ranking")
def company_ranking(
    session: Session, *, scope: Scope = ANY, limit: int | None = None, stories: bool = False
) -> list[CompanyCount]:
    """Return the companies, saved queries and groups by the number of articles that mention them,
    most first; with `subsidiaries`, only owners. A group has a row in addition to its companies."""
    return [*ranked_companies(session, scope, limit, stories=stories)]


@cache_answers
def ranked_companies(
    session: Session, scope: Scope, limit: int | None, *, stories: bool = False
) -> list[CompanyCount]:
    listed = [(name, *each) for name, each in listed_companies(session, scope).items()]
    groups = subjects_of(session, scope.structure.groups, scope)
    for name, hits in hits_by_subject(session, groups, scope).items():
        if hits is not None and hits.articles:
            listed.append((name, groups[name], hits))
    # Sorted here because the databases sort names differently.
    listed.sort(key=lambda each: (-each[2].articles, -each[2].mentions, each[0]))
    subjects = {place: days for place, (_, days, _) in enumerate(listed[:limit])}
    sources = sources_of(session, subjects, scope)
    counted = stories_of(session, subjects, scope) if stories else {}
    return [
        CompanyCount(
            company=name,
            hits=replace(hits, stories=counted.get(place, 0) if stories else None),
            sources=sources[place],
        )
        for place, (name, _, hits) in enumerate(listed[:limit])
    ]


@question("/boilerplate")
def boilerplate(session: Session, *, company: str | None = None, scope: Scope = ANY) -> Boilerplate:
    """Return the mentions of the company, or of any, outside the articles of the pages.

    They are stored by day, source, country and language; section and zone are ignored.
    """
    target = ProofTarget(counted="boilerplate", company=company, scope=scope)
    mentions, pages = boilerplate_sums(session, target)
    return Boilerplate(mentions=mentions, pages=pages)


@question("/companies/unmentioned")
def unmentioned_companies(
    session: Session, registered_companies: Sequence[str], *, scope: Scope = ANY
) -> list[UnmentionedCompany]:
    """Return the registered companies, groups and saved queries without an article of the scope, by
    name.

    If nothing was crawled, nothing is returned: a missing mention then has no meaning.
    """
    if completeness_within(session, scope).level == "none":
        return []
    mentioned = listed_companies(session, scope)
    saved = select(Company.name).join(SavedQuery, SavedQuery.company_id == Company.id)
    counted = (*registered_companies, *session.scalars(saved.where(SavedQuery.version > 0)))
    owners = dict.fromkeys(scope.owner(name) for name in counted)
    missing = [name for name in owners if name not in mentioned]
    groups = hits_by_name(session, [*scope.structure.groups], scope)
    silent = [name for name, group in groups.items() if group is None or not group.articles]
    last: dict[str, date | None] = {}
    if scope.since:
        rollup = companies_table(session, _before(scope))
        table = rollup.table
        query = rollup.select(Company.name, func.max(table.day)).where(table.articles > 0)
        query = query.join(Company, Company.id == table.company_id).group_by(Company.name)
        for name, day in session.execute(query):
            owner = scope.owner(name, day)
            last[owner] = max(day, last.get(owner) or day)
        for name in silent:
            rollup = rollup_table(session, _before(scope), by="hour", company=name)
            minute = session.scalar(rollup.select(func.max(rollup.table.minute)))
            last[name] = None if minute is None else day_of_minute(minute)
    return [
        UnmentionedCompany(company=name, last_mentioned=last.get(name))
        for name in sorted([*missing, *silent])
    ]


@question("/companies/{company}/new-sources")
def new_sources(session: Session, company: str, *, scope: Scope = ANY) -> list[NewSource]:
    """Return the sources that name the company for the first time, those with the most articles
    first.

    They name it in the scope, and in no stored article before. A source may have named it before
    its first crawl.
    """
    days = company_days(session, company, scope)
    new = sources_naming(session, days, scope)
    if scope.since:
        new -= sources_naming(session, days, _before(scope))
    slugs = session.scalars(select(Source.slug).where(Source.id.in_(new))).all()
    hits = hits_by(session, "source", company, scope)
    watched = first_days(session, scope)
    rows = [
        NewSource(source=slug, articles=hits[slug].articles, watched_since=watched.get(slug))
        for slug in slugs
    ]
    return sorted(rows, key=lambda row: (-row.articles, row.source))


def _before(scope: Scope) -> Scope:
    """Return the scope of the days before one with a first day, in any section."""
    assert scope.since is not None  # noqa: S101 - nothing lies before a scope without a first day
    until = scope.since - timedelta(days=1)
    return replace(scope.of_days(), since=None, until=until)


def days_left_out_by(keys: Iterable[str], by: By, scope: Scope) -> dict[str, int]:
    """Return the days of each period that are not counted; nothing for groups."""
    if not is_period(by):
        return {}
    if by in {"hour", "day"}:
        return dict.fromkeys(keys, 0)
    return {key: days_left_out(key, cast("Period", by), scope) for key in keys}


# --- Hits from the rollup tables ---


@cache_answers
def hits_by(
    session: Session, by: By, company: str | None, scope: Scope, *, stories: bool = False
) -> dict[str, Hits]:
    """Return the hits of each period or group with hits."""
    if is_period(by):
        period = cast("Period", by)
        if company is not None:
            subjects = subjects_of(session, [company], scope)
            hits = hits_over_time(session, subjects, scope, period)[company]
        else:
            rollup = rollup_table(session, scope, by=by, company=None)
            moment, sums_of_periods = rollup.moment, dict[str, list[int]]()
            query = rollup.select(moment, *rollup.hits()).group_by(moment)
            for when, *sums in session.execute(query):
                key = rollup.period(when, period, scope)
                before = sums_of_periods.get(key)
                sums_of_periods[key] = [*map(add, before, sums)] if before else sums
            hits = {key: hits_of(sums) for key, sums in sums_of_periods.items()}
        if stories:
            rollup = rollup_table(session, scope, by=by, company=company, stories=True)
            minute = rollup.table.minute
            for key in hits:
                # Not the sum of its days: a story may last several days.
                start, end = bounds_of(key, period, zone_of(scope))
                query = rollup.select(rollup.stories()).where(minute >= start, minute < end)
                hits[key] = replace(hits[key], stories=session.scalar(query) or 0)
        return hits
    rollup = rollup_table(session, scope, by=by, company=company, stories=stories)
    extra = [rollup.stories()] if stories else []
    hits = {}
    groups = grouped(session, rollup, cast("Group", by), scope, *rollup.hits(), *extra)
    for group, *sums in groups:
        number = int(sums.pop()) if stories else None
        hits[group or UNKNOWN] = replace(hits_of(sums), stories=number)
    return hits
