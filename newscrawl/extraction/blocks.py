"""Text blocks by DOM merge (Ziegler & Skubacz 2007, section 3.1).

One walk over the parsed tree: pruned elements are skipped, removed ones leave their text and are
recorded in its block, all others end a block. The tree is not changed.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import cache, cached_property
from itertools import pairwise
from typing import Any, Final, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from selectolax.lexbor import LexborHTMLParser, LexborNode

from newscrawl.extraction import compiled
from newscrawl.extraction.tokens import END_OF_BLOCK
from newscrawl.text import LINK_END, LINK_START, unescape_all

ProfileName = Literal["html5", "2007"]


# The parser's numbers for nodes that aren't elements: text, comments, the last of all such.
TEXT: Final = 2
COMMENT: Final = 4
LAST_NO_ELEMENT: Final = 5


class Action(IntEnum):
    """The four classes of elements of algorithms.md, section 1."""

    PRUNE = 0
    REMOVE_WITH_SPACE = 1
    REMOVE = 2
    BOUNDARY = 3


# Ziegler & Skubacz 2007, Figure 2. CITE and SAMP are in two columns of the scan (removal
# wins), FRAMESET too (pruning wins). "H.L" of the scan means H1 to H6. COMMENT is missing
# here: the walk passes over comments, and the parser knows no element of that name.
FIGURE_2: Final[dict[Action, str]] = {
    Action.REMOVE_WITH_SPACE: "br caption center cite dd div dl dt frame h1 h2 h3 h4 h5 h6 hr label"
    " li nobr ol p pre s samp u ul wbr xmp",
    Action.REMOVE: "a b big blink em font form i small span strike strong sub sup var",
    Action.PRUNE: "address applet area base bgsound button col colgroup del dir embed"
    " fieldset frameset head img input ins listing map option script style textarea",
}

# Ours: the HTML standard's phrasing content is removed, what never holds text is pruned.
# FORM, HEADER, FOOTER, ASIDE and NAV stay: whole articles are inside them on some sites.
HTML5: Final[dict[Action, str]] = {
    Action.REMOVE_WITH_SPACE: "br label output meter progress",
    Action.REMOVE: "a abbr acronym b bdi bdo big blink cite code data del dfn em font i ins kbd"
    " mark nobr q ruby rb s samp small span strike strong sub sup time tt u var wbr",
    Action.PRUNE: "applet area audio base basefont bgsound button canvas col colgroup datalist"
    " embed head iframe img input link map math meta noembed noframes object option param picture"
    " rp rt script select source style svg template textarea title track video",
}

# Elements whose unknown children are inline: a paragraph can't hold a block-level element.
PARAGRAPH_LIKE: Final = "p h1 h2 h3 h4 h5 h6 li dd dt td th figcaption caption pre summary"

FORMATS: Final = "b big em font i small strike strong sub sup u tt span"  # section 3.4
LISTS: Final = "ul ol li dl dt dd"  # section 3.4
STRUCTURE: Final = "h1 h2 h3 h4 h5 h6 p center"  # section 3.4, "H1-H6, P, CENTER and the like"


@cache
def tag_ids(names: str) -> frozenset[int]:
    """Return the parser's numbers for element names, which are fixed for all elements of HTML."""
    maker = LexborHTMLParser("")
    return frozenset(maker.create_node(name).tag_id for name in names.split())


@cache
def tag_id(name: str) -> int:
    """Return the parser's number for one element name."""
    (number,) = tag_ids(name)
    return number


@cache
def actions(profile: ProfileName) -> dict[int, Action]:
    """Return the action for each element, by the parser's number; absent ones are boundaries."""
    table = FIGURE_2 if profile == "2007" else HTML5
    return {number: action for action, names in table.items() for number in tag_ids(names)}


_ESCAPED: Final = re.compile(
    r"&(?:amp;)*(?:#[0-9]{1,6}|#[xX][0-9a-fA-F]{1,5}|(?!amp;|[lg]t;|nbsp;)[A-Za-z]{2,10}|amp);(?![lg]t;)"
)
UNWANTED: Final = f"{LINK_START}{LINK_END}\x00\xad\u200b\u2060\ufeff"
_UNWANTED_IN_ASCII: Final = UNWANTED[:3]


# The parser's numbers. It numbers the elements of HTML, SVG and MathML from 0 on; those that it
# does not know get numbers of another kind, far above.
_A: Final = tag_id("a")
_BR: Final = tag_id("br")
_IMG: Final = tag_id("img")
LAST_KNOWN_TAG: Final = 4095
_PARAGRAPH_LIKE_IDS: Final = tag_ids(PARAGRAPH_LIKE)

# The walk's step at a node: that of its action, or one of these.
_PRUNE, _REMOVE_WITH_SPACE, _REMOVE, _BOUNDARY = map(int, Action)
_LINK, _LINE_BREAK, _READ, _PASS, _THROUGH = range(_BOUNDARY + 1, _BOUNDARY + 6)
# What replaces the start and end tags of removed elements.
_OPENING: Final = {
    _REMOVE: "\x04", _REMOVE_WITH_SPACE: " ", _LINE_BREAK: " ", _LINK: LINK_START
}  # fmt: skip
_CLOSING: Final = {**_OPENING, _REMOVE: "\x05", _LINK: LINK_END, _THROUGH: ""}

# Ours: the largest page of the development corpus has 6,219 blocks and 285,509 characters of text,
# its longest block 25,002. The rest is left out: an article comes before the comments and lists
# that make a page larger, and a longer block isn't a paragraph.
MAX_BLOCKS: Final = 10_000
MAX_TEXT: Final = 600_000
MAX_BLOCK: Final = 50_000

# Ours: an empty line made of two BR separates paragraphs on pages that have no P.
_PARAGRAPH_BREAK: Final = 2

# Ours: characters of a class, id or role that are read; a hostile page may have values of any
# length.
MAX_NAME_LENGTH: Final = 300
_MORE_NAMES: Final = frozenset(("id", "itemprop", "role", "hidden", "aria-hidden", "style"))

# The names of an element: none, its class alone, or class, id, itemprop, role, and whether it is
# hidden.
ElementNames = str | tuple[str, str, str, str, bool] | None


@dataclass(frozen=True, slots=True)
class Elements:
    """The boundary elements that were entered, in document order; 0 is the root.

    `parents[i]` and `tags[i]` say where element i is and what it is, `depths[i]` how many
    elements of all kinds enclose it; the boundary elements inside it are those from i + 1 up to
    `ends[i]`. `names(i)` are its names.
    """

    parents: NDArray[np.int64]
    tags: NDArray[np.int64]
    depths: NDArray[np.int64]
    ends: NDArray[np.int64]
    names: Callable[[int], ElementNames]


@dataclass(frozen=True)
class BlockPage:
    """The blocks of a page in document order, as columns of equal length.

    `raw` are the merged texts, links enclosed by `LINK_START` and `LINK_END`; `owners` index
    the boundary element that contains each block. The elements that were removed in block i are
    `removed[removed_from[i]:removed_from[i + 1]]`, as the parser's tag numbers. `tags` counts
    the start and end tags between the end of the block before and the end of this one, `images`
    the images in that stretch, `breaks` is true where the block begins after a line break
    and not at an element.
    """

    raw: tuple[str, ...]
    owners: NDArray[np.int64]
    removed: NDArray[np.int64]
    removed_from: NDArray[np.int64]
    tags: NDArray[np.int64]
    images: NDArray[np.int64]
    breaks: NDArray[np.bool_]
    elements: Elements
    profile: ProfileName

    def __len__(self) -> int:
        return len(self.raw)

    def within(self, element: int) -> slice:
        """Return the places of the blocks in an element, which stand one behind the other."""
        firsts, ends = self._spans
        return slice(firsts[element], ends[element])

    @cached_property
    def _spans(self) -> tuple[list[int], list[int]]:
        """Return for each element the first block in it or behind it, and the end of its own."""
        ends, count = self.elements.ends, len(self)
        firsts = np.full(len(ends), count)
        firsts[self.owners[::-1]] = np.arange(count - 1, -1, -1)  # the last one that is set counts
        firsts = np.minimum.accumulate(firsts[::-1])[::-1]
        up_to = np.zeros(len(ends) + 1, dtype=np.int64)
        np.bincount(self.owners, minlength=len(ends)).cumsum(out=up_to[1:])
        return firsts.tolist(), (firsts + up_to[ends] - up_to[:-1]).tolist()

    def select(self, places: NDArray[np.int64]) -> "BlockPage":
        """Return the page with these of its blocks alone."""
        sizes = self.removed_from[1:] - self.removed_from[:-1]
        chosen = np.zeros(len(self), dtype=bool)
        chosen[places] = True
        return BlockPage(
            raw=tuple([self.raw[place] for place in places.tolist()]),
            owners=self.owners[places],
            removed=self.removed[: self.removed_from[-1]][chosen.repeat(sizes)],
            removed_from=np.concatenate(([0], sizes[places].cumsum())),
            tags=self.tags[places],
            images=self.images[places],
            breaks=self.breaks[places],
            elements=self.elements,
            profile=self.profile,
        )

    @property
    def texts(self) -> list[str]:
        """Return the texts as readers see them."""
        return [clean(text) for text in self.raw]


def clean(raw: str) -> str:
    """Return a block's text without link marks, soft hyphens and zero-width characters, and with
    references resolved that were escaped once too often; signs of markup may be meant."""
    # Seven searches for characters are ten times faster than one pattern.
    for mark in _UNWANTED_IN_ASCII if raw.isascii() else UNWANTED:
        if mark in raw:
            raw = raw.replace(mark, "")
    if "&" in raw:
        raw = _ESCAPED.sub(lambda reference: unescape_all(reference[0]), raw)
    return raw.strip()


class Walked(NamedTuple):
    """What a walk over a page has met.

    `text` is the page's text, `END_OF_BLOCK` after each block, or the squeezed texts of the blocks.
    `rows` have five numbers for each block: its owner, the tags, images and removed elements up to
    its end, and whether a line break began it; `elements` have four for each boundary element: its
    parent, tag, depth and end.
    """

    text: str | Sequence[str]
    rows: NDArray[np.int64]
    removed: NDArray[np.int64]
    elements: NDArray[np.int64]
    names: Callable[[int], ElementNames]


def read_blocks(tree: LexborHTMLParser, profile: ProfileName = "html5") -> BlockPage:
    """Merge the text of a parsed page into blocks under a boundary profile."""
    start = tree.body or tree.root
    columns = None
    if compiled.kernel is not None and start is not None:
        columns = _walker(profile).run(start.mem_id)
    if columns is not None:
        rows, removed, elements = (np.frombuffer(each, dtype=np.int64) for each in columns[1:4])
        walked = Walked(columns[0], rows, removed, elements, columns[4])
    else:
        walked = walk(start, _steps(profile))
    sums, texts = walked.rows.reshape(-1, 5), walked.text
    if isinstance(texts, str):
        parts = texts.split(END_OF_BLOCK)[: len(sums)]
        if len(texts) > MAX_BLOCK:
            parts = _within_limits(parts)
            sums = sums[: len(parts)]
        texts = [" ".join(part.split()) for part in parts]
    rows = sums.T.copy()
    rows[1:3, 1:] -= sums.T[1:3, :-1]  # tags and images of a block alone
    owners, tags, images, removed_from, breaks = rows
    parents, tag_numbers, depths, ends = np.ascontiguousarray(walked.elements.reshape(-1, 4).T)
    return BlockPage(
        raw=_with_blanks_between(tuple(texts)),
        owners=owners,
        removed=_numbered(walked.removed),
        removed_from=np.concatenate(([0], removed_from)),
        tags=tags,
        images=images,
        breaks=breaks.astype(bool),
        elements=Elements(parents, _numbered(tag_numbers), depths, ends, walked.names),
        profile=profile,
    )


def _numbered(tags: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return tag numbers, with one number for all unknown elements, whose numbers are addresses."""
    return np.minimum(tags, LAST_KNOWN_TAG + 1)


_TAGS_IN_TEXT: Final = 4  # numbers from LINK_START on
# Bytes of UTF-8 that may stand before and behind tags between two words.
_MAY_END_WORD, _MAY_BEGIN_WORD = (
    np.array([byte >= 0x80 or bool(re.match(signs, chr(byte))) for byte in range(256)])
    for signs in ("[A-Za-z0-9.!?%:]", "[A-Z0-9+-]")
)
_ENDS_INLINE: Final = f"\x05{LINK_END}"
_INLINE: Final = re.compile(f"[\x04\x05{LINK_START}{LINK_END}{END_OF_BLOCK}]")
# Ours: letters of a word to which a number behind it doesn't belong, as to "km"; of a label; of a
# word before a label: "Boeing" before "New", not "Micro" before "Soft".
LEAST_BEFORE_NUMBER: Final = 3
LEAST_LABEL: Final = 5
LEAST_BEFORE_LABEL: Final = 6
_SIGNS: Final = frozenset("+-−")
_DIGITS: Final = frozenset("0123456789")
_BEFORE_WORD: Final = _DIGITS | frozenset(".!?%:”»")


def _with_blanks_between(raw: tuple[str, ...]) -> tuple[str, ...]:
    """Return blocks without the tags of their inline elements, with a blank where two elements
    that touch are two words: a label, a sentence or a name, and what is behind it."""
    text = END_OF_BLOCK.join(raw)
    pieces: list[str] = []
    end = 0
    for first, behind in _tags_within_words(text):
        if _are_two_words(text, first, behind):
            blank = behind if text[behind - 1] in _ENDS_INLINE else first
            pieces += text[end:blank], " "
            end = blank
    text = "".join((*pieces, text[end:])).replace("\x04", "").replace("\x05", "")
    while "  " in text:
        text = text.replace("  ", " ")
    return tuple([block.strip(" ") for block in text.split(END_OF_BLOCK)]) if raw else ()


def _tags_within_words(text: str) -> Iterator[tuple[int, int]]:
    """Yield where tags between two characters that may be of two words begin and end; numpy finds
    them in a tenth of the time of a pattern."""
    utf8 = f"\0{text}\0".encode("utf-8", "surrogatepass")
    codes = np.frombuffer(utf8, dtype=np.uint8)
    is_tag = codes - np.uint8(ord(LINK_START)) < _TAGS_IN_TEXT
    (edges,) = (is_tag[1:] != is_tag[:-1]).nonzero()
    before, last = edges[::2], edges[1::2]
    may_touch = _MAY_END_WORD[codes[before]] & _MAY_BEGIN_WORD[codes[last + 1]]
    place = at = 0  # in the text, and in its bytes
    for first, tags in zip(
        before[may_touch].tolist(), (last - before)[may_touch].tolist(), strict=True
    ):
        place += len(utf8[at + 1 : first + 1].decode("utf-8", "surrogatepass"))
        yield place, place + tags
        at = first


def _are_two_words(text: str, start: int, end: int) -> bool:
    """Return whether two words meet at a run of tags between two characters."""
    letter, behind = text[start - 1], text[end]
    number = behind.isdigit() or (behind in _SIGNS and text[end + 1 : end + 2] in _DIGITS)
    closes, opens = text[start] in _ENDS_INLINE, text[end - 1] not in _ENDS_INLINE
    if letter.isupper():  # "BERLIN" before "Alstom"
        label = _INLINE.split(text[max(0, start - MAX_NAME_LENGTH) : start])[-1]
        is_label = len(label) >= LEAST_BEFORE_NUMBER and label.isupper()
        return closes and is_label and behind.isupper() and text[end + 1 : end + 2].islower()
    if not (behind.isupper() or number) or not (letter.islower() or letter in _BEFORE_WORD):
        return False
    if number:
        return letter.islower() and _ends_word(text, start, LEAST_BEFORE_NUMBER)
    if closes and opens:
        return _ends_word(text, start, 2)
    if closes:
        before = _INLINE.split(_joined(text[max(0, start - MAX_NAME_LENGTH) : start]))[-1]
        return " " in before or len(before) >= LEAST_LABEL or before[:-1].strip("€$£").isdigit()
    if letter in ".!?" and text[end + 1 : end + 2].islower():
        return True
    inner = _INLINE.split(text[end : end + MAX_NAME_LENGTH])[0]
    if inner.isupper():
        return len(inner.strip()) > 1 and _ends_word(text, start, LEAST_BEFORE_NUMBER)
    # A WBR within a word isn't closed.
    is_closed = text[end + len(inner) : end + len(inner) + 1] in tuple(_ENDS_INLINE)
    return len(inner) > 1 and is_closed and _ends_word(text, start, LEAST_BEFORE_LABEL)


def _ends_word(text: str, end: int, least: int) -> bool:
    """Return whether a word of this many letters at least ends at a place."""
    letters = text[max(0, end - least) : end]
    return len(letters) == least and " " not in letters and not _INLINE.search(letters)


def _joined(text: str) -> str:
    """Return a text without the tags beside blanks, which part nothing."""
    for tag in "\x04\x05":
        text = text.replace(f" {tag}", " ").replace(f"{tag} ", " ")
    return text


# Elements of paragraphs that may be hidden, and what hides them: an attribute with such a value.
# Classes hide an element unless others show it on large screens. A label of a field is what a form
# asks for.
_MAY_BE_HIDDEN: Final = (
    "p > [style], p > [hidden], p > [class], p > * > [style], p > [popover], p [role=tooltip], "
    "p > label, form > label, fieldset > label"
)
_HIDING: Final = {
    name: re.compile(pattern, re.DOTALL)
    for name, pattern in {
        "hidden": "",
        "popover": "",
        "role": "^tooltip$",
        "style": r"display[ :]+none|visibility[ :]+hidden|(?:left|text-indent)[ :]+-\d{3,}"
        r"|clip[ :]+rect\( *0|clip-path[ :]+inset\( *50|mso-hide[ :]+all"
        r"|(?:font-size|(?<![a-z-])(?:max-)?(?:height|width))[ :]+0(?:px|em|\.0+)? *(?:[;!]|$)",
        "class": r"visually[-_]?hidden|screen[-_]?reader|a11y-hidden|assistive|off-?screen"
        r"|element-invisible|(?<![\w-])(?:sr[-_](?:only|text|label)|accessib(?:le|ility)-?(?:text|label|hidden)"
        r"|show-for-sr|tooltip[-_]*(?:text|content|body)(?![\w-]))"
        r"|^(?!.*(?::|\bd-\w+-|\b(?:show|visible)-)).*(?<!\S)(?:(?:is-|u-|mw-)?hidden|d-none|invisible"
        r"|hide|vh|audible)(?!\S)",
    }.items()
}
# Ours: characters of a text that isn't shown; a longer one is the rest that readers unfold.
MAX_HIDDEN: Final = 200


def drop_hidden(tree: LexborHTMLParser) -> None:
    """Remove the inline elements of paragraphs that aren't shown: tooltips, glosses, labels for
    screen readers."""
    hidden = [node for node in tree.css(_MAY_BE_HIDDEN) if _is_hidden(node)]
    addresses = {node.mem_id for node in hidden}
    outermost = []
    for node in hidden:
        around = node.parent
        while around is not None and around.mem_id not in addresses:
            around = around.parent
        if around is None and 0 < len(node.text()) <= MAX_HIDDEN:
            outermost.append(node)
    for node in outermost:  # what is within one is gone with it
        node.decompose()


def _is_hidden(node: LexborNode) -> bool:
    attributes, parent = node.attributes, node.parent
    for name, pattern in _HIDING.items():
        if name in attributes and pattern.search((attributes[name] or "").lower()):
            return True
    if node.tag_id != tag_id("label") or parent is None:
        return False
    return "for" in attributes or parent.css_first("input, select, textarea") is not None


def names_of(node: LexborNode) -> ElementNames:
    """Return the names of an element."""
    attributes = node.attributes
    if not attributes:
        return None
    get = attributes.get
    classes = (get("class") or "")[:MAX_NAME_LENGTH]
    if _MORE_NAMES.isdisjoint(attributes):
        return classes or None
    style = get("style")
    hidden = (
        "hidden" in attributes
        or get("aria-hidden") == "true"
        or (style is not None and "display:none" in style.replace(" ", ""))
    )
    identity, itemprop, role = [
        (get(name) or "")[:MAX_NAME_LENGTH] for name in ("id", "itemprop", "role")
    ]
    return classes, identity, itemprop, role, hidden


@cache
def _steps(profile: ProfileName) -> tuple[int, ...]:
    """Return the walk's step for each node that the parser knows, by its number: the action of the
    profile, or a special step for links and line breaks."""
    steps = {tag: int(action) for tag, action in actions(profile).items()}
    steps |= {TEXT: _READ, COMMENT: _PASS, _A: _LINK}
    steps |= {_BR: _LINE_BREAK} if profile == "html5" else {}
    return tuple([steps.get(tag, _BOUNDARY) for tag in range(LAST_KNOWN_TAG + 1)])


def walk(start: LexborNode | None, steps: Sequence[int]) -> Walked:  # noqa: C901, PLR0912, PLR0915
    """Walk in document order without recursion. The loop runs thousands of times a page: local
    variables and few calls take little more than half the time of methods."""
    pieces: list[str] = []
    rows: list[int] = []
    removed: list[int] = []
    nodes = [] if start is None else [start]
    elements = [number for node in nodes for number in (-1, node.tag_id, 0, 0)]
    add = pieces.append
    owner = tags = images = breaks = 0
    has_text = after_break = False
    entered: list[tuple[LexborNode, int]] = []  # below the first, each with its step
    most = 5 * MAX_BLOCKS  # numbers in the rows
    node = start.first_child if start is not None else None
    while (node is not None or entered) and len(rows) < most:
        if node is None:
            node, step = entered.pop()
            if step == _BOUNDARY:
                if has_text:
                    rows += owner, tags, images, len(removed), after_break
                    add(END_OF_BLOCK)
                has_text, after_break, breaks = False, False, 0
                elements[4 * owner + 3] = len(nodes)
                owner = elements[4 * owner]
            elif has_text or step == _LINK:
                add(_CLOSING[step])
            node = node.next
            continue
        tag = node.tag_id
        if tag == TEXT:  # half of all nodes
            text = node.text_content
            if text and (has_text or not text.isspace()):
                add(text)
                has_text = True
                breaks = breaks and breaks * text.isspace()
            node = node.next
            continue
        if tag <= LAST_KNOWN_TAG:
            step = steps[tag]
        else:  # within a paragraph an unknown element is inline, and unrecorded
            step = _THROUGH if elements[4 * owner + 1] in _PARAGRAPH_LIKE_IDS else _BOUNDARY
        if step == _PRUNE:
            tags += 2
            images += tag == _IMG
        elif step != _PASS:
            tags += 2
            if step == _BOUNDARY:
                if has_text:
                    rows += owner, tags, images, len(removed), after_break
                    add(END_OF_BLOCK)
                has_text, after_break, breaks = False, False, 0
                elements += owner, tag, len(entered) + 1, 0
                owner = len(nodes)
                nodes.append(node)
            elif step != _THROUGH:
                removed.append(tag)
                if has_text or step == _LINK:
                    add(_OPENING[step])
                if step == _LINE_BREAK and (breaks := breaks + 1) == _PARAGRAPH_BREAK:
                    if has_text:
                        rows += owner, tags, images, len(removed), after_break
                        add(END_OF_BLOCK)
                    has_text, after_break = False, True
            entered.append((node, step))
            node = node.first_child
            continue
        node = node.next
    if has_text:
        rows += owner, tags, images, len(removed), after_break
        add(END_OF_BLOCK)
    while owner >= 0 and nodes:  # still open, where the walk has stopped at the limit
        elements[4 * owner + 3] = len(nodes)
        owner = elements[4 * owner]
    return Walked(
        text="".join(pieces),
        rows=np.array(rows, dtype=np.int64),
        removed=np.array(removed, dtype=np.int64),
        elements=np.array(elements, dtype=np.int64),
        names=lambda element: names_of(nodes[element]),
    )


def _within_limits(texts: list[str]) -> list[str]:
    """Return the first texts, cut to what a block and a page may have."""
    result: list[str] = []
    room = MAX_TEXT
    for text in texts:
        if room <= 0:
            break
        result.append(text if len(text) <= MAX_BLOCK else _beginning(text))
        room -= len(result[-1])
    return result


def _beginning(text: str) -> str:
    """Return the beginning of a text, after its white space was replaced by single blanks. It
    leaves as many links open as the whole text does."""
    squeezed = " ".join(text.split())
    left_out = squeezed[MAX_BLOCK:]
    still_open = left_out.count(LINK_START) - left_out.count(LINK_END)
    mark = LINK_START if still_open > 0 else LINK_END
    return squeezed[:MAX_BLOCK] + abs(still_open) * mark


# --- The same walk, compiled ---------------------------------------------------------------------


@cache
def _walker(profile: ProfileName) -> Any:
    """Return the kernel's walk over the tables of a profile."""
    kernel = compiled.kernel
    assert kernel is not None  # noqa: S101 - asked for by its one caller
    steps = {"prune": _PRUNE, "boundary": _BOUNDARY, "link": _LINK, "line_break": _LINE_BREAK}
    steps |= {"read": _READ, "pass": _PASS, "through": _THROUGH}
    paragraph_like = bytearray(LAST_KNOWN_TAG + 1)
    for tag in _PARAGRAPH_LIKE_IDS:
        paragraph_like[tag] = True
    opening, closing = (
        bytes([ord(marks.get(step) or "\0") for step in range(kernel.STEPS_OF_WALK)])
        for marks in (_OPENING, _CLOSING)
    )
    return kernel.Walk(
        steps=bytes(_steps(profile)),
        paragraph_like=bytes(paragraph_like),
        opening=opening,
        closing=closing,
        step=steps,
        limits={
            "image": _IMG,
            "paragraph_break": _PARAGRAPH_BREAK,
            "max_blocks": MAX_BLOCKS,
            "max_block": MAX_BLOCK,
            "max_text": MAX_TEXT,
            "max_name": MAX_NAME_LENGTH,
        },
        attributes=compiled.attribute_numbers(kernel),
    )


# --- Candidates ----------------------------------------------------------------------------------
# A third of a page's blocks are in runs of short links, and a quarter of a percent of the words
# that are content. The other blocks are the candidates, which the combined method weighs.

# Ours, fitted on the development corpus: shorter runs hold 0.5 % of the words that are content.
MIN_RUN: Final = 3
MAX_LINK: Final = 60  # characters


@dataclass(frozen=True, slots=True)
class Candidates:
    """The blocks of a page that may be content.

    `places` are their places among all blocks. `left_out_before[i]` blocks were left out right
    before candidate i, `left_out_after[i]` right after it; `words_left_out` are those of all.
    """

    page: BlockPage
    places: NDArray[np.int64]
    left_out_before: NDArray[np.int64]
    left_out_after: NDArray[np.int64]
    words_left_out: int


def find_candidates(page: BlockPage) -> Candidates:
    """Leave out the runs of short links of a page."""
    links = np.array(
        [
            len(raw) <= MAX_LINK + 1
            and raw[:1] == LINK_START
            and raw.find(LINK_END) == len(raw) - 1
            for raw in page.raw
        ],
        dtype=bool,
    )
    in_run = links & (_run_lengths(links) >= MIN_RUN)
    places = (~in_run).nonzero()[0]
    edges = np.concatenate(([-1], places, [len(page)]))
    gaps = edges[1:] - edges[:-1] - 1
    return Candidates(
        page=page.select(places),
        places=places,
        left_out_before=gaps[:-1],
        left_out_after=gaps[1:],
        words_left_out=sum([page.raw[at].count(" ") + 1 for at in in_run.nonzero()[0].tolist()]),
    )


def _run_lengths(flags: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return for each place the length of the run of equal flags that contains it."""
    starts = (flags[1:] != flags[:-1]).nonzero()[0] + 1
    edges = np.concatenate(([0], starts, [len(flags)]))
    lengths = edges[1:] - edges[:-1]
    return lengths.repeat(lengths)


# --- Repetitions ---------------------------------------------------------------------------------
# A page may show its article twice, for print or for small screens, or its first paragraph above
# the article, too.

# Ours, fitted on the development corpus: the minimum words of a paragraph that is extracted only
# once. Articles repeat shorter ones on purpose (refrains, labels of lists, columns of tables).
MIN_ONCE: Final = 12
# Ours: a text with longer "words" has no blanks between words; two letters count as a word.
LETTERS_A_WORD: Final = 12
# Ours: letters by which texts that may be equal are found.
HEAD: Final = 16
_WORDS: Final = re.compile(r"\w+")
_NO_LETTERS: Final = re.compile(r"[^\w\n]+")


def without_repetitions(page: BlockPage, mask: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return the kept blocks without exact repetitions of an earlier one, and without those that
    are the beginning of another one.

    Short blocks next to a repeated long one are left out if they were next to its original.
    """
    places = mask.nonzero()[0].tolist()
    raws = [page.raw[place] for place in places]
    # Their first letters and digits, by which texts that may be equal are found; not of short ones.
    openings = [raw[: 2 * HEAD] if len(raw) >= 2 * MIN_ONCE else "" for raw in raws]
    heads = [letters[:HEAD] for letters in letters_of_each(openings)]
    if len(set(heads)) + max(heads.count("") - 1, 0) == len(heads):
        return mask
    times = Counter(filter(None, heads))
    # Only texts with equal heads are compared by letters, which is slow.
    texts = [
        raw if times[head] == 1 else letters_of(raw) for head, raw in zip(heads, raws, strict=True)
    ]
    # For each text whether it is a repetition.
    words = [raw.count(" ") + 1 for raw in raws]
    long = [
        (len(text) // 2 if len(text) > LETTERS_A_WORD * count else count) >= MIN_ONCE
        for text, count in zip(texts, words, strict=True)
    ]
    first: dict[str, int] = {}
    earlier = [first.setdefault(text, number) for number, text in enumerate(texts)]
    copies = {at: before for at, before in enumerate(earlier) if long[at] and before < at}
    for at, before in list(copies.items()):
        for step in (1, -1):
            _follow_copy(texts, copies, (at, before), step)
    sorted_texts = sorted(
        (texts[at], at) for at in range(len(texts)) if long[at] and at not in copies
    )
    shortened = {
        at for (text, at), (longer, _) in pairwise(sorted_texts) if longer.startswith(text)
    }
    repeated = [at in copies or at in shortened for at in range(len(texts))]
    result = mask.copy()
    result[[place for place, again in zip(places, repeated, strict=True) if again]] = False
    return result


def _follow_copy(
    texts: list[str], copies: dict[int, int], pair: tuple[int, int], step: int
) -> None:
    """Add the texts before or after a copy that are equal to those next to its original."""
    at, before = pair[0] + step, pair[1] + step
    while 0 <= before < at < len(texts) and at not in copies and texts[at] == texts[before]:
        copies[at] = before
        at, before = at + step, before + step


def letters_of(text: str) -> str:
    """Return the letters and digits of a text, in lower case, by which texts are compared."""
    return "".join(_WORDS.findall(text.lower()))


def letters_of_each(texts: Iterable[str]) -> list[str]:
    """Return what `letters_of` returns for each of several texts, which have no ends of lines."""
    return _NO_LETTERS.sub("", "\n".join(texts).lower().replace(" ", "")).split("\n")
