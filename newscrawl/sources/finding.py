"""What a new source needs, found on the site itself: `newscrawl sources add`."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import Literal
from urllib.parse import urljoin, urlsplit

from newscrawl.sources.connection import FetchError
from newscrawl.sources.feeds import Entry, Feed, FeedError
from newscrawl.sources.home import Home, read_home
from newscrawl.sources.listings import read_apart, read_listing
from newscrawl.sources.sitemaps import Sitemap, SitemapError
from newscrawl.sources.urls import site_name, web_url
from newscrawl.sources.visits import Visit, Visitor

ListingKind = Literal["feed", "sitemap", "news sitemap"]

# Where sites keep them, the likeliest first; asked for only where the site names none itself.
FEED_PLACES = ("/feed", "/rss", "/rss.xml", "/feed.xml", "/atom.xml", "/index.xml", "/feeds")
SITEMAP_PLACES = (
    "/news-sitemap.xml",
    "/sitemap-news.xml",
    "/sitemap_news.xml",
    "/sitemap.xml",
    "/sitemap_index.xml",
    "/sitemap.xml.gz",
)
# Ours: pages that one search visits at most, and feeds that a source needs at most.
MAX_VISITS = 30
MAX_FEEDS = 10
# Of a listing, the beginning tells what it is.
_ENOUGH = 2 * 1024 * 1024
_MAX_CHILDREN = 3
_NEWS_CHILD = re.compile(r"news|latest|recent|today", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """A feed or sitemap that was read; `found` says where it was named."""

    url: str
    kind: ListingKind
    entries: int
    newest: datetime | None
    found: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What a site says of itself, and the listings of it that work.

    `refused` has a line for each listing that was named and can't be used.
    """

    home: Home
    page: Visit
    listings: tuple[Listing, ...]
    refused: tuple[str, ...] = ()

    def urls(self, kind: ListingKind) -> tuple[str, ...]:
        """Return the listings of a kind, in the order in which they were found."""
        return tuple(listing.url for listing in self.listings if listing.kind == kind)


def find(url: str, visitor: Visitor, *, tell: Callable[[str], None] = lambda _url: None) -> Found:
    """Visit a site's home page, robots.txt and what they name; FetchError where there is no page.

    `tell` hears each URL before it is visited.
    """
    tell(url)
    page = visitor.visit(url)
    if page.status != 200:
        raise FetchError(f"can't fetch {page.url}: the server answered {page.status}")
    home = read_apart(read_home, page.body, page.url, page.content_type)
    search = _Search(visitor, home, tell)
    search.all()
    return Found(
        home=home, page=page, listings=tuple(search.listings), refused=tuple(search.refused)
    )


class _Search:
    """One search of a site: what was found, what was refused, how many visits are left."""

    def __init__(self, visitor: Visitor, home: Home, tell: Callable[[str], None]) -> None:
        self._visitor = visitor
        self._home = home
        self._tell = tell
        self._left = MAX_VISITS
        self._seen: set[str] = set()
        self.listings: list[Listing] = []
        self.refused: list[str] = []

    def all(self) -> None:
        """Read what the site names; look into the usual places for what it doesn't."""
        for url in self._home.feeds:
            self._read(url, "home page")
        for url in self._sitemaps_of_robots():
            self._read(url, "robots.txt")
        for url in self._home.sitemaps:
            self._read(url, "home page")
        if not self._has("feed"):
            self._try(FEED_PLACES)
        if not self._has("sitemap", "news sitemap"):
            self._try(SITEMAP_PLACES)

    def _sitemaps_of_robots(self) -> Iterator[str]:
        for stated in self._visitor.sitemaps(self._home.url):
            yield urljoin(self._home.url, stated)

    def _try(self, places: tuple[str, ...]) -> None:
        for place in places:
            if self._read(urljoin(self._home.url, place), "usual place", report=False):
                return

    def _has(self, *kinds: ListingKind) -> bool:
        return any(listing.kind in kinds for listing in self.listings)

    def _read(self, url: str, found: str, *, report: bool = True) -> bool:
        feeds = sum(listing.kind == "feed" for listing in self.listings)
        if url in self._seen or not self._left or (found == "home page" and feeds >= MAX_FEEDS):
            return False
        self._seen.add(url)
        self._left -= 1
        self._tell(url)
        try:
            listing, final = self._listing(url)
            self._add(listing, final, found)
        except (FetchError, FeedError, SitemapError) as error:
            if report:
                self.refused.append(f"{url}: {_reason(error, url)}")
            return False
        if isinstance(listing, Sitemap):
            self._descend(listing)
        return True

    def _listing(self, url: str) -> tuple[Feed | Sitemap, str]:
        visit = self._visitor.visit(url, max_bytes=_ENOUGH, cut=True)
        if visit.status != 200:
            raise FetchError(f"the server answered {visit.status}")
        listing = read_listing(visit.body, visit.url, visit.content_type)
        return listing, visit.url if visit.moved else url

    def _add(self, listing: Feed | Sitemap, url: str, found: str) -> None:
        if any(known.url == url for known in self.listings):
            return
        kind = _kind(listing)
        if kind == "feed" and not self._is_of_site(listing.entries):
            raise FeedError("is a feed of other sites' pages, or empty")
        moments = [entry.moment for entry in listing.entries if entry.moment]
        entries = len(listing.entries)
        if isinstance(listing, Sitemap):
            entries += len(listing.children)
        self.listings.append(
            Listing(
                url=url, kind=kind, entries=entries, newest=max(moments, default=None), found=found
            )
        )

    def _is_of_site(self, entries: tuple[Entry, ...]) -> bool:
        ours = sum(_same_site(entry.url, self._home.url) for entry in entries)
        return bool(entries) and 2 * ours >= len(entries)

    def _descend(self, index: Sitemap) -> None:
        """Look for the news sitemap among those of an index, by their names."""
        named = (child.url for child in index.children if _NEWS_CHILD.search(child.url))
        for url in islice(named, _MAX_CHILDREN):
            if self._has("news sitemap"):
                return
            self._read_news(url)

    def _read_news(self, url: str) -> None:
        if url in self._seen or not self._left:
            return
        self._seen.add(url)
        self._left -= 1
        self._tell(url)
        try:
            listing, final = self._listing(url)
        except (FetchError, FeedError, SitemapError):
            return  # the index remains, and with it what can be read of it
        if _kind(listing) == "news sitemap":
            self._add(listing, final, "sitemap index")


def _kind(listing: Feed | Sitemap) -> ListingKind:
    if isinstance(listing, Feed):
        return "feed"
    return "news sitemap" if any(entry.hints.title for entry in listing.entries) else "sitemap"


def _same_site(one: str, other: str) -> bool:
    if urlsplit(one).hostname == urlsplit(other).hostname:
        return True
    name = site_name(one)
    return name is not None and name == site_name(other)


def _reason(error: Exception, url: str) -> str:
    return str(error).removeprefix(f"can't fetch {url}: ")


def home_of(url: str) -> str:
    """Return a site's home page as it is to be asked for; UrlError for what is no web address.

    A bare host is meant as https.
    """
    text = url.strip()
    home = web_url(text if "://" in text else f"https://{text}")
    return home if urlsplit(home).path else f"{home}/"
