"""A page's metadata, each field from the most trusted place that gives it."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from typing import Final
from urllib.parse import urljoin, urlsplit

from selectolax.lexbor import LexborHTMLParser, LexborNode

from newscrawl.extraction.metadata import authors, dates, jsonld, kinds, markup, titles
from newscrawl.extraction.metadata.dates import Stamp
from newscrawl.extraction.metadata.signals import Signals, gather, squeeze
from newscrawl.extraction.metadata.titles import Candidate
from newscrawl.extraction.metadata.vocabulary import any_of, words
from newscrawl.items import Kind

_PUBLISHED: Final = words("metas", "published")
_MODIFIED: Final = words("metas", "modified")
_AUTHOR: Final = words("metas", "author")
_TITLE: Final = words("metas", "title")
_SECTION: Final = words("metas", "section")
_IMAGE: Final = words("metas", "image")
_SITE: Final = words("metas", "site")
_LANGUAGE: Final = words("metas", "language")
_LABELS: Final = tuple((f"twitter:label{number}", f"twitter:data{number}") for number in (1, 2))
_WRITTEN_BY: Final = re.compile(any_of(words("bylines", "written_by")), re.IGNORECASE)
_CODE: Final = re.compile(r"([a-z]{2,3})(?:[-_][a-z0-9]{2,8})*", re.IGNORECASE)
_THREE_LETTERS: Final = {
    "eng": "en", "deu": "de", "ger": "de", "fra": "fr", "fre": "fr", "spa": "es", "ita": "it",
    "pol": "pl", "por": "pt", "rus": "ru", "ell": "el", "gre": "el", "zho": "zh", "chi": "zh",
    "jpn": "ja", "kor": "ko", "nld": "nl", "dut": "nl", "tur": "tr", "ces": "cs", "swe": "sv",
    "dan": "da", "nor": "no", "fin": "fi", "ukr": "uk", "hun": "hu", "ron": "ro",
}  # fmt: skip
_TIER: Final = {"locked": True, "paid": True, "premium": True, "plus": True, "free": False}


@dataclass(frozen=True, slots=True, kw_only=True)
class Metadata:
    """What a page says about its article, apart from its text.

    `published` and `modified` are aware and not in the future. `language` is ISO 639-1 as the
    page declares it; `paywalled` is None where the page doesn't say. `kind` is what metadata alone
    tells; `kind_of` settles it once the text is known. `article_body` is JSON-LD's, raw.
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
    signals = gather(tree)
    article = _main_node(signals, url)
    declared = _language(signals, article) or _code(language)
    site_name = _site_name(signals, article)
    candidates = _title_candidates(signals, article)
    title = titles.choose(candidates, _site_names(signals, site_name, url))
    markings = _Markings(signals, title, declared)
    published, modified = _dates(signals, article, markings, url, now or datetime.now(UTC))
    return Metadata(
        title=title,
        authors=_authors(signals, article, markings),
        published=published,
        modified=modified,
        language=declared,
        section=_section(signals, article),
        image=_image(signals, article, url),
        site_name=site_name,
        paywalled=_paywalled(signals, article),
        kind=kinds.stated_kind(
            signals.data, signals.meta("og:type") or "", url, title or signals.title
        ),
        article_body=jsonld.text_of(article.get("articleBody")),
        headline_candidates=tuple(dict.fromkeys(each.text for each in candidates)),
    )


def kind_of(metadata: Metadata, *, words: int, link_words: int, text: str = "") -> Kind:
    """Settle the kind with what extraction found.

    `words` counts the body text's words, `link_words` those of the page that stand within links;
    `text` is the body text (its beginning is enough).
    """
    return kinds.settled_kind(
        metadata.kind, kinds.Size(words, link_words), paywalled=metadata.paywalled, text=text
    )


class _Markings:
    """Bylines and dates of the markup, looked for only where metas and JSON-LD leave a gap."""

    def __init__(self, signals: Signals, title: str | None, language: str | None) -> None:
        self._signals = signals
        self._title = title
        self._language = language
        self._around: markup.Found | None = None

    @property
    def around(self) -> markup.Found:
        if self._around is None:
            heading = self._heading()
            self._around = (
                markup.around(heading, self._language) if heading is not None else markup.Found()
            )
        return self._around

    def bylines(self) -> Iterator[Sequence[str]]:
        yield self.around.bylines
        yield markup.authors_anywhere(self._signals.tree, self._language).bylines

    def stamps(self) -> Iterator[Stamp | None]:
        yield self.around.first_date
        yield markup.dates_anywhere(self._signals.tree, self._language).first_date

    def _heading(self) -> LexborNode | None:
        headings = self._signals.headings
        if not headings:
            return None
        wanted = titles.words_of(self._title or "")
        for node in headings:
            if titles.words_of(squeeze(node.text())) == wanted:
                return node
        return headings[0]


def _main_node(signals: Signals, url: str | None) -> jsonld.Node:
    """The JSON-LD node of the page's own article, or the nearest there is to one."""
    articles = list(signals.data.articles)
    if len(articles) > 1:
        addresses = {each.rstrip("/") for each in (url, signals.canonical) if each}
        for node in articles:
            own = {jsonld.url_of(node.get(key)) for key in ("url", "@id", "mainEntityOfPage")}
            if addresses & {each.rstrip("/") for each in own if each}:
                return node
        for node in articles:
            if jsonld.text_of(node.get("headline")) in signals.heading_texts:
                return node
    if articles:
        return articles[0]
    data = signals.data
    for node in data.of_types(jsonld.WORK_TYPES, jsonld.PAGE_TYPES, jsonld.VIDEO_TYPES):
        return node
    return {}


def _title_candidates(signals: Signals, article: jsonld.Node) -> list[Candidate]:
    found: list[Candidate] = []
    for key in ("headline", "name", "alternativeHeadline"):
        if text := squeeze(jsonld.text_of(article.get(key))):
            found.append(Candidate(text, "data"))
            break
    found.extend(Candidate(text, "heading") for text in signals.heading_texts)
    named = (signals.meta(name) for name in _TITLE)
    found.extend(Candidate(title, "meta") for title in named if title)
    if signals.title:
        found.append(Candidate(signals.title, "element"))
    return found


def _authors(signals: Signals, article: jsonld.Node, markings: _Markings) -> tuple[str, ...]:
    for bylines in _bylines(signals, article, markings):
        if names := authors.clean(bylines):
            return names
    return ()


def _bylines(
    signals: Signals, article: jsonld.Node, markings: _Markings
) -> Iterator[Sequence[str]]:
    for key in ("author", "creator"):
        yield list(_person_names(signals, article.get(key)))
    for name in _AUTHOR:
        yield signals.metas.get(name, ())
    for label, data in _LABELS:
        if _WRITTEN_BY.search(signals.meta(label) or ""):
            yield signals.metas.get(data, ())
    yield from markings.bylines()


def _person_names(signals: Signals, value: object) -> Iterator[str]:
    values = value if isinstance(value, list) else [value]
    for each in values[: authors.MAX_AUTHORS]:
        person = signals.data.resolve(each)
        name = person.get("name") if isinstance(person, dict) else person
        if isinstance(name, list):
            yield from (text for one in name if (text := jsonld.text_of(one)))
        elif text := jsonld.text_of(name):
            yield text


def _dates(
    signals: Signals, article: jsonld.Node, markings: _Markings, url: str | None, now: datetime
) -> tuple[datetime | None, datetime | None]:
    published = list(_published(signals, article))
    modified = [
        stamp
        for value in (
            jsonld.text_of(article.get("dateModified")),
            *(signals.meta(name) for name in _MODIFIED),
        )
        if (stamp := dates.read(value))
    ]
    zone = next((stamp.zone for stamp in (*published, *modified) if stamp.zone), None)
    first = _first_settled(published, zone, now)
    if first is None:
        stamps = (*markings.stamps(), dates.from_url(url), *modified)
        first = _first_settled([stamp for stamp in stamps if stamp], zone, now)
    last = _first_settled(modified, zone, now)
    if last is not None and first is not None and last < first:
        last = None
    return first, last


def _first_settled(stamps: Sequence[Stamp], zone: tzinfo | None, now: datetime) -> datetime | None:
    """The first date that isn't in the future; of the same day the one with a time."""
    for stamp in stamps:
        if not (moment := dates.settle(stamp, zone, now)):
            continue
        if not stamp.timed:
            for other in stamps:
                if other.timed and other.moment.date() == stamp.moment.date():
                    return dates.settle(other, zone, now) or moment
        return moment
    return None


def _published(signals: Signals, article: jsonld.Node) -> Iterator[Stamp]:
    for key in ("datePublished", "dateCreated", "uploadDate"):
        if stamp := dates.read(jsonld.text_of(article.get(key))):
            yield stamp
    for name in _PUBLISHED:
        if stamp := dates.read(signals.meta(name)):
            yield stamp
    for node in signals.data.of_types(jsonld.PAGE_TYPES, jsonld.WORK_TYPES):
        if stamp := dates.read(jsonld.text_of(node.get("datePublished"))):
            yield stamp


def _language(signals: Signals, article: jsonld.Node) -> str | None:
    values = (
        signals.html_language,
        jsonld.text_of(article.get("inLanguage")),
        *(signals.meta(name) for name in _LANGUAGE),
    )
    return next((code for value in values if (code := _code(value))), None)


def _code(value: str | None) -> str | None:
    match = _CODE.fullmatch(value.strip()[:40]) if value else None
    if not match:
        return None
    code = match[1].lower()
    return _THREE_LETTERS.get(code) if len(code) == 3 else code


def _section(signals: Signals, article: jsonld.Node) -> str | None:
    value = article.get("articleSection")
    if isinstance(value, list):
        value = next((each for each in value if isinstance(each, str) and each.strip()), None)
    return squeeze(jsonld.text_of(value)) or signals.meta(*_SECTION)


def _image(signals: Signals, article: jsonld.Node, url: str | None) -> str | None:
    for value in (
        *(signals.meta(name) for name in _IMAGE[:3]),
        jsonld.url_of(signals.data.resolve(article.get("image"))),
        *(signals.meta(name) for name in _IMAGE[3:]),
    ):
        if value and (address := _absolute(value, url or signals.canonical)):
            return address
    return None


def _absolute(address: str, base: str | None) -> str | None:
    try:
        joined = urljoin(base or "", address.strip())
        parts = urlsplit(joined)
    except ValueError:
        return None
    return joined if parts.scheme in ("http", "https") and parts.netloc else None


def _site_name(signals: Signals, article: jsonld.Node) -> str | None:
    if name := signals.meta("og:site_name"):
        return name
    publisher = signals.data.resolve(article.get("publisher"))
    if isinstance(publisher, list) and publisher:
        publisher = signals.data.resolve(publisher[0])
    named = jsonld.text_of(publisher.get("name") if isinstance(publisher, dict) else publisher)
    if named and "://" not in named:
        return squeeze(named)
    for node in signals.data.of_types({"website"}):
        if name := squeeze(jsonld.text_of(node.get("name"))):
            return name
    return signals.meta("application-name", "apple-mobile-web-app-title", "dc.publisher")


def _site_names(signals: Signals, site_name: str | None, url: str | None) -> tuple[str, ...]:
    names = [site_name or "", *(signals.meta(name) or "" for name in _SITE)]
    for address in (url, signals.canonical, signals.meta("og:url")):
        try:
            host = urlsplit(address or "").hostname or ""
        except ValueError:
            continue
        labels = host.removeprefix("www.").split(".")
        names.extend((host, max(labels, key=len)))
    return tuple(name for name in names if name)


def _paywalled(signals: Signals, article: jsonld.Node) -> bool | None:
    parts = article.get("hasPart")
    for part in parts if isinstance(parts, list) else [parts]:
        if isinstance(part, dict) and jsonld.truth_of(part.get("isAccessibleForFree")) is False:
            return True
    free = jsonld.truth_of(article.get("isAccessibleForFree"))
    if free is not None:
        return not free
    tier = signals.meta("article:content_tier", "og:article:content_tier", "content_tier")
    return _TIER.get(tier.lower()) if tier else None
