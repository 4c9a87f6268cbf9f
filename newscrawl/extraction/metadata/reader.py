"""A page's metadata, each field from the most trusted place that gives it."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import islice
from typing import Final
from urllib.parse import SplitResult, urljoin, urlsplit

from selectolax.lexbor import LexborHTMLParser

from newscrawl.extraction.html import squeeze
from newscrawl.extraction.metadata import byline_lines, jsonld, names, text_bylines, titles
from newscrawl.extraction.metadata.page_signals import (
    LANGUAGE_IN,
    SITE_NAME_IN,
    TITLE_IN,
    PageSignals,
    gather_signals,
)
from newscrawl.extraction.metadata.places import Candidate, Evidence, candidates_in, first_in
from newscrawl.extraction.metadata.publication_date import (
    DATA_IN,
    LAST_RESORTS,
    MODIFIED_IN,
    SHOWN_IN,
    STATED_IN,
    publication_dates,
)
from newscrawl.extraction.metadata.vocabulary import any_of, contains_any, words
from newscrawl.items import Kind

_SECTION: Final = words("metas", "section")
_PAYWALL: Final = words("metas", "paywall")
_IMAGE: Final = words("metas", "image")
_ABSOLUTE: Final = re.compile(r"https?://[\w.-]+(?::\d+)?(?:[/?#]\S*)?$")
_TIER: Final = {"locked": True, "paid": True, "premium": True, "plus": True, "free": False}
# Ours, fitted on the open sites by benchmarks.metadata: nodes from one byline of the page to
# its next; a farther one belongs to a teaser.
MAX_GAP: Final = 12
MAX_GAP_OF_MARKED: Final = 2
MAX_MARKED_PERSONS: Final = 3
MAX_MORE: Final = 2
"""Ours: how many more persons a byline may name than fields; more are categories beside it."""
_PICTURE: Final = re.compile(r"\b(?:getty|images?|photos?|fotos?|pictures?)\b", re.IGNORECASE)
_LABELS: Final = tuple((f"twitter:label{number}", f"twitter:data{number}") for number in (1, 2))
_WRITTEN_BY: Final = re.compile(any_of(words("bylines", "written_by")), re.IGNORECASE)
_OF_ERRORS: Final = (*words("walls", "robot_check"), *words("walls", "error"))
_STATUS: Final = re.compile(
    r"\W*(?:error\W*|http\W*)?(?:404|403|410|500|502|503|504)(?:\W|$)"
    r"|.{0,60}\b(?:404|403|500|503)\W*(?:error\b.*)?$"
    r"|.{0,40}\berror\W*(?:404|403|500|503)\b"
    r"|(?:\w+ )?(?:not found|forbidden)\W*$"
)
_IN_STATUS: Final = ("40", "41", "50", "not found", "forbidden")  # one of which each such title has
_KINDS_OF_PATHS: Final[tuple[Kind, ...]] = ("live", "gallery", "video")
_PATHS: Final[dict[Kind, re.Pattern[str]]] = {
    kind: re.compile(rf"/(?:{any_of(words('paths', kind))})/") for kind in _KINDS_OF_PATHS
}
_FRONT_PATH: Final = re.compile(r"/?(?:[a-z]{2}(?:[-_][a-z]{2})?/?)?(?:index\.(?:html?|php))?")
_ENDING: Final = re.compile(r"\.(?:html?|php|aspx?|jsp)$")
_YEAR: Final = re.compile(r"\d{4}")


Authors = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class DeclaredKind:
    """The kind that types, title and address declare, "article" where they declare nothing.

    `is_article` is true where types say so, `has_data` where those of JSON-LD do; `could_be_front`
    where the address fits a section's front and nothing speaks for an article.
    """

    kind: Kind = "article"
    is_article: bool = False
    could_be_front: bool = False
    has_data: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Metadata:
    """What a page says about its article, apart from its text.

    `published` and `modified` are aware and not in the future. `language` is ISO 639-1 as the
    page declares it; `paywalled` is None if the page doesn't say. `article_body` is JSON-LD's,
    raw.
    """

    title: str | None = None
    authors: Authors = ()
    published: datetime | None = None
    modified: datetime | None = None
    language: str | None = None
    section: str | None = None
    image: str | None = None
    site_name: str | None = None
    paywalled: bool | None = None
    declared: DeclaredKind = DeclaredKind()
    article_body: str | None = None
    date_evidence: Evidence = field(default=Evidence(), compare=False)
    author_evidence: Evidence = field(default=Evidence(), compare=False)


def read_metadata(
    tree: LexborHTMLParser,
    url: str | None = None,
    *,
    language: str | None = None,
    now: datetime | None = None,
) -> Metadata:
    """Read a parsed page's metadata. Never raises for any page.

    `language` is what the caller knows (the source's language), used where the page declares
    none. `now` is the moment after which no date is believed; the default is the clock's.
    """
    signals = gather_signals(tree, url, language)
    dates = publication_dates(signals, now or datetime.now(UTC))
    statements = [*candidates_in(AUTHORS_IN, signals)]
    authors = _authors(signals, [candidate.value for candidate in statements])
    return Metadata(
        title=signals.title,
        authors=authors,
        published=dates.published,
        modified=dates.modified,
        language=signals.language,
        section=first_in(SECTION_IN, signals),
        image=first_in(IMAGE_IN, signals),
        site_name=signals.site_name,
        paywalled=first_in(PAYWALLED_IN, signals),
        declared=_declared_kind(signals, has_date=dates.are_stated),
        article_body=jsonld.text_of(signals.article.get("articleBody")),
        date_evidence=dates.evidence,
        author_evidence=_evidence_of(authors, statements, signals),
    )


# --- Single fields ------------------------------------------------------------------------------


def section_of_json_ld(signals: PageSignals) -> Iterable[str | None]:
    """Read `articleSection` of the article in JSON-LD."""
    value = signals.article.get("articleSection")
    if isinstance(value, list):
        value = next((each for each in value if isinstance(each, str) and each.strip()), None)
    return [squeeze(jsonld.text_of(value))]


def section_metas(signals: PageSignals) -> Iterable[str | None]:
    """Read meta elements, in the order of `vocabulary.toml`."""
    return [signals.meta(*_SECTION)]


def image_metas(signals: PageSignals) -> Iterable[str | None]:
    """Read meta elements, in the order of `vocabulary.toml`."""
    base = signals.url or signals.canonical
    return (_absolute(value, base) for value in signals.first_values(_IMAGE))


def image_of_json_ld(signals: PageSignals) -> Iterable[str | None]:
    """Read `image` of the article in JSON-LD."""
    address = jsonld.url_of(signals.data.resolve(signals.article.get("image")))
    return [_absolute(address, signals.url or signals.canonical)] if address else []


def _absolute(address: str, base: str | None) -> str | None:
    if _ABSOLUTE.match(address):
        return address
    try:
        joined = urljoin(base or "", address.strip())
        parts = urlsplit(joined)
    except ValueError:
        return None
    return joined if parts.scheme in ("http", "https") and parts.netloc else None


def paid_parts(signals: PageSignals) -> Iterable[bool | None]:
    """Read `hasPart` of the article in JSON-LD: a part that isn't free."""
    parts = signals.article.get("hasPart")
    for part in parts if isinstance(parts, list) else [parts]:
        if isinstance(part, dict) and jsonld.truth_of(part.get("isAccessibleForFree")) is False:
            yield True


def paid_article(signals: PageSignals) -> Iterable[bool | None]:
    """Read `isAccessibleForFree` of the article in JSON-LD."""
    free = jsonld.truth_of(signals.article.get("isAccessibleForFree"))
    return [None if free is None else not free]


def tier_metas(signals: PageSignals) -> Iterable[bool | None]:
    """Read the tier in meta elements, in the order of `vocabulary.toml`."""
    tier = signals.meta(*_PAYWALL)
    return [_TIER.get(tier.lower()) if tier else None]


def author_of_json_ld(signals: PageSignals) -> Iterable[Authors | None]:
    """Read `author`, then `creator`, of the article in JSON-LD."""
    article = signals.article
    return (_names_in(signals, article[key]) for key in ("author", "creator") if key in article)


def author_metas(signals: PageSignals) -> Iterable[Authors | None]:
    """Read meta elements whose name says so."""
    return (names.clean(signals.metas[name]) for name in signals.metas_that_state("author"))


def written_by(signals: PageSignals) -> Iterable[Authors | None]:
    """Read `twitter:data1` or `twitter:data2` whose label is "Written by"."""
    metas = signals.metas
    for label, data in _LABELS:
        if label in metas and data in metas and _WRITTEN_BY.search(metas[label][0]):
            yield names.clean(metas[data])


def author_in_scripts(signals: PageSignals) -> Iterable[Authors | None]:
    """Read objects in scripts and metas, as for analytics (`dataLayer`, `parsely-page`)."""
    persons = names.persons(signals.stated_in_scripts("author"))
    return filter(None, [tuple(filter(names.is_full, persons))])


# The order of trust: to prefer another place, move its name.
SECTION_IN: Final = (section_of_json_ld, section_metas)
IMAGE_IN: Final = (image_metas, image_of_json_ld)
PAYWALLED_IN: Final = (paid_parts, paid_article, tier_metas)
# Persons in a byline under the headline come before these fields, and beside it before those that
# name only the site (`_authors`).
AUTHORS_IN: Final = (author_of_json_ld, author_metas, written_by)
# Asked where these name nobody.
AUTHOR_DATA_IN: Final = (author_in_scripts,)
# All fields, for docs/metadata.md.
FIELDS: Final[dict[str, dict[str, Sequence[Callable[[PageSignals], object]]]]] = {
    "title": {"TITLE_IN": TITLE_IN},
    "authors": {"AUTHORS_IN": AUTHORS_IN, "AUTHOR_DATA_IN": AUTHOR_DATA_IN},
    "published": {
        "STATED_IN": STATED_IN,
        "DATA_IN": DATA_IN,
        "SHOWN_IN": SHOWN_IN,
        "MODIFIED_IN": MODIFIED_IN,
        "LAST_RESORTS": LAST_RESORTS,
    },
    "modified": {"MODIFIED_IN": MODIFIED_IN},
    "language": {"LANGUAGE_IN": LANGUAGE_IN},
    "section": {"SECTION_IN": SECTION_IN},
    "image": {"IMAGE_IN": IMAGE_IN},
    "site_name": {"SITE_NAME_IN": SITE_NAME_IN},
    "paywalled": {"PAYWALLED_IN": PAYWALLED_IN},
}


def _authors(signals: PageSignals, statements: Sequence[Authors]) -> Authors:
    """Return the authors' names, once each.

    Persons whom the page shows replace a field that names only the site itself.
    """
    declared: Authors = ()
    for authors in statements:
        if authors and not titles.all_sites(authors, signals.site_names):
            if not all(map(names.is_weak, authors)):
                return _find_authors(signals, _complete(authors, statements))
            declared = authors
            break
        declared = declared or authors
    if signed := _find_authors(signals, ()):
        return signed
    beside = signals.surroundings.sightings.best_bylines(MAX_GAP)
    persons = names.persons(beside)
    is_site = titles.all_sites(declared, signals.site_names)
    if persons and (is_site or any(map(names.is_full, persons))):
        return persons
    is_desk = all(map(names.is_organisation, declared))
    if declared and not is_desk:
        are_persons = (names.is_person(name) and not names.is_weak(name) for name in declared)
        if not is_site or all(are_persons):
            return declared
    if not declared and (in_scripts := first_in(AUTHOR_DATA_IN, signals)):
        return in_scripts
    marked = signals.anywhere.best_bylines(MAX_GAP_OF_MARKED)
    title = signals.title or ""
    if declared:
        opening = filter(names.opens_byline, marked)
        return names.persons(opening) or _find_in_text(signals) or declared
    shown = names.persons(marked)
    return (
        (shown if len(shown) <= MAX_MARKED_PERSONS else ())
        or names.accounts(beside)
        or names.accounts(marked)
        or _find_in_text(signals)
        or byline_lines.author_and_place(signals.surroundings.first_line)
        or (text_bylines.signed_below(signals.own_text) if byline_lines.is_cjk(title) else ())
        or names.marked_desks(beside)
        or names.signed_desk(signals.surroundings.opening_byline)
    )


def _evidence_of(
    authors: Authors, statements: Sequence[Candidate[Authors]], signals: PageSignals
) -> Evidence:
    """Return the rank of the authors: fields state them, the headline's block shows them, or they
    are somewhere else on the page."""
    if not authors:
        return Evidence()
    for candidate in statements:
        if not set(authors).isdisjoint(candidate.value):
            return Evidence("stated", candidate.place)
    byline = signals.surroundings.opening_byline
    bylines = [*signals.surroundings.sightings.best_bylines(MAX_GAP), byline]
    is_shown = not set(authors).isdisjoint(names.persons(bylines))
    return Evidence("shown", "around_heading") if is_shown else Evidence("text")


def _complete(authors: Authors, statements: Sequence[Authors]) -> Authors:
    """Return the authors of the field that names all of these and more persons."""
    folded = {name.casefold() for name in authors}
    longer = (more for more in statements if folded < {name.casefold() for name in more})
    return next((more for more in longer if not any(map(names.is_weak, more))), authors)


def _find_in_text(signals: PageSignals) -> Authors:
    """Return the persons that the text names as authors, without any mark in the markup; those
    that comments and teasers alone name are none."""
    title = signals.title or ""

    def persons_in(text: str) -> Authors:
        return text_bylines.labelled_persons(text, title) or text_bylines.beside_title(
            text, title, signals.site_names, signals.dialect
        )

    return persons_in(signals.own_text) if persons_in(signals.text) else ()


def _find_authors(signals: PageSignals, declared: Authors) -> Authors:
    """Return the persons in the byline under the headline, else the stated authors.

    Fields also name editors and photographers, or the account that entered the text.
    """
    byline = signals.surroundings.opening_byline
    if not byline or _PICTURE.search(byline):
        return declared
    persons = names.persons([byline])
    if not persons or len(persons) > len(declared) + MAX_MORE:
        return declared
    if all(" " in name for name in persons) and not names.hold_runs(persons, declared):
        return persons if not titles.all_sites(persons[-1:], signals.site_names) else declared
    return declared


def _names_in(signals: PageSignals, value: object) -> Authors:
    """Return the names of persons in a value of JSON-LD, then those of organisations."""
    persons: list[str] = []
    organisations: list[str] = []
    for node in islice(_each_of(signals, value), names.MAX_AUTHORS):
        is_organisation = isinstance(node, dict) and "organization" in jsonld.types_of(node)
        if name := squeeze(_name_of(node) if isinstance(node, dict) else jsonld.text_of(node)):
            (organisations if is_organisation else persons).append(name)
    return (*names.clean(persons), *organisations)


def _each_of(signals: PageSignals, value: object, depth: int = 0) -> Iterator[object]:
    """Yield what lists and lists in them hold, and objects of nothing but nodes, as PHP numbers
    them; a node with several names once for each."""
    value = signals.data.resolve(value)
    if isinstance(value, dict):
        inner = value.get("@list") or value.get("@set") or value.get("name")
        if isinstance(inner, list):
            is_of_names = inner is value.get("name")
            value = [{**value, "name": name} for name in inner] if is_of_names else inner
        elif value and all(isinstance(each, (dict, list)) for each in value.values()):
            value = [*value.values()] if "name" not in value else value
    if not isinstance(value, list):
        yield value
    elif depth < jsonld.MAX_DEPTH:
        for each in value[: names.MAX_AUTHORS]:
            yield from _each_of(signals, each, depth + 1)


_GIVEN: Final = ("givenname", "firstname", "first", "given")
_FAMILY: Final = ("familyname", "lastname", "last", "surname", "family")
_OTHER_NAMES: Final = ("alternatename", "additionalname", "displayname", "fullname", "label")


def _name_of(node: jsonld.Node) -> str | None:
    """Return the name of a person in JSON-LD, in one or in parts; else that in its address."""
    inner = node.get("name")
    parts = inner if isinstance(inner, dict) and "@value" not in inner else node
    texts = {
        key.lower().replace("_", ""): text
        for key, value in parts.items()
        if (text := jsonld.text_of(value))
    }
    first_name, family = (
        next(filter(None, map(texts.get, keys)), "") for keys in (_GIVEN, _FAMILY)
    )
    middle = texts.get("additionalname", "") if first_name else ""
    return (
        texts.get("name")
        or " ".join(filter(None, (first_name, middle, family)))
        or next(filter(None, map(texts.get, _OTHER_NAMES)), None)
        or names.name_in_address(jsonld.url_of(node) or texts.get("sameas", ""))
    )


# --- The declared kind ---------------------------------------------------------------------------


def _declared_kind(signals: PageSignals, *, has_date: bool) -> DeclaredKind:
    """Return the declared kind; `has_date` tells whether a field states a date of publication."""
    title = (signals.title or signals.title_element or "").lower()
    og_type = (signals.meta("og:type") or "").lower()
    if contains_any(title, _OF_ERRORS) or (
        contains_any(title, _IN_STATUS) and _STATUS.match(title)
    ):
        return DeclaredKind("error")
    types = signals.data.types
    address = address_of(signals.url)
    has_data = jsonld.hold_article(types)
    is_article = has_data or og_type.endswith("article")
    path = address.path + "/" if address else ""
    in_path = (name for name, pattern in _PATHS.items() if pattern.search(path))
    kind = _by_types(types, og_type) or next(in_path, None)
    if kind is None and is_article:
        kind = "article"
    if kind is None and (
        types & jsonld.LIST_TYPES
        or bool(address and not address.query and _FRONT_PATH.fullmatch(address.path))
    ):
        kind = "front"
    could_be_front = kind is None and not has_date and _is_section(address)
    return DeclaredKind(kind or "article", is_article, could_be_front, has_data)


def address_of(url: str | None) -> SplitResult | None:
    """Return the parts of an address in lower case, None if it is none."""
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


def _is_section(address: SplitResult | None) -> bool:
    """Return whether an address is like /business/markets/, without a headline, number or year."""
    if address is None:
        return False
    if any(map(str.isdigit, address.query)) or _YEAR.search(address.path):
        return False
    parts = [part for part in address.path.split("/") if part]
    last = _ENDING.sub("", parts[-1]) if parts else ""
    return (
        len(parts) <= 3
        and not any(map(str.isdigit, last))
        and len(last.replace("_", "-").split("-")) <= 2
    )
