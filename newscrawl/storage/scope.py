"""The scope of a question: days, sources, countries, languages and sections, and its periods.

Callers create a `Scope`. Its fields declare the filters: from `FILTERS` follow the form of a page,
the parameters of the API and the options of commands, and `read_scope` reads all of them. The rest
of this module divides time into hours, days, weeks, months, quarters and years of any time zone;
`scope_conditions` converts a scope to SQL, which this module does not need.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, date, datetime, time, timedelta
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

from newscrawl.items import By, CompanyStructure, Group, Measure, Period, SourceCatalog
from newscrawl.storage import QuestionError
from newscrawl.storage.documents import LAST_MINUTE, minute_of
from newscrawl.text import did_you_mean, match_name

if TYPE_CHECKING:
    from newscrawl.storage.search_language import Node

_ONE_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Tenure:
    """The UTC days, both included, on which a company counts under a name; None is open."""

    company: str
    first: date | None = None
    last: date | None = None

    def covers(self, day: date, company: str | None = None) -> bool:
        """Return whether it counts on a day, under the name `company` if this is given."""
        is_other = company is not None and company != self.company
        return not is_other and (self.first or day) <= day <= (self.last or day)


@dataclass(frozen=True, slots=True)
class Ownership:
    """The owners of a company in a period, the company itself first, the uppermost owner last."""

    chain: tuple[str, ...]
    first: date | None
    last: date | None


def ownerships(
    structure: CompanyStructure, company: str, since: date | None, until: date | None
) -> Iterator[Ownership]:
    """Yield the owners of a company from `since` to `until`, the earliest period first, with None
    for these ends."""
    starts = {
        day
        for day in _changes(structure, company)
        if (since is None or day > since) and (until is None or day <= until)
    }
    for first, after in pairwise([None, *sorted(starts), None]):
        last = after and after - _ONE_DAY
        yield Ownership(
            _owners_on(structure, company, first or since or last or until), first, last
        )


def tenures(
    structure: CompanyStructure, names: Iterable[str], since: date | None, until: date | None
) -> list[Tenure]:
    """Return when the companies, and those that belong to them, count between two days, with None
    for these."""
    owners = dict.fromkeys(names)
    tenures_of_all = []
    for company in _family(structure, owners):
        periods: list[Tenure] = []
        for ownership in ownerships(structure, company, since, until):
            if owners.keys().isdisjoint(ownership.chain):
                continue
            if periods and periods[-1].last and ownership.first == periods[-1].last + _ONE_DAY:
                periods[-1] = Tenure(company, periods[-1].first, ownership.last)
            else:
                periods.append(Tenure(company, ownership.first, ownership.last))
        tenures_of_all += periods
    return tenures_of_all


def _family(structure: CompanyStructure, names: Iterable[str]) -> list[str]:
    """Return the companies, and all that belong to them on any day."""
    owned: dict[str, list[str]] = {}
    for company, owner in structure.parents.items():
        owned.setdefault(owner, []).append(company)
    family = dict.fromkeys(names)
    waiting = list(family)
    while waiting:
        more = [company for company in owned.get(waiting.pop(), ()) if company not in family]
        family |= dict.fromkeys(more)
        waiting += more
    return list(family)


def _changes(structure: CompanyStructure, company: str) -> Iterator[date]:
    """Yield the days on which an owner of a company, or an owner's owner, may change."""
    companies = {company}
    while owner := structure.parents.get(company):
        since, until = structure.owned.get(company, (None, None))
        if since:
            yield since
        if until:
            yield until + _ONE_DAY
        if owner in companies:
            return
        companies.add(company := owner)


def _owners_on(structure: CompanyStructure, company: str, day: date | None) -> tuple[str, ...]:
    """Return the company and its owners of a day, the uppermost last; None is any day."""
    chain = [company]
    while owner := structure.parents.get(company):
        since, until = structure.owned.get(company, (None, None))
        if owner in chain or (day and ((since and day < since) or (until and day > until))):
            break
        chain.append(company := owner)
    return tuple(chain)


__all__ = ["By", "Group", "Measure", "Period", "Scope"]

# Years of news on the web, or in newspapers' archives.
FIRST_YEAR, LAST_YEAR = 1600, 2200
# All zones of today are whole quarters of an hour away from UTC.
QUARTER = 15  # minutes


_LANGUAGE = re.compile(r"[a-z]{2,3}|unknown|")
_LISTED = 10  # names in a message
_BEGINNING = datetime(1, 1, 1, tzinfo=UTC)
# A zone may shift a time by a day, which must stay within the calendar.
_FIRST_DAY, _LAST_DAY = date(2, 1, 1), date(9998, 12, 31)
NO_STRUCTURE = CompanyStructure()
NO_CATALOG = SourceCatalog()
# What stands for a filter that is on or off.
_ON, _OFF = ("included", "true", "yes", "1"), ("separate", "false", "no", "0")
MAX_VALUE = 200  # characters; ours


@dataclass(frozen=True, slots=True, kw_only=True)
class ScopeFilter:
    """How a field of a scope is asked for, of which every view is made.

    `kind` is the type of its value, `help` explains it, and `metavar` stands for the value in the
    help of a command. `label` is its name in the form of a page, which has a place of its own for
    filters without one; `phrase` says in sentences what it limits. A number lies between `least`
    and `most`. `condition` returns the condition of SQL for articles, by the model
    `Article` and the value.
    """

    kind: type
    help: str
    metavar: str = "NAME"
    label: str = ""
    phrase: str = ""
    least: int = 1
    most: int | None = None
    longest: int = MAX_VALUE
    condition: Callable[[Any, Any], Any] | None = None

    def read(self, name: str, text: str, today: date) -> Any:
        """Return the value that a text stands for; raise QuestionError for another text."""
        if len(text) > self.longest or "\0" in text:
            raise QuestionError(f"{name} can't have this value: it is too long or holds a NUL")
        if self.kind is date:
            return read_day(name, text, today)
        if self.kind is int:
            return read_number(name, text, self.least, self.most)
        if self.kind is bool:
            if text.lower() not in {*_ON, *_OFF}:
                raise QuestionError(f"{name} {text!r}: choose among {_OFF[0]}, {_ON[0]}")
            return text.lower() in _ON
        return text

    def check(self, name: str, value: Any) -> None:
        """Raise QuestionError for a value of another type, or a number that is out of bounds."""
        # True is an int, too, and a datetime a date, which can't be compared with one.
        other: tuple[type, ...] = {int: (bool,), date: (datetime,)}.get(self.kind, ())
        if not isinstance(value, self.kind) or isinstance(value, other):
            example = "a day: write datetime.date(2026, 11, 1)"
            kind = {date: example, int: "a number", bool: "True or False"}.get(self.kind, "a text")
            raise QuestionError(f"{name} {value!r} is not {kind}")
        if self.kind is int:
            read_number(name, str(value), self.least, self.most)


def _filter(kind: type, help: str, default: Any = None, **more: Any) -> Any:  # noqa: A002 - as Typer
    """Return a field of a scope that is a filter of every view."""
    return field(default=default, metadata={"filter": ScopeFilter(kind=kind, help=help, **more)})


def read_day(name: str, text: str, today: date) -> date:
    """Return the day that is written; 7d is the first of the seven days that end today. Raise
    QuestionError for another text."""
    if days := re.fullmatch(r"([0-9]{1,5})d", text):
        return today - timedelta(days=max(int(days[1]) - 1, 0))
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise QuestionError(
            f"{name} {text!r} is not a day: write it as 2026-11-01, or as 7d for the last seven "
            "days"
        ) from None


def read_number(name: str, text: str, least: int, most: int | None) -> int:
    """Return the number that is written; raise QuestionError for another text."""
    if re.fullmatch(r"[0-9]{1,9}", text) and least <= int(text) <= (most or int(text)):
        return int(text)
    bounds = f"from {least} to {most:,}" if most else f"from {least} on"
    raise QuestionError(f"{name} {text!r}: write a number {bounds}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """The articles that a question is about; None means any.

    `since` and `until` are days, both included, of the IANA time zone `zone`. `source` is a
    slug, `country` (ISO 3166-1 alpha-2) that of the source, `language` (ISO 639-1) that of the
    article, `section` the publisher's name of it. `now` is the moment of the question, which
    decides which periods have begun; None is the present. `group` is a group of the sources in
    `catalog`; of the query `among`, only the filters limit the articles, not the words.

    A company of the question may also be a group of `structure`: an article that mentions one or
    more of its companies counts once. With `subsidiaries`, the articles of a company are also
    those of its brands and subsidiaries on the days on which they belonged to it, and lists of
    companies have only owners.
    """

    since: date | None = _filter(  # noqa: RUF009 - it returns a field
        date, "First day: 2026-11-01, or 7d for the last seven.", metavar="DAY"
    )
    until: date | None = _filter(  # noqa: RUF009
        date, "Last day, written alike; else today.", metavar="DAY"
    )
    zone: str = _filter(
        str,
        "Time zone of days and hours, as in 'Europe/Berlin'; else UTC.",
        "UTC",
        metavar="ZONE",
        longest=60,
    )
    source: str | None = _filter(
        str, "Only this source, as in 'ft'.", metavar="SLUG", label="Source", phrase="source {}"
    )
    group: str | None = _filter(
        str,
        "Only sources of this group, as in 'business' or a list of your sources file.",
        label="Group",
        phrase="sources of the group {}",
    )
    language: str | None = _filter(
        str,
        "Only articles in this language, as in 'de'.",
        metavar="CODE",
        label="Language",
        phrase="language {}",
    )
    country: str | None = _filter(
        str,
        "Only sources of this country, as in 'gb'.",
        metavar="CODE",
        label="Country",
        phrase="country {}",
    )
    section: str | None = _filter(
        str, "Only this section, in the publisher's words.", label="Section", phrase="section {}"
    )
    subsidiaries: bool = _filter(
        bool, "Count brands and subsidiaries for their owners, too, each article once.", False
    )
    now: datetime | None = field(default=None, compare=False)
    structure: CompanyStructure = field(default=NO_STRUCTURE, hash=False)
    catalog: SourceCatalog = field(default=NO_CATALOG, hash=False)
    among: "Node | None" = None

    @property
    def slugs(self) -> frozenset[str] | None:
        """Return the sources that match `source` and `group`, by slug; None for all."""
        chosen = []
        if self.source is not None:
            chosen.append({self.source})
        if self.group is not None:
            chosen.append({*self.catalog.groups.get(self.group, ())})
        return frozenset(set.intersection(*chosen)) if chosen else None

    def widened(self) -> "Scope":
        """Return a scope of these days alone, with one more on either side."""
        return Scope(
            since=self.since and self.since - _ONE_DAY, until=self.until and self.until + _ONE_DAY
        )

    @property
    def sources_by_group(self) -> dict[str, frozenset[str]]:
        """Return the sources of each group by slug; if the question is about one group, of this
        one. Raise QuestionError if no source has any."""
        sources = {name: frozenset(slugs) for name, slugs in self.catalog.groups.items()}
        if self.group is not None:
            return {self.group: sources[self.group]}
        if not sources:
            raise QuestionError(
                "no source has a group: give the sources one in your file of sources, and in "
                "Python catalog=newscrawl.query.source_catalog() to the scope"
            )
        return sources

    @property
    def narrows_sources(self) -> bool:
        """Return whether the question is about some of the sources."""
        return not (self.slugs is None and self.country is None and self.among is None)

    @property
    def narrows_articles(self) -> bool:
        """Return whether only the articles themselves tell which of them it is about."""
        return any(
            declared.condition is not None and getattr(self, name) is not None
            for name, declared in FILTERS.items()
        )

    @property
    def narrows(self) -> bool:
        """Return whether the question is limited by more than time."""
        limits = self.language is not None or self.section is not None
        return limits or self.narrows_sources or self.narrows_articles

    def of_days(self) -> "Scope":
        """Return the scope of UTC days and sources, without the filters that only articles have."""
        only: dict[str, Any] = {
            name: None for name, declared in FILTERS.items() if declared.condition is not None
        }
        return replace(self, **{**only, "section": None, "zone": "UTC"})

    @property
    def values(self) -> dict[str, str]:
        """Return the filters that are not at their default as texts, which `read_scope` reads."""
        written = {name: getattr(self, name) for name in FILTERS}
        return {
            name: _ON[0] if value is True else str(value)
            for name, value in written.items()
            if value not in {None, "", False} and (name, value) != ("zone", "UTC")
        }

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
        return tenures(self.structure, members, *self._utc_days())

    def members(self, name: str) -> tuple[str, ...]:
        """Return the companies that count under the name of a company or group."""
        return tuple(dict.fromkeys(tenure.company for tenure in self.tenures(name)))

    def ownerships(self, company: str) -> list[Ownership]:
        """Return the owners of a company in the scope, by periods that cover it."""
        if not self.subsidiaries:
            return [Ownership((company,), None, None)]
        return [*ownerships(self.structure, company, *self._utc_days())]

    def _utc_days(self) -> tuple[date | None, date | None]:
        """Return the UTC days between which the scope's days lie."""
        near = timedelta(0) if self.zone == "UTC" else _ONE_DAY
        return self.since and self.since - near, last_day(self) + near

    def validate(self, *, max_days: int | None = None) -> "Scope":
        """Return the scope with names in their usual spelling, and with `now` set.

        With `max_days`, the period from `since` on is limited. Raise QuestionError for invalid
        values. The decorator `question` calls this, so a question gets a validated scope.
        """
        for filter_name, declared in FILTERS.items():
            if (value := getattr(self, filter_name)) is not None:
                declared.check(filter_name, value)
        scope = replace(
            self,
            zone=_known_zone(self.zone),
            language=self.language and self.language.strip().lower(),
            country=self.country and self.country.strip().lower(),
            now=self.now or datetime.now(UTC),
        )
        if scope.language and not _LANGUAGE.fullmatch(scope.language):
            raise QuestionError(f"unknown language {self.language!r}: write its code, as in de")
        if scope.subsidiaries and scope.structure is NO_STRUCTURE:
            raise QuestionError(
                "subsidiaries of what? give structure=newscrawl.query.company_structure()"
            )
        if scope.group:
            groups = sorted(scope.catalog.groups)
            name, near = match_name(scope.group, groups)
            if name is None:
                advice = did_you_mean(near) if near else f"there are {', '.join(groups) or 'none'}"
                raise QuestionError(f"unknown group of sources {scope.group!r}: {advice}")
            scope = replace(scope, group=name)
        last = scope.until or today(scope)
        for name, day in (("since", scope.since), ("until", scope.until)):
            if day and not FIRST_YEAR <= day.year <= LAST_YEAR:
                raise QuestionError(
                    f"{name} {day}: no news of that time is known; write a year from "
                    f"{FIRST_YEAR} to {LAST_YEAR}"
                )
        if scope.since and scope.since > last:
            raise QuestionError(
                f"since {scope.since} lies after until {scope.until or 'today'}: swap them"
            )
        if max_days and scope.since and (last - scope.since).days >= max_days:
            raise QuestionError(f"a period of over {max_days:,} days: choose a shorter one")
        return scope


FILTERS: dict[str, ScopeFilter] = {
    each.name: each.metadata["filter"] for each in fields(Scope) if "filter" in each.metadata
}


def read_scope(
    values: Mapping[str, object],
    *,
    prefix: str = "",
    now: datetime | None = None,
    structure: CompanyStructure = NO_STRUCTURE,
    catalog: SourceCatalog = NO_CATALOG,
) -> Scope:
    """Return the scope of filters that are written as texts, not yet validated; other values, and
    those that are empty, are left out. Raise QuestionError for a text that stands for no value; it
    names the filter with the prefix."""
    texts = {name: str(value).strip() for name, value in values.items() if value is not None}
    written = {name: text for name in FILTERS if (text := texts.get(name))}
    scope = Scope(now=now, structure=structure, catalog=catalog)
    day = today(scope)
    if zone := written.get("zone"):
        scope = replace(scope, zone=_known_zone(FILTERS["zone"].read(f"{prefix}zone", zone, day)))
        day = today(scope)
    read = {
        name: FILTERS[name].read(f"{prefix}{name}".replace("_", "-") if prefix else name, text, day)
        for name, text in written.items()
    }
    return replace(scope, **{**read, "zone": scope.zone})


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
    if by == "quarter":
        year, quarter = key.split("-Q")
        first = date(int(year), int(quarter) * 3 - 2, 1)
    elif by in {"month", "year"}:
        first = date.fromisoformat(f"{key}-01" if by == "month" else f"{key}-01-01")
    else:
        first = date.fromisoformat(key)
    if by in {"day", "week"}:
        return first, first + timedelta(days=1 if by == "day" else 7)
    months = {"month": 1, "quarter": 3, "year": 12}[by]
    return first, (first + timedelta(days=months * 31)).replace(day=1)
