"""The scope of a question: days, sources, countries, languages and sections, and its periods.

Callers create a `Scope`. The rest of this module converts it to conditions of SQL, and divides time
into hours, days, weeks, months, quarters and years of any time zone.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, time, timedelta
from functools import lru_cache
from typing import Any, Literal, TypeVarTuple
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

from sqlalchemy import ColumnElement, Select, and_, exists, false, func, not_, or_, select, true
from sqlalchemy.orm import Session

from newscrawl.items import By, CompanyStructure, Group, Period, SourceCatalog
from newscrawl.storage import QuestionError
from newscrawl.storage.database import Database
from newscrawl.storage.documents import COUNTED_KINDS, LAST_MINUTE, minute_of
from newscrawl.storage.models import Article, Coverage, DailySource, Source
from newscrawl.storage.ownership import Ownership, Tenure, ownerships, tenures
from newscrawl.storage.search_language import And, Filter, Node, Or, Without
from newscrawl.text import match_name

__all__ = ["By", "Group", "Measure", "Period", "Scope"]

# Units of counts: articles, occurrences in them, or stories (near copies count once).
Measure = Literal["articles", "mentions", "stories"]

# Years of news on the web, or in newspapers' archives.
FIRST_YEAR, LAST_YEAR = 1600, 2200
# All zones of today are whole quarters of an hour away from UTC.
QUARTER = 15  # minutes

# The key of articles whose language or section is not known.
UNKNOWN = "unknown"

_LANGUAGE = re.compile(r"[a-z]{2,3}|unknown|")
_LISTED = 10  # names in a message
_BEGINNING = datetime(1, 1, 1, tzinfo=UTC)
# A zone may shift a time by a day, which must stay within the calendar.
_FIRST_DAY, _LAST_DAY = date(2, 1, 1), date(9998, 12, 31)
_ONE_DAY = timedelta(days=1)
NO_STRUCTURE = CompanyStructure()
NO_CATALOG = SourceCatalog()
_Columns = TypeVarTuple("_Columns")


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """The articles that a question is about; None means any.

    `since` and `until` are days, both included, of the IANA time zone `zone`. `source` is a
    slug, `country` (ISO 3166-1 alpha-2) that of the source, `language` (ISO 639-1) that of the
    article, `section` the publisher's name of it. `now` is the moment of the question, which
    decides which periods have begun; None is the present. `group` and `tier` are those of the
    sources in `catalog`; of the query `among`, only the filters limit the articles, not the words.

    A company of the question may also be a group of `structure`: an article that mentions one or
    more of its companies counts once. With `subsidiaries`, the articles of a company are also
    those of its brands and subsidiaries on the days on which they belonged to it, and lists of
    companies have only owners.
    """

    since: date | None = None
    until: date | None = None
    source: str | None = None
    language: str | None = None
    country: str | None = None
    section: str | None = None
    zone: str = "UTC"
    now: datetime | None = field(default=None, compare=False)
    subsidiaries: bool = False
    structure: CompanyStructure = field(default=NO_STRUCTURE, hash=False)
    group: str | None = None
    tier: int | None = None
    catalog: SourceCatalog = field(default=NO_CATALOG, hash=False)
    among: Node | None = None

    @property
    def slugs(self) -> frozenset[str] | None:
        """Return the sources that match `source`, `group` and `tier`, by slug; None for all."""
        chosen = []
        if self.source is not None:
            chosen.append({self.source})
        if self.group is not None:
            chosen.append({*self.catalog.groups.get(self.group, ())})
        if self.tier is not None:
            chosen.append({slug for slug, tier in self.catalog.tiers.items() if tier == self.tier})
        return frozenset(set.intersection(*chosen)) if chosen else None

    def widened(self) -> "Scope":
        """Return a scope of these days alone, with one more on either side."""
        return Scope(
            since=self.since and self.since - _ONE_DAY, until=self.until and self.until + _ONE_DAY
        )

    def sources_by(self, by: Group) -> dict[str, frozenset[str]]:
        """Return the sources of each group, or of each tier, by slug; if the question is about one
        group, of this one. Raise QuestionError if no source has any."""
        sources: dict[str, frozenset[str]] = {}
        if by == "group":
            sources = {name: frozenset(slugs) for name, slugs in self.catalog.groups.items()}
            if self.group is not None:
                sources = {self.group: sources[self.group]}
        elif by == "tier":
            for slug, tier in self.catalog.tiers.items():
                sources[str(tier)] = sources.get(str(tier), frozenset()) | {slug}
        if not sources:
            raise QuestionError(
                f"no source has a {by}: give the sources one in your file of sources, and in "
                "Python catalog=newscrawl.query.source_catalog() to the scope"
            )
        return sources

    @property
    def narrows_sources(self) -> bool:
        """Return whether the question is about some of the sources."""
        return not (self.slugs is None and self.country is None and self.among is None)

    def owner(self, company: str, day: date | None = None) -> str:
        """Return the company as which this one counts on a UTC day, by default the scope's last:
        itself or, with `subsidiaries`, the uppermost owner."""
        if not self.subsidiaries:
            return company
        day = day or last_day(self)
        return next(ownerships(self.structure, company, day, day)).chain[-1]

    def tenures(self, name: str) -> list[Tenure]:
        """Return the companies that count under the name of a company or group, with their days."""
        members = self.structure.groups.get(name, (name,))
        if not self.subsidiaries:
            return [Tenure(company) for company in dict.fromkeys(members)]
        first, last = self._utc_days()
        return [
            Tenure(
                one.company,
                None if one.first == first else one.first,
                None if one.last == last else one.last,
            )
            for one in tenures(self.structure, members, first, last)
        ]

    def members(self, name: str) -> tuple[str, ...]:
        """Return the companies that count under the name of a company or group."""
        return tuple(dict.fromkeys(tenure.company for tenure in self.tenures(name)))

    def ownerships(self, company: str) -> list[Ownership]:
        """Return the owners of a company in the scope, by periods that cover it."""
        if not self.subsidiaries:
            return [Ownership((company,), None, None)]
        first, last = self._utc_days()
        return [
            Ownership(
                one.chain,
                None if one.first == first else one.first,
                None if one.last == last else one.last,
            )
            for one in ownerships(self.structure, company, first, last)
        ]

    def _utc_days(self) -> tuple[date | None, date | None]:
        """Return the UTC days between which the scope's days lie."""
        near = timedelta(0) if self.zone == "UTC" else _ONE_DAY
        return self.since and self.since - near, last_day(self) + near

    def validate(self, database: Database | None = None, *, max_days: int | None = None) -> "Scope":
        """Return the scope with names in their usual spelling, and with `now` set.

        With `database`, source and country must be known there; with `max_days`, the period from
        `since` on is limited. Raise QuestionError for invalid values. The decorator
        `question` calls this, so a question gets a validated scope.
        """
        now = self.now or datetime.now(UTC)
        scope = replace(
            self,
            zone=_known_zone(self.zone),
            language=self.language and self.language.strip().lower(),
            country=self.country and self.country.strip().lower(),
            now=now,
        )
        if scope.language and not _LANGUAGE.fullmatch(scope.language):
            raise QuestionError(f"unknown language {self.language!r}: write its code, as in de")
        if scope.subsidiaries and scope.structure is NO_STRUCTURE:
            raise QuestionError(
                "subsidiaries of what? give structure=newscrawl.query.company_structure()"
            )
        scope = replace(scope, group=scope.group and _known_group(scope))
        if scope.tier is not None and scope.tier not in scope.catalog.tiers.values():
            tiers = ", ".join(map(str, sorted({*scope.catalog.tiers.values()})))
            raise QuestionError(f"no source has the tier {scope.tier}: there are {tiers or 'none'}")
        scope._check_range(max_days)
        columns = {"source": Source.slug, "country": Source.country}
        asked = {name: text for name in columns if (text := getattr(scope, name))}
        if database is None or not asked:
            return scope
        with database.reading() as session:
            known = {name: {*session.scalars(select(columns[name]))} for name in asked}
        usual: dict[str, Any] = {
            one: usual_spelling(text, sorted(known[one]), one) for one, text in asked.items()
        }
        return replace(scope, **usual)

    def _check_range(self, max_days: int | None) -> None:
        for name, day in (("since", self.since), ("until", self.until)):
            # A datetime is a date, too, but can't be compared with one.
            if day is not None and (not isinstance(day, date) or isinstance(day, datetime)):
                raise QuestionError(
                    f"{name} {day!r} is not a day: write datetime.date(2026, 11, 1)"
                )
        last = self.until or today(self)
        for name, day in (("since", self.since), ("until", self.until)):
            if day and not FIRST_YEAR <= day.year <= LAST_YEAR:
                raise QuestionError(
                    f"{name} {day}: no news of that time is known; write a year from "
                    f"{FIRST_YEAR} to {LAST_YEAR}"
                )
        if self.since and self.since > last:
            raise QuestionError(
                f"since {self.since} lies after until {self.until or 'today'}: swap them"
            )
        if max_days and self.since and (last - self.since).days >= max_days:
            raise QuestionError(f"a period of over {max_days:,} days: choose a shorter one")


def _known_zone(text: str) -> str:
    """Return the usual spelling of a time zone; raise QuestionError for an unknown one."""
    name = text.strip().replace(" ", "_")
    try:
        return ZoneInfo(name).key
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        known, near = match_name(name, sorted(available_timezones()))
        if known is not None:
            return known
        advice = did_you_mean(near) if near else "write it as Europe/Berlin or UTC"
        raise QuestionError(f"unknown time zone {text!r}: {advice}") from error


def _known_group(scope: Scope) -> str:
    """Return the usual spelling of a group of sources; raise QuestionError for an unknown one."""
    groups = sorted(scope.catalog.groups)
    name, near = match_name(scope.group or "", groups)
    if name is not None:
        return name
    advice = did_you_mean(near) if near else f"there are {', '.join(groups) or 'none'}"
    raise QuestionError(f"unknown group of sources {scope.group!r}: {advice}")


def usual_spelling(text: str, known: Sequence[str], kind: str) -> str:
    """Return the usual spelling of a source, country or language; raise QuestionError for an
    unknown one."""
    if text in known:
        return text
    name, near = match_name(text, known)
    if name is not None:
        return name
    if near:
        advice = did_you_mean(near)
    elif len(known) > _LISTED:
        advice = "not crawled into this database; newscrawl sources coverage lists what was"
    else:
        advice = f"this database holds {', '.join(known) or 'none yet'}"
    raise QuestionError(f"unknown {kind} {text!r}: {advice}")


def did_you_mean(near: Sequence[str]) -> str:
    return f"did you mean {' or '.join(near)}?"


# --- Days and moments ---


def zone_of(scope: Scope) -> ZoneInfo:
    """Return the scope's time zone."""
    return ZoneInfo(scope.zone)


def today(scope: Scope) -> date:
    """Return the day on which the question is asked, in the scope's zone."""
    return (scope.now or datetime.now(UTC)).astimezone(zone_of(scope)).date()


def last_day(scope: Scope) -> date:
    """Return the last day of the scope that has begun: later ones were not crawled."""
    now = today(scope)
    return min(scope.until or now, now)


def days(first: date, last: date) -> Iterator[date]:
    """Yield each day from the first to the last, both included."""
    for number in range((last - first).days + 1):
        yield first + timedelta(days=number)


def midnight(day: date, zone: ZoneInfo) -> datetime:
    """Return the moment at which a local day begins, within the calendar's years 2 to 9998."""
    day = min(max(day, _FIRST_DAY), _LAST_DAY)
    return datetime.combine(day, time(), zone).astimezone(UTC)


def first_minute(day: date) -> int:
    """Return the minute with which a UTC day begins."""
    return min((day.toordinal() - 1) * 24 * 60, LAST_MINUTE)


def minutes_of(scope: Scope) -> tuple[int | None, int | None]:
    """Return the first minute of the scope, and the first one after it; None for an open end."""
    zone = zone_of(scope)
    since = minute_of(midnight(scope.since, zone)) if scope.since else None
    until = minute_of(midnight(scope.until + _ONE_DAY, zone)) if scope.until else None
    return since, until


def local_time(quarter: int, zone: ZoneInfo) -> datetime:
    """Return the local time of a quarter of an hour, counted from the calendar's beginning."""
    return (_BEGINNING + timedelta(minutes=quarter * QUARTER)).astimezone(zone)


def day_of_minute(minute: int) -> date:
    """Return the UTC day of a minute, counted from the calendar's beginning."""
    return (_BEGINNING + timedelta(minutes=minute)).date()


@lru_cache(maxsize=4096)
def local_day(day: date, zone: ZoneInfo) -> date:
    """Return the local day that shares most hours with a UTC day: coverage is kept by UTC days."""
    return datetime.combine(day, time(12), UTC).astimezone(zone).date()


def hours_of(day: date, zone: ZoneInfo) -> Iterator[datetime]:
    """Yield the hours of a local day: 23 or 25 of them where the clocks are changed."""
    moment, end = midnight(day, zone), midnight(day + _ONE_DAY, zone)
    while moment < end:
        yield moment.astimezone(zone)
        moment += timedelta(hours=1)


# --- Periods ---


def period_of(local: date, by: Period) -> str:
    """Return the key of the period in which a local day lies, or a local time for hours."""
    match by:
        case "hour":
            moment = local if isinstance(local, datetime) else datetime.combine(local, time())
            return moment.replace(minute=0, second=0, microsecond=0).isoformat(timespec="minutes")
        case "week":
            return (local - timedelta(days=local.weekday())).isoformat()[:10]
        case "month":
            return local.isoformat()[:7]
        case "quarter":
            return f"{local.isoformat()[:4]}-Q{(local.month + 2) // 3}"
        case "year":
            return local.isoformat()[:4]
    return local.isoformat()[:10]


@lru_cache(maxsize=4096)
def key_of_day(day: date, by: Period) -> str:
    """Return what `period_of` does for a day. Times are not kept: equal ones of two zones have two
    keys."""
    return period_of(day, by)


def bounds_of(key: str, by: Period, zone: ZoneInfo) -> tuple[int, int]:
    """Return the first minute of a period, and the first one after it."""
    if by == "hour":
        start = minute_of(datetime.fromisoformat(key))
        return start, start + 60
    first, after = _days_of(key, by)
    return minute_of(midnight(first, zone)), minute_of(midnight(after, zone))


def days_left_out(key: str, by: Period, scope: Scope) -> int:
    """Return the number of days of a week or a longer period that lie outside the scope or are
    still to come; 0 for hours and days."""
    if by in {"hour", "day"}:
        return 0
    first, after = _days_of(key, by)
    begin = max(first, scope.since or first)
    counted = (min(after - _ONE_DAY, last_day(scope)) - begin).days + 1
    return (after - first).days - max(counted, 0)


def _days_of(key: str, by: Period) -> tuple[date, date]:
    """Return the first day of a period that is not an hour, and the first one after it."""
    first = _first_day(key, by)
    if by in {"day", "week"}:
        return first, first + timedelta(days=1 if by == "day" else 7)
    months = {"month": 1, "quarter": 3, "year": 12}[by]
    return first, (first + timedelta(days=months * 31)).replace(day=1)


def _first_day(key: str, by: Period) -> date:
    if by == "quarter":
        year, quarter = key.split("-Q")
        return date(int(year), int(quarter) * 3 - 2, 1)
    if by in {"month", "year"}:
        return date.fromisoformat(f"{key}-01" if by == "month" else f"{key}-01-01")
    return date.fromisoformat(key)


# --- Conditions of SQL ---


def articles_within(
    query: Select[*_Columns], scope: Scope, *, every_kind: bool = False
) -> Select[*_Columns]:
    """Return a query over articles, joined to their sources and limited to the scope; to
    articles that count unless `every_kind` is set."""
    query = query.join(Source, Source.id == Article.source_id).where(*_published_within(scope))
    query = query.where(*_of_sources(scope))
    for column, value in (
        (func.coalesce(Article.language, ""), stored_language(scope.language)),
        (Article.section, scope.section),
    ):
        if value is not None:
            query = query.where(column == value)
    if scope.among is not None:
        language = func.coalesce(Article.language, "")
        query = query.where(let_through(scope.among, Article.source_id, language))
    if every_kind:
        return query
    return query.where(or_(Article.kind.in_(COUNTED_KINDS), Article.access != "open"))


def stored_language(language: str | None) -> str | None:
    """Return a language in the tables' form: "" if unknown."""
    return "" if language == UNKNOWN else language


def _published_within(scope: Scope) -> list[ColumnElement[bool]]:
    """Return conditions on the indexed day; in other zones than UTC on the exact moment, too."""
    zone = zone_of(scope)
    if zone.key == "UTC":
        return between(Article.day, scope)
    moment = func.coalesce(Article.published_at, Article.first_seen_at)
    conditions = []
    if scope.since is not None:
        conditions += [Article.day >= scope.since - _ONE_DAY, moment >= midnight(scope.since, zone)]
    if scope.until is not None:
        end = midnight(scope.until + _ONE_DAY, zone)
        conditions += [Article.day <= scope.until + _ONE_DAY, moment < end]
    return conditions


def between(day: Any, scope: Scope) -> list[ColumnElement[bool]]:
    """Return the conditions for the scope's days, where `day` is a column of UTC days."""
    conditions: list[ColumnElement[bool]] = []
    if scope.since is not None:
        conditions.append(day >= scope.since)
    if scope.until is not None:
        conditions.append(day <= scope.until)
    return conditions


def covered_within(scope: Scope) -> list[ColumnElement[bool]]:
    """Return `between` for days of coverage, which are UTC days: with one more on either side
    where the scope's zone is another, for `local_day` to decide."""
    if zone_of(scope).key == "UTC":
        return between(Coverage.day, scope)
    return between(Coverage.day, scope.widened())


def sources_within(scope: Scope) -> list[ColumnElement[bool]]:
    """Return the conditions for the scope's sources: of a language, those that are written in it
    and those that had an article in it."""
    conditions = _of_sources(scope)
    if scope.language is not None:
        conditions.append(_written_in(scope.language))
    return conditions


def source_ids(session: Session, scope: Scope) -> list[int] | None:
    """Return the sources that a scope is limited to; None for all."""
    if not scope.narrows_sources:
        return None
    return sorted(session.scalars(select(Source.id).where(*_of_sources(scope))))


def _of_sources(scope: Scope) -> list[ColumnElement[bool]]:
    """Return the conditions for the sources of a scope."""
    conditions: list[ColumnElement[bool]] = []
    if (slugs := scope.slugs) is not None:
        conditions.append(Source.slug.in_(sorted(slugs)))
    if scope.country is not None:
        conditions.append(Source.country == scope.country)
    if scope.among is not None:
        conditions.append(_matches(scope.among, _of_source, certain=False))
    return conditions


def let_through(query: Node, source_id: Any, language: Any) -> ColumnElement[bool]:
    """Return the condition for articles, by columns of their source and language, that the filters
    of a query let through."""

    def of_article(one: Filter, _certain: bool) -> ColumnElement[bool]:
        if one.name == "language":
            return and_(language == stored_language(one.value))
        return and_(source_id.in_(select(Source.id).where(_of_source(one, True))))

    return _matches(query, of_article, certain=False)


def _of_source(one: Filter, certain: bool) -> ColumnElement[bool]:
    if one.name != "language":
        return and_((Source.slug if one.name == "source" else Source.country) == one.value)
    if certain:  # a source may be written in several languages
        return false()
    return _written_in(one.value)


def _written_in(language: str) -> ColumnElement[bool]:
    """Return the condition for sources that are written in a language or had an article in it."""
    writes = exists().where(
        DailySource.source_id == Source.id,
        DailySource.language == stored_language(language),
        DailySource.read > 0,
    )
    return or_(Source.language == language, writes)


def _matches(
    node: Node, condition: Callable[[Filter, bool], ColumnElement[bool]], *, certain: bool
) -> ColumnElement[bool]:
    """Return the condition for what matches a query whatever its words are if that is `certain`,
    and otherwise for what matches it with the right words; `condition` is that of one filter."""
    match node:
        case Filter():
            return condition(node, certain)
        case And():
            return and_(*(_matches(one, condition, certain=certain) for one in node.parts))
        case Or():
            return or_(*(_matches(one, condition, certain=certain) for one in node.parts))
        case Without():
            refused = _matches(node.unwanted, condition, certain=not certain)
            return and_(_matches(node.wanted, condition, certain=certain), not_(refused))
    return false() if certain else true()


def first_days(session: Session, scope: Scope) -> dict[str, date]:
    """Return for each source in scope the first day for which a crawl was recorded."""
    first = (
        select(func.min(Coverage.day))
        .where(Coverage.source_id == Source.id)
        .correlate(Source)
        .scalar_subquery()
    )
    zone = zone_of(scope)
    rows = session.execute(select(Source.slug, first).where(*sources_within(scope)))
    return {slug: local_day(day, zone) for slug, day in rows if day is not None}
