"""newscrawl sources: list, show, add and check sites, and show their coverage."""

import os
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, replace
from datetime import MAXYEAR, datetime
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.text import Text

from newscrawl import config, storage
from newscrawl.answers.names import match_one
from newscrawl.cli.arguments import (
    Format,
    InputError,
    chosen_sources,
    open_for_reading,
    own_sources,
    own_sources_file,
    own_urls,
    scope_of,
    sources_by_slug,
)
from newscrawl.cli.output import (
    MAX_ROWS,
    WIDE,
    Column,
    columns_of,
    exit_if,
    exit_without,
    for_files,
    format_day,
    printable,
    progress,
    records_of,
    render,
    show_facts,
    source_columns,
    terminal,
    write_json,
    write_note,
)
from newscrawl.text import count_of

if TYPE_CHECKING:
    from newscrawl.sources import Source
    from newscrawl.sources.discovery import FoundListings
    from newscrawl.storage import Database
    from newscrawl.storage.source_stats import Checkup, LastCheckup


app = typer.Typer(
    help="The registered news sites, their checks and their coverage.", no_args_is_help=True
)


_COVERAGE_COLOURS = {
    "ok": "green",
    "incomplete": "yellow",
    "paywalled": "cyan",
    "stale_feed": "yellow",
    "blocked_by_robots": "yellow",
    "refused": "yellow",
    "failed": "red",
    "not crawled": "red",
}


@app.command("list", epilog="Example: newscrawl sources list --country de")
def list_sources(
    country: str | None = None,
    language: str | None = None,
    own: bool = False,
    output_format: Format = "table",
    sources: Path | None = None,
    database: str | None = None,
) -> None:
    """List the sites for `scrapy crawl SLUG`, and the result of their last check.

    --country CODE: Only this country, as in 'de'.
    --language CODE: Only sites in this language, as in 'en'.
    --own: Only the sites in your own sources file.
    """
    chosen = [
        source
        for source in (own_sources(sources) if own else sources_by_slug(sources).values())
        if (country is None or source.country == country.lower())
        and (language is None or language.lower() in source.languages)
    ]
    checked, due = _stored(database)
    has_due = any(source.slug in due for source in chosen)
    columns = (
        Column("slug"),
        # Beside the next crawl, a name would have six characters of a line in a usual terminal.
        Column("name", wide=True, table=not has_due or terminal().width >= WIDE),
        Column("country", "from"),
        Column("languages", "in", wide=True),
        Column("status", table=False),
        Column("state", "check", show=state_text),
        Column("last_ok", show=format_day),
        Column("next_crawl", "next due", show=due_text, table=has_due),
        *for_files("checked_at", "home"),
    )
    rows = [
        _record(source) | _checkup(checked.get(source.slug)) | {"next_crawl": due.get(source.slug)}
        for source in chosen
    ]
    render(rows, columns, output_format, note=f"{len(chosen)} sites")
    hint = " of your own: none. newscrawl sources add URL adds one" if own else ": none"
    exit_without(chosen, f"Sites{hint}.")


@app.command(epilog="Example: newscrawl sources show ft")
def show(
    slug: str,
    output_format: Format = "table",
    sources: Path | None = None,
    database: str | None = None,
) -> None:
    """Show a site with its feeds and sitemaps, and the result of its last check.

    slug: The site's short name, as in 'ft'.
    """
    registry = sources_by_slug(sources)
    source = registry[match_one(slug, list(registry), "source", "newscrawl sources list")]
    record = {
        **_record(source),
        "feeds": source.feeds,
        "sitemaps": source.sitemaps,
        "news_sitemaps": source.news_sitemaps,
        "sections": source.sections,
        **_checkup(_stored(database)[0].get(source.slug)),
    }
    if output_format == "json":
        write_json(record)
        return

    def lines(value: object) -> str:
        if isinstance(value, datetime):
            return format_day(value)
        text = "–" if value is None else value
        return "\n".join(text) if isinstance(text, tuple) else str(text)

    show_facts(record, output_format, lines)


@app.command(epilog="Example: newscrawl sources coverage --since 7d")
def coverage(
    store: "Database",
    since: str | None = None,
    until: str | None = None,
    source: str | None = None,
    each_day: bool = False,
    output_format: Format = "table",
) -> None:
    """Show how each source was crawled on each day: ok, blocked, failed, not crawled.

    A table has a row for each source, unless --days or --source is given; csv and json have one
    for each day.

    Exit code 1 if no crawl is known.

    each_day --days: A row for each day of each source.
    """
    scope = scope_of(store, since=since, until=until, source=source)
    days = storage.queries.coverage(store, scope=scope)
    names = storage.queries.source_names(store)

    def coloured(state: object) -> Text:
        word = str(state or "not crawled")
        return Text(word.replace("_", " "), style=_COVERAGE_COLOURS.get(word, ""))

    columns = [
        replace(column, show=coloured) if column.key == "state" else column
        for column in columns_of(storage.queries.CoverageDay)
    ]
    rows, note, most = records_of(days), "", None
    if output_format == "table":
        rows = [{**row, "name": names.get(str(row["source"]))} for row in rows]
        columns = [*source_columns(), *columns[1:]]
    if output_format == "table" and not (each_day or source):
        by_source = [list(group) for _, group in groupby(rows, itemgetter("source"))]
        rows = []
        for group in by_source:
            others = [row["state"] or "not crawled" for row in group if row["state"] != "ok"]
            numbers = {"days": len(group), "ok": len(group) - len(others), "else": _counts(others)}
            rows.append({**group[-1], **numbers})
        columns = [
            *source_columns(),
            Column("days", number=True),
            Column("ok", number=True),
            Column("else", wide=True),
            Column("state", "last", show=coloured),
            Column("note", wide=True),
        ]
        rows.sort(key=lambda row: (row["ok"] == row["days"], str(row["source"])))
        note = f"{count_of(len(rows), 'source')}, those with days that are not ok first; --days "
        note += "shows each day"
        most = MAX_ROWS
    render(rows, columns, output_format, title="Coverage", note=note, most=most)
    exit_without(days, "No crawl is recorded there.")


def _record(source: "Source") -> dict[str, object]:
    names = ("slug", "name", "country", "languages", "status", "home")
    return {name: getattr(source, name) for name in names}


def _stored(database: str | None) -> "tuple[dict[str, LastCheckup], dict[str, datetime]]":
    """Return the last check of each source, and when its next crawl is due; nothing if there is no
    database and none was given."""
    from newscrawl.storage.frontier.listings import next_crawls
    from newscrawl.storage.source_stats import last_checkups

    try:
        with open_for_reading(database) as store:
            return last_checkups(store), next_crawls(store)
    except storage.StorageError:
        if database:
            raise
        return {}, {}


def _checkup(last: "LastCheckup | None") -> dict[str, object]:
    names = ("state", "note", "checked_at", "last_ok", "newest_at", "moved_to")
    return {name: getattr(last, name, None) for name in names}


@app.command(
    epilog="Example: newscrawl sources add https://www.harbour-courier.example/ --country gb"
)
def add(
    url: str,
    slug: str | None = None,
    name: str | None = None,
    country: str | None = None,
    language: list[str] | None = None,
    dry_run: bool = False,
    allow_private: bool = False,
    output_format: Format = "table",
    sources: Path | None = None,
) -> None:
    """Add a site to your own sources file.

    Feeds, sitemaps, name, language and country are found on its home page, in robots.txt and in the
    usual places, as politely as in a crawl; feeds and sitemaps are read before they are added. A
    site without them is crawled from its home and section pages. The address of a section or
    article leads to its site; a feed whose address is given is the only one that is added.

    Exit code 2 if the site can't be visited or is already registered.

    url URL: The site's home page, or a page or feed of it.
    --slug SLUG: Its short name; else made from its host.
    --name: Its name; else from its home page.
    --country CODE: Its country, as in 'de'.
    --language CODE: Its language, as in 'de'; can be repeated.
    --dry-run: Show the result and write nothing.
    --sources FILE: The sources file to write to; else sources.csv in this folder.
    """
    from newscrawl.sources.discovery import find_source
    from newscrawl.sources.registry import OWN_FILE, add_source
    from newscrawl.sources.visits import Fetcher

    file = Path(sources or config.NEWSCRAWL_SOURCES or OWN_FILE)
    with (
        Fetcher(allow_private=allow_private) as fetcher,
        Console(stderr=True).status("Visiting the site ...") as status,
    ):

        def on_fetch(url: str) -> None:
            status.update(Text(f"Visiting {printable(url)}"))

        source, listings, notes = find_source(
            url,
            file,
            fetcher,
            on_fetch,
            slug=slug,
            name=name,
            country=country.lower() if country else None,
            languages=tuple(code.lower() for code in language or ()),
        )
    _show_found(source, listings, notes, output_format)
    if not dry_run:
        add_source(file, source)
        write_note(f"Added {source.slug!r} to {file}.")
        if (read := own_sources_file(None)) is None or read.resolve() != file.resolve():
            write_note(f"To use it in crawls: export NEWSCRAWL_SOURCES={file.absolute()}")
        # Outside of the project's folder, scrapy does not know the command's spiders.
        folders = (Path.cwd(), *Path.cwd().parents)
        is_set = "SCRAPY_SETTINGS_MODULE" in os.environ
        is_project = is_set or any((folder / "scrapy.cfg").exists() for folder in folders)
        setting = "" if is_project else "SCRAPY_SETTINGS_MODULE=newscrawl.settings "
        write_note(f"Then: {setting}scrapy crawl {source.slug} -a limit=5")


def due_text(value: object) -> str:
    """Return when a source is due next, or that it is paused."""
    if not isinstance(value, datetime):
        return "–"
    return "paused" if value.year == MAXYEAR else f"{value:%m-%d %H:%M}"


def _show_found(
    source: "Source", found: "FoundListings", notes: "Sequence[str]", output_format: Format
) -> None:
    listings = [asdict(listing) for listing in found.listings]
    if output_format == "json":
        write_json(
            {**asdict(source), "listings": listings, "refused": found.refused, "notes": notes}
        )
        return
    columns = (
        Column("kind"),
        Column("url", wide=True),
        Column("entries", number=True),
        Column("newest", show=lambda moment: f"{moment:%Y-%m-%d}" if moment else "–"),
        Column("found", table=False),
    )
    sections = [{"kind": "section", "url": url, "found": "home page"} for url in source.sections]
    title = f"{source.slug}: {source.name} ({source.country}, {', '.join(source.languages)})"
    render(
        [*listings, *sections],
        columns,
        output_format,
        title=title,
        note="\n".join((*notes, *found.refused)),
    )


_CHECK_COLOURS = {
    "reachable": "green",
    "moved": "cyan",
    "stale": "yellow",
    "no feed": "yellow",
    "blocked": "yellow",
    "unreachable": "red",
}


@app.command(epilog="Example: newscrawl sources check ft bbc-news")
def check(
    slug: Annotated[list[str] | None, typer.Argument()] = None,
    country: str | None = None,
    workers: Annotated[int, typer.Option(min=1, max=64)] = 16,
    output_format: Format = "table",
    database: str | None = None,
    sources: Path | None = None,
) -> None:
    """Visit sites, and report which of them can be crawled.

    Home page, feeds and sitemaps are fetched as politely as in a crawl. A site is *reachable*;
    *moved* permanently to another address; *stale*, without a new article for
    NEWSCRAWL_RECENT_DAYS; *blocked* by robots.txt or its server; has *no feed* that can be read; or
    is *unreachable*. The results are stored in the database, and `newscrawl sources list` shows
    them.

    Exit code 1 if a site is neither reachable nor moved.

    slug [SLUG]...: Short names of sites; else all that are active.
    --country CODE: Only sites of this country, as in 'de'.
    --workers: Sites visited at a time.
    """
    from newscrawl.sources.visits import Fetcher

    chosen = [
        source
        for source in chosen_sources(slug, sources_by_slug(sources))
        if country is None or source.country == country.lower()
    ]
    if not chosen:
        raise InputError("no site matches: newscrawl sources list shows all")
    from newscrawl.sources.checks import check_and_record

    # Opened first, so that a database that can't be written to fails before a thousand visits.
    with (
        storage.open_database(database or config.NEWSCRAWL_DATABASE_URL) as store,
        Fetcher(named=own_urls(sources)) as fetcher,
        progress("visiting", len(chosen)) as step,
    ):
        checks = check_and_record(
            store, chosen, fetcher, workers=workers, on_result=lambda health: step(health.slug)
        )
    _show_checks(checks, output_format)
    bad = sum(not health.is_healthy for health in checks)
    exit_if(bad, f"{bad} of {len(checks)} sites can't be crawled as they are.")


def _show_checks(checks: "Sequence[Checkup]", output_format: Format) -> None:
    columns = (
        Column("slug", "source", wide=True),
        Column("state", show=state_text),
        Column("read", "listings", of=lambda check: f"{check.working} of {check.listings}"),
        Column("newest", of=lambda check: check.newest_at, show=format_day),
        Column("note", wide=True),
        *for_files("listings", "working", "moved_to"),
    )
    render(checks, columns, output_format, note=_counts(health.state for health in checks))


def _counts(states: Iterable[object]) -> str:
    """Return how often each state occurs, as in "2 failed, 1 not crawled"."""
    numbers = Counter(states).most_common()
    return ", ".join(f"{number} {state}".replace("_", " ") for state, number in numbers)


def state_text(value: object) -> "Text":
    """Return a state in its colour."""
    word = str(value or "")
    return Text(word or "–", style=_CHECK_COLOURS.get(word, "dim"))
