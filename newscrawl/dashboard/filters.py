"""The filters of a page, read from the query of its address: period, source, language etc."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta
from typing import Any, Literal, get_args
from urllib.parse import urlencode

from newscrawl.items import CompanyStructure, SourceCatalog, copy_fields
from newscrawl.storage import QuestionError
from newscrawl.storage.queries import Scope
from newscrawl.storage.scope import today
from newscrawl.storage.search_language import MAX_LENGTH

Count = Literal["articles", "mentions", "stories"]
Split = Literal["whole", "source", "language", "country", "group", "tier"]
Step = Literal["day", "week", "month"]

DEFAULT_PERIOD = 30
MAX_PERIOD = 3660  # days; ours: ten years of daily points are as many as a screen can use
# Ours: the stories of two periods can't be added, so they are counted again for each period and
# each part of a chart. Over a longer time they are counted by week, and for charts of several parts
# by month.
MAX_DAYS_OF_STORIES = 100
LAST_PAGE = 200  # the number of pages that can be asked for
MAX_VALUE = 200  # characters
# The fields of the form of filters.
FIELDS = frozenset(
    {"days", "since", "until", "zone", "source", "group", "tier", "language", "country"}
)
_LONG = frozenset({"q", "text", "story"})  # queries, and an address


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """What a page shows. `days` is set if the period is that number of last days."""

    since: date
    until: date
    days: int | None = None
    source: str | None = None
    language: str | None = None
    country: str | None = None
    zone: str = "UTC"
    count: Count = "articles"
    split: Split = "whole"
    by: Step = "day"
    page: int = 1
    now: datetime | None = None
    subsidiaries: bool = False
    structure: CompanyStructure = field(default_factory=CompanyStructure)
    group: str | None = None
    tier: int | None = None
    catalog: SourceCatalog = field(default_factory=SourceCatalog)

    @property
    def scope(self) -> Scope:
        return copy_fields(Scope, self, section=None, among=None)

    @property
    def overlaps(self) -> bool:
        """Return whether the parts of a chart overlap: a story in two sources counts for both, and
        a source in two groups."""
        return self.count == "stories" or self.split == "group"

    @property
    def length(self) -> int:
        """Return the number of days, both ends included."""
        return (self.until - self.since).days + 1

    @property
    def before(self) -> "Filters":
        """Return the same filters for the period of the same length before this one."""
        span = timedelta(days=self.length)
        return replace(self, since=self.since - span, until=self.until - span, days=None)

    def address(self, **changes: object) -> str:
        """Return the query string of these filters, with changes; defaults are left out."""
        values: dict[str, object] = {
            "source": self.source,
            "language": self.language,
            "country": self.country,
            "group": self.group,
            "tier": self.tier,
        }
        if self.days is None:
            values |= {"since": self.since, "until": self.until}
        elif self.days != DEFAULT_PERIOD:
            values["days"] = self.days
        usual = {"zone": "UTC", "count": "articles", "split": "whole", "by": "day"}
        values |= {
            name: getattr(self, name) for name in usual if getattr(self, name) != usual[name]
        }
        if self.subsidiaries:
            values["subsidiaries"] = "included"
        values |= changes
        kept = {name: str(value) for name, value in values.items() if value not in {None, ""}}
        return f"?{urlencode(kept)}" if kept else ""


def read_filters(
    query: Mapping[str, str],
    now: datetime | None = None,
    structure: CompanyStructure | None = None,
    catalog: SourceCatalog | None = None,
) -> Filters:
    """Return the filters of an address's query, asked `now`; raise QuestionError."""
    values = {name: value.strip() for name, value in query.items() if value.strip()}
    for name, value in values.items():
        longest = MAX_LENGTH if name in _LONG else MAX_VALUE
        if len(value) > longest or "\0" in value:
            raise QuestionError(f"{name} can't have this value: it is too long or holds a NUL")
    scope = Scope(
        source=values.get("source"),
        language=values.get("language"),
        country=values.get("country"),
        zone=values.get("zone", "UTC"),
        now=now,
        group=values.get("group"),
        tier=_tier(values.get("tier")),
        catalog=catalog or SourceCatalog(),
    ).validate()
    since, until, days = _period(values, today(scope))
    replace(scope, since=since, until=until).validate(max_days=MAX_PERIOD)
    # Days to come are not shown, since nothing can have been crawled on them.
    until = min(until, max(since, today(scope)))
    count: Count = _choice(values, "count", get_args(Count))
    split: Split = _choice(values, "split", get_args(Split))
    by: Step = _choice(values, "by", get_args(Step))
    if count == "stories" and (until - since).days >= MAX_DAYS_OF_STORIES and by != "month":
        by = "week" if split == "whole" else "month"
    return copy_fields(
        Filters,
        scope,
        since=since,
        until=until,
        days=days,
        count=count,
        split=split,
        by=by,
        page=_page(values.get("page", "1")),
        subsidiaries=_choice(values, "subsidiaries", ("separate", "included")) == "included",
        structure=structure or CompanyStructure(),
    )


def _period(values: Mapping[str, str], today: date) -> tuple[date, date, int | None]:
    """Return the first day, the last day and, for a period up to today, its length."""
    if "since" not in values and "until" not in values:
        days = _days(values.get("days", str(DEFAULT_PERIOD)))
        return today - timedelta(days=days - 1), today, days
    until = _day(values["until"], "until") if "until" in values else today
    if "since" in values:
        return _day(values["since"], "since"), until, None
    return until - timedelta(days=min(DEFAULT_PERIOD - 1, (until - date.min).days)), until, None


def _days(text: str) -> int:
    if not re.fullmatch(r"[0-9]{1,4}", text) or not 1 <= int(text) <= MAX_PERIOD:
        raise QuestionError(f"days {text!r}: write a number from 1 to {MAX_PERIOD}")
    return int(text)


def _tier(text: str | None) -> int | None:
    if text is not None and not re.fullmatch(r"[1-9]", text):
        raise QuestionError(f"tier {text!r}: write a number from 1 to 9")
    return int(text) if text else None


def _page(text: str) -> int:
    if not re.fullmatch(r"[0-9]{1,3}", text) or not 1 <= int(text) <= LAST_PAGE:
        raise QuestionError(f"page {text!r}: write a number from 1 to {LAST_PAGE}")
    return int(text)


def _day(text: str, name: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise QuestionError(f"{name} {text!r} is not a day: write it as 2026-11-01") from None


def _choice(values: Mapping[str, str], name: str, choices: Sequence[Any]) -> Any:
    value = values.get(name, choices[0])
    if value not in choices:
        raise QuestionError(f"{name} {value!r}: choose among {', '.join(choices)}")
    return value
