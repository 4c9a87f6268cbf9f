"""Which links of a page lead to articles, and which to sections: for sites that list nothing.

A link is judged by its address and by what it says, not by what is behind it. The points below are
ours: reasoned from how content systems build addresses, then checked on links of real pages
(docs/sources.md has the figures and their command).
"""

import re
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.resources import files
from urllib.parse import unquote, urlsplit

from newscrawl.items import Hints
from newscrawl.sources.feeds import Entry
from newscrawl.sources.home import Link, links, parse

# A link of so many points leads to an article.
ARTICLE = 3
# Section pages that a source is read from, at most.
MAX_SECTIONS = 20
# A home page links to a few hundred articles; more is no page for readers.
MAX_ARTICLES = 500

_DATE = re.compile(r"/(?:19|20)\d\d[/-]?(?:0[1-9]|1[0-2])(?:[/-]?(?:0[1-9]|[12]\d|3[01]))?(?!\d)")
_NUMBER = re.compile(r"\d{5,}")
_HEX = re.compile(r"(?=[0-9a-f-]*\d)[0-9a-f]{8}-?[0-9a-f-]{8,}", re.IGNORECASE)
_MIXED_ID = re.compile(r"[a-z]{1,3}[0-9][0-9a-z]{6,}|[a-z]\d{4,}", re.IGNORECASE)
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
# Scripts that part no words by blanks: kana, ideographs; and in addresses all scripts of Asia.
_NO_BLANKS = re.compile("[\u3040-\u9fff]")
_ASIAN = re.compile("[\u0e00-\uffff]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """The links of a page, parted: entries of articles, and addresses of sections."""

    articles: tuple[Entry, ...]
    sections: tuple[str, ...]


def judge_page(body: bytes, url: str, content_type: str | None = None) -> Judged:
    """Judge the links of a section page or home page, each address once, by the best of its links.

    Links to other hosts are left to whoever knows which of them are the site's own.
    """
    best: dict[str, tuple[int, Link]] = {}
    for link in links(parse(body, content_type), url):
        points = article_points(link)
        if link.url not in best or points > best[link.url][0]:
            best[link.url] = (points, link)
    articles = [link for points, link in best.values() if points >= ARTICLE]
    rest = [link for points, link in best.values() if points < ARTICLE]
    return Judged(
        articles=tuple(map(_entry, articles[:MAX_ARTICLES])), sections=sections_of(rest, url)
    )


def article_points(link: Link) -> int:
    """Say how much speaks for an article behind the link; ARTICLE and more is taken for one."""
    parts = urlsplit(link.url)
    path = unquote(parts.path)
    segments = [segment for segment in path.split("/") if segment]
    if not segments and not parts.query:
        return -10
    if _FILES.search(path) or _PAGE_NUMBER.search(link.url):
        return -10
    return (
        _points_of_path(path, segments)
        + _points_of_query(parts.query)
        + _points_of_words(link.text)
        + (1 if link.headline else 0)
        - (2 if link.navigation else 0)
    )


def sections_of(found: Iterable[Link], url: str) -> tuple[str, ...]:
    """Return the addresses of sections among links that lead to no article, navigation first."""
    host = urlsplit(url).hostname
    sections = [link for link in found if _is_section(link, host)]
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
    if len(words) >= 4 or _is_long_without_blanks(slug):
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
    return points - 3 * _is_of_other_kind(segments)


def _points_of_query(query: str) -> int:
    return 2 if re.search(r"(?:^|&)\w*(?:id|p|no|art|story)=\w*\d{4,}", query, re.IGNORECASE) else 0


def _points_of_words(text: str) -> int:
    """Headlines are sentences; names of sections are a word or two."""
    count = word_count(text)
    if count >= 5:
        return 2
    if count >= 4:
        return 1
    return -1 if 0 < count <= 2 else 0


def word_count(text: str) -> int:
    """Count words; in scripts without blanks two letters count as one."""
    words = text.split()
    if len(text) > 12 * max(len(words), 1) or any(
        "\u3040" <= letter <= "\u9fff" for letter in text
    ):
        return max(len(words), len(text) // 2)
    return len(words)


def _is_long_without_blanks(last: str) -> bool:
    return len(_ASIAN.findall(last)) >= 8


def _is_of_other_kind(segments: list[str]) -> bool:
    """Whether a folder of the path, or a last part of at most two words, has a telling name."""
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
    if _FILES.search(parts.path) or _PAGE_NUMBER.search(link.url) or _is_of_other_kind(segments):
        return False
    short = all(len(_PARTING.split(segment)) <= 3 and len(segment) <= 30 for segment in segments)
    digits = any(letter.isdigit() for letter in parts.path)
    return short and not digits and 0 < word_count(link.text) <= 4


def _entry(link: Link) -> Entry:
    # What a headline says may stand for the article where that is kept from us.
    title = link.text if link.headline and word_count(link.text) >= 4 else None
    return Entry(url=link.url, hints=Hints(title=title))
