"""What a page is, if it isn't an article."""

import re
from dataclasses import dataclass
from typing import Final
from urllib.parse import SplitResult, urlsplit

from newscrawl.extraction.metadata import jsonld
from newscrawl.extraction.metadata.jsonld import LinkedData
from newscrawl.extraction.metadata.vocabulary import any_of, words
from newscrawl.items import Kind

_ROBOT_CHECK: Final = words("walls", "robot_check")
_ERROR: Final = words("walls", "error")
_CONSENT: Final = words("phrases", "consent")
_SUBSCRIBE: Final = words("phrases", "subscribe")
_STATUS: Final = re.compile(
    r"\W*(?:error\W*|http\W*)?(?:404|403|410|500|502|503|504)(?:\W|$)"
    r"|.{0,60}\b(?:404|403|500|503)\W*(?:error\b.*)?$"
    r"|.{0,40}\berror\W*(?:404|403|500|503)\b"
    r"|(?:\w+ )?(?:not found|forbidden)\W*$"
)
_KINDS_OF_PATHS: Final[tuple[Kind, ...]] = ("live", "gallery", "video")
_PATHS: Final[dict[Kind, re.Pattern[str]]] = {
    kind: re.compile(rf"/(?:{any_of(words('paths', kind))})/") for kind in _KINDS_OF_PATHS
}
_FRONT_PATH: Final = re.compile(r"/?(?:[a-z]{2}(?:[-_][a-z]{2})?/?)?(?:index\.(?:html?|php))?")
_ENDING: Final = re.compile(r"\.(?:html?|php|aspx?|jsp)$")

# Ours, words of body text: what a wall or teaser stays under, and what an article reaches.
SHORT: Final = 120
TEASER: Final = 250
LONG: Final = 400
LETTERS_A_WORD: Final = 12
"""Ours: a text with longer "words" has no blanks between words; two letters count as a word."""
LINKED_SHARE: Final = 0.5
"""Ours, fitted on half 0 of the sites of wcxb: of pages with a section's address and no sign of an
article, 42 % of the listings and collections and 0.3 % of the articles have that many words within
links for each word of text (half 1: 33 % and 0.6 %)."""


@dataclass(frozen=True, slots=True)
class Stated:
    """The kind by types, title and address; `section` says that they fit a section's front."""

    kind: Kind
    section: bool = False


@dataclass(frozen=True, slots=True)
class Size:
    """How much text a page has: words of the body, and words within links anywhere."""

    words: int
    link_words: int


def stated_kind(
    data: LinkedData, og_type: str, url: str | None, title: str | None, *, dated: bool
) -> Stated:
    """The kind as far as metadata tell; "article" where they tell nothing else.

    `dated` says whether a field gives a date of publication.
    """
    if _is_of_error((title or "").lower()):
        return Stated("error")
    types = frozenset(name for node in data.nodes for name in jsonld.types_of(node))
    address = _split(url)
    kind = _by_types(types, og_type.lower()) or _by_address(address)
    if kind is None and og_type.lower().endswith("article"):
        kind = "article"
    if kind is None and (types & jsonld.LIST_TYPES or _is_root(address)):
        kind = "front"
    section = kind is None and not dated and _is_section(address)
    return Stated(kind or "article", section)


def _is_of_error(title: str) -> bool:
    return _holds(title, _ROBOT_CHECK) or _holds(title, _ERROR) or bool(_STATUS.match(title))


def _holds(text: str, phrases: tuple[str, ...]) -> bool:
    return any(phrase in text for phrase in phrases)


def _split(url: str | None) -> SplitResult | None:
    try:
        return urlsplit(url.lower()) if url else None
    except ValueError:
        return None


def _by_types(types: frozenset[str], og_type: str) -> Kind | None:
    if "liveblogposting" in types:
        return "live"
    if jsonld.hold_article(types):
        return "article"
    if types & jsonld.GALLERY_TYPES:
        return "gallery"
    if types & jsonld.OTHER_TYPES or og_type.startswith(("product", "profile", "book", "music")):
        return "other"
    if og_type.startswith("video") or types & jsonld.VIDEO_TYPES:
        return "video"
    return None


def _by_address(address: SplitResult | None) -> Kind | None:
    if address is None:
        return None
    return next((kind for kind, path in _PATHS.items() if path.search(address.path + "/")), None)


def _is_root(address: SplitResult | None) -> bool:
    return bool(address and not address.query and _FRONT_PATH.fullmatch(address.path))


def _is_section(address: SplitResult | None) -> bool:
    """Tell an address like /business/markets/ from one that ends in a headline or number."""
    if address is None:
        return False
    if any(map(str.isdigit, address.query)):
        return False
    parts = [part for part in address.path.split("/") if part]
    last = _ENDING.sub("", parts[-1]) if parts else ""
    return (
        len(parts) <= 3
        and not any(map(str.isdigit, last))
        and len(last.replace("_", "-").split("-")) <= 2
    )


def settled_kind(stated: Stated, size: Size, *, paywalled: bool | None, text: str) -> Kind:
    """The kind once the body text is known."""
    length = _words_of_any_script(size.words, text)
    match stated.kind:
        case "error":
            return "error" if length < TEASER else "article"
        case "gallery" | "video":
            return stated.kind if length < LONG else "article"
        case "article":
            return _kind_of_text(stated, size, length, paywalled=paywalled, text=text)
        case _:
            return stated.kind


def _kind_of_text(
    stated: Stated, size: Size, length: int, *, paywalled: bool | None, text: str
) -> Kind:
    if stated.section and size.link_words > LINKED_SHARE * length:
        return "front"
    if length >= TEASER:
        return "article"
    if length < SHORT and (kind := _kind_of_wall(text[:2_000].lower())):
        return kind
    return "paywall" if paywalled else "article"


def _kind_of_wall(lowered: str) -> Kind | None:
    if _holds(lowered, _ROBOT_CHECK):
        return "error"
    if sum(phrase in lowered for phrase in _CONSENT) >= 2:
        return "consent"
    return "paywall" if asks_to_subscribe(lowered) else None


def asks_to_subscribe(text: str) -> bool:
    """Tell whether a text asks its reader to subscribe."""
    return _holds(text.lower(), _SUBSCRIBE)


def _words_of_any_script(words_between_blanks: int, text: str) -> int:
    if len(text) > LETTERS_A_WORD * max(words_between_blanks, 1):
        return len(text) // 2
    return words_between_blanks
