"""The JSON of the API: what `storage.queries` gives back, field by field."""

from datetime import date, datetime
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field


class _Answer(BaseModel):
    model_config = ConfigDict(from_attributes=True)


class Reach(_Answer):
    """What was looked at; level is full, partial or none."""

    read: Annotated[int, Field(description="articles that count")]
    covered: Annotated[int, Field(description="source-days that were read")]
    expected: Annotated[int, Field(description="source-days that were to be read")]
    unwatched: Annotated[int, Field(description="days before any source was crawled")]
    level: str


class Hits(_Answer):
    """Mentions; stories only where they were asked for."""

    articles: int
    limited: Annotated[int, Field(description="of them headline and standfirst only")]
    in_title: Annotated[int, Field(description="occurrences in headlines")]
    in_body: Annotated[int, Field(description="occurrences in texts")]
    mentions: int
    stories: int | None


class Count(_Answer):
    """A period's or group's numbers; hits are null where nobody looked."""

    key: str
    hits: Hits | None
    reach: Reach


class Standing(_Answer):
    """A company's place; change is the growth of articles against the period before."""

    company: str
    hits: Hits
    before: Hits | None
    change: float | None
    spark: list[int | None]


class Overview(_Answer):
    """The companies by articles; each spark has a number for each of the days."""

    days: list[date]
    reach: Reach
    before: Reach
    companies: list[Standing]


class Share(_Answer):
    """A company's share among those that are compared."""

    key: str | None
    company: str
    number: int | None
    share: float | None


class CoMention(_Answer):
    """A company that is named in the same articles."""

    company: str
    articles: int
    stories: int
    share: float


class Snippet(_Answer):
    """Text of strangers, not HTML; marks are starts and ends in its characters."""

    section: str
    text: str
    marks: list[tuple[int, int]]


class Article(_Answer):
    """An article as lists show it."""

    url: str
    title: str | None
    source: str
    day: date
    published_at: datetime | None
    language: str | None
    access: str
    kind: str
    revision: int
    companies: list[str]
    in_title: int
    in_body: int
    story: int | None


class FoundArticle(_Answer):
    """An article and the places that made it be found."""

    article: Article
    snippets: list[Snippet]


class Mention(_Answer):
    """A company at a place of the title or the text."""

    company: str
    section: str
    start: int
    end: int
    surface: str
    rule: str


class FullArticle(_Answer):
    """An article in full."""

    row: Article
    text: str
    authors: list[str]
    section: str | None
    modified_at: datetime | None
    first_seen_at: datetime
    last_seen_at: datetime
    method: str
    confidence: float
    mentions: list[Mention]
    addresses: list[str]
    copies: list[Article]
    clutter: list[tuple[str, int]]


class DiffLine(_Answer):
    """A headline or sentence: same, added or removed."""

    change: str
    text: str


class QuarantinedRevision(_Answer):
    """A version that would make its article worse; before and after are characters of text."""

    id: int
    url: str
    source: str
    day: date
    title: str | None
    new_title: str | None
    reason: str
    note: str
    before: int
    after: int
    since: datetime
    seen_at: datetime
    times: int


class Version(_Answer):
    """A version of an article, and the companies that it names more or less often."""

    number: int
    title: str | None
    text: str
    access: str
    seen_at: datetime
    replaced_at: datetime | None
    diff: list[DiffLine]
    mentions: list[tuple[str, int]]


class Story(_Answer):
    """One text in several articles."""

    story: int
    title: str | None
    url: str
    articles: int
    sources: int
    first_day: date
    last_day: date


class CoverageDay(_Answer):
    """What became of a source on a day; state is null where no crawl was recorded."""

    source: str
    day: date
    state: str | None
    found: int
    stored: int
    note: str


class Clutter(_Answer):
    """Mentions in menus, teasers and the like, which count for nothing."""

    mentions: int
    pages: int


class Facts(_Answer):
    """How much is in the database."""

    version: str
    rows: dict[str, int]
    first_day: date | None
    last_day: date | None
    last_run: datetime | None


class Fault(BaseModel):
    """What was wrong, and what to do."""

    detail: str
