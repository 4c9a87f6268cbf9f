"""Extract the archived pages of stored articles again, and store the articles that change."""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from functools import partial
from typing import Final, Literal

import newscrawl
from newscrawl.archive import ArchiveError
from newscrawl.archive.ingest import with_template_memories
from newscrawl.archive.lookup import Archive, CaptureLocation
from newscrawl.archive.page_processor import (
    PRELOAD,
    PageFilter,
    ReadingConfig,
    is_page,
    processor_for,
)
from newscrawl.archive.warc import ContentError, read_at
from newscrawl.cluster import Workers, open_pool
from newscrawl.items import Document, Hints, Origin
from newscrawl.reading import NoArticleError, versions_of
from newscrawl.sources import UrlError, canonical_url
from newscrawl.storage import Database
from newscrawl.storage.batch import IngestionWriter, records_of
from newscrawl.storage.documents import DELETED, Record
from newscrawl.storage.mentions import apply_corrections
from newscrawl.storage.revisions import StoredVersion, articles_at, listed_at, versions_at
from newscrawl.storage.saved_state import Step, delete_progress, load_progress
from newscrawl.workers import results_by_item

Outcome = Literal["new", "changed", "metadata", "unchanged", "lost"]

# Ours: pages in one batch, which is one transaction.
AT_ONCE: Final = 50
_URLS_PER_QUERY: Final = 500
_WRITTEN: Final = ("new", "changed", "metadata")


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """The difference between a stored article and its new extraction.

    "metadata": headline and text are equal, but not the date, the authors or the section. "lost":
    the new extraction finds no article, or a worse one, which is quarantined for the `reason` of
    the revision check; the stored article stays. `before` and `after` are characters of text;
    `gained` and `lost` are companies, one entry for each mention; `metadata` are the columns that
    change.
    """

    url: str
    source: str
    outcome: Outcome
    before: int = 0
    after: int = 0
    gained: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()
    metadata: tuple[str, ...] = ()
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingCapture:
    """A capture to read, and the stored version of its article."""

    spot: CaptureLocation
    url: str
    source: str
    stored: StoredVersion | None


ReadDocuments = list[tuple[Document, Origin] | None]


class Reextraction:
    """Extract the newest capture of each article again, in local processes or on a cluster.

    These are skipped: pages without a stored article that no feed or sitemap listed, captures older
    than the stored version, and articles of which only the feed may be read. With `dry_run` nothing
    is written.
    """

    def __init__(
        self,
        database: Database,
        archive: Archive,
        config: ReadingConfig,
        *,
        source: str | None = None,
        since: date | None = None,
    ) -> None:
        self._database = database
        dated = replace(config, page_filter=PageFilter(since=since))
        self._config = with_template_memories(dated, database)
        self._source = source
        self._since = since
        self._pages = _best_pages(database, archive)
        self._task = self._name(archive)

    def __len__(self) -> int:
        """Return the number of pages."""
        return len(self._pages)

    @property
    def done_before(self) -> int:
        """Return the number of pages that an earlier, interrupted run has done."""
        return load_progress(self._database, self._task).position

    def run(
        self,
        *,
        workers: Workers = 1,
        dry_run: bool = False,
        on_progress: Callable[[int], None] = lambda _pages: None,
    ) -> Iterator[Change]:
        """Extract the pages and yield the change of each article.

        `on_progress` is called with the number of pages done since its last call. Raises
        StorageError.
        """
        done = 0 if dry_run else self.done_before
        on_progress(done)
        intake = IngestionWriter(self._database, "reextracted", versions_of(self._config.companies))
        work = partial(_read_captures, self._config)
        pool = open_pool(work, workers, preload=PRELOAD, files=self._config.files)
        try:
            for wanted, read in results_by_item(pool, self._parts(done)):
                stop = min(done + AT_ONCE, len(self._pages))
                changes, records = _compare(wanted, read)
                if not dry_run:
                    self._store(stop, records, intake)
                on_progress(stop - done)
                done = stop
                yield from changes
        finally:
            intake.close()
        if not dry_run:
            delete_progress(self._database, self._task)

    def _store(
        self, stop: int, records: Sequence[tuple[Record, Origin]], intake: IngestionWriter
    ) -> None:
        def step_of(_: Counter[str]) -> Step:
            return Step(task=self._task, position=stop, counts={})

        origins = [origin for _, origin in records]
        intake.store([replace(one, reextracted=True) for one, _ in records], origins, step_of)

    def _parts(self, start: int) -> Iterator[Sequence[PendingCapture]]:
        """Yield the captures to read among each `AT_ONCE` pages, in the archive's order."""
        for begin in range(start, len(self._pages), AT_ONCE):
            yield tuple(self._pending_captures(self._pages[begin : begin + AT_ONCE]))

    def _pending_captures(
        self, pages: Sequence[tuple[CaptureLocation, str]]
    ) -> Iterator[PendingCapture]:
        urls = [url for _, url in pages]
        stored = versions_at(self._database, urls)
        listed = listed_at(self._database, urls)
        for spot, url in pages:
            version = stored.get(url)
            source = version.source if version else listed.get(url)
            if source is None or self._source not in {None, source}:
                continue
            if version is None or self._is_pending(spot, version):
                yield PendingCapture(spot=spot, url=url, source=source, stored=version)

    def _is_pending(self, spot: CaptureLocation, version: StoredVersion) -> bool:
        if version.access != "open" or version.kept.kind == DELETED:
            return False
        if self._since and version.day < self._since:
            return False
        captured = datetime.strptime(spot.timestamp, "%Y%m%d%H%M%S").replace(tzinfo=UTC)
        return captured >= version.seen_at.replace(microsecond=0)

    def _name(self, archive: Archive) -> str:
        """Return the task name, which depends on archive, scope and version."""
        last = self._pages[-1][1] if self._pages else None
        facts = {
            "newscrawl": newscrawl.__version__,
            "method": self._config.reader.method,
            "archive": str(archive.folder.resolve()),
            "pages": len(self._pages),
            "last": last,
            "source": self._source,
            "since": self._since and self._since.isoformat(),
        }
        return f"reextract {json.dumps(facts, sort_keys=True)}"


def _best_pages(database: Database, archive: Archive) -> list[tuple[CaptureLocation, str]]:
    """Return the captures of pages with their canonical URLs, and one capture per article only.

    That is the newest one of the article's own URL, or else of another URL: a print view with
    slightly different words is not a change of the article.
    """
    pages = list(_with_urls(archive.pages()))
    best: dict[int, tuple[bool, bool, str, str]] = {}
    places: dict[str, tuple[int, str]] = {}
    for start in range(0, len(pages), _URLS_PER_QUERY):
        some = pages[start : start + _URLS_PER_QUERY]
        found = articles_at(database, [url for _, url in some])
        places.update(found)
        for spot, url in some:
            if url in found:
                number, own = found[url]
                merit = (spot.url == own, url == own, spot.timestamp, spot.url)
                best[number] = max(merit, best.get(number, merit))
    return [
        (spot, url)
        for spot, url in pages
        if url not in places or best[places[url][0]][-1] == spot.url
    ]


def _with_urls(spots: Sequence[CaptureLocation]) -> Iterator[tuple[CaptureLocation, str]]:
    for spot in spots:
        try:
            yield spot, canonical_url(spot.url)
        except UrlError:
            continue


def _read_captures(config: ReadingConfig, captures: Sequence[PendingCapture]) -> ReadDocuments:
    """Return the document of each capture, None for a capture without article."""
    processor = processor_for(config)
    found: ReadDocuments = []
    for wanted in captures:
        try:
            capture = read_at(wanted.spot.path, wanted.spot.offset, max_bytes=config.max_bytes)
            known = wanted.stored.facts if wanted.stored else Hints()
            page = replace(processor.page(capture, known), url=wanted.url, source=wanted.source)
            document = processor.document(page) if is_page(capture) else None
            if document and not wanted.stored and not config.page_filter.matches(document):
                document = None
            found.append((document, processor.origin(document)) if document else None)
        except (ArchiveError, ContentError, UrlError, NoArticleError, MemoryError):
            found.append(None)
    return found


def _compare(
    captures: Sequence[PendingCapture], read: ReadDocuments
) -> tuple[list[Change], list[tuple[Record, Origin]]]:
    """Return the changes, and the records to store."""
    changes: list[Change] = []
    written = []
    for wanted, found in zip(captures, read, strict=True):
        record = next(records_of([found[0]]), None) if found else None
        change = _change(wanted, found[0] if found and record else None, record)
        if change is None:
            continue
        changes.append(change)
        # Storage applies the same check and quarantines the records that have a reason.
        if found and record and (change.outcome in _WRITTEN or change.reason):
            written.append((record, replace(found[1], slug=record.source)))
    return changes, written


def _change(
    pending: PendingCapture, document: Document | None, record: Record | None
) -> Change | None:
    stored = pending.stored
    change = Change(url=pending.url, source=pending.source, outcome="new")
    if stored is not None:
        change = _with_outcome(replace(change, before=stored.characters), stored, record)
    elif document is None or document.page.access != "open":
        return None
    if document is None or (change.outcome == "lost" and not change.reason):
        return change
    change = replace(change, after=len(document.article.text))
    # Changes of the registry are the task of `newscrawl rematch`.
    if change.outcome not in {"new", "changed"}:
        return change
    text = (document.article.title, document.article.text)
    mentions, _ = apply_corrections(stored.corrections if stored else (), text, document.mentions)
    companies = Counter(mention.company for mention in mentions)
    before = stored.companies if stored else Counter()
    gained, lost = companies - before, before - companies
    return replace(
        change, gained=tuple(sorted(gained.elements())), lost=tuple(sorted(lost.elements()))
    )


def _with_outcome(change: Change, stored: StoredVersion, record: Record | None) -> Change:
    """Return the change with its outcome, and with the reason of the revision check if the article
    is lost, or the metadata that differ if it isn't."""
    if record is None:
        return replace(change, outcome="lost")
    same = record.rank >= stored.rank and record.content_hash == stored.content_hash
    reason = None if same else stored.reason_against(record)
    if reason or record.rank < stored.rank:
        return replace(change, outcome="lost", reason=reason or "")
    metadata = stored.metadata_changed_by(record)
    outcome: Outcome = "changed" if not same else "metadata" if metadata else "unchanged"
    return replace(change, outcome=outcome, metadata=metadata)
