# cython: language_level=3, boundscheck=True, wraparound=False, initializedcheck=True
"""The costly primitives of extraction, compiled: the walk over nodes, the count of characters, the
scans of bytes. They hold no rule of news: tables, marks and limits come from Python, which states
them.

The tree is read by the addresses of Lexbor's nodes, whose layout is stated below. `compiled` loads
this module only for versions of selectolax that have this layout, and only after `read_tree` has
given what selectolax gives. No address is kept after a call. What the walk can't read as Python
would (text that isn't UTF-8) it refuses by returning None, and Python reads the page.
"""

from cpython.bytearray cimport PyByteArray_AS_STRING, PyByteArray_FromStringAndSize
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_GET_SIZE
from cpython.unicode cimport PyUnicode_DecodeUTF8
from libc.stdint cimport SIZE_MAX, int64_t, uint8_t, uint16_t, uint32_t, uint64_t, uintptr_t
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
    """Return the place behind a tag, from behind its "<", as `limits._TOKEN` has it; NULL where it
    doesn't end. Count its attributes."""
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


def survey(bytes html, bytes pairs, size_t short, size_t most, size_t readings):
    """Return the numbers that `limits.Survey` has; `pairs` has a flag of 1 for two bytes behind "<"
    whose places are listed, and of 2 for those that are counted.

    A tag may be crowded if what begins like one, wherever it stands, is longer than a short one and
    has more than the most attributes, or if the page would be read more often than this to see it.
    """
    cdef const uint8_t *flags = <const uint8_t *> PyBytes_AS_STRING(pairs)
    cdef const uint8_t *start = <const uint8_t *> PyBytes_AS_STRING(html)
    cdef const uint8_t *end = start + PyBytes_GET_SIZE(html)
    cdef const uint8_t *place = start
    cdef const uint8_t *behind
    cdef size_t marks = 0, opening = 0, ending = 0, counted = 0, of_places = 0, attributes, length
    cdef size_t left = readings * <size_t> PyBytes_GET_SIZE(html)
    cdef uint8_t flag
    cdef list places = []
    cdef bint is_crowded = False
    if PyBytes_GET_SIZE(pairs) != 0x10000:
        raise ValueError("the table of pairs is of another size")
    while True:
        place = <const uint8_t *> memchr(place, c"<", end - place)
        if place == NULL or end - place < 3:
            return marks, opening, ending, counted, places, is_crowded, of_places
        place += 1
        marks += 1
        opening += is_letter(place[0])
        ending += place[0] == c"/"
        flag = flags[place[0] << 8 | place[1]]
        counted += flag >> 1
        if flag & 1:
            places.append(place - start)
        if not is_crowded and is_letter(place[1] if place[0] == c"/" else place[0]):
            attributes = 0
            behind = tag_end(place, end, &attributes)
            of_places += attributes if flag & 1 else 0
            length = (end if behind == NULL else behind) - place + 1
            is_crowded = length > left or (length > short and attributes > most)
            left -= min(length, left)


# --- The walk ------------------------------------------------------------------------------------


cdef struct Entered:
    Node *node
    uint8_t step


cdef struct Columns:
    Text text
    Numbers rows, removed, elements  # as `blocks.Walked` has them
    Entered *stack
    size_t depth, room
    size_t start, longest  # of the present block's text, and the bytes of the longest one


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


cdef enum:
    STEPS = 16
    ROW = 5
    ELEMENT = 4

cdef enum:
    CLASS, IDENTITY, ITEMPROP, ROLE, HIDDEN, ARIA_HIDDEN, STYLE, NAMES
STEPS_OF_WALK = STEPS
# In the order of the numbers above.
ATTRIBUTES = ("class", "id", "itemprop", "role", "hidden", "aria-hidden", "style")


cdef class Walk:
    """Merges the text of pages into blocks, as `blocks.walk` does."""

    cdef uint8_t steps[KNOWN]
    cdef uint8_t paragraph_like[KNOWN]
    cdef uint8_t opening[STEPS]
    cdef uint8_t closing[STEPS]
    cdef uintptr_t numbers[NAMES]
    cdef tuple names
    cdef uint8_t prune, boundary, link, line_break, read, passed, through, end_of_block
    cdef size_t image, paragraph_break, max_blocks, max_block, max_text, max_name

    def __cinit__(self, *, bytes steps, bytes paragraph_like, bytes opening, bytes closing,
                  dict step, dict limits, dict attributes):
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
        self.names = tuple([name.encode() for name in ATTRIBUTES])
        self.prune, self.boundary, self.link = step["prune"], step["boundary"], step["link"]
        self.line_break, self.read = step["line_break"], step["read"]
        self.passed, self.through = step["pass"], step["through"]
        if max(step.values()) >= STEPS:
            raise ValueError("a step is unknown")
        self.end_of_block = 0
        self.image, self.paragraph_break = limits["image"], limits["paragraph_break"]
        self.max_blocks, self.max_block = limits["max_blocks"], limits["max_block"]
        self.max_text, self.max_name = limits["max_text"], limits["max_name"]

    def run(self, uintptr_t address):
        """Walk over the tree of a node in document order, and return what `blocks.Walked` has, the
        texts of the blocks already parted unless they may be too long; None where Python must read
        the page."""
        cdef Columns columns
        cdef list names = []
        columns = Columns(
            text=Text(NULL, 0, 0), rows=Numbers(NULL, 0, 0), removed=Numbers(NULL, 0, 0),
            elements=Numbers(NULL, 0, 0), stack=NULL, depth=0, room=0, start=0, longest=0,
        )
        try:
            if not self.walk(<Node *> address, &columns, names):
                return None
            if columns.longest > self.max_block or columns.text.size > self.max_text:
                text = decoded(columns.text.items, columns.text.size)
            else:
                text = self.texts(&columns)
            return (
                text, taken(&columns.rows), taken(&columns.removed), taken(&columns.elements),
                names.__getitem__,
            )
        except (LayoutError, UnicodeDecodeError):
            return None
        finally:
            free(columns.text.items)
            free(columns.rows.items)
            free(columns.removed.items)
            free(columns.elements.items)
            free(columns.stack)

    cdef int add_block(self, Columns *columns, int64_t owner, int64_t tags, int64_t images,
                       bint after_break) except -1:
        push(&columns.rows, owner)
        push(&columns.rows, tags)
        push(&columns.rows, images)
        push(&columns.rows, <int64_t> columns.removed.size)
        push(&columns.rows, after_break)
        columns.longest = max(columns.longest, columns.text.size - columns.start)
        put(&columns.text, &self.end_of_block, 1)
        columns.start = columns.text.size
        return 0

    cdef int add_element(self, Columns *columns, Node *node, int64_t parent, int64_t depth,
                         list names) except -1:
        push(&columns.elements, parent)
        push(&columns.elements, <int64_t> node.local_name)
        push(&columns.elements, depth)
        push(&columns.elements, 0)
        names.append(self.names_of(node))
        return 0

    cdef bint walk(self, Node *node, Columns *columns, list names) except -1:
        cdef int64_t owner = 0, tags = 0, images = 0
        cdef size_t breaks = 0, length
        cdef bint has_text = False, after_break = False
        cdef uint8_t step
        cdef uintptr_t tag
        cdef const uint8_t *data
        self.add_element(columns, node, -1, 0, names)
        node = node.first_child
        while (node != NULL or columns.depth) and columns.rows.size < ROW * self.max_blocks:
            if node == NULL:
                columns.depth -= 1
                node = columns.stack[columns.depth].node
                step = columns.stack[columns.depth].step
                if step == self.boundary:
                    if has_text:
                        self.add_block(columns, owner, tags, images, after_break)
                    has_text = after_break = False
                    breaks = 0
                    owner = leave(columns, owner)
                elif (has_text or step == self.link) and self.closing[step]:
                    put(&columns.text, &self.closing[step], 1)
                node = node.next
                continue
            tag = node.local_name
            if tag < KNOWN:
                step = self.steps[tag]
            elif self.is_paragraph_like(columns.elements.items[ELEMENT * owner + 1]):
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
                    owner = <int64_t> (columns.elements.size // ELEMENT) - 1
                elif step != self.through:
                    push(&columns.removed, <int64_t> tag)
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
            owner = leave(columns, owner)
        return True

    cdef bint is_paragraph_like(self, int64_t tag) noexcept:
        return 0 <= tag < KNOWN and self.paragraph_like[tag]

    cdef list texts(self, Columns *columns):
        cdef list texts = []
        cdef uint8_t *place = columns.text.items
        cdef uint8_t *end = place + columns.text.size
        cdef uint8_t *stop
        while <size_t> len(texts) < columns.rows.size // ROW:
            stop = <uint8_t *> memchr(place, self.end_of_block, end - place)
            if stop == NULL:
                stop = end
            texts.append(decoded(place, squeeze(place, stop - place)))
            place = stop + 1
        return texts

    cdef object names_of(self, Node *node):
        """Return what names an element, as `blocks.names_of` does."""
        cdef Attribute *attribute
        cdef Bytes *values[NAMES]
        cdef int which
        cdef bint has_more = False
        if node.type != ELEMENT_NODE or (<Element *> node).first_attribute == NULL:
            return None
        for which in range(NAMES):
            values[which] = NULL
        attribute = (<Element *> node).first_attribute
        is_hidden = False
        while attribute != NULL:
            which = self.which(attribute)
            if which < NAMES:
                values[which] = attribute.value
                has_more |= which != CLASS
                is_hidden = is_hidden or which == HIDDEN
            attribute = attribute.next
        classes = value_of(values[CLASS], self.max_name)
        if not has_more:
            return classes or None
        is_hidden = (
            is_hidden or value_of(values[ARIA_HIDDEN], SIZE_MAX) == "true"
            or "display:none" in value_of(values[STYLE], SIZE_MAX).replace(" ", "")
        )
        return (
            classes, value_of(values[IDENTITY], self.max_name),
            value_of(values[ITEMPROP], self.max_name), value_of(values[ROLE], self.max_name),
            is_hidden,
        )

    cdef int which(self, Attribute *attribute) except -1:
        """Return which of `ATTRIBUTES` one is; their number for another one."""
        cdef uintptr_t number = attribute.qualified_name or attribute.node.local_name
        cdef int place
        cdef Name *name = NULL if number < KNOWN else name_of(attribute)
        cdef bytes text
        for place in range(NAMES):
            if name == NULL:
                if self.numbers[place] == number and number:
                    return place
                continue
            text = <bytes> self.names[place]
            if name.length == <size_t> PyBytes_GET_SIZE(text) and not self.numbers[place]:
                if memcmp(name.text, PyBytes_AS_STRING(text), name.length) == 0:
                    return place
        return NAMES


cdef int64_t leave(Columns *columns, int64_t owner) noexcept:
    """End an element, and return the one around it."""
    columns.elements.items[ELEMENT * owner + 3] = <int64_t> (columns.elements.size // ELEMENT)
    return columns.elements.items[ELEMENT * owner]


cdef str value_of(Bytes *value, size_t most):
    """Return the first characters of a value."""
    cdef str text
    if value == NULL or value.data == NULL or value.length == 0:
        return ""
    text = decoded(value.data, value.length)
    return text if value.length <= most else text[:most]


# --- Words ---------------------------------------------------------------------------------------


cdef enum:
    PLANE = 0x10000
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
        """Return the columns of blocks without NULs that `tokens.count` makes `tokens.Tokens` of."""
        cdef Numbers numbers = Numbers(NULL, 0, 0)
        cdef size_t blocks = len(raw), column
        cdef list columns = [
            bytearray(8 * blocks * width) for width in (1, 1, 1, self.width, self.languages)
        ]
        cdef int64_t *of_block[5]
        cdef int64_t depth = 0
        cdef str text
        for column in range(5):
            of_block[column] = <int64_t *> PyByteArray_AS_STRING(columns[column])
        try:
            for text in raw:
                self.count_block(text, of_block, &depth, &numbers)
                of_block[0] += 1
                of_block[1] += 1
                of_block[2] += 1
                of_block[3] += self.width
                of_block[4] += self.languages
            return (*columns, taken(&numbers))
        finally:
            free(numbers.items)

    cdef int count_block(self, str text, int64_t **of_block, int64_t *depth,
                         Numbers *numbers) except -1:
        """Count the words and characters of a block."""
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
                of_block[2][0] += place - start
                start = -1
            if role == self.alone:
                number = self.lower[code] * self.base
                self.add_word(number, of_block, depth[0])
                push(numbers, <int64_t> number)
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
