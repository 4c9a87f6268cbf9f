"""Text in pieces: mentions marked, changes told, nothing lost."""

from hypothesis import given
from hypothesis import strategies as st

from newscrawl.dashboard.charts import spark
from newscrawl.dashboard.marked import changes, highlighted, paragraphs, pieces
from newscrawl.dashboard.rendering import article_address, company_address, make_templates, web
from tests.worlds import body

TEXTS = st.lists(st.text("ab .<\n", max_size=12), max_size=6).map("\n\n".join)


def test_mentions_are_marked_where_they_stand() -> None:
    text = "Bosch and Siemens.\n\nSiemens again."
    found = paragraphs(text, [body("Siemens", 10), body("Siemens", 20), body("Bosch", 0)])
    assert [[(piece.text, piece.company) for piece in row] for row in found] == [
        [("Bosch", "Bosch"), (" and ", None), ("Siemens", "Siemens"), (".", None)],
        [("Siemens", "Siemens"), (" again.", None)],
    ]


@given(st.text(max_size=30), st.lists(st.tuples(st.integers(-5, 40), st.integers(-5, 40))))
def test_no_marks_whatsoever_lose_or_double_a_character(
    text: str, marks: list[tuple[int, int]]
) -> None:
    assert "".join(piece.text for piece in highlighted(text, marks)) == text


def test_of_marks_that_overlap_the_first_and_longest_counts() -> None:
    marked = pieces("Deutsche Bank Park", [body("Deutsche Bank"), body("Bank", 9)])
    assert [piece.company for piece in marked] == ["Deutsche Bank", None]


@given(TEXTS, TEXTS)
def test_changes_hold_both_versions_whole(before: str, after: str) -> None:
    rows = changes(before, after)
    old = "".join(edit.text for row in rows for edit in row if edit.change != "new")
    new = "".join(edit.text for row in rows for edit in row if edit.change != "gone")
    assert old == before.replace("\n\n", "")
    assert new == after.replace("\n\n", "")


def test_a_rewritten_paragraph_is_compared_word_by_word() -> None:
    (row,) = changes("It costs nine million.", "It costs twelve million.")
    assert [(edit.text, edit.change) for edit in row] == [
        ("It costs ", "same"),
        ("nine", "gone"),
        ("twelve", "new"),
        (" million.", "same"),
    ]


def test_very_long_paragraphs_are_told_as_replaced() -> None:
    (row,) = changes("a " * 5000, "b " * 5000)
    assert [edit.change for edit in row] == ["gone", "new"]


def test_a_curve_is_broken_by_gaps() -> None:
    assert len(spark([1, 2, None, 3, None])) == 2
    assert spark([None, None]) == []


@given(st.lists(st.none() | st.integers(0, 10**9), max_size=40))
def test_a_curve_stays_within_its_frame(values: list[int | None]) -> None:
    for path in spark(values):
        numbers = [float(part) for part in path.removeprefix("M").replace("L", "").split()]
        assert all(0 <= x <= 120 for x in numbers[::2])
        assert all(0 <= y <= 28 for y in numbers[1::2])


def test_only_addresses_of_the_web_are_links() -> None:
    assert web("https://ft.example/a") == "https://ft.example/a"
    for url in ("javascript:alert(1)", "JaVaScRiPt:x", "data:text/html,x", "//x", "x", "", None,
                "http:", "https://[", "\x01javascript:x", "ftp://x/"):  # fmt: skip
        assert web(url) is None


def test_addresses_of_ours_hold_any_name() -> None:
    assert company_address("A/B & C?#é") == "/company/A%2FB%20%26%20C%3F%23%C3%A9"
    assert (
        article_address('https://a/?b=1&c="') == "/article?url=https%3A%2F%2Fa%2F%3Fb%3D1%26c%3D%22"
    )


@given(st.text())
def test_templates_escape_whatever_they_are_given(text: str) -> None:
    shown = make_templates().from_string('<p title="{{ text }}">{{ text }}</p>').render(text=text)
    assert shown.count("<") == 2
    assert shown.count('"') == 2
    assert not set(shown) & set("\x00\u202e\u2066")
