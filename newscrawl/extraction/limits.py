"""Pages that would take a parser too long or too much memory, reduced before they are parsed."""

import re
from collections.abc import Iterable
from itertools import islice
from typing import Final

import numpy as np
from numpy.typing import NDArray

# Ours: 500 take Lexbor a fifth of a millisecond; no element of the development corpus has 100.
MAX_ATTRIBUTES: Final = 500

# A tag as the HTML standard reads it (section 13.2.5), which quotes behind a name don't change.
TAG_NAME: Final = rb"[a-zA-Z][^\t\n\f\r />]*+"
_SPACES: Final = rb"[\t\n\f\r ]*+"
_VALUE: Final = rb"""(?:"[^"]*+(?:"|\Z)|'[^']*+(?:'|\Z)|[^\t\n\f\r >]*+)"""
ATTRIBUTE: Final = (
    rb"[\t\n\f\r /]*+[^\t\n\f\r />][^\t\n\f\r />=]*+"
    rb"(?:%b=%b%b)?+" % (_SPACES, _SPACES, _VALUE)
)
TAG: Final = re.compile(rb"</?%b((?:%b)*+)" % (TAG_NAME, ATTRIBUTE))
_SHORT_TAG: Final = re.compile(rb"</?%b(?:%b)*+[\t\n\f\r /]*+>" % (TAG_NAME, ATTRIBUTE))
EACH_ATTRIBUTE: Final = re.compile(ATTRIBUTE)
# Ours: there are some 70 names of one letter and 5,000 of two, so that a tag of so many bytes has
# 1,400 attributes at most, which take Lexbor 4 ms.
_FAR: Final = 4000
# Ours: what may be read, as a multiple of the page's size, before it counts as crowded unread.
_MOST_READ: Final = 4

# Ours: brackets and equals signs of a page, 8 bytes and more for each; so many are no page's.
_MOST_MARKS: Final = 1_000_000

_LESS, _EQUALS, _GREATER, _BLANK = b"<=> "
_DOUBLE, _SINGLE = b"\"'"
# What stands behind "<" where a tag begins; an end tag may make an element, too ("</p>").
_BEGINNING: Final = np.zeros(256, dtype=bool)
_BEGINNING[[*range(65, 91), *range(97, 123), ord("/")]] = True

# What stands behind "=" where a value may be opened by another quote than the double one.
_ODD: Final = np.zeros(256, dtype=bool)
_ODD[[*range(_BLANK + 1), _SINGLE]] = True
# What stands before a quote that may open a value.
_OPENING: Final = np.zeros(256, dtype=bool)
_OPENING[[*range(_BLANK + 1), _EQUALS]] = True
_PADDING: Final = np.zeros(256, dtype=np.int64)
_PADDING[list(b" /")] = 1

Bytes = NDArray[np.uint8]
Places = NDArray[np.int64]


def is_crowded(html: bytes) -> bool:
    """Tell whether a tag has more attributes than a parser can take, or may have."""
    source: Bytes = np.frombuffer(html, dtype=np.uint8)
    # "<", "=" and ">", whose numbers follow each other.
    marks = (source[:-1] - _LESS) <= _GREATER - _LESS
    if np.count_nonzero(marks) > _MOST_MARKS:
        return True
    read = 0
    for start in _doubtful(source, marks):
        if _SHORT_TAG.match(html, start, start + _FAR):
            continue
        if not (tag := TAG.match(html, start)):
            continue
        length = tag.end() - start
        if length > _FAR and len(EACH_ATTRIBUTE.findall(tag[1])) > MAX_ATTRIBUTES:
            return True
        read += length
        if read > _MOST_READ * len(html):
            return True
    return False


def _doubtful(source: Bytes, marks: NDArray[np.bool_]) -> list[int]:
    """Where tags begin of which a glance doesn't tell that they are short."""
    places = np.flatnonzero(marks)
    kinds = source[places]
    brackets = np.flatnonzero(kinds != _EQUALS)
    if not len(brackets):
        return []
    at = places[brackets]
    tags = np.flatnonzero((kinds[brackets[:-1]] == _LESS) & _BEGINNING[source[at[:-1] + 1]])
    first, last = brackets[tags], brackets[tags + 1]
    start, stop = at[tags], at[tags + 1]
    doubtful = (kinds[last] == _LESS) | (stop - start > _FAR)
    odd = np.cumsum((kinds == _EQUALS) & _ODD[source[places + 1]])
    valued = last - first > 1
    doubtful |= valued & ((odd[last] > odd[first]) | ~_ends_quoted(source, stop))
    found: list[int] = start[doubtful].tolist()
    if kinds[brackets[-1]] == _LESS:
        found.append(int(at[-1]))
    return found


def _ends_quoted(source: Bytes, stop: Places) -> NDArray[np.bool_]:
    """Which tags, that end there, end with a quote that opens nothing; "/" may follow it."""
    end = stop - 1
    for _ in range(2):
        end -= _PADDING[source[end]]
    ends: NDArray[np.bool_] = (source[end] == _DOUBLE) & ~_OPENING[source[end - 1]]
    return ends


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
