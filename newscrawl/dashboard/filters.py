"""What the address of a page asks for: the filters of a scope, its period, and what charts show."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta
from typing import Any, Literal, get_args
from urllib.parse import urlencode

from newscrawl.items import CompanyStructure, SourceCatalog
from newscrawl.storage import QuestionError
from newscrawl.storage.queries import Scope
from newscrawl.storage.scope import FILTERS, MAX_VALUE, read_number, read_scope, today
from newscrawl.storage.search_language import MAX_LENGTH

Count = Literal["articles", "mentions", "stories"]
Split = Literal["whole", "source", "language", "country", "group"]
Step = Literal["day", "week", "month"]

DEFAULT_PERIOD = 30
MAX_PERIOD = 3660  # days; ours: ten years of daily points are as many as a screen can use
# Ours: the stories of two periods can't be added, so they are counted again for each period and
# each part of a chart. Over a longer time they are counted by week, and for charts of several parts
# by month.
MAX_DAYS_OF_STORIES = 100
LAST_PAGE = 200  # the number of pages that can be asked for
# The fields of the form of filters; pages have a place of their own for subsidiaries.
FIELDS = FILTERS.keys() - {"subsidiaries"} | {"days"}
_LONG = frozenset({"q", "text", "story"})  # queries, and an address


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """What a page shows: a scope with both its days. `days` is set if the period is that number of
    last days."""

    since: date
    until: date
    limits: Scope = field(default_factory=Scope)
    days: int | None = None
    count: Count = "articles"
    split: Split = "whole"
    by: Step = "day"
    page: int = 1

    @property
    def scope(self) -> Scope:
        return replace(self.limits, since=self.since, until=self.until)

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
        values: dict[str, object] = dict(self.limits.values)
        if self.days is None:
            values |= {"since": self.since, "until": self.until}
        elif self.days != DEFAULT_PERIOD:
            values["days"] = self.days
        usual = {"count": "articles", "split": "whole", "by": "day"}
        values |= {
            name: getattr(self, name) for name in usual if getattr(self, name) != usual[name]
        }
        values |= changes
        texts = {name: str(value) for name, value in values.items() if value not in {None, ""}}
        return f"?{urlencode(texts)}" if texts else ""


def read_filters(
    query: Mapping[str, str],
    now: datetime | None = None,
    structure: CompanyStructure | None = None,
    catalog: SourceCatalog | None = None,
) -> Filters:
    """Return the filters of an address's query, asked `now`; raise QuestionError."""
    check_values(query.items())
    values = {name: value.strip() for name, value in query.items() if value.strip()}
    scope = read_scope(
        values,
        now=now,
        structure=structure or CompanyStructure(),
        catalog=catalog or SourceCatalog(),
    )
    since, until, days = scope.since, scope.until or today(scope), None
    if since is None:
        if scope.until is None:
            days = read_number("days", values.get("days", str(DEFAULT_PERIOD)), 1, MAX_PERIOD)
        length = days or min(DEFAULT_PERIOD, (until - date.min).days + 1)
        since = until - timedelta(days=length - 1)
    scope = replace(scope, since=since, until=until).validate(max_days=MAX_PERIOD)
    # Days to come are not shown, since nothing can have been crawled on them.
    until = min(until, max(since, today(scope)))
    count: Count = choose(values, "count", get_args(Count))
    split: Split = choose(values, "split", get_args(Split))
    by: Step = choose(values, "by", get_args(Step))
    if count == "stories" and (until - since).days >= MAX_DAYS_OF_STORIES and by != "month":
        by = "week" if split == "whole" else "month"
    return Filters(
        since=since,
        until=until,
        limits=replace(scope, since=None, until=None),
        days=days,
        count=count,
        split=split,
        by=by,
        page=read_number("page", values.get("page", "1"), 1, LAST_PAGE),
    )


def check_values(values: Iterable[tuple[str, str]]) -> None:
    """Raise QuestionError for a value of an address that is too long or can't be stored."""
    for name, value in values:
        longest = MAX_LENGTH if name in _LONG else MAX_VALUE
        if len(value.strip()) > longest or "\0" in value:
            raise QuestionError(f"{name} can't have this value: it is too long or holds a NUL")


def choose(values: Mapping[str, str], name: str, choices: Sequence[Any]) -> Any:
    """Return the value of a parameter, the first choice by default; raise QuestionError."""
    value = values.get(name, choices[0])
    if value not in choices:
        raise QuestionError(f"{name} {value!r}: choose among {', '.join(choices)}")
    return value
