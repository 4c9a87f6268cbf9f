"""Read stored articles again: their archived pages after extraction has changed, and their texts
after the registry of companies has."""

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from functools import partial
from pathlib import Path
from typing import Final, Literal

import newscrawl
from newscrawl.archive import ArchiveError
from newscrawl.archive.ingest import (
    PRELOAD,
    PageFilter,
    ReadingConfig,
    companies_from,
    is_page,
    processor_for,
    with_template_memories,
)
from newscrawl.archive.lookup import Archive, CaptureLocation
from newscrawl.archive.warc import moment_of, read_at
from newscrawl.cluster import Workers, open_pool
from newscrawl.extraction.template_memory import EMPTY, outside_templates, templates
from newscrawl.items import Document, Hints, Memory, Mention, Origin, UnregisteredName
from newscrawl.mentions import sentence_span
from newscrawl.mentions.registry import registry_digest
from newscrawl.mentions.unregistered import find_unregistered
from newscrawl.reading import NoArticleError, versions_of
from newscrawl.sources import UrlError, canonical_url
from newscrawl.storage import Database, SaveResult
from newscrawl.storage.batch import IngestionWriter, records_of
from newscrawl.storage.documents import DELETED, Record
from newscrawl.storage.mentions import (
    StoredText,
    apply_corrections,
    stored_corrections,
    stored_mentions,
    text_batches,
    write_mentions,
)
from newscrawl.storage.queries import Scope
from newscrawl.storage.revisions import StoredVersion, articles_at, listed_at, versions_at
from newscrawl.storage.saved_state import (
    Step,
    TaskProgress,
    delete_progress,
    load_progress,
    memories,
    record_rematch,
)
from newscrawl.workers import results_by_item

_Found = tuple[list[Mention], tuple[UnregisteredName, ...]]
Outcome = Literal["new", "changed", "metadata", "unchanged", "lost"]

# Ours: pages in one batch, which is one transaction.
AT_ONCE: Final = 50
_URLS_PER_QUERY: Final = 500
_WRITTEN: Final = ("new", "changed", "metadata")
# What is counted of each company whose mentions change.
_KINDS: Final = ("articles", "gained", "lost")


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
        self._task = _task(
            "reextract",
            method=config.reader.method,
            archive=str(archive.folder.resolve()),
            pages=len(self._pages),
            last=self._pages[-1][1] if self._pages else None,
            source=source,
            since=since,
        )

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
        versions = versions_of(self._config.companies)
        intake = IngestionWriter(self._database, "reextracted", versions, dry_run=dry_run)
        work = partial(_read_captures, self._config)
        pool = open_pool(work, workers, preload=PRELOAD, files=self._config.files)
        try:
            for captures, documents in results_by_item(pool, self._batches(done)):
                stop = min(done + AT_ONCE, len(self._pages))
                read = list(_records(captures, documents))
                step = Step(task=self._task, position=stop, counts={})
                saved = iter(
                    intake.save(
                        [record for _, record, _ in read if record],
                        [origin for _, _, origin in read if origin],
                        lambda _counts: step,  # noqa: B023 - called at once
                    )
                )
                on_progress(stop - done)
                done = stop
                for pending, record, _ in read:
                    yield _change(pending, record, next(saved) if record else None)
        finally:
            intake.close()
        if not dry_run:
            delete_progress(self._database, self._task)

    def _batches(self, start: int) -> Iterator[Sequence[PendingCapture]]:
        """Yield the captures to read among each `AT_ONCE` pages, in the archive's order."""
        for begin in range(start, len(self._pages), AT_ONCE):
            pages = self._pages[begin : begin + AT_ONCE]
            urls = [url for _, url in pages]
            stored = versions_at(self._database, urls)
            listed = listed_at(self._database, urls)
            captures = []
            for spot, url in pages:
                version = stored.get(url)
                source = version.source if version else listed.get(url)
                if source is None or self._source not in {None, source}:
                    continue
                if version is not None:
                    seen_at = version.seen_at.replace(microsecond=0)
                    is_older = moment_of(spot.timestamp) < seen_at
                    is_early = self._since is not None and version.day < self._since
                    is_closed = version.access != "open" or version.kind == DELETED
                    if is_older or is_early or is_closed:
                        continue
                captures.append(PendingCapture(spot=spot, url=url, source=source, stored=version))
            yield captures


def _best_pages(database: Database, archive: Archive) -> list[tuple[CaptureLocation, str]]:
    """Return the captures of pages with their canonical URLs, and one capture per article only.

    That is the newest one of the article's own URL, or else of another URL: a print view with
    slightly different words is not a change of the article.
    """
    pages = []
    for spot in archive.pages():
        with suppress(UrlError):
            pages.append((spot, canonical_url(spot.url)))
    best: dict[int, tuple[bool, bool, str, str]] = {}
    places: dict[str, tuple[int, str]] = {}
    for start in range(0, len(pages), _URLS_PER_QUERY):
        some = pages[start : start + _URLS_PER_QUERY]
        articles = articles_at(database, [url for _, url in some])
        places.update(articles)
        for spot, url in some:
            if url in articles:
                number, article_url = articles[url]
                merit = (spot.url == article_url, url == article_url, spot.timestamp, spot.url)
                best[number] = max(merit, best.get(number, merit))
    return [
        (spot, url)
        for spot, url in pages
        if url not in places or best[places[url][0]][-1] == spot.url
    ]


def _read_captures(config: ReadingConfig, captures: Sequence[PendingCapture]) -> ReadDocuments:
    """Return the document of each capture, None for a capture without article."""
    processor = processor_for(config)
    documents: ReadDocuments = []
    for pending in captures:
        read = None
        with suppress(ArchiveError, UrlError, NoArticleError, MemoryError):
            capture = read_at(pending.spot.path, pending.spot.offset, max_bytes=config.max_bytes)
            hints = pending.stored.facts if pending.stored else Hints()
            page = processor.page(capture, hints)
            page = replace(page, url=pending.url, source=pending.source)
            document = processor.document(page) if is_page(capture) else None
            if document and (pending.stored or config.page_filter.matches(document)):
                read = document, processor.origin(document)
        documents.append(read)
    return documents


def _records(
    captures: Sequence[PendingCapture], documents: ReadDocuments
) -> Iterator[tuple[PendingCapture, Record | None, Origin | None]]:
    """Yield the captures of stored articles and of new ones, each with the record to store, if its
    page holds an article."""
    for pending, read in zip(captures, documents, strict=True):
        record = next(records_of([read[0]]), None) if read else None
        if read and record and (pending.stored or read[0].page.access == "open"):
            yield pending, replace(record, reextracted=True), replace(read[1], slug=record.source)
        elif pending.stored:
            yield pending, None, None


def _change(pending: PendingCapture, record: Record | None, saved: SaveResult | None) -> Change:
    """Return the change by a new extraction, of which the record was `saved`."""
    before = pending.stored.characters if pending.stored else 0
    change = Change(url=pending.url, source=pending.source, outcome="lost", before=before)
    if record is None or saved is None or not (saved.applied or saved.reason):
        return change
    change = replace(change, after=len(record.columns["text"]), reason=saved.reason or "")
    if saved.reason:
        return change
    outcome: Outcome = "metadata" if saved.metadata else "unchanged"
    differences = Counter(saved.differences)
    if saved.outcome == "new":
        differences = Counter(mention.company for mention in record.mentions)
    if saved.outcome != "unchanged":
        outcome = "changed" if pending.stored else "new"
    return replace(
        change,
        outcome=outcome,
        metadata=saved.metadata,
        gained=tuple(sorted((+differences).elements())),
        lost=tuple(sorted((-differences).elements())),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class CompanyChange:
    """The change of a company: difference of its articles, mentions gained and lost."""

    company: str
    articles: int
    gained: int
    lost: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedMention:
    """A sentence in which a company would newly be found, or no longer be found."""

    company: str
    change: Literal["gained", "lost"]
    url: str
    sentence: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RematchResult:
    """Numbers of articles searched, changed, and left unchanged because their search crashed; the
    companies, largest change first, and some changed sentences of each, if requested."""

    articles: int
    changed: int
    crashed: int
    companies: tuple[CompanyChange, ...]
    examples: tuple[ChangedMention, ...] = ()


class Rematch:
    """Find mentions again with a number of local processes or on a cluster.

    An interrupted run continues with the next batch if registry and scope are the same. With
    `dry_run` nothing is written. Only `articles`, by their ids, are searched if they are given;
    such a run begins anew. `examples` is the number of sentences returned for each company
    and change.
    """

    def __init__(
        self,
        database: Database,
        companies: Path | None,
        scope: Scope,
        *,
        workers: Workers = 1,
        dry_run: bool = False,
        examples: int = 0,
        articles: Sequence[int] | None = None,
    ) -> None:
        self._database = database
        self._max_examples = examples
        self._examples: dict[tuple[str, str], list[ChangedMention]] = defaultdict(list)
        self._scope = scope
        self._memories = {slug: templates(memory) for slug, memory in memories(database)}
        self._dry_run = dry_run
        self._articles = articles
        registry = registry_digest(companies)[:16]
        kind = "rematch" if articles is None else "rematch of some"
        self._task = _task(kind, registry=registry, source=scope.source, since=scope.since)
        self._versions = versions_of(companies)
        find, files = partial(_find, companies), [companies] if companies else []
        self._workers = open_pool(find, workers, preload=PRELOAD, files=files)

    @property
    def done_before(self) -> int:
        """Return the number of the last article that an earlier, interrupted run has done."""
        return self._progress().position

    def _progress(self) -> TaskProgress:
        if self._dry_run or self._articles is not None:
            return TaskProgress()
        return load_progress(self._database, self._task)

    def run(self, on_progress: Callable[[int], None] = lambda _articles: None) -> RematchResult:
        """Find the mentions again and store the differences. Raises StorageError.

        `on_progress` is called with the number of articles done since its last call.
        """
        done, started_at = self._progress(), datetime.now(UTC)
        counts = Counter(done.counts)
        batches = text_batches(self._database, self._scope, done.position, self._articles)
        for texts, results in results_by_item(self._workers, batches):
            self._batch(texts, results, counts)
            on_progress(len(texts))
        if not self._dry_run:
            if self._articles is None:
                record_rematch(self._database, self._scope, self._versions, started_at)
            delete_progress(self._database, self._task)
        names = {name.partition("/")[2] for name in counts if "/" in name}
        changes = [
            CompanyChange(company=name, **{kind: counts[f"{kind}/{name}"] for kind in _KINDS})
            for name in names
        ]
        changes.sort(key=lambda change: (-change.gained - change.lost, change.company))
        return RematchResult(
            articles=counts["articles"],
            changed=counts["changed"],
            crashed=counts["crashed"],
            companies=tuple(changes),
            examples=tuple(
                example
                for change in changes
                for kind in ("gained", "lost")
                for example in self._examples.get((change.company, kind), ())
            ),
        )

    def _batch(
        self,
        texts: Sequence[StoredText],
        results: Sequence[_Found | None],
        counts: Counter[str],
    ) -> None:
        counts["articles"] += len(texts)
        numbers = [text.number for text in texts]
        before = stored_mentions(self._database, numbers)
        corrections = stored_corrections(self._database, numbers)
        mentions_by_article, names_by_article = {}, {}
        for text, result in zip(texts, results, strict=True):
            if result is None:
                counts["crashed"] += 1
                continue
            matches, names_by_article[text.number] = result
            old, corrected = before.get(text.number, set()), corrections.get(text.number, ())
            memory = self._memories.get(text.source, EMPTY)
            mentions = outside_templates(matches, text.text, memory)
            counted, _ = apply_corrections(corrected, (text.title, text.text), mentions)
            if set(counted) != old:
                counts["changed"] += 1
                self._add_changes(text, old, set(counted), counts)
            if corrected or _with_scores(counted) != _with_scores(old):
                mentions_by_article[text.number] = mentions
        if not self._dry_run:
            step = Step(task=self._task, position=texts[-1].number, counts=counts)
            write_mentions(self._database, texts, mentions_by_article, step, names_by_article)

    def _add_changes(
        self, text: StoredText, old: set[Mention], new: set[Mention], counts: Counter[str]
    ) -> None:
        """Add the changes of an article to the counts, under "KIND/COMPANY", and the first one of
        each company to the examples."""
        before = Counter(mention.company for mention in old)
        after = Counter(mention.company for mention in new)
        changes: tuple[tuple[Literal["gained", "lost"], Counter[str], set[Mention], int], ...] = (
            ("gained", after - before, new - old, 1),
            ("lost", before - after, old - new, -1),
        )
        for kind, difference, changed, sign in changes:
            for company, number in difference.items():
                counts[f"{kind}/{company}"] += number
                if company not in (before if sign > 0 else after):
                    counts[f"articles/{company}"] += sign
            for mention in sorted(changed, key=lambda mark: (mark.section != "title", mark.start)):
                examples = self._examples[mention.company, kind]
                is_there = any(example.url == text.url for example in examples)
                if is_there or len(examples) >= self._max_examples:
                    continue
                section = text.title if mention.section == "title" else text.text
                start, end = sentence_span(section, mention)
                sentence = section[start:end].strip()
                examples.append(
                    ChangedMention(
                        company=mention.company, change=kind, url=text.url, sentence=sentence
                    )
                )


def without_templates_of(database: Database, source: str, memory: Memory) -> int:
    """Take from the stored articles of a source the mentions in texts that have turned out to be on
    many of its pages; return the number of articles that lost some. Raises StorageError."""
    changed = 0
    task = _task("templates", source=source)
    for texts in text_batches(database, Scope(source=source)):
        stored = stored_mentions(database, [text.number for text in texts])
        mentions_by_article = {}
        for text in texts:
            mentions = stored.get(text.number, set())
            remaining = outside_templates(mentions, text.text, memory)
            if len(remaining) < len(mentions):
                mentions_by_article[text.number] = remaining
        if mentions_by_article:
            step = Step(task=task, position=texts[-1].number, counts={})
            write_mentions(database, texts, mentions_by_article, step)
            changed += len(mentions_by_article)
    if changed:
        delete_progress(database, task)
    return changed


def _find(companies: Path | None, texts: Sequence[StoredText]) -> list[_Found]:
    """Return the mentions of each text, and the names that nobody has registered."""
    registry = companies_from(companies)
    results = []
    for text in texts:
        mentions = registry.find(
            text.text, title=text.title, language=text.language, source=text.url
        )
        names = find_unregistered(text.text, text.language, mentions, registry.is_registered)
        results.append((mentions, names))
    return results


def _with_scores(mentions: Iterable[Mention]) -> set[tuple[Mention, float | None]]:
    return {(mention, mention.score) for mention in mentions}


def _task(kind: str, **facts: object) -> str:
    """Return the name of a task, which depends on its facts and on this version."""
    values = {"newscrawl": newscrawl.__version__, **facts}
    return f"{kind} {json.dumps(values, sort_keys=True, default=date.isoformat)}"
