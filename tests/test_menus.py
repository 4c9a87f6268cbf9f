"""Runs of short links are left out before blocks are weighed."""

import pytest

from newscrawl.extraction.blocks import LONGEST_LINK, SHORTEST_RUN, candidates_of
from newscrawl.extraction.methods import look

MENU = "".join(f"<li><a href=/{name}>{name} pages</a></li>" for name in ("One", "Two", "Three"))
PAGE = f"<body><h1>Head</h1><ul>{MENU}</ul><p>Text.</p><p><a href=/x>Alone</a></p><ul>{MENU}</ul>"


def test_runs_are_left_out_and_counted() -> None:
    candidates = candidates_of(look(PAGE).blocks)
    assert candidates.page.texts == ["Head", "Text."]
    assert candidates.places.tolist() == [0, 4]
    assert candidates.left_out_before.tolist() == [0, 3]
    assert candidates.left_out_after.tolist() == [3, 4]
    assert candidates.words_left_out == 13


def test_what_is_left_keeps_its_columns() -> None:
    page = look(PAGE.replace("Text.", "Some <b>text</b>.")).blocks
    left = candidates_of(page).page
    assert left.owners.tolist() == page.owners[[0, 4]].tolist()
    assert (
        left.removed.tolist() == page.removed[page.removed_from[4] : page.removed_from[5]].tolist()
    )
    assert left.removed_from.tolist() == [0, 0, 1]
    assert left.elements is page.elements


@pytest.mark.parametrize(
    "html",
    [
        "<p><a>one</a></p>" * (SHORTEST_RUN - 1) + "<p>text</p>",
        "<p>see <a>one</a></p>" * 5,
        "<p><a>one</a> <a>two</a></p>" * 5,
        f"<p><a>{'x' * LONGEST_LINK}</a></p>" * 5,
        "",
    ],
    ids=["short run", "words outside", "two links", "long links", "empty"],
)
def test_other_blocks_stay(html: str) -> None:
    page = look(html).blocks
    assert candidates_of(page).page.raw == page.raw


def test_page_of_links_alone_has_no_candidates() -> None:
    view = look("<p><a>one</a></p>" * 5)
    assert not len(view.candidates.page)
    assert view.link_words == 5
