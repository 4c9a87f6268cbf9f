"""The way of an archived page in one process: from its capture to a document with mentions."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

from w3lib.encoding import http_content_type_encoding

from newscrawl.archive.captures import MAX_BYTES, ArchiveError, Capture, ContentError, content_of
from newscrawl.archive.origins import OriginFinder
from newscrawl.archive.reading import WarcReader
from newscrawl.archive.registries import bundled_sources, companies_of
from newscrawl.archive.selection import Selection, is_page
from newscrawl.items import Document, Hints, Origin, Page
from newscrawl.mentions import with_mentions
from newscrawl.reading import NoArticleError, PageReader
from newscrawl.sources import UrlError, canonical_url, load_sources
from newscrawl.storage.documents import Record, record_of
from newscrawl.storage.errors import UnstorableDocument


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """How pages are read; it can be sent to another process."""

    reader: PageReader
    selection: Selection = field(default_factory=Selection)
    companies: Path | None = None
    sources: Path | None = None
    max_bytes: int = MAX_BYTES


@dataclass(frozen=True, slots=True)
class Part:
    """The records of a file that begin in [start, stop)."""

    path: Path
    start: int
    stop: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """What a part gave. Its records lie in [first, position); `counts` says what became of them."""

    records: Sequence[Record] = ()
    origins: Sequence[Origin] = ()
    counts: Counter[str]
    first: int
    position: int


class Line:
    """Reads pages by a recipe."""

    def __init__(self, recipe: Recipe) -> None:
        self._recipe = recipe
        # Archives teach no memory: who reads them anew would learn the same pages twice.
        self._reader = replace(recipe.reader, teaches=False)
        self._companies = companies_of(recipe.companies)
        own = load_sources(recipe.sources) if recipe.sources else ()
        self._finder = OriginFinder((*own, *bundled_sources()))

    def page(self, capture: Capture, hints: Hints | None = None) -> Page:
        """The page in a capture; raises UrlError and ContentError where there is none."""
        url = canonical_url(capture.url)
        source = self._finder.source(url)
        languages = source.languages if source else ()
        return Page(
            url=url,
            source=self._finder.origin(url).slug,
            html=content_of(capture, limit=self._recipe.max_bytes),
            fetched_at=capture.fetched_at,
            encoding=http_content_type_encoding(capture.header("content-type")),
            language=languages[0] if len(languages) == 1 else None,
            status=capture.status,
            hints=hints or Hints(),
        )

    def document(self, page: Page) -> Document:
        """The page's article with its mentions, without the page's bytes; NoArticleError."""
        document = with_mentions(self._reader.read(page), self._companies)
        # The page's bytes are of no further use, and cost the way to whoever stores.
        return replace(document, page=replace(document.page, html=b""), rest="")

    def origin(self, document: Document) -> Origin:
        """The source of a document."""
        return self._finder.origin(document.page.url, document.article.language)

    def batch(self, part: Part) -> Batch:
        """All that is wanted of a part."""
        reader = WarcReader(part.path, part.start, part.stop, max_bytes=self._recipe.max_bytes)
        counts: Counter[str] = Counter()
        records: list[Record] = []
        origins: dict[Origin, None] = {}  # in the order in which they were met
        for place in reader:
            outcome = self._taken(place.capture)
            if isinstance(outcome, str):
                counts[outcome] += 1
                continue
            counts["articles"] += 1
            try:
                records.append(_ready(outcome))
            except UnstorableDocument:
                counts["unstorable"] += 1
            else:
                origins[self.origin(outcome)] = None
        counts.update(records=reader.records, damaged=reader.damaged, too_large=reader.too_large)
        return Batch(
            records=records,
            origins=tuple(origins),
            counts=+counts,
            first=reader.first,
            position=reader.position,
        )

    def _taken(self, capture: Capture) -> Document | str:
        """The document in a capture, or the word under which it is counted instead."""
        if not is_page(capture):
            return "no_page"
        if not self._recipe.selection.may_want(capture):
            return "unwanted"
        try:
            document = self.document(self.page(capture))
        except (UrlError, ContentError, MemoryError):
            return "damaged"
        except NoArticleError:
            return "no_article"
        return document if self._recipe.selection.wants(document) else "unwanted"


def _ready(document: Document) -> Record:
    """What is to be stored of a document, with all that can be known of it beforehand."""
    record = record_of(document)
    _ = record.wording.sketch
    return record


@cache
def line_of(recipe: Recipe) -> Line:
    """The line of this process: its data are read once."""
    return Line(recipe)


def read_part(recipe: Recipe, part: Part) -> Batch | ArchiveError:
    """What a worker does: all that is wanted of a part, or why its file can't be read."""
    try:
        return line_of(recipe).batch(part)
    except ArchiveError as error:
        return error
