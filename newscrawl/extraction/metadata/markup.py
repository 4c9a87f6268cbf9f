"""Bylines and dates in the markup: first around the headline, then anywhere on the page."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from selectolax.lexbor import LexborHTMLParser, LexborNode

from newscrawl.extraction.metadata import dates
from newscrawl.extraction.metadata.dates import Stamp
from newscrawl.extraction.metadata.signals import squeeze

# Ours, fitted on the training half of fundus, wcxb and trafilatura by
# newscrawl.training.metadata_score: bylines stand within this many nodes of the headline.
NODES_BEFORE: Final = 60
NODES_AFTER: Final = 160
MAX_FOUND: Final = 12
MAX_TEXT: Final = 200

_AUTHOR_HINT: Final = re.compile(
    r"author|byline|by-line|autor|auteur|verfasser|redakteur|writer|journalist|contributor|"
    r"reporter|firma\b|signature|creator|editor-name|posted-by|redactor"
)
_NO_AUTHOR_HINT: Final = re.compile(
    r"authors?-?(?:bio|box|image|img|avatar|photo|pic|social|desc|link-?s|info-?box|email|title|"
    r"role|job|thumb|icon)|avatar|comment|related|sidebar|promo|newsletter|share|social|"
    r"authorit|biograph|teaser|recommend"
)
_DATE_HINT: Final = re.compile(
    r"date|datum|time(?!line)|fecha|publish|pubdate|posted|data\b|zeit\b|timestamp|meta|info|byline"
)
_MODIFIED_HINT: Final = re.compile(r"modif|updat|aktualis|actualiz|mis-a-jour")
_BYLINE_START: Final = re.compile(
    r"(?:by|von|par|por|door|av|af|autore?|auteur|author|written by|text|di|przez|автор|текст|"
    r"συντάκτης|γράφει|作者|记者|記者|文|来源|執筆)\s*[:：]?\s*(?=\S)",
    re.IGNORECASE,
)
_ANYWHERE: Final = (
    "[rel~=author],[itemprop~=author],[class*=author i],[class*=byline i],[class*=autor i],"
    "[class*=auteur i],[id*=author i],[id*=byline i]"
)
_DATES_ANYWHERE: Final = (
    "time,[itemprop~=datePublished],[class*=date i],[class*=publish i],[class*=posted i],"
    "[class*=datum i],[class*=fecha i],[class*=time i],[id*=date i]"
)
_SKIPPED: Final = frozenset({"script", "style", "noscript", "svg", "select", "template", "iframe"})


@dataclass(slots=True)
class Found:
    """Bylines by strength and dates in page order, as found around a headline."""

    authors: list[str] = field(default_factory=list)
    hinted: list[str] = field(default_factory=list)
    spoken: list[str] = field(default_factory=list)
    published: list[Stamp] = field(default_factory=list)
    visible: list[Stamp] = field(default_factory=list)
    modified: list[Stamp] = field(default_factory=list)

    @property
    def bylines(self) -> list[str]:
        return self.authors or self.hinted or self.spoken

    @property
    def first_date(self) -> Stamp | None:
        for each in (*self.published, *self.visible):
            return each
        return None


def around(heading: LexborNode, language: str | None) -> Found:
    """Read what stands next to a headline."""
    found = Found()
    for node in _forward(heading):
        _judge(node, found, language)
    if not found.published and not found.visible:
        for node in _backward(heading):
            _judge(node, found, language)
    return found


def anywhere(tree: LexborHTMLParser, language: str | None, *, query: str) -> Found:
    """Read what the whole page marks as byline or date."""
    found = Found()
    for node in tree.css(query)[:MAX_FOUND]:
        _judge(node, found, language)
    return found


def authors_anywhere(tree: LexborHTMLParser, language: str | None) -> Found:
    return anywhere(tree, language, query=_ANYWHERE)


def dates_anywhere(tree: LexborHTMLParser, language: str | None) -> Found:
    return anywhere(tree, language, query=_DATES_ANYWHERE)


def _forward(start: LexborNode) -> Iterator[LexborNode]:
    """The nodes after an element in page order, without its own."""
    node = start
    inside = False
    for _ in range(NODES_AFTER):
        child = node.first_child if inside and node.tag not in _SKIPPED else None
        while child is None:
            child = node.next
            if child is None:
                if (parent := node.parent) is None:
                    return
                node = parent
        node = child
        inside = True
        yield node


def _backward(start: LexborNode) -> Iterator[LexborNode]:
    """The nodes before an element, nearest first, leaves before their parents."""
    node = start
    for _ in range(NODES_BEFORE):
        previous = node.prev
        if previous is None:
            if (parent := node.parent) is None:
                return
            node = parent
            continue
        node = previous
        while node.tag not in _SKIPPED and (last := node.last_child) is not None:
            node = last
        yield node


def _judge(node: LexborNode, found: Found, language: str | None) -> None:
    tag = node.tag
    if tag == "-text":
        _judge_text(squeeze(node.text_content), found, language)
        return
    if tag is None or tag.startswith("-") or tag in _SKIPPED:
        return
    attributes = node.attributes
    if not attributes:
        return
    itemprop = (attributes.get("itemprop") or "").lower()
    hints = f"{attributes.get('class') or ''} {attributes.get('id') or ''}".lower()
    if tag == "time" or "datepublished" in itemprop or "datemodified" in itemprop:
        _judge_time(node, attributes, found, f"{itemprop} {hints}", language)
    elif "author" in itemprop or "author" in (attributes.get("rel") or ""):
        _add_byline(node, attributes, found.authors)
    elif _AUTHOR_HINT.search(hints) and not _NO_AUTHOR_HINT.search(hints):
        _add_byline(node, attributes, found.hinted)
    elif _DATE_HINT.search(hints):
        text = squeeze(node.text())
        if len(text) < MAX_TEXT and (stamp := dates.find(text, language=language)):
            found.visible.append(stamp)


def _judge_time(
    node: LexborNode,
    attributes: dict[str, str | None],
    found: Found,
    hints: str,
    language: str | None,
) -> None:
    value = attributes.get("datetime") or attributes.get("content") or squeeze(node.text())
    stamp = dates.read(value, language=language) or dates.find(
        squeeze(node.text()), language=language
    )
    if stamp is None:
        return
    (found.modified if _MODIFIED_HINT.search(hints) else found.published).append(stamp)


def _judge_text(text: str, found: Found, language: str | None) -> None:
    if not 3 < len(text) < MAX_TEXT:
        return
    if len(found.spoken) < MAX_FOUND and len(text) < 80 and _BYLINE_START.match(text):
        found.spoken.append(text)
    if not found.visible and any(map(str.isdigit, text)):
        stamp = dates.find(text, language=language)
        if stamp:
            found.visible.append(stamp)


def _add_byline(node: LexborNode, attributes: dict[str, str | None], into: list[str]) -> None:
    if len(into) >= MAX_FOUND:
        return
    named = node.css_first("[itemprop~=name]")
    text = squeeze((named or node).text(separator=" ")) or squeeze(attributes.get("content"))
    if text and len(text) < MAX_TEXT:
        into.append(text)
