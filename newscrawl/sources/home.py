"""What a site's home page says of the site: its name, language, country, feeds and links."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from selectolax.lexbor import LexborHTMLParser, LexborNode
from w3lib.encoding import html_to_unicode

from newscrawl.extraction.html import parse as parse_page
from newscrawl.sources.feeds import plain_text
from newscrawl.sources.urls import UrlError, web_url

# Home pages of large sites hold some hundred links; more is a sitemap, or hostile.
MAX_LINKS = 2_000
_MAX_TEXT = 300
# Elements further up stand too far away to say anything of a link.
_MAX_DEPTH = 12
_HEADINGS = frozenset({"h1", "h2", "h3", "h4"})
_NAVIGATION = frozenset({"nav", "footer", "menu"})
_MAX_NAME = 80
_FEED_TYPES = {"application/rss+xml", "application/atom+xml", "application/rdf+xml"}
# What links to feeds look like: /rss, /feed.xml, /rss/world.xml, but not /feedback.
_FEED_PATH = re.compile(r"/(?:rss|feeds?|atom)(?:[/._-]|$)|\.(?:rss|atom|rdf)$", re.IGNORECASE)
_COMMENTS = re.compile(r"comment|kommentar", re.IGNORECASE)
_PUBLISHERS = {"organization", "newsmediaorganization", "website"}
_TITLE_PARTS = re.compile(r"\s+[|–—·-]\s+|\s*[|:]\s+")
# What titles of home pages say besides the name.
_HOME_WORDS = frozenset(
    {"home", "homepage", "home page", "startseite", "accueil", "inicio", "portada", "início"}
    | {"главная", "strona główna", "forside", "etusivu", "news", "nachrichten", "首页", "ホーム"}
)
_LOCALE = re.compile(r"([a-z]{2,3})(?:[-_](?:[a-z]{4}[-_])?([a-z]{2}))?(?![a-z])", re.IGNORECASE)
# ISO 639-1 has no two letters for it, and sites say it all the same.
_LANGUAGES = {"iw": "he", "in": "id", "ji": "yi", "nb": "no", "nn": "no"}
# Country domains that are sold to the whole world tell nothing (ours, from the IANA root zone).
_WORLDWIDE = frozenset(
    {"ai", "am", "cc", "cd", "co", "eu", "fm", "gg", "io", "la", "ly", "me", "nu", "sh"}
    | {"so", "st", "to", "tv", "vc", "ws"}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """A link as a reader meets it: where it leads, what it says, and whether it stands in a
    headline (h1 to h4, or around one) or in the page's navigation or footer."""

    url: str
    text: str
    headline: bool = False
    navigation: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Home:
    """What a home page says. `language` is ISO 639-1, `country` ISO 3166, both in small letters;
    `feeds` and `sitemaps` are those that it names, unread."""

    url: str
    name: str | None
    language: str | None
    country: str | None
    feeds: tuple[str, ...]
    sitemaps: tuple[str, ...]


def read_home(body: bytes, url: str, content_type: str | None = None) -> Home:
    """Read a home page of any kind; what it doesn't tell is None or empty."""
    tree = parse(body, content_type)
    language, region = _locale(_attribute(tree, "html", "lang"))
    if language is None or region is None:
        stated, other = _locale(_meta(tree, "og:locale"))
        language, region = language or stated, region or other
    return Home(
        url=url,
        name=_name(tree, url),
        language=language,
        country=country_of(url) or region,
        feeds=tuple(dict.fromkeys(_feeds(tree, url))),
        sitemaps=tuple(dict.fromkeys(_hrefs(tree, 'link[rel~="sitemap"]', url))),
    )


def parse(body: bytes, content_type: str | None = None) -> LexborHTMLParser:
    """Return the tree of a page, decoded by its header, its own words or as UTF-8, and within the
    limits of article pages: a home page is as untrusted as they are."""
    _, text = html_to_unicode(content_type, body, default_encoding="utf-8")
    return parse_page(text.replace("\0", "").encode("utf-8", "replace"))


def country_of(url: str) -> str | None:
    """Return the country by which a host is registered, or None for .com and the like."""
    label = (urlsplit(url).hostname or "").rpartition(".")[2]
    if len(label) != 2 or not label.isalpha() or label in _WORLDWIDE:
        return None
    return "gb" if label == "uk" else label


def links(tree: LexborHTMLParser, url: str) -> Iterator[Link]:
    """Yield the links of a page that can be followed, in its order."""
    for number, node in enumerate(tree.css("a[href]")):
        if number == MAX_LINKS:
            return
        try:
            target = web_url(node.attributes.get("href") or "", url)
        except UrlError:
            continue
        around = _ancestors(node)
        yield Link(
            url=target.partition("#")[0],
            text=plain_text(node.text(separator=" "), _MAX_TEXT) or "",
            headline=bool(around & _HEADINGS) or node.css_first("h1,h2,h3,h4") is not None,
            navigation=bool(around & _NAVIGATION),
        )


def _ancestors(node: LexborNode) -> frozenset[str]:
    names, above = set(), node.parent
    for _ in range(_MAX_DEPTH):
        if above is None:
            break
        names.add("nav" if above.attributes.get("role") == "navigation" else above.tag or "")
        above = above.parent
    return frozenset(names)


def _feeds(tree: LexborHTMLParser, url: str) -> Iterator[str]:
    for node in tree.css('link[rel~="alternate"][type][href]'):
        kind = (node.attributes.get("type") or "").partition(";")[0].strip().lower()
        told = f"{node.attributes.get('title') or ''} {node.attributes.get('href') or ''}"
        if kind in _FEED_TYPES and not _COMMENTS.search(told):
            yield from _absolute(node.attributes.get("href"), url)
    for link in links(tree, url):
        parts = urlsplit(link.url)
        if _FEED_PATH.search(parts.path) and not _COMMENTS.search(link.url):
            yield link.url


def _hrefs(tree: LexborHTMLParser, selector: str, url: str) -> Iterator[str]:
    for node in tree.css(selector):
        yield from _absolute(node.attributes.get("href"), url)


def _absolute(href: str | None, url: str) -> Iterator[str]:
    try:
        yield web_url(href or "", url)
    except UrlError:
        return


def _name(tree: LexborHTMLParser, url: str) -> str | None:
    told = (
        _meta(tree, "og:site_name"),
        *_publishers(tree),
        _meta(tree, "application-name"),
        *_parts_of_title(tree, url),
    )
    names = (plain_text(name, _MAX_NAME) for name in told)
    return next((name for name in names if name and "://" not in name), None)


def _parts_of_title(tree: LexborHTMLParser, url: str) -> list[str]:
    """Return the parts of the title, the likeliest name first: one that its host spells, too."""
    title = tree.css_first("title")
    parts = [part for part in _TITLE_PARTS.split(title.text().strip() if title else "") if part]
    host = _squeezed(urlsplit(url).hostname or "")
    named = [part for part in parts if part.casefold().strip() not in _HOME_WORDS] or parts
    return sorted(named, key=lambda part: not _squeezed(part) or _squeezed(part) not in host)


def _squeezed(text: str) -> str:
    return "".join(filter(str.isalnum, text.casefold()))


def _publishers(tree: LexborHTMLParser) -> Iterator[str]:
    for node in tree.css('script[type="application/ld+json"]'):
        try:
            stated = json.loads(node.text())
        except (ValueError, RecursionError):
            continue
        for thing in _things(stated):
            kinds = thing.get("@type")
            kinds = kinds if isinstance(kinds, list) else [kinds]
            known = {str(kind).lower() for kind in kinds} & _PUBLISHERS
            if known and isinstance(thing.get("name"), str):
                yield thing["name"]


def _things(stated: Any) -> Iterator[dict[str, Any]]:
    for thing in stated if isinstance(stated, list) else [stated]:
        if isinstance(thing, dict):
            yield thing
            graph = thing.get("@graph")
            for one in graph if isinstance(graph, list) else ():
                if isinstance(one, dict):
                    yield one


def _locale(text: str | None) -> tuple[str | None, str | None]:
    found = _LOCALE.match((text or "").strip())
    if not found:
        return None, None
    language, region = found[1].lower(), (found[2] or "").lower() or None
    language = _LANGUAGES.get(language, language)
    return (language if len(language) == 2 else None), region


def _meta(tree: LexborHTMLParser, name: str) -> str | None:
    return _attribute(tree, f'meta[property="{name}"],meta[name="{name}"]', "content")


def _attribute(tree: LexborHTMLParser, selector: str, name: str) -> str | None:
    node = tree.css_first(selector)
    return node.attributes.get(name) if node else None
