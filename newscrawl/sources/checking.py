"""Whether sources can be crawled today: `newscrawl sources check`."""

import re
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Literal
from urllib.parse import urlsplit

from newscrawl.sources.connection import FetchError
from newscrawl.sources.feeds import FeedError
from newscrawl.sources.listings import read_listing
from newscrawl.sources.registry import Source
from newscrawl.sources.sitemaps import Sitemap, SitemapError
from newscrawl.sources.visits import DisallowedError, Visit, Visitor

State = Literal["reachable", "moved", "stale", "no feed", "blocked", "unreachable"]
# Those in which a crawl finds what it comes for.
IN_ORDER: tuple[State, ...] = ("reachable", "moved")

# Answers that mean us, and no fault of the page.
_REFUSALS = frozenset({401, 402, 403, 407, 429, 451})
# Of a listing, the beginning tells what it is; news sitemaps and feeds begin with the newest.
_ENOUGH = 2 * 1024 * 1024
# Ours: listings of a source that one check visits; what twelve didn't tell, no more will.
MAX_LISTINGS = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Health:
    """What came of a visit to a source: `working` of its `listings` could be read, `newest` is
    their youngest article, `moved_to` where the home page has moved for good."""

    slug: str
    state: State
    note: str = ""
    listings: int = 0
    working: int = 0
    newest: datetime | None = None
    moved_to: str | None = None

    @property
    def in_order(self) -> bool:
        """Whether a crawl would find what it comes for."""
        return self.state in IN_ORDER


@dataclass(frozen=True, slots=True, kw_only=True)
class _Seen:
    """What one visit told: `trouble` is None where the page, or listing, could be read."""

    trouble: str | None = None
    refused: bool = False
    answered: bool = True
    moved_to: str | None = None
    newest: datetime | None = None


def check_all(
    sources: Sequence[Source],
    visitor: Visitor,
    *,
    recent: timedelta,
    workers: int,
    told: Callable[[Health], None] = lambda _health: None,
) -> list[Health]:
    """Return each source's health, in the order of `sources`; many are visited at once.

    No host is asked twice at a time. `told` hears of each source as soon as it is done.
    """
    with ThreadPoolExecutor(workers, "check") as pool:
        waiting = [pool.submit(check, source, visitor, recent=recent) for source in sources]
        try:
            for done in as_completed(waiting):
                told(done.result())
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
        return [one.result() for one in waiting]


def check(source: Source, visitor: Visitor, *, recent: timedelta) -> Health:
    """Visit a source's home page and listings; newest articles older than `recent` are stale."""
    home = _home(source.home, visitor)
    urls = _listings(source)
    seen = [_listing(url, visitor) for url in urls]
    if source.sections and not seen:
        urls, seen = (source.home,), [home]
    working = [one for one in seen if one.trouble is None]
    newest = max((one.newest for one in working if one.newest), default=None)
    state, note = _judge(home, seen, newest, recent)
    return Health(
        slug=source.slug,
        state=state,
        note=note,
        listings=len(urls),
        working=len(working),
        newest=newest,
        moved_to=home.moved_to,
    )


def _listings(source: Source) -> tuple[str, ...]:
    """Return what an ordinary crawl would ask for today."""
    today = source.on(datetime.now(UTC).date())
    short = (*today.feeds, *today.news_sitemaps)
    return (short or today.sitemaps)[:MAX_LISTINGS]


def _judge(
    home: _Seen, seen: Sequence[_Seen], newest: datetime | None, recent: timedelta
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


def _why_nothing_works(home: _Seen, seen: Sequence[_Seen]) -> tuple[State, str]:
    everything = (home, *seen)
    troubled = [one for one in everything if one.trouble]
    if not any(one.answered for one in everything):
        return "unreachable", home.trouble or ""
    refused = [one for one in troubled if one.refused]
    if refused and (len(troubled) == len(everything) or all(one.refused for one in seen)):
        return "blocked", refused[0].trouble or ""
    return "no feed", next((one.trouble for one in seen if one.trouble), "none is known")


def _home(url: str, visitor: Visitor) -> _Seen:
    visit = _visit(url, visitor)
    if isinstance(visit, _Seen):
        return visit
    moved = visit.moved and _place(visit.url) != _place(url)
    return _Seen(moved_to=visit.url if moved else None)


def _listing(url: str, visitor: Visitor) -> _Seen:
    visit = _visit(url, visitor)
    if isinstance(visit, _Seen):
        return visit
    try:
        read = read_listing(visit.body, visit.url, visit.content_type)
    except (FeedError, SitemapError) as error:
        return _Seen(trouble=f"{url} {error}")
    entries = (*read.entries, *read.children) if isinstance(read, Sitemap) else read.entries
    if not entries:
        return _Seen(trouble=f"{url} lists nothing")
    moments = [entry.moment for entry in entries if entry.moment]
    moved = visit.moved and _place(visit.url) != _place(url)
    return _Seen(newest=max(moments, default=None), moved_to=visit.url if moved else None)


def _visit(url: str, visitor: Visitor) -> Visit | _Seen:
    try:
        visit = visitor.visit(url, max_bytes=_ENOUGH, cut=True)
    except DisallowedError as error:
        return _Seen(trouble=_one_line(error), refused=True)
    except FetchError as error:
        return _Seen(trouble=_one_line(error), answered=False)
    if visit.status != 200:
        trouble = f"{url}: the server answered {visit.status}"
        return _Seen(trouble=trouble, refused=visit.status in _REFUSALS)
    return visit


def _one_line(error: FetchError) -> str:
    # The advice that stands behind it is for whoever wants this very page.
    return re.sub(r"^can't fetch |: save the page .*$|: --allow-private .*$", "", str(error))


def _place(url: str) -> tuple[str, str]:
    """Return what matters of an address: http and https, with www or without, are one place."""
    parts = urlsplit(url)
    return (parts.netloc.lower().removeprefix("www."), parts.path.rstrip("/"))


def chosen(sources: Iterable[Source]) -> tuple[Source, ...]:
    """Return those that are worth a check when none is named: not the deprecated ones."""
    return tuple(source for source in sources if source.status == "active")
