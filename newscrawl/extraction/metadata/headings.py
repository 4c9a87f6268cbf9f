"""The headlines that a page shows: its main headings without kickers, or what its title repeats."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final

from selectolax.lexbor import LexborHTMLParser, LexborNode

from newscrawl.extraction.blocks import LAST_NO_ELEMENT, TEXT, tag_id, tag_ids
from newscrawl.extraction.html import squeeze
from newscrawl.extraction.metadata import dates

MAX_CHILDREN: Final = 30
MAX_DEPTH: Final = 3
MAX_SEARCHED: Final = 50_000
MAX_PARTS: Final = 8
MIN_WORDS: Final = 2
MAX_WORDS: Final = 40
MIN_LETTERS: Final = 6
"""Ours: bounds on hostile input; words that a headline without a main heading has."""

# Parts of class names of elements in a main heading that are not part of the headline.
_KICKER: Final = re.compile(
    r"kicker|over-?line|roof-?line|top-?line|top-?title|eye-?brow|dachzeile|spitzmarke|vorspann|"
    r"sr-only|screen-?reader|visually-?hidden|off-?screen|aural|hidden|categor|rubri[ck]|section|"
    r"label|badge|date"
)
_PART: Final = re.compile(
    r"\s(?:[–—·•»«›/~@-]|--|::|\|\|)\s+|[:|│｜]\s+|\s*[|│｜(_：]\s*|[)]\s*$"
    r"|(?<=[\u2e80-\uffef])-{1,2}(?=[\u2e80-\uffef])"
)
_CODE: Final = re.compile(r"[={};]")
_HOME: Final = re.compile(r"(?:.*://[^/]+)?/?(?:index\.\w{3,5})?(?:[?#].*)?", re.DOTALL)
_HEADLINES: Final = (
    "[class*=headline i],[class*=storyhead i],[class*=articlehead i],[class*=articletitle i],"
    "[class*=article-title i],[class*=entry-title i],[class=contentheading i],[class=title i]"
)
BETWEEN: Final = "\x01"
"""A mark for each tag in a text, which no text has."""
_WORD: Final = re.compile(r"\w+")
_SMALL: Final = tag_id("small")
_LINK: Final = tag_id("a")
_SKIPPED: Final = tag_ids("script style noscript svg template")
_SPACED: Final = tag_ids("br div p hr")


@dataclass(frozen=True, slots=True)
class Heading:
    """A main heading: its text, other readings of it, and whether it is a link to the home page."""

    node: LexborNode
    text: str
    variants: tuple[str, ...] = ()
    is_site: bool = False


def read(node: LexborNode) -> Heading:
    """Read an H1, without a kicker, hidden words and the like."""
    first = node.first_child
    if first is not None and first.tag_id == TEXT and first.next is None:
        return Heading(node, squeeze(first.text_content))
    inner, is_site = node, False
    for _ in range(MAX_DEPTH):
        child = _only_child(inner)
        if child is None:
            break
        if child.tag_id == _LINK:
            href = (child.attributes.get("href") or "")[:400]
            leads_home = href and not href.startswith("#") and _HOME.fullmatch(href)
            is_site = is_site or bool(leads_home)
        inner = child
    pieces = _pieces(inner)
    texts = [text for text, _ in pieces]
    # Without kickers, but for those after which no other text comes.
    ends = (place for place, (text, is_kicker) in enumerate(pieces) if text and not is_kicker)
    end = max(ends, default=-1)
    shown = [text for place, (text, is_kicker) in enumerate(pieces) if not is_kicker or place > end]
    if not is_headline("".join(shown)):
        shown = texts
    variants = (shown, texts, shown[1:], shown[:-1])
    readings = dict.fromkeys(filter(None, (squeeze("".join(variant)) for variant in variants)))
    text, *alternatives = readings or [""]
    return Heading(
        node, text, tuple(each for each in alternatives if not each.endswith(":")), is_site
    )


def _only_child(node: LexborNode) -> LexborNode | None:
    """Return the one element within an element that holds no other text."""
    only = None
    for child in node.iter(include_text=True):
        if child.tag_id == TEXT:
            if not (child.text_content or "").isspace():
                return None
        elif child.tag_id > LAST_NO_ELEMENT and child.tag_id not in _SKIPPED:
            if only is not None:
                return None
            only = child
    return only


def _pieces(node: LexborNode) -> list[tuple[str, bool]]:
    """Return the texts of an element's children, and whether each is a kicker."""
    pieces: list[tuple[str, bool]] = []
    for child in islice(node.iter(include_text=True), MAX_CHILDREN):
        tag = child.tag_id
        text = (child.text_content or "") if tag == TEXT else ""
        is_kicker = False
        if tag in _SPACED:
            text = f" {child.text()} "
        elif tag > LAST_NO_ELEMENT and tag not in _SKIPPED:
            text = child.text()
            hints = (child.attributes.get("class") or "").lower()
            is_kicker = tag == _SMALL or bool(_KICKER.search(hints))
        if text.isspace():
            pieces[-1:] = [(f"{before} ", is_kicker) for before, is_kicker in pieces[-1:]]
        elif text:
            pieces.append((text, is_kicker))
    return pieces


def is_headline(text: str) -> bool:
    """Return whether a text has as many words as a headline; without blanks, letters count."""
    words = _WORD.findall(text)
    return MIN_WORDS <= len(words) <= MAX_WORDS or (
        len(words) == 1 and len(words[0]) >= MIN_LETTERS and words[0] > "\u3000"
    )


def shown_part(pieces: str, parts: Iterable[str]) -> str | None:
    """Return the longest of these parts of titles that is a piece of a page's text; of two equally
    long ones, the first."""
    ordered = sorted(parts, key=len, reverse=True)
    shown = pieces[:MAX_SEARCHED].casefold() if ordered else ""
    shortest = min((len(part.casefold()) for part in ordered), default=0)
    lines = {" ".join(line.split()) for line in shown.split(BETWEEN) if len(line) >= shortest}
    return next((part for part in ordered if part.casefold() in lines), None)


def parts_of(title: str) -> Iterator[str]:
    """Yield the parts of a title between any two of its separators."""
    cuts = [(0, 0), *(match.span() for match in _PART.finditer(title))][:MAX_PARTS]
    cuts.append((len(title), len(title)))
    for index, (_, start) in enumerate(cuts):
        for end, _ in cuts[index + 1 :]:
            part = title[start:end].strip()
            if is_headline(part):
                yield part


def first_headline(tree: LexborHTMLParser, *, marked_only: bool) -> str | None:
    """Return the first text that is marked as a headline without being a main heading.

    Lesser headings count as marked unless `marked_only`.
    """
    for query in (_HEADLINES,) if marked_only else (_HEADLINES, "h2,h3"):
        for node in tree.css(query)[:MAX_CHILDREN]:
            text = squeeze(node.text(separator=" "))
            is_long = " " in text[text.find(" ") + 1 :] or text > "\u3000"
            if is_headline(text) and is_long and not dates.find(text):
                return text
    return None


def without_short_parts(parts: Sequence[str]) -> list[str]:
    """Return the parts of titles without those that are much shorter than one between two
    separators, as sections and series are."""
    long_parts = [part for part in parts if not _PART.search(part) and not _CODE.search(part)]
    longest = max(map(len, long_parts), default=0)
    return [part for part in parts if 2 * len(part) >= longest]
