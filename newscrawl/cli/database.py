"""newscrawl db: the database itself."""

from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from newscrawl import config, storage
from newscrawl.cli.arguments import (
    Format,
    InputError,
    companies_from,
    open_for_reading,
    own_urls,
    parse_day,
    scope_of,
)
from newscrawl.cli.output import (
    MAX_ROWS,
    Column,
    counting_bar,
    exit_if,
    for_files,
    printable,
    render,
    show_facts,
    total_bar,
    write_note,
)
from newscrawl.text import count_of

if TYPE_CHECKING:
    from newscrawl.mentions import Companies
    from newscrawl.sources.visits import Fetcher
    from newscrawl.storage import Database


app = typer.Typer(help="Upgrade, copy, clean and inspect the database.", no_args_is_help=True)


@app.command(epilog="Example: newscrawl db upgrade --database postgresql://me@host/news")
def upgrade(database: str | None = None) -> None:
    """Create the tables, or upgrade those of an older version.

    Running it again does no harm. Make a backup first.
    """
    before, after = storage.upgrade_database(database or config.NEWSCRAWL_DATABASE_URL)
    if before == after:
        write_note(f"The database is up to date (schema {after}).")
    else:
        write_note(f"The database was upgraded to schema {after} (before: {before or 'none'}).")


@app.command(epilog="Example: newscrawl db rebuild --stories")
def rebuild(store: "Database", stories: bool = False) -> None:
    """Rebuild counts and search index from the articles and their mentions.

    Crawls keep them up to date; this is for a database that other programs have written to. It is
    one transaction, during which crawls can't store articles.

    --stories: Also find again which articles are near copies.
    """
    with total_bar("articles") as report:
        number = store.rebuild(stories=stories, progress=report)
    write_note(f"Counts and search index were rebuilt from {count_of(number, 'article')}.")


@app.command(epilog="Example: newscrawl db prune --keep 90d")
def prune(
    keep: Annotated[str, typer.Option(envvar="NEWSCRAWL_KEEP")] = config.NEWSCRAWL_KEEP,
    database: str | None = None,
) -> None:
    """Delete old rows that crawls and monitoring no longer need; articles and counts stay.

    These are pages of the queue that are done and stored, or that no feed has listed for this time;
    unused feeds; runs without articles; monitors that ended; closed incidents; old copies of
    robots.txt; and revisions that have left the quarantine. No article is fetched again because of
    this. `newscrawl monitor` does the same once a day. Crawls may run at the same time.

    --keep TIME: Delete what is older than this: 14 days or more.
    """
    from newscrawl.storage.deletion import Pruning

    time = retention_time(keep)
    with open_for_reading(database) as store, total_bar("rows") as report:
        pruned = Pruning(database=store, keep=time, report=report).run()
    counts = ", ".join(f"{number:,} {name}" for name, number in pruned.items())
    write_note(f"Deleted: {counts.replace('_', ' ')}.")


@app.command(epilog="Example: newscrawl db copy postgresql://me@host/news")
def copy(store: "Database", target: str) -> None:
    """Copy the database into an empty one, also of the other kind: from SQLite to PostgreSQL.

    Stop monitors and crawls first: articles that they store meanwhile may be missing. The copy is
    one transaction; after an interruption, give the same command again.

    target TARGET-URL: URL of a new, empty database.
    """
    from newscrawl.storage.database import copy_database

    with total_bar("articles indexed") as report:
        number = copy_database(store, target, report)
    write_note(
        f"Copied {count_of(number, 'article')}. Now set NEWSCRAWL_DATABASE_URL to the new one."
    )


_NOT_ERASED = (
    "Others use the database: the words of deleted articles stay in its file until the next "
    "newscrawl db delete or the daily pruning of a monitor."
)
# Ours: hosts without a known robots.txt that a note names.
_MAX_HOSTS = 5


@app.command(epilog="Example: newscrawl db delete https://www.ft.com/content/1 --dry-run")
def delete(
    urls: Annotated[list[str] | None, typer.Argument()] = None,
    source: str | None = None,
    before: str | None = None,
    forbidden: bool = False,
    stored: bool = False,
    dry_run: bool = False,
    allow_private: bool = False,
    output_format: Format = "table",
    companies: Path | None = None,
    sources: Path | None = None,
    database: str | None = None,
) -> None:
    """Delete articles, for example at their publisher's request; this can't be undone.

    Headline, text, authors, earlier versions, mentions, corrections and the entry in the search
    index are deleted, and all counts follow. The address stays, so that no crawl, ingestion or
    reextraction stores the article again. The words are also erased from the files of SQLite, in
    steps between which crawls can write; PostgreSQL does so by VACUUM. Archives, backups and
    exports are files of your own: delete it there, too.

    With --before, only the articles of earlier days; --source and --before together limit each
    other.

    With --forbidden, of all sources or of one, the articles that robots.txt forbids now, which are
    listed with the rule. Each robots.txt is fetched as politely as in a crawl; where it can't be
    read, its last copy applies, however old. An article is forbidden if all of its URLs are. It
    keeps headline and introduction of the feed, with the companies in them, and counts as
    disallowed; where the feed's introduction is not stored, only the headline stays.

    Exit code 1 if there is no article under one of the addresses, or none at all; with --forbidden,
    if no article could be checked, or if --dry-run lists some.

    urls URL: Addresses of articles.
    --source SLUG: Delete all articles of this source.
    --before DAY: Delete articles of earlier days: 2026-01-01, or 365d for all but a year.
    --forbidden: Delete the texts that robots.txt forbids by now; headline and introduction stay.
    --stored: With --forbidden: use stored copies of robots.txt, and visit no site.
    --dry-run: List the articles, and delete nothing.
    """
    from newscrawl.sources.urls import canonical_if_valid
    from newscrawl.sources.visits import Fetcher
    from newscrawl.storage.deletion import articles_of, articles_under, delete_articles

    if forbidden and (urls or before):
        raise InputError("--forbidden takes --source, but no addresses and no --before")
    if output_format != "table" and not forbidden:
        raise InputError(f"--format {output_format} needs --forbidden, whose list is for programs")
    if not forbidden and bool(urls) == bool(source or before):
        raise InputError("give either addresses of articles, or --source, --before or both")
    registry = companies_from(companies) if forbidden and not dry_run else None
    day = parse_day(before, option="--before") if before else None
    with open_for_reading(database) as store:
        slug = scope_of(store, source=source).source
        if forbidden:
            with Fetcher(allow_private=allow_private, named=own_urls(sources)) as fetcher:
                visits = None if stored else fetcher
                code = _delete_forbidden(store, slug, visits, registry, output_format)
            raise typer.Exit(code)
        articles, missing = (
            articles_under(store, [canonical_if_valid(url) or url for url in urls])
            if urls
            else (articles_of(store, slug, day), [])
        )
        if dry_run:
            for article in articles:
                typer.echo(f"{printable(article.url)}  {printable(article.title or '')}")
        else:
            with total_bar("articles") as report:
                erased = delete_articles(store, [article.number for article in articles], report)
            if not erased:
                write_note(_NOT_ERASED)
    for url in missing:
        write_note(f"No article is stored under {printable(url)}")
    write_note(f"Articles {'to delete' if dry_run else 'deleted'}: {len(articles):,}.")
    exit_if(missing or not articles)


def _delete_forbidden(
    store: "Database",
    source: str | None,
    fetcher: "Fetcher | None",
    registry: "Companies | None",
    output_format: Format,
) -> int:
    """List the articles that robots.txt forbids, and reduce them if there is a registry; return the
    exit code."""
    from newscrawl.monitoring import robots_audit
    from newscrawl.storage.deletion import count_read_articles

    sources = None if source is None else [source]
    with counting_bar("articles", count_read_articles(store, sources)) as advance:
        result = robots_audit.audit(store, sources, fetcher, advance)
    columns = (
        Column("article", number=True),
        Column("source", wide=True),
        Column("day"),
        Column("url", "URL", wide=True),
        Column("rule", wide=True),
        *for_files("host", "read_at"),
    )
    number = len(result.forbidden)
    note = f"{number:,} of {count_of(result.articles, 'article')} forbidden by robots.txt"
    render(result.forbidden, columns, output_format, note=note, most=MAX_ROWS)
    if result.unchecked:
        hosts = "; ".join(list(result.unknown)[:_MAX_HOSTS])
        further = len(result.unknown) - _MAX_HOSTS
        more = f" and {further} more" if further > 0 else ""
        write_note(
            f"Not checked: {count_of(result.unchecked, 'article')}, since the robots.txt of "
            f"{hosts}{more} can't be read and no copy is stored."
        )
    if registry is not None and number:
        with counting_bar("reducing", number) as advance:
            if not robots_audit.purge(store, result.forbidden, registry, advance):
                write_note(_NOT_ERASED)
        write_note(f"Reduced to headline and introduction: {count_of(number, 'article')}.")
    is_unknown = 0 < result.articles == result.unchecked
    return 1 if is_unknown or (number and registry is None) else 0


def retention_time(text: str) -> timedelta:
    """Return how long such rows are kept; raise SettingError for a time that is too short."""
    from newscrawl.storage.deletion import MIN_KEEP

    time = config.days("NEWSCRAWL_KEEP", text)
    if time < MIN_KEEP:
        raise config.SettingError(
            f"NEWSCRAWL_KEEP={text}: too short, since pages in feeds are recorded once a week; "
            f"write {MIN_KEEP.days}d or more"
        )
    return time


@app.command(epilog="Example: newscrawl db info --format json")
def info(store: "Database", output_format: Format = "table") -> None:
    """Show the database's place, its numbers of rows, and its newest article."""
    name, facts, size = store.name, storage.queries.facts(store), store.size_on_disk()
    facts_by_name: dict[str, object] = {
        "database": name,
        "schema": facts.version,
        **facts.rows,
        "first day": facts.first_day,
        "last day": facts.last_day,
        "last run": facts.last_run,
        "megabytes on disk": round(size / 1e6, 1),
    }
    show_facts(facts_by_name, output_format)
