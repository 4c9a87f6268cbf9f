"""Sitemaps, sitemap indexes and news sitemaps (sitemaps.org protocol, Google's news extension)."""

import io
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from xml.etree.ElementTree import Element, ParseError

from dateutil import parser as dates
from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import iterparse

from newscrawl.items import Hints
from newscrawl.sources.feeds import MAX_TITLE, Entry, plain_text, plausible
from newscrawl.sources.urls import UrlError, web_url

# Both limits are the protocol's own for one sitemap file.
MAX_ENTRIES = 50_000
MAX_BYTES = 50 * 1024 * 1024
# Elements within one entry: a news entry with a thousand pictures has fewer.
_MAX_ELEMENTS = 10_000
_ROOT = re.compile(rb"<(?:\w+:)?(?:urlset|sitemapindex)\b")
_GZIP = b"\x1f\x8b"


class SitemapError(ValueError):
    """A body that is no sitemap, or one that may not be parsed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sitemap:
    """What a sitemap lists: pages, or in an index further sitemaps.

    `damage` says what ended the reading early, where something did.
    """

    entries: tuple[Entry, ...] = ()
    children: tuple[Entry, ...] = ()
    unusable: int = 0
    damage: str | None = None


def looks_like_sitemap(body: bytes) -> bool:
    """Whether unpacked bytes begin as a sitemap in XML does."""
    return _ROOT.search(body[:4096].replace(b"\0", b"")) is not None


def unpack(body: bytes, limit: int = MAX_BYTES) -> bytes:
    """Return the bytes, gunzipped where they are gzip; SitemapError beyond `limit` bytes."""
    if not body.startswith(_GZIP):
        return body
    stream = zlib.decompressobj(wbits=31)
    try:
        text = stream.decompress(body, limit)
    except zlib.error as error:
        raise SitemapError(f"is broken gzip ({error})") from error
    if stream.unconsumed_tail:
        raise SitemapError(f"unpacks to more than {limit} bytes")
    return text


def parse_sitemap(body: bytes, url: str) -> Sitemap:
    """Read a sitemap or an index of sitemaps, gzipped or not.

    What comes before a break in the XML is kept. Raises SitemapError where there is no sitemap,
    for a document type or entities, and for bytes beyond the protocol's limit.
    """
    text = unpack(body)
    if len(text) > MAX_BYTES:
        raise SitemapError(f"is larger than {MAX_BYTES} bytes")
    if not looks_like_sitemap(text):
        raise SitemapError("is no sitemap: neither <urlset> nor <sitemapindex> begins it")
    found: dict[str, list[Entry]] = {"url": [], "sitemap": []}
    unusable, damage = 0, None
    try:
        for kind, element in _elements(text):
            if len(found[kind]) == MAX_ENTRIES:
                damage = f"lists more than {MAX_ENTRIES} entries; the rest is left"
                break
            try:
                found[kind].append(_entry(element, url))
            except UrlError:
                unusable += 1
    except DefusedXmlException as error:
        raise SitemapError("declares a document type or entities, which are refused") from error
    except SitemapError:
        raise
    except (ParseError, LookupError, ValueError) as error:
        damage = f"is broken XML ({error})"
    return Sitemap(
        entries=tuple(found["url"]),
        children=tuple(found["sitemap"]),
        unusable=unusable,
        damage=damage,
    )


def _elements(text: bytes) -> Iterator[tuple[str, Element]]:
    """Yield each <url> and <sitemap>, then forget it, so that memory stays flat."""
    root: Element | None = None
    waiting = 0
    for event, element in iterparse(io.BytesIO(text), events=("start", "end"), forbid_dtd=True):
        if root is None:
            root = element
        if event == "start":
            waiting += 1
            if waiting > _MAX_ELEMENTS:
                raise SitemapError(f"holds more than {_MAX_ELEMENTS} elements in one entry")
            continue
        kind = _name(element)
        if kind in {"url", "sitemap"}:
            yield kind, element
            root.clear()
            waiting = 0


def _entry(element: Element, base: str) -> Entry:
    fields = {_name(child): (child.text or "").strip() for child in element}
    news = {
        _name(part): (part.text or "").strip()
        for child in element
        if _name(child) == "news"
        for part in child.iter()
    }
    return Entry(
        url=web_url(fields.get("loc", ""), base),
        hints=Hints(
            title=plain_text(news.get("title"), MAX_TITLE),
            published=_moment(news.get("publication_date")),
            language=(news.get("language") or "")[:2].lower() or None,
        ),
        modified=_moment(fields.get("lastmod")),
    )


def _name(element: Element) -> str:
    return element.tag.rpartition("}")[2]


def _moment(text: str | None) -> datetime | None:
    if not text:
        return None
    try:
        return plausible(dates.parse(text))
    except (ValueError, OverflowError):
        return None
