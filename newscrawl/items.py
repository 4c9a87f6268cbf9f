"""The data that the system passes on: page, article, mentions; and companies.

All are frozen dataclasses without behaviour; this module imports no other module of newscrawl.
`copy_fields` makes one from another object, for instance a row of a table.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import date, datetime
from functools import cache
from typing import Any, Literal, TypeVar, cast

Made = TypeVar("Made")


def copy_fields(kind: type[Made], original: object, /, **values: Any) -> Made:
    """Return a dataclass whose fields are `values`, and else the attributes of `original` with
    their names."""
    names = (name for name in _field_names(cast("Any", kind)) if name not in values)
    return kind(**{name: getattr(original, name) for name in names}, **values)


@cache
def _field_names(kind: type[Any]) -> tuple[str, ...]:
    return tuple(part.name for part in fields(kind))


Kind = Literal[
    "article", "live", "gallery", "video", "front", "consent", "paywall", "error", "other"
]
# Why only headline and introduction of an article may be read: a paywall, robots.txt, or the site
# refuses the page (HTTP 403), or the page shows something else, such as a request to enable
# JavaScript ("unreadable"). Articles that a 403 refused before this was told apart are
# "disallowed" in the database.
Withheld = Literal["paywalled", "disallowed", "refused", "unreadable"]
Access = Literal["open", Withheld]
Section = Literal["title", "body"]
Place = Literal["headline", "body"]
Outcome = Literal["new", "revised", "unchanged", "quarantined", "gone"]
Period = Literal["hour", "day", "week", "month", "quarter", "year"]
# "group" is a group of sources.
Group = Literal["source", "country", "language", "section", "group"]
By = Literal[Period, Group]
# The key of articles whose language or section is not known.
UNKNOWN = "unknown"
# Units of counts: articles with a mention, occurrences, or stories (near copies count once).
Measure = Literal["articles", "mentions", "stories"]
# Why an article or a mention is in no number (`storage.queries.LeftOut`).
Reason = Literal["boilerplate", "doubtful", Withheld, "corrected", "kind"]
# What a proof is of: a measure, the mentions of a place, all articles that were read, or what is
# left out for a reason.
Counted = Literal[Measure, Place, "read", Reason]


@dataclass(frozen=True, slots=True, kw_only=True)
class CompanyStructure:
    """Owners and groups of the companies of a registry, by name.

    `parents` has the owner of each brand and subsidiary, `groups` the companies of each group.
    `owned` are the first and the last day on which a company belonged to its owner, None for an
    open end; without them it always does. `spellings` are the names of each company, also those
    that need support in an article.
    """

    parents: Mapping[str, str] = field(default_factory=dict)
    owned: Mapping[str, tuple[date | None, date | None]] = field(default_factory=dict)
    groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    spellings: Mapping[str, tuple[str, ...]] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceCatalog:
    """The groups of the registered sources, by slugs."""

    groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Versions:
    """The versions in use now, or when an article was stored, "" if unknown: of newscrawl, and
    digests of the files of companies and of the models of extraction."""

    program: str = ""
    companies: str = ""
    extraction: str = ""

    @property
    def summary(self) -> str:
        """Return what is known, in one line."""
        program = f"newscrawl {self.program}, models {self.extraction}"
        description = program if self.program else "a version of newscrawl that is not known"
        return f"{description}, companies {self.companies}" if self.companies else description


@dataclass(frozen=True, slots=True, kw_only=True)
class Hints:
    """The data of a page in a feed or sitemap.

    `of_change` tells that `published` may be the time of a change, or of the listing itself.
    """

    title: str | None = None
    standfirst: str | None = None
    authors: tuple[str, ...] = ()
    published: datetime | None = None
    section: str | None = None
    language: str | None = None
    of_change: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchAttempt:
    """An attempt to fetch a page of the frontier (newscrawl.storage.frontier).

    `url` is the canonical URL in the frontier, `born` the time of publication, or of discovery if
    that is not known. `first` is False for a revisit; `failures` counts failed attempts since the
    last response, `crash_count` the crawls and processes that the page may have crashed. The
    validators are those of the last response.
    """

    queue_id: int
    url: str
    born: datetime
    first: bool = True
    failures: int = 0
    crash_count: int = 0
    etag: str | None = None
    last_modified: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A fetched page, or a page that must not be fetched and has only `hints`.

    `html` are the bytes of the response body, `encoding` the charset of its HTTP header.
    `final_url` is set if redirects led to another canonical URL than `url`. `attempt` is None for
    pages from other places than a crawl, such as archives.
    """

    url: str
    source: str
    html: bytes = field(repr=False)
    fetched_at: datetime
    encoding: str | None = None
    language: str | None = None
    status: int = 200
    access: Access = "open"
    hints: Hints = field(default_factory=Hints)
    final_url: str | None = None
    attempt: FetchAttempt | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Article:
    """The article extracted from a page.

    `text` is the body without the title, its `paragraphs` joined by a blank line.
    `published` and `modified` are aware datetimes. `paywalled` is None if the page does not say.
    `language` is ISO 639-1. `confidence` is between 0 and 1.
    """

    url: str | None = None
    title: str | None = None
    text: str = ""
    paragraphs: tuple[str, ...] = ()
    authors: tuple[str, ...] = ()
    published: datetime | None = None
    modified: datetime | None = None
    language: str | None = None
    section: str | None = None
    site_name: str | None = None
    image: str | None = None
    paywalled: bool | None = None
    kind: Kind = "article"
    method: str = "combined"
    confidence: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """The repeated texts of a source's pages (newscrawl.extraction.template_memory).

    `seen` is the number of `pages` with a text, by its fingerprint; both counts are aged.
    """

    pages: int = 0
    seen: Mapping[int, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class RobotsPolicy:
    """The robots.txt of a host when it was last read.

    `origin` is scheme, host and port, as in "https://www.ft.com". `rules` are the bytes of the
    file; they are also empty if the server has no such file, which `status` shows.
    """

    origin: str
    status: int
    rules: bytes
    fetched_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Mention:
    """A company named in an article.

    `start` and `end` are character offsets into the article's title or text,
    depending on `section`. `rule` is the rule that found it, `score` the probability that it is
    right (docs/mentions.md), which comparisons ignore; None if it was stored before there were
    scores.
    """

    company: str
    surface: str
    start: int
    end: int
    section: Section
    rule: str = ""
    score: float | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class UnregisteredName:
    """A name of an organisation that no registry lists, with a sentence of the article."""

    name: str
    sentence: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Barrier:
    """A page shown instead of an article: a consent page, a paywall, or another page.

    `title` is the headline of that page; `declared` is whether it declares a paid article in its
    metadata; `redirected_to` is the address of the other page to which the article's redirects.
    """

    kind: Kind
    title: str | None = None
    declared: bool = False
    redirected_to: str | None = None


@dataclass(frozen=True, slots=True)
class Origin:
    """What the database stores of a source."""

    slug: str
    name: str
    country: str
    language: str
    home: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A page in the pipelines: with its article, then with mentions.

    `searched` is the article in which companies were searched; if it differs from `article`, they
    must be searched again. `unregistered` are names of organisations that no registry lists.
    `rest` is the text of the page outside the article, until companies were searched in it;
    `boilerplate` are these companies with their numbers of occurrences, which don't count as
    mentions. `blocks` are the fingerprints of the page's texts for the template memory.
    `barrier` is the page shown instead of an article whose text comes from the feed.
    """

    page: Page
    article: Article
    mentions: tuple[Mention, ...] = ()
    unregistered: tuple[UnregisteredName, ...] = ()
    searched: Article | None = field(default=None, compare=False, repr=False)
    boilerplate: tuple[tuple[str, int], ...] = ()
    blocks: tuple[int, ...] = ()
    rest: str = ""
    barrier: Barrier | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MentionItem:
    """A mention in an exported article: `form` are the characters from `start` to `end` of the
    headline or text, depending on `place`."""

    company: str
    form: str
    start: int
    end: int
    place: Place
    rule: str = ""
    score: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ArticleItem:
    """An article with its mentions for feed exports (docs/scrapy.md).

    `url` is the requested URL, `canonical_url` the one that identifies the article. `run` and
    `outcome` come from the storage pipeline and are None without it.
    """

    url: str
    canonical_url: str
    source: str
    title: str | None = None
    text: str = ""
    authors: tuple[str, ...] = ()
    published: datetime | None = None
    modified: datetime | None = None
    language: str | None = None
    section: str | None = None
    access: Access = "open"
    kind: Kind = "article"
    confidence: float = 0.0
    mentions: tuple[MentionItem, ...] = ()
    fetched_at: datetime | None = None
    run: int | None = None
    outcome: Outcome | None = None
