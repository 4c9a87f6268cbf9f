"""Everything a page says about itself, gathered in one pass over its tree."""

from dataclasses import dataclass
from functools import cached_property
from html import unescape
from typing import Final

from selectolax.lexbor import LexborHTMLParser, LexborNode

from newscrawl.extraction.metadata import jsonld
from newscrawl.extraction.metadata.jsonld import LinkedData

# Ours: bounds on hostile input; no page of the development corpus comes near.
MAX_NODES: Final = 3_000
MAX_VALUE: Final = 5_000
MAX_VALUES_A_NAME: Final = 20
MAX_HEADINGS: Final = 8

_QUERY: Final = 'meta,title,h1,link[rel~="canonical" i],script[type*="ld+json" i]'


@dataclass(frozen=True)
class Signals:
    """What head and markup say.

    `metas` maps each meta's name in lower case to its values in page order.
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
            for value in self.metas.get(name, ()):
                return value
        return None

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
    content = attributes.get("content")
    if not content or not (content := squeeze(content)):
        return
    for key in ("property", "name", "itemprop", "http-equiv"):
        if name := attributes.get(key):
            values = metas.setdefault(name.strip().lower(), [])
            if len(values) < MAX_VALUES_A_NAME:
                values.append(content)
