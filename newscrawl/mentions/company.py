"""A company of the registry, and the error for a faulty companies file."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, timedelta
from functools import partial
from types import MappingProxyType
from typing import Any, Literal

# Where an entry comes from: the bundled registry, a file of one's own, or the latter in place of a
# bundled one.
Origin = Literal["bundled", "own", "override"]


class CompaniesError(ValueError):
    """A fault in a companies file: place, fault and advice in one line."""

    def __init__(self, fault: str, advice: str, *, file: str, line: int | None = None) -> None:
        self.file = file
        self.line = line
        self.fault = fault
        self.advice = advice
        place = f"{file}, line {line}" if line else file
        super().__init__(f"{place}: {fault}; {advice}")

    def __reduce__(self) -> tuple[Any, ...]:
        """Keep the attributes when pickled."""
        make = partial(CompaniesError, file=self.file, line=self.line)
        return make, (self.fault, self.advice)


# What an entry is. A joint venture's parent is one of several, so it does not count for it.
KINDS = ("company", "brand", "subsidiary", "affiliate", "joint venture")


# The languages (ISO 639-1) in which news of a country is mostly written.
_LANGUAGES = """
AE ar|AR es|AT de|BA bs hr sr|BE nl fr|BG bg|BO es|BR pt|CH de fr it|CL es|CN zh|CO es|CR es|CY el|
CZ cs|DE de|DK da|DO es|DZ ar fr|EC es|EE et|EG ar|ES es ca|FI fi sv|FO da|FR fr|GR el|HK zh|HR hr|
HU hu|ID id|IL he|IN hi|IT it|JP ja|KR ko|KW ar|KZ ru kk|LB ar|LT lt|LU fr de|LV lv|MA ar fr|MD ro|
MX es|NL nl|NO no nb nn|PA es|PE es|PL pl|PT pt|PY es|QA ar|RO ro|RS sr|RU ru|SA ar|SE sv|SI sl|
SK sk|TH th|TN ar fr|TR tr|TW zh|UA uk ru|UY es|VE es|VN vi
"""
HOME_LANGUAGES = {
    country: frozenset(languages)
    for country, *languages in (part.split() for part in _LANGUAGES.split("|"))
}
# 2012, 2012-09 or 2012-09-06.
_DAY = re.compile(r"\d{4}(?:-\d{2}){0,2}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Company:
    """One entry of the registry.

    `name` and `aliases` count everywhere, unless they are in `ambiguous` too.
    `ambiguous` forms count only with support in the article; where `ambiguous_in` names
    languages (ISO 639-1), only in articles of those and of unknown language. `local` are those of
    its forms that are searched only in articles in the languages of its country. `exclude` are
    phrases that contain a form and are not the company, `context` words whose nearness
    supports an ambiguous form; in both "*" stands for any letters. `stems` are forms that
    are declined, "*" marking the place of an ending. `tickers` are symbols, with or without
    their exchange ("NASDAQ:MSFT"). `outlets` are the hosts and names of what a publisher
    publishes ("nytimes.com", "Sky News"). `facts` holds every other key of the entry as text.
    `origin` says which file the entry comes from.
    """

    name: str
    aliases: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    ambiguous: tuple[str, ...] = ()
    ambiguous_in: tuple[str, ...] = ()
    local: tuple[str, ...] = ()
    context: tuple[str, ...] = ()
    stems: tuple[str, ...] = ()
    tickers: tuple[str, ...] = ()
    outlets: tuple[str, ...] = ()
    facts: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    origin: Origin = "own"

    @property
    def owner(self) -> str | None:
        """Return the name of the entry that owns this one, None for joint ventures."""
        return None if self.facts.get("kind") == "joint venture" else self.facts.get("parent")

    @property
    def tenure(self) -> tuple[date | None, date | None]:
        """Return the first and the last day on which the company belongs to its owner, by `since`
        and `until`; None if the registry has none. Raise ValueError for a value that is not
        a day, a month or a year."""
        since, until = self.facts.get("since"), self.facts.get("until")
        return (since and _days(since)[0]) or None, (until and _days(until)[1]) or None

    @property
    def certain(self) -> tuple[str, ...]:
        """Return the forms that count without support."""
        doubtful = set(self.ambiguous)
        return tuple(form for form in (self.name, *self.aliases) if form not in doubtful)


def _days(text: str) -> tuple[date, date]:
    """Return the first and the last day of a day, month or year."""
    if not _DAY.fullmatch(text):
        raise ValueError(f"{text!r} is not a day")
    year, month, day = (int(part) for part in f"{text}-0-0".split("-")[:3])
    first = date(year, month or 1, day or 1)
    if day:
        return first, first
    after = date(year + 1, 1, 1) if month in {0, 12} else date(year, month + 1, 1)
    return first, after - timedelta(days=1)
