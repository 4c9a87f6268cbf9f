"""What a page's JSON-LD (schema.org) says about its article.

Publishers' JSON-LD is often broken; what can be repaired without guessing is repaired.
"""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from newscrawl.extraction.metadata import lenient_json
from newscrawl.text import unescape

Node = dict[str, Any]

# Ours: bounds on hostile input. The longest script of the development corpus has 41,127 characters.
MAX_SCRIPT: Final = 1_000_000
MAX_REPAIRED: Final = 200_000
MAX_SCRIPTS: Final = 40
MAX_NODES: Final = 2_000
MAX_DEPTH: Final = 8

# Names of schema.org types in lower case.
ARTICLE_ENDINGS: Final = ("article", "posting", "report", "blogpost")
OTHER_TYPES: Final = frozenset(
    {"jobposting", "discussionforumposting", "qapage", "product", "productgroup", "profilepage"}
)
WORK_TYPES: Final = frozenset({"review", "recipe", "howto", "creativework", "newsitem", "qapage"})
PAGE_TYPES: Final = frozenset({"webpage", "itempage", "medicalwebpage", "contentpage", "aboutpage"})
VIDEO_TYPES: Final = frozenset({"videoobject", "movie", "episode", "tvepisode", "clip"})
GALLERY_TYPES: Final = frozenset({"imagegallery", "mediagallery"})
LIST_TYPES: Final = frozenset({"collectionpage", "searchresultspage", "itemlist"})

_WRAPPERS: Final = re.compile(r"^\s*(?:<!--|//\s*<!\[CDATA\[|<!\[CDATA\[|/\*\s*<!\[CDATA\[\s*\*/)+")
_CLOSERS: Final = re.compile(r"(?:-->|//\s*\]\]>|\]\]>|/\*\s*\]\]>\s*\*/|;)\s*$")
# "schema:author", "http://schema.org/author", "Author": keys that are written elsehow.
_SPELLED_KEY: Final = re.compile(r'"(?:schema:|https?://schema\.org/)?([A-Za-z])(\w+)"(?=\s{0,9}:)')
_QUOTATION_MARKS: Final = str.maketrans("“”„", '"""')
_DECODER: Final = json.JSONDecoder(strict=False)


@dataclass(frozen=True, slots=True)
class LinkedData:
    """The nodes of a page's JSON-LD that describe the page itself.

    `nodes` are in page order; those inside lists of related articles are left out.
    `types` are those of each. `by_id` resolves references such as {"@id": "#author"}.
    """

    nodes: tuple[Node, ...] = ()
    types: tuple[tuple[str, ...], ...] = ()
    by_id: dict[str, Node] = field(default_factory=dict)

    def of_types(self, *groups: Iterable[str]) -> Iterator[Node]:
        type_names = frozenset(name for group in groups for name in group)
        typed = zip(self.nodes, self.types, strict=True)
        return (node for node, types in typed if not type_names.isdisjoint(types))

    @property
    def articles(self) -> Iterator[Node]:
        typed = zip(self.nodes, self.types, strict=True)
        return (node for node, types in typed if hold_article(types))

    def resolve(self, value: object) -> object:
        """Follow one reference to a node of this page."""
        if isinstance(value, dict) and len(value) <= 2 and isinstance(value.get("@id"), str):
            return self.by_id.get(value["@id"], value)
        return value


def read(scripts: Iterable[str]) -> LinkedData:
    """Read the texts of a page's ld+json scripts; what can't be read is passed over."""
    nodes: list[Node] = []
    types: list[tuple[str, ...]] = []
    by_id: dict[str, Node] = {}
    for count, script in enumerate(scripts):
        if count >= MAX_SCRIPTS or len(nodes) >= MAX_NODES:
            break
        if len(script) <= MAX_SCRIPT:
            for value in parse(script):
                stack: list[tuple[object, int]] = [(value, 0)]
                while stack and len(nodes) < MAX_NODES:
                    current, depth = stack.pop()
                    if isinstance(current, list):
                        if depth < MAX_DEPTH:
                            stack.extend(
                                (each, depth + 1) for each in reversed(current[:MAX_NODES])
                            )
                    elif isinstance(current, dict):
                        if names := types_of(current):
                            nodes.append(current)
                            types.append(names)
                        if depth < MAX_DEPTH:
                            inner = (
                                current.get(key)
                                for key in ("mainEntityOfPage", "mainEntity", "@graph")
                            )
                            stack.extend(
                                (each, depth + 1) for each in inner if isinstance(each, dict | list)
                            )
    for node in nodes:
        if isinstance(node.get("@id"), str):
            by_id.setdefault(node["@id"], node)
    return LinkedData(tuple(nodes), tuple(types), by_id)


def parse(script: str) -> list[Any]:
    """Parse one script into its top-level values, with as much repair as it needs."""
    text = script.strip()
    if not text:
        return []
    if "schema:" in text or "org/headline" in text or '"Author"' in text:
        text = _SPELLED_KEY.sub(lambda key: f'"{key[1].lower()}{key[2]}"', text)
    try:
        value = _DECODER.decode(text)
        is_encoded_twice = isinstance(value, str) and value.lstrip().startswith(("{", "["))
        return parse(value) if is_encoded_twice else [value]
    except (ValueError, RecursionError):
        if len(text) > MAX_REPAIRED:
            return []
        text = _CLOSERS.sub("", _WRAPPERS.sub("", text)).strip()
        if '"' not in text:  # quotation marks of HTML, or of a word processor
            text = unescape(text).translate(_QUOTATION_MARKS)
        return _leading_values(text) or [value for value in (lenient_json.parse(text),) if value]


def _leading_values(text: str) -> list[Any]:
    """Parse values that follow one another, up to the first that is broken."""
    values: list[Any] = []
    start = 0
    while start < len(text) and len(values) < MAX_SCRIPTS:
        try:
            value, end = _DECODER.raw_decode(text, start)
        except (ValueError, RecursionError):
            break
        values.append(value)
        start = end
        while start < len(text) and text[start] in " \t\r\n,;":
            start += 1
    return values


def types_of(node: Node) -> tuple[str, ...]:
    """Return the node's types in lower case, without schema.org's address."""
    declared = node.get("@type") or node.get("type")
    names = declared if isinstance(declared, list) else [declared]
    return tuple(
        name.rstrip("/").rpartition("/")[2].rpartition(":")[2].lower()
        for name in names[:8]
        if isinstance(name, str)
    )


def hold_article(types: Iterable[str]) -> bool:
    return any(name.endswith(ARTICLE_ENDINGS) and name not in OTHER_TYPES for name in types)


def text_of(value: object) -> str | None:
    """Return the text of a literal, of a {"@value": ...}, or of the first of a list."""
    for _ in range(MAX_DEPTH):
        if isinstance(value, list) and value:
            value = value[0]
        elif isinstance(value, dict):
            value = value.get("@value")
        else:
            break
    return value.strip() or None if isinstance(value, str) else None


def truth_of(value: object) -> bool | None:
    """Read what publishers write for true and false ("False", "http://schema.org/True", 0)."""
    if isinstance(value, bool):
        return value
    if isinstance(value, int):
        return bool(value)
    text = text_of(value)
    if text is None:
        return None
    word = text.rpartition("/")[2].lower()
    return {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}.get(word)


def url_of(value: object) -> str | None:
    """Return the address in a literal, an ImageObject, or the first of a list of either."""
    for _ in range(MAX_DEPTH):
        if isinstance(value, list) and value:
            value = value[0]
        elif isinstance(value, dict):
            value = value.get("url") or value.get("contentUrl") or value.get("@id")
        else:
            break
    return value.strip() or None if isinstance(value, str) else None
