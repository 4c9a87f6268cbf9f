"""The questions of a page, as its address asks them: period, source, language and the rest."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from functools import cache
from typing import Any, Literal, get_args
from urllib.parse import urlencode
from zoneinfo import ZoneInfo, available_timezones

from newscrawl.naming import match
from newscrawl.storage.queries import Scope

Count = Literal["articles", "mentions", "stories"]
Split = Literal["whole", "source", "language", "country"]
Step = Literal["day", "week", "month"]

PERIODS = (7, 30, 90, 365)  # days, today among them
DEFAULT_PERIOD = 30
LONGEST_PERIOD = 3660  # days; ours: ten years of daily points are as many as a screen can use
_LANGUAGE = re.compile(r"[a-z]{2,3}|unknown")
# Ours: stories don't add up, so each period is counted apart, for each part of a chart; those
# of a longer time are counted by week, and where they are parted by month.
MOST_DAYS_OF_STORIES = 100
LAST_PAGE = 200
LONGEST_VALUE = 200  # characters


class FilterError(ValueError):
    """An address that asks for something that can't be meant: one line that says what instead."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """What a page is about. `days` is set where the period is one of the last so many days."""

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

    @property
    def scope(self) -> Scope:
        return Scope(
            since=self.since,
            until=self.until,
            source=self.source,
            language=self.language,
            country=self.country,
            zone=self.zone,
            now=self.now,
        )

    @property
    def length(self) -> int:
        """Days, both ends included."""
        return (self.until - self.since).days + 1

    @property
    def before(self) -> "Filters":
        """The same question for the period of the same length before this one."""
        span = timedelta(days=self.length)
        return replace(self, since=self.since - span, until=self.until - span, days=None)

    def address(self, **changes: object) -> str:
        """The query string of this question, with changes; what is as usual is left out."""
        values: dict[str, object] = {
            "source": self.source,
            "language": self.language,
            "country": self.country,
        }
        if self.days is None:
            values |= {"since": self.since, "until": self.until}
        elif self.days != DEFAULT_PERIOD:
            values["days"] = self.days
        usual = {"zone": "UTC", "count": "articles", "split": "whole", "by": "day"}
        values |= {
            name: getattr(self, name) for name in usual if getattr(self, name) != usual[name]
        }
        values |= changes
        kept = {name: str(value) for name, value in values.items() if value not in {None, ""}}
        return f"?{urlencode(kept)}" if kept else ""


def read_filters(query: Mapping[str, str], now: datetime | None = None) -> Filters:
    """Return the filters of an address's query, asked `now`; raise FilterError."""
    now = now or datetime.now(UTC)
    values = {name: value.strip() for name, value in query.items() if value.strip()}
    for name, value in values.items():
        if len(value) > LONGEST_VALUE or "\0" in value:
            raise FilterError(f"{name} is no value that can be meant")
    zone = _zone(values.get("zone", "UTC"))
    since, until, days = _period(values, now.astimezone(ZoneInfo(zone)).date())
    language = values.get("language", "").lower() or None
    if language and not _LANGUAGE.fullmatch(language):
        raise FilterError(f"language {language!r} is no language: write its code, as in de")
    count: Count = _choice(values, "count", get_args(Count))
    split: Split = _choice(values, "split", get_args(Split))
    by: Step = _choice(values, "by", get_args(Step))
    if count == "stories" and (until - since).days >= MOST_DAYS_OF_STORIES and by != "month":
        by = "week" if split == "whole" else "month"
    return Filters(
        since=since,
        until=until,
        days=days,
        source=values.get("source"),
        language=language,
        country=values.get("country", "").lower() or None,
        zone=zone,
        count=count,
        split=split,
        by=by,
        page=_page(values.get("page", "1")),
        now=now,
    )


def _period(values: Mapping[str, str], today: date) -> tuple[date, date, int | None]:
    if "since" not in values and "until" not in values:
        days = _days(values.get("days", str(DEFAULT_PERIOD)))
        return today - timedelta(days=days - 1), today, days
    until = _day(values["until"], "until") if "until" in values else today
    since = _day(values["since"], "since") if "since" in values else until
    if "since" not in values:
        since = until - timedelta(days=min(DEFAULT_PERIOD - 1, (until - date.min).days))
    if since > until:
        raise FilterError(f"the first day, {since}, lies after the last, {until}: swap them")
    if (until - since).days >= LONGEST_PERIOD:
        raise FilterError(f"a period of over {LONGEST_PERIOD} days: choose a shorter one")
    if until >= date.max - timedelta(days=LONGEST_PERIOD) or since.year < 1000:
        raise FilterError("no such time in the news: choose other days")
    # Nobody can have looked at days to come.
    return since, min(until, max(since, today)), None


@cache
def _zones() -> Sequence[str]:
    """All time zones that this machine knows."""
    return sorted(available_timezones())


def _zone(text: str) -> str:
    zone, near = match(text.replace(" ", "_"), _zones())
    if zone is None:
        advice = f"did you mean {' or '.join(near)}?" if near else "write it as Europe/Berlin"
        raise FilterError(f"zone {text!r} is no time zone: {advice}")
    return zone


def _days(text: str) -> int:
    if not re.fullmatch(r"[0-9]{1,4}", text) or not 1 <= int(text) <= LONGEST_PERIOD:
        raise FilterError(f"days {text!r}: write a number from 1 to {LONGEST_PERIOD}")
    return int(text)


def _page(text: str) -> int:
    if not re.fullmatch(r"[0-9]{1,3}", text) or not 1 <= int(text) <= LAST_PAGE:
        raise FilterError(f"page {text!r}: write a number from 1 to {LAST_PAGE}")
    return int(text)


def _day(text: str, name: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise FilterError(f"{name} {text!r} is no day: write it as 2026-11-01") from None


def _choice(values: Mapping[str, str], name: str, choices: Sequence[Any]) -> Any:
    value = values.get(name, choices[0])
    if value not in choices:
        raise FilterError(f"{name} {value!r}: choose among {', '.join(choices)}")
    return value
