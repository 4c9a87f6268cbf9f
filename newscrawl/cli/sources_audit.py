"""newscrawl sources audit: stored articles that robots.txt forbids."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from newscrawl import config, settings
from newscrawl.cli.archives import SourcesOption, counting_bar
from newscrawl.cli.arguments import (
    CompaniesOption,
    DatabaseOption,
    Format,
    FormatOption,
    InputError,
    companies_from,
    one_of,
    open_for_reading,
)

if TYPE_CHECKING:
    from newscrawl.monitoring.robots_audit import Audit, ForbiddenArticle, Rules
    from newscrawl.sources.fetcher import Fetcher
    from newscrawl.storage import Database

EXAMPLE = "Example: newscrawl sources audit ft --purge"

# Ours: a table of more articles is no overview; csv and json have them all.
_SHOWN = 40
# Hosts that are named where nothing is known of their robots.txt.
_NAMED = 5


def audit(
    slug: Annotated[
        list[str] | None,
        typer.Argument(
            help="Short names of sites; else all that were crawled.", metavar="[SLUG]..."
        ),
    ] = None,
    stored: Annotated[
        bool,
        typer.Option("--stored", help="Ask no site: take the copies that the last crawls kept."),
    ] = False,
    purge: Annotated[
        bool, typer.Option("--purge", help="Reduce them to what their feeds told.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Don't ask before a purge.")] = False,
    allow_private: Annotated[
        bool, typer.Option("--allow-private", help="Ask private addresses too.")
    ] = False,
    output_format: FormatOption = "table",
    database: DatabaseOption = None,
    companies: CompaniesOption = None,
    sources: SourcesOption = None,
) -> None:
    """List stored articles that robots.txt forbids by now, and reduce them if you say so.

    Each host is asked for its robots.txt as politely as by a crawl; where that can't be read, the
    last copy of it counts, however old. An article is forbidden where each of its addresses is.

    With --purge headline and standfirst stay, as the feed told them, and the article counts as
    disallowed; its text, its revisions and the mentions in them are gone. Where the feed's words
    are no longer known, the headline alone stays. Archives of pages are left as they are.

    Exit code 1 where such articles are found and not reduced, or where none could be judged.
    """
    from newscrawl.cli.output import say
    from newscrawl.monitoring import robots_audit

    if purge and not yes and not sys.stdin.isatty():
        raise InputError("--purge asks before it drops texts, and nobody is there: add --yes")
    registry = companies_from(companies) if purge else None
    with open_for_reading(database) as store:
        names = _names(store, slug or ())
        fetcher = None if stored else _fetcher(sources, allow_private=allow_private)
        found, rules = _find(store, names, fetcher)
        _show(found, rules, output_format)
        if registry is not None and found.forbidden and (yes or _agreed(len(found.forbidden))):
            with counting_bar("reducing", len(found.forbidden)) as advance:
                robots_audit.purge(store, found.forbidden, registry, advance)
            say(f"Reduced to what their feeds told: {len(found.forbidden):,} articles.")
            return
    if found.forbidden or (found.articles and found.unknown == found.articles):
        raise typer.Exit(1)


def _names(store: "Database", slugs: Sequence[str]) -> list[str] | None:
    from newscrawl.storage import queries

    known = queries.source_slugs(store)
    return [one_of(slug, known, "source", "newscrawl sources coverage") for slug in slugs] or None


def _fetcher(sources: Path | None, *, allow_private: bool) -> "Fetcher":
    """A fetcher that may ask private hosts where a person's own file names them."""
    from newscrawl.cli.visiting import manners
    from newscrawl.sources import load_sources
    from newscrawl.sources.fetcher import Fetcher

    file = sources or (Path(config.NEWSCRAWL_SOURCES) if config.NEWSCRAWL_SOURCES else None)
    own = load_sources(file) if file else ()
    named = [url for one in own for url in (one.home, *one.feeds, *one.sitemaps)]
    return Fetcher(manners(allow_private=allow_private, named=named))


def _find(
    store: "Database", names: Sequence[str] | None, fetcher: "Fetcher | None"
) -> "tuple[Audit, Rules]":
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


def _show(found: "Audit", rules: "Rules", output_format: Format) -> None:
    from dataclasses import asdict

    from newscrawl.cli.output import Column, render, say

    columns = (
        Column(key="article", heading="article", number=True),
        Column(key="source", heading="source", wide=True),
        Column(key="day", heading="day"),
        Column(key="url", heading="URL", wide=True),
        Column(key="rule", heading="rule", wide=True),
        Column(key="host", heading="", table=False),
        Column(key="read_at", heading="", table=False),
    )
    shown: Sequence[ForbiddenArticle] = found.forbidden
    note = f"{len(shown):,} of {found.articles:,} articles are forbidden by robots.txt"
    if output_format == "table" and len(shown) > _SHOWN:
        shown, note = shown[:_SHOWN], f"{note}; the first {_SHOWN} shown"
    render([asdict(one) for one in shown], columns, output_format, note=note)
    if found.unknown:
        hosts = "; ".join(list(rules.unknown)[:_NAMED])
        more = f" and {len(rules.unknown) - _NAMED} more" if len(rules.unknown) > _NAMED else ""
        say(
            f"Not judged: {found.unknown:,} articles, since the robots.txt of {hosts}{more} can't "
            "be read and no copy is stored."
        )


def _agreed(number: int) -> bool:
    return typer.confirm(
        f"Reduce {number:,} articles to headline and standfirst? Their texts can't be had back.",
        err=True,
    )
