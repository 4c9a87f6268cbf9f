"""All that a page gives as evidence of its metadata, what is costly only when asked for."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final
from urllib.parse import urlsplit

from selectolax.lexbor import LexborHTMLParser, LexborNode

from newscrawl.extraction.metadata import dates, jsonld, markup, titles
from newscrawl.extraction.metadata.dates import Dialect
from newscrawl.extraction.metadata.signals import Signals, gather, squeeze
from newscrawl.extraction.metadata.vocabulary import words

_SITE: Final = words("metas", "site")
_LANGUAGE: Final = words("metas", "language")
# Countries, and endings that are sold to all of them.
_MONTH_FIRST: Final = frozenset({"us", "ph", "io", "co", "tv", "ai", "me"})
_LESSER_HEADINGS: Final = "h2,h3,h4,[class*=title],[class*=headline]"
MAX_LESSER_HEADINGS: Final = 60
_CODE: Final = re.compile(r"([a-z]{2,3})(?:[-_][a-z0-9]{2,8})*", re.IGNORECASE)
_REGION: Final = re.compile(r"\ben[-_]([a-z]{2})\b")
_OTHER_CODES: Final = {
    "eng": "en", "deu": "de", "ger": "de", "fra": "fr", "fre": "fr", "spa": "es", "ita": "it",
    "pol": "pl", "por": "pt", "rus": "ru", "ell": "el", "gre": "el", "zho": "zh", "chi": "zh",
    "jpn": "ja", "kor": "ko", "nld": "nl", "dut": "nl", "tur": "tr", "ces": "cs", "swe": "sv",
    "dan": "da", "nor": "no", "nob": "no", "fin": "fi", "ukr": "uk", "hun": "hu", "ron": "ro",
    "nb": "no", "nn": "no", "iw": "he", "in": "id",
}  # fmt: skip


@dataclass(frozen=True)
class Evidence:
    """A page's signals, the JSON-LD node of its article, and where it came from.

    `article` is empty where the page has no JSON-LD of its own. `known_language` is what the
    caller knows, used where the page declares none.
    """

    signals: Signals
    article: jsonld.Node
    url: str | None
    known_language: str | None

    @cached_property
    def language(self) -> str | None:
        """ISO 639-1 as declared by the page; "en" only where nothing contradicts it.

        English is what templates say by default: over all four development sets, of pages
        that declare two languages, one of them English, it was the other in 47 of 49.
        """
        values = (
            self.signals.html_language,
            jsonld.text_of(self.article.get("inLanguage")),
            *self.signals.firsts(_LANGUAGE),
        )
        declared = [code for value in values if (code := language_code(value))]
        others = (code for code in declared if code != "en")
        return next(others, None) or next(iter(declared), language_code(self.known_language))

    @cached_property
    def dialect(self) -> Dialect:
        """How the page writes days; only American and Philippine English put the month first."""
        locale = self.signals.meta("og:locale") or ""
        region = _REGION.search(f"{self.signals.html_language or ''} {locale}".lower())
        country = region[1] if region else self._host.rpartition(".")[2]
        english = self.language in ("en", None)
        return Dialect(self.language, english and (country in _MONTH_FIRST or len(country) != 2))

    @cached_property
    def _host(self) -> str:
        for address in (self.url, self.signals.canonical, self.signals.meta("og:url")):
            try:
                if host := urlsplit(address or "").hostname:
                    return host
            except ValueError:
                continue
        return ""

    @cached_property
    def site_name(self) -> str | None:
        if name := self.signals.meta("og:site_name"):
            return name
        publisher = self.signals.data.resolve(self.article.get("publisher"))
        if isinstance(publisher, list) and publisher:
            publisher = self.signals.data.resolve(publisher[0])
        named = jsonld.text_of(publisher.get("name") if isinstance(publisher, dict) else publisher)
        if named and "://" not in named:
            return squeeze(named)
        for node in self.signals.data.of_types({"website"}):
            if name := squeeze(jsonld.text_of(node.get("name"))):
                return name
        return self.signals.meta("application-name", "apple-mobile-web-app-title", "dc.publisher")

    @cached_property
    def site_names(self) -> tuple[str, ...]:
        """All that the site may call itself, its host names among them."""
        host = self._host
        name = max(host.removeprefix("www.").split("."), key=len)
        metas = self.signals.firsts(_SITE)
        return tuple(filter(None, (self.site_name, *metas, host, name)))

    @cached_property
    def title_candidates(self) -> tuple[titles.Candidate, ...]:
        return tuple(titles.candidates(self.signals, self.article))

    @cached_property
    def title(self) -> str | None:
        return titles.choose(self.title_candidates, self.site_names)

    @cached_property
    def around(self) -> markup.Found:
        """Bylines and dates around the headline."""
        heading = self._heading
        return markup.Found() if heading is None else markup.around(heading, self.dialect)

    @cached_property
    def anywhere(self) -> markup.Found:
        """Bylines and dates that are marked as such anywhere on the page."""
        return markup.anywhere(self.signals.tree, self.dialect)

    def labelled_date(self) -> dates.Stamp | None:
        """A date with a word for publishing before it, anywhere in the page's text."""
        return markup.labelled(self.signals.tree, self.dialect)

    @property
    def _heading(self) -> LexborNode | None:
        """The element that shows the title, or the first of the main headings."""
        headings = self.signals.headings
        likeness, best = self._likest(headings)
        if likeness < 0.5:
            others = self.signals.tree.css(_LESSER_HEADINGS)[:MAX_LESSER_HEADINGS]
            likeness, other = self._likest(others)
            best = other if likeness >= 0.8 else best
        return best

    def _likest(self, nodes: Sequence[LexborNode]) -> tuple[float, LexborNode | None]:
        wanted = titles.words_of(self.title or "")
        rated = [
            (titles.likeness(titles.words_of(squeeze(node.text())), wanted), node) for node in nodes
        ]
        return max(rated, key=lambda each: each[0], default=(0.0, None))


def collect(tree: LexborHTMLParser, url: str | None, language: str | None) -> Evidence:
    signals = gather(tree)
    return Evidence(signals, _main_node(signals, url), url, language)


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
    groups = [jsonld.WORK_TYPES, jsonld.PAGE_TYPES]
    if (signals.meta("og:type") or "").lower().startswith("video"):
        groups.append(jsonld.VIDEO_TYPES)  # else a video is embedded, with a title of its own
    return next(signals.data.of_types(*groups), {})


def language_code(value: str | None) -> str | None:
    """The ISO 639-1 code in a language tag ("de_AT", "deu"), if there is one."""
    match = _CODE.fullmatch(value.strip()[:40]) if value else None
    if not match:
        return None
    code = match[1].lower()
    return _OTHER_CODES.get(code, code if len(code) == 2 else None)
