"""newscrawl sources add: a site's row, found on the site itself."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from newscrawl import config
from newscrawl.cli.arguments import Format, FormatOption

if TYPE_CHECKING:
    from newscrawl.sources import Source
    from newscrawl.sources.discovery import SiteProfile
    from newscrawl.sources.fetcher import Fetcher

EXAMPLE = "Example: newscrawl sources add https://www.harbour-courier.example/ --country gb"
# Where a person's own sources stand unless NEWSCRAWL_SOURCES or --sources says otherwise.
OWN_FILE = "sources.csv"


def add(
    url: Annotated[str, typer.Argument(help="The site's home page.", metavar="URL")],
    slug: Annotated[
        str | None, typer.Option(help="Its short name; else from its host.", metavar="SLUG")
    ] = None,
    name: Annotated[str | None, typer.Option(help="Its name; else what it says.")] = None,
    country: Annotated[
        str | None, typer.Option(help="Its country, as in 'de'.", metavar="CODE")
    ] = None,
    language: Annotated[
        list[str] | None,
        typer.Option(help="Its language, as in 'de'; may be given again.", metavar="CODE"),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what was found and write nothing.")
    ] = False,
    allow_private: Annotated[
        bool, typer.Option("--allow-private", help="Visit private addresses too.")
    ] = False,
    output_format: FormatOption = "table",
    sources: Annotated[
        Path | None,
        typer.Option(
            "--sources",
            envvar="NEWSCRAWL_SOURCES",
            help=f"The sources file to write to; else {OWN_FILE} in this folder.",
            metavar="FILE",
        ),
    ] = None,
) -> None:
    """Add a site to your own sources file.

    Its feeds, sitemaps, name, language and country are found from its home page, robots.txt and
    the usual places, as politely as a crawl would; what is found is read before it is believed.
    A site without feeds and sitemaps is read from its home and section pages.

    Exit code 2 where the site can't be visited or is known already.
    """
    from newscrawl.cli.visiting import manners
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
    found = _find(home_of(url), Fetcher(manners(allow_private=allow_private)))
    source = propose(found, stated, registry, detect_language=partial(settle_language, None))
    _show(source, found, output_format)
    if not dry_run:
        add_source(file, source)
        _say_next(source, file)


def _find(url: str, fetcher: "Fetcher") -> "SiteProfile":
    from rich.console import Console
    from rich.text import Text

    from newscrawl.cli.output import printable
    from newscrawl.sources.discovery import find

    with Console(stderr=True).status("Visiting the site ...") as status:
        return find(
            url, fetcher, on_fetch=lambda seen: status.update(Text(f"Visiting {printable(seen)}"))
        )


def _show(source: "Source", found: "SiteProfile", output_format: Format) -> None:
    from dataclasses import asdict

    from newscrawl.cli.output import Column, render, write_json

    listings = [asdict(listing) for listing in found.listings]
    if output_format == "json":
        write_json({**asdict(source), "listings": listings, "refused": found.refused})
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
        [*listings, *sections], columns, output_format, title=title, note="\n".join(found.refused)
    )


def _say_next(source: "Source", file: Path) -> None:
    from newscrawl.cli.output import say

    say(f"Added {source.slug!r} to {file}.")
    if not config.NEWSCRAWL_SOURCES:
        say(f"Crawls read it where that is set: export NEWSCRAWL_SOURCES={file.absolute()}")
    say(f"Then: scrapy crawl {source.slug} -a limit=5")
