"""Runs of short links are left out before blocks are weighed."""

import pytest

from newscrawl.extraction.blocks import MAX_LINK, MIN_RUN, find_candidates
from newscrawl.extraction.methods import parse_page

MENU = "".join(f"<li><a href=/{name}>{name} pages</a></li>" for name in ("One", "Two", "Three"))
PAGE = f"<body><h1>Head</h1><ul>{MENU}</ul><p>Text.</p><p><a href=/x>Alone</a></p><ul>{MENU}</ul>"


def test_runs_are_left_out_and_counted() -> None:
    candidates = find_candidates(parse_page(PAGE).blocks)
    assert candidates.page.texts == ["Head", "Text."]
    assert candidates.places.tolist() == [0, 4]
    assert candidates.left_out_before.tolist() == [0, 3]
    assert candidates.left_out_after.tolist() == [3, 4]
    assert candidates.words_left_out == 13


def test_what_is_left_keeps_its_columns() -> None:
    page = parse_page(PAGE.replace("Text.", "Some <b>text</b>.")).blocks
    left = find_candidates(page).page
    assert left.owners.tolist() == page.owners[[0, 4]].tolist()
    assert (
        left.removed.tolist() == page.removed[page.removed_from[4] : page.removed_from[5]].tolist()
    )
    assert left.removed_from.tolist() == [0, 0, 1]
    assert left.elements is page.elements


@pytest.mark.parametrize(
    "html",
    [
        "<p><a>one</a></p>" * (MIN_RUN - 1) + "<p>text</p>",
        "<p>see <a>one</a></p>" * 5,
        "<p><a>one</a> <a>two</a></p>" * 5,
        f"<p><a>{'x' * MAX_LINK}</a></p>" * 5,
        "",
    ],
    ids=["short run", "words outside", "two links", "long links", "empty"],
)
def test_other_blocks_stay(html: str) -> None:
    page = parse_page(html).blocks
    assert find_candidates(page).page.raw == page.raw


def test_page_of_links_alone_has_no_candidates() -> None:
    view = parse_page("<p><a>one</a></p>" * 5)
    assert not len(view.candidates.page)
    assert view.link_words == 5
