"""What questions about articles give back: frozen dataclasses, no rows of the database."""

from dataclasses import dataclass
from datetime import date, datetime
from typing import Literal

from newscrawl.items import Section


@dataclass(frozen=True, slots=True, kw_only=True)
class ArticleRow:
    """An article as a list shows it. `in_title` and `in_body` count occurrences of the company
    asked for, else of all. `number` is the article's in this database, `story` its story's."""

    number: int
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
    story: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Snippet:
    """A piece of an article, in plain text written by strangers: escape it before it is shown.

    `marks` are the start and end, in characters of `text`, of what was asked for.
    """

    section: Section
    text: str
    marks: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundArticle:
    """An article with the places that made it be found, headline first."""

    article: ArticleRow
    snippets: tuple[Snippet, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class StoryRow:
    """A story: the same text, with small edits, in `articles` articles of `sources` sources from
    `first_day` to `last_day`. `title` and `url` are those of its first article in scope."""

    story: int
    title: str | None
    url: str
    articles: int
    sources: int
    first_day: date
    last_day: date


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkedMention:
    """A company at a place of an article; offsets count characters of its title or text."""

    company: str
    section: Section
    start: int
    end: int
    surface: str
    rule: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ArticlePage:
    """An article in full. `addresses` are all URLs it was met under, `copies` the other articles
    of its story, `clutter` the companies named elsewhere on its page, which count for nothing."""

    row: ArticleRow
    text: str
    authors: tuple[str, ...]
    section: str | None
    modified_at: datetime | None
    first_seen_at: datetime
    last_seen_at: datetime
    method: str
    confidence: float
    mentions: tuple[MarkedMention, ...]
    addresses: tuple[str, ...]
    copies: tuple[ArticleRow, ...]
    clutter: tuple[tuple[str, int], ...]


Change = Literal["same", "added", "removed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class DiffLine:
    """A sentence or headline of a version, against the version before."""

    change: Change
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """A version of an article: number 1 is the first seen, the last one is today's.

    `replaced_at` is None for today's. `diff` is against the version before (all "added" for the
    first), the headline first. `mentions` are the companies whose number of occurrences changed
    with this version, with the difference.
    """

    number: int
    title: str | None
    text: str
    access: str
    seen_at: datetime
    replaced_at: datetime | None
    diff: tuple[DiffLine, ...]
    mentions: tuple[tuple[str, int], ...]
