"""Pages that would choke a parser, made harmless: their tags read one after the other and mended.

The tags are read as the HTML standard has them (section 13.2.5, "Tokenization"): what is taken for
the end of a tag, a comment or a script where there is none would hide all that follows. What cannot
be known without building the tree is made plain in the source instead.
"""

import re
from collections.abc import Iterable
from itertools import islice
from typing import Final

from newscrawl.extraction.crowding import ATTRIBUTE, EACH_ATTRIBUTE, MAX_ATTRIBUTES, TAG, TAG_NAME

# Ours: the deepest element of the development corpus has 135 around it.
MAX_DEPTH: Final = 512
# Ours: what a formatting element keeps where many of them have many.
MAX_FORMAT_ATTRIBUTES: Final = 10

# The HTML standard's list of active formatting elements; A closes itself.
FORMATTING: Final = frozenset(b"b big code em font i nobr s small strike strong tt u".split())

_TOKEN: Final = re.compile(
    rb"<(?:(!--)|[!?][^>]*+>?|/(?![a-zA-Z])[^>]*+>?|(/?)(%b)((?:%b)*+)([\t\n\f\r /]*+(?:>|\Z)))"
    % (TAG_NAME, ATTRIBUTE)
)
_COMMENT_END: Final = re.compile(rb"--!?>")
# Text up to their own end tags (section 13.2.6.4.7 and those before it).
_RAW_TEXT_ENDS: Final = {
    name: re.compile(rb"</" + name + rb"(?=[\t\n\f\r />])", re.IGNORECASE)
    for name in b"script style textarea title iframe noembed noframes xmp".split()
}
_VOID: Final = frozenset(
    b"area base br col embed hr img input link meta source track wbr param".split()
)
_CLOSED_BY_TWIN: Final = frozenset(b"p li td th tr dd dt option".split())
_TABLE_PARTS: Final = frozenset(b"table tbody thead tfoot tr".split())
_CELLS: Final = frozenset((b"td", b"th", b"caption"))
# There is one of each on a page: another one would give the first its attributes.
_ONLY_ONE: Final = frozenset((b"html", b"head", b"body"))
_ANY_TAG: Final = re.compile(rb"</?[a-zA-Z]")
# In drawings and formulas other rules hold: there a STYLE has elements, and CDATA is no comment.
_FOREIGN: Final = (b"svg", b"math")
_CDATA: Final = re.compile(rb"<!\[CDATA\[", re.IGNORECASE)


def without_crowds(html: bytes) -> bytes:
    """Leave out the attributes that are too many."""
    return _Tags(html).mended()


def attributes_beyond(html: bytes, places: Iterable[int]) -> int:
    """Count the attributes that formatting elements, whose names begin there, have beyond those
    that each of them may keep."""
    tags = (TAG.match(html, place - 1) for place in places)
    counts = (len(EACH_ATTRIBUTE.findall(tag[1])) for tag in tags if tag)
    return sum(max(0, count - MAX_FORMAT_ATTRIBUTES) for count in counts)


def with_plain_formats(html: bytes) -> bytes:
    """Leave out the attributes of formatting elements but the first few."""
    return _PlainFormats(html).mended()


def with_parted_texts(html: bytes) -> bytes:
    """Put a WBR behind each text that stands in a table, but in no cell.

    Lexbor moves such text out of the table, bit by bit, and copies what it has moved before, if no
    element stands between: 1.9 MB with 9,000 comments took 2.6 GB.
    """
    return _Parted(html).mended()


def flattened(html: bytes) -> bytes:
    """Leave out start tags that would nest too deep, and the attributes that are too many.

    What is left nests as it is written: an end tag closes all that was opened behind its start tag,
    and one without a start is a blank.
    """
    return _Nesting(_CDATA.sub(b" ", html)).mended()


class _Tags:
    """The tags of a page, read from the first to the last."""

    def __init__(self, html: bytes) -> None:
        self._html = html

    def mended(self) -> bytes:
        """The page with what became of its tags."""
        parts: list[bytes] = []
        end = 0
        while token := _TOKEN.search(self._html, end):
            parts.append(self.text(self._html[end : token.start()]))
            end = token.end()
            if token[1]:
                # "<!-->" and "<!--->" are whole comments.
                closed = _COMMENT_END.search(self._html, token.start() + 2)
                end = closed.end() if closed else len(self._html)
                parts.append(self._html[token.start() : end])
            elif token[3] is None:
                parts.append(token[0])
            elif token[5][-1:] == b">":  # one that the page's end cuts off is none
                name = token[3].lower()
                parts.append(self._mended_tag(token, name))
                if name in _RAW_TEXT_ENDS and not token[2]:
                    closed = _RAW_TEXT_ENDS[name].search(self._html, end)
                    parts.append(self.raw_text(name, self._html[end : closed and closed.start()]))
                    end = closed.start() if closed else len(self._html)
        return b"".join([*parts, self._html[end:]])

    def _mended_tag(self, token: re.Match[bytes], name: bytes) -> bytes:
        if token[2]:
            return self.end_tag(b"</%b>" % token[3], name)
        return self.start_tag(_with_few_attributes(token, self.most_attributes(name)), name)

    def most_attributes(self, _name: bytes) -> int:
        """How many attributes an element may keep."""
        return MAX_ATTRIBUTES

    def text(self, text: bytes) -> bytes:
        """What becomes of the text before a tag."""
        return text

    def start_tag(self, tag: bytes, _name: bytes) -> bytes:
        """What becomes of a start tag whose attributes are not too many."""
        return tag

    def end_tag(self, tag: bytes, _name: bytes) -> bytes:
        """What becomes of an end tag."""
        return tag

    def raw_text(self, _name: bytes, text: bytes) -> bytes:
        """What becomes of a text in which there are no tags."""
        return text


def _with_few_attributes(token: re.Match[bytes], most: int) -> bytes:
    # An attribute has a byte and one that parts it from the next, at least.
    if len(token[4]) < 2 * most:
        return token[0]
    found = list(islice(EACH_ATTRIBUTE.finditer(token[4]), most + 1))
    if len(found) <= most:
        return token[0]
    return b"<%b%b>" % (token[3], token[4][: found[-1].start()])


class _PlainFormats(_Tags):
    """Tags, those of formatting elements with few attributes."""

    def most_attributes(self, name: bytes) -> int:
        """How many an element may keep."""
        return MAX_FORMAT_ATTRIBUTES if name in FORMATTING else MAX_ATTRIBUTES


class _Parted(_Tags):
    """Tags, and whether those before a text leave it in a table, but in no cell."""

    def __init__(self, html: bytes) -> None:
        super().__init__(html)
        self._in_table = False

    def text(self, text: bytes) -> bytes:
        """The text, parted from the next one where it is to be moved."""
        return text + b"<wbr>" if self._in_table and not text.isspace() and text else text

    def start_tag(self, tag: bytes, name: bytes) -> bytes:
        """The tag as it is."""
        if name in _CELLS or name in _TABLE_PARTS:
            self._in_table = name in _TABLE_PARTS
        return tag

    def end_tag(self, tag: bytes, name: bytes) -> bytes:
        """The tag as it is."""
        self._in_table |= name in _CELLS or name in _TABLE_PARTS
        return tag


class _Nesting(_Tags):
    """The elements that are open while the tags are read."""

    def __init__(self, html: bytes) -> None:
        super().__init__(html)
        self._open: list[bytes] = []
        self._count: dict[bytes, int] = {}
        self._met: set[bytes] = set()

    def start_tag(self, tag: bytes, name: bytes) -> bytes:
        """The tag, or a blank where it would nest too deep."""
        if name in _ONLY_ONE:
            is_first = name not in self._met
            self._met.add(name)
            return tag if is_first else b" "
        if name in _VOID or name in _RAW_TEXT_ENDS:
            return tag
        if name in _CLOSED_BY_TWIN and self._open[-1:] == [name]:
            return tag
        if len(self._open) >= MAX_DEPTH:
            return b" "
        self._open.append(name)
        self._count[name] = self._count.get(name, 0) + 1
        return tag

    def end_tag(self, tag: bytes, name: bytes) -> bytes:
        """The tag behind those of the elements that are open within its own."""
        if name in _RAW_TEXT_ENDS or name in _ONLY_ONE:
            return tag
        if not self._count.get(name):
            return b" "
        closed: list[bytes] = []
        while True:
            top = self._open.pop()
            self._count[top] -= 1
            if top == name:
                return b"".join(closed) + tag
            closed.append(b"</%b>" % top)

    def raw_text(self, name: bytes, text: bytes) -> bytes:
        """The text, without its tags where the parser may see an element in what holds it."""
        if name == b"script" and not any(map(self._count.get, _FOREIGN)):
            return text
        return _ANY_TAG.sub(b" ", text)
