"""Everything a page says about itself, gathered in one pass over its tree."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from selectolax.lexbor import LexborHTMLParser, LexborNode

from newscrawl.extraction.html import unescape
from newscrawl.extraction.metadata import jsonld
from newscrawl.extraction.metadata.jsonld import LinkedData
from newscrawl.extraction.metadata.vocabulary import tables

# Ours: bounds on hostile input; no page of the development corpus comes near.
MAX_NODES: Final = 3_000
MAX_VALUE: Final = 5_000
MAX_VALUES_A_NAME: Final = 20
MAX_HEADINGS: Final = 8

_WANTED: Final = frozenset(name for names in tables("metas").values() for name in names)
_QUERY: Final = 'meta,title,h1,link[rel~="canonical" i],script[type*="ld+json" i]'


@dataclass(frozen=True)
class Signals:
    """What head and markup say.

    `metas` maps the names of metas that anything is read from, in lower case, to their values in
    page order; no list is empty.
    """

    tree: LexborHTMLParser
    metas: dict[str, list[str]]
    scripts: tuple[str, ...]
    title: str | None
    headings: tuple[LexborNode, ...]
    canonical: str | None
    html_language: str | None

    @cached_property
    def data(self) -> LinkedData:
        return jsonld.read(self.scripts)

    def meta(self, *names: str) -> str | None:
        """The first value that any of these metas has, in the order of the names."""
        for name in names:
            if name in self.metas:
                return self.metas[name][0]
        return None

    def firsts(self, names: Iterable[str]) -> list[str]:
        """The first value of each of these metas that is there, in the order of the names."""
        return [self.metas[name][0] for name in names if name in self.metas]

    @cached_property
    def heading_texts(self) -> tuple[str, ...]:
        texts = (squeeze(node.text()) for node in self.headings)
        return tuple(text for text in texts if text)


def squeeze(text: str | None) -> str:
    """The text with white space made single blanks, at most `MAX_VALUE` characters.

    References are resolved once more: many systems escape twice ("Q&amp;amp;A").
    """
    if not text:
        return ""
    text = text[:MAX_VALUE]
    return " ".join((unescape(text) if "&" in text else text).split())


def gather(tree: LexborHTMLParser) -> Signals:
    """Read metas, titles, headings and scripts off a parsed page."""
    metas: dict[str, list[str]] = {}
    scripts: list[str] = []
    headings: list[LexborNode] = []
    title = canonical = None
    for node in tree.css(_QUERY)[:MAX_NODES]:
        match node.tag:
            case "meta":
                _add_meta(metas, node.attributes)
            case "script":
                scripts.append(node.text())
            case "title":
                title = title or _own_title(node)
            case "link":
                canonical = canonical or node.attributes.get("href")
            case "h1":
                if len(headings) < MAX_HEADINGS:
                    headings.append(node)
    root = tree.root
    language = root.attributes.get("lang") if root is not None else None
    return Signals(tree, metas, tuple(scripts), title, tuple(headings), canonical, language)


def _own_title(node: LexborNode) -> str | None:
    """The text of a title, unless it names a drawing (svg)."""
    parent = node.parent
    if parent is not None and parent.tag in ("svg", "g", "symbol", "path"):
        return None
    return squeeze(node.text()) or None


def _add_meta(metas: dict[str, list[str]], attributes: dict[str, str | None]) -> None:
    for key in ("property", "name", "itemprop", "http-equiv"):
        name = attributes.get(key)
        if name and (name := name.strip().lower()) in _WANTED:
            values = metas.setdefault(name, [])
            content = squeeze(attributes.get("content"))
            if content and len(values) < MAX_VALUES_A_NAME:
                values.append(content)
            elif not values:
                del metas[name]
