"""The figures of a report, from the questions of `newscrawl.storage.queries`."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from importlib.metadata import version
from itertools import groupby
from typing import Literal

from newscrawl.items import Versions
from newscrawl.storage import Database, QuestionError, queries
from newscrawl.storage.queries import (
    CoMention,
    Completeness,
    CoverageDay,
    FoundArticle,
    Hits,
    LeftOut,
    MentionCount,
    Scope,
    Share,
    StoryRow,
)
from newscrawl.storage.queries.comparisons import difference_of
from newscrawl.storage.queries.completeness import COVERED
from newscrawl.storage.queries.counts import expected_in_gaps
from newscrawl.storage.queries.left_out import withheld_articles
from newscrawl.storage.queries.proof import count_versions
from newscrawl.storage.queries.significance import Change, Day, compare
from newscrawl.storage.query_filters import scope_of_query
from newscrawl.storage.scope import last_day, today
from newscrawl.text import count_of

# All ours: companies in a report, since more curves can't be distinguished; rows of its lists; and
# the days from which on its curves have a point for each week, and for each month.
MAX_COMPANIES = 6
MAX_STORIES = 5
MAX_SOURCES = 10
MAX_BESIDE = 5
MAX_SPANS = 10  # of days on which a source was not read
DAYS_OF_WEEKS = 93
DAYS_OF_MONTHS = 731

PERIODS = ("this-week", "this-month", "last-week", "last-month", "last-quarter", "last-year")
Step = Literal["day", "week", "month"]


@dataclass(frozen=True, slots=True)
class Gap:
    """A source that was not read on all of its days: how many it was not read on and how many there
    are, and `reasons`, as in "4 to 8 Nov 2026 (failed: timed out)"."""

    source: str
    missed: int
    days: int
    reasons: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportStory:
    """A story, and one of its articles with sentences that mention the company."""

    row: StoryRow
    article: FoundArticle | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CompanyFigures:
    """A company in a report. `series` are its articles by step, None in gaps; `sources` those with
    most of its articles; `boilerplate` hits on its pages outside of articles, not counted;
    `withheld` further articles that may name it, or match the query, by reason; `in_gaps` those
    that the source-days that were not read would have had, at the pace of the others."""

    company: str
    hits: Hits
    change: Change
    series: tuple[int | None, ...]
    stories: int
    top_stories: tuple[ReportStory, ...]
    sources: tuple[MentionCount, ...]
    beside: tuple[CoMention, ...]
    boilerplate: int
    withheld: tuple[LeftOut, ...]
    in_gaps: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """Companies over the period of `scope`, compared with that of the same length `before`.

    `steps` are the first days of the points of all series, `left_out` the days of each that are not
    counted, since the period begins or ends within a week or month; `partial` says which are not
    whole for this reason or since today is not over, and `unread` on which not all sources were
    read though some were; `difference` is that of two companies in this period; `gaps` are the
    sources that were not read on all of their days; `saved` are the names of saved queries;
    `article_versions` those that found the articles.
    """

    scope: Scope
    since: date
    until: date
    before: tuple[date, date]
    by: Step
    steps: tuple[date, ...]
    left_out: tuple[int, ...]
    partial: tuple[bool, ...]
    unread: tuple[bool, ...]
    companies: tuple[CompanyFigures, ...]
    shares: tuple[Share, ...]
    difference: Change | None
    completeness: Completeness
    completeness_before: Completeness
    gaps: tuple[Gap, ...]
    source_names: Mapping[str, str]
    saved: frozenset[str]
    made_at: datetime
    version: str
    article_versions: tuple[tuple[Versions, int], ...]

    @property
    def title(self) -> str:
        """Return the names of the first companies, and the number of others."""
        names = [one.company for one in self.companies]
        if len(names) <= 3:
            return ", ".join(names)
        return f"{', '.join(names[:2])} and {len(names) - 2} others"

    def source_name(self, slug: str) -> str:
        """Return the name of a source for people."""
        return self.source_names.get(slug) or slug

    @property
    def file_name(self) -> str:
        """Return the name of its file, without a suffix."""
        return f"newscrawl-report-{self.since}-{self.until}"


def period_of_name(name: str, today: date) -> tuple[date, date]:
    """Return the first and the last day of one of `PERIODS`: weeks begin on Monday, and this-week
    and this-month end today. Raise QuestionError for any other name."""
    match name:
        case "this-week":
            return today - timedelta(days=today.weekday()), today
        case "this-month":
            return today.replace(day=1), today
        case "last-week":
            last = today - timedelta(days=today.weekday() + 1)
            return last - timedelta(days=6), last
        case "last-month":
            last = today.replace(day=1) - timedelta(days=1)
            return last.replace(day=1), last
        case "last-quarter":
            first = today.replace(month=(today.month - 1) // 3 * 3 + 1, day=1)
            last = first - timedelta(days=1)
            return last.replace(month=last.month - 2, day=1), last
        case "last-year":
            return date(today.year - 1, 1, 1), date(today.year - 1, 12, 31)
        case _:
            raise QuestionError(f"unknown period {name!r}: {', '.join(PERIODS)}, or 30d")


def _days_of(scope: Scope) -> tuple[date, date]:
    """Return the first and the last day of a report."""
    if scope.since is None:
        raise QuestionError("a report needs a first day: give since")
    until = last_day(scope)
    if scope.since > until:
        raise QuestionError(f"a report from {scope.since} on: this day lies in the future")
    return scope.since, until


def make_report(database: Database, companies: Sequence[str], scope: Scope) -> Report:
    """Return the report on these companies or groups over the scope, whose first day must be set.

    Raise QuestionError for none or too many companies, and for days in the future.
    """
    names = list(dict.fromkeys(companies))
    if not names or len(names) > MAX_COMPANIES:
        raise QuestionError(f"a report has 1 to {MAX_COMPANIES} companies, not {len(names)}")
    scope = scope.validate(database)
    since, until = _days_of(scope)
    length = timedelta(days=(until - since).days + 1)
    earlier = replace(scope, since=since - length, until=since - timedelta(days=1))
    by: Step = "day"
    if length.days >= DAYS_OF_WEEKS:
        by = "week" if length.days < DAYS_OF_MONTHS else "month"
    figures = [_figures(database, name, scope, earlier, by) for name in names]
    only = names[0] if len(names) == 1 else None  # several may be of different sources
    own = scope if only is None else scope_of_query(database, only, scope)
    periods = queries.mention_counts(database, by, company=only, scope=scope)
    steps = tuple(map(_first_day, periods))
    return Report(
        scope=own,
        since=since,
        until=until,
        before=(since - length, since - timedelta(days=1)),
        by=by,
        steps=steps,
        left_out=tuple(one.days_left_out or 0 for one in periods),
        partial=tuple(
            bool(one.days_left_out) or (by == "day" and step == today(scope))
            for step, one in zip(steps, periods, strict=True)
        ),
        unread=tuple(
            one.hits is not None and one.completeness.level == "partial" for one in periods
        ),
        companies=tuple(figures),
        shares=tuple(queries.share_of_voice(database, names, scope=scope))
        if len(names) > 1
        else (),
        difference=difference_of(database, names, scope),
        completeness=queries.completeness(database, company=only, scope=scope),
        completeness_before=queries.completeness(database, company=only, scope=earlier),
        gaps=gaps(queries.coverage(database, scope=own)),
        source_names=queries.source_names(database),
        saved=frozenset(row.name for row in queries.saved_queries(database)),
        made_at=scope.now or datetime.now(UTC),
        version=version("newscrawl"),
        article_versions=count_versions(database, names, scope=scope),
    )


def _first_day(period: MentionCount) -> date:
    return date.fromisoformat(period.key if len(period.key) > 7 else f"{period.key}-01")


def _figures(
    database: Database, name: str, scope: Scope, earlier: Scope, by: Step
) -> CompanyFigures:
    days = queries.mention_counts(database, "day", company=name, scope=scope)
    before = queries.mention_counts(database, "day", company=name, scope=earlier)
    series = days
    if by != "day":
        series = queries.mention_counts(database, by, company=name, scope=scope)
    sources = queries.mention_counts(database, "source", company=name, scope=scope)
    stories = queries.stories(database, company=name, scope=scope, limit=100_000)
    return CompanyFigures(
        company=name,
        hits=sum((one.hits for one in days if one.hits), Hits()),
        change=compare(days_of(days), days_of(before)),
        series=tuple(one.hits.articles if one.hits else None for one in series),
        stories=len(stories),
        top_stories=_top_stories(database, name, scope, stories[:MAX_STORIES]),
        sources=tuple(one for one in sources if one.hits and one.hits.articles)[:MAX_SOURCES],
        beside=_named_beside(database, name, scope),
        boilerplate=queries.boilerplate(database, company=name, scope=scope).mentions,
        withheld=withheld_articles(database, name, scope=scope),
        in_gaps=expected_in_gaps(sources),
    )


def _named_beside(database: Database, name: str, scope: Scope) -> tuple[CoMention, ...]:
    """Return the companies named most often in the same articles, and behind them the queries."""
    limit = MAX_BESIDE + len(queries.saved_queries(database))
    found = queries.co_mentions(database, name, scope=scope, limit=limit, stories=True)
    kinds = ("company", "saved query")
    groups = ([one for one in found if one.kind == kind] for kind in kinds)
    return tuple(one for group in groups for one in group[:MAX_BESIDE])


def days_of(counts: Sequence[MentionCount]) -> list[Day]:
    """Return the days of counts that can be compared: those on which a source was covered."""
    return [Day(one.hits.articles, one.completeness.read) for one in counts if one.hits]


def _top_stories(
    database: Database, company: str, scope: Scope, stories: Sequence[StoryRow]
) -> tuple[ReportStory, ...]:
    urls = [story.url for story in stories]
    found = queries.articles_at(database, urls, [company], scope=scope, each=3)
    by_url = {one.article.url: one for one in found}
    return tuple(ReportStory(row=story, article=by_url.get(story.url)) for story in stories)


def gaps(days: Iterable[CoverageDay]) -> tuple[Gap, ...]:
    """Return the sources that were not read on all of these days, which are in order, those with
    most such days first."""
    by_source: dict[str, list[CoverageDay]] = defaultdict(list)
    for day in days:
        by_source[day.source].append(day)
    found = [
        Gap(source, sum(one.state not in COVERED for one in each), len(each), _reasons(each))
        for source, each in by_source.items()
    ]
    return tuple(sorted((one for one in found if one.missed), key=lambda one: -one.missed))


def _reasons(days: Sequence[CoverageDay]) -> str:
    """Return on which days a source was not read, and why; of many spans the last ones."""
    spans: list[tuple[str, list[date]]] = []
    for why, each in groupby(days, key=_reason):
        if why:
            spans.append((why, [one.day for one in each]))
    named = [f"{_span(each)} ({why})" for why, each in spans[-MAX_SPANS:]]
    earlier = sum(len(each) for _, each in spans[:-MAX_SPANS])
    return "; ".join([*([f"{count_of(earlier, 'earlier day')}"] if earlier else []), *named])


def _reason(day: CoverageDay) -> str:
    """Return why a source was not read on a day; nothing if it was."""
    if day.state in COVERED:
        return ""
    if day.state is None:
        return "not crawled"
    return f"{day.state.replace('_', ' ')}{f': {day.note}' if day.note else ''}"


def _span(days: Sequence[date]) -> str:
    """Return consecutive days as "4 to 8 Nov 2026"."""
    first, last = days[0], days[-1]
    if first == last:
        return f"{last.day} {last:%b %Y}"
    form = " %b %Y" if first.year != last.year else " %b" if first.month != last.month else ""
    return f"{first.day}{first.strftime(form)} to {last.day} {last:%b %Y}"
