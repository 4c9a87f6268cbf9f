"""Convert documents to records for the tables: cleaned for both databases, dated, with hashes."""

import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, date, datetime
from functools import cached_property
from hashlib import sha256
from typing import Any, get_args

from newscrawl.items import Access, Barrier, Document, Kind, Mention, UnregisteredName
from newscrawl.storage import UnstorableDocument
from newscrawl.storage.words import Wording, folded_words

# PostgreSQL indexes keys of up to 2,704 bytes (a third of a page); Scrapy follows URLs of
# up to 2,083 characters.
MAX_URL_BYTES = 2_600

# Ours: a shorter text ("Subscribe to read on", "More follows") may be under many
# headlines, so two pages with it are one article only if headline and date are equal, too.
MIN_DISTINCTIVE_CHARACTERS = 200

# Ours: a headline of fewer words ("Video", "Letters to the editor") may be that of several articles
# of an hour; in scripts without blanks each sign is a word.
MIN_HEADLINE_WORDS = 4
MIN_HEADLINE = 12
_RETURNING = frozenset(
    ("live", "liveblog", "liveticker", "ticker", "video", "podcast", "newsletter")
)

COUNTED_KINDS: tuple[Kind, ...] = ("article", "live", "gallery", "video")
# The kind of an article that was deleted (storage/deletion.py); no document has it.
DELETED = "deleted"

_BEGINNING = datetime(1, 1, 1, tzinfo=UTC)
LAST_MINUTE = 2**31 - 1

# NUL and lone surrogates, which PostgreSQL's UTF-8 refuses.
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


@dataclass(frozen=True, kw_only=True)
class Record:
    """A document as it is stored. `columns` are those of the articles table that depend on the
    document alone; `urls` its canonical URL, then the others at which it was found, and
    `is_declared` tells whether only the page names its canonical URL. A record that is
    `only_address` adds these to an article and changes nothing else; one that is `reextracted` is a
    new reading of an archived page, of which the metadata count even if the text is equal.
    `announced` is the headline that a feed or sitemap gives the page, and `redirected_to` the
    address to which it redirects."""

    source: str
    urls: tuple[str, ...]
    columns: dict[str, Any]
    mentions: tuple[Mention, ...]
    boilerplate: dict[str, int]
    seen_at: datetime
    content_hash: str
    fingerprint: str | None
    rank: int
    barrier: Barrier | None = None
    announced: str | None = None
    redirected_to: str | None = None
    is_declared: bool = False
    only_address: bool = False
    unregistered: tuple[UnregisteredName, ...] = ()
    reextracted: bool = False

    @cached_property
    def wording(self) -> Wording:
        """Return the article's words, which only a new text needs."""
        return Wording.of(self.columns["title"], self.columns["text"])


def record_of(document: Document) -> Record:
    """Return the record of a document. Characters that no database can hold become U+FFFD one
    for one, so that the mentions' offsets stay right. Raise UnstorableDocument if a URL is missing
    or too long, a time has no zone, or access or kind is unknown."""
    page, article, barrier = document.page, document.article, document.barrier
    url = clean(article.url or page.url)
    addresses = (page.final_url, page.url, page.attempt and page.attempt.url)
    fetched = [clean(address) for address in addresses if address]
    urls = tuple(dict.fromkeys((url, *fetched)))
    for address in urls:
        if not address:
            raise UnstorableDocument("a page without a URL")
        if len(address.encode()) > MAX_URL_BYTES:
            raise UnstorableDocument(f"URL of more than {MAX_URL_BYTES} bytes: {address[:80]}...")
    _check_choice(page.access, Access, "access", url)
    _check_choice(article.kind, Kind, "kind", url)
    seen_at = _aware(page.fetched_at, "fetched_at", url)
    published_at = article.published and _aware(article.published, "published", url)
    title, text = _clean(article.title), clean(article.text)
    columns = {
        "url": url,
        "title": title,
        "text": text,
        "authors": [clean(author) for author in article.authors],
        "published_at": published_at,
        "modified_at": article.modified and _aware(article.modified, "modified", url),
        "language": _clean(article.language),
        "section": _clean(article.section),
        "site_name": _clean(article.site_name),
        "image": _clean(article.image),
        "paywalled": article.paywalled,
        "access": page.access,
        "kind": article.kind,
        "method": article.method,
        "confidence": article.confidence,
    }
    return Record(
        source=page.source,
        urls=urls,
        columns=columns,
        mentions=document.mentions,
        boilerplate=dict(document.boilerplate),
        unregistered=document.unregistered,
        seen_at=seen_at,
        content_hash=_digest(title or "", text),
        fingerprint=_headline_of_the_hour(document) or fingerprint_of(title, text, published_at),
        rank=rank(page.access, article.kind, has_text=bool(text)),
        barrier=barrier,
        announced=page.hints.title,
        redirected_to=_clean(barrier.redirected_to if barrier else page.final_url),
        is_declared=url not in fetched,
    )


def metadata_changes(stored: Mapping[str, Any], record: Record) -> dict[str, Any]:
    """Return the columns of a stored article, with its authors, section, publication and first
    fetch, that a reextraction changes. A field that it does not find keeps its value."""
    columns = {
        "authors": record.columns["authors"] or stored["authors"],
        "section": record.columns["section"] or stored["section"],
        "published_at": publication_time(record, stored["published_at"], stored["first_seen_at"]),
    }
    return {name: value for name, value in columns.items() if value != stored[name]}


def publication_time(
    record: Record, published_at: datetime | None, first_seen_at: datetime
) -> datetime | None:
    """Return the publication time of a stored article after it was read again.

    The first one found is kept. Only a reextraction replaces it, unless a later capture than the
    first states a later time, which may be that of an update.
    """
    new: datetime | None = record.columns["published_at"]
    if published_at is None or new is None:
        return published_at or new
    is_first_capture = record.seen_at.replace(microsecond=0) <= first_seen_at
    return new if record.reextracted and (is_first_capture or new < published_at) else published_at


# The rank of a version that holds the article's body.
BODY = 2


def rank(access: str, kind: str, *, has_text: bool) -> int:
    """Return how much of an article a version has: 2 for the body, 1 for headline and standfirst, 0
    for nothing. A version is never replaced by one of a lower rank."""
    counted = kind in COUNTED_KINDS
    if counted and access == "open" and has_text:
        return BODY
    return 1 if counted or access != "open" else 0


def clean(text: str) -> str:
    """Return the text with U+FFFD for each character that a database may reject."""
    if "\0" not in text:
        # This is faster than a search for invalid characters.
        with suppress(UnicodeEncodeError):
            text.encode()
            return text
    return _UNSTORABLE.sub("\N{REPLACEMENT CHARACTER}", text)


def _clean(text: str | None) -> str | None:
    return None if text is None else clean(text)


def day_of(published_at: datetime | None, first_seen_at: datetime) -> date:
    """Return the UTC day that an article counts for."""
    return (published_at or first_seen_at).astimezone(UTC).date()


def minute_of(moment: datetime) -> int:
    """Return the minutes from the calendar's beginning to an aware time, in 31 bits (until the year
    4083)."""
    minute = int((moment - _BEGINNING).total_seconds() // 60)
    return min(max(0, minute), LAST_MINUTE)


def fingerprint_of(title: str | None, text: str, published_at: datetime | None) -> str | None:
    """Return a hash that identifies the same text under another URL; None for a short text."""
    words = " ".join(text.split())
    if len(words) >= MIN_DISTINCTIVE_CHARACTERS:
        return _digest(words)
    if not title or published_at is None:
        return None
    return _digest(title, words, published_at.isoformat())


def _headline_of_the_hour(document: Document) -> str | None:
    """Return a hash of the headline and hour of an article of which only headline and introduction
    may be read: other feeds of the source list it at other addresses, with another introduction.
    None for live blogs and videos, whose headlines return, and for short headlines."""
    article = document.article
    if document.page.access == "open" or article.kind != "article" or not article.published:
        return None
    words = folded_words(article.title or "")
    is_distinctive = len(words) >= MIN_HEADLINE_WORDS and len("".join(words)) >= MIN_HEADLINE
    if not is_distinctive or not _RETURNING.isdisjoint(words):
        return None
    hour = article.published.astimezone(UTC).replace(minute=0, second=0, microsecond=0)
    return _digest("limited", " ".join(words), hour.isoformat())


def _digest(*parts: str) -> str:
    return sha256("\0".join(parts).encode()).hexdigest()


def _check_choice(value: str, choices: Any, name: str, url: str) -> None:
    if value not in get_args(choices):
        raise UnstorableDocument(f"unknown {name} {value!r}: {url}")


def _aware(moment: datetime, name: str, url: str) -> datetime:
    if moment.tzinfo is None:
        raise UnstorableDocument(f"the time {name!r} has no zone: {url}")
    return moment.astimezone(UTC)
