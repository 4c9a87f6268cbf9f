"""Pages that would take a parser too long or too much memory, reduced before they are parsed.

HTML's own rules let a few kilobytes grow to millions of nodes, since each paragraph opens every
formatting element again that is still open; they make deep nesting quadratic; and Lexbor compares
each attribute of an element with all before it. A page that could do so is changed in its source:
formatting elements become SPANs, which are never opened again; start tags that nest too deep and
attributes that are too many are left out. A page with more markup than any page of news is cut
and keeps its beginning, where articles are. A usual page takes a few operations of numpy.

Tags are read as the HTML standard has them (section 13.2.5, "Tokenization"): a wrongly detected end
of a tag, a comment or a script would hide all that follows.
"""

import re
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from newscrawl.extraction import compiled

# Ours: what Scrapy downloads at most; the largest page of the development corpus has 5.3 MB.
MAX_BYTES: Final = 8 * 1024 * 1024
# Ours: tags and comments; the most of a page of the development corpus are 21,646.
MAX_MARKUP: Final = 40_000
# Ours. Measured on Lexbor: 10,000 nested elements parse in 0.1 s, 4,000 reopened formats x 4,000
# paragraphs in 9 s; the largest page of the development corpus has about 16,000 elements.
MAX_ELEMENTS_UNCHECKED: Final = 12_000
# Ours: start tags beyond the end tags, which may all be open at a time: an end tag is looked for
# among all open elements, and 12,000 nested ones, 36 KB, take 0.16 s to parse, 3,000 take 0.01 s.
MAX_UNCLOSED: Final = 3_000
# Ours: formatting elements that a page may open again, and their attributes: each takes some 190
# bytes. An element of these has all of its attributes each time: 61 with 500 attributes in 5,500
# paragraphs took 1.2 GB, 30 with 10 in 6,000 took 0.4.
MAX_REOPENED: Final = 1_000_000
# Ours: bytes from a formatting element on in which its end tag is looked for. One that is closed
# behind its text, without another tag between, is never opened again.
MAX_CLOSED: Final = 1000
# Ours: texts of a page that may be in tables, but in no cell, times its bytes; half of that is
# what Lexbor may copy together. A page of 200 KB may have 1,000.
MAX_COPIED: Final = 200_000_000
# Ours: the deepest element of the development corpus has 135 around it.
MAX_DEPTH: Final = 512
# Ours: 500 take Lexbor a fifth of a millisecond; no element of the development corpus has 100.
MAX_ATTRIBUTES: Final = 500
# Ours: there are some 70 names of one letter and 5,000 of two, so a tag of this size has
# 1,400 attributes at most, which take Lexbor 4 ms.
MAX_SHORT_TAG: Final = 4000
# Ours: how often the bytes of a page may be read in search of attributes; a page of which more
# would have to be read counts as one with too many.
MAX_READINGS: Final = 4

# The HTML standard's list of active formatting elements; A closes itself.
FORMATTING: Final = frozenset(b"b big code em font i nobr s small strike strong tt u".split())
_FORMATS: Final = tuple(sorted(FORMATTING))

# --- Tags, as the standard reads them. Quotes behind a name don't change it. ---------------------

_TAG_NAME: Final = rb"[a-zA-Z][^\t\n\f\r />]*+"
_SPACES: Final = rb"[\t\n\f\r ]*+"
_VALUE: Final = rb"""(?:"[^"]*+(?:"|\Z)|'[^']*+(?:'|\Z)|[^\t\n\f\r >]*+)"""
_ATTRIBUTE: Final = (
    rb"[\t\n\f\r /]*+[^\t\n\f\r />][^\t\n\f\r />=]*+"
    rb"(?:%b=%b%b)?+" % (_SPACES, _SPACES, _VALUE)
)
_TAG: Final = re.compile(rb"</?%b((?:%b)*+)" % (_TAG_NAME, _ATTRIBUTE))
_EACH_ATTRIBUTE: Final = re.compile(_ATTRIBUTE)
_TOKEN: Final = re.compile(
    rb"<(?:(!--)|[!?][^>]*+>?|/(?![a-zA-Z])[^>]*+>?|(/?)(%b)((?:%b)*+)([\t\n\f\r /]*+(?:>|\Z)))"
    % (_TAG_NAME, _ATTRIBUTE)
)
_COMMENT_END: Final = re.compile(rb"--!?>")
_ANY_TAG: Final = re.compile(rb"</?[a-zA-Z]")
_FORMAT_NAME: Final = re.compile(
    rb"<(/?)(?:" + b"|".join(_FORMATS) + rb")(?=[\s/>])", re.IGNORECASE
)
_OPEN_FORMAT: Final = re.compile(
    rb"<(%b)(?=[\t\n\f\r />])(?!(?:%b)*+[\t\n\f\r /]*+>[^<]*+</\1[\t\n\f\r />])"
    % (b"|".join(_FORMATS), _ATTRIBUTE),
    re.IGNORECASE,
)
_TEXT_IN_TABLE: Final = re.compile(
    rb"(?:<(?:/?(?:table|tbody|thead|tfoot|tr)|/(?:td|th|caption)|input|!|\?|/[^a-zA-Z])[^<>]*+>)"
    rb"\s*+[^<\s]",
    re.IGNORECASE,
)
# Text up to their own end tags (section 13.2.6.4.7 and those before it).
_RAW_TEXT_ENDS: Final = {
    name: re.compile(rb"</" + name + rb"(?=[\t\n\f\r />])", re.IGNORECASE)
    for name in b"script style textarea title iframe noembed noframes xmp".split()
}
# What ends a title, style or script that was never closed. A script may write any tag but these.
_FIRST_TAG: Final = re.compile(rb"<(?:/?[a-zA-Z]|!--)")
_END_OF_HEAD: Final = re.compile(rb"<(?:/head|body)(?=[\t\n\f\r />])", re.IGNORECASE)
_HEAD_IN_TITLE: Final = re.compile(rb"<(?:/head|body|meta|link)(?=[\t\n\f\r />])", re.IGNORECASE)
_ENDS_OF_UNCLOSED: Final = {b"title": _FIRST_TAG, b"style": _FIRST_TAG, b"script": _END_OF_HEAD}
_VOID: Final = frozenset(
    b"area base br col embed hr img input link meta source track wbr param".split()
)
_CLOSED_BY_TWIN: Final = frozenset(b"p li td th tr dd dt option".split())
_TABLE_PARTS: Final = frozenset(b"table tbody thead tfoot tr".split())
_CELLS: Final = frozenset((b"td", b"th", b"caption"))
# There is one of each on a page: another one would give the first its attributes.
_ONLY_ONE: Final = frozenset((b"html", b"head", b"body"))
# In drawings and formulas other rules hold: there a STYLE has elements, and CDATA isn't a comment.
_FOREIGN: Final = (b"svg", b"math")
_CDATA: Final = re.compile(rb"<!\[CDATA\[", re.IGNORECASE)

# --- Bytes, as tables that numpy looks up --------------------------------------------------------

_LESS: Final = ord("<")


def _table_of(members: Iterable[int]) -> NDArray[np.bool_]:
    table = np.zeros(256, dtype=bool)
    table[list(members)] = True
    return table


_LETTERS: Final = _table_of([*range(65, 91), *range(97, 123)])
_MARKUP: Final = _LETTERS | _table_of(b"/!?")


_FORMAT, _IN_TABLE = 1, 2


def _beginnings() -> NDArray[np.uint8]:
    """Return for each two bytes behind "<" whether they can begin the name of a formatting element
    (one of one letter ends there), or what `_TEXT_IN_TABLE` finds."""
    table = np.zeros((256, 256), dtype=np.uint8)
    for name in FORMATTING:
        for first in {name[0], name.upper()[0]}:
            if len(name) == 1:
                table[first, ~_LETTERS] |= _FORMAT
            else:
                table[first, [name[1], name.upper()[1]]] |= _FORMAT
    for first, second in (b"ta", b"tb", b"th", b"tf", b"tr", b"in", b"/t", b"/c"):
        for letter in {first, *bytes([first]).upper()}:
            table[letter, [second, *bytes([second]).upper()]] |= _IN_TABLE
    table[ord("/"), ~_LETTERS] |= _IN_TABLE
    table[list(b"!?")] |= _IN_TABLE
    return table


_BEGINNINGS: Final = _beginnings()
_PAIRS: Final = _BEGINNINGS.tobytes()


# --- The decision --------------------------------------------------------------------------------


class Survey(NamedTuple):
    """What decides whether a page is within the limits: how many "<" it has, start tags, end tags,
    and tags behind which text may be in a table but in no cell; the places behind "<" where the
    name of a formatting element may begin; whether a tag may have too many attributes, and how many
    those at these places have, if none may."""

    marks: int
    opening: int
    ending: int
    in_table: int
    formats: list[int]
    may_be_crowded: bool
    format_attributes: int = 0

    @classmethod
    def of(cls, html: bytes) -> "Survey":
        """Survey a page."""
        if compiled.kernel is not None:
            limits = MAX_SHORT_TAG, MAX_ATTRIBUTES, MAX_READINGS
            return cls(*compiled.kernel.survey(html, _PAIRS, *limits))
        source = np.frombuffer(html, dtype=np.uint8)
        after = np.flatnonzero(source[:-2] == _LESS) + 1
        first = source[after]
        flags = _BEGINNINGS[first, source[after + 1]]
        return cls(
            marks=len(after),
            opening=int(np.count_nonzero(_LETTERS[first])),
            ending=int(np.count_nonzero(first == ord("/"))),
            in_table=int(np.count_nonzero(flags & _IN_TABLE)),
            formats=after[(flags & _FORMAT).astype(bool)].tolist(),
            may_be_crowded=True,
        )


def within_limits(html: bytes) -> bytes:
    """Return the page reduced to the parser's limits; a usual one is returned unchanged."""
    html = html[:MAX_BYTES]
    survey = Survey.of(html)
    if survey.marks > MAX_MARKUP:
        html = _cut(html)
        survey = Survey.of(html)
    if survey.in_table * len(html) > MAX_COPIED and (
        (len(_TEXT_IN_TABLE.findall(html)) if b"<table" in html.lower() else 0) * len(html)
        > MAX_COPIED
    ):
        html = _cut(_TextsInTables(html).rewrite())
        survey = Survey.of(html)
    opens, most = _OPEN_FORMAT.match, len(survey.formats) + survey.format_attributes
    formats = []
    if survey.may_be_crowded or survey.opening * most > MAX_REOPENED:
        formats = [at for at in survey.formats if opens(html, at - 1, at + MAX_CLOSED)]
    reopened = survey.opening * len(formats)
    if reopened > MAX_REOPENED:
        html = _FORMAT_NAME.sub(rb"<\1span", html)
    elif reopened * MAX_ATTRIBUTES > MAX_REOPENED and (
        survey.opening * (len(formats) + _attributes_at(html, formats)) > MAX_REOPENED
    ):
        html = _FormatAttributes(html).rewrite()
    if survey.opening > MAX_ELEMENTS_UNCHECKED or survey.opening - survey.ending > MAX_UNCLOSED:
        return flatten(html)
    return limit_attributes(html) if survey.may_be_crowded and has_crowded_tag(html) else html


def flatten(html: bytes) -> bytes:
    """Leave out start tags that would nest too deep, and the attributes that are too many.

    What is left nests as it is written: an end tag closes all that was opened behind its start tag,
    and one without a start is a blank.
    """
    return _Nesting(_CDATA.sub(b" ", html)).rewrite()


def limit_attributes(html: bytes) -> bytes:
    """Leave out the attributes of each tag that are too many."""
    return _Tags(html).rewrite()


_Match = re.Match[bytes]


def _tokens(html: bytes) -> Iterator[tuple[_Match, bytes, int, _Match | None, int]]:
    """Yield the tags and comments of a page, none of those within comments and raw texts: each with
    its name in lower case and its end; and what closes the comment, or the raw text behind the tag,
    with the place up to which there are no tags."""
    resume = 0
    while token := _TOKEN.search(html, resume):
        name, close = (token[3] or b"").lower(), None
        end = resume = token.end()
        if token[1]:  # "<!-->" and "<!--->" are whole comments
            close = _COMMENT_END.search(html, token.start() + 2)
            resume = close.end() if close else len(html)
        elif name in _RAW_TEXT_ENDS and not token[2]:
            close = _RAW_TEXT_ENDS[name].search(html, end)
            resume = close.start() if close else len(html)
        yield token, name, end, close, resume


def close_raw_text(html: bytes) -> bytes:
    """Return the page with the first comment or raw text (`<title>`, `<textarea>`) closed that has
    no end and hides all behind it; a page without one is returned unchanged."""
    for token, name, end, close, resume in _tokens(html):
        if token[1] and not close:
            return _insert(html, end, b"-->")
        if name not in _RAW_TEXT_ENDS or token[2]:
            continue
        if close is None or (name == b"title" and _HEAD_IN_TITLE.search(html, end, resume)):
            # Where a raw text without an end should have ended.
            first = _ENDS_OF_UNCLOSED[name].search(html, end) if name in _ENDS_OF_UNCLOSED else None
            if first is None and name in _ENDS_OF_UNCLOSED:
                return html
            return _insert(html, first.start() if first else end, b"</%b>" % name)
    return html


def _insert(html: bytes, place: int, tag: bytes) -> bytes:
    return b"%b%b%b" % (html[:place], tag, html[place:])


def _cut(html: bytes) -> bytes:
    """Return the page up to `MAX_MARKUP`."""
    source = np.frombuffer(html, dtype=np.uint8)
    after = np.flatnonzero(source[:-2] == _LESS) + 1
    markup = after[_MARKUP[source[after]]]
    return html[: markup[MAX_MARKUP] - 1] if len(markup) > MAX_MARKUP else html


def _attributes_at(html: bytes, places: Iterable[int]) -> int:
    """Return how many attributes the elements have whose names begin at `places`."""
    attributes, unread = 0, MAX_READINGS * len(html)
    for place in places:
        if tag := _TAG.match(html, place - 1):
            unread -= tag.end() - tag.start()
            if unread < 0:  # tags that run into each other
                return len(html)
            attributes += len(_EACH_ATTRIBUTE.findall(tag[1]))
    return attributes


# --- Tags with too many attributes ---------------------------------------------------------------


def has_crowded_tag(html: bytes) -> bool:
    """Return whether a tag has more attributes than a parser can take; comments and raw texts have
    no tags."""
    return any(
        end - token.start() > MAX_SHORT_TAG
        and len(_EACH_ATTRIBUTE.findall(token[4] or b"")) > MAX_ATTRIBUTES
        for token, _, end, _, _ in _tokens(html)
    )


# --- Tags, read one after the other and rewritten ------------------------------------------------


class _Tags:
    """Reads the tags of a page from the first to the last; subclasses change what is kept."""

    def __init__(self, html: bytes) -> None:
        self._html = html

    def rewrite(self) -> bytes:
        """Return the page with its tags changed."""
        parts: list[bytes] = []
        before = 0
        for token, name, end, _, resume in _tokens(self._html):
            parts.append(self.text(self._html[before : token.start()]))
            if token[1]:
                parts.append(self._html[token.start() : resume])
            elif token[3] is None:
                parts.append(token[0])
            elif token[5][-1:] == b">":  # a tag cut off by the end of the page is ignored
                parts.append(self._tag(token, name))
                if resume > end:
                    parts.append(self.raw_text(name, self._html[end:resume]))
            before = resume
        return b"".join([*parts, self._html[before:]])

    def _tag(self, token: re.Match[bytes], name: bytes) -> bytes:
        if token[2]:
            return self.end_tag(b"</%b>" % token[3], name)
        return self.start_tag(_with_few_attributes(token, self.max_attributes(name)), name)

    def max_attributes(self, _name: bytes) -> int:
        """Return how many attributes an element may keep."""
        return MAX_ATTRIBUTES

    def text(self, text: bytes) -> bytes:
        """Return the replacement for the text before a tag."""
        return text

    def start_tag(self, tag: bytes, _name: bytes) -> bytes:
        """Return the replacement for a start tag."""
        return tag

    def end_tag(self, tag: bytes, _name: bytes) -> bytes:
        """Return the replacement for an end tag."""
        return tag

    def raw_text(self, _name: bytes, text: bytes) -> bytes:
        """Return the replacement for a text without tags, such as a script."""
        return text


def _with_few_attributes(token: re.Match[bytes], max_attributes: int) -> bytes:
    # An attribute has a byte and one that separates it from the next, at least.
    if len(token[4]) < 2 * max_attributes:
        return token[0]
    attributes = list(islice(_EACH_ATTRIBUTE.finditer(token[4]), max_attributes + 1))
    if len(attributes) <= max_attributes:
        return token[0]
    return b"<%b%b>" % (token[3], token[4][: attributes[-1].start()])


class _FormatAttributes(_Tags):
    """Leaves out the attributes of formatting elements."""

    def max_attributes(self, name: bytes) -> int:
        return 0 if name in FORMATTING else MAX_ATTRIBUTES


class _TextsInTables(_Tags):
    """Inserts a WBR after each text that is in a table, but in no cell.

    Lexbor moves such text out of the table piece by piece, and copies all that it has moved before,
    if no element is between: 1.9 MB with 9,000 comments took 2.6 GB.
    """

    def __init__(self, html: bytes) -> None:
        super().__init__(html)
        self._in_table = False

    def text(self, text: bytes) -> bytes:
        return text + b"<wbr>" if self._in_table and not text.isspace() and text else text

    def start_tag(self, tag: bytes, name: bytes) -> bytes:
        if name in _CELLS or name in _TABLE_PARTS:
            self._in_table = name in _TABLE_PARTS
        return tag

    def end_tag(self, tag: bytes, name: bytes) -> bytes:
        self._in_table |= name in _CELLS or name in _TABLE_PARTS
        return tag


class _Nesting(_Tags):
    """Keeps the elements that are open, and leaves out what would nest too deep."""

    def __init__(self, html: bytes) -> None:
        super().__init__(html)
        self._open: list[bytes] = []
        self._count: dict[bytes, int] = {}
        self._met: set[bytes] = set()

    def start_tag(self, tag: bytes, name: bytes) -> bytes:
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
        """Return the tag behind those of the elements that are open within its own."""
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
        """Return the text, without its tags where the parser may see elements in it."""
        if name == b"script" and not any(map(self._count.get, _FOREIGN)):
            return text
        return _ANY_TAG.sub(b" ", text)
