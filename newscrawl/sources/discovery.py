"""Visit the sites of sources: find the feeds and facts of a new one (`newscrawl sources add`), and
check whether sources can be crawled today (`newscrawl sources check`)."""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import Literal, NoReturn
from urllib.parse import urljoin, urlsplit

from newscrawl.sources.feeds import Entry, Feed, FeedError
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
from newscrawl.sources.registry import Source, SourceError
from newscrawl.sources.sitemaps import Sitemap, SitemapError, parse_in_process, read_listing
from newscrawl.sources.urls import site_name, web_url
from newscrawl.sources.visits import (
    DisallowedError,
    Fetcher,
    FetchError,
    FetchResult,
    PrivateAddressError,
)

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
_HTML = re.compile(rb"<!doctype\s+html|<html\b", re.IGNORECASE)
# Paths of the home pages of editions: /de, /en-gb, /uk.
_EDITION = re.compile(r"/[a-z]{2}(?:[-_][a-z]{2})?", re.IGNORECASE)
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
    page = _first_answer(addresses, fetcher, on_fetch)
    listing = _listing_in(page)
    if listing is not None:
        return _site_of_listing(page, listing, fetcher, on_fetch)
    if page.status != 200:
        raise FetchError(
            f"can't fetch {page.url}: the server answered {page.status}. If the site has a feed, "
            "give the feed's address"
        )
    if not any(map(_is_home, (page.asked, page.url))):
        on_fetch(_root(page.url))
        root = _page_or_reason(_root(page.url), fetcher)
        moved = isinstance(root, FetchResult) and not _is_same_page(root.url, page.url)
        if isinstance(root, FetchResult) and moved and _same_site(root.url, page.url):
            note = f"{page.url} is a page of this site, whose home page is {root.url}"
            return Site(home=_read_home(root), page=root, notes=(note,))
    return Site(home=_read_home(page), page=page)


def _first_answer(
    addresses: Sequence[str], fetcher: Fetcher, on_fetch: Callable[[str], None]
) -> FetchResult:
    failures = []
    for url in addresses:
        on_fetch(url)
        try:
            return fetcher.fetch(url)
        except (DisallowedError, PrivateAddressError):
            raise
        except FetchError as error:
            failures.append(str(error))
    raise FetchError("; ".join(failures))


def _is_home(url: str) -> bool:
    """Return whether a URL has the path of a home page: none, or that of an edition."""
    return not _path(url) or _EDITION.fullmatch(_path(url)) is not None


def _is_same_page(one: str, other: str) -> bool:
    return (_host(one), _path(one)) == (_host(other), _path(other))


def _root(url: str) -> str:
    return urljoin(url, "/")


def _page_or_reason(url: str, fetcher: Fetcher) -> FetchResult | str:
    """Return a page, or the reason why it can't be read."""
    try:
        page = fetcher.fetch(url)
    except FetchError as error:
        return _reason(error, url)
    return page if page.status == 200 else f"the server answered {page.status}"


def _read_home(page: FetchResult) -> HomePage:
    return parse_in_process(read_home, page.body, page.url, page.content_type)


def _listing_in(page: FetchResult) -> Feed | Sitemap | None:
    """Return the feed or sitemap in a response; None for a page."""
    if page.status != 200 or _HTML.search(page.body[:1024]):
        return None
    try:
        return read_listing(page.body, page.url, page.content_type)
    except (FeedError, SitemapError):
        return None


def _site_of_listing(
    page: FetchResult,
    listing: Feed | Sitemap,
    fetcher: Fetcher,
    on_fetch: Callable[[str], None],
) -> Site:
    """Return the site of most entries of a listing, whose home page need not be readable."""
    origins = Counter(_root(entry.url) for entry in listing.entries).most_common(1)
    root = origins[0][0] if origins else _root(page.url)
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
    texts = (text for entry in listing.entries for text in _texts(entry))
    return Site(
        home=home,
        page=home_page if isinstance(home_page, FetchResult) else None,
        given=_described(listing, url, "given"),
        headlines=" ".join(texts),
        notes=notes,
    )


def _texts(entry: Entry) -> Iterator[str]:
    yield from filter(None, (entry.hints.title, entry.hints.standfirst))


def _described(listing: Feed | Sitemap, url: str, found: str) -> Listing:
    moments = [entry.moment for entry in listing.entries if entry.moment]
    children = len(listing.children) if isinstance(listing, Sitemap) else 0
    return Listing(
        url=url,
        kind=_kind(listing),
        entries=len(listing.entries) + children,
        newest=max(moments, default=None),
        found=found,
    )


def find_listings(
    site: Site, fetcher: Fetcher, *, on_fetch: Callable[[str], None] = lambda _url: None
) -> FoundListings:
    """Read the feeds and sitemaps that a site's home page and robots.txt name, or those at the
    usual paths. A feed that was given is the only one. Raises FetchError."""
    search = _Search(fetcher, site, on_fetch)
    search.all()
    return FoundListings(listings=tuple(search.listings), refused=tuple(search.refused))


class _Search:
    """The state of a search: listings found and refused, number of fetches left."""

    def __init__(self, fetcher: Fetcher, site: Site, on_fetch: Callable[[str], None]) -> None:
        self._fetcher = fetcher
        self._home = site.home
        self._is_readable = site.page is not None
        self._on_fetch = on_fetch
        self._left = MAX_FETCHES
        self.listings: list[Listing] = [site.given] if site.given else []
        self._seen: set[str] = {listing.url for listing in self.listings}
        self.refused: list[str] = []

    def all(self) -> None:
        """Read the listings that the site names, or else those at the usual paths."""
        if not self._has("feed"):
            for url in self._home.feeds:
                self._read_listing(url, "home page")
        for url in self._sitemaps_of_robots():
            self._read_listing(url, "robots.txt")
        for url in self._home.sitemaps:
            self._read_listing(url, "home page")
        if not self._is_readable:
            return  # of a site that refuses its home page, nothing is tried that it does not name
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
        result = self._fetcher.fetch(url, cut_at=_LISTING_BYTES)
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
        self.listings.append(_described(listing, url, found))

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


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenFields:
    """The fields that the user gives; None is taken from the site."""

    slug: str | None = None
    name: str | None = None
    country: str | None = None
    languages: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Description:
    """The facts on a site that its row states; `notes` has a line for each one that is guessed."""

    slug: str
    name: str
    country: str
    languages: tuple[str, ...]
    notes: tuple[str, ...] = ()


def refuse_known(home: str, slug: str | None, registry: Iterable[Source]) -> None:
    """Raise SourceError if the home page or the slug is registered already."""
    for source in registry:
        if _is_same_page(source.home, home):
            raise SourceError(
                f"{home} is registered already as {source.slug!r}: "
                f"newscrawl sources show {source.slug}"
            )
        if source.slug == slug:
            raise SourceError(f"--slug {slug} is taken by {source.name!r}; choose another")


def describe(
    site: Site,
    fields: GivenFields,
    registry: Collection[Source],
    *,
    detect_language: LanguageDetector,
) -> Description:
    """Return the facts on a site, from the given fields and its home page or feed.

    `detect_language` is called if neither gives a language, and the country of most speakers is
    that of a site that states none. Raises SourceError if the language is unknown, the site is
    registered already, or the page seems to be an article.
    """
    home = site.home.url
    if article_points(Link(url=home, text="")) >= ARTICLE:
        raise SourceError(
            f"{home} looks like the address of an article, and {_root(home)} can't be read; give "
            "the address of a feed"
        )
    refuse_known(home, fields.slug, registry)
    name = fields.name or site.home.name or (site_name(home) or _host(home)).title()
    languages = fields.languages or (_language(site, detect_language),)
    country, notes = fields.country or site.home.country, site.notes
    if not country:
        country = country_of_language(languages[0]) or _raise_missing("country", "--country gb")
        notes += (f"country {country!r} is guessed from the language; --country CODE changes it",)
    return Description(
        slug=fields.slug or _free_slug(home, name, {source.slug for source in registry}),
        name=name,
        country=country,
        languages=languages,
        notes=notes,
    )


def source_of(site: Site, description: Description, found: FoundListings) -> Source:
    """Return the source of a site, which has sections if it has no listings."""
    sections: tuple[str, ...] = ()
    if site.page is not None and not found.listings:
        page = site.page
        judged = parse_in_process(classify_links, page.body, page.url, page.content_type)
        sections = judged.sections or (site.home.url,)
    return Source(
        slug=description.slug,
        name=description.name,
        country=description.country,
        languages=description.languages,
        home=site.home.url,
        feeds=found.urls("feed"),
        sitemaps=found.urls("sitemap"),
        news_sitemaps=found.urls("news sitemap"),
        sections=sections,
    )


def _language(site: Site, detect_language: LanguageDetector) -> str:
    if site.home.language:
        return site.home.language
    text = site.headlines
    if not text and site.page is not None:
        body = parse(site.page.body, site.page.content_type).body
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
        return [future.result() for future in waiting]


def check(source: Source, fetcher: Fetcher, *, recent: timedelta) -> SourceCheck:
    """Fetch a source's home page and listings; stale if all articles are older than `recent`."""
    home = _home(source.home, fetcher)
    urls = _listings(source)
    probes = [_listing(url, fetcher) for url in urls]
    if source.sections and not probes:
        urls, probes = (source.home,), [home]
    working = [probe for probe in probes if probe.trouble is None]
    newest = max((probe.newest for probe in working if probe.newest), default=None)
    state, note = _judge(home, probes, newest, recent)
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
    home: _Probe, probes: Sequence[_Probe], newest: datetime | None, recent: timedelta
) -> tuple[State, str]:
    working = [probe for probe in probes if probe.trouble is None]
    if not working:
        return _why_nothing_works(home, probes)
    if newest and newest < datetime.now(UTC) - recent:
        return "stale", f"nothing newer than {newest:%Y-%m-%d}"
    if home.moved_to:
        return "moved", f"to {home.moved_to}"
    if moved := [probe.moved_to for probe in working if probe.moved_to]:
        return "moved", f"{len(moved)} of the listings, one to {moved[0]}"
    return "reachable", next((probe.trouble for probe in (home, *probes) if probe.trouble), "")


def _why_nothing_works(home: _Probe, probes: Sequence[_Probe]) -> tuple[State, str]:
    everything = (home, *probes)
    troubled = [probe for probe in everything if probe.trouble]
    if not any(probe.answered for probe in everything):
        return "unreachable", home.trouble or ""
    refused = [probe for probe in troubled if probe.refused]
    if refused and (len(troubled) == len(everything) or all(probe.refused for probe in probes)):
        return "blocked", refused[0].trouble or ""
    return "no feed", next((probe.trouble for probe in probes if probe.trouble), "none is known")


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
        result = fetcher.fetch(url, cut_at=_LISTING_BYTES)
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
