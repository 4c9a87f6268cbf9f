"""The text of a page that is in its source, but not in its tree, for a script to show.

Applications send what they show as data beside an empty page: JSON in a script (`__NEXT_DATA__`),
the assignment of an object (`__INITIAL_STATE__`, `__NUXT__`), React's flight data, a TEMPLATE, or a
document or data in an attribute (srcdoc, data-props). Of all values, the one with the most prose,
in which lists of other articles don't count, is read like a page of its own.
"""

import json
import re
from collections.abc import Sequence
from contextlib import suppress
from functools import lru_cache
from html import escape
from typing import Any, Final, NamedTuple

from newscrawl.extraction.embedded_data import FlightElement, values_of_scripts
from newscrawl.extraction.html import parse
from newscrawl.extraction.metadata.vocabulary import words
from newscrawl.extraction.methods import ParsedPage
from newscrawl.text import unescape, weight_of

# Ours: what a page without a text of its own shows at most (copyright, the message of a loader),
# the least text in a script, and how much longer it is. Characters, weighed.
MAX_SHOWN: Final = 500
MIN_TEXT: Final = 200
MIN_TIMES: Final = 2
# Ours: a text that has a word of the headline, the first letters of which are compared, is that of
# the article unless it is shorter.
MIN_SHOWN: Final = 80
STEM: Final = 5
# Ours: a paragraph without a stop at its end, as in Thai, is longer than a part of a sentence; a
# headline of another article is longer than the title of a link.
MIN_PARAGRAPH: Final = 150
MIN_HEADLINE: Final = 20
# Ours: bounds on hostile input.
MAX_SCRIPTS: Final = 400
MAX_DEPTH: Final = 80
MAX_VALUES: Final = 200_000
MAX_NAME: Final = 300  # characters

_MARKS: Final = (b"<template", b"srcdoc", b"<script", b'="{', b"='{")
_TEMPLATE: Final = re.compile(rb"<(/?)template\b", re.IGNORECASE)
_BLOCK: Final = re.compile(
    r"<(?:p|div|h[1-6]|ul|ol|section|article|blockquote|br|table)\b", re.IGNORECASE
)
_TAG: Final = re.compile(r"<[^<>]*>")
_SENTENCE_ENDS: Final = tuple('.!?…:;。！？।۔؟"”»“’」』)）')
_TEXTS: Final = frozenset(words("names", "texts"))
_OTHERS: Final = frozenset(words("names", "no_texts"))
_HEADLINES: Final = frozenset(words("names", "headlines"))
_ADDRESSES: Final = frozenset(words("names", "addresses"))
_WORD: Final = re.compile(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])")
_STEMS: Final = re.compile(r"[^\W\d_]{4,}|[\u3040-\u9fff\uac00-\ud7a3]{2}")
# A line for a template's engine, and a script's source.
_CODE: Final = re.compile(r"<%|\{[{%]|\bfunction ?\(|=>|\w\.\w+\(")
# How a part of a sentence begins.
_WITHIN: Final = re.compile(r"[\s,.;:)a-zß-öø-ÿа-яα-ω]")
_SIGNS: Final = re.compile(r"\W+")


class Fragment(NamedTuple):
    """A piece of HTML, and the characters of it that are prose, weighed."""

    html: str
    weight: int

    @classmethod
    def of(cls, html: str) -> "Fragment":
        """Return the fragment, prose if it ends like a sentence or is long."""
        text = unescape(_TAG.sub(" ", html)).strip()
        weight = weight_of(text)
        ends = weight >= MIN_HEADLINE and text.endswith(_SENTENCE_ENDS)
        has_words = " " in text or weight > len(text)
        is_prose = (ends or weight >= MIN_PARAGRAPH) and has_words and not _CODE.search(text)
        return cls(html, weight if is_prose else 0)


def with_embedded_text(page: ParsedPage, paragraphs: Sequence[str]) -> ParsedPage | None:
    """Return a page of the text that scripts would show, with the metadata of the page itself; None
    if it shows a text of its own, if it has no other, or if that must be paid for."""
    if sum(map(len, paragraphs)) >= MAX_SHOWN or page.metadata.paywalled:
        return None
    title, shown = page.metadata.title or "", " ".join(paragraphs).lower()
    stems = {word[:STEM] for word in _STEMS.findall(title.lower())}
    weight = weight_of(shown)
    is_article = weight >= MIN_SHOWN and any(stem in shown for stem in stems)
    if weight >= MAX_SHOWN or is_article or not any(mark in page.source for mark in _MARKS):
        return None
    scripts = page.tree.css("script:not([src])")[:MAX_SCRIPTS]
    reader = _ProseReader(title)
    frames = page.tree.css("iframe[srcdoc]")[:MAX_SCRIPTS]
    elements = page.tree.css("body *")[:MAX_SCRIPTS]
    for value in (
        *(frame.attributes["srcdoc"] or "" for frame in frames),
        *(
            value
            for element in elements
            for value in element.attributes.values()
            if value and value.lstrip()[:1] in {"{", "["}
        ),
        *values_of_scripts(
            [(script.attributes.get("type") or "", script.text() or "") for script in scripts]
        ),
    ):
        reader.read(value)
    if reader.weight >= max(MIN_TEXT, MIN_TIMES * weight):
        parts = (part if _BLOCK.search(part) else f"<p>{part}</p>" for part in reader.parts)
        source = (
            f"<!doctype html><html><body><main><article><h1>{escape(title)}</h1>{''.join(parts)}"
            "</article></main></body></html>"
        ).encode("utf-8", "replace")
    elif b"<template" in page.source:
        source = _TEMPLATE.sub(rb"<\1div", page.source)
    else:
        return None
    return ParsedPage(source, parse(source), page.metadata)


class _ProseReader:
    """Reads values, and keeps the `parts` of that with the most prose; of what belongs to the
    page's `title`, if that has a text."""

    def __init__(self, title: str) -> None:
        self.parts: list[str] = []
        self._merit = (False, 0)
        self._title = _letters(title)
        self._count = 0

    @property
    def weight(self) -> int:
        """Return the characters of prose in the parts."""
        return self._merit[1]

    def read(self, value: Any, depth: int = 0, *, is_titled: bool = False) -> list[Fragment]:
        """Return the fragments of a value, in which a string of text is one paragraph or a part of
        one; keep them if they are the most prose."""
        self._count += 1
        if depth > MAX_DEPTH or self._count > MAX_VALUES:
            return []
        if isinstance(value, str) and value[:1] in {"{", "["}:
            with suppress(ValueError, RecursionError):
                value = json.loads(value, strict=False)
        if isinstance(value, str):
            fragments = _fragments_of(value)
        elif isinstance(value, FlightElement):
            for property_value in value.properties:
                self.read(property_value, depth + 1, is_titled=is_titled)
            inner = self.read(value.children, depth + 1, is_titled=is_titled)
            html = value.markup("".join(fragment.html for fragment in inner))
            weight = sum(fragment.weight for fragment in inner)
            fragments = [Fragment(html, weight)] if inner else []
        elif isinstance(value, list):
            fragments = []
            for item in value:
                # Entries with a headline and an address are other articles, or one is this one.
                headlines = [_letters(text) for text in _texts_of(item, _HEADLINES)]
                is_article = max(map(len, headlines), default=0) >= MIN_HEADLINE
                is_article = is_article and any(_texts_of(item, _ADDRESSES))
                if not is_article:
                    fragments += self.read(item, depth + 1, is_titled=is_titled)
                elif len(value) == 1 or self._title in headlines:
                    self.read(item, depth + 1)
            fragments = _joined(fragments)
        elif isinstance(value, dict):
            fragments = self._of_properties(value, depth, is_titled)
        else:
            return []
        weight = sum(fragment.weight for fragment in fragments)
        merit = (is_titled and weight >= MIN_TEXT, weight)
        if merit > self._merit:
            self.parts, self._merit = [fragment.html for fragment in fragments], merit
        return fragments

    def _of_properties(self, value: dict[str, Any], depth: int, is_titled: bool) -> list[Fragment]:
        if headlines := [_letters(text) for text in _texts_of(value, _HEADLINES)]:
            is_titled = (bool(self._title) and self._title in headlines) or (
                is_titled and max(map(len, headlines)) < MIN_HEADLINE
            )
        fragments = []
        for name, inner in value.items():
            words = _words(name[:MAX_NAME])
            if words.isdisjoint(_OTHERS):
                parts = self.read(inner, depth + 1, is_titled=is_titled)
                if not words.isdisjoint(_TEXTS):
                    fragments += parts
        return fragments


@lru_cache(maxsize=1024)  # of the properties of a page's objects, which repeat
def _words(name: str) -> frozenset[str]:
    return frozenset(map(str.lower, _WORD.findall(name)))


def _texts_of(value: Any, names: frozenset[str]) -> list[str]:
    """Return the texts of an object's properties with one of these words in their names."""
    return [
        text
        for name, text in (value.items() if isinstance(value, dict) else ())
        if isinstance(text, str) and not _words(name[:MAX_NAME]).isdisjoint(names)
    ]


def _fragments_of(text: str) -> list[Fragment]:
    """Return a string as fragments: HTML is one, of other texts each line is one."""
    if _BLOCK.search(text):
        return [Fragment.of(text)]
    is_markup = bool(_TAG.search(text))
    lines = (line if is_markup else escape(line, quote=False) for line in text.split("\n"))
    return [Fragment.of(line) for line in lines if line.strip()]


def _joined(fragments: list[Fragment]) -> list[Fragment]:
    """Return the fragments of a list: of paragraphs, or of the parts of one."""
    prose = sum(fragment.weight > 0 for fragment in fragments)
    if any(_BLOCK.search(fragment.html) for fragment in fragments) or len(fragments) < 2:
        return fragments
    begins_within = any(_WITHIN.match(fragment.html) for fragment in fragments[1:])
    if 2 * prose >= len(fragments) and not begins_within:
        return fragments
    # The parts of a paragraph end with a sentence, the labels of a list don't.
    joined = Fragment.of("".join(fragment.html for fragment in fragments))
    return [joined] if joined.weight else []


def _letters(text: str) -> str:
    return _SIGNS.sub("", text).lower()
