"""The two boundary profiles: Figure 2 to the letter, and today's markup."""

import pytest

from newscrawl.extraction.blocks import (
    FIGURE_2,
    FORMATS,
    HTML5,
    LISTS,
    PARAGRAPH_LIKE,
    STRUCTURE,
    Action,
    ProfileName,
    actions,
    tag_id,
    tag_ids,
)

# The columns of Figure 2, typed off the paper. CITE and SAMP are printed as pruned, too, and
# FRAMESET as removed, and COMMENT is no element to the parser: see docs/algorithms.md.
WITH_SPACE = """BR CAPTION CENTER CITE DD DIV DL DT FRAME H1 H2 H3 H4 H5 H6 HR LABEL LI NOBR OL P
PRE S SAMP U UL WBR XMP"""
WITHOUT_SPACE = "A B BIG BLINK EM FONT FORM I SMALL SPAN STRIKE STRONG SUB SUP VAR"
PRUNED = """ADDRESS APPLET AREA BASE BGSOUND BUTTON COL COLGROUP DEL DIR EMBED FIELDSET
FRAMESET HEAD IMG INPUT INS LISTING MAP OPTION SCRIPT STYLE TEXTAREA"""

# What the HTML standard draws as blocks, of the elements that hold text.
BLOCK_LEVEL = """address article aside blockquote body dd details div dl dt fieldset figcaption
figure footer form h1 h2 h3 h4 h5 h6 header hr li main nav ol p pre section table td th tr ul"""


@pytest.mark.parametrize(
    ("column", "action"),
    [
        (WITH_SPACE, Action.REMOVE_WITH_SPACE),
        (WITHOUT_SPACE, Action.REMOVE),
        (PRUNED, Action.PRUNE),
    ],
    ids=["with space", "without space", "pruned"],
)
def test_profile_2007_is_figure_2(column: str, action: Action) -> None:
    found = actions("2007")
    named = [number for number, given in found.items() if given is action]
    assert sorted(named) == sorted(tag_ids(column.lower()))


@pytest.mark.parametrize("name", ["td", "tr", "table", "body", "article", "section", "blockquote"])
def test_what_figure_2_does_not_name_is_a_boundary(name: str) -> None:
    assert tag_id(name) not in actions("2007")


@pytest.mark.parametrize("name", BLOCK_LEVEL.split())
def test_block_level_elements_are_boundaries_in_html5(name: str) -> None:
    assert tag_id(name) not in actions("html5")


@pytest.mark.parametrize("table", [FIGURE_2, HTML5], ids=["2007", "html5"])
def test_no_element_is_of_two_classes(table: dict[Action, str]) -> None:
    names = [name for column in table.values() for name in column.split()]
    assert len(names) == len(set(names))


@pytest.mark.parametrize("profile", ["html5", "2007"])
def test_each_element_has_a_number_of_its_own(profile: ProfileName) -> None:
    table = FIGURE_2 if profile == "2007" else HTML5
    assert len(actions(profile)) == len(" ".join(table.values()).split())


@pytest.mark.parametrize("names", [FORMATS, LISTS, STRUCTURE, PARAGRAPH_LIKE])
def test_counted_elements_are_not_pruned(names: str) -> None:
    pruned = {number for number, action in actions("html5").items() if action is Action.PRUNE}
    assert not pruned & tag_ids(names)


@pytest.mark.parametrize(
    "names",
    [*FIGURE_2.values(), *HTML5.values(), FORMATS, LISTS, STRUCTURE, PARAGRAPH_LIKE],
)
def test_parser_knows_each_name(names: str) -> None:
    """What it does not know gets the number of a place in memory, another one on each page."""
    assert max(tag_ids(names)) < 4096
