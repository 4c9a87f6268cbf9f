"""Text blocks by DOM merge (Ziegler & Skubacz 2007, section 3.1).

One walk over the parsed tree: pruned elements are passed over, removed ones leave their text
and are recorded in the block they stood in, all others end a block. The tree is not changed.
"""

from dataclasses import dataclass
from typing import Final, cast

import numpy as np
from numpy.typing import NDArray
from selectolax.lexbor import LexborHTMLParser, LexborNode

from newscrawl.extraction.profiles import (
    PARAGRAPH_LIKE,
    Action,
    ProfileName,
    actions,
    tag_id,
    tag_ids,
)

# In a block's raw text these two enclose what stood inside <a>; `clean` takes them out.
LINK_START: Final = "\x02"
LINK_END: Final = "\x03"
_UNWANTED: Final = (LINK_START, LINK_END, "\x00", "\xad", "\u200b", "\u2060", "\ufeff")

_MARKS: Final = frozenset((LINK_START, LINK_END))

# The parser's numbers. It numbers the elements of HTML, SVG and MathML from 0 on; those that it
# does not know get numbers of another kind, far above.
_TEXT: Final = 2
_COMMENT: Final = 4
_A: Final = tag_id("a")
_BR: Final = tag_id("br")
_IMG: Final = tag_id("img")
LAST_KNOWN_TAG: Final = 4095
_PARAGRAPH_LIKE_IDS: Final = tag_ids(PARAGRAPH_LIKE)

# How to leave an element: as its action says, or as a link.
_PRUNE, _REMOVE_WITH_SPACE, _REMOVE, _BOUNDARY = map(int, Action)
_LINK: Final = 4

# Ours: an empty line made of two BR parts paragraphs on pages that have no P.
_PARAGRAPH_BREAK: Final = 2


@dataclass(frozen=True, slots=True)
class Elements:
    """The boundary elements that were entered, in document order; 0 is the root.

    `parents[i]` and `tags[i]` say where element i stands and what it is, `depths[i]` how many
    boundary elements enclose it; `nodes[i]` is its node in the tree, for attributes.
    """

    parents: NDArray[np.int32]
    tags: NDArray[np.int32]
    depths: NDArray[np.int32]
    nodes: tuple[LexborNode, ...]


@dataclass(frozen=True, slots=True)
class BlockPage:
    """The blocks of a page in document order, as columns of equal length.

    `raw` are the merged texts, links enclosed by `LINK_START` and `LINK_END`; `owners` index
    the boundary element each block stands in. The elements that were removed in block i are
    `removed[removed_from[i]:removed_from[i + 1]]`, as the parser's tag numbers. `tags` counts
    the start and end tags between the end of the block before and the end of this one, `images`
    the images in that stretch, `breaks` is true where the block begins after a line break
    and not at an element.
    """

    raw: tuple[str, ...]
    owners: NDArray[np.int32]
    removed: NDArray[np.int32]
    removed_from: NDArray[np.int32]
    tags: NDArray[np.int32]
    images: NDArray[np.int32]
    breaks: NDArray[np.bool_]
    elements: Elements
    profile: ProfileName

    def __len__(self) -> int:
        return len(self.raw)

    @property
    def texts(self) -> list[str]:
        """The texts as a person would read them."""
        return [clean(text) for text in self.raw]


def clean(raw: str) -> str:
    """A block's text without link marks, soft hyphens and zero-width characters."""
    for mark in _UNWANTED:  # looking for seven characters is ten times faster than one pattern
        if mark in raw:
            raw = raw.replace(mark, "")
    return raw.strip()


def read_blocks(tree: LexborHTMLParser, profile: ProfileName = "html5") -> BlockPage:
    """Merge the text of a parsed page into blocks under a boundary profile."""
    walk = _Walk(profile)
    start = tree.body or tree.root
    if start is not None:
        walk.run(start)
    return walk.result()


class _Walk:
    """The state of one walk; `run` is the only loop over the page's nodes."""

    __slots__ = (
        "_action_of", "_after_break", "_breaks", "_depths", "_has_text", "_images", "_nodes",
        "_owner", "_parents", "_pieces", "_profile", "_raw", "_removed", "_rows", "_tag_ids",
        "_tags", "_tags_before",
    )  # fmt: skip

    def __init__(self, profile: ProfileName) -> None:
        self._profile = profile
        self._action_of = actions(profile).get
        self._owner = -1
        self._pieces: list[str] = []
        self._has_text = self._after_break = False
        self._breaks = self._images = self._tags = self._tags_before = 0
        self._removed: list[int] = []
        self._raw: list[str] = []
        self._rows: list[tuple[int, int, int, int, bool]] = []
        self._parents: list[int] = []
        self._tag_ids: list[int] = []
        self._depths: list[int] = []
        self._nodes: list[LexborNode] = []

    def run(self, start: LexborNode) -> None:
        """Walk in document order without recursion; each node is entered and left once."""
        add = self._pieces.append
        self._enter(start, start.tag_id)
        left_by: list[int] = []  # for each element that is open below `start`: how to leave it
        node = start.first_child
        while node is not None:
            tag = node.tag_id
            if tag == _TEXT:
                text = node.text_content
                if not text or text.isspace():
                    if self._has_text:
                        add(" ")
                else:
                    add(text)
                    self._has_text = True
                    self._breaks = 0
            elif tag != _COMMENT:
                action = self._open(node, tag)
                if action != _PRUNE:
                    if (child := node.first_child) is not None:
                        left_by.append(action)
                        node = child
                        continue
                    self._leave(action)
            following = node.next
            while following is None and left_by:
                node = cast("LexborNode", node.parent)
                self._leave(left_by.pop())
                following = node.next
            node = following
        self._end_block()

    def _open(self, node: LexborNode, tag: int) -> int:
        """Do what the start of an element asks for; say what its end will ask for."""
        self._tags += 2
        action = self._action_of(tag, _BOUNDARY)
        if action == _BOUNDARY:
            if tag > LAST_KNOWN_TAG and self._tag_ids[self._owner] in _PARAGRAPH_LIKE_IDS:
                return _REMOVE
            if self._pieces:
                self._end_block()
            self._breaks = 0
            self._enter(node, tag)
        elif action == _PRUNE:
            self._images += tag == _IMG
        else:
            self._removed.append(tag)
            if tag == _A:
                self._pieces.append(LINK_START)
                return _LINK
            if action == _REMOVE_WITH_SPACE:
                if self._has_text:
                    self._pieces.append(" ")
                if tag == _BR:
                    self._break_line()
        return action

    def _leave(self, action: int) -> None:
        if action == _BOUNDARY:
            if self._pieces:
                self._end_block()
            self._after_break = False
            self._breaks = 0
            self._owner = self._parents[self._owner]
        elif action == _LINK:
            self._pieces.append(LINK_END)
        elif action == _REMOVE_WITH_SPACE and self._has_text:
            self._pieces.append(" ")

    def _break_line(self) -> None:
        self._breaks += 1
        if self._breaks == _PARAGRAPH_BREAK and self._profile == "html5":
            self._end_block()
            self._after_break = True

    def _enter(self, node: LexborNode, tag: int) -> None:
        self._after_break = False
        parent, self._owner = self._owner, len(self._parents)
        self._parents.append(parent)
        self._tag_ids.append(tag if tag <= LAST_KNOWN_TAG else LAST_KNOWN_TAG + 1)
        self._depths.append(self._depths[parent] + 1 if parent >= 0 else 0)
        self._nodes.append(node)

    def _end_block(self) -> None:
        """Close the open block if it holds any text; link marks without text go to the next one."""
        pieces = self._pieces
        if self._has_text:
            self._raw.append(" ".join("".join(pieces).split()))
            pieces.clear()
            tags = self._tags - self._tags_before
            row = (self._owner, tags, self._images, len(self._removed), self._after_break)
            self._rows.append(row)
            self._tags_before = self._tags
            self._has_text = False
            self._images = 0
        elif pieces:
            pieces[:] = [piece for piece in pieces if piece in _MARKS]
        self._after_break = False

    def result(self) -> BlockPage:
        table = np.array(self._rows, dtype=np.int32).reshape(len(self._rows), 5)
        removed = np.array(self._removed, dtype=np.int64).clip(max=LAST_KNOWN_TAG + 1)
        return BlockPage(
            raw=tuple(self._raw),
            owners=table[:, 0],
            removed=removed.astype(np.int32),
            removed_from=np.concatenate(([0], table[:, 3])).astype(np.int32),
            tags=table[:, 1],
            images=table[:, 2],
            breaks=table[:, 4].astype(bool),
            elements=Elements(
                parents=np.array(self._parents, dtype=np.int32),
                tags=np.array(self._tag_ids, dtype=np.int32),
                depths=np.array(self._depths, dtype=np.int32),
                nodes=tuple(self._nodes),
            ),
            profile=self._profile,
        )
