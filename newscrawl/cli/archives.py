"""newscrawl ingest, reextract and rematch: work on archives and stored texts, over all cores."""

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Annotated

import typer

from newscrawl import config, storage
from newscrawl.answers.names import match_one
from newscrawl.cli.arguments import (
    REASONS,
    Format,
    InputError,
    companies_file,
    companies_from,
    open_workers,
    own_sources_file,
    parse_day,
    scope_of,
)
from newscrawl.cli.output import (
    MAX_ROWS,
    Column,
    bytes_bar,
    counting_bar,
    exit_if,
    exit_without,
    for_files,
    render,
    write_note,
)
from newscrawl.text import count_of

if TYPE_CHECKING:
    from newscrawl.archive.dataset import Dataset
    from newscrawl.archive.ingest import FileProgress, PageFilter, ReadingConfig
    from newscrawl.archive.remote import ArchiveFile
    from newscrawl.archive.reread import Change
    from newscrawl.storage import Database

INGEST_EXAMPLE = "Example: newscrawl ingest CC-NEWS-*.warc.gz --language de --since 2026-11-01"
REEXTRACT_EXAMPLE = "Example: newscrawl reextract --archive archive --source ft --dry-run"
REMATCH_EXAMPLE = "Example: newscrawl rematch --since 30d --dry-run --companies my-companies.toml"

_MAX_PROBLEMS = 10
_NAMES = {"published_at": "date"}
_OUTCOMES = {
    "new": "new",
    "changed": "changed",
    "metadata": "with other metadata",
    "unchanged": "unchanged",
    "lost": "lost",
}


def reading_config(
    selection: "PageFilter", companies: Path | None, sources: Path | None
) -> "ReadingConfig":
    """Return how pages are read by today's settings; an invalid file is an error before any worker
    starts."""
    from newscrawl.archive.ingest import PageProcessor, ReadingConfig
    from newscrawl.extraction.methods import METHODS
    from newscrawl.reading import PageReader

    reading = ReadingConfig(
        reader=PageReader(
            method=match_one(config.NEWSCRAWL_METHOD, list(METHODS), "method", "docs/settings.md")
        ),
        page_filter=selection,
        companies=companies_file(companies),
        sources=own_sources_file(sources),
    )
    PageProcessor(reading)
    return reading


def ingest(
    warcs: list[str],
    language: list[str] | None = None,
    host: list[str] | None = None,
    since: str | None = None,
    until: str | None = None,
    limit: Annotated[int | None, typer.Option(min=1)] = None,
    to: str | None = None,
    workers: int | None = None,
    cluster: str | None = None,
    output_format: Format = "table",
    database: str | None = None,
    companies: Path | None = None,
    sources: Path | None = None,
) -> None:
    """Read the articles of WARC files into the database, with the companies that they mention.

    For archives such as CC-NEWS. An article belongs to the registered source of its site, or else
    to a source named for its host. An interrupted run continues where it stopped, and a file that
    was read before, with the same options, is skipped. Files in object stores and on web servers
    are read without a copy (docs/archive.md). With --to, Parquet files are written instead of rows;
    the saved queries of the database, if there is one, are matched as well.

    Exit code 1 if a file can't be read, or no article was found.

    warcs WARC...: WARC files or folders of them, also as addresses: s3://, gs://, https://.
    --language CODE: Only articles in this language; can be repeated.
    --host HOST: Only this host and its subdomains; can be repeated.
    --limit: Maximum number of articles.
    --to DIR: Write Parquet files to this folder or address (s3://...), not to the database.
    """
    from newscrawl.archive.ingest import Ingestion, PageFilter
    from newscrawl.archive.lookup import warc_files
    from newscrawl.archive.remote import is_url, remote_files, size_of

    if to and limit:
        raise InputError("--limit is for the database: leave out --limit or --to")
    files: list[ArchiveFile] = []
    for name in warcs:
        if is_url(name):
            files += remote_files(name)
        else:
            files += warc_files(Path(name)) if Path(name).is_dir() else [Path(name)]
    if files and not any(not isinstance(file, Path) or file.exists() for file in files):
        missing = " or ".join(map(str, files))
        raise InputError(f"no WARC file at {missing}: give existing files or folders")
    if not files:
        raise InputError(f"no WARC file (*.warc.gz, *.warc) in {' or '.join(warcs)}")
    selection = PageFilter(
        languages=frozenset(code.strip().lower() for code in language or ()),
        hosts=frozenset(name.strip().lower().strip(".") for name in host or ()),
        since=parse_day(since, option="--since") if since else None,
        until=parse_day(until, option="--until") if until else None,
    )
    reading = reading_config(selection, companies, sources)
    began = monotonic()
    with (
        open_workers(workers, cluster) as pool,
        _open_target(to, database or config.NEWSCRAWL_DATABASE_URL) as store,
        bytes_bar(
            "ingesting",
            sum(size_of(file) for file in files if not isinstance(file, Path) or file.is_file()),
        ) as on_progress,
    ):
        ingestion = Ingestion(store, reading, workers=pool, limit=limit, on_progress=on_progress)
        states = ingestion.run(files)
    _show_files(states, output_format, monotonic() - began)


@contextmanager
def _open_target(to: str | None, url: str) -> "Iterator[Database | Dataset]":
    from newscrawl.archive.dataset import Dataset
    from newscrawl.storage.engine import parse_url, sqlite_file
    from newscrawl.storage.saved_queries import list_queries

    if to:
        file = sqlite_file(parse_url(url))
        saved = {}
        if file is None or file.exists():
            with storage.open_database(url, create=False) as store:
                saved = {row.name: row.pending_text or row.text for row in list_queries(store)}
        yield Dataset(to, saved)
        return
    with storage.open_database(url) as store:
        yield store


def _show_files(states: "Sequence[FileProgress]", output_format: Format, seconds: float) -> None:
    columns = (
        Column("file", wide=True),
        Column("records", number=True),
        Column("articles", number=True),
        Column("new", number=True),
        *for_files("revised"),
        Column("unchanged", "known", number=True),
        *for_files("quarantined"),
        Column("mentions", number=True),
        *for_files("no_page", "no_article", "unwanted", "too_large", "unstorable"),
        Column("damaged", number=True),
        *for_files("parts_lost"),
        Column("state"),
    )
    rows = []
    for state in states:
        outcome = "incomplete" if state.is_open else "done"
        outcome = "failed" if state.problem else outcome
        outcome = "done before" if state.done_before else outcome
        counts = {column.key: state.counts[column.key] for column in columns}
        rows.append({**counts, "file": state.path.name, "state": outcome})
    read = sum(state.bytes_read for state in states)
    note = f"{read / 1e6:,.1f} MB in {seconds:,.1f} s"
    render(rows, columns, output_format, note=note)
    for state in states:
        if parts := state.counts["parts_lost"]:
            write_note(
                f"newscrawl: {state.path}: {parts:,} parts given up, with pages that crash the "
                "process that reads them or take too long (docs/archive.md)"
            )
    problems = [state.problem for state in states if state.problem]
    for problem in problems[:_MAX_PROBLEMS]:
        write_note(f"newscrawl: {problem}")
    if len(problems) > _MAX_PROBLEMS:
        write_note(f"newscrawl: {len(problems) - _MAX_PROBLEMS:,} more files can't be read")
    any_article = any(state.counts["articles"] or state.done_before for state in states)
    exit_if(not any_article or any(state.problem for state in states))


def reextract(
    store: "Database",
    archive: Path | None = None,
    source: str | None = None,
    since: str | None = None,
    dry_run: bool = False,
    every: bool = False,
    workers: int | None = None,
    cluster: str | None = None,
    output_format: Format = "table",
    companies: Path | None = None,
    sources: Path | None = None,
) -> None:
    """Read archived pages again by today's extraction, and store what has changed.

    The text that was stored becomes a revision. Lists the articles that are *new*, *changed*, or
    *lost*: today's extraction finds less in those, so they are not changed, and the new versions
    are quarantined (newscrawl articles --quarantined). Of others only *metadata* change: date,
    authors or section. An interrupted run continues where it stopped.

    Exit code 1 if no page was read.

    --archive DIR: Folder of WARC files of a crawl.
    every --all: Also list articles that stay the same.
    """
    from newscrawl.archive.ingest import PageFilter
    from newscrawl.archive.lookup import Archive
    from newscrawl.archive.reread import Reextraction

    folder = archive or config.NEWSCRAWL_ARCHIVE
    if not folder:
        raise InputError("no archive: name one by --archive DIR or NEWSCRAWL_ARCHIVE")
    reading = reading_config(PageFilter(), companies, sources)
    with open_workers(workers, cluster) as pool:
        scope = scope_of(store, since=since, source=source)
        task = Reextraction(
            store, Archive(Path(folder)), reading, source=scope.source, since=scope.since
        )
        if not dry_run and task.done_before:
            write_note(f"Continuing where the last run stopped, after {task.done_before:,} pages.")
        with counting_bar("pages", len(task)) as advance:
            changes = list(task.run(workers=pool, dry_run=dry_run, on_progress=advance))
    _show_changes(changes, output_format, every=every)
    exit_without(changes, "There was no article to read.")


def _show_changes(changes: "Sequence[Change]", output_format: Format, *, every: bool) -> None:
    listed = [change for change in changes if every or change.outcome != "unchanged"]
    rows = [
        {
            **asdict(change),
            "characters": f"{change.before:,} → {change.after:,}",
            "became": f"metadata: {', '.join(_NAMES.get(name, name) for name in change.metadata)}"
            if change.outcome == "metadata"
            else f"{change.outcome}: {REASONS[change.reason]}"
            if change.reason
            else change.outcome,
        }
        for change in listed
    ]
    columns = [
        Column("became", "outcome", wide=True),
        *for_files("outcome", "reason", "metadata"),
        Column("source", wide=True),
        Column("url", "article", wide=True),
        *for_files("before", "after"),
        Column("characters", number=True),
        Column("gained", wide=True),
        Column("lost", wide=True),
    ]
    if output_format != "table":
        columns = [column for column in columns if column.key not in {"characters", "became"}]
    counts: Counter[str] = Counter(change.outcome for change in changes)
    note = ", ".join(f"{counts[outcome]:,} {name}" for outcome, name in _OUTCOMES.items())
    render(rows, columns, output_format, note=note, most=MAX_ROWS)


def rematch(
    store: "Database",
    source: str | None = None,
    since: str | None = None,
    dry_run: bool = False,
    examples: Annotated[int, typer.Option(min=0, max=20)] = 0,
    companies: Path | None = None,
    workers: int | None = None,
    cluster: str | None = None,
    output_format: Format = "table",
) -> None:
    """Find the mentions in stored articles again, after the registry of companies has changed.

    Shows for each company in how many more or fewer articles it is mentioned now. An interrupted
    run continues where it stopped. With --dry-run and --examples it is a preview of a changed
    companies file.

    Exit code 1 if there was no article.

    --examples: Maximum number of changed sentences to show for each company; csv and json then have
        only these.
    """
    from newscrawl.archive.reread import Rematch
    from newscrawl.storage.mentions import count_texts

    companies_from(companies)
    with open_workers(workers, cluster) as pool:
        scope = scope_of(store, since=since, source=source)
        task = Rematch(
            store,
            companies_file(companies),
            scope,
            workers=pool,
            dry_run=dry_run,
            examples=examples,
        )
        if task.done_before:
            write_note("Continuing where the last run stopped.")
        with counting_bar("articles", count_texts(store, scope, task.done_before)) as advance:
            result = task.run(advance)
    if output_format == "table" or not examples:
        rows = result.companies
        company_columns = (
            Column("company", wide=True),
            Column("articles", number=True, show=lambda value: f"{value:+}" if value else "0"),
            Column("gained", "mentions gained", number=True),
            Column("lost", number=True),
        )
        note = (
            f"{result.changed:,} of {count_of(result.articles, 'article')} "
            f"{'would change' if dry_run else 'changed'}, "
            f"{len(rows):,} {'company' if len(rows) == 1 else 'companies'}"
        )
        if result.crashed:
            note += f"; {result.crashed:,} were not changed, because their text crashed the search"
        render(rows, company_columns, output_format, note=note, most=MAX_ROWS)
    if examples:
        columns = (
            Column("company", wide=True),
            Column("change", "mentions"),
            Column("sentence", wide=True),
            Column("url", "article", wide=True, table=False),
        )
        render(result.examples, columns, output_format)
    exit_without(result.articles, "There was no article to read.")
