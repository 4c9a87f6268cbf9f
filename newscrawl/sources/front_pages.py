"""Home and section pages: the facts of their site, and which links lead to articles.

A link is classified by its address and its text. The points are ours: reasoned from how content
systems build addresses, then checked on links of real pages (docs/sources.md has figures and
command).

Pages are reduced to the limits of article pages before they are parsed: home pages are untrusted,
too.
"""

import json
import re
import tomllib
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from importlib.resources import files
from itertools import islice
from urllib.parse import unquote, urlsplit

from parsel import Selector

from newscrawl.extraction.html import decode
from newscrawl.extraction.limits import within_limits
from newscrawl.extraction.metadata import jsonld
from newscrawl.items import Hints
from newscrawl.sources.feeds import Entry, plain_text
from newscrawl.sources.urls import UrlError, web_url

# Home pages of large sites have some hundred links; more is a sitemap, or hostile.
MAX_LINKS = 2_000
_MAX_TEXT = 300
# Maximum number of ancestors that are examined for a link.
_MAX_DEPTH = 12
_HEADINGS = frozenset({"h1", "h2", "h3", "h4"})
_NAVIGATION = frozenset({"nav", "footer", "menu"})
_MAX_NAME = 80
# Of the last two, those that are feeds are found by reading them.
_FEED_TYPES = {"application/rss+xml", "application/atom+xml", "application/rdf+xml"} | {
    "application/xml",
    "text/xml",
}
# Paths of feeds: /rss, /feed.xml, /rss/world.xml, but not /feedback.
_FEED_PATH = re.compile(r"/(?:rss|feeds?|atom)(?:[/._-]|$)|\.(?:rss|atom|rdf)$", re.IGNORECASE)
_COMMENTS = re.compile(r"comment|kommentar", re.IGNORECASE)
_PUBLISHERS = {"organization", "newsmediaorganization", "website"}
_TITLE_PARTS = re.compile(r"\s+[|–—·-]\s+|\s*[|:]\s+")
# Words in titles of home pages besides the name.
_HOME_WORDS = frozenset(
    {"home", "homepage", "home page", "startseite", "accueil", "inicio", "portada", "início"}
    | {"главная", "strona główna", "forside", "etusivu", "news", "nachrichten", "首页", "ホーム"}
)
_LOCALE = re.compile(r"([a-z]{2,3})(?:[-_](?:[a-z]{4}[-_])?([a-z]{2}))?(?![a-z])", re.IGNORECASE)
# Codes outside ISO 639-1 that sites use.
_LANGUAGES = {"iw": "he", "in": "id", "ji": "yi", "nb": "no", "nn": "no"}
# Country domains that are sold worldwide (ours, from the IANA root zone).
_WORLDWIDE = frozenset(
    {"ai", "am", "cc", "cd", "co", "eu", "fm", "gg", "io", "la", "ly", "me", "nu", "sh"}
    | {"so", "st", "to", "tv", "vc", "ws"}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """A link: URL, text, and whether it is in or around a headline (h1 to h4), or in the page's
    navigation or footer."""

    url: str
    text: str
    headline: bool = False
    navigation: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class HomePage:
    """The facts on a home page. `language` is ISO 639-1, `country` ISO 3166, both in lower case;
    `feeds` and `sitemaps` are URLs that have not been fetched."""

    url: str
    name: str | None
    language: str | None
    country: str | None
    feeds: tuple[str, ...]
    sitemaps: tuple[str, ...]


def read_home(body: bytes, url: str, content_type: str | None = None) -> HomePage:
    """Parse a home page; facts that it doesn't state are None or empty."""
    tree = parse(body, content_type)
    language, region = _locale(tree.css("html::attr(lang)").get())
    if language is None or region is None:
        og_language, og_region = _locale(_meta(tree, "og:locale"))
        language, region = language or og_language, region or og_region
    feeds: list[str] = []
    for node in tree.css('link[rel~="alternate"][type][href]'):
        kind = node.attrib["type"].partition(";")[0].strip().lower()
        label = f"{node.attrib.get('title', '')} {node.attrib['href']}"
        if kind in _FEED_TYPES and not _COMMENTS.search(label):
            feeds += _absolute([node.attrib["href"]], url)
    for link in links(tree, url):
        if _FEED_PATH.search(urlsplit(link.url).path) and not _COMMENTS.search(link.url):
            feeds.append(link.url)
    scripts = tree.css('script[type="application/ld+json"]::text').getall()
    publishers = jsonld.read(scripts).of_types(_PUBLISHERS)
    names = (
        _meta(tree, "og:site_name"),
        *(node["name"] for node in publishers if isinstance(node.get("name"), str)),
        _meta(tree, "application-name"),
        *names_in_title(tree.css("title::text").get(""), url),
    )
    short_names = (plain_text(name, _MAX_NAME) for name in names)
    return HomePage(
        url=url,
        name=next((name for name in short_names if name and "://" not in name), None),
        language=language,
        country=country_of(url) or region,
        feeds=tuple(dict.fromkeys(feeds)),
        sitemaps=_absolute(tree.css('link[rel~="sitemap"]::attr(href)').getall(), url),
    )


def parse(body: bytes, content_type: str | None = None) -> Selector:
    """Return the tree of a page, decoded as pages of articles are."""
    body = within_limits(decode(body, content_type).replace(b"\0", b""))
    return Selector(body=body or b" ", encoding="utf-8", type="html")


def country_of(url: str) -> str | None:
    """Return the country of a host's country domain, or None for .com and the like."""
    label = (urlsplit(url).hostname or "").rpartition(".")[2]
    if len(label) != 2 or not label.isalpha() or label in _WORLDWIDE:
        return None
    return "gb" if label == "uk" else label


def country_of_language(language: str) -> str | None:
    """Return the country of most speakers of a language."""
    data = files("newscrawl").joinpath("data", "countries.json").read_text("utf-8")
    country: str | None = json.loads(data)["countries"].get(language)
    return country


def links(tree: Selector, url: str) -> Iterator[Link]:
    """Yield the links of a page that can be followed, in document order."""
    for node in tree.xpath(f"(//a[@href])[position() <= {MAX_LINKS}]"):
        try:
            target = web_url(node.attrib["href"], url)
        except UrlError:
            continue
        around = {
            "nav" if element.get("role") == "navigation" else element.tag
            for element in islice(node.root.iterancestors(), _MAX_DEPTH)
        }
        texts = node.xpath(".//text()").getall()
        yield Link(
            url=target.partition("#")[0],
            text=plain_text(" ".join(texts), _MAX_TEXT) or "",
            headline=bool(around & _HEADINGS or node.css("h1,h2,h3,h4")),
            navigation=bool(around & _NAVIGATION),
        )


def _absolute(addresses: Iterable[str], url: str) -> tuple[str, ...]:
    """Return the addresses that can be followed, without duplicates."""
    urls: dict[str, None] = {}
    for address in addresses:
        with suppress(UrlError):
            urls[web_url(address, url)] = None
    return tuple(urls)


def names_in_title(title: str, url: str) -> list[str]:
    """Return the parts of a title, first those that the host name contains."""
    parts = [part for part in _TITLE_PARTS.split(title.strip()) if part]
    host = _squeeze(urlsplit(url).hostname or "")
    names = [part for part in parts if part.casefold().strip() not in _HOME_WORDS] or parts
    return sorted(names, key=lambda part: not _squeeze(part) or _squeeze(part) not in host)


def _squeeze(text: str) -> str:
    return "".join(filter(str.isalnum, text.casefold()))


def _locale(text: str | None) -> tuple[str | None, str | None]:
    locale = _LOCALE.match((text or "").strip())
    if not locale:
        return None, None
    language, region = locale[1].lower(), (locale[2] or "").lower() or None
    language = _LANGUAGES.get(language, language)
    return (language if len(language) == 2 else None), region


def _meta(tree: Selector, name: str) -> str | None:
    return tree.css(f'meta[property="{name}"],meta[name="{name}"]').attrib.get("content")


# Minimum points of a link to an article. A link with at least one point may be one, so it isn't
# used as a section.
ARTICLE = 3
_MAYBE_ARTICLE = 1
# Maximum number of section pages of a source.
MAX_SECTIONS = 20
# Maximum number of articles of a page; home pages link to a few hundred.
MAX_ARTICLES = 500

_DATE = re.compile(r"/(?:19|20)\d\d[/-]?(?:0[1-9]|1[0-2])(?:[/-]?(?:0[1-9]|[12]\d|3[01]))?(?!\d)")
_NUMBER = re.compile(r"\d{5,}")
_HEX = re.compile(r"(?=[0-9a-f-]*\d)[0-9a-f]{8}-?[0-9a-f-]{8,}", re.IGNORECASE)
_MIXED_ID = re.compile(r"[a-z]{1,3}[0-9][0-9a-z]{6,}|[a-z]\d{4,}", re.IGNORECASE)
_ARTICLE_PARAMETER = re.compile(r"(?:^|&)\w*(?:id|p|no|art|story)=\w*\d{4,}", re.IGNORECASE)
_PARTING = re.compile(r"[-_+\s]+")
_EXTENSION = re.compile(r"\.(?:s?html?|php|aspx?|jsp|ece|cms|story)$", re.IGNORECASE)
_FILES = re.compile(
    r"\.(?:jpe?g|png|gif|webp|svg|pdf|mp[34]|m3u8|zip|xml|rss|atom|js|css|json|apk|ics)$",
    re.IGNORECASE,
)
_PAGE_NUMBER = re.compile(r"(?:^|[/?&])(?:page|seite|pagina|p)[=/-]?\d{1,4}$", re.IGNORECASE)
_WORDS = tomllib.loads(
    files("newscrawl.sources").joinpath("link_words.toml").read_text(encoding="utf-8")
)
_ARTICLE_WORDS = frozenset(_WORDS["article"].split())
_OTHER_WORDS = frozenset(_WORDS["other"].split())
# Scripts without spaces between words: kana, ideographs; in URLs all scripts of Asia.
_ASIAN = re.compile("[\u0e00-\uffff]")


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassifiedLinks:
    """The links of a page: entries of articles, and URLs of sections."""

    articles: tuple[Entry, ...]
    sections: tuple[str, ...]


def classify_links(body: bytes, url: str, content_type: str | None = None) -> ClassifiedLinks:
    """Classify the links of a section or home page, each URL by the best of its links.

    Links to other hosts are included: the caller knows which hosts belong to the site.
    """
    best: dict[str, tuple[int, Link]] = {}
    for link in links(parse(body, content_type), url):
        points = article_points(link)
        if link.url not in best or points > best[link.url][0]:
            best[link.url] = (points, link)
    articles = [link for points, link in best.values() if points >= ARTICLE]
    unlikely = [link for points, link in best.values() if points < _MAYBE_ARTICLE]
    entries = []
    for link in articles[:MAX_ARTICLES]:
        # The headline is used as a hint if the article may not be read.
        title = link.text if link.headline and word_count(link.text) >= 4 else None
        entries.append(Entry(url=link.url, hints=Hints(title=title)))
    return ClassifiedLinks(articles=tuple(entries), sections=sections_of(unlikely, url))


def article_points(link: Link) -> int:
    """Return the points of a link; ARTICLE points or more mean an article."""
    parts = urlsplit(link.url)
    path = unquote(parts.path)
    segments = [segment for segment in path.split("/") if segment]
    if not segments and not parts.query:
        return -10
    if _FILES.search(path) or _PAGE_NUMBER.search(link.url):
        return -10
    return (
        _points_of_path(path, segments)
        + (2 if _ARTICLE_PARAMETER.search(parts.query) else 0)
        + _points_of_words(link.text)
        + (1 if link.headline else 0)
        - (2 if link.navigation else 0)
    )


def sections_of(links: Iterable[Link], url: str) -> tuple[str, ...]:
    """Return the URLs of sections among the links that are not articles, navigation first."""
    host = urlsplit(url).hostname
    sections = [link for link in links if _is_section(link, host)]
    ordered = sorted(sections, key=lambda link: not link.navigation)
    return tuple(dict.fromkeys(link.url for link in ordered if link.url != url))[:MAX_SECTIONS]


def _points_of_path(path: str, segments: list[str]) -> int:
    last = _EXTENSION.sub("", segments[-1]) if segments else ""
    # A number at the end follows the headline, as in /harbour-gets-a-bridge/497533355.
    slug = segments[-2] if last.isdigit() and len(segments) > 1 else last
    words = [word for word in _PARTING.split(slug) if word]
    points = 0
    if _DATE.search(path):
        points += 2
    if len(words) >= 4 or len(_ASIAN.findall(slug)) >= 8:
        points += 3
    elif len(words) == 3:
        points += 1
    if _NUMBER.search(last) or _HEX.search(last) or any(map(_MIXED_ID.fullmatch, words)):
        points += 3
    elif any(_NUMBER.search(segment) or _HEX.fullmatch(segment) for segment in segments[:-1]):
        points += 1
    if last != (segments[-1] if segments else ""):
        points += 1
    if any(segment.lower() in _ARTICLE_WORDS for segment in segments[:-1]):
        points += 1
    return points - 3 * _is_other_kind(segments)


def _points_of_words(text: str) -> int:
    """Return points for a text's length: headlines are sentences, section names a word or two."""
    count = word_count(text)
    if count >= 5:
        return 2
    if count >= 4:
        return 1
    return -1 if 0 < count <= 2 else 0


def word_count(text: str) -> int:
    """Return the number of words; in scripts without spaces, two characters count as one."""
    words = text.split()
    if len(text) > 12 * max(len(words), 1) or any(
        "\u3040" <= letter <= "\u9fff" for letter in text
    ):
        return max(len(words), len(text) // 2)
    return len(words)


def _is_other_kind(segments: list[str]) -> bool:
    """Return whether a folder, or a last segment of up to two words, names another kind of page."""
    folders = {segment.lower() for segment in segments[:-1]}
    last = (
        [word.lower() for word in _PARTING.split(_EXTENSION.sub("", segments[-1]))]
        if segments
        else []
    )
    return bool(folders & _OTHER_WORDS) or (len(last) <= 2 and bool(_OTHER_WORDS & set(last)))


def _is_section(link: Link, host: str | None) -> bool:
    parts = urlsplit(link.url)
    segments = [segment for segment in unquote(parts.path).split("/") if segment]
    if parts.hostname != host or parts.query or not 1 <= len(segments) <= 3:
        return False
    if _FILES.search(parts.path) or _PAGE_NUMBER.search(link.url) or _is_other_kind(segments):
        return False
    short = all(len(_PARTING.split(segment)) <= 3 and len(segment) <= 30 for segment in segments)
    digits = any(letter.isdigit() for letter in parts.path)
    return short and not digits and 0 < word_count(link.text) <= 4
