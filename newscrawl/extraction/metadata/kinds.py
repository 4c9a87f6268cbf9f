"""What a page is, if it isn't an article."""

import re
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from newscrawl.extraction.metadata import jsonld
from newscrawl.extraction.metadata.jsonld import LinkedData
from newscrawl.extraction.metadata.vocabulary import any_of, phrases, words
from newscrawl.items import Kind

_ROBOT_CHECK: Final = words("walls", "robot_check")
_ERROR: Final = words("walls", "error")
_STATUS: Final = re.compile(
    r"\W*(?:error\W*|http\W*)?(?:404|403|410|500|502|503|504)(?:\W|$)"
    r"|.{0,60}\b(?:404|403|500|503)\W*(?:error\b.*)?$"
    r"|.{0,40}\berror\W*(?:404|403|500|503)\b"
    r"|(?:\w+ )?(?:not found|forbidden)\W*$"
)
_CONSENT: Final = phrases("consent")
_SIGNS_OF_SHORT: Final[dict[Kind, re.Pattern[str]]] = {
    "consent": _CONSENT,
    "paywall": phrases("subscribe"),
}
_KINDS_OF_PATHS: Final[tuple[Kind, ...]] = ("live", "gallery", "video")
_PATHS: Final[dict[Kind, re.Pattern[str]]] = {
    kind: re.compile(rf"/(?:{any_of(words('paths', kind))})[/-]") for kind in _KINDS_OF_PATHS
}
_FRONT_PATH: Final = re.compile(r"/?(?:[a-z]{2}(?:[-_][a-z]{2})?/?)?(?:index\.(?:html?|php))?")

# Ours: words of body text.
SHORT: Final = 120
TEASER: Final = 250


@dataclass(frozen=True, slots=True)
class Size:
    """How much text a page has: words of the body, and words within links anywhere."""

    words: int
    link_words: int


def stated_kind(data: LinkedData, og_type: str, url: str | None, title: str | None) -> Kind:
    """The kind as metadata, title and address tell; "article" where none says otherwise."""
    lowered = (title or "").lower()
    if _holds(lowered, _ROBOT_CHECK) or _holds(lowered, _ERROR) or _STATUS.match(lowered):
        return "error"
    types = frozenset(name for node in data.nodes for name in jsonld.types_of(node))
    stated = _by_type(types, og_type.lower())
    return _by_address(url, types, og_type.lower()) if stated is None else stated


def _holds(text: str, phrases: tuple[str, ...]) -> bool:
    return any(phrase in text for phrase in phrases)


def _by_type(types: frozenset[str], og_type: str) -> Kind | None:
    if "liveblogposting" in types:
        return "live"
    if any(name.endswith(jsonld.ARTICLE_ENDINGS) for name in types):
        return "article"
    if types & jsonld.GALLERY_TYPES:
        return "gallery"
    if og_type.startswith("video") or types & jsonld.VIDEO_TYPES:
        return "video"
    return None


def _by_address(url: str | None, types: frozenset[str], og_type: str) -> Kind:
    try:
        parts = urlsplit(url or "")
    except ValueError:
        return "article"
    path = parts.path.lower()
    for kind, pattern in _PATHS.items():
        if pattern.search(path + "/"):
            return kind
    if og_type.endswith("article"):
        return "article"
    is_root = url and _FRONT_PATH.fullmatch(path) and not parts.query
    return "front" if is_root or types & jsonld.LIST_TYPES else "article"


def settled_kind(stated: Kind, size: Size, *, paywalled: bool | None, text: str) -> Kind:
    """The kind once the body text is known."""
    beginning = text[:2_000]
    if stated == "error":
        return "error" if size.words < TEASER else "article"
    if stated != "article" or size.words >= TEASER:
        return stated
    if paywalled:
        return "paywall"
    return stated if size.words >= SHORT else _kind_of_short(size, beginning)


def _kind_of_short(size: Size, text: str) -> Kind:
    if _holds(text.lower(), _ROBOT_CHECK):
        return "error"
    for kind, pattern in _SIGNS_OF_SHORT.items():
        if pattern.search(text):
            return kind
    if size.link_words > max(10 * size.words, TEASER):
        return "front"
    return "article" if size.words else "other"
