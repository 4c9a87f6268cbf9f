"""How complete counts are: articles read, days and sources covered, the health of sources; and the
contents of the database: names to choose from, and sizes."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from typing import Any, Literal, cast, get_args

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from newscrawl.items import UNKNOWN
from newscrawl.storage import QuestionError, migrations
from newscrawl.storage.database import CoverageState, reads
from newscrawl.storage.models import (
    Article,
    Company,
    CountedArticle,
    Coverage,
    DailySource,
    Mention,
    Revision,
    Run,
    Source,
)
from newscrawl.storage.queries.questions import ANY, about, cache_answers, question
from newscrawl.storage.queries.rollup_tables import grouped, rollup_table
from newscrawl.storage.saved_queries import own_scope
from newscrawl.storage.scope import (
    By,
    Group,
    Period,
    Scope,
    days,
    hours_of,
    key_of_day,
    last_day,
    local_day,
    period_of,
    zone_of,
)
from newscrawl.storage.scope_conditions import (
    between,
    covered_within,
    first_days,
    let_through,
    sources_within,
    validate_in,
)
from newscrawl.storage.status import SourceStatus, only_checked, watch_status

__all__ = [
    "Completeness",
    "CompletenessLevel",
    "CoverageDay",
    "DatabaseFacts",
    "SourceStatus",
    "company_names",
    "completeness",
    "countries",
    "coverage",
    "facts",
    "first_watched_day",
    "languages",
    "sections",
    "source_health",
    "source_names",
]

CompletenessLevel = Literal["full", "partial", "none"]

# The states of a day on which a source was read. A stale feed was fetched, but may lack articles.
COVERED: tuple[CoverageState, ...] = ("ok", "paywalled")
_PERIODS, _GROUPS = get_args(Period), get_args(Group)


@dataclass(frozen=True, slots=True, kw_only=True)
class Completeness:
    """How complete counts are, by articles read and source-days (one source on one day).

    A source is expected from the first day with a recorded crawl of it. With level "none" nothing
    was read, and a count of zero has no meaning.
    """

    read: int = field(default=0, metadata=about("articles that count"))
    level: CompletenessLevel = field(
        init=False, default="none", metadata=about("full, partial or none", column="coverage")
    )
    covered: int = field(default=0, metadata=about("source-days that were read", shown="files"))
    expected: int = field(
        default=0, metadata=about("source-days that were to be read", shown="files")
    )
    unwatched: int = field(
        default=0, metadata=about("days before any source was crawled", shown="nowhere")
    )

    def __post_init__(self) -> None:
        level = "partial" if self.covered or self.read else "none"
        if 0 < self.expected <= self.covered and not self.unwatched:
            level = "full"
        object.__setattr__(self, "level", level)

    def __add__(self, other: "Completeness") -> "Completeness":
        return Completeness(
            read=self.read + other.read,
            covered=self.covered + other.covered,
            expected=self.expected + other.expected,
            unwatched=self.unwatched + other.unwatched,
        )

    def compared_with(self, before: "Completeness") -> "Completeness":
        """Return the completeness of a period before as one to compare with: nothing read if only
        this one has days that were read, since articles that were still listed at the first crawl
        are some of their days."""
        return replace(before, read=0) if self.covered and not before.covered else before


@dataclass(frozen=True, slots=True, kw_only=True)
class CoverageDay:
    """How the crawls of a source ended on a day."""

    source: str
    day: date
    state: CoverageState | None = field(metadata=about("null if no crawl was recorded"))
    found: int = 0
    stored: int = 0
    note: str = ""


@question("/completeness")
def completeness(
    session: Session, *, company: str | None = None, scope: Scope = ANY
) -> Completeness:
    """Return how complete the counts of the scope are; those of a saved query depend only on the
    articles and sources that its filters let through."""
    return completeness_within(session, own_scope(session, company, scope))


@question("/coverage", daily=True)
def coverage(session: Session, *, scope: Scope = ANY) -> list[CoverageDay]:
    """Return how each source was crawled on each day.

    The days of a source go from its first recorded crawl to `until`, or today if that is earlier;
    days without a record have the state None. The scope's language is the source's.
    """
    query = (
        select(Source.slug.label("source"), Coverage.day, Coverage.state, Coverage.found)
        .add_columns(Coverage.stored, Coverage.note)
        .join(Source, Source.id == Coverage.source_id)
        .where(*sources_within(scope), *between(Coverage.day, scope))
    )
    first = first_days(session, scope)
    rows = (CoverageDay(**row) for row in session.execute(query).mappings())
    recorded = {(row.source, row.day): row for row in rows}
    return [
        recorded.get((slug, day)) or CoverageDay(source=slug, day=day, state=None)
        for slug, start in sorted(first.items())
        for day in days(max(start, scope.since or start), last_day(scope))
    ]


@reads
def source_completeness(session: Session, scope: Scope) -> dict[str, Completeness]:
    """Return how complete the counts of each source are."""
    return completeness_by(session, "source", validate_in(session, scope))


@reads
def first_watched_day(
    session: Session, company: str | None = None, *, scope: Scope = ANY
) -> date | None:
    """Return the first day for which a crawl of one of the scope's sources, or of the saved
    query's, was recorded; None before any crawl."""
    read_scope = own_scope(session, company, scope.validate())
    return min(first_days(session, read_scope).values(), default=None)


@reads
def first_read_day(session: Session, scope: Scope) -> date | None:
    """Return the first day of the scope of which an article was read; None without any."""
    rollup = rollup_table(session, validate_in(session, scope), by="day", company=None)
    moment = session.scalar(rollup.select(func.min(rollup.moment)))
    return None if moment is None else date.fromisoformat(rollup.period(moment, "day", scope))


@cache_answers
def completeness_within(session: Session, scope: Scope) -> Completeness:
    """Return what `completeness` does, within a session."""
    return sum(completeness_by(session, "day", scope).values(), Completeness())


@cache_answers
def completeness_by(session: Session, by: By, scope: Scope) -> dict[str, Completeness]:
    """Return the completeness of each period, in order and without gaps, or of each group by
    its name."""
    if is_period(by):
        periods: dict[str, Completeness] = {}
        if by == "hour":
            read_in_hours = _read_over_time(session, "hour", scope)
            read_on: Counter[str] = Counter()
            for key, number in read_in_hours.items():
                read_on[key[:10]] += number
            now = scope.now or datetime.now(UTC)
            for day, complete in _by_day(session, scope, read_on):
                for hour in hours_of(day, zone_of(scope)):
                    key = period_of(hour, "hour")
                    # A future hour may still get news.
                    if key in read_in_hours or datetime.fromisoformat(key) <= now:
                        periods[key] = replace(complete, read=read_in_hours.get(key, 0))
            return periods
        for day, complete in _by_day(session, scope, _read_over_time(session, "day", scope)):
            key = key_of_day(day, cast("Period", by))
            periods[key] = periods[key] + complete if key in periods else complete
        return periods
    read, sources = _read_by(session, cast("Group", by), scope)
    covered = _covered_by_source(session, scope)
    firsts = first_days(session, scope)
    groups, end = {}, last_day(scope)
    for group in sorted({*read, *sources}):
        crawled = sources.get(group, set()) & firsts.keys()
        if group not in read and not crawled:
            continue
        expected = unwatched = 0
        if crawled:
            first = min(firsts[slug] for slug in crawled)
            since = scope.since or first
            expected = sum(max(0, (end - max(firsts[slug], since)).days + 1) for slug in crawled)
            unwatched = max(0, (min(first, end) - since).days)
        groups[group] = Completeness(
            read=read.get(group, 0),
            covered=sum(covered.get(slug, 0) for slug in crawled),
            expected=expected,
            unwatched=unwatched,
        )
    return groups


def is_period(by: By) -> bool:
    """Return whether `by` is a period; it may also be a group. Raise QuestionError for others."""
    if by not in _PERIODS and by not in _GROUPS:
        raise QuestionError(f"can't count by {by!r}: choose one of {', '.join(_PERIODS + _GROUPS)}")
    return by in _PERIODS


# --- Over time ---


def _by_day(
    session: Session, scope: Scope, read: Mapping[str, int]
) -> Iterator[tuple[date, Completeness]]:
    """Yield the completeness of each local day, given the articles read on each."""
    query = (
        select(Coverage.day, func.count())
        .where(Coverage.state.in_(COVERED), *covered_within(scope))
        .group_by(Coverage.day)
    )
    if conditions := sources_within(scope):
        query = query.join(Source, Source.id == Coverage.source_id).where(*conditions)
    zone = zone_of(scope)
    covered = {local_day(day, zone): number for day, number in session.execute(query)}
    watched_since = Counter(first_days(session, scope).values())
    known_days = [*map(date.fromisoformat, read), *watched_since]
    start = scope.since or min(known_days, default=None)
    if start is None:
        return
    expected = sum(number for day, number in watched_since.items() if day < start)
    last = last_day(scope)
    for day in days(start, scope.until or last):
        expected += watched_since.get(day, 0)
        complete = Completeness(
            read=read.get(day.isoformat(), 0),
            covered=covered.get(day, 0),
            expected=expected if day <= last else covered.get(day, 0),
            unwatched=0 if expected else 1,
        )
        # A future day was not crawled, but an article may be dated to it.
        if day <= last or complete.level != "none":
            yield day, complete


def _read_over_time(session: Session, by: Period, scope: Scope) -> dict[str, int]:
    rollup = rollup_table(session, scope, by=by, company=None)
    moment = rollup.moment
    read: Counter[str] = Counter()
    for when, number in session.execute(rollup.select(moment, rollup.read()).group_by(moment)):
        read[rollup.period(when, by, scope)] += number
    return read


# --- By source, country, language, section, group ---


def _read_by(
    session: Session, by: Group, scope: Scope
) -> tuple[Mapping[str, int], Mapping[str, Set[str]]]:
    """Return for each group the articles read, and the sources that are watched for it: a language
    or section is watched through the sources that are written in it or had articles in it."""
    sources: dict[str, set[str]] = defaultdict(set)
    if by in {"language", "section"}:
        rollup = rollup_table(session, scope, by=by, company=None)
        keys = getattr(rollup.table, by), rollup.table.source_id
        slugs = dict(session.execute(select(Source.id, Source.slug)).all())
        numbers: Counter[str] = Counter()
        rows = session.execute(rollup.select(*keys, rollup.read()).group_by(*keys))
        for group, source, number in rows:
            if number:
                numbers[group or UNKNOWN] += int(number)
                sources[group or UNKNOWN].add(slugs[source])
        if by == "language":
            written_in = select(Source.language, Source.slug).where(*sources_within(scope))
            if scope.language is not None:
                written_in = written_in.where(Source.language == scope.language)
            if scope.among is not None:
                written_in = written_in.where(let_through(scope.among, Source.id, Source.language))
            for group, slug in session.execute(written_in):
                sources[group].add(slug)
        return numbers, sources
    key: Any = Source.country if by == "country" else Source.slug
    for group, slug in session.execute(select(key, Source.slug).where(*sources_within(scope))):
        sources[group].add(slug)
    if by == "group":
        crawled, groups = sources.keys(), scope.sources_by_group
        sources = {group: {*slugs} & crawled for group, slugs in groups.items()}
    rollup = rollup_table(session, scope, by=by, company=None)
    read = grouped(session, rollup, by, scope, rollup.read())
    return {group: int(number) for group, number in read if number}, sources


def _covered_by_source(session: Session, scope: Scope) -> dict[str, int]:
    covered = Coverage.state.in_(COVERED), *covered_within(scope)
    zone = zone_of(scope)
    if zone.key == "UTC":
        number = Coverage.source_id
        slugs = dict(
            session.execute(select(Source.id, Source.slug).where(*sources_within(scope))).all()
        )
        counted = select(number, func.count()).where(*covered).group_by(number)
        if scope.narrows_sources:
            counted = counted.where(number.in_(slugs))
        rows = session.execute(counted)
        return {slugs[source]: days for source, days in rows if source in slugs}
    query = (
        select(Source.slug, Coverage.day)
        .join(Source, Source.id == Coverage.source_id)
        .where(*covered, *sources_within(scope))
    )
    first, last = scope.since or date.min, scope.until or date.max
    return Counter(
        slug for slug, day in session.execute(query) if first <= local_day(day, zone) <= last
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class DatabaseFacts:
    """The size of the database, its first and last day, and its last crawl."""

    version: str
    rows: Mapping[str, int] = field(default_factory=dict)
    first_day: date | None = None
    last_day: date | None = None
    last_run: datetime | None = None


@question("/companies")
def company_names(session: Session) -> list[str]:
    """Return all companies that were ever mentioned, by name."""
    return sorted(session.scalars(select(Company.name)))


@question("/sources/names")
def source_names(session: Session) -> dict[str, str]:
    """Return the names of all sources that were ever crawled into this database, by their slugs."""
    return dict(session.execute(select(Source.slug, Source.name).order_by(Source.slug)).all())


@question("/sources/health")
def source_health(session: Session, *, scope: Scope = ANY) -> list[SourceStatus]:
    """Return the present health of the scope's sources, the worst first.

    The days of the scope are ignored.
    """
    query = select(Source.slug).where(*sources_within(scope), ~only_checked()).order_by(Source.slug)
    slugs = session.scalars(query).all()
    return sorted(watch_status(session, slugs).sources, key=lambda source: source.severity)


@question("/countries")
def countries(session: Session) -> list[str]:
    """Return the countries of these sources."""
    return sorted(session.scalars(select(Source.country).distinct()))


@question("/languages")
@cache_answers
def languages(session: Session) -> list[str]:
    """Return the languages of all articles that count."""
    query = select(DailySource.language).where(DailySource.read > 0).distinct()
    return sorted(filter(None, session.scalars(query)))


@question("/sections")
def sections(session: Session, *, limit: int = 100) -> list[str]:
    """Return the publishers' sections with the most articles that count, by name."""
    number = func.count()
    query = (
        select(CountedArticle.section)
        .where(CountedArticle.section != "")
        .group_by(CountedArticle.section)
        .order_by(number.desc(), CountedArticle.section)
        .limit(limit)
    )
    return sorted(session.scalars(query))


@question("/facts")
def facts(session: Session) -> DatabaseFacts:
    """Return the size of the database, its first and last day, and its last crawl."""
    tables = {
        "sources": Source,
        "runs": Run,
        "articles": Article,
        "revisions": Revision,
        "companies": Company,
        "mentions": Mention,
    }
    rows = {
        name: session.scalar(select(func.count()).select_from(table)) or 0
        for name, table in tables.items()
    }
    first, last = session.execute(select(func.min(Article.day), func.max(Article.day))).one()
    last_run = session.scalar(select(func.max(Run.started_at)))
    return DatabaseFacts(
        version=migrations.HEAD, rows=rows, first_day=first, last_day=last, last_run=last_run
    )
