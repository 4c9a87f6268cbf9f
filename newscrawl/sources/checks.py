"""Check whether sources can be crawled today: `newscrawl sources check`."""

import re
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Literal
from urllib.parse import urlsplit

from newscrawl.sources.feeds import FeedError
from newscrawl.sources.fetcher import DisallowedError, Fetcher, FetchError, FetchResult
from newscrawl.sources.registry import Source
from newscrawl.sources.sitemaps import Sitemap, SitemapError, read_listing

State = Literal["reachable", "moved", "stale", "no feed", "blocked", "unreachable"]
# States in which a crawl finds articles.
HEALTHY: tuple[State, ...] = ("reachable", "moved")

# Statuses that refuse us, in contrast to faults of the page.
_REFUSALS = frozenset({401, 402, 403, 407, 429, 451})
# The beginning of a listing shows its type, and usually the newest entries.
_ENOUGH = 2 * 1024 * 1024
# Ours: maximum number of listings that a check fetches of one source.
MAX_LISTINGS = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceCheck:
    """The result of a check: `working` of the `listings` could be read, `newest` is the time of
    their newest article, `moved_to` the new address of a home page that has moved permanently."""

    slug: str
    state: State
    note: str = ""
    listings: int = 0
    working: int = 0
    newest: datetime | None = None
    moved_to: str | None = None

    @property
    def is_healthy(self) -> bool:
        """Return whether a crawl would find articles."""
        return self.state in HEALTHY


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
    on_result: Callable[[SourceCheck], None] = lambda _health: None,
) -> list[SourceCheck]:
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
        return [one.result() for one in waiting]


def check(source: Source, fetcher: Fetcher, *, recent: timedelta) -> SourceCheck:
    """Fetch a source's home page and listings; stale if all articles are older than `recent`."""
    home = _home(source.home, fetcher)
    urls = _listings(source)
    seen = [_listing(url, fetcher) for url in urls]
    if source.sections and not seen:
        urls, seen = (source.home,), [home]
    working = [one for one in seen if one.trouble is None]
    newest = max((one.newest for one in working if one.newest), default=None)
    state, note = _judge(home, seen, newest, recent)
    return SourceCheck(
        slug=source.slug,
        state=state,
        note=note,
        listings=len(urls),
        working=len(working),
        newest=newest,
        moved_to=home.moved_to,
    )


def _listings(source: Source) -> tuple[str, ...]:
    """Return the listings that a crawl would request today."""
    today = source.on(datetime.now(UTC).date())
    short = (*today.feeds, *today.news_sitemaps)
    return (short or today.sitemaps)[:MAX_LISTINGS]


def _judge(
    home: _Probe, seen: Sequence[_Probe], newest: datetime | None, recent: timedelta
) -> tuple[State, str]:
    working = [one for one in seen if one.trouble is None]
    if not working:
        return _why_nothing_works(home, seen)
    if newest and newest < datetime.now(UTC) - recent:
        return "stale", f"nothing newer than {newest:%Y-%m-%d}"
    if home.moved_to:
        return "moved", f"to {home.moved_to}"
    if moved := [one.moved_to for one in working if one.moved_to]:
        return "moved", f"{len(moved)} of the listings, one to {moved[0]}"
    return "reachable", next((one.trouble for one in (home, *seen) if one.trouble), "")


def _why_nothing_works(home: _Probe, seen: Sequence[_Probe]) -> tuple[State, str]:
    everything = (home, *seen)
    troubled = [one for one in everything if one.trouble]
    if not any(one.answered for one in everything):
        return "unreachable", home.trouble or ""
    refused = [one for one in troubled if one.refused]
    if refused and (len(troubled) == len(everything) or all(one.refused for one in seen)):
        return "blocked", refused[0].trouble or ""
    return "no feed", next((one.trouble for one in seen if one.trouble), "none is known")


def _home(url: str, fetcher: Fetcher) -> _Probe:
    result = _fetch(url, fetcher)
    if isinstance(result, _Probe):
        return result
    moved = result.moved and _address_key(result.url) != _address_key(url)
    return _Probe(moved_to=result.url if moved else None)


def _listing(url: str, fetcher: Fetcher) -> _Probe:
    result = _fetch(url, fetcher)
    if isinstance(result, _Probe):
        return result
    try:
        read = read_listing(result.body, result.url, result.content_type)
    except (FeedError, SitemapError) as error:
        return _Probe(trouble=f"{url} {error}")
    entries = (*read.entries, *read.children) if isinstance(read, Sitemap) else read.entries
    if not entries:
        return _Probe(trouble=f"{url} has no entries")
    moments = [entry.moment for entry in entries if entry.moment]
    moved = result.moved and _address_key(result.url) != _address_key(url)
    return _Probe(newest=max(moments, default=None), moved_to=result.url if moved else None)


def _fetch(url: str, fetcher: Fetcher) -> FetchResult | _Probe:
    try:
        result = fetcher.fetch(url, max_bytes=_ENOUGH, cut=True)
    except DisallowedError as error:
        return _Probe(trouble=_one_line(error), refused=True)
    except FetchError as error:
        return _Probe(trouble=_one_line(error), answered=False)
    if result.status != 200:
        trouble = f"{url}: the server answered {result.status}"
        return _Probe(trouble=trouble, refused=result.status in _REFUSALS)
    return result


def _one_line(error: FetchError) -> str:
    # The advice in the message concerns a single page, not a source.
    return re.sub(r"^can't fetch |: save the page .*$|: --allow-private .*$", "", str(error))


def _address_key(url: str) -> tuple[str, str]:
    """Return host without www and path, which are equal for http and https."""
    parts = urlsplit(url)
    return (parts.netloc.lower().removeprefix("www."), parts.path.rstrip("/"))


def active_sources(sources: Iterable[Source]) -> tuple[Source, ...]:
    """Return the sources that are checked by default: all but deprecated ones."""
    return tuple(source for source in sources if source.status == "active")
