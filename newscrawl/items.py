"""What travels through the system: a page, its article, the companies mentioned in it.

Frozen dataclasses without behaviour; this module imports nothing of ours.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

Kind = Literal[
    "article", "live", "gallery", "video", "front", "consent", "paywall", "error", "other"
]
Access = Literal["open", "paywalled", "disallowed"]
Section = Literal["title", "body"]
Place = Literal["headline", "body"]
Outcome = Literal["new", "revised", "unchanged", "quarantined"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Hints:
    """What a feed or sitemap said about a page before it was fetched."""

    title: str | None = None
    standfirst: str | None = None
    authors: tuple[str, ...] = ()
    published: datetime | None = None
    section: str | None = None
    language: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Visit:
    """The entry of the queue (newscrawl.storage.frontier) that a page answers.

    `url` is the canonical URL it is queued under, `born` when it was published, as far as we know,
    or else discovered. `first` tells a first answer from a later look at the same page, `failures`
    counts tries since the last answer, `crash_count` the crawls and processes that the page may
    have killed. The validators are those of the last answer.
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
    """A fetched page, or one that may not be fetched and of which only `hints` are known.

    `html` are the bytes of the response body, `encoding` the charset of its HTTP header.
    `final_url` is set where redirects led to another canonical URL than `url`, which was asked
    for. `visit` is None for pages that no crawl has just fetched, such as archived ones.
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
    visit: Visit | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Article:
    """What was taken out of a page.

    `text` is the body without the title, its `paragraphs` joined by a blank line.
    `published` and `modified` are aware datetimes. `paywalled` is None where the page
    does not say. `language` is ISO 639-1. `confidence` lies in [0, 1].
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
    """What the pages of a source have in common (newscrawl.extraction.template_memory).

    `seen` tells on how many of the `pages` a block's text stood, by its fingerprint; both counts
    are aged.
    """

    pages: int = 0
    seen: Mapping[int, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class RobotsPolicy:
    """What a host's robots.txt said when it was last read.

    `origin` is scheme, host and port, as in "https://www.ft.com". `rules` are the bytes of the
    file, none where the server has no such file; `status` tells the two apart.
    """

    origin: str
    status: int
    rules: bytes
    fetched_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Mention:
    """A company named in an article.

    `start` and `end` are character offsets into the article's title or text,
    whichever `section` says. `rule` names what found it (docs/mentions.md).
    """

    company: str
    surface: str
    start: int
    end: int
    section: Section
    rule: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Barrier:
    """The page that stood where an article was to be: a consent page, or a paywall.

    `title` is that page's own headline; `declared` says that it tells machines it is an article to
    be paid for.
    """

    kind: Kind
    title: str | None = None
    declared: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """A source that an article may come from, as it is registered where it isn't yet."""

    slug: str
    name: str
    country: str
    language: str
    home: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A page on its way through the pipelines: with its article, then with mentions.

    `searched` is the article in which companies were looked for: where it is not this one, they
    must be looked for again. `rest` is the text of the page outside the article, until companies
    were looked for in it; `boilerplate` are those found there, each with the number of its
    occurrences: in menus, teasers and the like, which count for nothing. `blocks` are
    the fingerprints of the page's texts, from which its source's memory learns. `barrier` is what
    was found on a page of which only the feed's words became the article.
    """

    page: Page
    article: Article
    mentions: tuple[Mention, ...] = ()
    searched: Article | None = field(default=None, compare=False, repr=False)
    boilerplate: tuple[tuple[str, int], ...] = ()
    blocks: tuple[int, ...] = ()
    rest: str = ""
    barrier: Barrier | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MentionItem:
    """A company named in an exported article: `form` is what stands there, from `start` to `end`
    of the headline or of the text, whichever `place` says."""

    company: str
    form: str
    start: int
    end: int
    place: Place
    rule: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ArticleItem:
    """What the last pipeline gives to feed exports (docs/scrapy.md): an article with its mentions.

    `url` is the address that was asked for, `canonical_url` the one that the article is known by.
    `run` and `outcome` tell what storage made of it, and are None where nothing is stored.
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
