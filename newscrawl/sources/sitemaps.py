"""Sitemaps, sitemap indexes and news sitemaps (sitemaps.org protocol, Google's news extension)."""

import io
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta, timezone
from xml.etree.ElementTree import Element, ParseError

from dateutil import parser as dates
from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import iterparse

from newscrawl.items import Hints
from newscrawl.sources.feeds import MAX_TITLE, Entry, plain_text, plausible
from newscrawl.sources.urls import MAX_LENGTH, UrlError, web_url
from newscrawl.sources.xml_repair import (
    Shape,
    decode_xml,
    has_long_tag,
    repair_xml,
    states_strange_encoding,
)

# Both limits are the protocol's own for one sitemap file.
MAX_ENTRIES = 50_000
MAX_BYTES = 50 * 1024 * 1024
# Elements within one entry: a news entry with a thousand pictures has fewer.
_MAX_ELEMENTS = 10_000
# Characters of a date: the longest form of W3C's has 35, RFC 5322's 31.
_MAX_DATE = 64
# Characters of an address: one that is longer than MAX_LENGTH is refused, and escapes are shorter
# once they are read.
_MAX_ADDRESS = 2 * MAX_LENGTH
_MAX_TITLE = 16 * MAX_TITLE
_SHAPE = Shape(
    items=frozenset({"url", "sitemap"}),
    max_items=MAX_ENTRIES + 1,
    # Ours: as many as MAX_ENTRIES entries of a news sitemap with a picture have.
    max_tokens=3_000_000,
    fields={"loc": _MAX_ADDRESS, "lastmod": _MAX_DATE, "title": _MAX_TITLE}
    | {"publication_date": _MAX_DATE, "language": _MAX_DATE, "name": MAX_TITLE},
)
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
    if states_strange_encoding(text):
        sitemap = Sitemap(damage="is in no known encoding")
    elif has_long_tag(text):
        sitemap = Sitemap(damage="has a tag longer than any real one")
    else:
        sitemap = _read(text, url)
    if sitemap.damage is None or sitemap.damage.startswith("lists more"):
        return sitemap
    repaired = _read(repair_xml(decode_xml(text), _SHAPE).text.encode(), url)
    if _size(repaired) <= _size(sitemap):
        return sitemap
    return replace(repaired, damage=f"{sitemap.damage}; it was repaired")


def _size(sitemap: Sitemap) -> int:
    return len(sitemap.entries) + len(sitemap.children)


def _read(text: bytes, url: str) -> Sitemap:
    """Read a sitemap up to its end, or to where its XML breaks."""
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
    fields = {_name(child): _text(child) for child in element}
    news = {
        _name(part): _text(part)
        for child in element
        if _name(child) == "news"
        for part in child.iter()
    }
    if not fields.get("loc"):
        raise UrlError("names no page")
    return Entry(
        url=web_url(fields["loc"], base),
        hints=Hints(
            title=plain_text(news.get("title"), MAX_TITLE),
            published=_moment(news.get("publication_date")),
            language=(news.get("language") or "")[:2].lower() or None,
        ),
        modified=_moment(fields.get("lastmod")),
    )


def _text(element: Element) -> str:
    """Return as much of an element's text as any that is read may have."""
    return (element.text or "")[:_MAX_TITLE].strip()


def _name(element: Element) -> str:
    return element.tag.rpartition("}")[2]


def _moment(text: str | None) -> datetime | None:
    if not text:
        return None
    if len(text) > _MAX_DATE:
        return None
    try:
        return plausible(datetime.fromisoformat(text))
    except (ValueError, OverflowError):
        pass  # another form than W3C's
    try:
        return plausible(dates.parse(text, tzinfos=_zone))
    except (ValueError, OverflowError):
        return None


def _zone(_name: str | None, offset: int | None) -> timezone | None:
    """Return a zone that tells its offset; a name alone is ambiguous, and is left."""
    return None if offset is None else timezone(timedelta(seconds=offset))
