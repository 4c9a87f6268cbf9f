"""newscrawl sources: the sites that can be crawled, and whether they were."""

from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from newscrawl import config
from newscrawl.cli import sources_add, sources_audit, sources_check
from newscrawl.cli.arguments import (
    DatabaseOption,
    FormatOption,
    SinceOption,
    SourceOption,
    UntilOption,
    one_of,
    open_for_reading,
    scope_of,
)

if TYPE_CHECKING:
    from rich.text import Text

    from newscrawl.sources import Source
    from newscrawl.storage.source_stats import LastCheckup

app = typer.Typer(
    help="The news sites of the registry, and how well they were covered.", no_args_is_help=True
)

FileOption = Annotated[
    Path | None,
    typer.Option(
        "--sources",
        envvar="NEWSCRAWL_SOURCES",
        help="A sources file of your own, beside the bundled one.",
        metavar="FILE",
    ),
]

app.command("add", epilog=sources_add.EXAMPLE)(sources_add.add)
app.command("check", epilog=sources_check.EXAMPLE)(sources_check.check)
app.command("audit", epilog=sources_audit.EXAMPLE)(sources_audit.audit)

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
    sources: FileOption = None,
    database: DatabaseOption = None,
) -> None:
    """List the sites that `scrapy crawl SLUG` knows, and what their last check found."""
    from newscrawl.cli.output import Column, render, say, shown_day

    chosen = [
        source
        for source in _load(sources)
        if (country is None or source.country == country.lower())
        and (language is None or language.lower() in source.languages)
    ]
    columns = (
        Column(key="slug", heading="slug"),
        Column(key="name", heading="name", wide=True),
        Column(key="country", heading="from"),
        Column(key="languages", heading="in", wide=True),
        Column(key="status", heading="", table=False),
        Column(key="state", heading="check", show=sources_check.state_text),
        Column(key="last_ok", heading="last ok", show=shown_day),
        Column(key="checked_at", heading="", table=False),
        Column(key="home", heading="", table=False),
    )
    checked = _checkups(database)
    rows = [_record(source) | _checkup(checked.get(source.slug)) for source in chosen]
    render(rows, columns, output_format, note=f"{len(chosen)} sites")
    if not chosen:
        say("No such site.")
        raise typer.Exit(1)


@app.command(epilog="Example: newscrawl sources show ft")
def show(
    slug: Annotated[str, typer.Argument(help="The site's short name, as in 'ft'.")],
    output_format: FormatOption = "table",
    sources: FileOption = None,
    database: DatabaseOption = None,
) -> None:
    """Show all that is known of a site: its feeds and sitemaps, and what its last check found."""
    from newscrawl.cli.output import Column, render, write_json

    known = {source.slug: source for source in _load(sources)}
    source = known[one_of(slug, list(known), "source", "newscrawl sources list")]
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
    """Show what became of each source on each day: read, blocked, failed, not crawled.

    Exit code 1 where no crawl is known.
    """
    from newscrawl.cli.output import columns_of, records_of, render, say
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
        say("No crawl is known there.")
        raise typer.Exit(1)


def _load(path: Path | None) -> "tuple[Source, ...]":
    from newscrawl.sources.registry import load_registry

    chosen = path or config.NEWSCRAWL_SOURCES
    return load_registry(Path(chosen) if chosen else None)


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
    """What was found of each source; nothing where there is no database and none was named."""
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
    from newscrawl.cli.output import shown_day

    if isinstance(value, datetime):
        return shown_day(value)
    return "\n".join(value) if isinstance(value, tuple) else str("–" if value is None else value)


def _state(value: object) -> "Text":
    from rich.text import Text

    word = str(value or "not crawled")
    return Text(word.replace("_", " "), style=_STATE_COLOURS.get(word, ""))
