"""Whether a tag of a page has more attributes than a parser can take.

Lexbor compares each attribute of an element to all before it: 100,000 of them take 20 s. Every page
is asked for such tags, so that to ask must cost next to nothing: most tags are seen to be harmless
by where their quotes stand, all at once; only the others are read. A tag that is passed over ends
at the first ">" behind its name, and that one stands not far away and in no quotes.
"""

import re
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
