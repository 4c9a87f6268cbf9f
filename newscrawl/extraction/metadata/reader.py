"""A page's metadata, each field from the most trusted place that gives it."""

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final
from urllib.parse import urljoin, urlsplit

from selectolax.lexbor import LexborHTMLParser

from newscrawl.extraction.metadata import authors, jsonld, kinds, publication
from newscrawl.extraction.metadata.evidence import Evidence, collect
from newscrawl.extraction.metadata.signals import squeeze
from newscrawl.extraction.metadata.vocabulary import words
from newscrawl.items import Kind

_SECTION: Final = words("metas", "section")
_PAYWALL: Final = words("metas", "paywall")
_IMAGE: Final = words("metas", "image")
_ABSOLUTE: Final = re.compile(r"https?://[\w.-]+(?::\d+)?(?:[/?#]\S*)?$")
_TIER: Final = {"locked": True, "paid": True, "premium": True, "plus": True, "free": False}


@dataclass(frozen=True, slots=True, kw_only=True)
class Metadata:
    """What a page says about its article, apart from its text.

    `published` and `modified` are aware and not in the future. `language` is ISO 639-1 as the
    page declares it; `paywalled` is None where the page doesn't say. `kind`, `declares_article` and
    `could_be_front` are what metadata alone tell of the kind (`kinds.Declared`). `article_body` is
    JSON-LD's, raw.
    `headline_candidates` are all titles found, the most trusted place first.
    """

    title: str | None = None
    authors: tuple[str, ...] = ()
    published: datetime | None = None
    modified: datetime | None = None
    language: str | None = None
    section: str | None = None
    image: str | None = None
    site_name: str | None = None
    paywalled: bool | None = None
    kind: Kind = "article"
    declares_article: bool = False
    could_be_front: bool = False
    article_body: str | None = None
    headline_candidates: tuple[str, ...] = ()


def read(
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
    evidence = collect(tree, url, language)
    dates = publication.read(evidence, now or datetime.now(UTC))
    signals = evidence.signals
    declared = kinds.declared_kind(
        signals.data,
        signals.meta("og:type") or "",
        url,
        evidence.title or signals.title,
        has_date=dates.are_stated,
    )
    return Metadata(
        title=evidence.title,
        authors=authors.read(evidence),
        published=dates.published,
        modified=dates.modified,
        language=evidence.language,
        section=_section(evidence),
        image=_image(evidence),
        site_name=evidence.site_name,
        paywalled=_paywalled(evidence),
        kind=declared.kind,
        declares_article=declared.is_article,
        could_be_front=declared.could_be_front,
        article_body=jsonld.text_of(evidence.article.get("articleBody")),
        headline_candidates=tuple(dict.fromkeys(each.text for each in evidence.title_candidates)),
    )


def _section(evidence: Evidence) -> str | None:
    value = evidence.article.get("articleSection")
    if isinstance(value, list):
        value = next((each for each in value if isinstance(each, str) and each.strip()), None)
    return squeeze(jsonld.text_of(value)) or evidence.signals.meta(*_SECTION)


def _image(evidence: Evidence) -> str | None:
    signals = evidence.signals
    in_data = jsonld.url_of(signals.data.resolve(evidence.article.get("image")))
    base = evidence.url or signals.canonical
    values = (*signals.firsts(_IMAGE), *filter(None, (in_data,)))
    return next((found for value in values if (found := _absolute(value, base))), None)


def _absolute(address: str, base: str | None) -> str | None:
    if _ABSOLUTE.match(address):
        return address
    try:
        joined = urljoin(base or "", address.strip())
        parts = urlsplit(joined)
    except ValueError:
        return None
    return joined if parts.scheme in ("http", "https") and parts.netloc else None


def _paywalled(evidence: Evidence) -> bool | None:
    parts = evidence.article.get("hasPart")
    for part in parts if isinstance(parts, list) else [parts]:
        if isinstance(part, dict) and jsonld.truth_of(part.get("isAccessibleForFree")) is False:
            return True
    free = jsonld.truth_of(evidence.article.get("isAccessibleForFree"))
    if free is not None:
        return not free
    tier = evidence.signals.meta(*_PAYWALL)
    return _TIER.get(tier.lower()) if tier else None
