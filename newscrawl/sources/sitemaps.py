"""Sitemaps, sitemap indexes and news sitemaps (sitemaps.org protocol, Google's news extension)."""

import codecs
import io
import re
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final, TypeVar

from lxml import etree

from newscrawl.extraction.html import decode
from newscrawl.items import Hints
from newscrawl.sources.feeds import (
    MAX_TITLE,
    Entry,
    Feed,
    moment_of,
    parse_feed,
    plain_text,
    plausible,
)
from newscrawl.sources.urls import MAX_LENGTH, UrlError, web_url
from newscrawl.sources.visits import FetchError
from newscrawl.sources.xml_repair import Shape, has_long_tag, repair_xml
from newscrawl.workers import Limits, WorkerProcess, WorkExceededError

# Both limits are the protocol's own for one sitemap file.
MAX_ENTRIES = 50_000
MAX_BYTES = 50 * 1024 * 1024
# Bytes: the beginning of a listing shows its type, and usually the newest entries.
LISTING_BEGINNING = 2 * 1024 * 1024
# Elements in one entry: a news entry with a thousand pictures has fewer.
_MAX_ELEMENTS = 10_000
# Characters of a date: the longest form of W3C's has 35, RFC 5322's 31.
_MAX_DATE = 64
# W3C's forms of a year and a month.
_WITHOUT_DAY = re.compile(r"\d{4}(?:-\d\d)?")
# Characters of an address: one longer than MAX_LENGTH is refused, and escapes are shorter after
# parsing.
_MAX_ADDRESS = 2 * MAX_LENGTH
_MAX_TITLE = 16 * MAX_TITLE
_SHAPE = Shape(
    items=frozenset({"url", "sitemap"}),
    max_items=MAX_ENTRIES + 1,
    # Ours: the number of MAX_ENTRIES entries of a news sitemap with a picture each.
    max_tokens=3_000_000,
    fields={"loc": _MAX_ADDRESS, "lastmod": _MAX_DATE, "title": _MAX_TITLE}
    | {"publication_date": _MAX_DATE, "language": _MAX_DATE, "name": MAX_TITLE},
)
_ROOT = re.compile(rb"<(?:\w+:)?(?:urlset|sitemapindex)\b")
# The protocol's third form: a text with one address a line.
_ADDRESSES = re.compile(rb"(?:\xef\xbb\xbf)?\s*+(?:https?://[^\s<>\"]++\s*+)++")
_GZIP = b"\x1f\x8b"
# A server may compress a file that is compressed.
_MAX_GZIP = 2


class SitemapError(ValueError):
    """A body is not a sitemap, or must not be parsed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sitemap:
    """The content of a sitemap: pages, or in an index further sitemaps.

    `damage` is the error that ended the parsing early, if there was one.
    """

    entries: tuple[Entry, ...] = ()
    children: tuple[Entry, ...] = ()
    unusable: int = 0
    damage: str | None = None


def looks_like_sitemap(body: bytes) -> bool:
    """Return whether decompressed bytes begin like a sitemap in XML."""
    return _ROOT.search(body[:4096].replace(b"\0", b"")) is not None


def decompress(body: bytes, limit: int = MAX_BYTES) -> bytes:
    """Return the bytes, decompressed if they are gzip; raise SitemapError beyond `limit` bytes."""
    text = body
    for _ in range(_MAX_GZIP):
        if not text.startswith(_GZIP):
            break
        stream = zlib.decompressobj(wbits=31)
        try:
            text = stream.decompress(text, limit)
        except zlib.error as error:
            raise SitemapError(f"is broken gzip ({error})") from error
        if stream.unconsumed_tail:
            raise SitemapError(f"decompresses to more than {limit} bytes")
    return text


def parse_sitemap(body: bytes, url: str) -> Sitemap:
    """Parse a sitemap or sitemap index, gzipped or not.

    The entries before an error in the XML are kept. Raises SitemapError if the body is not a
    sitemap, has a document type or entities, or exceeds the protocol's limit of size.
    """
    text = decompress(body)
    if len(text) > MAX_BYTES:
        raise SitemapError(f"is larger than {MAX_BYTES} bytes")
    if not looks_like_sitemap(text):
        raise SitemapError("is not a sitemap: neither <urlset> nor <sitemapindex> begins it")
    text = decode(text)
    if has_long_tag(text):
        sitemap = Sitemap(damage="has a tag longer than any real one")
    else:
        sitemap = _read_sitemap(text, url)
    if sitemap.damage is None or sitemap.damage.startswith("lists more"):
        return sitemap
    repaired = _read_sitemap(repair_xml(text.decode(), _SHAPE).text.encode(), url)
    if _size(repaired) <= _size(sitemap):
        return sitemap
    return replace(repaired, damage=f"{sitemap.damage}; it was repaired")


def _size(sitemap: Sitemap) -> int:
    return len(sitemap.entries) + len(sitemap.children)


def _read_sitemap(text: bytes, url: str) -> Sitemap:
    """Parse a sitemap up to its end or to the first XML error."""
    entries: dict[str, list[Entry]] = {"url": [], "sitemap": []}
    unusable, damage = 0, None
    try:
        for kind, element in _elements(text):
            if len(entries[kind]) == MAX_ENTRIES:
                damage = f"has more than {MAX_ENTRIES} entries; the rest is ignored"
                break
            try:
                entries[kind].append(_entry(element, url))
            except UrlError:
                unusable += 1
    except SitemapError:
        raise
    except (etree.XMLSyntaxError, LookupError, ValueError) as error:
        damage = f"is broken XML ({error})"
    return Sitemap(
        entries=tuple(entries["url"]),
        children=tuple(entries["sitemap"]),
        unusable=unusable,
        damage=damage,
    )


def _elements(text: bytes) -> Iterator[tuple[str, Any]]:
    """Yield each <url> and <sitemap>, and clear it afterwards, so that memory stays constant.

    Entities are neither resolved nor loaded, and libxml2's limits of depth and size apply.
    """
    root = None
    count = 0
    events = etree.iterparse(
        io.BytesIO(text),
        events=("start", "end"),
        encoding="utf-8",
        resolve_entities=False,
        load_dtd=False,
        no_network=True,
        huge_tree=False,
        remove_comments=True,
        remove_pis=True,
    )
    for event, element in events:
        if root is None:
            root = element
            if root.getroottree().docinfo.internalDTD is not None:
                raise SitemapError("declares a document type or entities, which are refused")
        if event == "start":
            count += 1
            if count > _MAX_ELEMENTS:
                raise SitemapError(f"has more than {_MAX_ELEMENTS} elements in one entry")
            continue
        kind = _name(element)
        if kind in {"url", "sitemap"}:
            yield kind, element
            root.clear()
            count = 0


def _entry(element: Any, base: str) -> Entry:
    fields = {_name(child): _text(child) for child in element}
    news = {
        _name(part): _text(part)
        for child in element
        if _name(child) == "news"
        for part in child.iter()
    }
    if not fields.get("loc"):
        raise UrlError("has no URL")
    return Entry(
        url=web_url(fields["loc"], base),
        hints=Hints(
            title=plain_text(news.get("title"), MAX_TITLE),
            published=_moment(news.get("publication_date")),
            language=(news.get("language") or "")[:2].lower() or None,
        ),
        modified=_moment(fields.get("lastmod")),
    )


def _text(element: Any) -> str:
    """Return the text of an element, cut to the longest of any field."""
    text: str = element.text or ""
    return text[:_MAX_TITLE].strip()


def _name(element: Any) -> str:
    """Return the local name of an element, also of one whose prefix is not declared."""
    name: str = element.tag.rpartition("}")[2].rpartition(":")[2]
    return name


def _moment(text: str | None) -> datetime | None:
    if not text or len(text) > _MAX_DATE or _WITHOUT_DAY.fullmatch(text):
        return None
    moment = moment_of(text)
    return plausible(moment) if moment else None


Result = TypeVar("Result")

# Ours: a sitemap of 50 MB with broken XML takes 10 s and 600 MB, feeds and home pages a tenth; on a
# busy machine it may take four times as long.
LIMITS: Final = Limits(seconds=20, megabytes=768, clock_seconds=80.0)


def read_listing(body: bytes, url: str, content_type: str | None = None) -> Feed | Sitemap:
    """Parse a feed or sitemap, gzipped or not. Raises FeedError or SitemapError."""
    text = decompress(body)
    if looks_like_sitemap(text):
        return parse_sitemap(text, url)
    if _ADDRESSES.fullmatch(text):
        entries, unusable = [], 0
        for line in text.removeprefix(codecs.BOM_UTF8).split(maxsplit=MAX_ENTRIES)[:MAX_ENTRIES]:
            try:
                entries.append(Entry(url=web_url(line.decode("utf-8", "replace"), url)))
            except UrlError:
                unusable += 1
        return Sitemap(entries=tuple(entries), unusable=unusable)
    return parse_feed(text, url, content_type=content_type)


def parse_in_process(
    read: Callable[[bytes, str, str | None], Result],
    body: bytes,
    url: str,
    kind: str | None,
    limits: Limits = LIMITS,
) -> Result:
    """Return the result of a function that parses a page, in a process with limits.

    Hostile HTML can keep a parser busy for hours. Raises FetchError if a limit is exceeded.
    """
    worker = WorkerProcess(limits)
    try:
        return worker.run(read, body, url, kind)
    except WorkExceededError as error:
        raise FetchError(f"can't read {url}: it {error}") from error
    finally:
        worker.close()
