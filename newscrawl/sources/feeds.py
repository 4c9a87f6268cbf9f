"""RSS, Atom and RDF feeds: the hints about pages before those are fetched."""

import calendar
import io
import json
import re
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from html import unescape
from time import struct_time
from typing import Any

import feedparser
from selectolax.lexbor import LexborHTMLParser

from newscrawl.extraction.html import decode
from newscrawl.extraction.metadata import dates, names
from newscrawl.items import Hints
from newscrawl.notices import is_notice
from newscrawl.sources.urls import MAX_LENGTH, UrlError, address_of, unwrapped, web_url
from newscrawl.sources.xml_repair import SHORT, Shape, repair_xml
from newscrawl.text import sentence_ends, unescape_all

# The largest feeds of the registry's sites stay below 2 MB.
MAX_BYTES = 8 * 1024 * 1024
# Real feeds have 10 to 300 entries; the rest of a longer one is old or hostile.
MAX_ENTRIES = 2_000
# A standfirst is a paragraph; feeds with whole articles in it are cut here.
MAX_STANDFIRST = 2_000
MAX_TITLE = 500
MAX_AUTHORS = 20
# Characters of markup that are read for each character of text; pictures and styles take the rest.
_MARKUP = 16
_ENTITY_DECLARATION = re.compile(rb"<!ENTITY", re.IGNORECASE)
_SPACE = re.compile(r"\s+")
# 03/05/2026 may be the 3rd or the 5th.
_DAY_OR_MONTH = re.compile(r"\s*(?:0?\d|1[0-2])/(?:0?\d|1[0-2])/")
# Tags that separate words; all others may be within one.
_BLOCK = re.compile(
    r"</?(?:p|br|div|li|ul|ol|h[1-6]|table|tr|td|blockquote)\b[^<>]*>", re.IGNORECASE
)
# RDF Site Summary 1.0, module Syndication.
_PERIODS = {
    "hourly": timedelta(hours=1),
    "daily": timedelta(days=1),
    "weekly": timedelta(days=7),
    "monthly": timedelta(days=30),
    "yearly": timedelta(days=365),
}
_HTML = re.compile(r"\s*<(?:!doctype html|html)\b", re.IGNORECASE)
_FIRST_ITEM = re.compile(r"<(?:\w+:)?(?:item|entry)[\s>]")
# The site of an RSS channel, or of an Atom feed.
_HOME = re.compile(
    r"<link>\s*(https?://[^<\s]+)\s*</link>"
    r"|<link\b(?![^>]*rel=[\"'](?!alternate))[^>]*href=[\"'](https?://[^\"'\s]+)"
)
# "https://https://a.example", "http:/a.example", and "a.example/story" or "www.a.example/story"
# that were taken for paths.
_SCHEME = re.compile(r"^(?:https?:/*)?(https?):?/+(?=\w)", re.IGNORECASE)
_HOST_IN_PATH = re.compile(
    r"^(https?://)(?:([\w.-]+/)(?=\2)|(?!www\.)(?:[\w.-]+/)+?(?=www\.[\w-]+\.[a-z]{2,}[./]))",
    re.IGNORECASE,
)
_TEXT = _MARKUP * MAX_STANDFIRST
_TITLE = _MARKUP * MAX_TITLE
# The fields of all dialects; fields that are not listed are names, dates or numbers.
_SHAPE = Shape(
    items=frozenset({"item", "entry"}),
    max_items=MAX_ENTRIES,
    # Ours: the number of MAX_ENTRIES entries with sixty elements each.
    max_tokens=500_000,
    fields={
        **dict.fromkeys(("title", "subtitle", "tagline", "copyright", "rights"), _TITLE),
        **dict.fromkeys(("link", "guid", "id", "origlink", "comments", "url"), 2 * MAX_LENGTH),
        **dict.fromkeys(("description", "summary", "abstract", "encoded", "content"), _TEXT),
        **dict.fromkeys(("fullitem", "body"), _TEXT),
        **dict.fromkeys(("creator", "category", "subject", "language", "ttl"), SHORT),
        **dict.fromkeys(("pubdate", "date", "published", "issued", "created"), SHORT),
        **dict.fromkeys(("updated", "modified", "lastbuilddate"), SHORT),
    },
    markup=frozenset(
        {"description", "summary", "abstract", "encoded", "content", "fullitem", "body"}
    ),
)
# Ours: a clock may be fast by less. What is further in the future is local time that is labelled
# UTC, up to the easternmost zone; a date beyond that is a mistake.
_CLOCK_TOLERANCE = timedelta(minutes=5)
_EASTERNMOST = timedelta(hours=14)
# A link that ends a description, with the tags and signs after it, and how many are left out.
# Ours: characters of "Continue reading" or "Share on Facebook" in all languages.
_LAST_LINK = re.compile(
    r"<a\b[^<>]*+>(?:[^<>]{1,60}+|<(?!/?a\b)[^<>]*+>){0,6}</a>[^\w<>]*+(?:<[^<>]*+>[^\w<>]*+)*+"
)
# What introduces such a link: "[", "(Source:".
_BEFORE_LINK = re.compile(r"\s*[\[(]\s*(?:\w{1,12}:)?\s*\Z")
# Markup that is escaped once too often.
_ESCAPED = re.compile(r"&lt;/?(?:p|br|div|a|img|span)\b", re.IGNORECASE)
_MAX_TAIL = 10
_SENTENCE_ENDS = tuple('.!?…:。！？।۔؟]»”"')
# Ours: characters of a last paragraph beside the headline that it names, as WordPress writes "The
# post … appeared first on …" in the language of the site.
_MAX_SIGNATURE = 80
# Keys of JSON that hold a list of articles: those of JSON Feed, of the interfaces of systems and
# agencies, and of schema.org.
_LISTS = (
    "items", "articles", "posts", "entries", "stories", "news", "results", "data", "docs",
    "itemListElement",
)  # fmt: skip
# Ours: words before the links of a last paragraph that has no others.
_WORDS_OF_LABEL = 5
# What FeedBurner and Reddit append: "[[ This is a content summary only. ... ]]"; and the owner.
_SUMMARY_ONLY = re.compile(
    r"\s*\[\[[^\[\]]*\]\]$|\s*submitted by\s+/?u/\S+.*$"
    r"|\s*(?:©|copyright ©?)\s*\d{4}[^.!?]{0,60}\.?$",
    re.IGNORECASE,
)
# Ours: entries that may be published at the same moment.
_MAX_SAME = 2


class FeedError(ValueError):
    """A body is not a feed, or must not be parsed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """An entry of a feed or sitemap. `modified` is the sitemap's lastmod."""

    url: str
    hints: Hints = field(default_factory=Hints)
    modified: datetime | None = None

    @property
    def moment(self) -> datetime | None:
        """When the page was published, or else last modified."""
        return self.hints.published or self.modified


@dataclass(frozen=True, slots=True, kw_only=True)
class Feed:
    """The entries of a feed in its order, and the number of unusable ones.

    `interval` is the time between two polls that the feed states (ttl, sy:updatePeriod).
    """

    entries: tuple[Entry, ...]
    title: str | None = None
    unusable: int = 0
    interval: timedelta | None = None


def parse_feed(body: bytes, url: str, *, content_type: str | None = None) -> Feed:
    """Parse a feed of any dialect, also a malformed one; relative links are resolved against `url`.

    Raise FeedError if `body` is not a feed or declares XML entities.
    """
    if len(body) > MAX_BYTES:
        raise FeedError(f"is larger than {MAX_BYTES} bytes")
    if _ENTITY_DECLARATION.search(body.replace(b"\0", b"")):
        raise FeedError("declares XML entities, which are never expanded")
    text = decode(body, content_type).decode()
    if text.lstrip()[:1] in {"{", "["}:
        dropped, parsed = 0, _parse_json(text)
    elif "h-feed" in text and _HTML.match(text):
        dropped, parsed = 0, _parse_microformats(text)
    else:
        repaired = repair_xml(text, _SHAPE)
        url = _home_of(repaired.text, url)
        dropped, parsed = repaired.dropped, _parse_feed(repaired.text.encode(), url)
    if not parsed.get("version") and not parsed.get("entries"):
        raise FeedError("is neither RSS nor Atom nor RDF")
    code = re.match(r"[a-z]{2}(?![a-z])", (parsed.feed.get("language") or "").strip().lower())
    language = code[0] if code else None
    entries = []
    for raw in parsed.entries[:MAX_ENTRIES]:
        try:
            entries.append(_entry(raw, url, language))
        except UrlError:
            continue
    times = {entry.hints.published for entry in entries}
    if len(times) == 1 and len(entries) > _MAX_SAME:  # that of the feed itself
        entries = [replace(each, hints=replace(each.hints, of_change=True)) for each in entries]
    # The shorter interval of ttl (RSS 2.0, in minutes) and the syndication module.
    intervals = []
    if (minutes := _whole(parsed.feed.get("ttl"))) is not None:
        intervals.append(timedelta(minutes=minutes))
    period = _PERIODS.get((parsed.feed.get("sy_updateperiod") or "").strip().lower())
    if period is not None:
        intervals.append(period / (_whole(parsed.feed.get("sy_updatefrequency")) or 1))
    return Feed(
        entries=tuple(entries),
        title=plain_text(parsed.feed.get("title"), MAX_TITLE),
        unusable=len(parsed.entries) - len(entries) + dropped,
        interval=min(intervals, default=None),
    )


def _home_of(text: str, url: str) -> str:
    """Return the address against which links are resolved: of the site, where its feed is at
    another host, as are those of services."""
    head = text[: item.start()] if (item := _FIRST_ITEM.search(text)) else text
    home = next((match[1] or match[2] for match in _HOME.finditer(head)), None)
    try:
        return home if home and address_of(web_url(home))[0] != address_of(url)[0] else url
    except UrlError:
        return url


def _parse_feed(body: bytes, url: str) -> Any:
    """Return feedparser's result for a feed that is well-formed and in UTF-8."""
    try:
        # A stream, since feedparser opens bytes that look like a URL or a path.
        return feedparser.parse(
            io.BytesIO(body),
            response_headers={"content-location": url, "content-type": "text/xml; charset=utf-8"},
            sanitize_html=False,
            resolve_relative_uris=False,
        )
    except MemoryError:
        raise
    except Exception as error:  # its handlers may raise any exception
        reason = " ".join(f"{type(error).__name__}: {error}".split())[:200]
        raise FeedError(f"can't be read ({reason})") from error


def _parse_json(text: str) -> feedparser.FeedParserDict:
    """Return a JSON Feed (jsonfeed.org) or a list of WordPress's posts as feedparser would."""
    try:
        feed = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise FeedError("is neither XML nor JSON") from error
    lists = map(feed.get, _LISTS) if isinstance(feed, dict) else (feed,)
    posts = next((each for each in lists if isinstance(each, list)), None)
    if not isinstance(posts, list):
        raise FeedError("is JSON without a list of items: it is no JSON Feed")
    entries = [_entry_of_json(post) for post in posts if isinstance(post, dict)]
    head = feed if feed is not posts else {}
    texts = {key: text for key, text in head.items() if isinstance(text, str)}
    return feedparser.FeedParserDict(
        feed={key: texts[key] for key in ("title", "language") if key in texts},
        entries=entries,
        version=texts.get("version", ""),
    )


def _entry_of_json(post: dict[str, Any]) -> feedparser.FeedParserDict:
    def text(*keys: str) -> str | None:
        """Return the first text of a key; WordPress puts it into `rendered`."""
        values = (post.get(key) for key in keys)
        texts = (value.get("rendered") if isinstance(value, dict) else value for value in values)
        return next((value for value in texts if value and isinstance(value, str)), None)

    if isinstance(inner := post.get("item"), dict):  # a ListItem of schema.org
        post = {**post, **inner}
    authors = post.get("authors") or [post.get("author")]
    tags = post.get("tags")
    identifier = text("id") or ""
    return feedparser.FeedParserDict(
        link=text("url", "external_url", "link", "permalink", "webUrl")
        or (identifier if "://" in identifier else None),
        title=text("title", "headline", "name", "webTitle"),
        summary=text("summary", "excerpt", "custom_excerpt", "description", "content_text"),
        published=text(
            "date_published",
            "date_gmt",
            "date",
            "published_at",
            "publishedAt",
            "datePublished",
            "webPublicationDate",
        ),
        updated=text("date_modified", "modified_gmt", "updated_at", "dateModified"),
        authors=[
            author
            for author in (authors if isinstance(authors, list) else ())
            if isinstance(author, dict) and isinstance(author.get("name"), str)
        ],
        tags=[{"term": tag} for tag in tags if isinstance(tag, str)]
        if isinstance(tags, list)
        else [],
    )


def _parse_microformats(text: str) -> feedparser.FeedParserDict:
    """Return the entries of an h-feed (microformats.org) as feedparser would."""
    entries = []
    for post in LexborHTMLParser(text).css(".h-entry, .hentry")[:MAX_ENTRIES]:
        author = post.css_first(".p-author, .author")
        # An author's card has a name and an address of its own.
        of_author = {
            node.mem_id for card in post.css(".h-card, .vcard, .p-author") for node in card.css("*")
        }
        link, name, day, summary = (
            next((node for node in post.css(places) if node.mem_id not in of_author), None)
            for places in (
                ".u-url, .entry-title a",
                ".p-name, .entry-title",
                ".dt-published, .published",
                ".p-summary, .entry-summary",
            )
        )
        entry = {
            "link": link and link.attributes.get("href"),
            "title": name and name.text(),
            "published": day
            and (day.attributes.get("datetime") or day.attributes.get("title") or day.text()),
            "summary": summary and summary.text(),
            "authors": [{"name": author.text()}] if author else [],
        }
        entries.append(feedparser.FeedParserDict(entry))
    return feedparser.FeedParserDict(feed={}, entries=entries, version="")


def plain_text(markup: str | None, limit: int) -> str | None:
    """Return the text of a snippet of HTML on one line, at most `limit` characters, or None."""
    if not markup:
        return None
    text = markup = markup[: _MARKUP * limit]
    if "<" in markup or "&" in markup:
        tree = LexborHTMLParser(f"<body>{_BLOCK.sub(' ', markup)}")
        tree.strip_tags(["script", "style"])
        text = tree.body.text() if tree.body else ""
    text = _SPACE.sub(" ", unescape_all(text).replace("\0", "")).strip()
    if len(text) > limit:
        text = text[:limit].rsplit(" ", 1)[0] + "…"
    return text or None


def moment_of(text: str) -> datetime | None:
    """Return a date as it is written; None if day and month are unclear."""
    stamp = None if _DAY_OR_MONTH.match(text) else dates.read(text)
    return stamp.moment if stamp else None


def plausible(moment: datetime) -> datetime | None:
    """Return the moment in UTC, or None if it is in the future or before the web.

    One that lies hours ahead is local time that is labelled UTC: it gets the nearest whole-hour
    zone in which it is past, as on pages (`dates.resolve`).
    """
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    ahead = aware - datetime.now(UTC)
    if aware.year < 1990 or ahead > _EASTERNMOST:
        return None
    if ahead > _CLOCK_TOLERANCE:
        aware -= timedelta(hours=-(-ahead // timedelta(hours=1)))
    return aware.astimezone(UTC)


def introduction(description: str | None, title: str | None) -> str | None:
    """Return the text of a description without what blogs append to it: links alone ("Continue
    reading", "Facebook"), a last paragraph that names the headline ("The post … appeared first
    on …") and last sentences in which the paper speaks of itself."""
    markup = (description or "")[:_TEXT]
    if "<" not in markup and _ESCAPED.search(markup):
        markup = unescape(markup)
    blocks = list(_BLOCK.finditer(markup))[-_MAX_TAIL:] if title else []
    for block in reversed(blocks):
        last = plain_text(markup[block.end() :], MAX_STANDFIRST)
        if last and title and title in last and len(last) <= len(title) + _MAX_SIGNATURE:
            markup = markup[: block.start()] if plain_text(markup[: block.start()], 1) else markup
        if last:
            break
    end = len(markup)
    for _ in range(_MAX_TAIL):
        place = markup.rfind("<a", 0, end)
        if place <= 0 or not _LAST_LINK.fullmatch(markup, place, end):
            break
        end = place
    text = plain_text(markup, MAX_STANDFIRST)
    if end < len(markup):
        before = _BEFORE_LINK.sub("", markup[:end]).rstrip()
        *_, block = (None, *_BLOCK.finditer(before, max(0, len(before) - _MAX_SIGNATURE)))
        label = plain_text(before[block.end() :], MAX_STANDFIRST) if block else None
        is_sentence = not text or text.endswith(_SENTENCE_ENDS)
        if block and label and label.count(" ") < _WORDS_OF_LABEL and not is_sentence:
            # Before the link stands what it is: the topics, the source, the full story.
            before = before[: block.start()] if plain_text(before[: block.start()], 1) else before
        without_links = plain_text(before, MAX_STANDFIRST)
        follows_block = _BLOCK.fullmatch(before, max(0, before.rfind("<")))
        if follows_block or (without_links or "").endswith(_SENTENCE_ENDS):
            text = without_links
    return _without_notices(text) if text else text


def _without_notices(text: str) -> str:
    text = _SUMMARY_ONLY.sub("", text) or text
    for _ in range(_MAX_TAIL):
        starts = [stop.end() for stop in sentence_ends(text, 0, len(text))]
        last = next((start for start in reversed(starts) if start < len(text)), 0)
        if not last or not is_notice(text[last:]):
            break
        text = text[:last].rstrip()
    return _SUMMARY_ONLY.sub("", text) or text


def _whole(text: str | None) -> int | None:
    digits = re.fullmatch(r"\s*([1-9][0-9]{0,6})\s*", text or "")
    return int(digits[1]) if digits else None


def _entry(raw: Any, base: str, language: str | None) -> Entry:
    tags = raw.get("tags") or [{}]
    identifier = (raw.get("id") or "").strip()
    link = raw.get("feedburner_origlink") or raw.get("pheedo_origlink") or raw.get("link")
    link = link or (identifier if identifier.startswith(("http://", "https://")) else None)
    if not link:
        raise UrlError("has no URL")
    authors = (raw.get("authors") or ())[:MAX_AUTHORS]
    bylines = [plain_text(author.get("name"), MAX_TITLE) for author in authors]
    if len(authors) == 1 and (line := raw.get("author")):  # feedparser takes some wrongly apart
        bylines = [plain_text(line, MAX_TITLE)]
    # Not by feedparser's own look-up, which returns the other date, with a warning.
    modified = _moment(dict.get(raw, "updated"), dict.get(raw, "updated_parsed"))
    published = _moment(raw.get("published"), raw.get("published_parsed"))
    title = plain_text(raw.get("title"), MAX_TITLE)
    return Entry(
        url=web_url(unwrapped(_HOST_IN_PATH.sub(r"\1", _SCHEME.sub(r"\1://", link.strip()))), base),
        hints=Hints(
            title=title,
            standfirst=introduction(raw.get("summary"), title),
            authors=names.are_of_persons(names.clean(filter(None, bylines))),
            # Many feeds have one date: "updated" of Atom, which requires only this one, or dc:date.
            published=published or modified,
            of_change=published is None and modified is not None,
            section=plain_text(tags[0].get("term"), MAX_TITLE),
            language=language,
        ),
        modified=modified,
    )


def _moment(text: str | None, parsed: struct_time | None) -> datetime | None:
    """Return a date as it is written, which feedparser reads only in English and wrongly in forms
    such as 2026/11/12; else feedparser's."""
    if text and (moment := moment_of(text)):
        return plausible(moment)
    if parsed is None or (text and text.lstrip().startswith(("-", "0000"))):  # no day of databases
        return None
    try:
        return plausible(datetime.fromtimestamp(calendar.timegm(parsed), UTC))
    except (OverflowError, OSError, ValueError):
        return None
