# cython: language_level=3, boundscheck=True, wraparound=False, initializedcheck=True
"""The costly loops of extraction, compiled: what `blocks` and `tokens` do, over the same tables.

The tree is read by the addresses of Lexbor's nodes, whose layout is stated below. `compiled` loads
this module only for versions of selectolax that have this layout, and only after `read_tree` has
given what selectolax gives. Tables and limits come from Python, which states them. No address is
kept after a call. What a function can't read as Python would (text that isn't UTF-8) it refuses by
returning None, and Python reads the page.
"""

from cpython.bytearray cimport PyByteArray_AS_STRING, PyByteArray_FromStringAndSize
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_GET_SIZE
from cpython.unicode cimport PyUnicode_DecodeUTF8
from libc.math cimport sqrtf
from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t, uint64_t, uintptr_t
from libc.stdlib cimport free, malloc, realloc
from libc.string cimport memchr, memcmp, memcpy

cdef extern from "Python.h":
    int PyUnicode_KIND(object text)
    void *PyUnicode_DATA(object text)
    Py_ssize_t PyUnicode_GET_LENGTH(object text)
    uint32_t PyUnicode_READ(int kind, void *data, Py_ssize_t index)

cdef extern from *:
    """
    #ifndef KERNEL_SOURCE
    #define KERNEL_SOURCE ""
    #endif
    """
    const char *KERNEL_SOURCE

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


cdef enum:
    MAX_DOUBTFUL = 1000  # tags that Python would look at; from there on it looks at all


cdef inline bint is_letter(uint8_t byte) noexcept:
    return c"a" <= byte | 0x20 <= c"z"


cdef inline bint is_space(uint8_t byte) noexcept:
    return byte == 0x20 or byte == 0x09 or byte == 0x0A or byte == 0x0C or byte == 0x0D


cdef inline bint ends_name(uint8_t byte) noexcept:
    return is_space(byte) or byte == c"/" or byte == c">"


cdef inline bint is_plain(uint8_t byte) noexcept:
    """Return whether a byte of a tag can't separate, name or open anything else."""
    return byte > c">" or (
        byte > 0x20
        and byte != c'"' and byte != c"'" and byte != c"/"
        and byte != c"<" and byte != c"=" and byte != c">"
    )


cdef const uint8_t *plain_tag_end(
    const uint8_t *place, const uint8_t *end, size_t *separators
) noexcept:
    """Return the place behind a tag, from behind its "<"; NULL where it isn't written plainly:
    attributes are names alone, or names with quoted or plain values. Count what can stand before
    an attribute."""
    cdef const uint8_t *quote
    if place < end and place[0] == c"/":
        place += 1
    if place >= end or not is_letter(place[0]):
        return NULL
    while place < end and is_plain(place[0]):
        place += 1
    if place >= end or not ends_name(place[0]):
        return NULL
    while place < end:
        if place[0] == c">":
            return place + 1
        if is_space(place[0]) or place[0] == c"/":
            separators[0] += 1
            place += 1
            continue
        if not is_plain(place[0]):
            return NULL
        while place < end and is_plain(place[0]):
            place += 1
        if end - place < 2 or place[0] != c"=":
            continue
        place += 1
        if place[0] == c'"' or place[0] == c"'":
            quote = <const uint8_t *> memchr(place + 1, place[0], end - place - 1)
            if quote == NULL:
                return NULL
            separators[0] += 1
            place = quote + 1
        elif is_plain(place[0]) or place[0] == c"/":
            # A value without quotes may have these signs, too.
            while place < end and (
                is_plain(place[0]) or place[0] == c"=" or place[0] == c"/"
            ):
                place += 1
        else:
            return NULL
    return NULL


cdef size_t format_length(const uint8_t *place, const uint8_t *end, tuple names) except -1:
    """Return the length of the name of a formatting element at a place; 0 for others."""
    cdef const uint8_t *name
    cdef size_t length, index
    for each in names:
        name = <const uint8_t *> PyBytes_AS_STRING(each)
        length = PyBytes_GET_SIZE(each)
        if <size_t> (end - place) <= length or not ends_name(place[length]):
            continue
        for index in range(length):
            if place[index] | 0x20 != name[index]:
                break
        else:
            return length
    return 0


cdef bint is_closed_at(
    const uint8_t *place, const uint8_t *end, const uint8_t *name, size_t length
) noexcept:
    """Return whether text without tags stands at a place, and then the end tag of a name."""
    cdef size_t index
    place = <const uint8_t *> memchr(place, c"<", end - place)
    if place == NULL or <size_t> (end - place) < length + 3 or place[1] != c"/":
        return False
    for index in range(length):
        if place[2 + index] | 0x20 != name[index] | 0x20:
            return False
    return ends_name(place[2 + length])


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


def survey(bytes html, tuple formats, size_t max_tag, size_t max_closed, size_t max_signs):
    """Return what decides whether a page is within the limits, or None where that takes longer.

    These are the numbers of "<", of start tags, of end tags and of texts that may stand in a table;
    of formatting elements that aren't closed behind their text, and of their attributes, at most;
    the places of such names in tags that aren't plain; and the places of tags that aren't plain, or
    longer than `max_tag`. An end tag is looked for in `max_closed` bytes.
    """
    cdef const uint8_t *start = <const uint8_t *> PyBytes_AS_STRING(html)
    cdef const uint8_t *end = start + PyBytes_GET_SIZE(html)
    cdef const uint8_t *place = start
    cdef const uint8_t *limit
    cdef const uint8_t *behind
    cdef size_t marks = 0, opening = 0, ending = 0, in_table = 0, opened = 0, attributes = 0
    cdef size_t separators, length, window
    cdef list doubtful = [], unclear = []
    cdef bint has_table = False
    if end - start < 3:
        return None
    if <size_t> (end - start) > max_signs and signs_of(start, end) > max_signs:
        return None
    while True:
        place = <const uint8_t *> memchr(place, c"<", end - place)
        if place == NULL or end - place < 3:
            break
        place += 1
        marks += 1
        in_table += has_text_of_table(place, end)
        has_table = has_table or begins(place, end, "table")
        if place[0] == c"/":
            ending += 1
        elif not is_letter(place[0]):
            continue
        else:
            opening += 1
        limit = end if <size_t> (end - place) < max_tag else place + max_tag
        separators = 0
        behind = plain_tag_end(place, limit, &separators)
        if behind == NULL:
            doubtful.append(place - start - 1)
            if len(doubtful) > MAX_DOUBTFUL:
                return None
        if place[0] == c"/":
            continue
        length = format_length(place, end, formats)
        if length == 0:
            continue
        if behind == NULL:
            unclear.append(place - start)
            continue
        limit = end if <size_t> (end - place) < max_closed else place + max_closed
        if behind >= limit or not is_closed_at(behind, limit, place, length):
            opened += 1
            attributes += separators
    if not has_table:
        in_table = 0
    return marks, opening, ending, in_table, opened, attributes, unclear, doubtful


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
STEPS_OF_WALK = STEPS
# In the order of the numbers above.
ATTRIBUTES = ("class", "id", "itemprop", "role", "hidden", "aria-hidden", "style")


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
        for place, name in enumerate(ATTRIBUTES):
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
        self.beginning = beginning

    def run(self, uintptr_t address):
        """Walk over the tree of a node in document order, and return the columns of the blocks, or
        None where Python must read the page."""
        cdef Columns columns
        cdef list names = []
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
                taken(&columns.breaks), taken(&columns.parents), taken(&columns.tag_numbers),
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
                         list names) except -1:
        push(&columns.parents, parent)
        push(&columns.tag_numbers, <int64_t> min(node.local_name, <uintptr_t> KNOWN))
        push(&columns.depths, depth)
        push(&columns.ends, 0)
        names.append(self.names_of(node))
        return 0

    cdef bint walk(self, Node *node, Columns *columns, list names) except -1:
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
        return texts

    cdef object names_of(self, Node *node):
        """Return what names an element: its class, a tuple that begins with it, or None."""
        cdef Attribute *attribute
        cdef Bytes *values[NAMES]
        cdef bint present[NAMES]
        cdef int which
        cdef bint more = False
        if node.type != ELEMENT_NODE:
            return None
        attribute = (<Element *> node).first_attribute
        if attribute == NULL:
            return None
        for which in range(NAMES):
            values[which] = NULL
            present[which] = False
        while attribute != NULL:
            which = self.which(attribute)
            if which < NAMES:
                present[which] = True
                values[which] = attribute.value
                more = more or which != CLASS
            attribute = attribute.next
        classes = self.value_of(values[CLASS])
        if not more:
            return classes or None
        return (
            classes, self.value_of(values[IDENTITY]), self.value_of(values[ITEMPROP]),
            self.value_of(values[ROLE]),
            present[HIDDEN] or is_true(values[ARIA_HIDDEN]) or hides_element(values[STYLE]),
        )

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

    cdef str value_of(self, Bytes *value):
        if value == NULL or value.data == NULL or value.length == 0:
            return ""
        return decoded(value.data, beginning_of(value.data, value.length, self.max_name))


cdef bint is_true(Bytes *value) noexcept:
    return (
        value != NULL and value.data != NULL and value.length == 4
        and memcmp(value.data, b"true", 4) == 0
    )


cdef bint hides_element(Bytes *value) noexcept:
    return value != NULL and value.data != NULL and hides(value.data, value.length)


# --- Words ---------------------------------------------------------------------------------------


cdef enum:
    PLANE = 0x10000


cdef class WordCells:
    """The cells of a `tokens.WordTable`, looked up as there."""

    cdef bytes numbers, values
    cdef uint64_t second
    cdef int bits

    def __cinit__(self, dict cells, uint64_t second):
        self.numbers, self.values, self.bits = cells["numbers"], cells["values"], cells["bits"]
        self.second = second
        if not 1 <= self.bits <= 30:
            raise ValueError("tables of words are of another size")
        if len(self.numbers) != 8 << self.bits or len(self.values) != 8 << self.bits:
            raise ValueError("tables of words are of another size")

    cdef int64_t value_of(self, uint64_t number, size_t limit) noexcept:
        """Return the value of a word; 0 for an unknown word and for a value outside the limit."""
        cdef const uint64_t *numbers = <const uint64_t *> PyBytes_AS_STRING(self.numbers)
        cdef const int64_t *values = <const int64_t *> PyBytes_AS_STRING(self.values)
        cdef uint64_t cell = number >> (64 - self.bits)
        cdef int64_t value
        if numbers[cell] != number:
            cell = (number * self.second) >> (64 - self.bits)
        if numbers[cell] != number:
            return 0
        value = values[cell]
        return value if 0 <= value and <size_t> value < limit else 0


cdef class Counter:
    """Counts the words and characters of blocks, as `tokens.count` does."""

    cdef uint8_t classes[PLANE]
    cdef uint8_t in_words[PLANE]
    cdef uint16_t lower[PLANE]
    cdef WordCells cells
    cdef bytes flags
    cdef uint64_t base
    cdef uint8_t joins, alone
    cdef size_t languages, width, sets
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
        self.end_of_block = numbers["end_of_block"]
        if not self.languages or max(classes) >= self.width:
            raise ValueError("tables of words are of another size")
        self.sets = PyBytes_GET_SIZE(flags) // self.languages

    def count(self, tuple raw):
        """Return the columns of `tokens.Tokens` for blocks without NUL."""
        cdef Numbers numbers = Numbers(NULL, 0, 0)
        cdef Numbers starts = Numbers(NULL, 0, 0)
        cdef Numbers ends = Numbers(NULL, 0, 0)
        cdef size_t blocks = len(raw), block
        cdef bytearray words = bytearray(8 * blocks), linked = bytearray(8 * blocks)
        cdef bytearray letters = bytearray(8 * blocks)
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
                self.count_block(text, of_block, &depth, place, &numbers, &starts, &ends)
                place += len(text) + 1
                of_block[0] += 1
                of_block[1] += 1
                of_block[2] += 1
                of_block[3] += self.width
                of_block[4] += self.languages
            return words, linked, letters, chars, stops, taken(&numbers), taken(&starts), taken(
                &ends
            )
        finally:
            free(numbers.items)
            free(starts.items)
            free(ends.items)

    cdef int count_block(self, str text, int64_t **of_block, int64_t *depth, int64_t first,
                         Numbers *numbers, Numbers *starts, Numbers *ends) except -1:
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
        return 0

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
    MAX_LETTERS = 512


cdef struct Word:
    uint8_t letters[MAX_LETTERS]
    size_t length


cdef uint64_t hash_of(const uint8_t *data, size_t length) noexcept:
    cdef uint64_t number = 0xCBF29CE484222325ULL  # FNV-1a
    cdef size_t place
    for place in range(length):
        number = (number ^ data[place]) * 0x100000001B3ULL
    return number


cdef class NameVectors:
    """Sums the vectors of the words that name elements, as `classifier.NameVectors` does."""

    cdef bytes letters, table
    cdef dict rows
    cdef int64_t *cells  # a row of the table, 0 for none
    cdef int64_t *starts  # where the word of a row begins among the letters
    cdef size_t mask, width, words, max_hints
    cdef Word found[MAX_WORDS]
    cdef size_t count

    def __cinit__(self, *, list words, bytes table, size_t width, size_t max_hints):
        """Take the words, and a vector for each behind that of unknown words; words of classes and
        ids begin with "c:"."""
        cdef size_t row, cell
        cdef list encoded = [word[2:].encode() if word.startswith("c:") else b"" for word in words]
        if not 0 < max_hints <= MAX_WORDS or not width:
            raise ValueError("there may be up to 32 words")
        if PyBytes_GET_SIZE(table) != <Py_ssize_t> (4 * width * (len(words) + 1)):
            raise ValueError("words and vectors are of other numbers")
        self.rows = {word: row for row, word in enumerate(words, start=1)}
        self.letters, self.table = b"".join(encoded), table
        self.words, self.width, self.max_hints = len(words), width, max_hints
        self.mask = (1 << (4 * self.words + 16).bit_length()) - 1
        self.cells = <int64_t *> malloc((self.mask + 1) * sizeof(int64_t))
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
            if self.starts[row + 1] > self.starts[row]:
                self.cells[cell] = <int64_t> row

    def __dealloc__(self):
        free(self.cells)
        free(self.starts)

    cdef uint64_t hash_of_row(self, size_t row) noexcept:
        cdef const uint8_t *letters = <const uint8_t *> PyBytes_AS_STRING(self.letters)
        return hash_of(letters + self.starts[row], self.starts[row + 1] - self.starts[row])

    cdef int64_t row_of(self, Word *word) noexcept:
        cdef const uint8_t *letters = <const uint8_t *> PyBytes_AS_STRING(self.letters)
        cdef size_t cell = hash_of(word.letters, word.length) & self.mask
        cdef int64_t row
        while self.cells[cell]:
            row = self.cells[cell]
            if (
                self.starts[row + 1] - self.starts[row] == <int64_t> word.length
                and memcmp(letters + self.starts[row], word.letters, word.length) == 0
            ):
                return row
            cell = (cell + 1) & self.mask
        return 0

    cdef bint add(self, Word *word, size_t first) noexcept:
        """Add a word unless it is there; return whether there may be more from `first` on."""
        cdef size_t place
        for place in range(first, self.count):
            if (
                self.found[place].length == word.length
                and memcmp(self.found[place].letters, word.letters, word.length) == 0
            ):
                return True
        self.found[self.count] = word[0]
        self.count += 1
        return self.count - first < self.max_hints

    cdef int split(self, str name) except -1:
        """Add the words of a class or id: "[a-z]{2,}|[A-Z][a-z]+", each once, in lower case."""
        cdef int kind = PyUnicode_KIND(name)
        cdef void *data = PyUnicode_DATA(name)
        cdef Py_ssize_t length = PyUnicode_GET_LENGTH(name)
        cdef Py_ssize_t place = 0, end
        cdef size_t first = self.count
        cdef uint32_t code
        cdef Word word
        while place < length:
            code = PyUnicode_READ(kind, data, place)
            if not (c"a" <= code <= c"z" or c"A" <= code <= c"Z"):
                place += 1
                continue
            word.letters[0] = <uint8_t> (code | 0x20)
            word.length = 1
            end = place + 1
            while end < length:
                code = PyUnicode_READ(kind, data, end)
                if not c"a" <= code <= c"z":
                    break
                if word.length < MAX_LETTERS:
                    word.letters[word.length] = <uint8_t> code
                    word.length += 1
                end += 1
            if end - place > 1 and not self.add(&word, first):
                break
            place = end
        return 0

    cdef int add_vector(self, int64_t row, float *to) noexcept:
        cdef const float *vector = (
            <const float *> PyBytes_AS_STRING(self.table) + row * <int64_t> self.width
        )
        cdef size_t place
        for place in range(self.width):
            to[place] += vector[place]
        return 1

    cdef int sum_names(self, object names, float *to) except -1:
        """Add the vectors of the words of names, and return how many words are known."""
        cdef size_t first, place, left = self.max_hints
        cdef int64_t row
        cdef int known = 0
        cdef Word kept[MAX_WORDS]
        self.count = 0
        if isinstance(names, str):
            self.split(names)
            for place in range(self.count):
                row = self.row_of(&self.found[place])
                if row:
                    known += self.add_vector(row, to)
            return known
        classes, identity, itemprop, role, hidden = names
        self.split(classes)
        first = self.count
        for place in range(first):
            kept[place] = self.found[place]
        self.count = 0
        self.split(identity)
        # Those of the class first, then those of the id that the class doesn't have.
        for place in range(self.count):
            first = add_kept(kept, first, &self.found[place])
        for place in range(min(first, left)):
            row = self.row_of(&kept[place])
            if row:
                known += self.add_vector(row, to)
        left -= min(first, left)
        for prefix, value in (("p:", itemprop), ("r:", role), ("", "hidden" if hidden else "")):
            if value and left:
                left -= 1
                row = self.rows.get(prefix + value.lower(), 0)
                if row:
                    known += self.add_vector(row, to)
        return known

    def vectors(self, names):
        """Return a vector for each of the names that elements have."""
        cdef size_t count = len(names), element, place
        cdef bytearray result = bytearray(4 * count * self.width)
        cdef float *to = <float *> PyByteArray_AS_STRING(result)
        cdef int known
        cdef float root
        for element in range(count):
            each = names[element]
            if each:
                known = self.sum_names(each, to)
                if known > 1:
                    root = sqrtf(<float> known)
                    for place in range(self.width):
                        to[place] /= root
            to += self.width
        return result


cdef size_t add_kept(Word *kept, size_t count, Word *word) noexcept:
    """Put a word behind others, of which there are fewer than `MAX_WORDS`, unless it is there."""
    cdef size_t place
    for place in range(count):
        if (
            kept[place].length == word.length
            and memcmp(kept[place].letters, word.letters, word.length) == 0
        ):
            return count
    if count < MAX_WORDS:
        kept[count] = word[0]
        count += 1
    return count


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


# --- Features ------------------------------------------------------------------------------------

cdef enum:
    FEATURES = 8
    OF_BLOCK = 23
    ENCLOSING = 5
    MAX_LANDMARKS = 32


def short_links(tuple raw, uint32_t link_start, uint32_t link_end, Py_ssize_t most):
    """Return for each block whether it is one short link, as `blocks.find_candidates` has it."""
    cdef size_t blocks = len(raw), block
    cdef bytearray flags = bytearray(blocks)
    cdef Py_ssize_t last, place
    cdef int kind
    cdef void *data
    cdef str text
    for block in range(blocks):
        text = raw[block]
        last = PyUnicode_GET_LENGTH(text) - 1
        kind, data = PyUnicode_KIND(text), PyUnicode_DATA(text)
        if last < 0 or last > most or PyUnicode_READ(kind, data, 0) != link_start:
            continue
        place = 0
        while place < last and PyUnicode_READ(kind, data, place) != link_end:
            place += 1
        flags[block] = place == last and PyUnicode_READ(kind, data, last) == link_end
    return flags


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
    """Computes features of blocks and of the elements around them, as `block_features` does."""

    cdef bytes landmarks
    cdef str closing, ends, colons
    cdef int capital, digit, sentence_end, comma, quote, separator, other, mark
    cdef int64_t max_tags, max_depths
    cdef size_t count_of_landmarks

    def __cinit__(self, *, bytes landmarks, dict chars, dict signs, dict limits):
        """Take for each tag number that of a landmark, from 1 on; the classes of characters; and
        the signs that close a text."""
        if len(landmarks) <= KNOWN:
            raise ValueError("tables of tags are of another size")
        if max(landmarks) > MAX_LANDMARKS or limits["landmarks"] > MAX_LANDMARKS:
            raise ValueError("there may be up to 32 landmarks")
        if limits["tags"] < 1 or limits["depths"] < 1:
            raise ValueError("there are no places")
        self.landmarks = landmarks
        self.count_of_landmarks = limits["landmarks"]
        self.max_tags, self.max_depths = limits["tags"], limits["depths"]
        self.closing, self.ends, self.colons = signs["closing"], signs["ends"], signs["colons"]
        self.capital, self.digit, self.other = chars["CAPITAL"], chars["DIGIT"], chars["OTHER"]
        self.sentence_end, self.comma = chars["SENTENCE_END"], chars["COMMA"]
        self.quote, self.separator = chars["QUOTE"], chars["SEPARATOR"]
        self.mark = chars["MARK"]

    def of_blocks(
        self, tuple raw, const int64_t[::1] words, const int64_t[::1] linked,
        const int64_t[::1] letters, const int64_t[:, ::1] stop_words, const int64_t[:, ::1] chars,
        const double[:, ::1] values, const int64_t[::1] images, const uint8_t[::1] breaks,
    ):
        """Return the columns of `block_features._of_block`, a row for each."""
        cdef Py_ssize_t blocks = len(words), block, language, main = 0
        cdef bytearray result = bytearray(8 * OF_BLOCK * blocks)
        cdef double[:, ::1] rows
        cdef int64_t visible, total, best = -1
        cdef Py_ssize_t other
        cdef str text
        if blocks == 0:
            return result
        if <Py_ssize_t> len(raw) != blocks:
            raise ValueError("blocks and words are of other numbers")
        rows = <double[:OF_BLOCK, :blocks]> <double *> PyByteArray_AS_STRING(result)
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
        return result

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

    def of_tree(
        self, const int64_t[::1] words, const int64_t[::1] linked, const int64_t[:, ::1] chars,
        const double[:, ::1] values, const int64_t[::1] owners, const int64_t[::1] parents,
        const int64_t[::1] tags, const int64_t[::1] depths, const int64_t[::1] ends,
        const int64_t[:, ::1] around,
    ):
        """Return the columns of `block_features._of_tree`, a row for each."""
        cdef Py_ssize_t blocks = len(words), elements = len(parents), block, element, step
        cdef Py_ssize_t landmark, columns = 4 * ENCLOSING + 3 + self.count_of_landmarks
        cdef bytearray result = bytearray(8 * columns * blocks)
        cdef bytearray sums = bytearray(8 * 4 * (elements + 1))
        cdef bytearray masks = bytearray(4 * elements)
        cdef bytearray of_elements = bytearray(8 * elements)
        cdef bytearray of_places = bytearray(8 * self.max_tags * self.max_depths)
        cdef bytearray prose_of = bytearray(8 * blocks)
        cdef double[:, ::1] rows
        cdef double[:, ::1] up_to
        cdef double[::1] at_place, at_parent, prose
        cdef uint32_t[::1] mask
        cdef const uint8_t[::1] landmarks = self.landmarks
        cdef double total, mass
        cdef int64_t owner, place
        cdef Py_ssize_t first, last
        if blocks == 0 or elements == 0:
            return result
        rows = <double[:columns, :blocks]> <double *> PyByteArray_AS_STRING(result)
        up_to = <double[:elements + 1, :4]> <double *> PyByteArray_AS_STRING(sums)
        at_place = <double[:self.max_tags * self.max_depths]> (
            <double *> PyByteArray_AS_STRING(of_places)
        )
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
            place = min(tags[owner], self.max_tags - 1) * self.max_depths + min(
                depths[owner], self.max_depths - 1
            )
            at_place[place] += prose[block]
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
                first = around[block, step]
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
            place = min(tags[owner], self.max_tags - 1) * self.max_depths + min(
                depths[owner], self.max_depths - 1
            )
            rows[4 * ENCLOSING + 1, block] = at_place[place] / total
            rows[4 * ENCLOSING + 2, block] = at_parent[max(parents[owner], <int64_t> 0)] / total
            for landmark in range(<Py_ssize_t> self.count_of_landmarks):
                rows[4 * ENCLOSING + 3 + landmark, block] = <double> (
                    mask[owner] >> landmark & 1
                )
        return result
