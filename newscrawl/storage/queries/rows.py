"""What the questions give back: frozen dataclasses, no rows of the database."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Literal

from newscrawl.storage.database import CoverageState

By = Literal["day", "week", "month", "source", "language"]
CoverageLevel = Literal["full", "partial", "none"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """The articles a question is about: days inclusive, a source's slug, an ISO 639-1
    language; None is any."""

    since: date | None = None
    until: date | None = None
    source: str | None = None
    language: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """What was looked at: `read` articles that count, on `covered` of `expected`
    source-days. A source is expected from the first day that a crawl of it was recorded;
    `unwatched` days are those before any source was."""

    read: int = 0
    covered: int = 0
    expected: int = 0
    unwatched: int = 0

    @property
    def level(self) -> CoverageLevel:
        if 0 < self.expected <= self.covered and not self.unwatched:
            return "full"
        return "partial" if self.covered or self.read else "none"

    def __add__(self, other: "Reach") -> "Reach":
        return Reach(
            read=self.read + other.read,
            covered=self.covered + other.covered,
            expected=self.expected + other.expected,
            unwatched=self.unwatched + other.unwatched,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Hits:
    """`articles` with a mention, of them `limited` to headline and standfirst; occurrences
    `in_title` and `in_body` (for limited articles: in the standfirst)."""

    articles: int = 0
    limited: int = 0
    in_title: int = 0
    in_body: int = 0

    @property
    def mentions(self) -> int:
        return self.in_title + self.in_body

    def __add__(self, other: "Hits") -> "Hits":
        return Hits(
            articles=self.articles + other.articles,
            limited=self.limited + other.limited,
            in_title=self.in_title + other.in_title,
            in_body=self.in_body + other.in_body,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class MentionCount:
    """A row of counts. `key` is a day or a week's Monday (2026-11-02), a month (2026-11), a
    source's slug or a language; `hits` is None where nobody looked."""

    key: str
    hits: Hits | None
    reach: Reach


@dataclass(frozen=True, slots=True, kw_only=True)
class CompanyCount:
    """A company's place in the ranking, and the number of sources that name it."""

    company: str
    hits: Hits
    sources: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ArticleRow:
    """An article as a list shows it. `hits` are of the company asked for, else of all."""

    url: str
    title: str | None
    source: str
    day: date
    published_at: datetime | None
    language: str | None
    access: str
    kind: str
    revision: int
    companies: tuple[str, ...]
    in_title: int
    in_body: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CoverageDay:
    """What became of a source on a day; `state` is None where no crawl was recorded."""

    source: str
    day: date
    state: CoverageState | None
    found: int = 0
    stored: int = 0
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class DatabaseFacts:
    """How much stands in the database, over which days, and how fresh it is."""

    version: str
    rows: Mapping[str, int] = field(default_factory=dict)
    first_day: date | None = None
    last_day: date | None = None
    last_run: datetime | None = None
