"""Visit the site of a new source, and find its feeds and facts (`newscrawl sources add`)."""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, Literal, NoReturn
from urllib.parse import urljoin, urlsplit

from newscrawl import config
from newscrawl.extraction.language import decide_language
from newscrawl.sources.feeds import Feed, FeedError
from newscrawl.sources.front_pages import (
    ARTICLE,
    HomePage,
    Link,
    article_points,
    classify_links,
    country_of,
    country_of_language,
    names_in_title,
    parse,
    read_home,
)
from newscrawl.sources.registry import OWN_FILE, Source, SourceError, add_source, load_registry
from newscrawl.sources.sitemaps import (
    LISTING_BEGINNING,
    Sitemap,
    SitemapError,
    parse_in_process,
    read_listing,
)
from newscrawl.sources.urls import page_key, site_name, web_url
from newscrawl.sources.visits import (
    DisallowedError,
    Fetcher,
    FetchError,
    FetchResult,
    PrivateAddressError,
)
from newscrawl.storage import Database
from newscrawl.text import weight_of

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
_MAX_CHILDREN = 3
_HTML = re.compile(rb"<!doctype\s+html|<html\b", re.IGNORECASE)
# Paths of the home pages of editions: /de, /en-gb, /uk.
_EDITION = re.compile(r"/[a-z]{2}(?:[-_][a-z]{2})?", re.IGNORECASE)
_NEWS_CHILD = re.compile(r"news|latest|recent|today", re.IGNORECASE)
_INDEX = "sitemap index"  # the place of a sitemap that an index names


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """A feed or sitemap that was read; `found` is the place of its URL."""

    url: str
    kind: ListingKind
    entries: int
    newest: datetime | None
    found: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """A site that was visited: the facts of its home page, and the listing whose address was given.

    `page` is None for a home page that can't be read, where a feed was given. `notes` has a line
    for each thing that a user may not expect.
    """

    home: HomePage
    page: FetchResult | None
    given: Listing | None = None
    headlines: str = ""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundListings:
    """The working listings of a site, and a line for each one that it names and that can't be
    used."""

    listings: tuple[Listing, ...]
    refused: tuple[str, ...] = ()

    def urls(self, kind: ListingKind) -> tuple[str, ...]:
        """Return the URLs of the listings of a kind, in the order of discovery."""
        return tuple(listing.url for listing in self.listings if listing.kind == kind)


def visit(
    addresses: Sequence[str],
    fetcher: Fetcher,
    *,
    on_fetch: Callable[[str], None] = lambda _url: None,
) -> Site:
    """Return the site of an address: that of its home page, of a section or article, or of a feed
    or sitemap. Of several addresses, the first that answers counts.

    `on_fetch` is called with each URL before it is fetched. Raises FetchError if the page can't be
    fetched.
    """
    failures = []
    for url in addresses:
        on_fetch(url)
        try:
            page = fetcher.fetch(url)
            break
        except (DisallowedError, PrivateAddressError):
            raise
        except FetchError as error:
            failures.append(str(error))
    else:
        raise FetchError("; ".join(failures))
    if page.status == 200 and not _HTML.search(page.body[:1024]):
        try:
            listing = read_listing(page.body, page.url, page.content_type)
        except (FeedError, SitemapError):
            pass  # it is a page
        else:
            return _site_of_listing(page, listing, fetcher, on_fetch)
    if page.status != 200:
        raise FetchError(
            f"can't fetch {page.url}: the server answered {page.status}. If the site has a feed, "
            "give the feed's address"
        )
    paths = [page_key(url)[1] for url in (page.asked, page.url)]
    if all(path and not _EDITION.fullmatch(path) for path in paths):
        on_fetch(urljoin(page.url, "/"))
        root = _page_or_reason(urljoin(page.url, "/"), fetcher)
        moved = isinstance(root, FetchResult) and page_key(root.url) != page_key(page.url)
        if isinstance(root, FetchResult) and moved and _same_site(root.url, page.url):
            note = f"{page.url} is a page of this site, whose home page is {root.url}"
            return Site(home=_read_home(root), page=root, notes=(note,))
    return Site(home=_read_home(page), page=page)


def _page_or_reason(url: str, fetcher: Fetcher) -> FetchResult | str:
    """Return a page, or the reason why it can't be read."""
    try:
        page = fetcher.fetch(url)
    except FetchError as error:
        return _reason(error, url)
    return page if page.status == 200 else f"the server answered {page.status}"


def _read_home(page: FetchResult) -> HomePage:
    return parse_in_process(read_home, page.body, page.url, page.content_type)


def _site_of_listing(
    page: FetchResult,
    listing: Feed | Sitemap,
    fetcher: Fetcher,
    on_fetch: Callable[[str], None],
) -> Site:
    """Return the site of most entries of a listing, whose home page need not be readable."""
    origins = Counter(urljoin(entry.url, "/") for entry in listing.entries).most_common(1)
    root = origins[0][0] if origins else urljoin(page.url, "/")
    on_fetch(root)
    home_page = _page_or_reason(root, fetcher)
    url = page.url if page.moved else page.asked
    notes: tuple[str, ...] = ()
    if isinstance(home_page, FetchResult):
        home = _read_home(home_page)
    else:
        notes = (f"its home page {root} can't be read: {home_page}",)
        hints = [entry.hints for entry in listing.entries]
        home = HomePage(
            url=root,
            name=next(iter(names_in_title(getattr(listing, "title", None) or "", root)), None),
            language=next((hint.language for hint in hints if hint.language), None),
            country=country_of(root),
            feeds=(),
            sitemaps=(),
        )
    texts = (
        text
        for entry in listing.entries
        for text in (entry.hints.title, entry.hints.standfirst)
        if text
    )
    return Site(
        home=home,
        page=home_page if isinstance(home_page, FetchResult) else None,
        given=_described(listing, url, "given"),
        headlines=" ".join(texts),
        notes=notes,
    )


def _described(listing: Feed | Sitemap, url: str, place: str) -> Listing:
    moments = [entry.moment for entry in listing.entries if entry.moment]
    children = len(listing.children) if isinstance(listing, Sitemap) else 0
    return Listing(
        url=url,
        kind=_kind(listing),
        entries=len(listing.entries) + children,
        newest=max(moments, default=None),
        found=place,
    )


def find_listings(
    site: Site, fetcher: Fetcher, *, on_fetch: Callable[[str], None] = lambda _url: None
) -> FoundListings:
    """Read the feeds and sitemaps that a site's home page and robots.txt name, or those at the
    usual paths. A feed that was given is the only one. Raises FetchError."""
    search = _Search(fetcher, site, on_fetch)
    home = site.home
    if not search.has("feed"):
        for url in home.feeds:
            search.read(url, "home page")
    for sitemap in fetcher.sitemaps(home.url):
        search.read(urljoin(home.url, sitemap), "robots.txt")
    for url in home.sitemaps:
        search.read(url, "home page")
    # Of a site that refuses its home page, nothing is tried that it does not name.
    if site.page is not None and not search.has("feed"):
        search.try_places(FEED_PLACES)
    if site.page is not None and not search.has("sitemap", "news sitemap"):
        search.try_places(SITEMAP_PLACES)
    return FoundListings(listings=tuple(search.listings), refused=tuple(search.refused))


class _Search:
    """The state of a search: listings found and refused, number of fetches left."""

    def __init__(self, fetcher: Fetcher, site: Site, on_fetch: Callable[[str], None]) -> None:
        self._fetcher = fetcher
        self._home = site.home.url
        self._on_fetch = on_fetch
        self._fetches_left = MAX_FETCHES
        self.listings: list[Listing] = [site.given] if site.given else []
        self._requested: set[str] = {listing.url for listing in self.listings}
        self.refused: list[str] = []

    def has(self, *kinds: ListingKind) -> bool:
        """Return whether a listing of these kinds was found."""
        return any(listing.kind in kinds for listing in self.listings)

    def try_places(self, places: tuple[str, ...]) -> None:
        """Read the first listing at the usual paths."""
        for place in places:
            if self.read(urljoin(self._home, place), "usual place"):
                return

    def read(self, url: str, place: str) -> bool:
        """Read a listing that a place names, and of an index up to a news sitemap; return whether
        it can be used."""
        feeds = sum(listing.kind == "feed" for listing in self.listings)
        is_over = place == "home page" and feeds >= MAX_FEEDS
        if url in self._requested or not self._fetches_left or is_over:
            return False
        self._requested.add(url)
        self._fetches_left -= 1
        self._on_fetch(url)
        try:
            result = self._fetcher.fetch(url, cut_at=LISTING_BEGINNING)
            if result.status != 200:
                raise FetchError(f"the server answered {result.status}")  # noqa: TRY301
            listing = read_listing(result.body, result.url, result.content_type)
            self._add(listing, result.url if result.moved else url, place)
        except (FetchError, FeedError, SitemapError) as error:
            if place in {"home page", "robots.txt"}:
                self.refused.append(f"{url}: {_reason(error, url)}")
            return False
        if isinstance(listing, Sitemap) and place != _INDEX:
            recent = (child.url for child in listing.children if _NEWS_CHILD.search(child.url))
            for child in islice(recent, _MAX_CHILDREN):
                if not self.has("news sitemap"):
                    self.read(child, _INDEX)
        return True

    def _add(self, listing: Feed | Sitemap, url: str, place: str) -> None:
        """Add a listing that is new; of those in an index, only a news sitemap."""
        kind = _kind(listing)
        if place == _INDEX and kind != "news sitemap":
            return
        if any(earlier.url == url for earlier in self.listings):
            return
        pages = sum(_same_site(entry.url, self._home) for entry in listing.entries)
        if kind == "feed" and not (listing.entries and 2 * pages >= len(listing.entries)):
            raise FeedError("is a feed of other sites' pages, or empty")
        self.listings.append(_described(listing, url, place))


def _kind(listing: Feed | Sitemap) -> ListingKind:
    if isinstance(listing, Feed):
        return "feed"
    return "news sitemap" if any(entry.hints.title for entry in listing.entries) else "sitemap"


def _same_site(first: str, second: str) -> bool:
    if urlsplit(first).hostname == urlsplit(second).hostname:
        return True
    name = site_name(first)
    return name is not None and name == site_name(second)


def _reason(error: Exception, url: str) -> str:
    return str(error).removeprefix(f"can't fetch {url}: ")


def addresses_of(text: str) -> tuple[str, ...]:
    """Return the URLs that a user may mean: without a scheme, that of https and then of http.

    Raises UrlError for anything else than a web address.
    """
    text = text.strip()
    urls = (text,) if "://" in text else (f"https://{text}", f"http://{text}")
    return tuple(url if urlsplit(url).path else f"{url}/" for url in map(web_url, urls))


# Ours: minimum number of characters to detect the language of a text.
_MIN_CHARACTERS = 200
# Returns the language of a text, or None.
LanguageDetector = Callable[[str], str | None]


def refuse_known(home: str, slug: str | None, registry: Iterable[Source]) -> None:
    """Raise SourceError if the home page or the slug is registered already."""
    for source in registry:
        if page_key(source.home) == page_key(home):
            raise SourceError(
                f"{home} is registered already as {source.slug!r}: "
                f"newscrawl sources show {source.slug}"
            )
        if source.slug == slug:
            raise SourceError(f"--slug {slug} is taken by {source.name!r}; choose another")


def describe(
    site: Site,
    registry: Collection[Source],
    *,
    slug: str | None = None,
    name: str | None = None,
    country: str | None = None,
    languages: tuple[str, ...] = (),
    detect_language: LanguageDetector,
) -> tuple[Source, tuple[str, ...]]:
    """Return the source of a site without its listings, from the given fields and its home page or
    feed, and a line for each thing that is guessed.

    `detect_language` is called if neither gives a language, and the country of most speakers is
    that of a site that states none. Raises SourceError if the language is unknown, the site is
    registered already, or the page seems to be an article.
    """
    home, notes = site.home.url, site.notes
    if article_points(Link(url=home, text="")) >= ARTICLE:
        raise SourceError(
            f"{home} looks like the address of an article, and {urljoin(home, '/')} can't be read; "
            "give the address of a feed"
        )
    refuse_known(home, slug, registry)
    name = name or site.home.name or (site_name(home) or page_key(home)[0]).title()
    languages = languages or (_language(site, detect_language),)
    country = country or site.home.country
    if not country:
        country = country_of_language(languages[0]) or _raise_missing("country", "--country gb")
        notes += (f"country {country!r} is guessed from the language; --country CODE changes it",)
    if slug is None:
        names = (site_name(home) or "", name, page_key(home)[0])
        plain = (unicodedata.normalize("NFKD", text).encode("ascii", "ignore") for text in names)
        slugs = (re.sub(r"[^a-z0-9]+", "-", text.decode().lower()).strip("-") for text in plain)
        free = base = next(filter(None, slugs), "")
        number, registered = 2, {source.slug for source in registry}
        while free in registered:
            free, number = f"{base}-{number}", number + 1
        slug = free
    return Source(slug=slug, name=name, country=country, languages=languages, home=home), notes


def with_listings(source: Source, site: Site, listings: FoundListings) -> Source:
    """Return a source with its listings, or with sections if it has none."""
    sections: tuple[str, ...] = ()
    if site.page is not None and not listings.listings:
        page = site.page
        links = parse_in_process(classify_links, page.body, page.url, page.content_type)
        sections = links.sections or (site.home.url,)
    return replace(
        source,
        feeds=listings.urls("feed"),
        sitemaps=listings.urls("sitemap"),
        news_sitemaps=listings.urls("news sitemap"),
        sections=sections,
    )


def _language(site: Site, detect_language: LanguageDetector) -> str:
    if site.home.language:
        return site.home.language
    text = site.headlines
    if not text and site.page is not None:
        texts = parse(site.page.body, site.page.content_type).xpath("//body//text()").getall()
        text = " ".join(" ".join(texts).split())
    detected = detect_language(text) if weight_of(text) >= _MIN_CHARACTERS else None
    return detected or _raise_missing("language", "--language en")


def _raise_missing(field: str, option: str) -> NoReturn:
    raise SourceError(f"the site doesn't state its {field}: add it, for example {option}")


def find_source(
    url: str,
    file: Path,
    fetcher: Fetcher,
    on_fetch: Callable[[str], None] = lambda _url: None,
    **fields: Any,
) -> tuple[Source, FoundListings, tuple[str, ...]]:
    """Return the source of a site with its listings, and what was guessed; `fields` are those
    that are known."""
    registry = load_registry(file if file.exists() else None)
    addresses = addresses_of(url)
    refuse_known(addresses[0], fields.get("slug"), registry)
    site = visit(addresses, fetcher, on_fetch=on_fetch)
    # Before the other requests, as it may ask for an option.
    source, notes = describe(
        site, registry, detect_language=partial(decide_language, None), **fields
    )
    listings = find_listings(site, fetcher, on_fetch=on_fetch)
    return with_listings(source, site, listings), listings, notes


def add_site(database: Database, url: str, country: str, language: str) -> Source:
    """Add a site to the user's own sources file, and return its source; raise SourceError,
    UrlError or FetchError. Country and language are empty if they are not known."""
    file = Path(config.NEWSCRAWL_SOURCES or OWN_FILE)
    languages = (language.lower(),) if language else ()
    with Fetcher() as fetcher:
        source, _, _ = find_source(
            url, file, fetcher, country=country.lower() or None, languages=languages
        )
    add_source(file, source)
    database.register_source(*source.stored_facts)
    return source
