"""newscrawl sources check and audit: which sites can be crawled, and which stored pages may be."""

import sys
from collections import Counter
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from newscrawl import config, settings
from newscrawl.cli.arguments import (
    CompaniesOption,
    DatabaseOption,
    Format,
    FormatOption,
    InputError,
    OwnSourcesOption,
    PrivateOption,
    companies_from,
    match_one,
    open_for_reading,
    own_urls,
    sources_by_slug,
)
from newscrawl.cli.extract import fetch_policy

if TYPE_CHECKING:
    from rich.text import Text

    from newscrawl.monitoring.robots_audit import Audit, ForbiddenArticle, Rules
    from newscrawl.sources import Source
    from newscrawl.sources.discovery import SourceCheck
    from newscrawl.sources.fetcher import Fetcher
    from newscrawl.storage import Database

AUDIT_EXAMPLE = "Example: newscrawl sources audit ft --purge"
CHECK_EXAMPLE = "Example: newscrawl sources check ft bbc-news"
# Ours: a table of more articles is no overview; csv and json have them all.
_MAX_ROWS = 40
# The number of hosts named whose robots.txt is unknown.
_MAX_HOSTS = 5
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
    workers: Annotated[int, typer.Option(min=1, max=64, help="Sites visited at a time.")] = 16,
    output_format: FormatOption = "table",
    database: DatabaseOption = None,
    sources: OwnSourcesOption = None,
) -> None:
    """Visit sites, and report which of them can be crawled.

    Home page, feeds and sitemaps are fetched as politely as by a crawl. A site is *reachable*;
    *moved* permanently to another address; *stale*, without a new article for
    NEWSCRAWL_RECENT_DAYS; *blocked* by robots.txt or its server; has *no feed* that can be read; or
    is *unreachable*. The results are stored in the database, and `newscrawl sources list` shows
    them.

    Exit code 1 where a site is neither reachable nor moved.
    """
    from newscrawl.cli.output import progress, write_note
    from newscrawl.sources.discovery import check_sources
    from newscrawl.sources.fetcher import Fetcher
    from newscrawl.storage import open_database

    days = config.whole_number("NEWSCRAWL_RECENT_DAYS", config.NEWSCRAWL_RECENT_DAYS)
    wanted = _selected_sources(slug or (), country, sources)
    fetcher = Fetcher(fetch_policy(named=own_urls(sources)))
    # Opened first: a database that can't be written to isn't worth a thousand visits.
    with open_database(database or config.NEWSCRAWL_DATABASE_URL) as store:
        with progress("visiting", len(wanted)) as step:
            checks = check_sources(
                wanted,
                fetcher,
                recent=timedelta(days=days),
                workers=workers,
                on_result=lambda health: step(health.slug),
            )
        _record(store, wanted, checks)
    _show_checks(checks, output_format)
    if bad := sum(not health.is_healthy for health in checks):
        write_note(f"{bad} of {len(checks)} sites can't be crawled as they are.")
        raise typer.Exit(1)


def _selected_sources(
    slugs: Sequence[str], country: str | None, own_file: Path | None
) -> "list[Source]":
    """Return the sites to visit."""
    from newscrawl.sources.discovery import active_sources

    registry = sources_by_slug(own_file)
    if slugs:
        names = [
            match_one(slug, list(registry), "source", "newscrawl sources list") for slug in slugs
        ]
        sources = [registry[name] for name in dict.fromkeys(names)]
    else:
        sources = list(active_sources(registry.values()))
    if country is not None:
        sources = [source for source in sources if source.country == country.lower()]
    if not sources:
        raise InputError("no site matches: newscrawl sources list shows all")
    return sources


def _record(
    store: "Database", sources: "Sequence[Source]", checks: "Sequence[SourceCheck]"
) -> None:
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
                healthy=health.is_healthy,
                note=health.note,
                listings=health.listings,
                working=health.working,
                newest_at=health.newest,
                moved_to=health.moved_to,
            )
            for health in checks
        ],
    )


def _show_checks(checks: "Sequence[SourceCheck]", output_format: Format) -> None:
    from newscrawl.cli.output import Column, format_day, render

    columns = (
        Column(key="slug", heading="source", wide=True),
        Column(key="state", heading="state", show=state_text),
        Column(key="read", heading="listings"),
        Column(key="newest", heading="newest", show=format_day),
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
        for health in checks
    ]
    counts = Counter(health.state for health in checks)
    note = ", ".join(f"{count} {state}" for state, count in counts.most_common())
    render(records, columns, output_format, note=note)


def state_text(value: object) -> "Text":
    """Return a state in its colour."""
    from rich.text import Text

    word = str(value or "")
    return Text(word or "–", style=_COLOURS.get(word, "dim"))


def audit(
    slug: Annotated[
        list[str] | None,
        typer.Argument(
            help="Short names of sites; else all that were crawled.", metavar="[SLUG]..."
        ),
    ] = None,
    stored: Annotated[
        bool,
        typer.Option("--stored", help="Use stored copies of robots.txt, and visit no site."),
    ] = False,
    purge: Annotated[
        bool, typer.Option("--purge", help="Reduce them to headline and standfirst.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Don't ask before a purge.")] = False,
    allow_private: PrivateOption = False,
    output_format: FormatOption = "table",
    database: DatabaseOption = None,
    companies: CompaniesOption = None,
    sources: OwnSourcesOption = None,
) -> None:
    """List stored articles that robots.txt now forbids, and with --purge reduce them.

    The robots.txt of each host is fetched as politely as by a crawl; where it can't be read, the
    last stored copy applies, however old. An article is forbidden if all of its URLs are.

    With --purge, headline and standfirst of the feed remain, and the article counts as disallowed;
    its text, its revisions and the mentions in them are deleted. Where the feed's standfirst is not
    stored, only the headline remains. Archives of pages are not changed.

    Exit code 1 where such articles are found and not reduced, or where none could be checked.
    """
    from newscrawl.cli.output import counting_bar, write_note
    from newscrawl.monitoring import robots_audit

    if purge and not yes and not sys.stdin.isatty():
        raise InputError("--purge asks before it deletes texts, which needs a terminal: add --yes")
    registry = companies_from(companies) if purge else None
    with open_for_reading(database) as store:
        names = _names(store, slug or ())
        fetcher = None if stored else _fetcher(sources, allow_private=allow_private)
        result, rules = _find(store, names, fetcher)
        _show_audit(result, rules, output_format)
        if registry is not None and result.forbidden and (yes or _confirm(len(result.forbidden))):
            with counting_bar("reducing", len(result.forbidden)) as advance:
                robots_audit.purge(store, result.forbidden, registry, advance)
            write_note(f"Reduced to headline and standfirst: {len(result.forbidden):,} articles.")
            return
    if result.forbidden or (result.articles and result.unknown == result.articles):
        raise typer.Exit(1)


def _names(store: "Database", slugs: Sequence[str]) -> list[str] | None:
    from newscrawl.storage import queries

    known = queries.source_slugs(store)
    return [
        match_one(slug, known, "source", "newscrawl sources coverage") for slug in slugs
    ] or None


def _fetcher(sources: Path | None, *, allow_private: bool) -> "Fetcher":
    """Return a fetcher that may ask private hosts where a person's own file names them."""
    from newscrawl.sources.fetcher import Fetcher

    return Fetcher(fetch_policy(allow_private=allow_private, named=own_urls(sources)))


def _find(
    store: "Database", names: Sequence[str] | None, fetcher: "Fetcher | None"
) -> "tuple[Audit, Rules]":
    from newscrawl.cli.output import counting_bar
    from newscrawl.monitoring import robots_audit
    from newscrawl.storage.retention import count_read_articles

    number = count_read_articles(store, names)
    with counting_bar("articles", number) as advance:
        hosts = robots_audit.hosts_of_articles(store, names, advance)
    with counting_bar("robots.txt", len(hosts)) as advance:
        agent = settings.ROBOTSTXT_USER_AGENT
        rules = robots_audit.rules_of(store, hosts, agent, fetcher, advance)
    with counting_bar("articles", number) as advance:
        return robots_audit.audit(store, names, rules, advance), rules


def _show_audit(result: "Audit", rules: "Rules", output_format: Format) -> None:
    from dataclasses import asdict

    from newscrawl.cli.output import Column, render, write_note

    columns = (
        Column(key="article", heading="article", number=True),
        Column(key="source", heading="source", wide=True),
        Column(key="day", heading="day"),
        Column(key="url", heading="URL", wide=True),
        Column(key="rule", heading="rule", wide=True),
        Column(key="host", heading="", table=False),
        Column(key="read_at", heading="", table=False),
    )
    shown: Sequence[ForbiddenArticle] = result.forbidden
    note = f"{len(shown):,} of {result.articles:,} articles are forbidden by robots.txt"
    if output_format == "table" and len(shown) > _MAX_ROWS:
        shown, note = shown[:_MAX_ROWS], f"{note}; the first {_MAX_ROWS} shown"
    render([asdict(one) for one in shown], columns, output_format, note=note)
    if result.unknown:
        hosts = "; ".join(list(rules.unknown)[:_MAX_HOSTS])
        further = len(rules.unknown) - _MAX_HOSTS
        more = f" and {further} more" if further > 0 else ""
        write_note(
            f"Not checked: {result.unknown:,} articles, since the robots.txt of {hosts}{more} "
            "can't be read and no copy is stored."
        )


def _confirm(number: int) -> bool:
    return typer.confirm(
        f"Reduce {number:,} articles to headline and standfirst? Their texts can't be restored.",
        err=True,
    )
