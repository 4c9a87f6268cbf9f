"""What a page says about itself: gathered in one pass over its tree, costly parts on demand."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from itertools import chain
from typing import Final
from urllib.parse import urlsplit

from selectolax.lexbor import LexborHTMLParser, LexborNode

from newscrawl.extraction.blocks import tag_id, tag_ids
from newscrawl.extraction.html import squeeze
from newscrawl.extraction.metadata import dates, headings, jsonld, markup, scripts, titles
from newscrawl.extraction.metadata.dates import Dialect
from newscrawl.extraction.metadata.headings import Heading
from newscrawl.extraction.metadata.meanings import Field, meaning_of
from newscrawl.extraction.metadata.places import Candidate, candidates_in, first_in
from newscrawl.extraction.metadata.vocabulary import tables, words

# Ours: bounds on hostile input; no page of the development corpus comes near.
MAX_NODES: Final = 3_000
MAX_VALUES_A_NAME: Final = 20
MAX_SEARCHED: Final = 200_000
MAX_HEADINGS: Final = 8
MAX_LESSER_HEADINGS: Final = 60
MAX_ITEM_DEPTH: Final = 4
ALIKE: Final = 0.5
VERY_ALIKE: Final = 0.79
"""Ours: Dice's coefficients from which a heading, or a lesser one, and a title are the same."""

_QUERY: Final = 'meta,title,h1,link[rel~="canonical" i],script:not([src])'
# Tags are compared by the parser's numbers: their names would be made anew for each node.
_META, _SCRIPT, _TITLE_ELEMENT, _LINK = map(tag_id, ("meta", "script", "title", "link"))
_DRAWINGS: Final = tag_ids("svg g symbol path")
_SITE: Final = words("metas", "site")
# Countries, and endings that are sold to all of them.
_MONTH_FIRST: Final = frozenset({"us", "ph", "io", "co", "tv", "ai", "me"})
_CODE: Final = re.compile(r"([a-z]{2,3})(?:[-_][a-z0-9]{2,8})*", re.IGNORECASE)
_REGION: Final = re.compile(r"\ben[-_]([a-z]{2})\b")
_OTHER_CODES: Final = {name: code for code, names in tables("languages").items() for name in names}


@dataclass(frozen=True)
class PageSignals:
    """A page's metas, JSON-LD, titles and addresses, and what follows from them.

    `metas` maps the names of metas that anything is read from, in lower case, to their values in
    page order; no list is empty. `known_language` is what the caller knows of the site.
    """

    tree: LexborHTMLParser
    url: str | None
    known_language: str | None
    metas: dict[str, list[str]]
    scripts: tuple[LexborNode, ...]
    title_element: str | None
    headings: tuple[Heading, ...]
    canonical: str | None
    html_language: str | None

    def meta(self, *names: str) -> str | None:
        """Return the first value that any of these metas has, in the order of the names."""
        return next(iter(self.first_values(names)), None)

    def first_values(self, names: Iterable[str]) -> list[str]:
        """Return the first values of those of these metas that are there, in the order given."""
        return [self.metas[name][0] for name in names if name in self.metas]

    def metas_that_state(self, field: Field) -> list[str]:
        """Return the names of the metas that state a field, the surest first, in page order."""
        return [name for name, (meaning, _) in self._meanings if meaning == field]

    @cached_property
    def _meanings(self) -> list[tuple[str, tuple[Field, int]]]:
        """Return the names of the metas that state any field with what they state, the surest
        first."""
        meanings = ((name, meaning_of(name)) for name in self.metas)
        return sorted(((n, each) for n, each in meanings if each), key=lambda pair: pair[1][1])

    def stated(self, field: Field) -> list[str]:
        """Return the first value of each meta that states a field."""
        return self.first_values(self.metas_that_state(field))

    def stated_in_scripts(self, field: Field) -> tuple[str, ...]:
        """Return what objects in metas and scripts state."""
        metas = (value for values in self.metas.values() for value in values if value[0] == "{")
        return scripts.stated_in(chain(metas, self._script_texts), field)

    @cached_property
    def _script_texts(self) -> tuple[str, ...]:
        return tuple(node.text() for node in self.scripts[: scripts.MAX_SCRIPTS])

    @cached_property
    def data(self) -> jsonld.LinkedData:
        """Return the nodes of the page's JSON-LD."""
        types = ((node, node.attributes.get("type") or "") for node in self.scripts)
        return jsonld.read(node.text() for node, name in types if "ld+json" in name.lower())

    @cached_property
    def article(self) -> jsonld.Node:
        """Return the JSON-LD node of the page's own article, or the nearest one; empty if the
        page has none."""
        articles = list(self.data.articles)
        if len(articles) > 1:
            addresses = {each.rstrip("/") for each in (self.url, self.canonical) if each}
            for node in articles:
                page_addresses = {
                    jsonld.url_of(node.get(key)) for key in ("url", "@id", "mainEntityOfPage")
                }
                if addresses & {each.rstrip("/") for each in page_addresses if each}:
                    return node
            for node in articles:
                if jsonld.text_of(node.get("headline")) in self.heading_texts:
                    return node
        if articles:
            return articles[0]
        groups = [jsonld.WORK_TYPES, jsonld.PAGE_TYPES]
        if (self.meta("og:type") or "").lower().startswith("video"):
            groups.append(jsonld.VIDEO_TYPES)  # else a video is embedded, with a title of its own
        return next(self.data.of_types(*groups), {})

    @cached_property
    def heading_texts(self) -> tuple[str, ...]:
        """Return the texts of the main headings, without those that only link to the home page."""
        return tuple(each.text for each in self.headings if each.text and not each.is_site)

    @cached_property
    def title_candidates(self) -> tuple[Candidate[str], ...]:
        """All titles of the page, the most trusted place first."""
        return tuple(
            Candidate(titles.plain(each.value), each.place)
            for each in candidates_in(TITLE_IN, self)
        )

    @cached_property
    def title_in_data(self) -> str | None:
        """Return the title that JSON-LD gives the page's article."""
        keys = ("headline", "name", "alternativeHeadline")
        in_data = (squeeze(jsonld.text_of(self.article.get(key))) for key in keys)
        return next(filter(None, in_data), None)

    @cached_property
    def titles_beside_headings(self) -> list[str]:
        """Return the titles of the page but those of its main headings."""
        titles_of_page = (self.title_in_data, *self.stated("title"), self.title_element)
        return [*filter(None, titles_of_page)]

    def heading_variants(self) -> Iterator[str]:
        """Yield the parts of main headings that titles have without the rest of the heading."""

        def joined(text: str) -> str:  # a run of words can be searched in it
            return f" {' '.join(titles.words_of(text))} "

        varied = [heading for heading in self.headings if heading.variants]
        titles_elsewhere = [*map(joined, self.titles_beside_headings if varied else ())]
        for heading in varied:
            text = joined(heading.text)
            for variant in heading.variants:
                part = joined(variant)
                if any(
                    part in title and (len(part) > len(text) or text not in title)
                    for title in titles_elsewhere
                ):
                    yield variant

    def shown_headlines(self) -> Iterator[str]:
        """Yield what the page shows as headline where no main heading is like its titles."""
        elsewhere = self.titles_beside_headings
        word_lists = [titles.words_of(title) for title in elsewhere]
        heads = [titles.words_of(text) for text in self.heading_texts]
        likeness = max((titles.likeness(h, t) for h in heads for t in word_lists), default=0.0)
        is_long = len(heads) == 1 and len(heads[0]) >= titles.MIN_HEADLINE_WORDS
        if likeness >= ALIKE or (is_long and (likeness >= titles.BARELY_ALIKE or not word_lists)):
            return
        parts = dict.fromkeys(part for title in elsewhere for part in headings.parts_of(title))
        wanted_parts = [part for part in parts if not titles.all_sites([part], self.site_names)]
        wanted_parts = headings.without_short_parts(wanted_parts)
        part = headings.shown_part(self.pieces, wanted_parts)
        if part is None and not is_long and len(elsewhere) < 2:
            part = headings.first_headline(self.tree, marked_only=bool(heads))
        if part:
            yield part

    @cached_property
    def title(self) -> str | None:
        """Return the headline."""
        return titles.choose(self.title_candidates, self.site_names)

    @cached_property
    def language(self) -> str | None:
        """ISO 639-1 as declared by the page; "en" only where nothing contradicts it.

        English is what templates say by default: over all four development sets, of pages
        that declare two languages, one of them English, it was the other in 47 of 49.
        """
        declared = [each.value for each in candidates_in(LANGUAGE_IN, self)]
        foreign = (code for code in declared if code != "en")
        return next(foreign, None) or next(iter(declared), language_code(self.known_language))

    @cached_property
    def dialect(self) -> Dialect:
        """Return how the page writes days; only the USA and the Philippines put the month first."""
        locale = self.meta("og:locale") or ""
        region = _REGION.search(f"{self.html_language or ''} {locale}".lower())
        country = region[1] if region else self._host.rpartition(".")[2]
        english = self.language in ("en", None)
        return Dialect(self.language, english and (country in _MONTH_FIRST or len(country) != 2))

    @cached_property
    def _host(self) -> str:
        for address in filter(None, (self.url, self.canonical, self.meta("og:url"))):
            try:
                if host := urlsplit(address).hostname:
                    return host
            except ValueError:
                continue
        return ""

    @cached_property
    def site_name(self) -> str | None:
        """Return the name that the site gives itself."""
        return first_in(SITE_NAME_IN, self)

    @cached_property
    def site_names(self) -> tuple[str, ...]:
        """Everything that the site may call itself, its host names among them."""
        host = self._host
        labels = host.removeprefix("www.").split(".")
        longest = max(labels, key=len)
        registered = next((label for label in labels[-2::-1] if len(label) > 3), longest)
        shown = [heading.text for heading in self.headings if heading.is_site]
        site_names = (self.site_name, *self.first_values(_SITE), host, longest, registered, *shown)
        return tuple(filter(None, site_names))

    @cached_property
    def surroundings(self) -> markup.Surroundings:
        """Return the nodes around the headline."""
        return markup.Surroundings.of(self._heading, self.dialect)

    def other_day_shown(self, day: date) -> dates.Stamp | None:
        """Return the date line around the headline if it gives a day other than this."""
        if not self.surroundings.may_show_other_day(day):
            return None
        shown = self.surroundings.sightings.best_date()
        return shown if shown and shown.day != day else None

    @cached_property
    def anywhere(self) -> markup.Sightings:
        """Bylines and dates that are marked as such anywhere on the page."""
        return markup.anywhere(self.tree, self.dialect, self.surroundings.ancestors)

    @cached_property
    def pieces(self) -> str:
        """Return the text of the page with a mark for each tag."""
        body = self.tree.body
        return body.text(separator=headings.BETWEEN) if body is not None else ""

    @cached_property
    def text(self) -> str:
        """Return the text of the page, a line for each piece between two tags."""
        return self.pieces[:MAX_SEARCHED].replace(headings.BETWEEN, "\n")

    @cached_property
    def own_text(self) -> str:
        """Return the text of the page without comments and boxes of teasers."""
        return markup.without_foreign(self.tree, self.text)

    @cached_property
    def _heading(self) -> LexborNode | None:
        """Return the element that shows the title, or the first of the main headings."""
        title_words = titles.words_of(self.title or "")
        likeness, best = 0.0, None
        for heading in self.headings:
            alike = titles.likeness(titles.words_of(heading.text), title_words)
            if best is None or alike > likeness:
                likeness, best = alike, heading.node
        if likeness >= ALIKE or len(self.heading_texts) == 1:
            return best
        length = len(self.title or "")
        lesser_headings = markup.select(self.tree, markup.LESSER_HEADINGS)
        for node in lesser_headings[:MAX_LESSER_HEADINGS]:
            text = node.text(strip=True)
            if 2 * len(text) < length or len(text) > 3 * length:
                continue
            alike = titles.likeness(titles.words_of(squeeze(node.text())), title_words)
            if alike > max(likeness, VERY_ALIKE):
                likeness, best = alike, node
        return best


# --- Places --------------------------------------------------------------------------------------


def data(signals: PageSignals) -> Iterable[str | None]:
    """Read headline or name of the article in JSON-LD."""
    return [signals.title_in_data]


def heading(signals: PageSignals) -> Iterable[str | None]:
    """Read main headings (H1), and the parts of them that other titles have alone."""
    return [*signals.heading_texts, *signals.heading_variants()]


def shown(signals: PageSignals) -> Iterable[str | None]:
    """Read what the page shows as headline where no main heading is like its titles."""
    return signals.shown_headlines()


def meta(signals: PageSignals) -> Iterable[str | None]:
    """Read meta elements whose name says so."""
    return signals.stated("title")


def element(signals: PageSignals) -> Iterable[str | None]:
    """Read the TITLE."""
    return [signals.title_element]


def language_of_html(signals: PageSignals) -> Iterable[str | None]:
    """Read `lang` or `xml:lang` of the HTML element."""
    return [language_code(signals.html_language)]


def language_of_json_ld(signals: PageSignals) -> Iterable[str | None]:
    """Read `inLanguage` of the article in JSON-LD."""
    return [language_code(jsonld.text_of(signals.article.get("inLanguage")))]


def language_metas(signals: PageSignals) -> Iterable[str | None]:
    """Read meta elements whose name says so."""
    return map(language_code, signals.stated("language"))


def site_name_of_og(signals: PageSignals) -> Iterable[str | None]:
    """Read the meta `og:site_name`."""
    return [signals.meta("og:site_name")]


def publisher(signals: PageSignals) -> Iterable[str | None]:
    """Read the publisher of the article in JSON-LD."""
    node = signals.data.resolve(signals.article.get("publisher"))
    if isinstance(node, list) and node:
        node = signals.data.resolve(node[0])
    name = jsonld.text_of(node.get("name") if isinstance(node, dict) else node)
    return [squeeze(name)] if name and "://" not in name else []


def website(signals: PageSignals) -> Iterable[str | None]:
    """Read the website in JSON-LD."""
    nodes = signals.data.of_types({"website"})
    return (squeeze(jsonld.text_of(node.get("name"))) for node in nodes)


def site_name_metas(signals: PageSignals) -> Iterable[str | None]:
    """Read the metas that name applications, and `dc.publisher`."""
    return [signals.meta("application-name", "apple-mobile-web-app-title", "dc.publisher")]


# The candidate on which most places agree is chosen (`titles.choose`).
TITLE_IN: Final = (data, heading, shown, meta, element)
# English counts only where no place says otherwise.
LANGUAGE_IN: Final = (language_of_html, language_of_json_ld, language_metas)
SITE_NAME_IN: Final = (site_name_of_og, publisher, website, site_name_metas)


def gather_signals(
    tree: LexborHTMLParser, url: str | None, known_language: str | None
) -> PageSignals:
    """Read metas, titles, headings and scripts off a parsed page."""
    metas: dict[str, list[str]] = {}
    scripts_of_page: list[LexborNode] = []
    main_headings: list[Heading] = []
    title = canonical = None
    for node in tree.css(_QUERY)[:MAX_NODES]:
        tag = node.tag_id
        if tag == _META:
            _add_meta(metas, node)
        elif tag == _SCRIPT:
            scripts_of_page.append(node)
        elif tag == _TITLE_ELEMENT:
            parent = node.parent
            if parent is None or parent.tag_id not in _DRAWINGS:
                title = title or squeeze(node.text()) or None
        elif tag == _LINK:
            canonical = canonical or node.attributes.get("href")
        elif len(main_headings) < MAX_HEADINGS:
            main_headings.append(headings.read(node))
    root = tree.root
    return PageSignals(
        tree=tree,
        url=url,
        known_language=known_language,
        metas=metas,
        scripts=tuple(scripts_of_page),
        title_element=title,
        headings=tuple(main_headings),
        canonical=canonical,
        html_language=root.attributes.get("lang") or root.attributes.get("xml:lang")
        if root is not None
        else None,
    )


def _add_meta(metas: dict[str, list[str]], node: LexborNode) -> None:
    """Add the content of a META to the values of the names that are read."""
    attributes = node.attributes
    if "itemprop" in attributes and _is_of_comment(node):
        return
    names = [
        name.strip().lower() for key, name in attributes.items() if key in markup.NAMING and name
    ]
    content = attributes.get("content")
    if not content or content.lstrip()[:1] != "{":
        names = [name for name in names if name in markup.WANTED_METAS or meaning_of(name)]
    if names and (value := squeeze(content)):
        for name in names:
            values = metas.setdefault(name, [])
            if len(values) < MAX_VALUES_A_NAME:
                values.append(value)


def _is_of_comment(node: LexborNode) -> bool:
    """Return whether a META in the body is a property of a comment or review."""
    parent = node.parent
    for _ in range(MAX_ITEM_DEPTH):
        if parent is None:
            return False
        if item_type := parent.attributes.get("itemtype"):
            return item_type.lower().endswith(("comment", "review", "answer"))
        parent = parent.parent
    return False


def language_code(value: str | None) -> str | None:
    """Return the ISO 639-1 code in a language tag ("de_AT", "deu") or of a language's name
    ("Swedish", "svenska"), if there is one."""
    name = value.strip()[:40].lower() if value else ""
    if name in _OTHER_CODES:
        return _OTHER_CODES[name]
    match = _CODE.fullmatch(name)
    if not match:
        return None
    code = match[1]
    return _OTHER_CODES.get(code, code if len(code) == 2 else None)
