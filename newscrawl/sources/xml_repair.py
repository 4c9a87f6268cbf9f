"""Make XML of the web well-formed and short, before any parser or pattern reads it.

A feed with one wrong character would be lost as a whole, and patterns that are fast on a headline
take minutes on 100 KB of one. `repair_xml` reads markup of any kind once, in time linear in its
length. Its result is well-formed; the text of each element is cut to a length beyond any real one.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from html import escape, unescape
from html.entities import html5
from itertools import islice

# Ours: elements of feeds are four to eight levels deep, HTML within them up to twenty more.
MAX_DEPTH = 64
# Ours: an element of a feed has up to ten attributes, the longest of them a URL.
MAX_ATTRIBUTES = 32
MAX_ATTRIBUTE = 4_000
_MAX_TAG = 16_000
# Ours: characters; longer than a few warnings before a document.
_PROLOGUE = 4_000
# Ours: longer than any text that is used.
_MAX_TEXT = 100_000
# Ours: a news entry with a hundred pictures has some 600 elements; RSS 1.0 lists its items at the
# head of the channel, too.
MAX_ELEMENTS = 5_000
# Ours: names and dates; feedparser matches authors' names with patterns whose time grows with the
# square of the length.
SHORT = 300

# Characters that XML 1.0, 2.2 excludes.
_FORBIDDEN = re.compile("[\0-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
# A number, with or without its semicolon, and a name with it; XML's own names also without.
_REFERENCE = re.compile(
    r"&(?:#(?:[xX]0{0,8}([0-9a-fA-F]{1,8})|0{0,8}([0-9]{1,10}));?|(\w{2,32});|(lt|gt|amp|quot|apos)\b)"
)
_SURROGATES = range(0xD800, 0xE000)
_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")
_MARKUP = re.compile(r"<(?=[A-Za-z_/!?])", re.ASCII)
_LONG_TAG = re.compile(rb"<[^<>]{65536}")
_NAME = r"[A-Za-z_][\w.-]*+(?::[A-Za-z_][\w.-]*+)?+"
_TAG = re.compile(rf"<(/?)({_NAME})((?:[^<>\"']++|\"[^\"<]*+\"|'[^'<]*+')*+)>", re.ASCII)
_BROKEN_TAG = re.compile(rf"<(/?)({_NAME})([^<>]*+)>", re.ASCII)
_ATTRIBUTE = re.compile(
    rf"(?<![\w.:-])({_NAME})\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'<>]+))", re.ASCII
)
_VOID = frozenset({"br", "hr", "img", "input", "wbr", "col", "area", "embed", "param"})
# Names of elements of feeds that HTML (and SVG) have too, which may be in a description.
_NAMES_OF_HTML = frozenset({"title", "link", "summary", "source", "description", "content"})
# Prefixes that feeds use and sometimes don't declare.
_NAMESPACES = {
    "atom": "http://www.w3.org/2005/Atom",
    "atom10": "http://www.w3.org/2005/Atom",
    "content": "http://purl.org/rss/1.0/modules/content/",
    "dc": "http://purl.org/dc/elements/1.1/",
    "dcterms": "http://purl.org/dc/terms/",
    "feedburner": "http://rssnamespace.org/feedburner/ext/1.0",
    "image": "http://www.google.com/schemas/sitemap-image/1.1",
    "itunes": "http://www.itunes.com/dtds/podcast-1.0.dtd",
    "media": "http://search.yahoo.com/mrss/",
    "news": "http://www.google.com/schemas/sitemap-news/0.9",
    "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
    "slash": "http://purl.org/rss/1.0/modules/slash/",
    "sy": "http://purl.org/rss/1.0/modules/syndication/",
    "xhtml": "http://www.w3.org/1999/xhtml",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """The structure of a kind of markup. Names are local ones, in lower case.

    `items` are never nested, and are dropped beyond `max_items`. `fields` contain a text and no
    other field, with a maximum number of characters; all other elements contain SHORT ones. Fields
    of `markup` may contain markup of their own, whose elements have names of HTML. After
    `max_tokens` tags and texts, the rest is ignored.
    """

    items: frozenset[str]
    max_items: int
    max_tokens: int
    fields: Mapping[str, int] = field(default_factory=dict)
    markup: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class RepairedMarkup:
    """Well-formed markup, and the number of items that were left out."""

    text: str
    dropped: int


# --- Characters ---------------------------------------------------------------------------------


def has_long_tag(body: bytes) -> bool:
    """Return whether a tag is so long that parsers take minutes and gigabytes for its
    attributes."""
    return _LONG_TAG.search(body) is not None


def repair_characters(text: str) -> str:
    """Return the text escaped for XML, with the characters that its references name, and without
    those that XML excludes."""
    if "&" in text:
        text = _REFERENCE.sub(_character, text)
        text = _PAIR.sub(
            lambda pair: pair[0].encode("utf-16", "surrogatepass").decode("utf-16"), text
        )
    return escape_xml(text)


def _character(reference: re.Match[str]) -> str:
    if name := reference[3] or reference[4]:
        return html5.get(f"{name};", reference[0])
    number = int(reference[1], 16) if reference[1] else int(reference[2])
    # Half a pair, and what XML excludes.
    return chr(number) if not number or number in _SURROGATES else unescape(f"&#{number};")


def escape_xml(text: str) -> str:
    """Return a literal text escaped for XML."""
    return escape(_FORBIDDEN.sub("", text), quote=False)


# --- Markup -------------------------------------------------------------------------------------


def repair_xml(text: str, shape: Shape) -> RepairedMarkup:
    """Return well-formed markup: open elements are closed, end tags without an element are
    dropped."""
    writer = _Writer(shape)
    for token in islice(_tokens(text), shape.max_tokens):
        if isinstance(token, str):
            writer.text(token)
        elif token.closes:
            writer.end(token.name)
        else:
            writer.start(token)
    return writer.finish()


@dataclass(frozen=True, slots=True)
class _Tag:
    name: str
    attributes: str
    closes: bool = False
    is_empty: bool = False

    @property
    def local(self) -> str:
        return self.name.rpartition(":")[2].lower()


class _Ends:
    """The places of an end marker, searched for from growing places: no part is searched twice."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._found: dict[str, int] = {}

    def after(self, end: str, start: int) -> int:
        """Return the place of an end, or -1."""
        place = self._found.get(end, 0)
        if 0 <= place < start or end not in self._found:
            place = self._found[end] = self._text.find(end, start)
        return place


def _tokens(text: str) -> Iterator[_Tag | str]:
    """Yield tags, and texts with their characters repaired and their markup escaped."""
    ends = _Ends(text)
    # PHP writes its warnings, as HTML, before what the script writes.
    place = max(text.find("<"), text.find("<?xml version", 0, _PROLOGUE), 0)
    while place < len(text):
        begin = _MARKUP.search(text, place)
        until = begin.start() if begin else len(text)
        if until != place:
            yield repair_characters(text[place : min(until, place + _MAX_TEXT)])
            place = until
            continue
        skipped, literal = _skip_markup(text, place, ends)
        if literal:
            yield literal
        if skipped:
            place = skipped
            continue
        tag = _TAG.match(text, place) or _BROKEN_TAG.match(text, place)
        if tag:
            is_empty = tag[3].endswith("/")
            yield _Tag(tag[2], tag[3][:_MAX_TAG].rstrip("/"), bool(tag[1]), is_empty)
            place = tag.end()
        else:
            yield "&lt;"
            place += 1


def _skip_markup(text: str, place: int, ends: _Ends) -> tuple[int, str]:
    """Return the end of a CDATA section, comment, declaration or instruction, and the text in it; 0
    if none begins there."""
    if text.startswith("<![CDATA[", place):
        end = ends.after("]]>", place + 9)
        if end < 0:
            return place + 9, ""  # never closed: its beginning is ignored
        return end + 3, escape_xml(text[place + 9 : end])
    if text.startswith("<!--", place):
        end = ends.after("-->", place + 4)
        return (place + 4 if end < 0 else end + 3), ""
    if text.startswith("<?", place):
        end = ends.after(">", place)
        return (place + 2 if end < 0 else end + 1), ""
    if text.startswith("<!", place):
        end = ends.after(">", place)
        if "[" in text[place : min(end, place + 1000) if end > 0 else place]:
            end = ends.after("]", place)
            end = ends.after(">", end) if end > 0 else end
        return (place + 2 if end < 0 else end + 1), ""
    return 0, ""


@dataclass(slots=True)
class _Open:
    """An open element, and the number of characters that it may still contain."""

    name: str
    local: str
    left: int
    in_markup: bool


class _Writer:
    """Writes well-formed markup within the limits of a shape."""

    def __init__(self, shape: Shape) -> None:
        self._shape = shape
        self._out: list[str] = []
        self._open: list[_Open] = []
        self._root: _Tag | None = None
        self._prefixes: set[str] = set()
        self._items = self._dropped = self._elements = 0
        self._is_skipping = self._is_over = False

    def text(self, text: str) -> None:
        """Write a text, cut to the length that its element may contain."""
        if not self._open or self._is_skipping or self._is_over:
            return
        around = self._open[-1]
        if len(text) > around.left:
            text = text[: around.left]
            start = text.rfind("&", max(len(text) - 10, 0))
            if start >= 0 and ";" not in text[start:]:
                text = text[:start]  # a part of a reference
            around.left = len(text)
        self._out.append(text)
        around.left -= len(text)

    def start(self, tag: _Tag) -> None:
        """Begin an element, and end those that can't contain it."""
        if self._is_over:
            return
        local = tag.local
        if local in self._shape.items:
            self._begin_item()
        elif local in self._shape.fields:
            self._end_field(local)
        self._elements += 1
        if self._is_skipping or self._elements > MAX_ELEMENTS or len(self._open) >= MAX_DEPTH:
            return
        if self._root is None:
            self._root = tag  # written last, when its declarations are known
        elif not self._open:
            return  # a second root element
        else:
            self._out.append(f"<{tag.name}{self._attributes(tag, {})}>")
        self._note_prefix(tag.name)
        around = self._open[-1] if self._open else None
        inherited = around.left if around and around.in_markup else SHORT
        in_markup = bool(around and around.in_markup) or local in self._shape.markup
        limit = self._shape.fields.get(local, inherited)
        self._open.append(_Open(tag.name, local, limit, in_markup))
        if tag.is_empty or (local in _VOID and local not in self._shape.fields):
            self._close(len(self._open) - 1)

    def end(self, name: str) -> None:
        """End the innermost element of that name, if there is one."""
        if self._is_over:
            return
        folded = name.lower()
        for depth in range(len(self._open) - 1, -1, -1):
            if self._open[depth].name.lower() == folded:
                self._close(depth)
                self._is_over = depth == 0 and self._items > 0
                return

    def finish(self) -> RepairedMarkup:
        """End all open elements, and return the markup."""
        self._close(0)
        if self._root is None:
            return RepairedMarkup("", self._dropped)
        self._attributes(self._root, {})  # for the prefixes that they use
        # A namespace for each prefix; the root's own declarations have priority.
        namespaces = {
            f"xmlns:{prefix}": _NAMESPACES.get(prefix, f"urn:undeclared:{prefix}")
            for prefix in sorted(self._prefixes - {"xml", "xmlns"})
        }
        head = f"<{self._root.name}{self._attributes(self._root, namespaces)}>"
        return RepairedMarkup("".join((head, *self._out)), self._dropped)

    def _note_prefix(self, name: str) -> None:
        prefix, colon, _ = name.partition(":")
        if colon:
            self._prefixes.add(prefix)

    def _attributes(self, tag: _Tag, more: Mapping[str, str]) -> str:
        if not tag.attributes and not more:
            return ""
        values = dict(more)
        for attribute in islice(_ATTRIBUTE.finditer(tag.attributes), MAX_ATTRIBUTES):
            value = next(text for text in attribute.groups()[1:] if text is not None)
            if (attribute[1] not in values or attribute[1] in more) and _is_allowed(
                attribute[1], value
            ):
                values[attribute[1]] = repair_characters(value[:MAX_ATTRIBUTE])
                self._note_prefix(attribute[1])
        return "".join(
            f' {name}="{value.replace(chr(34), "&quot;")}"' for name, value in values.items()
        )

    def _begin_item(self) -> None:
        depth = next(
            (
                place
                for place, element in enumerate(self._open)
                if element.local in self._shape.items
            ),
            None,
        )
        if depth is not None:
            self._close(depth)
        else:
            self._end_field("")
        self._items += 1
        self._elements = 0
        self._is_skipping = self._items > self._shape.max_items
        self._dropped += self._is_skipping

    def _end_field(self, following: str) -> None:
        """End the field that is open, if another one can't be in it."""
        for depth, element in enumerate(self._open):
            if element.local in self._shape.markup and following in _NAMES_OF_HTML:
                return
            if element.local in self._shape.fields and element.local not in self._shape.items:
                self._close(depth)
                return

    def _close(self, depth: int) -> None:
        while len(self._open) > depth:
            ended = self._open.pop()
            self._out.append(f"</{ended.name}>")
            if self._open and self._open[-1].in_markup:
                self._open[-1].left = min(self._open[-1].left, ended.left)


def _is_allowed(name: str, value: str) -> bool:
    """Return whether an attribute may be written: prefixes without a namespace may not be declared,
    and "xml" is fixed (Namespaces in XML 1.0, 3)."""
    if not name.startswith("xmlns"):
        return True
    prefix = name.partition(":")[2]
    reserved = "www.w3.org/XML/1998/namespace" in value or "www.w3.org/2000/xmlns" in value
    return prefix not in {"xml", "xmlns"} and not reserved and bool(value.strip() or not prefix)
