"""Ingest WARC files on all cores: read, extract, match, store.

A file is divided into ranges of bytes, its parts. The worker of a part searches for its first
record; the worker of the previous part reports the true offset of that record. If the two differ (a
page may contain text like a record), the part is read again from the true offset, so that no page
can forge a record.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from functools import cache, partial
from hashlib import sha256
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from w3lib.encoding import http_content_type_encoding

from newscrawl.archive import ArchiveError
from newscrawl.archive.dataset import Dataset
from newscrawl.archive.remote import ArchiveFile, open_file, size_of
from newscrawl.archive.warc import MAX_BYTES, Capture, ContentError, WarcReader, decoded_body
from newscrawl.cluster import Workers, open_pool
from newscrawl.extraction.template_memory import templates
from newscrawl.items import Document, Hints, Origin, Page, copy_fields
from newscrawl.mentions import Companies, load_companies, with_mentions
from newscrawl.reading import NoArticleError, PageReader, versions_of
from newscrawl.sources import Source, UrlError, canonical_url, load_sources, site_name
from newscrawl.sources.urls import host_slug, registered_domain
from newscrawl.storage import Database, UnstorableDocument
from newscrawl.storage.batch import IngestionWriter
from newscrawl.storage.documents import Record, record_of
from newscrawl.storage.saved_state import Step, memories

# The module that worker processes are forked with; it loads the data of page processors.
PRELOAD = "newscrawl.archive.worker_preload"
_PAGES = {"", "text/html", "application/xhtml+xml"}


@dataclass(frozen=True, slots=True, kw_only=True)
class PageFilter:
    """A filter by languages (ISO 639-1), hosts with their subdomains, first and last day.

    Empty fields match all pages. The day is that of publication, or of the capture if the page
    gives none.
    """

    languages: frozenset[str] = frozenset()
    hosts: frozenset[str] = frozenset()
    since: date | None = None
    until: date | None = None

    def as_json(self) -> Mapping[str, object]:
        """Return the filter as JSON values; equal filters give equal values."""
        return {
            "languages": sorted(self.languages),
            "hosts": sorted(self.hosts),
            "since": self.since and self.since.isoformat(),
            "until": self.until and self.until.isoformat(),
        }

    def has_host(self, url: str) -> bool:
        """Return whether the URL belongs to one of the hosts."""
        if not self.hosts:
            return True
        labels = (urlsplit(url).hostname or "").split(".")
        return any(".".join(labels[start:]) in self.hosts for start in range(len(labels)))

    def may_match(self, capture: Capture) -> bool:
        """Return whether the page may match: none is published after its capture."""
        early = self.since and capture.fetched_at.astimezone(UTC).date() < self.since
        return not early and self.has_host(capture.url)

    def matches(self, document: Document) -> bool:
        """Return whether the article matches."""
        article = document.article
        if self.languages and article.language not in self.languages:
            return False
        day = (article.published or document.page.fetched_at).astimezone(UTC).date()
        return (self.since is None or day >= self.since) and (
            self.until is None or day <= self.until
        )


def is_page(capture: Capture) -> bool:
    """Return whether the capture is a successful response with an HTML page."""
    return capture.status == 200 and capture.media_type in _PAGES


# ISO 3166's code of an unknown country, ISO 639's of an undetermined language.
_NO_COUNTRY = "zz"
_NO_LANGUAGE = "und"


class OriginFinder:
    """Find the source of a URL by its host, or else by the registered domain of the host."""

    def __init__(self, sources: Iterable[Source]) -> None:
        self._sources: dict[str, Source] = {}
        by_domain: dict[str, Source] = {}
        # If sources share a host, the host's other pages belong to the source of its front page.
        for source in sorted(sources, key=lambda source: len(urlsplit(source.home).path)):
            site = site_name(source.home)
            for url in source.urls:
                # Feeds hosted by a service don't identify the site.
                if url == source.home or (site and site_name(url) == site):
                    self._sources.setdefault(_host(url), source)
            if domain := registered_domain(source.home):
                by_domain.setdefault(domain, source)
        self._by_domain = by_domain

    def source(self, url: str) -> Source | None:
        """Return the registered source of a URL, or None."""
        source = self._sources.get(_host(url))
        if source is None:
            source = self._by_domain.get(registered_domain(url) or "")
        return source

    def origin(self, url: str, language: str | None = None) -> Origin:
        """Return the source of a URL; one that is not registered is named by its host.

        `language` is that of the page. Raises UrlError if the host can't name a source.
        """
        source = self.source(url)
        if source is None:
            host = host_slug(url)
            parts = urlsplit(url)
            return Origin(
                slug=host,
                name=host,
                country=_NO_COUNTRY,
                language=language or _NO_LANGUAGE,
                home=f"{parts.scheme}://{parts.netloc}/",
            )
        return copy_fields(Origin, source, language=source.languages[0])


def _host(url: str) -> str:
    try:
        return (urlsplit(url).hostname or "").removeprefix("www.")
    except ValueError:
        return ""


@cache
def companies_from(path: Path | None) -> Companies:
    """Return the bundled companies and those of a file; loaded once. Raises CompaniesError."""
    return load_companies(path)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadingConfig:
    """How to read archived pages; it can be pickled. `has_vectors` says whether articles get the
    words of PostgreSQL's search index."""

    reader: PageReader
    page_filter: PageFilter = field(default_factory=PageFilter)
    companies: Path | None = None
    sources: Path | None = None
    max_bytes: int = MAX_BYTES
    has_vectors: bool = False

    @property
    def files(self) -> list[Path]:
        """Return the files of the user's own, which each worker reads."""
        return [file for file in (self.companies, self.sources) if file]


@dataclass(frozen=True, slots=True)
class Part:
    """The records of a file that begin in [start, stop); `is_deadly` if no process survives to
    read their pages."""

    path: ArchiveFile
    start: int
    stop: int
    is_deadly: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class PartResult:
    """The articles of a part. Its records are in [first, position); `counts` has their outcomes."""

    records: Sequence[Record] = ()
    origins: Sequence[Origin] = ()
    counts: Counter[str]
    first: int
    position: int


class PageProcessor:
    """Extracts articles with their mentions from captures."""

    def __init__(self, config: ReadingConfig) -> None:
        self._config = config
        # Reading an archive again would add the same pages to the template memory twice.
        self._reader = replace(config.reader, collects_blocks=False)
        self._companies = companies_from(config.companies)
        added = load_sources(config.sources) if config.sources else ()
        self._finder = OriginFinder((*added, *load_sources()))

    def page(self, capture: Capture, hints: Hints | None = None) -> Page:
        """Return the page of a capture; raises UrlError and ContentError if there is none."""
        url = canonical_url(capture.url)
        source = self._finder.source(url)
        languages = source.languages if source else ()
        return Page(
            url=url,
            source=self._finder.origin(url).slug,
            html=decoded_body(capture, limit=self._config.max_bytes),
            fetched_at=capture.fetched_at,
            encoding=http_content_type_encoding(capture.header("content-type")),
            language=languages[0] if len(languages) == 1 else None,
            status=capture.status,
            hints=hints or Hints(),
        )

    def document(self, page: Page) -> Document:
        """Return the document of a page, without the page's bytes.

        Raises NoArticleError, and ContentError if the page can't be read.
        """
        try:
            document = with_mentions(self._reader.read(page), self._companies)
        except NoArticleError:
            raise
        except Exception as error:  # whatever a hostile page causes costs this page only
            raise ContentError(f"can't read {page.url}: {error!r}") from error
        # The bytes are not needed any more, and sending them to another process takes time.
        return replace(document, page=replace(document.page, html=b""), rest="")

    def origin(self, document: Document) -> Origin:
        """Return the source of a document."""
        return self._finder.origin(document.page.url, document.article.language)

    def process(self, part: Part) -> PartResult:
        """Return the matching articles of a part."""
        reader = WarcReader(part.path, part.start, part.stop, max_bytes=self._config.max_bytes)
        counts: Counter[str] = Counter()
        records: list[Record] = []
        origins: dict[Origin, None] = {}  # in the order of their first record
        if part.is_deadly:
            counts["parts_lost"] = 1
        for entry in reader:
            if part.is_deadly:
                continue  # where the next record begins can be trusted only after these
            outcome = self._document_or_outcome(entry.capture)
            if isinstance(outcome, str):
                counts[outcome] += 1
                continue
            counts["articles"] += 1
            try:
                record = record_of(outcome)
            except UnstorableDocument:
                counts["unstorable"] += 1
                continue
            # The slowest values, which storage needs, are computed here.
            _ = record.wording.sketch
            if self._config.has_vectors:
                _ = record.wording.vector
            records.append(record)
            origins[self.origin(outcome)] = None
        counts.update(records=reader.records, damaged=reader.damaged, too_large=reader.too_large)
        return PartResult(
            records=records,
            origins=tuple(origins),
            counts=+counts,
            first=reader.first,
            position=reader.position,
        )

    def _document_or_outcome(self, capture: Capture) -> Document | str:
        """Return the document of a capture, or the outcome to count if there is none."""
        if not is_page(capture):
            return "no_page"
        if not self._config.page_filter.may_match(capture):
            return "unwanted"
        try:
            document = self.document(self.page(capture))
        except (UrlError, ContentError, MemoryError):
            return "damaged"
        except NoArticleError:
            return "no_article"
        return document if self._config.page_filter.matches(document) else "unwanted"


@cache
def processor_for(config: ReadingConfig) -> PageProcessor:
    """Return the processor of this process; its data are loaded once."""
    return PageProcessor(config)


def process_part(config: ReadingConfig, part: Part) -> PartResult | ArchiveError:
    """Return the matching articles of a part, or the error if its file can't be read."""
    try:
        return processor_for(config).process(part)
    except ArchiveError as error:
        return error


# Ours: about 50 pages, half a second of work and one transaction.
PART_BYTES: Final = 2 * 1024 * 1024
# Ours: bytes that are skipped around a page that crashes its worker.
_MIN_PART_BYTES: Final = 128 * 1024
_IDENTIFYING_BYTES: Final = 64 * 1024


@dataclass(slots=True, kw_only=True)
class FileProgress:
    """Progress of a file: the records before `position` are done, with the outcomes `counts`.

    Both include earlier, interrupted runs. `done_before` is the time at which an earlier run
    finished the file; `problem` is the error that ended the reading.
    """

    path: ArchiveFile
    task: str = ""
    size: int = 0
    position: int = 0
    bytes_read: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    done_before: datetime | None = None
    problem: str = ""

    @property
    def is_open(self) -> bool:
        """Return whether records are left."""
        return not self.problem and (not self.task or self.position < self.size)


class Ingestion:
    """Ingest files with a number of local processes or on a cluster, into a database or Parquet
    files, up to `limit` stored articles (only into a database).

    `on_progress` is called with the bytes and articles done since its last call.
    """

    def __init__(
        self,
        target: Database | Dataset,
        config: ReadingConfig,
        *,
        workers: Workers,
        limit: int | None = None,
        on_progress: Callable[[int, int], None] = lambda _bytes, _articles: None,
    ) -> None:
        self._target: IngestionWriter | Dataset
        if isinstance(target, Database):
            self._target = IngestionWriter(target, "ingested", versions_of(config.companies))
            config = replace(
                with_template_memories(config, target), has_vectors=target.dialect == "postgresql"
            )
        else:
            self._target = target
        self._config = config
        work = partial(process_part, self._config)
        self._workers = open_pool(work, workers, preload=PRELOAD, files=self._config.files)
        self._left = limit
        self._on_progress = on_progress

    def run(self, files: Sequence[ArchiveFile]) -> list[FileProgress]:
        """Ingest the files and return the progress of each. Raises StorageError."""
        states = [FileProgress(path=path) for path in dict.fromkeys(files)]
        by_path = {state.path: state for state in states}
        try:
            parts = (part for state in states for part in self._parts(state))
            for part, result in self._workers.results(parts):
                self._take(by_path[part.path], part, result)
                if self._left == 0:
                    break
        finally:
            self._target.close()
        for state in states:
            if (
                state.task
                and not state.is_open
                and not state.counts["records"]
                and not state.done_before
            ):
                state.problem = state.problem or f"{state.path} holds no WARC record"
        return states

    def _parts(self, state: FileProgress) -> Iterator[Part]:
        """Yield the parts of a file that earlier runs have left."""
        try:
            state.task, state.size = task_of(state.path, self._config), size_of(state.path)
        except OSError as error:
            state.problem = f"can't read {state.path}: {error.strerror}"
            return
        except ArchiveError as error:
            state.problem = str(error)
            return
        done = self._target.progress(state.task)
        state.position, state.counts = done.position, Counter(done.counts)
        state.done_before = done.finished_at
        self._on_progress(done.position, 0)
        start = state.position
        while start < state.size and state.is_open:
            stop = min(start + PART_BYTES, state.size)
            yield Part(state.path, start, stop)
            start = stop

    def _take(
        self,
        state: FileProgress,
        part: Part,
        batch: PartResult | ArchiveError | None,
    ) -> None:
        if part.stop <= state.position or not state.is_open:
            return  # a record that begins before the part extends beyond it
        if isinstance(batch, PartResult) and batch.first != state.position:
            again = Part(part.path, state.position, part.stop)
            batch = self._workers.run_alone(again)
        if batch is None and part.stop - part.start > _MIN_PART_BYTES:
            middle = (part.start + part.stop) // 2
            for start, stop in ((part.start, middle), (middle, part.stop)):
                half = Part(part.path, start, stop)
                self._take(state, half, self._workers.run_alone(half))
            return
        if batch is None:
            # The pages are given up. Their records are read again: a search for the next one at the
            # end of the part may find something that the given-up page itself contains.
            skipped = Part(part.path, state.position, part.stop, is_deadly=True)
            batch = self._workers.run_alone(skipped)
        if batch is None:  # the records themselves are deadly
            counts = Counter(parts_lost=1)
            batch = PartResult(counts=counts, first=state.position, position=part.stop)
        if isinstance(batch, ArchiveError):
            state.problem = str(batch)
            return
        records = batch.records
        is_whole = self._left is None or len(records) <= self._left
        if not is_whole:
            records = records[: self._left]
        counts = state.counts + batch.counts
        counts["articles"] -= len(batch.records) - len(records)

        def step_of(outcomes: Counter[str]) -> Step:
            return Step(
                task=state.task,
                position=batch.position,
                counts=counts + outcomes,
                finished=batch.position >= state.size,
            )

        # If the limit cuts a part off, the next run processes the part again.
        outcomes = self._target.store(records, batch.origins, step_of if is_whole else None)
        state.counts = counts + outcomes
        if is_whole:
            self._on_progress(batch.position - state.position, len(records))
            state.bytes_read += batch.position - state.position
            state.position = batch.position
        if self._left is not None:
            self._left -= len(records)


def task_of(path: ArchiveFile, config: ReadingConfig) -> str:
    """Return the task name of a file: equal for the same file and filter, even in another folder.

    Raises OSError and ArchiveError.
    """
    with open_file(path, _IDENTIFYING_BYTES) as stream:
        head = stream.read(_IDENTIFYING_BYTES)
    facts = {
        "file": path.name,
        "bytes": size_of(path),
        "begins": sha256(head).hexdigest()[:16],
        **config.page_filter.as_json(),
    }
    return f"ingest {json.dumps(facts, sort_keys=True)}"


def with_template_memories(config: ReadingConfig, database: Database) -> ReadingConfig:
    """Return the config with what crawls have learned of each source (`template_memory`)."""
    learned = {slug: templates(memory) for slug, memory in memories(database)}
    return replace(config, reader=replace(config.reader, memories=learned))
