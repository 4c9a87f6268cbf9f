"""What a reader must know of a period: how complete its numbers are, which sources were not read on
which days and why, and whether it can be compared with the period before."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from itertools import groupby, takewhile
from statistics import median

from newscrawl.answers.company import CompanyPeriod, Gap, gap_before
from newscrawl.storage import Database, queries
from newscrawl.storage.queries import Completeness, CoverageDay, Scope, UnmentionedCompany
from newscrawl.storage.queries.completeness import COVERED, source_completeness
from newscrawl.storage.queries.left_out import LeftOut
from newscrawl.storage.saved_queries import own_scope
from newscrawl.storage.scope import last_day
from newscrawl.storage.status import SourceStatus
from newscrawl.text import count_of

# Ours: spans of days in a reason, sources that an answer names, and days that are searched for the
# beginning of a silence.
MAX_SPANS = 10
MAX_UNREAD = 5
SILENCE_DAYS = 14
LOW = 0.5  # ours: of the expected articles


@dataclass(frozen=True, slots=True)
class SilentSource:
    """A source that is not read at present; `since` is the first such day within SILENCE_DAYS."""

    source: str
    since: date
    last: CoverageDay


@dataclass(frozen=True, slots=True)
class UnreadSource:
    """A source that was not read on all of its days: how many it was not read on and how many there
    are, and `reasons`, as in "4 to 8 Nov 2026 (failed: timed out)"."""

    source: str
    missed: int
    days: int
    reasons: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What a reader must know of the numbers of a period: how complete they are, and those of the
    days `before`, if these are compared, with the `gaps` for which they can't be and the names that
    have them; `unread` are the sources with most days on which they were not read, `silent` those
    that are not read at present; `companies` are those that it is asked about."""

    scope: Scope
    completeness: Completeness
    before: Scope | None = None
    completeness_before: Completeness = field(default_factory=Completeness)
    companies: Sequence[CompanyPeriod] = ()
    gaps: Mapping[Gap, list[str]] = field(default_factory=dict)
    unread: Sequence[UnreadSource] = ()
    silent: Sequence[SilentSource] = ()

    @property
    def missed(self) -> dict[str, float] | None:
        """Return how many more articles the days that were not read would have had, by company;
        None if these are not counted by source."""
        return {row.company: row.in_gaps for row in self.companies if row.parts} or None


def reading(
    database: Database,
    scope: Scope,
    company: str | None = None,
    *,
    before: Scope | None = None,
    companies: Sequence[CompanyPeriod] = (),
    names_sources: bool = False,
) -> Reading:
    """Return what a reader must know of the numbers of a scope, or of those of a `company` or saved
    query in it; `companies` are those whose gaps before it matter. It `names_sources` that were not
    read, of those with articles about the companies."""
    scope = own_scope(database, company, scope)
    before = before and own_scope(database, company, before)
    gaps: dict[Gap, list[str]] = {}
    for period in companies:
        if gap := gap_before(database, period):
            gaps.setdefault(gap, []).append(period.company)
    having = {source.key for period in companies for source in period.sources}
    completeness, completeness_before = (
        queries.completeness(database, scope=each) if each else Completeness()
        for each in (scope, before)
    )
    return Reading(
        scope=scope,
        completeness=completeness,
        before=before,
        completeness_before=completeness.compared_with(completeness_before),
        companies=companies,
        gaps=gaps,
        unread=most_unread(database, scope, having) if names_sources else (),
    )


def silent_sources(database: Database, scope: Scope) -> list[SilentSource]:
    """Return the sources of a scope that are not read on its last days."""
    since = last_day(scope) - timedelta(days=SILENCE_DAYS - 1)
    rows = queries.coverage(database, scope=replace(scope, since=since))
    silent = []
    for source, each in groupby(rows, key=lambda day: day.source):
        *earlier, last = each
        # Today's crawl may be pending; a failure is shown at once. A source that lacks articles of
        # before is read again.
        if last.state in {*COVERED, "incomplete"}:
            continue
        if last.state is None and not (earlier and earlier[-1].state not in COVERED):
            continue
        bad = list(takewhile(lambda day: day.state not in COVERED, (last, *reversed(earlier))))
        why = next((day for day in bad if day.state), last)
        silent.append(SilentSource(source, bad[-1].day, why))
    return silent


def unread_sources(days: Iterable[CoverageDay]) -> tuple[UnreadSource, ...]:
    """Return the sources that were not read on all of these days, which are in order, those with
    most such days first."""
    by_source = groupby(days, key=lambda day: day.source)
    sources = [
        UnreadSource(source, sum(day.state not in COVERED for day in each), len(each), reasons)
        for source, each in ((source, [*group]) for source, group in by_source)
        if (reasons := _reasons(each))
    ]
    return tuple(sorted(sources, key=lambda source: -source.missed))


def most_unread(
    database: Database, scope: Scope, having: Collection[str] = ()
) -> tuple[UnreadSource, ...]:
    """Return the sources that were not read on the most days of the scope, MAX_UNREAD of them; only
    of those `having` articles of a company, if one of these was not read."""
    completeness = source_completeness(database, scope)
    missed = {slug: days.expected - days.covered for slug, days in completeness.items()}
    unread = {slug: number for slug, number in missed.items() if number > 0}
    candidates = {slug: unread[slug] for slug in unread if slug in having} or unread
    most = sorted(candidates, key=lambda slug: -candidates[slug])
    return unread_sources(
        day
        for slug in most[:MAX_UNREAD]
        for day in queries.coverage(database, scope=replace(scope, source=slug))
    )


def days_text(first: date, last: date) -> str:
    """Return consecutive days as "4 to 8 Nov 2026"."""
    if first == last:
        return f"{last.day} {last:%b %Y}"
    form = " %b %Y" if first.year != last.year else " %b" if first.month != last.month else ""
    return f"{first.day}{first.strftime(form)} to {last.day} {last:%b %Y}"


def _reasons(days: Sequence[CoverageDay]) -> str:
    """Return on which days a source was not read, and why; of many spans the last ones."""
    spans = [(why, [day.day for day in each]) for why, each in groupby(days, key=_reason) if why]
    texts = [f"{days_text(each[0], each[-1])} ({why})" for why, each in spans[-MAX_SPANS:]]
    earlier = sum(len(each) for _, each in spans[:-MAX_SPANS])
    return "; ".join([*([count_of(earlier, "earlier day")] if earlier else []), *texts])


def _reason(day: CoverageDay) -> str:
    """Return why a source was not read on a day; nothing if it was."""
    if day.state in COVERED:
        return ""
    if day.state is None:
        return "not crawled"
    return f"{day.state.replace('_', ' ')}{f': {day.note}' if day.note else ''}"


def last_named_before(
    database: Database, registered: Sequence[str], scope: Scope, day: date
) -> list[UnmentionedCompany]:
    """Return the registered companies that the scope's articles don't name, and that were last
    named before a day, the latest first."""
    rows = queries.unmentioned_companies(database, registered, scope=scope)
    earlier = [(row.last_mentioned, row) for row in rows if row.last_mentioned]
    earlier = [(last, row) for last, row in earlier if last < day]
    return [row for _, row in sorted(earlier, key=lambda pair: pair[0], reverse=True)]


@dataclass(frozen=True, slots=True)
class SourceDays:
    """The health of a source, and its last days as of `today`. `expected` is the median of the
    articles on its good days; of `paywalled` articles only headline and introduction were read."""

    status: SourceStatus
    days: list[CoverageDay]
    expected: int | None
    today: date
    paywalled: int

    @property
    def last(self) -> CoverageDay | None:
        return self.days[-1] if self.days else None

    @property
    def read(self) -> int:
        return sum(day.state in COVERED for day in self.days)

    @property
    def faults(self) -> str:
        """Return the days on which the source was not read, and why."""
        return "".join(source.reasons for source in unread_sources(self.days))

    @property
    def is_low(self) -> bool:
        """Return whether the last day had far fewer articles than usual; today may get more."""
        if self.last is None or self.last.day >= self.today:
            return False
        return self.last.found < LOW * (self.expected or 0)


def days_of_sources(
    statuses: Iterable[SourceStatus],
    coverage: Iterable[CoverageDay],
    withheld: Iterable[LeftOut],
    today: date,
) -> list[SourceDays]:
    by_source = {source: [*days] for source, days in groupby(coverage, lambda day: day.source)}
    paywalled = {
        slug: number
        for left_out in withheld
        if left_out.reason == "paywalled"
        for slug, number in left_out.sources
    }
    rows = []
    for status in statuses:
        days = by_source.get(status.source, [])
        good = [day.found for day in days if day.state in COVERED]
        expected = round(median(good)) if good else None
        hidden = paywalled.get(status.source, 0)
        rows.append(SourceDays(status, days, expected, today, hidden))
    return rows


def of_past_period(rows: list[SourceDays]) -> list[SourceDays]:
    """Return the rows of a period that is over: those of the sources that were to be read on one of
    its days, by the days that were missed, since their present health says nothing of it."""
    watched = [row for row in rows if row.days]
    return sorted(watched, key=lambda row: (row.read - len(row.days), row.status.source))
