"""The two boundary profiles: what becomes of each element when blocks are merged.

`2007` is Figure 2 of Ziegler & Skubacz to the letter; `html5` is ours, for today's markup:
block-level elements end a block, inline elements are removed (docs/algorithms.md, section 1).
"""

from enum import IntEnum
from functools import cache
from typing import Final, Literal

from selectolax.lexbor import LexborHTMLParser

ProfileName = Literal["html5", "2007"]


# The parser's numbers of what is no element: text, comments, and the last of all such.
TEXT: Final = 2
COMMENT: Final = 4
LAST_NO_ELEMENT: Final = 5


class Action(IntEnum):
    """The four classes of elements of algorithms.md, section 1."""

    PRUNE = 0
    REMOVE_WITH_SPACE = 1
    REMOVE = 2
    BOUNDARY = 3


# Ziegler & Skubacz 2007, Figure 2. CITE and SAMP stand in two columns of the scan (removal
# wins), FRAMESET too (pruning wins). "H.L" of the scan stands for H1 to H6. COMMENT is missing
# here: the walk passes over comments, and the parser knows no element of that name.
FIGURE_2: Final[dict[Action, str]] = {
    Action.REMOVE_WITH_SPACE: "br caption center cite dd div dl dt frame h1 h2 h3 h4 h5 h6 hr label"
    " li nobr ol p pre s samp u ul wbr xmp",
    Action.REMOVE: "a b big blink em font form i small span strike strong sub sup var",
    Action.PRUNE: "address applet area base bgsound button col colgroup del dir embed"
    " fieldset frameset head img input ins listing map option script style textarea",
}

# Ours: the HTML standard's phrasing content is removed, what never holds text is pruned.
# FORM, HEADER, FOOTER, ASIDE and NAV stay: whole articles stand inside them on some sites.
HTML5: Final[dict[Action, str]] = {
    Action.REMOVE_WITH_SPACE: "br wbr label output meter progress",
    Action.REMOVE: "a abbr acronym b bdi bdo big blink cite code data del dfn em font i ins kbd"
    " mark nobr q ruby rb s samp small span strike strong sub sup time tt u var",
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
    """The parser's numbers for element names, which are fixed for all elements of HTML."""
    maker = LexborHTMLParser("")
    return frozenset(maker.create_node(name).tag_id for name in names.split())


@cache
def tag_id(name: str) -> int:
    """The parser's number for one element name."""
    (number,) = tag_ids(name)
    return number


@cache
def actions(profile: ProfileName) -> dict[int, Action]:
    """What becomes of each element, by the parser's tag number; absent ones are boundaries."""
    table = FIGURE_2 if profile == "2007" else HTML5
    return {number: action for action, names in table.items() for number in tag_ids(names)}
