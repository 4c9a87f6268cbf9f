"""Text in pieces: mentions and changes are marked, and no character is lost."""

from hypothesis import given, strategies as st

from newscrawl.dashboard.rendering import (
    article_address,
    changes,
    company_address,
    paragraphs,
    pieces,
)
from newscrawl.reports.curves import spark
from tests.worlds import body

TEXTS = st.lists(st.text("ab .<\n", max_size=12), max_size=6).map("\n\n".join)


def test_mentions_are_marked_at_their_offsets():
    text = "Bosch and Siemens.\n\nSiemens again."
    found = paragraphs(text, [body("Siemens", 10), body("Siemens", 20), body("Bosch", 0)])
    assert [
        [(piece.text, piece.mention and piece.mention.company) for piece in row] for row in found
    ] == [
        [("Bosch", "Bosch"), (" and ", None), ("Siemens", "Siemens"), (".", None)],
        [("Siemens", "Siemens"), (" again.", None)],
    ]


def test_first_and_longest_of_overlapping_mentions_counts():
    marked = pieces("Deutsche Bank Park", [body("Deutsche Bank"), body("Bank", 9)])
    assert [piece.mention and piece.mention.company for piece in marked] == ["Deutsche Bank", None]


@given(TEXTS, TEXTS)
def test_changes_hold_both_versions_completely(before, after):
    rows = changes(before, after)
    old = "".join(edit.text for row in rows for edit in row if edit.change != "new")
    new = "".join(edit.text for row in rows for edit in row if edit.change != "gone")
    assert old == before.replace("\n\n", "")
    assert new == after.replace("\n\n", "")


def test_rewritten_paragraph_is_compared_word_by_word():
    (row,) = changes("It costs nine million.", "It costs twelve million.")
    assert [(edit.text, edit.change) for edit in row] == [
        ("It costs ", "same"),
        ("nine", "gone"),
        ("twelve", "new"),
        (" million.", "same"),
    ]


def test_very_long_paragraph_is_shown_as_replaced():
    (row,) = changes("a " * 5000, "b " * 5000)
    assert [edit.change for edit in row] == ["gone", "new"]


def test_spark_is_broken_by_gaps():
    assert len(spark([1, 2, None, 3, None])) == 2
    assert spark([None, None]) == []


@given(st.lists(st.none() | st.integers(0, 10**9), max_size=40))
def test_spark_stays_within_its_frame(values):
    for path in spark(values):
        numbers = [float(part) for part in path.removeprefix("M").replace("L", "").split()]
        assert all(0 <= x <= 120 for x in numbers[::2])
        assert all(0 <= y <= 28 for y in numbers[1::2])


def test_page_addresses_hold_any_name():
    assert company_address("A/B & C?#é") == "/company/A%2FB%20%26%20C%3F%23%C3%A9"
    assert (
        article_address('https://a/?b=1&c="') == "/article?url=https%3A%2F%2Fa%2F%3Fb%3D1%26c%3D%22"
    )
