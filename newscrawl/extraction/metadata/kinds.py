"""The kind of a page as far as types, title and address declare it."""

import re
from dataclasses import dataclass
from typing import Final
from urllib.parse import SplitResult, urlsplit

from newscrawl.extraction.metadata import jsonld
from newscrawl.extraction.metadata.jsonld import LinkedData
from newscrawl.extraction.metadata.vocabulary import any_of, contains_any, words
from newscrawl.items import Kind

_ROBOT_CHECK: Final = words("walls", "robot_check")
_ERROR: Final = words("walls", "error")
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


@dataclass(frozen=True, slots=True)
class Declared:
    """The declared kind, "article" where nothing else is declared.

    `is_article` is true where types say so; `could_be_front` where the address fits a section's
    front and nothing speaks for an article.
    """

    kind: Kind
    is_article: bool = False
    could_be_front: bool = False


def declared_kind(
    data: LinkedData, og_type: str, url: str | None, title: str | None, *, has_date: bool
) -> Declared:
    """Return the declared kind; `has_date` tells whether a field gives a date of publication."""
    if _is_of_error((title or "").lower()):
        return Declared("error")
    types = frozenset(name for node in data.nodes for name in jsonld.types_of(node))
    address = _split(url)
    is_article = jsonld.hold_article(types) or og_type.lower().endswith("article")
    kind = _by_types(types, og_type.lower()) or _by_address(address)
    if kind is None and is_article:
        kind = "article"
    if kind is None and (types & jsonld.LIST_TYPES or _is_root(address)):
        kind = "front"
    could_be_front = kind is None and not has_date and _is_section(address)
    return Declared(kind or "article", is_article, could_be_front)


def _is_of_error(title: str) -> bool:
    return (
        contains_any(title, _ROBOT_CHECK)
        or contains_any(title, _ERROR)
        or bool(_STATUS.match(title))
    )


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
