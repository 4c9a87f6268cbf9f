"""A company, group or saved query in a period, compared with an earlier one."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, timedelta

from newscrawl.answers.chart import number_of
from newscrawl.storage import Database, QuestionError, queries
from newscrawl.storage.company_alerts import (
    ALERTS_SHOWN,
    CompanyAlert,
    WatchedCompany,
    list_alerts,
    watched_companies,
)
from newscrawl.storage.queries import (
    CoMention,
    Completeness,
    FoundArticle,
    Group,
    Hits,
    LeftOut,
    Measure,
    MentionCount,
    Scope,
    StoryRow,
)
from newscrawl.storage.queries.company_counts import count_stories
from newscrawl.storage.queries.comparisons import Change, Day, compare, two_periods
from newscrawl.storage.queries.counts import expected_in_gaps
from newscrawl.storage.queries.left_out import withheld_articles
from newscrawl.storage.scope import last_day
from newscrawl.storage.scope_conditions import validate_in

# All ours: days of a small chart, rows of lists.
RECENT_DAYS = 14
MAX_STORIES = 5
MAX_BESIDE = 25


@dataclass(frozen=True, slots=True, kw_only=True)
class CompanyPeriod:
    """A company in the period of a scope, and in an earlier one.

    `counts` are its numbers by day, `counts_before` those of the earlier days, `recent` those of
    the last two weeks; `parts` its numbers by source and the like; `stories` the number of its
    stories, if they were counted; `beside` the companies named in the same articles; `boilerplate`
    hits outside of articles, not counted; `withheld` further articles that may name it, or match
    the saved query, by reason; `newest` some of its articles.
    """

    company: str
    is_query: bool
    scope: Scope
    before: Scope
    counts: tuple[MentionCount, ...]
    counts_before: tuple[MentionCount, ...]
    recent: tuple[MentionCount, ...]
    parts: Mapping[Group, tuple[MentionCount, ...]] = field(default_factory=dict)
    stories: int | None = None
    top_stories: tuple[StoryRow, ...] = ()
    beside: tuple[CoMention, ...] = ()
    boilerplate: int = 0
    withheld: tuple[LeftOut, ...] = ()
    newest: tuple[FoundArticle, ...] = ()

    @property
    def hits(self) -> Hits:
        return sum((count.hits for count in self.counts if count.hits), Hits())

    @property
    def change(self) -> Change:
        before = self.counts_before if self.completeness_before.level != "none" else ()
        return compare(days_read(self.counts), days_read(before))

    @property
    def completeness(self) -> Completeness:
        return sum((count.completeness for count in self.counts), Completeness())

    @property
    def completeness_before(self) -> Completeness:
        """Return that of the period before, without anything where it can't be compared."""
        before = sum((count.completeness for count in self.counts_before), Completeness())
        return self.completeness.compared_with(before)

    @property
    def share(self) -> float | None:
        """Return its share of the articles read."""
        read = self.completeness.read
        return self.hits.articles / read if read else None

    @property
    def share_before(self) -> float | None:
        read = self.completeness_before.read
        return (self.change.before or 0) / read if read else None

    @property
    def sources(self) -> list[MentionCount]:
        """Return its numbers in the sources that have articles of it."""
        return [part for part in self.parts.get("source", ()) if part.hits and part.hits.articles]

    @property
    def in_gaps(self) -> float:
        """Return how many more articles the days that were not read would have had."""
        return expected_in_gaps(self.parts.get("source", ()))


def company_period(
    database: Database,
    company: str,
    scope: Scope,
    before: Scope | None = None,
    *,
    groups: Sequence[Group] = ("source",),
    stories: bool = True,
    articles: int = 0,
    brief: bool = False,
) -> CompanyPeriod:
    """Return a company in a period whose first day is set, against the same number of days before
    it or another period; `groups` divide its numbers, and `articles` is the number of newest ones
    to list. Without groups, there are no companies beside it; a `brief` answer has only the numbers
    by day."""
    scope, earlier = scope_with_before(validate_in(database, scope))
    before = before or earlier
    assert scope.since and scope.until and before.since and before.until  # noqa: S101, PT018
    recent = scope.until - timedelta(days=RECENT_DAYS - 1)
    since = min(before.since, recent, scope.since)
    rows = queries.mention_counts(
        database, "day", company=company, scope=replace(scope, since=since)
    )
    days = [(date.fromisoformat(row.key), row) for row in rows]

    def within(first: date, last: date) -> tuple[MentionCount, ...]:
        return tuple(row for day, row in days if first <= day <= last)

    period = CompanyPeriod(
        company=company,
        is_query=any(row.name == company for row in queries.saved_queries(database)),
        scope=scope,
        before=before,
        counts=within(scope.since, scope.until),
        counts_before=within(before.since, before.until),
        recent=within(recent, scope.until),
    )
    if brief:
        return period
    newest = articles and queries.company_articles(
        database, company, scope=scope, limit=articles, each=2
    )
    period = replace(
        period,
        stories=count_stories(database, company, scope) if stories else None,
        top_stories=tuple(
            queries.stories(database, company=company, scope=scope, limit=MAX_STORIES)
        ),
        newest=tuple(newest or ()),
    )
    if not groups:
        return period
    return replace(
        period,
        parts={
            by: tuple(
                queries.mention_counts(database, by, company=company, scope=scope, stories=stories)
            )
            for by in groups
        },
        beside=tuple(
            queries.co_mentions(database, company, scope=scope, limit=MAX_BESIDE, stories=stories)
        ),
        boilerplate=queries.boilerplate(database, company=company, scope=scope).mentions,
        withheld=withheld_articles(database, company, scope=scope),
    )


def scope_with_before(scope: Scope) -> tuple[Scope, Scope]:
    """Return the scope with both ends, and that of the same number of days before it; raise
    QuestionError for one without a first day, or of days to come."""
    if scope.since is None:
        raise QuestionError("this answer needs a first day: give since")
    if scope.since > last_day(scope):
        raise QuestionError(f"an answer from {scope.since} on: this day lies in the future")
    return two_periods(scope)


def days_read(counts: Sequence[MentionCount]) -> list[Day]:
    """Return the days of counts that can be compared: those on which a source was covered."""
    return [Day(count.hits.articles, count.completeness.read) for count in counts if count.hits]


@dataclass(frozen=True, slots=True)
class Gap:
    """Why a period can't be compared with the one before, of which nothing was read: the day of
    the first crawl, if it is later, and the first day of the longest period up to the same day that
    can be."""

    first: date | None = None
    since: date | None = None


def gap_before(database: Database, period: CompanyPeriod) -> Gap | None:
    """Return the gap before a period, of the sources that matter to the company or saved query;
    None if something was read then, or nothing in the period itself."""
    if not period.completeness.read or period.completeness_before.read:
        return None
    scope = period.scope
    first = queries.first_watched_day(database, period.company, scope=scope)
    if first is None or first < (scope.since or date.min):
        return Gap()
    length = ((last_day(scope) - first).days + 1) // 2
    if not length:
        return Gap(first)
    since = last_day(scope) - timedelta(days=length - 1)
    halves = scope_with_before(replace(scope, since=since))
    is_read = all(
        queries.completeness(database, company=period.company, scope=half).read for half in halves
    )
    return Gap(first, since if is_read else None)


@dataclass(frozen=True, slots=True)
class PeriodAlerts:
    """The alerts about a company in a period, the newest first, and its watch; None if it is not
    watched."""

    raised: tuple[CompanyAlert, ...]
    watch: WatchedCompany | None

    @property
    def watched_since(self) -> date | None:
        return self.watch.added_at.date() if self.watch else None

    @property
    def has_spike(self) -> bool:
        return any(alert.kind == "spike" for alert in self.raised)


def period_alerts(database: Database, name: str, scope: Scope) -> PeriodAlerts:
    """Return the alerts about a company in a scope with both days, and its watch."""
    stored = list_alerts(database, kinds=ALERTS_SHOWN, company=name, since=scope.since)
    watches = [
        watch for watch in watched_companies(database) if not watch.other and watch.company == name
    ]
    last = last_day(scope)
    return PeriodAlerts(
        tuple(row.alert for row in stored if row.alert.day <= last),
        watches[0] if watches else None,
    )


def has_subsidiaries(companies: Sequence[str], scope: Scope, names: Sequence[str]) -> bool:
    """Return whether more companies that were mentioned count for one of these with subsidiaries
    than without."""
    alone, together = (replace(scope, subsidiaries=each) for each in (False, True))
    more = {
        name
        for company in companies
        for name in {*together.members(company)} - {*alone.members(company)}
    }
    return not more.isdisjoint(names)


def most_counted(
    counts: Sequence[MentionCount], measure: Measure, limit: int
) -> list[tuple[MentionCount, int]]:
    """Return the groups with the most, with what is counted, without those that have none."""
    numbers = [(each, number_of(each.hits, measure) or 0) for each in counts]
    return sorted((each for each in numbers if each[1]), key=lambda number: -number[1])[:limit]
