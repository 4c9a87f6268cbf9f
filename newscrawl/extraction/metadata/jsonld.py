"""What a page's JSON-LD (schema.org) says about its article.

Publishers' JSON-LD is often broken; what can be repaired without guessing is repaired.
"""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain, islice
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
# "schema:author", "http://schema.org/author", "Author": keys that are written elsehow.
_SPELLED_KEY: Final = re.compile(r'"(?:schema:|https?://schema\.org/)?([A-Za-z])(\w+)"(?=\s{0,9}:)')
_QUOTATION_MARKS: Final = str.maketrans("“”„", '"""')
_DECODER: Final = json.JSONDecoder(strict=False)


@dataclass(frozen=True, slots=True)
class LinkedData:
    """The nodes of a page's JSON-LD that describe the page itself, each with its types.

    They are in page order; those inside lists of related articles are left out. `by_id` resolves
    references such as {"@id": "#author"}.
    """

    typed: tuple[tuple[Node, tuple[str, ...]], ...] = ()
    by_id: dict[str, Node] = field(default_factory=dict)

    @property
    def types(self) -> frozenset[str]:
        """Return the types of all nodes."""
        return frozenset(name for _, types in self.typed for name in types)

    def of_types(self, *groups: Iterable[str]) -> Iterator[Node]:
        type_names = frozenset(chain.from_iterable(groups))
        return (node for node, types in self.typed if not type_names.isdisjoint(types))

    @property
    def articles(self) -> Iterator[Node]:
        return (node for node, types in self.typed if hold_article(types))

    def resolve(self, value: object) -> object:
        """Follow one reference to a node of this page."""
        if isinstance(value, dict) and len(value) <= 2 and isinstance(value.get("@id"), str):
            return self.by_id.get(value["@id"], value)
        return value


def read(scripts: Iterable[str]) -> LinkedData:
    """Read the texts of a page's ld+json scripts; what can't be read is passed over."""
    short = (script for script in islice(scripts, MAX_SCRIPTS) if len(script) <= MAX_SCRIPT)
    nodes = (node for script in short for value in parse(script) for node in _nodes_in(value))
    typed = tuple((node, types) for node in islice(nodes, MAX_NODES) if (types := types_of(node)))
    by_id = {node["@id"]: node for node, _ in reversed(typed) if isinstance(node.get("@id"), str)}
    return LinkedData(typed, by_id)


def _nodes_in(value: object, depth: int = 0) -> Iterator[Node]:
    """Yield the nodes in a value, without those that a property relates."""
    if isinstance(value, dict):
        yield value
        value = [value.get(key) for key in ("@graph", "mainEntity", "mainEntityOfPage")]
    if isinstance(value, list) and depth < MAX_DEPTH:
        for each in value[:MAX_NODES]:
            if isinstance(each, dict | list):
                yield from _nodes_in(each, depth + 1)


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
        text = _WRAPPERS.sub("", text)
        if '"' not in text:  # quotation marks of HTML, or of a word processor
            text = unescape(text).translate(_QUOTATION_MARKS)
        return list(islice(lenient_json.values_in(text), MAX_SCRIPTS))


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
