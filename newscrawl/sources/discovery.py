"""Visit the sites of sources: find the feeds and facts of a new one (`newscrawl sources add`), and
check whether sources can be crawled today (`newscrawl sources check`)."""

import re
import unicodedata
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import Literal, NoReturn
from urllib.parse import urljoin, urlsplit

from newscrawl.sources.feeds import Entry, Feed, FeedError
from newscrawl.sources.fetcher import DisallowedError, Fetcher, FetchError, FetchResult
from newscrawl.sources.front_pages import (
    ARTICLE,
    HomePage,
    Link,
    article_points,
    classify_links,
    parse,
    read_home,
)
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
# Bytes: the beginning of a listing shows its type, and usually the newest entries.
_LISTING_BYTES = 2 * 1024 * 1024
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

    home: HomePage
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

    def __init__(self, fetcher: Fetcher, home: HomePage, on_fetch: Callable[[str], None]) -> None:
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
            self._read_listing(url, "home page")
        for url in self._sitemaps_of_robots():
            self._read_listing(url, "robots.txt")
        for url in self._home.sitemaps:
            self._read_listing(url, "home page")
        if not self._has("feed"):
            self._try(FEED_PLACES)
        if not self._has("sitemap", "news sitemap"):
            self._try(SITEMAP_PLACES)

    def _sitemaps_of_robots(self) -> Iterator[str]:
        for stated in self._fetcher.sitemaps(self._home.url):
            yield urljoin(self._home.url, stated)

    def _try(self, places: tuple[str, ...]) -> None:
        for place in places:
            if self._read_listing(urljoin(self._home.url, place), "usual place", report=False):
                return

    def _has(self, *kinds: ListingKind) -> bool:
        return any(listing.kind in kinds for listing in self.listings)

    def _read_listing(self, url: str, found: str, *, report: bool = True) -> bool:
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
        result = self._fetcher.fetch(url, max_bytes=_LISTING_BYTES, cut=True)
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
_MIN_CHARACTERS = 200
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
    profile: SiteProfile,
    fields: GivenFields,
    registry: Collection[Source],
    *,
    detect_language: LanguageDetector,
) -> Source:
    """Return the source of a site, from the given fields and its profile.

    `detect_language` is called if neither gives a language. Raises SourceError if a field is
    missing, the site is registered already, or the page seems to be an article.
    """
    home = profile.home.url
    if article_points(Link(url=home, text="")) >= ARTICLE:
        raise SourceError(
            f"{home} looks like the address of an article; give the site's home page, as in "
            f"{urljoin(home, '/')}"
        )
    _refuse_known(home, fields, registry)
    sections: tuple[str, ...] = ()
    if not profile.listings:
        page = profile.page
        judged = parse_in_process(classify_links, page.body, page.url, page.content_type)
        sections = judged.sections or (home,)
    name = fields.name or profile.home.name or (site_name(home) or _host(home)).title()
    return Source(
        slug=fields.slug or _free_slug(home, name, {source.slug for source in registry}),
        name=name,
        country=fields.country or profile.home.country or _raise_missing("country", "--country gb"),
        languages=fields.languages or (_language(profile, detect_language),),
        home=home,
        feeds=profile.urls("feed"),
        sitemaps=profile.urls("sitemap"),
        news_sitemaps=profile.urls("news sitemap"),
        sections=sections,
    )


def _refuse_known(home: str, fields: GivenFields, registry: Collection[Source]) -> None:
    for source in registry:
        if _host(source.home) == _host(home) and _path(source.home) == _path(home):
            raise SourceError(
                f"{home} is registered already as {source.slug!r}: "
                f"newscrawl sources show {source.slug}"
            )
        if source.slug == fields.slug:
            raise SourceError(f"--slug {fields.slug} is taken by {source.name!r}; choose another")


def _language(profile: SiteProfile, detect_language: LanguageDetector) -> str:
    if profile.home.language:
        return profile.home.language
    body = parse(profile.page.body, profile.page.content_type).body
    text = " ".join((body.text(separator=" ") if body else "").split())
    detected = detect_language(text) if len(text) >= _MIN_CHARACTERS else None
    return detected or _raise_missing("language", "--language en")


def _raise_missing(field: str, option: str) -> NoReturn:
    raise SourceError(f"the site doesn't state its {field}: add it, for example {option}")


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


State = Literal["reachable", "moved", "stale", "no feed", "blocked", "unreachable"]
# States in which a crawl finds articles.
HEALTHY: tuple[State, ...] = ("reachable", "moved")

# Statuses with which a server refuses us; others are faults of the page.
_REFUSALS = frozenset({401, 402, 403, 407, 429, 451})
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
        result = fetcher.fetch(url, max_bytes=_LISTING_BYTES, cut=True)
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
