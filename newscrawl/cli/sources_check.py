"""newscrawl sources check: whether sources can be crawled today."""

from collections import Counter
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from newscrawl import config
from newscrawl.cli.arguments import DatabaseOption, Format, FormatOption, InputError, one_of

if TYPE_CHECKING:
    from rich.text import Text

    from newscrawl.sources import Source
    from newscrawl.sources.checks import SourceCheck
    from newscrawl.storage import Database

EXAMPLE = "Example: newscrawl sources check ft bbc-news"
_COLOURS = {
    "reachable": "green",
    "moved": "cyan",
    "stale": "yellow",
    "no feed": "yellow",
    "blocked": "yellow",
    "unreachable": "red",
}


def check(
    slug: Annotated[
        list[str] | None,
        typer.Argument(help="Short names of sites; else all that are active.", metavar="[SLUG]..."),
    ] = None,
    country: Annotated[
        str | None, typer.Option(help="Only sites of this country, as in 'de'.", metavar="CODE")
    ] = None,
    workers: Annotated[
        int, typer.Option(min=1, max=64, help="Sites that are visited at once.")
    ] = 16,
    output_format: FormatOption = "table",
    database: DatabaseOption = None,
    sources: Annotated[
        Path | None,
        typer.Option(
            "--sources",
            envvar="NEWSCRAWL_SOURCES",
            help="A sources file of your own, beside the bundled one.",
            metavar="FILE",
        ),
    ] = None,
) -> None:
    """Visit sites, and tell which of them can be crawled.

    Home page, feeds and sitemaps are asked for as politely as a crawl would. A site is *reachable*;
    *moved*, for good, to another address; *stale*, with no new article for NEWSCRAWL_RECENT_DAYS;
    *blocked*, by robots.txt or its server; has *no feed* that can be read; or is *unreachable*.
    What is found is kept in the database: `newscrawl sources list` shows it.

    Exit code 1 where a site is neither reachable nor moved.
    """
    from newscrawl.cli.labelled import progress
    from newscrawl.cli.output import say
    from newscrawl.cli.visiting import manners
    from newscrawl.sources.checks import check_sources
    from newscrawl.sources.fetcher import Fetcher
    from newscrawl.storage import open_database

    days = config.whole_number("NEWSCRAWL_RECENT_DAYS", config.NEWSCRAWL_RECENT_DAYS)
    wanted, own = _wanted(slug or (), country, sources)
    fetcher = Fetcher(manners(named=own))
    # Opened first: a database that can't be written to isn't worth a thousand visits.
    with open_database(database or config.NEWSCRAWL_DATABASE_URL) as store:
        with progress("visiting", len(wanted)) as step:
            found = check_sources(
                wanted,
                fetcher,
                recent=timedelta(days=days),
                workers=workers,
                on_result=lambda health: step(health.slug),
            )
        _record(store, wanted, found)
    _show(found, output_format)
    if bad := sum(not health.is_healthy for health in found):
        say(f"{bad} of {len(found)} sites can't be crawled as they are.")
        raise typer.Exit(1)


def _wanted(
    slugs: Sequence[str], country: str | None, own_file: Path | None
) -> tuple["list[Source]", list[str]]:
    """The sites meant, and the URLs that a person's own file names, which may be private ones."""
    from newscrawl.sources import load_sources
    from newscrawl.sources.checks import active_sources
    from newscrawl.sources.registry import load_registry

    file = own_file or (Path(config.NEWSCRAWL_SOURCES) if config.NEWSCRAWL_SOURCES else None)
    registry = {source.slug: source for source in load_registry(file)}
    own = load_sources(file) if file else ()
    named = [
        url
        for source in own
        for url in (source.home, *source.feeds, *source.sitemaps, *source.news_sitemaps)
    ]
    if slugs:
        names = [one_of(slug, list(registry), "source", "newscrawl sources list") for slug in slugs]
        sources = [registry[name] for name in dict.fromkeys(names)]
    else:
        sources = list(active_sources(registry.values()))
    if country is not None:
        sources = [source for source in sources if source.country == country.lower()]
    if not sources:
        raise InputError("no site is meant: newscrawl sources list shows which are there")
    return sources, named


def _record(store: "Database", sources: "Sequence[Source]", found: "Sequence[SourceCheck]") -> None:
    from newscrawl.storage.source_stats import Checkup, record_checkups

    for source in sources:
        store.register_source(
            source.slug, source.name, source.country, source.languages[0], source.home
        )
    record_checkups(
        store,
        [
            Checkup(
                slug=health.slug,
                state=health.state,
                in_order=health.is_healthy,
                note=health.note,
                listings=health.listings,
                working=health.working,
                newest_at=health.newest,
                moved_to=health.moved_to,
            )
            for health in found
        ],
    )


def _show(found: "Sequence[SourceCheck]", output_format: Format) -> None:
    from newscrawl.cli.output import Column, render, shown_day

    columns = (
        Column(key="slug", heading="source", wide=True),
        Column(key="state", heading="state", show=state_text),
        Column(key="read", heading="listings"),
        Column(key="newest", heading="newest", show=shown_day),
        Column(key="note", heading="note", wide=True),
        Column(key="listings", heading="", table=False),
        Column(key="working", heading="", table=False),
        Column(key="moved_to", heading="", table=False),
    )
    records = [
        {
            "slug": health.slug,
            "state": health.state,
            "read": f"{health.working} of {health.listings}",
            "newest": health.newest,
            "note": health.note,
            "listings": health.listings,
            "working": health.working,
            "moved_to": health.moved_to,
        }
        for health in found
    ]
    counts = Counter(health.state for health in found)
    note = ", ".join(f"{count} {state}" for state, count in counts.most_common())
    render(records, columns, output_format, note=note)


def state_text(value: object) -> "Text":
    """A state in its colour."""
    from rich.text import Text

    word = str(value or "")
    return Text(word or "–", style=_COLOURS.get(word, "dim"))
