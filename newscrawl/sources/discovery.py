"""Find the feeds and facts of a new source on the site itself: `newscrawl sources add`."""

import re
import unicodedata
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import Literal
from urllib.parse import urljoin, urlsplit

from newscrawl.sources.feeds import Entry, Feed, FeedError
from newscrawl.sources.fetcher import Fetcher, FetchError, FetchResult
from newscrawl.sources.front_pages import Home, classify_links, parse, read_home
from newscrawl.sources.registry import Source, SourceError
from newscrawl.sources.sitemaps import Sitemap, SitemapError, parse_in_process, read_listing
from newscrawl.sources.urls import site_name, web_url

ListingKind = Literal["feed", "sitemap", "news sitemap"]

# Usual paths, the likeliest first; requested only if the site does not name a listing itself.
FEED_PLACES = ("/feed", "/rss", "/rss.xml", "/feed.xml", "/atom.xml", "/index.xml", "/feeds")
SITEMAP_PLACES = (
    "/news-sitemap.xml",
    "/sitemap-news.xml",
    "/sitemap_news.xml",
    "/sitemap.xml",
    "/sitemap_index.xml",
    "/sitemap.xml.gz",
)
# Ours: maximum number of pages fetched by one search, and of feeds of a source.
MAX_FETCHES = 30
MAX_FEEDS = 10
# The beginning of a listing shows its type.
_ENOUGH = 2 * 1024 * 1024
_MAX_CHILDREN = 3
_NEWS_CHILD = re.compile(r"news|latest|recent|today", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """A feed or sitemap that was read; `found` is the place of its URL."""

    url: str
    kind: ListingKind
    entries: int
    newest: datetime | None
    found: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteProfile:
    """The description of a site by its home page, and its working listings.

    `refused` has a line for each listing that the site names and that can't be used.
    """

    home: Home
    page: FetchResult
    listings: tuple[Listing, ...]
    refused: tuple[str, ...] = ()

    def urls(self, kind: ListingKind) -> tuple[str, ...]:
        """Return the URLs of the listings of a kind, in the order of discovery."""
        return tuple(listing.url for listing in self.listings if listing.kind == kind)


def find(
    url: str, fetcher: Fetcher, *, on_fetch: Callable[[str], None] = lambda _url: None
) -> SiteProfile:
    """Fetch a site's home page, robots.txt and the listings that they name.

    `on_fetch` is called with each URL before it is fetched. Raises FetchError if the home page
    can't be fetched.
    """
    on_fetch(url)
    page = fetcher.fetch(url)
    if page.status != 200:
        raise FetchError(f"can't fetch {page.url}: the server answered {page.status}")
    home = parse_in_process(read_home, page.body, page.url, page.content_type)
    search = _Search(fetcher, home, on_fetch)
    search.all()
    return SiteProfile(
        home=home, page=page, listings=tuple(search.listings), refused=tuple(search.refused)
    )


class _Search:
    """The state of a search: listings found and refused, number of fetches left."""

    def __init__(self, fetcher: Fetcher, home: Home, on_fetch: Callable[[str], None]) -> None:
        self._fetcher = fetcher
        self._home = home
        self._on_fetch = on_fetch
        self._left = MAX_FETCHES
        self._seen: set[str] = set()
        self.listings: list[Listing] = []
        self.refused: list[str] = []

    def all(self) -> None:
        """Read the listings that the site names, or else those at the usual paths."""
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
        for stated in self._fetcher.sitemaps(self._home.url):
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
        self._on_fetch(url)
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
        result = self._fetcher.fetch(url, max_bytes=_ENOUGH, cut=True)
        if result.status != 200:
            raise FetchError(f"the server answered {result.status}")
        listing = read_listing(result.body, result.url, result.content_type)
        return listing, result.url if result.moved else url

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
        """Search the sitemaps of an index for a news sitemap, by their names."""
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
        self._on_fetch(url)
        try:
            listing, final = self._listing(url)
        except (FetchError, FeedError, SitemapError):
            return  # the index itself can be used
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
    """Return the URL of a site's home page; a host without a scheme gets https.

    Raises UrlError for anything else than a web address.
    """
    text = url.strip()
    home = web_url(text if "://" in text else f"https://{text}")
    return home if urlsplit(home).path else f"{home}/"


# Ours: minimum number of characters to detect the language of a text.
_ENOUGH = 200
# Returns the language of a text, or None.
LanguageDetector = Callable[[str], str | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenFields:
    """The fields that the user gives; None is taken from the site."""

    slug: str | None = None
    name: str | None = None
    country: str | None = None
    languages: tuple[str, ...] = ()


def propose(
    found: SiteProfile,
    stated: GivenFields,
    registry: Collection[Source],
    *,
    detect_language: LanguageDetector,
) -> Source:
    """Return the source of a site, from the given fields and its profile.

    `detect_language` is called if neither gives a language. Raises SourceError if a field is
    missing or the site is registered already.
    """
    home = found.home.url
    _refuse_known(home, stated, registry)
    sections: tuple[str, ...] = ()
    if not found.listings:
        page = found.page
        judged = parse_in_process(classify_links, page.body, page.url, page.content_type)
        sections = judged.sections or (home,)
    name = stated.name or found.home.name or (site_name(home) or _host(home)).title()
    return Source(
        slug=stated.slug or _free_slug(home, name, {source.slug for source in registry}),
        name=name,
        country=stated.country or found.home.country or _missing("country", "--country gb"),
        languages=stated.languages or (_language(found, detect_language),),
        home=home,
        feeds=found.urls("feed"),
        sitemaps=found.urls("sitemap"),
        news_sitemaps=found.urls("news sitemap"),
        sections=sections,
    )


def _refuse_known(home: str, stated: GivenFields, registry: Collection[Source]) -> None:
    for source in registry:
        if _host(source.home) == _host(home) and _path(source.home) == _path(home):
            raise SourceError(
                f"{home} is registered already as {source.slug!r}: "
                f"newscrawl sources show {source.slug}"
            )
        if source.slug == stated.slug:
            raise SourceError(f"--slug {stated.slug} is taken by {source.name!r}; choose another")


def _language(found: SiteProfile, detect_language: LanguageDetector) -> str:
    if found.home.language:
        return found.home.language
    body = parse(found.page.body, found.page.content_type).body
    text = " ".join((body.text(separator=" ") if body else "").split())
    detected = detect_language(text) if len(text) >= _ENOUGH else None
    return detected or _missing("language", "--language en")


def _missing(what: str, option: str) -> str:
    raise SourceError(f"the site doesn't state its {what}: add it, for example {option}")


def _free_slug(home: str, name: str, taken: Collection[str]) -> str:
    wanted = _slug(site_name(home) or "") or _slug(name) or _slug(_host(home))
    slug, number = wanted, 2
    while slug in taken:
        slug, number = f"{wanted}-{number}", number + 1
    return slug


def _slug(text: str) -> str:
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "-", plain).strip("-")


def _host(url: str) -> str:
    parts = urlsplit(url)
    return parts.netloc.lower().removeprefix("www.")


def _path(url: str) -> str:
    return urlsplit(url).path.rstrip("/")
