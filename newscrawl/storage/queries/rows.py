"""What the questions give back: frozen dataclasses, no rows of the database."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from typing import Literal

from newscrawl.storage.database import CoverageState

Period = Literal["hour", "day", "week", "month", "quarter", "year"]
Group = Literal["source", "country", "language", "section"]
By = Literal[Period, Group]
# What is counted: articles, occurrences in them, or stories that many articles may tell.
Measure = Literal["articles", "mentions", "stories"]
CoverageLevel = Literal["full", "partial", "none"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """The articles a question is about; None is any.

    `since` and `until` are days, both included, of the IANA time zone `zone`. `source` is a
    slug, `country` ISO 3166-1 alpha-2 and that of the source, `language` ISO 639-1 and that of
    the article, `section` the publisher's own word. `now` is the moment of the question, which
    decides what has begun by then; None is the moment at which the question is asked.
    """

    since: date | None = None
    until: date | None = None
    source: str | None = None
    language: str | None = None
    country: str | None = None
    section: str | None = None
    zone: str = "UTC"
    now: datetime | None = field(default=None, compare=False)

    def at_now(self) -> "Scope":
        """Return the scope with `now` set, so that all parts of a question share one moment."""
        return self if self.now else replace(self, now=datetime.now(UTC))


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
    `in_title` and `in_body` (for limited articles: in the standfirst).

    `stories` that these articles tell, or None where that was not asked for. Stories don't add
    up: one that is told on two days counts on each, and once for both.
    """

    articles: int = 0
    limited: int = 0
    in_title: int = 0
    in_body: int = 0
    stories: int | None = None

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
    """A row of counts; `hits` is None where nobody looked.

    `key` is an hour (2026-11-02T13:00+01:00), a day or a week's Monday (2026-11-02), a month
    (2026-11), a quarter (2026-Q4), a year, a source's slug, a country, a language or a section.
    """

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
class Share:
    """A company's share among those it is compared with, in the period `key`, or over the whole
    scope (None). `number` counts what was asked for; it is None where nobody looked, and `share`
    (0 to 1) also where none of the companies was named."""

    key: str | None
    company: str
    number: int | None
    share: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CoMention:
    """A company named in the same articles: `articles` and `stories` that name both, and their
    `share` (0 to 1) of the articles of the company that was asked for."""

    company: str
    articles: int
    stories: int
    share: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """A company's line in the overview.

    `before` are the hits of the same number of days right before the scope, None where nobody
    looked then; `change` is the growth of articles against them (0.5: half as many again), None
    where there is nothing to compare with. `spark` are articles by day, None in gaps.
    """

    company: str
    hits: Hits
    before: Hits | None
    change: float | None
    spark: tuple[int | None, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Overview:
    """Who was in the news from day to day: `days` are those of each `spark`."""

    days: tuple[date, ...]
    reach: Reach
    before: Reach
    companies: tuple[Standing, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Clutter:
    """What was left out: `mentions` in menus, teasers and other parts of the pages that are not
    the article, on `pages` pages. None of them is in any other count."""

    mentions: int = 0
    pages: int = 0


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
