"""Check whether sources can be crawled today (`newscrawl sources check`)."""

import re
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from newscrawl import config
from newscrawl.sources.feeds import FeedError
from newscrawl.sources.registry import (
    Source,
    SourceError,
    load_registry,
    load_sources,
    own_file,
)
from newscrawl.sources.sitemaps import LISTING_BEGINNING, Sitemap, SitemapError, read_listing
from newscrawl.sources.urls import page_key
from newscrawl.sources.visits import DisallowedError, Fetcher, FetchError
from newscrawl.storage import Database
from newscrawl.storage.source_stats import CheckState, Checkup, record_checkups

# Statuses with which a server refuses us; others are faults of the page.
_REFUSALS = frozenset({401, 402, 403, 407, 429, 451})
# Ours: maximum number of listings that a check fetches of one source.
MAX_LISTINGS = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class _Probe:
    """The result of one fetch; `trouble` is None if the page or listing could be read."""

    trouble: str | None = None
    refused: bool = False
    answered: bool = True
    moved_to: str | None = None
    newest: datetime | None = None


def check_sources(
    sources: Sequence[Source],
    fetcher: Fetcher,
    *,
    recent: timedelta,
    workers: int,
    on_result: Callable[[Checkup], None] = lambda _health: None,
) -> list[Checkup]:
    """Check sources concurrently and return the results in the order of `sources`.

    Requests to one host are sequential. `on_result` is called with each result at once.
    """
    with ThreadPoolExecutor(workers, "check") as pool:
        waiting = [pool.submit(check, source, fetcher, recent=recent) for source in sources]
        try:
            for done in as_completed(waiting):
                on_result(done.result())
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
        return [future.result() for future in waiting]


def check(source: Source, fetcher: Fetcher, *, recent: timedelta) -> Checkup:
    """Fetch a source's home page and listings; stale if all articles are older than `recent`."""
    home = _probe(source.home, fetcher, is_listing=False)
    # The listings that a crawl would request today.
    today = source.on(datetime.now(UTC).date())
    short = (*today.feeds, *today.news_sitemaps)
    urls = (short or today.sitemaps)[:MAX_LISTINGS]
    probes = [_probe(url, fetcher, is_listing=True) for url in urls]
    if source.sections and not probes:
        urls, probes = (source.home,), [home]
    working = [probe for probe in probes if probe.trouble is None]
    newest = max((probe.newest for probe in working if probe.newest), default=None)
    state, note = _judge(home, probes, newest, recent)
    return Checkup(
        slug=source.slug,
        state=state,
        note=note,
        listings=len(urls),
        working=len(working),
        newest_at=newest,
        moved_to=home.moved_to,
    )


def _judge(
    home: _Probe, probes: Sequence[_Probe], newest: datetime | None, recent: timedelta
) -> tuple[CheckState, str]:
    visits = (home, *probes)
    troubles = [probe.trouble for probe in visits if probe.trouble]
    if any(probe.trouble is None for probe in probes):
        if newest and newest < datetime.now(UTC) - recent:
            return "stale", f"nothing newer than {newest:%Y-%m-%d}"
        if home.moved_to:
            return "moved", f"to {home.moved_to}"
        if moved := [probe.moved_to for probe in probes if probe.moved_to]:
            return "moved", f"{len(moved)} of the listings, one to {moved[0]}"
        return "reachable", next(iter(troubles), "")
    if not any(probe.answered for probe in visits):
        return "unreachable", home.trouble or ""
    refusals = [probe.trouble for probe in visits if probe.refused]
    all_troubled = len(troubles) == len(visits)
    if refusals and (all_troubled or all(probe.refused for probe in probes)):
        return "blocked", refusals[0] or ""
    return "no feed", next((probe.trouble for probe in probes if probe.trouble), "none is known")


def _probe(url: str, fetcher: Fetcher, *, is_listing: bool) -> _Probe:
    """Fetch a home page, or fetch and read a listing."""
    try:
        result = fetcher.fetch(url, cut_at=LISTING_BEGINNING)
    except FetchError as error:
        # The advice in the message concerns a single page, not a source.
        advice = r"^can't fetch |: save the page .*$|: --allow-private .*$"
        is_disallowed = isinstance(error, DisallowedError)
        return _Probe(
            trouble=re.sub(advice, "", str(error)), refused=is_disallowed, answered=is_disallowed
        )
    if result.status != 200:
        trouble = f"{url}: the server answered {result.status}"
        return _Probe(trouble=trouble, refused=result.status in _REFUSALS)
    has_moved = result.moved and page_key(result.url) != page_key(url)
    moved_to = result.url if has_moved else None
    if not is_listing:
        return _Probe(moved_to=moved_to)
    try:
        listing = read_listing(result.body, result.url, result.content_type)
    except (FeedError, SitemapError) as error:
        return _Probe(trouble=f"{url} {error}")
    children = listing.children if isinstance(listing, Sitemap) else ()
    entries = (*listing.entries, *children)
    if not entries:
        return _Probe(trouble=f"{url} has no entries")
    moments = [entry.moment for entry in entries if entry.moment]
    return _Probe(newest=max(moments, default=None), moved_to=moved_to)


def check_and_record(
    database: Database,
    chosen: Sequence[Source],
    fetcher: Fetcher,
    *,
    workers: int = 1,
    on_result: Callable[[Checkup], None] = lambda _health: None,
) -> list[Checkup]:
    """Check sources as `check_sources` does, and store the results."""
    recent = config.days("NEWSCRAWL_RECENT_DAYS", config.NEWSCRAWL_RECENT_DAYS)
    checks = check_sources(chosen, fetcher, recent=recent, workers=workers, on_result=on_result)
    for source in chosen:
        database.register_source(*source.stored_facts)
    record_checkups(database, checks)
    return checks


def check_registered(database: Database, slug: str) -> None:
    """Check a source of the registry, and store the result; raise SourceError for another."""
    file = own_file(config.NEWSCRAWL_SOURCES)
    source = {source.slug: source for source in load_registry(file)}.get(slug)
    if source is None:
        raise SourceError(f"{slug} is in no list of sources here: newscrawl sources list")
    named_by_user = load_sources(file) if file else ()
    with Fetcher(named=[url for each in named_by_user for url in each.urls]) as fetcher:
        check_and_record(database, [source], fetcher)
