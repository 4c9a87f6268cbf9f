# cython: language_level=3, boundscheck=True, wraparound=False, initializedcheck=True
"""The costly loops of extraction, compiled: what `blocks` and `tokens` do, over the same tables.

The tree is read by the addresses of Lexbor's nodes, whose layout is stated below. `compiled` loads
this module only for versions of selectolax that have this layout, and only after `read_tree` has
given what selectolax gives. Tables and limits come from Python, which states them. No address is
kept after a call. What a function can't read as Python would (text that isn't UTF-8) it refuses by
returning None, and Python reads the page.
"""

from array import array

from cpython.bytearray cimport PyByteArray_AS_STRING, PyByteArray_FromStringAndSize
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_GET_SIZE
from cpython.unicode cimport PyUnicode_DecodeUTF8
from libc.math cimport expf, log1pf, sqrt, sqrtf
from libc.stdint cimport UINT16_MAX, int64_t, uint8_t, uint16_t, uint32_t, uint64_t, uintptr_t
from libc.stdlib cimport free, malloc, qsort, realloc
from libc.string cimport memchr, memcmp, memcpy

cdef extern from "Python.h":
    int PyUnicode_KIND(object text)
    void *PyUnicode_DATA(object text)
    Py_ssize_t PyUnicode_GET_LENGTH(object text)
    uint32_t PyUnicode_READ(int kind, void *data, Py_ssize_t index)
    str PyUnicode_FromKindAndData(int kind, const void *data, Py_ssize_t length)

cdef extern from *:
    """
    #ifndef KERNEL_SOURCE
    #define KERNEL_SOURCE ""
    #endif
    """
    const char *KERNEL_SOURCE

cdef extern from *:
    """
    #if defined(__GNUC__)
    #define FETCH(place) __builtin_prefetch(place)
    #else
    #define FETCH(place)
    #endif
    """
    void fetch "FETCH"(const void *place) noexcept

# The hash of this file that the binary was made of; set by setup.py.
SOURCE = KERNEL_SOURCE.decode("ascii")

# --- Lexbor's nodes ------------------------------------------------------------------------------


cdef struct Bytes:
    uint8_t *data
    size_t length


cdef struct Node:
    void *events
    uintptr_t local_name
    uintptr_t prefix
    uintptr_t ns
    void *owner_document
    Node *next
    Node *prev
    Node *parent
    Node *first_child
    Node *last_child
    void *user
    int type


cdef struct TextNode:
    Node node
    Bytes data


cdef struct Attribute:
    Node node
    uintptr_t upper_name
    uintptr_t qualified_name
    Bytes *value
    void *owner
    Attribute *next
    Attribute *prev


cdef struct Element:
    Node node
    uintptr_t upper_name
    uintptr_t qualified_name
    Bytes *is_value
    Attribute *first_attribute


# A name that Lexbor doesn't know has the address of this as its number.
cdef struct Name:
    uint8_t text[24]  # up to SHORT_NAME bytes; else the address of the text
    size_t length
    void *next
    uintptr_t number


cdef enum:
    ELEMENT_NODE = 1
    TEXT_NODE = 3
    SHORT_NAME = 16
    KNOWN = 4096  # numbers of tags and attributes that Lexbor knows are below


class LayoutError(Exception):
    """The tree doesn't have the layout that is stated here."""


cdef Name *name_of(Attribute *attribute) except NULL:
    """Return the name of an attribute that Lexbor doesn't know."""
    cdef uintptr_t number = attribute.qualified_name or attribute.node.local_name
    cdef Name *name = <Name *> number
    if number < KNOWN or number % sizeof(void *) or name.number != number:
        raise LayoutError("attributes")
    return name


cdef bint is_itemprop(Attribute *attribute) except -1:
    cdef Name *name = name_of(attribute)
    return name.length == 8 and memcmp(name.text, b"itemprop", 8) == 0


cdef str text_of(Name *name):
    cdef const uint8_t *text = name.text
    if name.length > SHORT_NAME:
        memcpy(&text, name.text, sizeof(text))
    return decoded(text, name.length)


cdef str decoded(const uint8_t *data, size_t length):
    return PyUnicode_DecodeUTF8(<char *> data, <Py_ssize_t> length, "strict")


def read_tree(uintptr_t address):
    """Return the tag number, text and attributes of each node below one, in document order.

    Attributes that Lexbor knows have their numbers as names. It is only for `compiled`, which
    compares this with what selectolax gives.
    """
    cdef Node *top = <Node *> address
    cdef Node *node = top
    cdef Attribute *attribute
    cdef Bytes *value
    cdef uintptr_t number
    cdef list nodes = []
    while node != NULL:
        text = None
        attributes = {}
        if node.type == TEXT_NODE:
            text = decoded((<TextNode *> node).data.data, (<TextNode *> node).data.length)
        elif node.type == ELEMENT_NODE:
            attribute = (<Element *> node).first_attribute
            while attribute != NULL:
                number = attribute.qualified_name or attribute.node.local_name
                name = number
                if number >= KNOWN:
                    name = text_of(name_of(attribute))
                value = attribute.value
                attributes[name] = (
                    decoded(value.data, value.length)
                    if value != NULL and value.data != NULL
                    else None
                )
                attribute = attribute.next
        nodes.append((node.local_name, text, attributes))
        if node.first_child != NULL:
            node = node.first_child
            continue
        while node != top and node.next == NULL:
            node = node.parent
        node = NULL if node == top else node.next
    return nodes


# --- Columns that grow ---------------------------------------------------------------------------


cdef struct Numbers:
    int64_t *items
    size_t size
    size_t room


cdef struct Text:
    uint8_t *items
    size_t size
    size_t room


cdef int push(Numbers *numbers, int64_t value) except -1:
    cdef size_t room
    cdef int64_t *items
    if numbers.size == numbers.room:
        room = 2 * numbers.room + 256
        items = <int64_t *> realloc(numbers.items, room * sizeof(int64_t))
        if items == NULL:
            raise MemoryError
        numbers.items = items
        numbers.room = room
    numbers.items[numbers.size] = value
    numbers.size += 1
    return 0


cdef int put(Text *text, const uint8_t *data, size_t length) except -1:
    cdef size_t room
    cdef uint8_t *items
    if length > text.room - text.size:
        room = 2 * text.room + length + 4096
        items = <uint8_t *> realloc(text.items, room)
        if items == NULL:
            raise MemoryError
        text.items = items
        text.room = room
    memcpy(text.items + text.size, data, length)
    text.size += length
    return 0


cdef bytearray taken(Numbers *numbers):
    """Return the numbers as bytes, which numpy reads."""
    return PyByteArray_FromStringAndSize(
        <char *> numbers.items, <Py_ssize_t> (numbers.size * sizeof(int64_t))
    )


cdef bytearray flags_of(Numbers *numbers):
    """Return for each of the numbers a byte that says whether it isn't 0."""
    cdef bytearray flags = bytearray(numbers.size)
    cdef uint8_t *to = <uint8_t *> PyByteArray_AS_STRING(flags)
    cdef size_t place
    for place in range(numbers.size):
        to[place] = numbers.items[place] != 0
    return flags


# --- Text ----------------------------------------------------------------------------------------


cdef inline size_t blank_at(const uint8_t *place, const uint8_t *end) noexcept:
    """Return the length of the white space (`str.isspace`) at a place, 0 where there is none."""
    cdef uint8_t first = place[0]
    if first <= 0x20:
        return first == 0x20 or 0x09 <= first <= 0x0D or 0x1C <= first <= 0x1F
    if first < 0xC2:
        return 0
    if first == 0xC2:
        return 2 if end - place >= 2 and (place[1] == 0x85 or place[1] == 0xA0) else 0
    if first > 0xE3 or first < 0xE1 or end - place < 3:
        return 0
    if first == 0xE1:
        return 3 if place[1] == 0x9A and place[2] == 0x80 else 0
    if first == 0xE3:
        return 3 if place[1] == 0x80 and place[2] == 0x80 else 0
    if place[1] == 0x81:
        return 3 if place[2] == 0x9F else 0
    if place[1] != 0x80:
        return 0
    return 3 if place[2] <= 0x8A or 0xA8 <= place[2] <= 0xA9 or place[2] == 0xAF else 0


cdef bint is_blank(const uint8_t *data, size_t length) noexcept:
    """Return whether a text has white space alone."""
    cdef const uint8_t *end = data + length
    cdef size_t step
    while data < end:
        step = blank_at(data, end)
        if step == 0:
            return False
        data += step
    return True


cdef size_t squeeze(uint8_t *data, size_t length) noexcept:
    """Make white space single blanks, in place, and return the new length."""
    cdef const uint8_t *place = data
    cdef const uint8_t *end = data + length
    cdef uint8_t *to = data
    cdef size_t step
    cdef bint pending = False
    while place < end:
        step = blank_at(place, end)
        if step:
            pending = to != data
            place += step
            continue
        if pending:
            to[0] = 0x20
            to += 1
            pending = False
        to[0] = place[0]
        to += 1
        place += 1
    return to - data


cdef size_t characters(const uint8_t *data, size_t length) noexcept:
    cdef size_t count = 0
    cdef size_t place
    for place in range(length):
        count += (data[place] & 0xC0) != 0x80
    return count


cdef size_t beginning_of(const uint8_t *data, size_t length, size_t most) noexcept:
    """Return the bytes that the first characters of a text take."""
    cdef size_t count = 0
    cdef size_t place
    if length <= most:
        return length
    for place in range(length):
        if (data[place] & 0xC0) != 0x80:
            if count == most:
                return place
            count += 1
    return length


cdef bint hides(const uint8_t *data, size_t length) noexcept:
    """Return whether a style has "display:none", whatever blanks it has."""
    cdef const char *wanted = "display:none"
    cdef size_t place, start, matched
    for start in range(length):
        if data[start] != c"d":
            continue
        matched = 0
        for place in range(start, length):
            if data[place] == 0x20:
                continue
            if data[place] != <uint8_t> wanted[matched]:
                break
            matched += 1
            if matched == 12:
                return True
    return False


cdef size_t sequence_at(const uint8_t *place, const uint8_t *end) noexcept:
    """Return the length of the UTF-8 sequence of several bytes at a place; 0 where it is none."""
    cdef uint8_t first = place[0]
    cdef uint8_t least = 0x80, most = 0xBF
    cdef size_t length, index
    if 0xC2 <= first <= 0xDF:
        length = 2
    elif 0xE0 <= first <= 0xEF:
        length = 3
        if first == 0xE0:
            least = 0xA0
        elif first == 0xED:
            most = 0x9F
    elif 0xF0 <= first <= 0xF4:
        length = 4
        if first == 0xF0:
            least = 0x90
        elif first == 0xF4:
            most = 0x8F
    else:
        return 0
    if <size_t> (end - place) < length or not least <= place[1] <= most:
        return 0
    for index in range(2, length):
        if place[index] & 0xC0 != 0x80:
            return 0
    return length


cdef bint is_sequences(const uint8_t *place, size_t length) noexcept:
    """Return whether a short text is UTF-8."""
    cdef const uint8_t *end = place + length
    while place < end:
        if place[0] < 0x80:
            place += 1
            continue
        length = sequence_at(place, end)
        if length == 0:
            return False
        place += length
    return True


def is_utf8(bytes html):
    """Return whether bytes are UTF-8, as `bytes.decode` has it."""
    cdef const uint8_t *place = <const uint8_t *> PyBytes_AS_STRING(html)
    cdef const uint8_t *end = place + PyBytes_GET_SIZE(html)
    cdef uint64_t eight
    cdef size_t length
    while place < end:
        if place[0] < 0x80:
            place += 1
            while end - place >= 8:
                memcpy(&eight, place, 8)
                if eight & 0x8080808080808080ULL:
                    break
                place += 8
            continue
        length = sequence_at(place, end)
        if length == 0:
            return False
        place += length
    return True


# --- Limits --------------------------------------------------------------------------------------


cdef inline bint is_letter(uint8_t byte) noexcept:
    return c"a" <= byte | 0x20 <= c"z"


cdef inline bint is_space(uint8_t byte) noexcept:
    return byte <= 0x20 and (
        byte == 0x20 or byte == 0x0A or byte == 0x09 or byte == 0x0D or byte == 0x0C
    )


cdef inline bint ends_name(uint8_t byte) noexcept:
    return byte <= c">" and (byte == c">" or byte == c"/" or is_space(byte))


cdef const uint8_t *tag_end(
    const uint8_t *place, const uint8_t *end, size_t *attributes
) noexcept:
    """Return the place behind a tag, from behind its "<", as `limits._SHORT_TAG` has it; NULL where
    it doesn't end. Count its attributes."""
    if place < end and place[0] == c"/":
        place += 1
    if place >= end or not is_letter(place[0]):
        return NULL
    while place < end and not ends_name(place[0]):
        place += 1
    while place < end:
        if place[0] == c">":
            return place + 1
        if is_space(place[0]) or place[0] == c"/":
            place += 1
            continue
        attributes[0] += 1
        place += 1  # an attribute may begin with an equals sign
        while place < end and place[0] != c"=" and not ends_name(place[0]):
            place += 1
        place = value_end(place, end)
    return NULL


cdef const uint8_t *value_end(const uint8_t *place, const uint8_t *end) noexcept:
    """Return the place behind the value of an attribute, from behind its name; there may be
    none."""
    cdef const uint8_t *behind = place
    cdef const uint8_t *quote
    while behind < end and is_space(behind[0]):
        behind += 1
    if behind >= end or behind[0] != c"=":
        return place
    place = behind + 1
    while place < end and is_space(place[0]):
        place += 1
    if place >= end:
        return end
    if place[0] == c'"' or place[0] == c"'":
        quote = <const uint8_t *> memchr(place + 1, place[0], end - place - 1)
        return end if quote == NULL else quote + 1
    while place < end and place[0] != c">" and not is_space(place[0]):
        place += 1
    return place


cdef bint is_closed_at(
    const uint8_t *place, const uint8_t *end, const uint8_t *name, size_t length
) noexcept:
    """Return whether the end tag of a name stands at a place."""
    cdef size_t index
    if <size_t> (end - place) < length + 3 or place[1] != c"/":
        return False
    for index in range(length):
        if place[2 + index] | 0x20 != name[index] | 0x20:
            return False
    return ends_name(place[2 + length])


cdef bint is_closed_behind(
    const uint8_t *place, const uint8_t *end, const uint8_t *name, size_t length
) noexcept:
    """Return whether text without tags stands at a place, and then the end tag of a name."""
    place = <const uint8_t *> memchr(place, c"<", end - place)
    return place != NULL and is_closed_at(place, end, name, length)


cdef bint begins(const uint8_t *place, const uint8_t *end, const char *name) noexcept:
    """Return whether a name in lower case stands at a place."""
    while name[0]:
        if place >= end or place[0] | 0x20 != <uint8_t> name[0]:
            return False
        place += 1
        name += 1
    return True


cdef bint has_text_of_table(const uint8_t *place, const uint8_t *end) noexcept:
    """Return whether a tag begins at a place behind which text of a table may stand, and text
    does."""
    cdef bint ends_element = place[0] == c"/"
    if ends_element:
        place += 1
        if place >= end:
            return False
        if not is_letter(place[0]):
            place += 1
        elif not (
            begins(place, end, "td") or begins(place, end, "th")
            or begins(place, end, "caption") or begins(place, end, "tr")
            or begins(place, end, "tbody") or begins(place, end, "tfoot")
            or begins(place, end, "table")
        ):
            return False
    elif place[0] != c"!" and place[0] != c"?" and not (
        begins(place, end, "tr") or begins(place, end, "tbody") or begins(place, end, "thead")
        or begins(place, end, "tfoot") or begins(place, end, "table")
        or begins(place, end, "input")
    ):
        return False
    while place < end and place[0] != c">":
        if place[0] == c"<":
            return False
        place += 1
    place += 1
    while place < end and (is_space(place[0]) or place[0] == 0x0B):
        place += 1
    return place < end and place[0] != c"<"


cdef size_t signs_of(const uint8_t *place, const uint8_t *end) noexcept:
    """Return how many brackets and equals signs there are, whose numbers follow each other."""
    cdef size_t count = 0
    while place < end:
        count += <uint8_t> (place[0] - c"<") <= 2
        place += 1
    return count


cdef const uint8_t *comment_end(const uint8_t *place, const uint8_t *end) noexcept:
    """Return the place behind a comment, as `limits._COMMENT_END` has it."""
    while place < end:
        place = <const uint8_t *> memchr(place, c">", end - place)
        if place == NULL:
            return end
        place += 1
        if memcmp(place - 3, b"--", 2) == 0 or memcmp(place - 4, b"--!", 3) == 0:
            return place
    return end


cdef const uint8_t *raw_text_end(
    const uint8_t *place, const uint8_t *end, const uint8_t *name, size_t length
) noexcept:
    """Return the place of the end tag of a raw text."""
    while place < end:
        place = <const uint8_t *> memchr(place, c"<", end - place)
        if place == NULL:
            return end
        if is_closed_at(place, end, name, length):
            return place
        place += 1
    return end


cdef class Marks:
    """Short texts of ASCII, in lower case, that are searched for or compared together."""

    cdef tuple texts  # in order, so that those with the same first letter follow each other
    cdef uint8_t first[256]  # the number of the first text with a letter, from 1 on

    def __cinit__(self, tuple texts):
        self.texts = tuple(sorted(texts))
        for place in range(256):
            self.first[place] = 0
        if len(texts) > 255:
            raise ValueError("there may be up to 255 marks")
        for place in range(len(texts), 0, -1):
            self.first[self.texts[place - 1][0]] = place

    cdef bint are_in(self, Bytes *value, bint any_case) except -1:
        """Return whether a value holds one of the texts; in any case, one beyond ASCII may."""
        cdef size_t place, length, which, count = len(self.texts)
        cdef uint8_t letter
        cdef bytes text
        if value == NULL or value.data == NULL:
            return False
        for place in range(value.length):
            letter = value.data[place]
            if any_case:
                if letter >= 0x80:
                    return True
                if c"A" <= letter <= c"Z":
                    letter |= 0x20
            which = self.first[letter]
            if which == 0:
                continue
            while which <= count:
                text = <bytes> self.texts[which - 1]
                if <uint8_t> PyBytes_AS_STRING(text)[0] != letter:
                    break
                length = PyBytes_GET_SIZE(text)
                if length <= value.length - place and same(
                    value.data + place, PyBytes_AS_STRING(text), length, any_case
                ):
                    return True
                which += 1
        return False

    cdef size_t name_at(self, const uint8_t *place, const uint8_t *end) except? 0:
        """Return the length of the name at a place that is one of the texts; 0 for others."""
        cdef size_t length, which = self.first[place[0] | 0x20], count = len(self.texts)
        cdef bytes text
        while 0 < which <= count:
            text = <bytes> self.texts[which - 1]
            if <uint8_t> PyBytes_AS_STRING(text)[0] != place[0] | 0x20:
                break
            length = PyBytes_GET_SIZE(text)
            if (
                <size_t> (end - place) > length and ends_name(place[length])
                and same(place, PyBytes_AS_STRING(text), length, True)
            ):
                return length
            which += 1
        return 0


cdef class Survey:
    """Sees for most pages that they are within the limits, as `limits.within_limits` does."""

    cdef Marks formats, raw_texts
    cdef size_t max_tag, max_closed, max_signs, max_attributes, max_readings

    def __cinit__(self, *, tuple formats, tuple raw_texts, dict limits):
        """Take the names of formatting elements and of those whose text has no tags."""
        self.formats, self.raw_texts = Marks(formats), Marks(raw_texts)
        self.max_tag, self.max_closed = limits["tag"], limits["closed"]
        self.max_signs, self.max_attributes = limits["signs"], limits["attributes"]
        self.max_readings = limits["readings"]

    def run(self, bytes html):
        """Return what decides whether a page is within the limits, or None where Python must look.

        These are the numbers of "<", of start tags, of end tags and of texts that may stand in a
        table; of formatting elements that aren't closed behind their text, and of their attributes;
        and the places of such names in tags that are longer than `max_tag`. An end tag is looked
        for in `max_closed` bytes. A page in which a tag has too many attributes is left to Python.
        """
        cdef const uint8_t *start = <const uint8_t *> PyBytes_AS_STRING(html)
        cdef const uint8_t *end = start + PyBytes_GET_SIZE(html)
        cdef const uint8_t *place = start
        cdef const uint8_t *token = start  # the end of the last token: no other begins before
        cdef const uint8_t *limit
        cdef const uint8_t *behind
        cdef size_t marks = 0, opening = 0, ending = 0, in_table = 0, opened = 0, attributes = 0
        cdef size_t count, length, left = self.max_readings * <size_t> (end - start)
        cdef list unclear = []
        cdef bint has_table = False
        if end - start < 3:
            return None
        if <size_t> (end - start) > self.max_signs and signs_of(start, end) > self.max_signs:
            return None
        while True:
            place = <const uint8_t *> memchr(place, c"<", end - place)
            if place == NULL or end - place < 3:
                break
            place += 1
            if place > token:
                token = self.token_end(place, end)
                if token == NULL:
                    return None
            marks += 1
            in_table += has_text_of_table(place, end)
            has_table = has_table or begins(place, end, "table")
            if place[0] == c"/":
                ending += 1
                continue
            if not is_letter(place[0]):
                continue
            opening += 1
            length = self.formats.name_at(place, end)
            if length == 0:
                continue
            limit = place - 1 + min(<size_t> (end - place) + 1, self.max_tag)
            count = 0
            behind = tag_end(place, limit, &count)
            left -= min(left, <size_t> ((limit if behind == NULL else behind) - place))
            if not left:
                return None
            if behind == NULL:
                unclear.append(place - start)
                continue
            limit = place + min(<size_t> (end - place), self.max_closed)
            if behind >= limit or not is_closed_behind(behind, limit, place, length):
                opened += 1
                attributes += count
        if not has_table:
            in_table = 0
        return marks, opening, ending, in_table, opened, attributes, unclear

    cdef const uint8_t *token_end(self, const uint8_t *place, const uint8_t *end) except? NULL:
        """Return the place behind the comment, tag or raw text that begins before a place; NULL for
        a tag with too many attributes."""
        cdef const uint8_t *behind
        cdef size_t count = 0, length
        if end - place > 2 and place[0] == c"!" and place[1] == c"-" and place[2] == c"-":
            return comment_end(place + 3, end)
        if not is_letter(place[1] if place[0] == c"/" else place[0]):
            if place[0] != c"!" and place[0] != c"?" and place[0] != c"/":
                return place
            behind = <const uint8_t *> memchr(place, c">", end - place)
            return end if behind == NULL else behind + 1
        behind = tag_end(place, end, &count)
        if count > self.max_attributes:
            return NULL
        if behind == NULL:
            return end
        length = 0 if place[0] == c"/" else self.raw_texts.name_at(place, end)
        return behind if length == 0 else raw_text_end(behind, end, place, length)


# --- The walk ------------------------------------------------------------------------------------


cdef struct Entered:
    Node *node
    uint8_t step


cdef struct Columns:
    Text text
    Numbers owners, removed, removed_from, tags, images, breaks
    Numbers parents, tag_numbers, depths, ends
    Entered *stack
    size_t depth, room


cdef int enter(Columns *columns, Node *node, uint8_t step) except -1:
    cdef size_t room
    cdef Entered *stack
    if columns.depth == columns.room:
        room = 2 * columns.room + 64
        stack = <Entered *> realloc(columns.stack, room * sizeof(Entered))
        if stack == NULL:
            raise MemoryError
        columns.stack = stack
        columns.room = room
    columns.stack[columns.depth].node = node
    columns.stack[columns.depth].step = step
    columns.depth += 1
    return 0


cdef void release(Columns *columns) noexcept:
    free(columns.text.items)
    free(columns.owners.items)
    free(columns.removed.items)
    free(columns.removed_from.items)
    free(columns.tags.items)
    free(columns.images.items)
    free(columns.breaks.items)
    free(columns.parents.items)
    free(columns.tag_numbers.items)
    free(columns.depths.items)
    free(columns.ends.items)
    free(columns.stack)


cdef enum:
    STEPS = 16

cdef enum:
    CLASS, IDENTITY, ITEMPROP, ROLE, HIDDEN, ARIA_HIDDEN, STYLE, NAMES
    REL = NAMES
    HREF, TYPE, READ
STEPS_OF_WALK = STEPS
# In the order of the numbers above; the walk reads the first of them, metadata all but some.
ATTRIBUTES = (
    "class", "id", "itemprop", "role", "hidden", "aria-hidden", "style", "rel", "href", "type",
    "content", "datetime", "http-equiv", "name", "property", "pubdate",
)


cdef struct Named:
    size_t start
    uint16_t lengths[HIDDEN]  # of class, id, itemprop and role, which follow each other
    uint8_t has_more, is_hidden


cdef class Names:
    """What names the elements of a page, as bytes that become texts where Python asks for them."""

    cdef Named *items
    cdef size_t size, room
    cdef Text text

    def __dealloc__(self):
        free(self.items)
        free(self.text.items)

    cdef Named *new(self) except NULL:
        cdef size_t room
        cdef Named *items
        if self.size == self.room:
            room = 2 * self.room + 256
            items = <Named *> realloc(self.items, room * sizeof(Named))
            if items == NULL:
                raise MemoryError
            self.items, self.room = items, room
        self.size += 1
        self.items[self.size - 1] = Named(self.text.size, [0, 0, 0, 0], 0, 0)
        return &self.items[self.size - 1]

    cdef int add(self, Named *named, int which, Bytes *value, size_t max_name) except -1:
        cdef size_t length
        if value == NULL or value.data == NULL:
            return 0
        length = beginning_of(value.data, value.length, max_name)
        if not is_sequences(value.data, length):
            raise LayoutError("a name isn't UTF-8")
        put(&self.text, value.data, length)
        named.lengths[which] = <uint16_t> length
        return 0

    def __call__(self, size_t element):
        """Return what names an element, as `blocks.names_of` does."""
        cdef Named *named
        cdef const uint8_t *place
        cdef int which
        cdef list values = []
        if element >= self.size:
            raise IndexError("there is no such element")
        named = &self.items[element]
        place = self.text.items + named.start
        for which in range(HIDDEN):
            values.append(decoded(place, named.lengths[which]) if named.lengths[which] else "")
            place += named.lengths[which]
        if not named.has_more:
            return values[0] or None
        return (*values, named.is_hidden != 0)


cdef class NamedElements:
    """What names some elements, behind a row for none."""

    cdef Names names
    cdef const int64_t[::1] elements

    def __cinit__(self, Names names, const int64_t[::1] elements):
        for element in elements:
            if not 0 <= element < <int64_t> names.size:
                raise IndexError("there is no such element")
        self.names, self.elements = names, elements

    def __len__(self):
        return len(self.elements) + 1

    def __getitem__(self, Py_ssize_t row):
        if not 0 <= row <= len(self.elements):
            raise IndexError("there is no such row")
        return self.names(self.elements[row - 1]) if row else None

    def __reduce__(self):
        return list, (list(self),)


def named_by(names, const int64_t[::1] elements):
    """Return what names some elements, behind None."""
    if isinstance(names, Names):
        return NamedElements(names, elements)
    return [None, *map(names, elements)]


cdef NamedElements named_elements(elements):
    """Return what names elements, of which the first is none, as bytes."""
    cdef Names names = Names.__new__(Names)
    cdef Named *named
    cdef int which
    if isinstance(elements, NamedElements):
        return elements
    if elements[0] is not None:
        raise ValueError("the first row is that of no element")
    for each in elements[1:]:
        named = names.new()
        values = (each,) if isinstance(each, str) else each or ()
        for which, value in enumerate(values[:HIDDEN]):
            encoded = value.encode("utf-8", "replace")[:UINT16_MAX]
            put(&names.text, encoded, len(encoded))
            named.lengths[which] = <uint16_t> len(encoded)
        named.has_more = len(values) > HIDDEN
        named.is_hidden = named.has_more and values[HIDDEN]
    return NamedElements(names, memoryview(array("q", range(names.size))))


cdef class Walk:
    """Merges the text of pages into blocks, as `blocks.read_blocks` does."""

    cdef uint8_t steps[KNOWN]
    cdef uint8_t paragraph_like[KNOWN]
    cdef uint8_t opening[STEPS]
    cdef uint8_t closing[STEPS]
    cdef uintptr_t numbers[NAMES]
    cdef uint8_t prune, boundary, link, line_break, read, passed, through, end_of_block
    cdef size_t image, paragraph_break, max_blocks, max_block, max_text, max_name
    cdef object beginning

    def __cinit__(self, *, bytes steps, bytes paragraph_like, bytes opening, bytes closing,
                  dict step, dict limits, dict attributes, object beginning):
        """Take the tables of a profile: the step at each tag, what the tags of removed elements
        become, and Lexbor's numbers for the attributes that it knows (0 for others)."""
        if len(steps) != KNOWN or len(paragraph_like) != KNOWN:
            raise ValueError("tables of tags are of another size")
        if len(opening) != STEPS or len(closing) != STEPS or max(steps) >= STEPS:
            raise ValueError("tables of steps are of another size")
        memcpy(self.steps, PyBytes_AS_STRING(steps), KNOWN)
        memcpy(self.paragraph_like, PyBytes_AS_STRING(paragraph_like), KNOWN)
        memcpy(self.opening, PyBytes_AS_STRING(opening), STEPS)
        memcpy(self.closing, PyBytes_AS_STRING(closing), STEPS)
        for place, name in enumerate(ATTRIBUTES[:NAMES]):
            self.numbers[place] = attributes[name]
        self.prune, self.boundary, self.link = step["prune"], step["boundary"], step["link"]
        self.line_break, self.read = step["line_break"], step["read"]
        self.passed, self.through = step["pass"], step["through"]
        if max(step.values()) >= STEPS:
            raise ValueError("a step is unknown")
        self.end_of_block = 0
        self.image, self.paragraph_break = limits["image"], limits["paragraph_break"]
        self.max_blocks, self.max_block = limits["max_blocks"], limits["max_block"]
        self.max_text, self.max_name = limits["max_text"], limits["max_name"]
        if self.max_name > 10_000:
            raise ValueError("names may have up to 10,000 characters")
        self.beginning = beginning

    def run(self, uintptr_t address):
        """Walk over the tree of a node in document order, and return the columns of the blocks, or
        None where Python must read the page."""
        cdef Columns columns
        cdef Names names = Names.__new__(Names)
        columns = Columns(
            text=Text(NULL, 0, 0), owners=Numbers(NULL, 0, 0), removed=Numbers(NULL, 0, 0),
            removed_from=Numbers(NULL, 0, 0), tags=Numbers(NULL, 0, 0),
            images=Numbers(NULL, 0, 0), breaks=Numbers(NULL, 0, 0), parents=Numbers(NULL, 0, 0),
            tag_numbers=Numbers(NULL, 0, 0), depths=Numbers(NULL, 0, 0), ends=Numbers(NULL, 0, 0),
            stack=NULL, depth=0, room=0,
        )
        try:
            if not self.walk(<Node *> address, &columns, names):
                return None
            raw = self.texts(&columns)
            return (
                tuple(raw), taken(&columns.owners), taken(&columns.removed),
                taken(&columns.removed_from), taken(&columns.tags), taken(&columns.images),
                flags_of(&columns.breaks), taken(&columns.parents), taken(&columns.tag_numbers),
                taken(&columns.depths), taken(&columns.ends), names,
            )
        except (LayoutError, UnicodeDecodeError):
            return None
        finally:
            release(&columns)

    cdef int add_block(self, Columns *columns, int64_t owner, int64_t tags, int64_t images,
                       bint after_break) except -1:
        push(&columns.owners, owner)
        push(&columns.tags, tags)
        push(&columns.images, images)
        push(&columns.removed_from, <int64_t> columns.removed.size)
        push(&columns.breaks, after_break)
        put(&columns.text, &self.end_of_block, 1)
        return 0

    cdef int add_element(self, Columns *columns, Node *node, int64_t parent, int64_t depth,
                         Names names) except -1:
        push(&columns.parents, parent)
        push(&columns.tag_numbers, <int64_t> min(node.local_name, <uintptr_t> KNOWN))
        push(&columns.depths, depth)
        push(&columns.ends, 0)
        self.add_names(node, names)
        return 0

    cdef bint walk(self, Node *node, Columns *columns, Names names) except -1:
        cdef int64_t owner = 0, tags = 0, images = 0
        cdef size_t breaks = 0, length
        cdef bint has_text = False, after_break = False
        cdef uint8_t step
        cdef uintptr_t tag
        cdef const uint8_t *data
        push(&columns.removed_from, 0)
        self.add_element(columns, node, -1, 0, names)
        node = node.first_child
        while (node != NULL or columns.depth) and columns.owners.size < self.max_blocks:
            if node == NULL:
                columns.depth -= 1
                node = columns.stack[columns.depth].node
                step = columns.stack[columns.depth].step
                if step == self.boundary:
                    if has_text:
                        self.add_block(columns, owner, tags, images, after_break)
                    has_text = after_break = False
                    breaks = 0
                    columns.ends.items[owner] = <int64_t> columns.parents.size
                    owner = columns.parents.items[owner]
                elif (has_text or step == self.link) and self.closing[step]:
                    put(&columns.text, &self.closing[step], 1)
                node = node.next
                continue
            tag = node.local_name
            if tag < KNOWN:
                step = self.steps[tag]
            elif self.is_paragraph_like(columns.tag_numbers.items[owner]):
                step = self.through
            else:
                step = self.boundary
            if step == self.read:
                if node.type == TEXT_NODE:
                    data = (<TextNode *> node).data.data
                    length = (<TextNode *> node).data.length
                    if data != NULL and length:
                        if data[0] & 0xC0 == 0x80:
                            return False
                        if has_text or not is_blank(data, length):
                            put(&columns.text, data, length)
                            has_text = True
                            if breaks and not is_blank(data, length):
                                breaks = 0
            elif step == self.prune:
                tags += 2
                images += tag == self.image
            elif step != self.passed:
                tags += 2
                if step == self.boundary:
                    if has_text:
                        self.add_block(columns, owner, tags, images, after_break)
                    has_text = after_break = False
                    breaks = 0
                    self.add_element(
                        columns, node, owner, <int64_t> columns.depth + 1, names
                    )
                    owner = <int64_t> columns.parents.size - 1
                elif step != self.through:
                    push(&columns.removed, <int64_t> min(tag, <uintptr_t> KNOWN))
                    if (has_text or step == self.link) and self.opening[step]:
                        put(&columns.text, &self.opening[step], 1)
                    if step == self.line_break:
                        breaks += 1
                        if breaks == self.paragraph_break:
                            if has_text:
                                self.add_block(columns, owner, tags, images, after_break)
                            has_text = False
                            after_break = True
                enter(columns, node, step)
                node = node.first_child
                continue
            node = node.next
        if has_text:
            self.add_block(columns, owner, tags, images, after_break)
        while owner >= 0:  # still open, where the walk has stopped at the limit
            columns.ends.items[owner] = <int64_t> columns.parents.size
            owner = columns.parents.items[owner]
        return True

    cdef bint is_paragraph_like(self, int64_t tag) noexcept:
        return 0 <= tag < KNOWN and self.paragraph_like[tag]

    cdef list texts(self, Columns *columns):
        """Return the texts of the blocks, and leave out the blocks beyond the limits."""
        cdef list texts = []
        cdef uint8_t *place = columns.text.items
        cdef uint8_t *end = place + columns.text.size
        cdef uint8_t *stop
        cdef int64_t left = <int64_t> self.max_text
        cdef size_t length, count
        cdef bint is_long = False
        if columns.text.size > self.max_block:
            is_long = characters(place, columns.text.size) > self.max_block
        while place < end and <size_t> len(texts) < columns.owners.size:
            if is_long and left <= 0:
                break
            stop = <uint8_t *> memchr(place, self.end_of_block, end - place)
            if stop == NULL:
                stop = end
            length = stop - place
            if is_long:
                count = characters(place, length)
                if count > self.max_block:
                    text = self.beginning(decoded(place, length))
                    left -= len(text)
                    texts.append(" ".join(text.split()))
                    place = stop + 1
                    continue
                left -= count
            texts.append(decoded(place, squeeze(place, length)))
            place = stop + 1
        columns.owners.size = columns.breaks.size = len(texts)
        columns.tags.size = columns.images.size = len(texts)
        columns.removed_from.size = len(texts) + 1
        differences(&columns.tags)
        differences(&columns.images)
        return texts

    cdef int add_names(self, Node *node, Names names) except -1:
        """Add what names an element: its class, and more where it has more."""
        cdef Named *named = names.new()
        cdef Attribute *attribute
        cdef Bytes *values[NAMES]
        cdef int which
        if node.type != ELEMENT_NODE:
            return 0
        attribute = (<Element *> node).first_attribute
        if attribute == NULL:
            return 0
        for which in range(NAMES):
            values[which] = NULL
        while attribute != NULL:
            which = self.which(attribute)
            if which < NAMES:
                values[which] = attribute.value
                named.has_more |= which != CLASS
                named.is_hidden |= which == HIDDEN
            attribute = attribute.next
        for which in range(HIDDEN if named.has_more else IDENTITY):
            names.add(named, which, values[which], self.max_name)
        named.is_hidden |= is_true(values[ARIA_HIDDEN]) or hides_element(values[STYLE])
        return 0

    cdef int which(self, Attribute *attribute) except -1:
        """Return which of `ATTRIBUTES` one is; their number for another one."""
        cdef uintptr_t number = attribute.qualified_name or attribute.node.local_name
        cdef int place
        cdef Name *name
        if number < KNOWN:
            for place in range(NAMES):
                if self.numbers[place] == number and number:
                    return place
            return NAMES
        name = name_of(attribute)
        if name.length == 4 and memcmp(name.text, b"role", 4) == 0:
            return ROLE
        if name.length == 8 and memcmp(name.text, b"itemprop", 8) == 0:
            return ITEMPROP
        if name.length == 6 and memcmp(name.text, b"hidden", 6) == 0:
            return HIDDEN
        if name.length == 11 and memcmp(name.text, b"aria-hidden", 11) == 0:
            return ARIA_HIDDEN
        return NAMES


cdef void differences(Numbers *numbers) noexcept:
    """Make sums up to each place the numbers of each place."""
    cdef size_t place
    for place in range(numbers.size, 1, -1):
        numbers.items[place - 1] -= numbers.items[place - 2]


cdef bint is_true(Bytes *value) noexcept:
    return (
        value != NULL and value.data != NULL and value.length == 4
        and memcmp(value.data, b"true", 4) == 0
    )


cdef bint hides_element(Bytes *value) noexcept:
    return value != NULL and value.data != NULL and hides(value.data, value.length)


# --- Metadata ------------------------------------------------------------------------------------

TAGS_OF_METADATA = ("meta", "title", "h1", "link", "script", "time", "a")


cdef class Markup:
    """Finds what metadata is read from; its tables come from Python."""

    cdef dict names  # of attributes, by the parser's numbers
    cdef frozenset naming  # the attributes that name METAs
    cdef frozenset metas
    cdef frozenset others  # names of attributes that the parser doesn't know
    cdef uintptr_t numbers[READ]
    cdef uint8_t skipped[KNOWN]
    cdef uintptr_t meta, title, heading, link, script, time, anchor
    cdef uint8_t lesser[KNOWN]
    cdef Marks marks, hints, properties, addresses, titles

    def __cinit__(self, *, dict attributes, bytes skipped, bytes lesser, dict tags, dict marks,
                  frozenset metas, frozenset naming):
        """Take Lexbor's numbers for the attributes that it knows (0 for others), for each tag
        whether what stands in it is passed over, and whether it is a lesser heading, tags, and the
        parts of attributes that mark bylines and dates: of classes anywhere on a page; around a
        headline of classes and ids, of "itemprop" and "rel", and of the addresses of links; and the
        parts of classes that mark lesser headings; and the names of METAs that are read, and the
        attributes that name them."""
        if len(skipped) != KNOWN or len(lesser) != KNOWN:
            raise ValueError("tables of tags are of another size")
        memcpy(self.skipped, PyBytes_AS_STRING(skipped), KNOWN)
        memcpy(self.lesser, PyBytes_AS_STRING(lesser), KNOWN)
        self.names = {number: name for name, number in attributes.items() if number}
        self.others = frozenset(name for name, number in attributes.items() if not number)
        for place, name in enumerate(ATTRIBUTES[:READ]):
            self.numbers[place] = attributes[name]
        self.meta, self.title, self.heading = tags["meta"], tags["title"], tags["h1"]
        self.link, self.script = tags["link"], tags["script"]
        self.time, self.anchor = tags["time"], tags["a"]
        self.marks, self.hints = Marks(marks["anywhere"]), Marks(marks["hints"])
        self.properties, self.addresses = Marks(marks["properties"]), Marks(marks["addresses"])
        self.titles = Marks(marks["titles"])
        self.metas = metas
        self.naming = naming

    def head(self, tree, uintptr_t address, size_t most):
        """Return TITLEs, H1s, links to the canonical address, scripts of JSON-LD, and the names and
        contents of METAs of which anything is read among the first nodes of a tree, in document
        order."""
        cdef Node *top = <Node *> address
        cdef Node *node = top
        cdef list nodes = []
        cdef size_t metas = 0
        cdef uintptr_t tag
        while node != NULL and <size_t> len(nodes) + metas < most:
            tag = node.local_name
            if node.type == ELEMENT_NODE and tag == self.meta:
                meta = self.meta_of(node)
                metas += meta is None
                if meta is not None:
                    nodes.append(meta)
            elif node.type == ELEMENT_NODE and (
                tag == self.title or tag == self.heading
                or (tag == self.link and has_word(self.value_of(node, REL), b"canonical", 9, True))
                or (tag == self.script and holds(self.value_of(node, TYPE), b"ld+json", 7, True))
            ):
                nodes.append(self.node_of(tree, node))
            node = following(node, top)
        return nodes

    cdef tuple meta_of(self, Node *node):
        """Return the names of a META that are read, and its content; None where none is."""
        cdef Attribute *attribute = (<Element *> node).first_attribute
        cdef Bytes *value
        cdef uintptr_t number
        cdef str content = None, key, name
        cdef list names = []
        while attribute != NULL:
            value = attribute.value
            number = attribute.qualified_name or attribute.node.local_name
            if value != NULL and value.data != NULL:
                key = (
                    self.names.get(number) if number < KNOWN else text_of(name_of(attribute))
                )
                if key == "content":
                    content = replaced(value)
                elif key in self.naming:
                    name = replaced(value).strip().lower()
                    if name in self.metas:
                        names.append(name)
            attribute = attribute.next
        return (names, content) if names else None

    def marked(self, tree, uintptr_t address):
        """Return the elements that may be bylines or dates, in document order."""
        cdef Node *top = <Node *> address
        cdef Node *node = top
        cdef list nodes = []
        while node != NULL:
            if node.type == ELEMENT_NODE and (
                node.local_name == self.time
                or ((<Element *> node).first_attribute != NULL and self.is_marked(node))
            ):
                nodes.append(self.node_of(tree, node))
            node = following(node, top)
        return nodes

    cdef bint is_marked(self, Node *node) except -1:
        cdef Attribute *attribute = (<Element *> node).first_attribute
        cdef uintptr_t number
        while attribute != NULL:
            number = attribute.qualified_name or attribute.node.local_name
            if number == self.numbers[CLASS]:
                if self.marks.are_in(attribute.value, False):
                    return True
            elif number == self.numbers[HREF]:
                if node.local_name == self.anchor and holds(attribute.value, b"/author", 7, False):
                    return True
            elif number == self.numbers[REL]:
                if is_word(attribute.value, b"author", 6, True):
                    return True
            elif number >= KNOWN:
                if is_word(attribute.value, b"author", 6, False) and is_itemprop(attribute):
                    return True
            attribute = attribute.next
        return False

    def short_texts(
        self, uintptr_t address, Py_ssize_t most_characters, Py_ssize_t separator, size_t least,
        size_t most, const uint8_t[::1] openings,
    ):
        """Return the texts in a node that have `least` to `most` bytes besides blanks, and a first
        byte for which `openings` has a flag, up to a number of characters of all texts, to which
        each adds those of a separator. A text with U+0001 is returned whatever its first byte."""
        cdef Node *top = <Node *> address
        cdef Node *node = top
        cdef Bytes *data
        cdef list texts = []
        cdef size_t visible
        if len(openings) != 256:
            raise ValueError("a byte has 256 values")
        while node != NULL and most_characters > 0:
            if node.type == TEXT_NODE:
                data = &(<TextNode *> node).data
                if data.length >= least and (
                    openings[first_visible(data)] or memchr(data.data, 1, data.length) != NULL
                ):
                    visible = visible_bytes(data, most)
                    if least <= visible <= most:
                        texts.append(replaced(data)[:most_characters])
                most_characters -= separator + <Py_ssize_t> characters(data.data, data.length)
            node = following(node, top)
        return texts

    def lines(self, uintptr_t address, size_t most):
        """Return the beginning of the text in a node, in which texts are lines."""
        cdef Node *top = <Node *> address
        cdef Node *node = top
        cdef Bytes *data
        cdef Text text = Text(NULL, 0, 0)
        try:
            while node != NULL and text.size <= 4 * most:
                if node.type == TEXT_NODE:
                    data = &(<TextNode *> node).data
                    if data.data != NULL:
                        if text.size:
                            put(&text, b"\n", 1)
                        put(&text, data.data, data.length)
                node = following(node, top)
            if text.items == NULL:
                return ""
            whole = PyUnicode_DecodeUTF8(<char *> text.items, <Py_ssize_t> text.size, "replace")
            return whole[:most]
        finally:
            free(text.items)

    def lesser_headings(self, tree, uintptr_t address, size_t most):
        """Return the first elements that `metadata.page_signals` takes for lesser headings."""
        cdef Node *top = <Node *> address
        cdef Node *node = top
        cdef list nodes = []
        while node != NULL and <size_t> len(nodes) < most:
            if node.type == ELEMENT_NODE and (
                (node.local_name < KNOWN and self.lesser[node.local_name])
                or self.titles.are_in(self.value_of(node, CLASS), False)
            ):
                nodes.append(self.node_of(tree, node))
            node = following(node, top)
        return nodes

    def after(self, tree, uintptr_t address, Py_ssize_t most):
        """Return the nodes after an element, without its own, as `metadata.markup._after` does,
        that may be bylines or dates: their distances, themselves, their tags and texts."""
        cdef Node *node = <Node *> address
        cdef Node *child
        cdef list pieces = []
        cdef Py_ssize_t count
        for count in range(most):
            child = node.first_child if count and not self.is_skipped(node) else NULL
            while child == NULL:
                child = node.next
                if child == NULL:
                    if node.parent == NULL:
                        return pieces
                    node = node.parent
            node = child
            self.add_piece(pieces, tree, node, count)
        return pieces

    def before(self, tree, uintptr_t address, Py_ssize_t most):
        """Return such nodes before an element, as `metadata.markup._before` does."""
        cdef Node *node = <Node *> address
        cdef list pieces = []
        cdef Py_ssize_t count, distance = 0
        for count in range(most):
            if node.prev == NULL:
                if node.parent == NULL:
                    return pieces
                node = node.parent
                continue
            node = node.prev
            while not self.is_skipped(node) and node.last_child != NULL:
                self.add_piece(pieces, tree, node, distance)
                distance += 1
                node = node.last_child
            self.add_piece(pieces, tree, node, distance)
            distance += 1
        return pieces

    cdef bint is_skipped(self, Node *node) noexcept:
        return node.local_name < KNOWN and self.skipped[node.local_name]

    cdef int add_piece(self, list pieces, tree, Node *node, Py_ssize_t distance) except -1:
        cdef str text = ""
        cdef Bytes *data
        if node.type == TEXT_NODE:
            data = &(<TextNode *> node).data
            if data.data == NULL or is_blank(data.data, data.length):
                return 0
            text = replaced(data)
        elif node.type != ELEMENT_NODE or self.is_skipped(node) or not self.is_hinted(node):
            return 0
        pieces.append((distance, self.node_of(tree, node), node.local_name, text))
        return 0

    cdef bint is_hinted(self, Node *node) except -1:
        """Return whether an element may be read as a byline or date: each TIME, and those of which
        an attribute may hold a mark, whatever its case."""
        return (
            node.local_name == self.time
            or self.hints.are_in(self.value_of(node, CLASS), True)
            or self.hints.are_in(self.value_of(node, IDENTITY), True)
            or self.properties.are_in(self.value_of(node, ITEMPROP), True)
            or self.properties.are_in(self.value_of(node, REL), True)
            or (
                node.local_name == self.anchor
                and self.addresses.are_in(self.value_of(node, HREF), True)
            )
        )

    cdef TreeNode node_of(self, tree, Node *node):
        cdef TreeNode result = TreeNode.__new__(TreeNode)
        result.node, result.tree, result.markup = node, tree, self
        return result

    cdef Bytes *value_of(self, Node *node, int which) except? NULL:
        """Return the value of one of `ATTRIBUTES` that an element has."""
        cdef Attribute *attribute = (<Element *> node).first_attribute
        cdef uintptr_t number
        while attribute != NULL:
            number = attribute.qualified_name or attribute.node.local_name
            if number < KNOWN:
                if number == self.numbers[which] and number:
                    return attribute.value
            elif not self.numbers[which]:
                if which == ITEMPROP and is_itemprop(attribute):
                    return attribute.value
            attribute = attribute.next
        return NULL


cdef class TreeNode:
    """A node of a tree, which it keeps in memory: what metadata needs of `LexborNode`."""

    cdef Node *node
    cdef object tree
    cdef Markup markup
    cdef dict known_attributes

    @property
    def tag_id(self):
        return self.node.local_name

    @property
    def mem_id(self):
        return <uintptr_t> self.node

    @property
    def parent(self):
        return None if self.node.parent == NULL else self.markup.node_of(
            self.tree, self.node.parent
        )

    @property
    def first_child(self):
        return None if self.node.first_child == NULL else self.markup.node_of(
            self.tree, self.node.first_child
        )

    @property
    def next(self):
        return None if self.node.next == NULL else self.markup.node_of(self.tree, self.node.next)

    @property
    def text_content(self):
        return replaced(&(<TextNode *> self.node).data) if self.node.type == TEXT_NODE else None

    @property
    def attributes(self):
        """The attributes that metadata is read from, in their order."""
        cdef Attribute *attribute
        cdef Bytes *value
        cdef uintptr_t number
        if self.known_attributes is not None:
            return self.known_attributes
        self.known_attributes = {}
        if self.node.type != ELEMENT_NODE:
            return self.known_attributes
        attribute = (<Element *> self.node).first_attribute
        while attribute != NULL:
            number = attribute.qualified_name or attribute.node.local_name
            if number < KNOWN:
                name = self.markup.names.get(number)
            else:
                name = text_of(name_of(attribute))
                if name not in self.markup.others:
                    name = None
            if name is not None:
                value = attribute.value
                self.known_attributes[name] = (
                    replaced(value) if value != NULL and value.data != NULL else None
                )
            attribute = attribute.next
        return self.known_attributes

    def iter(self, bint include_text=False):
        """Return the children, of which all nodes are given only with texts."""
        cdef Node *child = self.node.first_child
        cdef list children = []
        while child != NULL:
            if include_text or child.type == ELEMENT_NODE:
                children.append(self.markup.node_of(self.tree, child))
            child = child.next
        return children

    def texts(self, Py_ssize_t most_nodes, Py_ssize_t most_characters):
        """Return the texts in a node, none where it has more nodes or characters."""
        cdef Node *node = self.node
        cdef list texts = []
        cdef Py_ssize_t count = 0, length = 0
        while node != NULL:
            if count > most_nodes:
                return []
            if node.type == TEXT_NODE and (<TextNode *> node).data.length:
                text = replaced(&(<TextNode *> node).data)
                length += len(text)
                if length > most_characters:
                    return []
                texts.append(text)
            count += 1
            node = following(node, self.node)
        return texts

    def text(self, bint strip=False):
        """Return all text in a node, where wanted each piece without the blanks around it."""
        cdef Node *node = self.node
        cdef list texts = []
        cdef str text
        while node != NULL:
            if node.type == TEXT_NODE:
                text = replaced(&(<TextNode *> node).data)
                texts.append(text.strip() if strip else text)
            node = following(node, self.node)
        return "".join(texts)

    def named(self):
        """Return the first element in this one that is a name; None without one."""
        cdef Node *node = self.node
        while node != NULL:
            if node.type == ELEMENT_NODE and (<Element *> node).first_attribute != NULL and (
                has_word(self.markup.value_of(node, ITEMPROP), b"name", 4, False)
                or has_word(self.markup.value_of(node, REL), b"author", 6, True)
            ):
                return self.markup.node_of(self.tree, node)
            node = following(node, self.node)
        return None


cdef Node *following(Node *node, Node *top) noexcept:
    """Return the next node below the top one in document order; NULL after the last."""
    if node.first_child != NULL:
        return node.first_child
    while node != top and node.next == NULL:
        node = node.parent
    return NULL if node == top else node.next


cdef uint8_t first_visible(Bytes *value) noexcept:
    """Return the first byte that is no white space, an ASCII letter in lower case; 0 without."""
    cdef const uint8_t *place = value.data
    cdef const uint8_t *end = place + value.length
    cdef size_t step
    while place < end:
        step = blank_at(place, end)
        if step == 0:
            return place[0] | 0x20 if c"A" <= place[0] <= c"Z" else place[0]
        place += step
    return 0


cdef size_t visible_bytes(Bytes *value, size_t most) noexcept:
    """Return the bytes that aren't white space, at least `most` + 1 where there are more."""
    cdef const uint8_t *place = value.data
    cdef const uint8_t *end = place + value.length
    cdef size_t count = 0, step
    while place < end and count <= most:
        step = blank_at(place, end)
        count += step == 0
        place += step or 1
    return count


cdef str replaced(Bytes *value):
    return PyUnicode_DecodeUTF8(<char *> value.data, <Py_ssize_t> value.length, "replace")


cdef bint same(const uint8_t *data, const char *word, size_t length, bint any_case) noexcept:
    cdef size_t place
    cdef uint8_t letter
    for place in range(length):
        letter = data[place]
        if any_case and c"A" <= letter <= c"Z":
            letter |= 0x20
        if letter != <uint8_t> word[place]:
            return False
    return True


cdef bint holds(Bytes *value, const char *word, size_t length, bint any_case) noexcept:
    """Return whether a value holds a word."""
    cdef size_t place
    if value == NULL or value.data == NULL or value.length < length:
        return False
    for place in range(value.length - length + 1):
        if value.data[place] | 0x20 == <uint8_t> word[0] | 0x20 and same(
            value.data + place, word, length, any_case
        ):
            return True
    return False


cdef bint is_word(Bytes *value, const char *word, size_t length, bint any_case) noexcept:
    """Return whether a value is a word."""
    return (
        value != NULL and value.data != NULL and value.length == length
        and same(value.data, word, length, any_case)
    )


cdef bint has_word(Bytes *value, const char *word, size_t length, bint any_case) noexcept:
    """Return whether a word is one of those of a value, which blanks separate."""
    cdef size_t place
    if value == NULL or value.data == NULL or value.length < length:
        return False
    for place in range(value.length - length + 1):
        if (
            (place == 0 or is_space(value.data[place - 1]))
            and (place + length == value.length or is_space(value.data[place + length]))
            and same(value.data + place, word, length, any_case)
        ):
            return True
    return False


# --- Words ---------------------------------------------------------------------------------------


cdef enum:
    PLANE = 0x10000
    AHEAD = 8  # words whose cells are fetched before they are looked up
    FEW_BITS = 17  # 16 KB, which stay in the nearest cache, while cells lie far apart


cdef inline size_t few_of(uint64_t number) noexcept:
    return number >> 24 & ((1 << FEW_BITS) - 1)


cdef struct Cell:
    uint64_t number
    int64_t value


cdef class WordCells:
    """The cells of a `tokens.WordTable`, looked up as there."""

    cdef Cell *cells
    cdef uint64_t second
    cdef int bits
    cdef uint8_t few[1 << FEW_BITS >> 3]  # a bit for each word: most unknown words have none

    def __cinit__(self, dict cells, uint64_t second):
        cdef const uint64_t[::1] numbers = cells["numbers"]
        cdef const int64_t[::1] values = cells["values"]
        cdef size_t cell
        self.bits, self.second = cells["bits"], second
        if not 1 <= self.bits <= 30:
            raise ValueError("tables of words are of another size")
        if len(numbers) != 1 << self.bits or len(values) != 1 << self.bits:
            raise ValueError("tables of words are of another size")
        self.cells = <Cell *> malloc(sizeof(Cell) << self.bits)
        if self.cells == NULL:
            raise MemoryError
        for cell in range(<size_t> 1 << self.bits):
            self.cells[cell] = Cell(numbers[cell], values[cell])
            self.few[few_of(numbers[cell]) >> 3] |= 1 << (few_of(numbers[cell]) & 7)

    def __dealloc__(self):
        free(self.cells)

    cdef bint may_hold(self, uint64_t number) noexcept:
        return self.few[few_of(number) >> 3] >> (few_of(number) & 7) & 1

    cdef void fetch(self, uint64_t number) noexcept:
        """Fetch a word's cell into the cache."""
        if self.may_hold(number):
            fetch(&self.cells[number >> (64 - self.bits)])

    cdef int64_t value_of(self, uint64_t number, size_t limit) noexcept:
        """Return the value of a word; 0 for an unknown word and for a value outside the limit."""
        cdef Cell *cell
        if not self.may_hold(number):
            return 0
        cell = &self.cells[number >> (64 - self.bits)]
        if cell.number != number:
            cell = &self.cells[(number * self.second) >> (64 - self.bits)]
        if cell.number != number:
            return 0
        return cell.value if 0 <= cell.value and <size_t> cell.value < limit else 0


cdef class Counter:
    """Counts the words and characters of blocks, as `tokens.count` does."""

    cdef uint8_t classes[PLANE]
    cdef uint8_t in_words[PLANE]
    cdef uint16_t lower[PLANE]
    cdef WordCells cells
    cdef bytes flags
    cdef uint64_t base
    cdef uint8_t joins, alone
    cdef size_t languages, width, sets, sentence_end
    cdef uint32_t link_start, link_end, end_of_block

    def __cinit__(self, *, bytes classes, bytes in_words, bytes lower, dict table, bytes flags,
                  dict numbers):
        """Take the tables of characters, the cells of the table of stop words, and for each of its
        sets a flag for each language."""
        if len(classes) != PLANE or len(in_words) != PLANE or len(lower) != 2 * PLANE:
            raise ValueError("tables of characters are of another size")
        memcpy(self.classes, PyBytes_AS_STRING(classes), PLANE)
        memcpy(self.in_words, PyBytes_AS_STRING(in_words), PLANE)
        memcpy(self.lower, PyBytes_AS_STRING(lower), 2 * PLANE)
        self.cells = WordCells(table, numbers["second"])
        self.flags = flags
        self.base = numbers["base"]
        self.joins, self.alone = numbers["joins"], numbers["alone"]
        self.languages, self.width = numbers["languages"], numbers["width"]
        self.link_start, self.link_end = numbers["link_start"], numbers["link_end"]
        self.end_of_block, self.sentence_end = numbers["end_of_block"], numbers["sentence_end"]
        if self.sentence_end >= self.width or not self.languages or max(classes) >= self.width:
            raise ValueError("tables of words are of another size")
        self.sets = PyBytes_GET_SIZE(flags) // self.languages

    def count(self, tuple raw):
        """Return the columns of `tokens.Tokens`; None where a block has a NUL."""
        cdef Numbers numbers = Numbers(NULL, 0, 0)
        cdef Numbers starts = Numbers(NULL, 0, 0)
        cdef Numbers ends = Numbers(NULL, 0, 0)
        cdef size_t blocks = len(raw), block
        cdef bytearray words = bytearray(8 * blocks), linked = bytearray(8 * blocks)
        cdef bytearray letters = bytearray(8 * blocks), sentences = bytearray(8 * blocks)
        cdef bytearray word_from = bytearray(8 * (blocks + 1))
        cdef int64_t *sentences_of = <int64_t *> PyByteArray_AS_STRING(sentences)
        cdef int64_t *first_word = <int64_t *> PyByteArray_AS_STRING(word_from)
        cdef bytearray chars = bytearray(8 * blocks * self.width)
        cdef bytearray stops = bytearray(8 * blocks * self.languages)
        cdef int64_t *of_block[5]
        cdef int64_t depth = 0, place = 0
        cdef str text
        of_block[0] = <int64_t *> PyByteArray_AS_STRING(words)
        of_block[1] = <int64_t *> PyByteArray_AS_STRING(linked)
        of_block[2] = <int64_t *> PyByteArray_AS_STRING(letters)
        of_block[3] = <int64_t *> PyByteArray_AS_STRING(chars)
        of_block[4] = <int64_t *> PyByteArray_AS_STRING(stops)
        try:
            for block in range(blocks):
                text = raw[block]
                if not self.count_block(
                    text, of_block, &depth, place, &numbers, &starts, &ends
                ):
                    return None
                place += len(text) + 1
                sentences_of[block] = max(of_block[3][self.sentence_end], of_block[0][0] > 0)
                first_word[block + 1] = <int64_t> numbers.size
                of_block[0] += 1
                of_block[1] += 1
                of_block[2] += 1
                of_block[3] += self.width
                of_block[4] += self.languages
            return (
                words, linked, letters, chars, stops, sentences, word_from, taken(&numbers),
                taken(&starts), taken(&ends),
            )
        finally:
            free(numbers.items)
            free(starts.items)
            free(ends.items)

    cdef int count_block(self, str text, int64_t **of_block, int64_t *depth, int64_t first,
                         Numbers *numbers, Numbers *starts, Numbers *ends) except -1:
        """Count the words and characters of a block; return whether it has no NUL."""
        cdef int kind = PyUnicode_KIND(text)
        cdef void *data = PyUnicode_DATA(text)
        cdef Py_ssize_t length = PyUnicode_GET_LENGTH(text)
        cdef Py_ssize_t place, start = -1
        cdef uint64_t number = 0, power = 0
        cdef uint32_t code
        cdef uint8_t role
        for place in range(length + 1):
            code = PyUnicode_READ(kind, data, place) if place < length else self.end_of_block
            if code >= PLANE:
                code = PLANE - 1
            of_block[3][self.classes[code]] += 1
            role = self.in_words[code]
            if role == self.joins:
                if start < 0:
                    start = place
                    number = 0
                    power = self.base
                number += self.lower[code] * power
                power *= self.base
                continue
            if start >= 0:
                self.add_word(number, of_block, depth[0])
                push(numbers, <int64_t> number)
                push(starts, first + start)
                push(ends, first + place)
                of_block[2][0] += place - start
                start = -1
            if role == self.alone:
                number = self.lower[code] * self.base
                self.add_word(number, of_block, depth[0])
                push(numbers, <int64_t> number)
                push(starts, first + place)
                push(ends, first + place + 1)
                of_block[2][0] += 1
            elif code == self.link_start:
                depth[0] += 1
            elif code == self.link_end:
                depth[0] -= 1
            elif code == self.end_of_block and place < length:
                return 0
        return 1

    cdef void add_word(self, uint64_t number, int64_t **of_block, int64_t depth) noexcept:
        """Count a word: in its block, in links, and for each language of which it is a stop
        word."""
        cdef int64_t members = self.cells.value_of(number, self.sets)
        cdef const uint8_t *flags
        cdef size_t language
        of_block[0][0] += 1
        of_block[1][0] += depth > 0
        if members:
            flags = <const uint8_t *> PyBytes_AS_STRING(self.flags) + members * self.languages
            for language in range(self.languages):
                of_block[4][language] += flags[language]


# --- Names of elements ---------------------------------------------------------------------------

cdef enum:
    MAX_WORDS = 32


cdef struct Word:
    const uint8_t *letters  # in the name; the first may be a capital one
    size_t length
    uint64_t number


cdef uint64_t hash_of(const uint8_t *data, size_t length, uint64_t number) noexcept:
    """Return the hash of ASCII letters in lower case, behind those that gave a number."""
    cdef size_t place
    cdef uint8_t letter
    for place in range(length):
        letter = data[place]
        if c"A" <= letter <= c"Z":
            letter |= 0x20
        number = (number ^ letter) * 0x100000001B3ULL  # FNV-1a
    return number


cdef uint64_t NO_LETTERS = 0xCBF29CE484222325ULL


cdef class NameVectors:
    """Sums the vectors of the words that name elements, as `classifier.NameVectors` does."""

    cdef bytes letters, table
    cdef dict rows
    cdef uint32_t *cells  # a row of the table, 0 for none
    cdef int64_t *starts  # where the word of a row begins among the letters
    cdef size_t mask, width, words, max_hints, count
    cdef uint64_t of_class
    cdef Word words_of_name[2 * MAX_WORDS]

    def __cinit__(self, *, list words, bytes table, size_t width, size_t max_hints):
        """Take the words, and a vector for each behind that of unknown words; words of classes and
        ids begin with "c:"."""
        cdef size_t row, cell
        cdef list encoded = [word.encode() for word in words]
        if not 0 < max_hints <= MAX_WORDS or not width:
            raise ValueError("there may be up to 32 words")
        if PyBytes_GET_SIZE(table) != <Py_ssize_t> (4 * width * (len(words) + 1)):
            raise ValueError("words and vectors are of other numbers")
        self.rows = {word: row for row, word in enumerate(words, start=1)}
        self.letters, self.table = b"".join(encoded), table
        self.words, self.width, self.max_hints = len(words), width, max_hints
        self.of_class = hash_of(b"c:", 2, NO_LETTERS)
        self.mask = (1 << (4 * self.words + 16).bit_length()) - 1
        self.cells = <uint32_t *> malloc((self.mask + 1) * sizeof(uint32_t))
        self.starts = <int64_t *> malloc((self.words + 2) * sizeof(int64_t))
        if self.cells == NULL or self.starts == NULL:
            raise MemoryError
        for cell in range(self.mask + 1):
            self.cells[cell] = 0
        self.starts[0] = self.starts[1] = 0
        for row in range(self.words):
            self.starts[row + 2] = self.starts[row + 1] + <int64_t> len(encoded[row])
        for row in range(1, self.words + 1):
            cell = self.hash_of_row(row) & self.mask
            while self.cells[cell]:
                cell = (cell + 1) & self.mask
            self.cells[cell] = <uint32_t> row

    def __dealloc__(self):
        free(self.cells)
        free(self.starts)

    cdef uint64_t hash_of_row(self, size_t row) noexcept:
        cdef const uint8_t *letters = <const uint8_t *> PyBytes_AS_STRING(self.letters)
        return hash_of(
            letters + self.starts[row], self.starts[row + 1] - self.starts[row], NO_LETTERS
        )

    cdef int64_t row_of(self, Word *word, const char *prefix) noexcept:
        """Return the row of a word behind "c:" or the like; 0 for an unknown word."""
        cdef const char *letters = PyBytes_AS_STRING(self.letters)
        cdef size_t cell = word.number & self.mask
        cdef int64_t row, start
        while self.cells[cell]:
            row = self.cells[cell]
            start = self.starts[row]
            if (
                self.starts[row + 1] - start == <int64_t> word.length + 2
                and memcmp(letters + start, prefix, 2) == 0
                and same(word.letters, letters + start + 2, word.length, True)
            ):
                return row
            cell = (cell + 1) & self.mask
        return 0

    cdef bint is_among(self, Word *word, size_t first, size_t end) noexcept:
        cdef size_t place
        cdef Word *other
        for place in range(first, end):
            other = &self.words_of_name[place]
            if (
                other.number == word.number and other.length == word.length
                and other.letters[0] | 0x20 == word.letters[0] | 0x20
                and memcmp(other.letters + 1, word.letters + 1, word.length - 1) == 0
            ):
                return True
        return False

    cdef void split(self, const uint8_t *place, size_t length) noexcept:
        """Add the words of a class or id: "[a-z]{2,}|[A-Z][a-z]+", each once, in lower case."""
        cdef const uint8_t *end = place + length
        cdef size_t first = self.count
        cdef Word word
        while place < end and self.count - first < self.max_hints:
            if not is_letter(place[0]):
                place += 1
                continue
            word.letters = place
            word.number = hash_of(place, 1, self.of_class)
            place += 1
            while place < end and c"a" <= place[0] <= c"z":
                word.number = (word.number ^ place[0]) * 0x100000001B3ULL
                place += 1
            word.length = place - word.letters
            if word.length > 1 and not self.is_among(&word, first, self.count):
                self.words_of_name[self.count] = word
                self.count += 1

    cdef int add_vector(self, int64_t row, float *to) noexcept:
        cdef const float *vector = (
            <const float *> PyBytes_AS_STRING(self.table) + row * <int64_t> self.width
        )
        cdef size_t place
        if row == 0:
            return 0
        for place in range(self.width):
            to[place] += vector[place]
        return 1

    cdef int add_value(
        self, const char *prefix, const uint8_t *value, size_t length, float *to
    ) except -1:
        """Add the vector of a whole value, and return whether it is known."""
        cdef Word word = Word(value, length, 0)
        cdef size_t place
        for place in range(length):
            if value[place] >= 0x80:
                name = prefix[:2].decode() + decoded(value, length).lower()
                return self.add_vector(self.rows.get(name, 0), to)
        word.number = hash_of(value, length, hash_of(<const uint8_t *> prefix, 2, NO_LETTERS))
        return self.add_vector(self.row_of(&word, prefix), to)

    cdef int sum_names(self, Named *named, const uint8_t *text, float *to) except -1:
        """Add the vectors of the words of names, and return how many words are known."""
        cdef size_t place, of_class, left = self.max_hints
        cdef int known = 0
        self.count = 0
        self.split(text, named.lengths[CLASS])
        text += named.lengths[CLASS]
        of_class = self.count
        self.split(text, named.lengths[IDENTITY])
        text += named.lengths[IDENTITY]
        # Those of the class first, then those of the id that the class doesn't have.
        for place in range(self.count):
            if left and (
                place < of_class or not self.is_among(&self.words_of_name[place], 0, of_class)
            ):
                left -= 1
                known += self.add_vector(self.row_of(&self.words_of_name[place], b"c:"), to)
        if named.lengths[ITEMPROP] and left:
            left -= 1
            known += self.add_value(b"p:", text, named.lengths[ITEMPROP], to)
        text += named.lengths[ITEMPROP]
        if named.lengths[ROLE] and left:
            left -= 1
            known += self.add_value(b"r:", text, named.lengths[ROLE], to)
        if named.is_hidden and left:
            known += self.add_vector(self.rows.get("hidden", 0), to)
        return known

    def vectors(self, elements):
        """Return a vector for each of some elements, from what names them."""
        cdef NamedElements named = named_elements(elements)
        cdef size_t count = len(named), row, place
        cdef bytearray result = bytearray(4 * count * self.width)
        cdef float *to = <float *> PyByteArray_AS_STRING(result)
        cdef Named *element
        cdef int known
        cdef float root
        for row in range(1, count):
            to += self.width
            element = &named.names.items[named.elements[row - 1]]
            known = self.sum_names(element, named.names.text.items + element.start, to)
            if known > 1:
                root = sqrtf(<float> known)
                for place in range(self.width):
                    to[place] /= root
        return result


cdef class WordVectors:
    """Sums the vectors of the words of blocks, as `classifier` does with those of its table."""

    cdef WordCells cells
    cdef bytes table
    cdef size_t width, rows

    def __cinit__(self, *, dict cells, uint64_t second, bytes table, size_t width):
        """Take the cells of a table of words, whose values are rows of vectors; row 0 is that of
        unknown words."""
        self.cells = WordCells(cells, second)
        self.table, self.width = table, width
        if not width:
            raise ValueError("tables of words are of another size")
        self.rows = PyBytes_GET_SIZE(table) // (4 * width)

    def vectors(self, const uint64_t[::1] words, const int64_t[::1] counts):
        """Return a vector for each block, of which the words follow each other."""
        cdef Py_ssize_t blocks = len(counts), block, word = 0
        cdef bytearray result = bytearray(4 * blocks * self.width)
        cdef float *to = <float *> PyByteArray_AS_STRING(result)
        cdef const float *table = <const float *> PyBytes_AS_STRING(self.table)
        cdef int64_t left
        cdef size_t row, place
        cdef int known
        cdef float root
        for block in range(blocks):
            known = 0
            for left in range(counts[block]):
                if word + AHEAD < len(words):
                    self.cells.fetch(words[word + AHEAD])
                row = <size_t> self.cells.value_of(words[word], self.rows)
                word += 1
                if row:
                    known += 1
                    for place in range(self.width):
                        to[place] += table[row * self.width + place]
            if known > 1:
                root = sqrtf(<float> known)
                for place in range(self.width):
                    to[place] /= root
            to += self.width
        return result


# --- The network ---------------------------------------------------------------------------------

cdef extern from *:
    """
    /* The sum of products of rows of numbers with a matrix of 32 columns, added to rows of 32
       numbers. Compiled for several processors; the one in use is chosen at import. */
    typedef void (*Dense)(const float *, Py_ssize_t, Py_ssize_t, Py_ssize_t, const float *, float *,
                          Py_ssize_t);
    #if defined(__GNUC__)
    typedef float Lanes __attribute__((vector_size(64)));
    #define DENSE(NAME, TARGET, ROWS)                                                              \
    TARGET static void NAME(const float *rows, Py_ssize_t stride, Py_ssize_t count,                \
                            Py_ssize_t inputs, const float *weights, float *sums,                  \
                            Py_ssize_t sums_stride) {                                              \
        Py_ssize_t row = 0, input;                                                                 \
        int each;                                                                                  \
        while (row < count) {                                                                      \
            Lanes left[ROWS], right[ROWS], first, second;                                          \
            const float *at[ROWS];                                                                 \
            for (each = 0; each < ROWS; each++) {                                                  \
                Py_ssize_t place = row + each < count ? row + each : count - 1;                    \
                at[each] = rows + place * stride;                                                  \
                memcpy(&left[each], sums + place * sums_stride, 64);                               \
                memcpy(&right[each], sums + place * sums_stride + 16, 64);                         \
            }                                                                                      \
            for (input = 0; input < inputs; input++) {                                             \
                memcpy(&first, weights + 32 * input, 64);                                          \
                memcpy(&second, weights + 32 * input + 16, 64);                                    \
                for (each = 0; each < ROWS; each++) {                                              \
                    float value = at[each][input];                                                 \
                    left[each] += value * first;                                                   \
                    right[each] += value * second;                                                 \
                }                                                                                  \
            }                                                                                      \
            for (each = 0; each < ROWS && row + each < count; each++) {                            \
                memcpy(sums + (row + each) * sums_stride, &left[each], 64);                        \
                memcpy(sums + (row + each) * sums_stride + 16, &right[each], 64);                  \
            }                                                                                      \
            row += ROWS;                                                                           \
        }                                                                                          \
    }
    DENSE(dense_anywhere, , 1)
    #if defined(__x86_64__)
    DENSE(dense_avx2, __attribute__((target("avx2,fma"))), 3)
    DENSE(dense_avx512, __attribute__((target("avx512f"))), 8)
    #endif
    static Dense dense_of_processor(void) {
    #if defined(__x86_64__)
        if (__builtin_cpu_supports("avx512f")) return dense_avx512;
        if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return dense_avx2;
    #endif
        return dense_anywhere;
    }
    #else
    static void dense_anywhere(const float *rows, Py_ssize_t stride, Py_ssize_t count,
                               Py_ssize_t inputs, const float *weights, float *sums,
                               Py_ssize_t sums_stride) {
        Py_ssize_t row, input, column;
        for (row = 0; row < count; row++)
            for (input = 0; input < inputs; input++)
                for (column = 0; column < 32; column++)
                    sums[row * sums_stride + column] +=
                        rows[row * stride + input] * weights[32 * input + column];
    }
    static Dense dense_of_processor(void) { return dense_anywhere; }
    #endif
    """
    ctypedef void (*Dense)(const float *, Py_ssize_t, Py_ssize_t, Py_ssize_t, const float *,
                           float *, Py_ssize_t) noexcept
    Dense dense_of_processor() noexcept

cdef Dense dense = dense_of_processor()
cdef enum:
    WIDTH = 32  # of all layers
    CHUNK = 24  # blocks whose numbers stay in the nearest cache
NETWORK_WIDTH = WIDTH


cdef void rectify(float *numbers, Py_ssize_t count) noexcept:
    cdef Py_ssize_t place
    for place in range(count):
        numbers[place] = numbers[place] if numbers[place] > 0 else 0


cdef void fill(float *rows, Py_ssize_t stride, Py_ssize_t count, const float *bias) noexcept:
    cdef Py_ssize_t row
    for row in range(count):
        memcpy(rows + row * stride, bias, WIDTH * sizeof(float))


cdef struct Layers:
    const float *own
    const float *own_bias
    const float *around
    const float *around_bias
    const float *mix
    const float *mix_bias
    const float *page
    const float *page_bias
    const float *out_hidden
    const float *out_hidden_bias
    const float *out


cdef class Network:
    """Weighs the features of blocks, as `classifier.Network` does with numpy."""

    cdef dict weights
    cdef tuple steps
    cdef Py_ssize_t features, words, names, tags, tag_rows, openers, opener_rows, path, pad
    cdef Py_ssize_t members
    cdef float limit

    def __cinit__(self, *, dict weights, tuple steps, dict sizes, float limit):
        """Take the weights as bytes of floats, the dilations of the layers of context, and how many
        numbers each part of a block has for each member."""
        self.weights, self.steps, self.limit = weights, steps, limit
        self.members, self.features, self.words = (
            sizes["members"], sizes["features"], sizes["words"]
        )
        self.names, self.tags, self.openers = sizes["names"], sizes["tags"], sizes["openers"]
        self.path, self.pad = sizes["path"], max(steps)
        self.tag_rows = len(weights["tag"]) // (4 * self.tags * self.members)
        self.opener_rows = len(weights["opener"]) // (4 * self.openers * self.members)
        own = self.features + self.words + self.openers
        around = self.path * (self.names + self.tags)
        inputs = {"own": own, "around": around, "mix": 2 * WIDTH, "page": 2 * WIDTH,
                  "out_hidden": 2 * WIDTH}
        inputs |= {f"context_{number}": 3 * WIDTH for number in range(len(steps))}
        for name, count in inputs.items():
            if len(weights[name]) != 4 * WIDTH * count * self.members:
                raise ValueError(f"the layer {name} is of another size")
            if len(weights[f"{name}_bias"]) != 4 * WIDTH * self.members:
                raise ValueError(f"the layer {name} is of another size")
        if len(weights["out"]) != 4 * WIDTH * self.members or min(steps) < 1:
            raise ValueError("the last layer is of another size")
        if len(weights["out_bias"]) != 4 * self.members or not self.tag_rows:
            raise ValueError("the last layer is of another size")
        for name in ("mean", "scale"):
            if len(weights[name]) != 4 * self.features:
                raise ValueError("there are other features")

    cdef const float *of(self, str name, Py_ssize_t member, Py_ssize_t size) except NULL:
        cdef bytes stored = self.weights[name]
        return <const float *> PyBytes_AS_STRING(stored) + member * size

    cdef Layers layers_of(self, Py_ssize_t member) except *:
        cdef Py_ssize_t own = WIDTH * (self.features + self.words + self.openers)
        cdef Py_ssize_t around = WIDTH * self.path * (self.names + self.tags)
        cdef Py_ssize_t both = 2 * WIDTH * WIDTH
        return Layers(
            self.of("own", member, own), self.of("own_bias", member, WIDTH),
            self.of("around", member, around), self.of("around_bias", member, WIDTH),
            self.of("mix", member, both), self.of("mix_bias", member, WIDTH),
            self.of("page", member, both), self.of("page_bias", member, WIDTH),
            self.of("out_hidden", member, both), self.of("out_hidden_bias", member, WIDTH),
            self.of("out", member, WIDTH),
        )

    def probabilities(
        self, const float[:, ::1] values, const float[:, ::1] openings,
        const int64_t[::1] openers, const int64_t[:, ::1] paths, const float[:, ::1] named,
        const int64_t[::1] tags,
    ):
        """Return the probability that each block is content, by the mean log odds of the members."""
        cdef Py_ssize_t blocks = values.shape[0], member, place
        cdef bytearray result = bytearray(4 * blocks)
        cdef bytearray first = bytearray(4 * WIDTH * (blocks + 2 * self.pad))
        cdef bytearray second = bytearray(4 * WIDTH * (blocks + 2 * self.pad))
        cdef float *to = <float *> PyByteArray_AS_STRING(result)
        cdef float *hidden
        cdef Layers layers
        if (
            values.shape[1] != self.features or openings.shape[1] != self.words * self.members
            or named.shape[1] != self.names * self.members or paths.shape[1] != self.path
            or openings.shape[0] != blocks or openers.shape[0] != blocks
            or paths.shape[0] != blocks or named.shape[0] != tags.shape[0]
        ):
            raise ValueError("the features of the blocks are of another size")
        for place in range(blocks):
            if not 0 <= openers[place] < self.opener_rows:
                raise IndexError("an opener is unknown")
            for member in range(self.path):
                if not 0 <= paths[place, member] < named.shape[0]:
                    raise IndexError("an element is unknown")
        for member in range(self.members):
            layers = self.layers_of(member)
            hidden = <float *> PyByteArray_AS_STRING(first) + WIDTH * self.pad
            self.read(&layers, member, values, openings, openers, paths, named, tags, hidden)
            hidden = self.see_neighbours(
                member, blocks, hidden, <float *> PyByteArray_AS_STRING(second) + WIDTH * self.pad
            )
            self.decide(&layers, member, blocks, hidden, to)
        for place in range(blocks):
            to[place] = 1 / (1 + expf(-to[place]))
        return result

    cdef int read(
        self, Layers *layers, Py_ssize_t member, const float[:, ::1] values,
        const float[:, ::1] openings, const int64_t[::1] openers, const int64_t[:, ::1] paths,
        const float[:, ::1] named, const int64_t[::1] tags, float *hidden,
    ) except -1:
        """Compute the numbers of each block, from its own features and the elements around it."""
        cdef Py_ssize_t blocks = values.shape[0], own = self.features + self.words + self.openers
        cdef Py_ssize_t size = self.names + self.tags, row, count, block, column, step, element
        cdef bytearray buffer = bytearray(
            4 * CHUNK * (own + self.path * size + 2 * WIDTH)
        )
        cdef float *of_block = <float *> PyByteArray_AS_STRING(buffer)
        cdef float *of_path = of_block + CHUNK * own
        cdef float *both = of_path + CHUNK * self.path * size
        cdef float *to
        cdef const float *mean = self.of("mean", 0, 0)
        cdef const float *scale = self.of("scale", 0, 0)
        cdef const float *opener = self.of("opener", 0, 0) + member * self.openers
        cdef const float *tag = self.of("tag", 0, 0) + member * self.tags
        cdef float value
        for block in range(0, blocks, CHUNK):
            count = min(<Py_ssize_t> CHUNK, blocks - block)
            for row in range(count):
                to = of_block + row * own
                for column in range(self.features):
                    value = (values[block + row, column] - mean[column]) * scale[column]
                    value = value if value > -self.limit else -self.limit
                    to[column] = value if value < self.limit else self.limit
                to += self.features
                memcpy(to, &openings[block + row, member * self.words], 4 * self.words)
                memcpy(
                    to + self.words,
                    opener + openers[block + row] * self.openers * self.members, 4 * self.openers,
                )
                to = of_path + row * self.path * size
                for step in range(self.path):
                    element = paths[block + row, step]
                    memcpy(to, &named[element, member * self.names], 4 * self.names)
                    to += self.names
                    element = min(max(<Py_ssize_t> tags[element], 0), self.tag_rows - 1)
                    memcpy(to, tag + element * self.tags * self.members, 4 * self.tags)
                    to += self.tags
            fill(both, 2 * WIDTH, count, layers.own_bias)
            dense(of_block, own, count, own, layers.own, both, 2 * WIDTH)
            fill(both + WIDTH, 2 * WIDTH, count, layers.around_bias)
            dense(
                of_path, self.path * size, count, self.path * size, layers.around, both + WIDTH,
                2 * WIDTH,
            )
            rectify(both, 2 * WIDTH * count)
            fill(hidden + block * WIDTH, WIDTH, count, layers.mix_bias)
            dense(both, 2 * WIDTH, count, 2 * WIDTH, layers.mix, hidden + block * WIDTH, WIDTH)
            rectify(hidden + block * WIDTH, WIDTH * count)
        return 0

    cdef float *see_neighbours(
        self, Py_ssize_t member, Py_ssize_t blocks, float *hidden, float *other
    ) except NULL:
        """Let each block see those some places before and after it; around all stand zeros."""
        cdef Py_ssize_t number, step, place, size = WIDTH * WIDTH
        cdef const float *weights
        cdef float *context
        for number, step in enumerate(self.steps):
            context, other = other, hidden
            weights = self.of(f"context_{number}", member, 3 * size)
            fill(context, WIDTH, blocks, self.of(f"context_{number}_bias", member, WIDTH))
            dense(hidden - step * WIDTH, WIDTH, blocks, WIDTH, weights, context, WIDTH)
            dense(hidden, WIDTH, blocks, WIDTH, weights + size, context, WIDTH)
            dense(
                hidden + step * WIDTH, WIDTH, blocks, WIDTH, weights + 2 * size, context, WIDTH
            )
            rectify(context, WIDTH * blocks)
            for place in range(WIDTH * blocks):
                context[place] += hidden[place]
            hidden = context
        return hidden

    cdef int decide(
        self, Layers *layers, Py_ssize_t member, Py_ssize_t blocks, float *hidden, float *to
    ) except -1:
        """Add the share of a member to the log odds of the blocks."""
        cdef float whole[2 * WIDTH]
        cdef float page[WIDTH]
        cdef float of_page[WIDTH]
        cdef float last[CHUNK * WIDTH]
        cdef float bias = self.of("out_bias", member, 1)[0], total
        cdef Py_ssize_t block, row, count, column
        for column in range(WIDTH):
            whole[column] = 0
            whole[WIDTH + column] = hidden[column]
        for block in range(blocks):
            for column in range(WIDTH):
                whole[column] += hidden[block * WIDTH + column]
                if hidden[block * WIDTH + column] > whole[WIDTH + column]:
                    whole[WIDTH + column] = hidden[block * WIDTH + column]
        for column in range(WIDTH):
            whole[column] /= <float> blocks
        fill(page, WIDTH, 1, layers.page_bias)
        dense(whole, 2 * WIDTH, 1, 2 * WIDTH, layers.page, page, WIDTH)
        rectify(page, WIDTH)
        fill(of_page, WIDTH, 1, layers.out_hidden_bias)
        dense(page, WIDTH, 1, WIDTH, layers.out_hidden + WIDTH * WIDTH, of_page, WIDTH)
        for block in range(0, blocks, CHUNK):
            count = min(<Py_ssize_t> CHUNK, blocks - block)
            fill(last, WIDTH, count, of_page)
            dense(hidden + block * WIDTH, WIDTH, count, WIDTH, layers.out_hidden, last, WIDTH)
            rectify(last, WIDTH * count)
            for row in range(count):
                total = bias
                for column in range(WIDTH):
                    total += last[row * WIDTH + column] * layers.out[column]
                to[block + row] += total / <float> self.members
        return 0


# --- Features ------------------------------------------------------------------------------------

cdef enum:
    FEATURES = 8
    OF_BLOCK = 23
    OF_RATIOS = 5
    OF_PAGE = 12
    OF_DATA = 3
    ENCLOSING = 5
    MAX_LANDMARKS = 32


cdef bint is_short_link(str text, uint32_t start, uint32_t end, Py_ssize_t most):
    """Return whether a text is one short link, as `blocks._is_short_link` has it."""
    cdef Py_ssize_t last = PyUnicode_GET_LENGTH(text) - 1, place = 0
    cdef int kind = PyUnicode_KIND(text)
    cdef void *data = PyUnicode_DATA(text)
    if last < 0 or last > most or PyUnicode_READ(kind, data, 0) != start:
        return False
    while place < last and PyUnicode_READ(kind, data, place) != end:
        place += 1
    return place == last and PyUnicode_READ(kind, data, last) == end


def select(page, uint32_t link_start, uint32_t link_end, Py_ssize_t most, Py_ssize_t least):
    """Leave out the runs of `least` or more short links of a page: return the places of the other
    blocks, their columns, how many were left out before and after each, and how many words."""
    cdef tuple raw = page.raw
    cdef Py_ssize_t blocks = len(raw), block, start = 0, place, left_out = 0, words = 0
    cdef bytearray flags = bytearray(blocks + 1)
    cdef uint8_t *out = <uint8_t *> PyByteArray_AS_STRING(flags)
    cdef const int64_t[::1] owners = page.owners, removed = page.removed, tags = page.tags
    cdef const int64_t[::1] removed_from = page.removed_from, images = page.images
    cdef const uint8_t[::1] breaks = page.breaks.view("u1")
    cdef Numbers columns[8]
    cdef list texts = []
    cdef bytearray breaks_left = bytearray()
    for block in range(8):
        columns[block] = Numbers(NULL, 0, 0)
    for block in range(blocks + 1):
        if block < blocks and is_short_link(raw[block], link_start, link_end, most):
            continue
        if block - start >= least:
            for place in range(start, block):
                out[place] = True
        start = block + 1
    try:
        push(&columns[2], 0)
        for block in range(blocks):
            if out[block]:
                left_out += 1
                words += raw[block].count(" ") + 1
                continue
            texts.append(raw[block])
            push(&columns[0], owners[block])
            for place in range(removed_from[block], removed_from[block + 1]):
                push(&columns[1], removed[place])
            push(&columns[2], <int64_t> columns[1].size)
            push(&columns[3], tags[block])
            push(&columns[4], images[block])
            breaks_left.append(breaks[block])
            if columns[5].size:
                push(&columns[7], left_out)
            push(&columns[5], block)
            push(&columns[6], left_out)
            left_out = 0
        if columns[5].size:
            push(&columns[7], left_out)
        return (
            tuple(texts), taken(&columns[0]), taken(&columns[1]), taken(&columns[2]),
            taken(&columns[3]), taken(&columns[4]), breaks_left, taken(&columns[5]),
            taken(&columns[6]), taken(&columns[7]), words,
        )
    finally:
        for block in range(8):
            free(columns[block].items)


cdef inline bint is_of_word(Py_UCS4 code) noexcept:
    """Return whether a character is a letter, digit or underscore; of ASCII without a call."""
    cdef uint8_t byte
    if code >= 0x80:
        return code.isalnum()
    byte = <uint8_t> code
    return is_letter(byte) or c"0" <= byte <= c"9" or byte == c"_"


cdef bint opens_with(str text, str first):
    """Return whether the first letter or digit of a text is this one, in lower case."""
    cdef int kind = PyUnicode_KIND(text)
    cdef void *data = PyUnicode_DATA(text)
    cdef Py_ssize_t place
    cdef Py_UCS4 code
    for place in range(PyUnicode_GET_LENGTH(text)):
        code = <Py_UCS4> PyUnicode_READ(kind, data, place)
        if is_of_word(code):
            return chr(code).lower() == first
    return False


def headline(tuple raw, const int64_t[::1] owners, const int64_t[::1] tags, int64_t heading,
             str wanted, Py_ssize_t most):
    """Return the place of the headline, as `block_features._find_headline` does, and for each block
    whether it has the letters of the title in at most so many characters."""
    cdef Py_ssize_t blocks = len(raw), block, length
    cdef Py_ssize_t heading_at = -1, equal_at = -1, both_at = -1
    cdef bytearray same_as_title = bytearray(blocks)
    cdef str text
    cdef bint is_heading
    for block in range(blocks):
        is_heading = tags[owners[block]] == heading
        if is_heading and heading_at < 0:
            heading_at = block
        text = raw[block]
        length = PyUnicode_GET_LENGTH(text)
        if (
            wanted and len(wanted) <= length <= most and opens_with(text, wanted[0])
            and word_characters(text.lower()) == wanted
        ):
            same_as_title[block] = True
            if equal_at < 0:
                equal_at = block
            if is_heading and both_at < 0:
                both_at = block
    place = both_at if both_at >= 0 else equal_at if equal_at >= 0 else heading_at
    return place, same_as_title


def edges_in(tuple raw, str stated, Py_ssize_t most, Py_ssize_t least):
    """Return for each block whether its first letters, and for each whether its last, occur in a
    text, as `block_features._edges_in` does."""
    cdef Py_ssize_t blocks = len(raw), block
    cdef bytearray result = bytearray(16 * blocks)
    cdef double *edges = <double *> PyByteArray_AS_STRING(result)
    cdef str text, begin, end
    for block in range(blocks):
        text = raw[block]
        begin = end = word_characters(text[: 3 * most].lower())
        if len(text) > 3 * most:
            end = word_characters(text[-3 * most:].lower())
        begin, end = begin[:most], end[-most:]
        edges[block] = len(begin) >= least and begin in stated
        edges[blocks + block] = len(end) >= least and end in stated
    return result


def later_headlines(const uint8_t[::1] is_title, const int64_t[::1] owners,
                    const int64_t[::1] tags, const uint8_t[::1] headings):
    """Return the first block that is the headline and a heading, -1 for none, and those behind it
    with the same tag that aren't the headline."""
    cdef Py_ssize_t block, first = -1
    cdef list others = []
    for block in range(len(is_title)):
        if first < 0:
            if is_title[block] and headings[tags[owners[block]]]:
                first = block
        elif not is_title[block] and tags[owners[block]] == tags[owners[first]]:
            others.append(block)
    return first, others


def paragraphs(tuple raw, const uint8_t[::1] kept, str unwanted):
    """Return the texts of the kept blocks without unwanted characters, those that are left."""
    cdef Py_ssize_t block
    cdef list texts = []
    for block in range(len(kept)):
        if kept[block]:
            text = without(raw[block], unwanted).strip()
            if text:
                texts.append(text)
    return texts


cdef str without(str text, str unwanted):
    """Return a text without some characters."""
    cdef Py_ssize_t length = PyUnicode_GET_LENGTH(text), place, count = 0
    cdef int kind = PyUnicode_KIND(text)
    cdef void *data = PyUnicode_DATA(text)
    cdef uint32_t *to = <uint32_t *> malloc(4 * length + 4)
    cdef Py_UCS4 code
    if to == NULL:
        raise MemoryError
    try:
        for place in range(length):
            code = <Py_UCS4> PyUnicode_READ(kind, data, place)
            if (0x20 <= code < 0x7F) or code not in unwanted:
                to[count] = code
                count += 1
        return text if count == length else PyUnicode_FromKindAndData(4, to, count)
    finally:
        free(to)


cdef inline double share(int64_t part, int64_t whole) noexcept:
    return <double> part / <double> (whole if whole > 1 else 1)


cdef class Measure:
    """Computes the eight features of blocks, as `features.measure` does."""

    cdef bytes members
    cdef int letter, capital, digit, blank, mark

    def __cinit__(self, *, bytes members, dict chars):
        """Take for each tag number the bits of formats, lists and structure, and the classes of
        characters."""
        if len(members) <= KNOWN:
            raise ValueError("tables of tags are of another size")
        self.members = members
        self.letter, self.capital, self.digit = chars["LETTER"], chars["CAPITAL"], chars["DIGIT"]
        self.blank, self.mark = chars["BLANK"], chars["MARK"]

    def values(
        self, const int64_t[::1] words, const int64_t[::1] linked, const int64_t[:, ::1] stop_words,
        const int64_t[:, ::1] chars, const int64_t[::1] sentences, const int64_t[::1] owners,
        const int64_t[::1] tags, const int64_t[::1] removed, const int64_t[::1] removed_from,
        bint opens,
    ):
        """Return the eight features of each block, a row for each."""
        cdef Py_ssize_t blocks = len(words), block, place, other
        cdef bytearray result = bytearray(8 * FEATURES * blocks)
        cdef double[:, ::1] rows
        cdef int64_t visible, most, formats, lists, structure
        cdef const uint8_t[::1] members = self.members
        cdef uint8_t bits
        if blocks == 0:
            return result
        rows = <double[:blocks, :FEATURES]> <double *> PyByteArray_AS_STRING(result)
        for block in range(blocks):
            visible = 0
            for other in range(chars.shape[1]):
                visible += chars[block, other]
            visible -= chars[block, self.blank] + chars[block, self.mark]
            most = 0
            for other in range(stop_words.shape[1]):
                if stop_words[block, other] > most:
                    most = stop_words[block, other]
            formats = lists = structure = 0
            for place in range(removed_from[block], removed_from[block + 1]):
                bits = members[removed[place]]
                formats += bits & 1
                lists += bits >> 1 & 1
                structure += bits >> 2 & 1
            if opens:
                bits = members[tags[owners[block]]]
                formats += bits & 1
                lists += bits >> 1 & 1
                structure += bits >> 2 & 1
            rows[block, 0] = share(words[block], sentences[block])
            rows[block, 1] = <double> sentences[block]
            rows[block, 2] = share(
                chars[block, self.letter] + chars[block, self.capital] + chars[block, self.digit],
                visible,
            )
            rows[block, 3] = share(most, words[block])
            rows[block, 4] = share(linked[block], words[block])
            rows[block, 5] = share(formats, words[block])
            rows[block, 6] = share(lists, words[block])
            rows[block, 7] = share(structure, words[block])
        return result


cdef class Evidence:
    """Computes the features of blocks, as `block_features` does."""

    cdef bytes landmarks, openers, unbounded
    cdef str closing, ends, colons
    cdef int capital, digit, sentence_end, comma, quote, separator, other, mark
    cdef int64_t max_tags, max_depths
    cdef Py_ssize_t count_of_landmarks, columns, path, opening, lookahead
    cdef list smoothing
    cdef double least_deviation
    cdef uint64_t short_word, long_word

    def __cinit__(self, *, bytes landmarks, bytes openers, bytes unbounded, dict chars, dict signs,
                  dict limits, list smoothing, tuple length_words):
        """Take for each tag number that of a landmark, from 1 on, and that of an opener; for each
        column whether its logarithm is taken; the classes of characters; the signs that close a
        text; and the weights by which ratios are smoothed."""
        if len(landmarks) <= KNOWN or len(openers) <= KNOWN:
            raise ValueError("tables of tags are of another size")
        if max(landmarks) > MAX_LANDMARKS or limits["landmarks"] > MAX_LANDMARKS:
            raise ValueError("there may be up to 32 landmarks")
        if limits["tags"] < 1 or limits["depths"] < 1 or limits["path"] < ENCLOSING:
            raise ValueError("there are no places")
        self.landmarks, self.openers, self.unbounded = landmarks, openers, unbounded
        self.count_of_landmarks = limits["landmarks"]
        self.max_tags, self.max_depths = limits["tags"], limits["depths"]
        self.path, self.opening = limits["path"], limits["opening"]
        self.lookahead, self.smoothing = limits["lookahead"], smoothing
        self.least_deviation = limits["deviation"]
        self.short_word, self.long_word = length_words
        self.columns = OF_BLOCK + OF_RATIOS + 4 * ENCLOSING + 3 + OF_PAGE + OF_DATA
        self.columns += self.count_of_landmarks
        if len(unbounded) != self.columns or len(smoothing) % 2 != 1 or self.lookahead < 1:
            raise ValueError("there are other columns")
        self.closing, self.ends, self.colons = signs["closing"], signs["ends"], signs["colons"]
        self.capital, self.digit, self.other = chars["CAPITAL"], chars["DIGIT"], chars["OTHER"]
        self.sentence_end, self.comma = chars["SENTENCE_END"], chars["COMMA"]
        self.quote, self.separator = chars["QUOTE"], chars["SEPARATOR"]
        self.mark = chars["MARK"]

    def table(self, candidates, tokens, const double[:, ::1] values, Py_ssize_t headline,
              const uint8_t[::1] is_title, data):
        """Return all features of a page's blocks, of which there is one at least: a row of floats
        for each block, then what opens it and the rows of the elements around it; the elements
        themselves and their tags; and the words that blocks open with, and their numbers."""
        page = candidates.page
        elements = page.elements
        cdef Py_ssize_t blocks = len(page), first = 0
        cdef bytearray buffer = bytearray(8 * self.columns * blocks)
        cdef double[:, ::1] rows = (
            <double[:self.columns, :blocks]> <double *> PyByteArray_AS_STRING(buffer)
        )
        cdef const int64_t[::1] words = tokens.words, linked = tokens.linked
        cdef const int64_t[:, ::1] chars = tokens.chars
        cdef const int64_t[::1] owners = page.owners, parents = elements.parents
        cdef const int64_t[::1] tags = elements.tags
        cdef bytearray paths = bytearray(8 * self.path * blocks)
        cdef int64_t[:, ::1] around = (
            <int64_t[:blocks, :self.path]> <int64_t *> PyByteArray_AS_STRING(paths)
        )
        for first in range(blocks):
            self.climb(owners[first], parents, &around[first, 0])
        self.of_blocks(rows, page.raw, words, linked, tokens.letters_in_words, tokens.stop_words,
                       chars, values, page.images, page.breaks.view("u1"))
        first = OF_BLOCK
        self.of_ratios(rows[first:], chars, page.tags)
        first += OF_RATIOS
        self.of_tree(rows[first:], words, linked, chars, values, owners, parents, tags,
                     elements.depths, elements.ends, around)
        first += 4 * ENCLOSING + 3 + self.count_of_landmarks
        self.of_page(rows[first:], page.raw, words, linked, candidates.left_out_before,
                     candidates.left_out_after, headline, is_title)
        if data is not None:
            self.of_data(rows[first + OF_PAGE:], data)
        return (
            self.as_floats(rows), self.openers_of(owners, tags), paths,
            *self.name_rows(around, tags), *self.opening_words(words, tokens.numbers,
                                                               tokens.word_from),
        )

    cdef void climb(self, int64_t element, const int64_t[::1] parents, int64_t *around):
        """Write the elements around a block, its own first, and then -1."""
        cdef Py_ssize_t step
        for step in range(self.path):
            around[step] = element
            if element >= 0:
                element = parents[element]

    cdef tuple name_rows(self, int64_t[:, ::1] around, const int64_t[::1] tags):
        """Make the elements around blocks rows of those that occur, from 1 on, and return these
        elements and their tags."""
        cdef Py_ssize_t elements = len(tags), block, step, element
        cdef bytearray numbers = bytearray(8 * elements)
        cdef int64_t[::1] row_of = <int64_t[:elements]> <int64_t *> PyByteArray_AS_STRING(numbers)
        cdef Numbers named = Numbers(NULL, 0, 0)
        cdef Numbers tags_named = Numbers(NULL, 0, 0)
        for block in range(around.shape[0]):
            for step in range(self.path):
                if around[block, step] >= 0:
                    row_of[around[block, step]] = 1
        try:
            push(&tags_named, 0)
            for element in range(elements):
                if row_of[element]:
                    push(&named, element)
                    push(&tags_named, tags[element] + 1)
                    row_of[element] = <int64_t> named.size
            for block in range(around.shape[0]):
                for step in range(self.path):
                    element = around[block, step]
                    around[block, step] = row_of[element] if element >= 0 else 0
            return taken(&named), taken(&tags_named)
        finally:
            free(named.items)
            free(tags_named.items)

    cdef bytearray openers_of(self, const int64_t[::1] owners, const int64_t[::1] tags):
        cdef bytearray result = bytearray(8 * len(owners))
        cdef int64_t *to = <int64_t *> PyByteArray_AS_STRING(result)
        cdef const uint8_t[::1] openers = self.openers
        cdef Py_ssize_t block
        for block in range(len(owners)):
            to[block] = openers[tags[owners[block]]]
        return result

    cdef tuple opening_words(self, const int64_t[::1] words, const uint64_t[::1] numbers,
                             const int64_t[::1] word_from):
        """Return the first words of each block and one for its length, and how many there are."""
        cdef Py_ssize_t blocks = len(words), block, word, count
        cdef bytearray counts = bytearray(8 * blocks)
        cdef int64_t *count_of = <int64_t *> PyByteArray_AS_STRING(counts)
        cdef Numbers result = Numbers(NULL, 0, 0)
        try:
            for block in range(blocks):
                count = min(words[block], self.opening)
                for word in range(word_from[block], word_from[block] + count):
                    push(&result, <int64_t> numbers[word])
                push(
                    &result,
                    <int64_t> (self.short_word if words[block] <= self.opening else self.long_word),
                )
                count_of[block] = count + 1
            return taken(&result), counts
        finally:
            free(result.items)

    cdef bytearray as_floats(self, const double[:, ::1] rows):
        """Put the columns side by side; of unbounded values take the logarithms."""
        cdef Py_ssize_t blocks = rows.shape[1], block, column
        cdef bytearray result = bytearray(4 * self.columns * blocks)
        cdef float *to = <float *> PyByteArray_AS_STRING(result)
        cdef const uint8_t[::1] unbounded = self.unbounded
        cdef float value
        for column in range(self.columns):
            for block in range(blocks):
                value = <float> rows[column, block]
                if unbounded[column]:
                    value = log1pf(value) if value > 0 else 0
                to[block * self.columns + column] = value
        return result

    cdef int of_blocks(
        self, double[:, ::1] rows, tuple raw, const int64_t[::1] words, const int64_t[::1] linked,
        const int64_t[::1] letters, const int64_t[:, ::1] stop_words, const int64_t[:, ::1] chars,
        const double[:, ::1] values, const int64_t[::1] images, const uint8_t[::1] breaks,
    ) except -1:
        """Write the columns of `block_features._of_block`."""
        cdef Py_ssize_t blocks = len(words), block, language, main = 0
        cdef int64_t visible, total, best = -1
        cdef Py_ssize_t other
        cdef str text
        if <Py_ssize_t> len(raw) != blocks:
            raise ValueError("blocks and words are of other numbers")
        for language in range(stop_words.shape[1]):
            total = 0
            for block in range(blocks):
                total += stop_words[block, language]
            if total > best:
                best, main = total, language
        for block in range(blocks):
            visible = 0
            for other in range(chars.shape[1]):
                visible += chars[block, other]
            visible = max(visible - chars[block, self.mark], 1)
            rows[0, block] = <double> words[block]
            rows[1, block] = <double> (words[block] - linked[block])
            rows[2, block] = <double> visible
            rows[3, block] = values[block, 0]
            rows[4, block] = <double> chars[block, self.sentence_end]
            rows[5, block] = values[block, 2]
            rows[6, block] = values[block, 3]
            rows[7, block] = share(stop_words[block, main], words[block])
            rows[8, block] = values[block, 4]
            rows[9, block] = min(values[block, 5], 2.0)
            rows[10, block] = min(values[block, 6], 2.0)
            rows[11, block] = min(values[block, 7], 2.0)
            rows[12, block] = share(chars[block, self.capital], visible)
            rows[13, block] = share(chars[block, self.digit], visible)
            rows[14, block] = share(chars[block, self.comma], words[block])
            rows[15, block] = share(chars[block, self.quote], words[block])
            rows[16, block] = share(chars[block, self.separator], words[block])
            rows[17, block] = share(chars[block, self.other], words[block])
            rows[18, block] = share(letters[block], words[block])
            text = raw[block]
            self.read_end(text, &rows[19, block], &rows[20, block])
            rows[21, block] = <double> (breaks[block] != 0)
            rows[22, block] = <double> min(images[block], <int64_t> 3)
        return 0

    cdef int read_end(self, str text, double *ends, double *colons) except -1:
        """Say whether a text ends with the end of a sentence, and whether with a colon."""
        cdef int kind = PyUnicode_KIND(text)
        cdef void *data = PyUnicode_DATA(text)
        cdef Py_ssize_t last = PyUnicode_GET_LENGTH(text) - 1
        cdef Py_UCS4 code
        ends[0] = colons[0] = 0
        while last >= 0:
            code = <Py_UCS4> PyUnicode_READ(kind, data, last)
            if code not in self.closing:
                ends[0] = code in self.ends
                colons[0] = code in self.colons
                return 0
            last -= 1
        return 0

    cdef int of_tree(
        self, double[:, ::1] rows, const int64_t[::1] words, const int64_t[::1] linked, const int64_t[:, ::1] chars,
        const double[:, ::1] values, const int64_t[::1] owners, const int64_t[::1] parents,
        const int64_t[::1] tags, const int64_t[::1] depths, const int64_t[::1] ends,
        const int64_t[:, ::1] around,
    ) except -1:
        """Write the columns of `block_features._of_tree`."""
        cdef Py_ssize_t blocks = len(words), elements = len(parents), block, element, step
        cdef Py_ssize_t landmark
        cdef bytearray sums = bytearray(8 * 4 * (elements + 1))
        cdef bytearray masks = bytearray(4 * elements)
        cdef bytearray of_elements = bytearray(8 * elements)
        cdef bytearray place_of = bytearray(8 * blocks)
        cdef int64_t[::1] places = <int64_t[:blocks]> <int64_t *> PyByteArray_AS_STRING(place_of)
        cdef bytearray of_places = bytearray(8 * self.number_places(places, owners, tags, depths))
        cdef bytearray prose_of = bytearray(8 * blocks)
        cdef double[:, ::1] up_to
        cdef double[::1] at_place, at_parent, prose
        cdef uint32_t[::1] mask
        cdef const uint8_t[::1] landmarks = self.landmarks
        cdef double total, mass
        cdef int64_t owner
        cdef Py_ssize_t first, last
        up_to = <double[:elements + 1, :4]> <double *> PyByteArray_AS_STRING(sums)
        at_place = <double[:len(of_places) // 8]> <double *> PyByteArray_AS_STRING(of_places)
        at_parent = <double[:elements]> <double *> PyByteArray_AS_STRING(of_elements)
        prose = <double[:blocks]> <double *> PyByteArray_AS_STRING(prose_of)
        mask = <uint32_t[:elements]> <uint32_t *> PyByteArray_AS_STRING(masks)
        for block in range(blocks):
            owner = owners[block]
            if chars[block, self.sentence_end] > 0 and values[block, 4] < 0.5:
                prose[block] = <double> (words[block] - linked[block])
            up_to[owner + 1, 0] += <double> words[block]
            up_to[owner + 1, 1] += <double> linked[block]
            up_to[owner + 1, 2] += prose[block]
            up_to[owner + 1, 3] += 1
            at_place[places[block]] += prose[block]
            at_parent[max(parents[owner], <int64_t> 0)] += prose[block]
        for element in range(elements):
            for step in range(4):
                up_to[element + 1, step] += up_to[element, step]
            mask[element] = mask[parents[element]] if parents[element] >= 0 else 0
            landmark = landmarks[tags[element]]
            if landmark:
                mask[element] |= <uint32_t> 1 << (landmark - 1)
        total = max(up_to[ends[0], 2], 1.0)
        for block in range(blocks):
            owner = owners[block]
            for step in range(ENCLOSING):
                first = max(around[block, step], <int64_t> 0)
                last = ends[first]
                mass = up_to[last, 2] - up_to[first, 2]
                rows[step, block] = mass / total
                rows[ENCLOSING + step, block] = (up_to[last, 1] - up_to[first, 1]) / max(
                    up_to[last, 0] - up_to[first, 0], 1.0
                )
                rows[2 * ENCLOSING + step, block] = mass / max(
                    up_to[last, 3] - up_to[first, 3], 1.0
                )
                rows[3 * ENCLOSING + step, block] = up_to[last, 3] - up_to[first, 3]
            rows[4 * ENCLOSING, block] = <double> depths[owner]
            rows[4 * ENCLOSING + 1, block] = at_place[places[block]] / total
            rows[4 * ENCLOSING + 2, block] = at_parent[max(parents[owner], <int64_t> 0)] / total
            for landmark in range(<Py_ssize_t> self.count_of_landmarks):
                rows[4 * ENCLOSING + 3 + landmark, block] = <double> (
                    mask[owner] >> landmark & 1
                )
        return 0

    cdef Py_ssize_t number_places(
        self, int64_t[::1] places, const int64_t[::1] owners, const int64_t[::1] tags,
        const int64_t[::1] depths,
    ) except -1:
        """Number the places of blocks, each a tag at a depth; return how many there may be. Tags are
        numbered as they occur: a table of all of them would clear 128 KB for each page."""
        cdef bytearray numbers = bytearray(8 * self.max_tags)
        cdef int64_t *number_of = <int64_t *> PyByteArray_AS_STRING(numbers)
        cdef int64_t tag, count = 0
        cdef Py_ssize_t block
        for block in range(len(owners)):
            tag = min(max(tags[owners[block]], <int64_t> 0), self.max_tags - 1)
            if number_of[tag] == 0:
                count += 1
                number_of[tag] = count
            places[block] = (number_of[tag] - 1) * self.max_depths + min(
                max(depths[owners[block]], <int64_t> 0), self.max_depths - 1
            )
        return count * self.max_depths

    cdef int of_ratios(
        self, double[:, ::1] rows, const int64_t[:, ::1] chars, const int64_t[::1] tags
    ) except -1:
        """Write the columns of `block_features._of_ratios`."""
        cdef Py_ssize_t blocks = len(tags), block, other, step
        cdef double total, mean = 0, deviation = 0
        for block in range(blocks):
            total = 0
            for other in range(chars.shape[1]):
                total += <double> chars[block, other]
            rows[0, block] = <double> tags[block]
            rows[1, block] = (total - <double> chars[block, self.mark]) / max(
                rows[0, block], 1.0
            )
            mean += rows[1, block] / <double> blocks
        for block in range(blocks):
            deviation += (rows[1, block] - mean) ** 2 / <double> blocks
        deviation = sqrt(deviation)
        if deviation <= self.least_deviation * mean:
            deviation = 1
        self.smooth(rows[1], rows[2])
        for block in range(blocks):
            rows[3, block] = min(rows[2, block] / deviation, 5.0)
        ahead = bytearray(8 * blocks)
        cdef double[::1] slope = <double[:blocks]> <double *> PyByteArray_AS_STRING(ahead)
        for block in range(blocks):
            total = 0
            for step in range(1, self.lookahead + 1):
                total += rows[2, min(block + step, blocks - 1)]
            slope[block] = total / <double> self.lookahead - rows[2, block]
        self.smooth(slope, rows[4])
        for block in range(blocks):
            rows[4, block] = abs(rows[4, block])
        return 0

    cdef int smooth(self, const double[::1] values, double[::1] smoothed) except -1:
        """Write the means of values and their neighbours by the weights; the ends are repeated."""
        cdef Py_ssize_t count = len(values), place, step, radius = len(self.smoothing) // 2, at
        cdef double weight
        for step in range(2 * radius + 1):
            weight = self.smoothing[step]
            for place in range(count):
                at = min(max(place + step - radius, 0), count - 1)
                smoothed[place] += weight * values[at]
        return 0

    cdef int of_page(
        self, double[:, ::1] rows, tuple raw, const int64_t[::1] words,
        const int64_t[::1] linked, const int64_t[::1] before, const int64_t[::1] after,
        Py_ssize_t headline, const uint8_t[::1] is_title,
    ) except -1:
        """Write the columns of `block_features._of_page`."""
        cdef Py_ssize_t blocks = len(words), block
        cdef double total = 0, unlinked = 0, sum_before = 0
        cdef dict times = {}
        for block in range(blocks):
            times[raw[block]] = times.get(raw[block], 0) + 1
            total += <double> words[block]
            unlinked += <double> (words[block] - linked[block])
        for block in range(blocks):
            rows[0, block] = <double> block / <double> blocks
            rows[1, block] = sum_before / max(total, 1.0)
            sum_before += <double> words[block]
            rows[2, block] = <double> min(<int> times[raw[block]] - 1, 3)
            rows[3, block] = <double> before[block]
            rows[4, block] = <double> after[block]
            rows[5, block] = <double> (is_title[block] != 0)
            rows[6, block] = <double> min(max(block - headline, -50), 50) / 10.0
            rows[7, block] = <double> (block > headline)
            rows[8, block] = <double> (headline >= 0)
            rows[9, block] = total
            rows[10, block] = <double> blocks
            rows[11, block] = unlinked / max(total, 1.0)
        return 0

    cdef int of_data(self, double[:, ::1] rows, const double[:, ::1] data) except -1:
        """Write the columns of `block_features._of_json_ld`."""
        cdef Py_ssize_t block
        for block in range(data.shape[1]):
            rows[0, block] = 1
            rows[1, block] = data[0, block]
            rows[2, block] = data[1, block]
        return 0


# --- The choice of blocks ------------------------------------------------------------------------


cdef enum:
    MAX_HEAD = 64  # letters and digits


cdef struct Likely:
    float probability
    Py_ssize_t block


cdef int by_probability(const void *one, const void *other) noexcept nogil:
    cdef const Likely *first = <const Likely *> one
    cdef const Likely *second = <const Likely *> other
    if first.probability != second.probability:
        return -1 if first.probability > second.probability else 1
    return -1 if first.block < second.block else 1


def choose(
    const float[::1] probabilities, const uint8_t[::1] is_title, const int64_t[::1] words,
    double threshold, double balanced,
):
    """Return which blocks are kept, and the F1 to expect, as `classifier.combine` does."""
    cdef Py_ssize_t blocks = len(probabilities), block
    cdef bytearray result = bytearray(blocks), buffer = bytearray(blocks * sizeof(Likely))
    cdef uint8_t *kept = <uint8_t *> PyByteArray_AS_STRING(result)
    cdef Likely *likely = <Likely *> PyByteArray_AS_STRING(buffer)
    cdef double wanted = 0, common = 0, taken = 0, best = -1
    cdef float least = balanced, top = 0
    if len(is_title) != blocks or len(words) != blocks:
        raise ValueError("blocks and words are of other numbers")
    for block in range(blocks):
        likely[block] = Likely(0 if is_title[block] else probabilities[block], block)
        wanted += <double> words[block] * probabilities[block]
        if words[block] > 0:
            top = max(top, likely[block].probability)
    qsort(likely, blocks, sizeof(Likely), by_probability)
    for block in range(blocks):
        taken += <double> words[likely[block].block]
        common += <double> words[likely[block].block] * likely[block].probability
        if taken > 0 and common / (taken + wanted) > best:
            best = common / (taken + wanted)
            least = likely[block].probability
    least = min(<float> (min(<double> least, balanced) * threshold / balanced), top)
    taken = common = 0
    for block in range(blocks):
        if likely[block].probability >= least and likely[block].probability > 0:
            kept[likely[block].block] = True
            taken += <double> words[likely[block].block]
            common += (
                <double> words[likely[block].block] * probabilities[likely[block].block]
            )
    return result, min(2 * common / (taken + wanted), 1.0) if taken else 0.0


def word_characters(str text):
    """Return the letters, digits and underscores of a text, as "\\w" finds them."""
    cdef Py_ssize_t length = PyUnicode_GET_LENGTH(text), place, count = 0
    cdef int kind = PyUnicode_KIND(text)
    cdef void *data = PyUnicode_DATA(text)
    cdef bytearray buffer = bytearray(4 * length)
    cdef uint32_t *to = <uint32_t *> PyByteArray_AS_STRING(buffer)
    cdef Py_UCS4 code
    for place in range(length):
        code = <Py_UCS4> PyUnicode_READ(kind, data, place)
        if is_of_word(code):
            to[count] = code
            count += 1
    return PyUnicode_FromKindAndData(4, to, count)


def heads(tuple texts, const int64_t[::1] places, Py_ssize_t least, Py_ssize_t most):
    """Return the first `most` letters and digits of the texts at some places, in lower case, among
    their first 2 * `most` characters; nothing for texts of less than `least` characters."""
    return ["" if len(texts[place]) < least else head_of(texts[place], most) for place in places]


cdef str head_of(str text, Py_ssize_t most):
    """Return what `heads` does of one text; of ASCII without copies of it."""
    cdef Py_ssize_t length = min(PyUnicode_GET_LENGTH(text), 2 * most), place, count = 0
    cdef int kind = PyUnicode_KIND(text)
    cdef void *data = PyUnicode_DATA(text)
    cdef uint8_t head[MAX_HEAD]
    cdef Py_UCS4 code
    cdef uint8_t byte
    if most > MAX_HEAD:
        return word_characters(text[: 2 * most].lower())[:most]
    for place in range(length):
        code = <Py_UCS4> PyUnicode_READ(kind, data, place)
        if code >= 0x80:
            return word_characters(text[: 2 * most].lower())[:most]
        if count < most and is_of_word(code):
            byte = <uint8_t> code
            head[count] = byte | 0x20 if is_letter(byte) else byte
            count += 1
    return decoded(head, count)


def sums_of_words(
    const uint8_t[::1] kept, const int64_t[::1] words, const int64_t[:, ::1] stop_words
):
    """Return how many words the kept blocks have, and how many stop words of each language."""
    cdef bytearray result = bytearray(8 * stop_words.shape[1])
    cdef int64_t *sums = <int64_t *> PyByteArray_AS_STRING(result)
    cdef int64_t total = 0
    cdef Py_ssize_t block, language
    if len(words) != len(kept) or stop_words.shape[0] != len(kept):
        raise ValueError("blocks and words are of other numbers")
    for block in range(len(kept)):
        if kept[block]:
            total += words[block]
            for language in range(stop_words.shape[1]):
                sums[language] += stop_words[block, language]
    return total, result


def words_between_blanks(str text):
    """Return how many words `str.split` makes of a text."""
    cdef Py_ssize_t length = PyUnicode_GET_LENGTH(text), place, count = 0
    cdef int kind = PyUnicode_KIND(text)
    cdef void *data = PyUnicode_DATA(text)
    cdef Py_UCS4 code
    cdef bint inside = False, blank
    for place in range(length):
        code = <Py_UCS4> PyUnicode_READ(kind, data, place)
        blank = code <= 0x20 or code >= 0x7F
        if blank:
            blank = code.isspace()
        count += inside and blank
        inside = not blank
    return count + inside
