"""newscrawl sources: list, show and add sites, and show their coverage."""

from dataclasses import replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from newscrawl import config
from newscrawl.cli import source_checks
from newscrawl.cli.arguments import (
    DatabaseOption,
    Format,
    FormatOption,
    OwnSourcesOption,
    PrivateOption,
    SinceOption,
    SourceOption,
    UntilOption,
    match_one,
    open_for_reading,
    scope_of,
    sources_by_slug,
)
from newscrawl.cli.extract import fetch_policy

if TYPE_CHECKING:
    from rich.text import Text

    from newscrawl.sources import Source
    from newscrawl.sources.discovery import SiteProfile
    from newscrawl.sources.fetcher import Fetcher
    from newscrawl.storage.source_stats import LastCheckup

app = typer.Typer(
    help="The news sites of the registry, their checks and their coverage.", no_args_is_help=True
)

app.command("check", epilog=source_checks.CHECK_EXAMPLE)(source_checks.check)
app.command("audit", epilog=source_checks.AUDIT_EXAMPLE)(source_checks.audit)

# The user's own sources file unless NEWSCRAWL_SOURCES or --sources names another.
OWN_FILE = "sources.csv"

_STATE_COLOURS = {
    "ok": "green",
    "paywalled": "cyan",
    "stale_feed": "yellow",
    "blocked_by_robots": "yellow",
    "failed": "red",
    "not crawled": "red",
}


@app.command("list", epilog="Example: newscrawl sources list --country de")
def list_sources(
    country: Annotated[
        str | None, typer.Option(help="Only this country, as in 'de'.", metavar="CODE")
    ] = None,
    language: Annotated[
        str | None, typer.Option(help="Only sites in this language, as in 'en'.", metavar="CODE")
    ] = None,
    output_format: FormatOption = "table",
    sources: OwnSourcesOption = None,
    database: DatabaseOption = None,
) -> None:
    """List the sites for `scrapy crawl SLUG`, and the result of their last check."""
    from newscrawl.cli.output import Column, format_day, render, write_note

    chosen = [
        source
        for source in sources_by_slug(sources).values()
        if (country is None or source.country == country.lower())
        and (language is None or language.lower() in source.languages)
    ]
    columns = (
        Column(key="slug", heading="slug"),
        Column(key="name", heading="name", wide=True),
        Column(key="country", heading="from"),
        Column(key="languages", heading="in", wide=True),
        Column(key="status", heading="", table=False),
        Column(key="state", heading="check", show=source_checks.state_text),
        Column(key="last_ok", heading="last ok", show=format_day),
        Column(key="checked_at", heading="", table=False),
        Column(key="home", heading="", table=False),
    )
    checked = _checkups(database)
    rows = [_record(source) | _checkup(checked.get(source.slug)) for source in chosen]
    render(rows, columns, output_format, note=f"{len(chosen)} sites")
    if not chosen:
        write_note("No such site.")
        raise typer.Exit(1)


@app.command(epilog="Example: newscrawl sources show ft")
def show(
    slug: Annotated[str, typer.Argument(help="The site's short name, as in 'ft'.")],
    output_format: FormatOption = "table",
    sources: OwnSourcesOption = None,
    database: DatabaseOption = None,
) -> None:
    """Show a site with its feeds and sitemaps, and the result of its last check."""
    from newscrawl.cli.output import Column, render, write_json

    known = sources_by_slug(sources)
    source = known[match_one(slug, list(known), "source", "newscrawl sources list")]
    record = {
        **_record(source),
        "feeds": source.feeds,
        "sitemaps": source.sitemaps,
        "news_sitemaps": source.news_sitemaps,
        "sections": source.sections,
        **_checkup(_checkups(database).get(source.slug)),
    }
    if output_format == "json":
        write_json(record)
        return
    columns = (
        Column(key="fact", heading="", wide=True),
        Column(key="value", heading="", wide=True, show=_lines),
    )
    render(
        [{"fact": fact, "value": value} for fact, value in record.items()], columns, output_format
    )


@app.command(epilog="Example: newscrawl sources coverage --since 7d")
def coverage(
    since: SinceOption = None,
    until: UntilOption = None,
    source: SourceOption = None,
    output_format: FormatOption = "table",
    database: DatabaseOption = None,
) -> None:
    """Show how each source was crawled on each day: ok, blocked, failed, not crawled.

    Exit code 1 where no crawl is known.
    """
    from newscrawl.cli.output import columns_of, records_of, render, write_note
    from newscrawl.storage import queries

    with open_for_reading(database) as store:
        scope = scope_of(store, since=since, until=until, source=source)
        days = queries.coverage(store, scope=scope)
    columns = [
        replace(one, show=_state) if one.key == "state" else one
        for one in columns_of(queries.CoverageDay)
    ]
    render(records_of(days), columns, output_format, title="Coverage")
    if not days:
        write_note("No crawl is recorded there.")
        raise typer.Exit(1)


def _record(source: "Source") -> dict[str, object]:
    return {
        "slug": source.slug,
        "name": source.name,
        "country": source.country,
        "languages": source.languages,
        "status": source.status,
        "home": source.home,
    }


def _checkups(database: str | None) -> "dict[str, LastCheckup]":
    """Return the last check of each source; empty if there is no database and none was given."""
    from newscrawl.storage import StorageError
    from newscrawl.storage.source_stats import last_checkups

    try:
        with open_for_reading(database) as store:
            return last_checkups(store)
    except StorageError:
        if database:
            raise
        return {}


def _checkup(last: "LastCheckup | None") -> dict[str, object]:
    names = ("state", "note", "checked_at", "last_ok", "newest_at", "moved_to")
    return {name: getattr(last, name, None) for name in names}


def _lines(value: object) -> str:
    from newscrawl.cli.output import format_day

    if isinstance(value, datetime):
        return format_day(value)
    return "\n".join(value) if isinstance(value, tuple) else str("–" if value is None else value)


def _state(value: object) -> "Text":
    from rich.text import Text

    word = str(value or "not crawled")
    return Text(word.replace("_", " "), style=_STATE_COLOURS.get(word, ""))


SlugOption = Annotated[
    str | None, typer.Option(help="Its short name; else made from its host.", metavar="SLUG")
]
SiteCountryOption = Annotated[
    str | None, typer.Option(help="Its country, as in 'de'.", metavar="CODE")
]
SiteLanguagesOption = Annotated[
    list[str] | None,
    typer.Option(help="Its language, as in 'de'; can be repeated.", metavar="CODE"),
]
DryRunOption = Annotated[bool, typer.Option("--dry-run", help="Show the result and write nothing.")]
SourcesOption = Annotated[
    Path | None,
    typer.Option(
        "--sources",
        envvar="NEWSCRAWL_SOURCES",
        help=f"The sources file to write to; else {OWN_FILE} in this folder.",
        metavar="FILE",
    ),
]


@app.command(
    epilog="Example: newscrawl sources add https://www.harbour-courier.example/ --country gb"
)
def add(
    url: Annotated[str, typer.Argument(help="The site's home page.", metavar="URL")],
    slug: SlugOption = None,
    name: Annotated[str | None, typer.Option(help="Its name; else from its home page.")] = None,
    country: SiteCountryOption = None,
    language: SiteLanguagesOption = None,
    dry_run: DryRunOption = False,
    allow_private: PrivateOption = False,
    output_format: FormatOption = "table",
    sources: SourcesOption = None,
) -> None:
    """Add a site to your own sources file.

    Feeds, sitemaps, name, language and country are found on its home page, in robots.txt and in
    the usual places, as politely as by a crawl; feeds and sitemaps are read before they are added.
    A site without them is crawled from its home and section pages.

    Exit code 2 where the site can't be visited or is already registered.
    """
    from newscrawl.extraction.language import settle_language
    from newscrawl.sources.discovery import GivenFields, home_of, propose
    from newscrawl.sources.fetcher import Fetcher
    from newscrawl.sources.registry import add_source, load_registry

    file = Path(sources or config.NEWSCRAWL_SOURCES or OWN_FILE)
    registry = load_registry(file if file.exists() else None)
    stated = GivenFields(
        slug=slug,
        name=name,
        country=country.lower() if country else None,
        languages=tuple(code.lower() for code in language or ()),
    )
    profile = _find(home_of(url), Fetcher(fetch_policy(allow_private=allow_private)))
    source = propose(profile, stated, registry, detect_language=partial(settle_language, None))
    _show_found(source, profile, output_format)
    if not dry_run:
        add_source(file, source)
        _write_next_steps(source, file)


def _find(url: str, fetcher: "Fetcher") -> "SiteProfile":
    from rich.console import Console
    from rich.text import Text

    from newscrawl.cli.output import printable
    from newscrawl.sources.discovery import find

    with Console(stderr=True).status("Visiting the site ...") as status:
        return find(
            url, fetcher, on_fetch=lambda seen: status.update(Text(f"Visiting {printable(seen)}"))
        )


def _show_found(source: "Source", profile: "SiteProfile", output_format: Format) -> None:
    from dataclasses import asdict

    from newscrawl.cli.output import Column, render, write_json

    listings = [asdict(listing) for listing in profile.listings]
    if output_format == "json":
        write_json({**asdict(source), "listings": listings, "refused": profile.refused})
        return
    columns = (
        Column(key="kind", heading="kind"),
        Column(key="url", heading="url", wide=True),
        Column(key="entries", heading="entries", number=True),
        Column(
            key="newest",
            heading="newest",
            show=lambda moment: f"{moment:%Y-%m-%d}" if moment else "–",
        ),
        Column(key="found", heading="", table=False),
    )
    sections = [{"kind": "section", "url": url, "found": "home page"} for url in source.sections]
    title = f"{source.slug}: {source.name} ({source.country}, {', '.join(source.languages)})"
    render(
        [*listings, *sections], columns, output_format, title=title, note="\n".join(profile.refused)
    )


def _write_next_steps(source: "Source", file: Path) -> None:
    from newscrawl.cli.output import write_note

    write_note(f"Added {source.slug!r} to {file}.")
    if not config.NEWSCRAWL_SOURCES:
        write_note(f"To use it in crawls: export NEWSCRAWL_SOURCES={file.absolute()}")
    write_note(f"Then: scrapy crawl {source.slug} -a limit=5")
