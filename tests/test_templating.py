"""Templates escape whatever they show, and only safe URLs become links."""

from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from newscrawl.templating import (
    html_templates,
    markdown,
    markdown_templates,
    marked_pieces,
    safe_url,
    spreadsheet_text,
)

HERE = Path(__file__).parent


@given(st.text())
def test_html_template_escapes_any_text(text):
    template = html_templates(HERE).from_string('<p title="{{ text }}">{{ text }}</p>')
    shown = template.render(text=text)
    assert shown.count("<") == 2
    assert shown.count('"') == 2
    assert not set(shown) & set("\x00\u202e\u2066")


def test_markdown_template_escapes_any_value():
    template = markdown_templates(HERE).from_string("{{ title|link(url) }}, {{ title }}")
    shown = template.render(title="[a](javascript:b)\n# c", url="https://a.example/x)y")
    escaped = r"\[a\](javascript:b) \# c"
    assert shown == f"[{escaped}](<https://a.example/x)y>), {escaped}"


def test_markdown_is_one_line():
    assert markdown("a\n# b\x1b[31m\u2028c") == r"a \# b \[31m c"


# A German or French spreadsheet splits a file at semicolons, and takes the quotes of a cell that
# begins amid another one for letters.
@pytest.mark.parametrize(
    ("text", "cell"),
    [
        ("=1+1", "'=1+1"),
        ("Trams;=cmd|' /C calc'!A0", "Trams;'=cmd|' /C calc'!A0"),
        ('Trams; "@SUM(A1)"', 'Trams; "\'@SUM(A1)"'),
        ("Trams\n-2+3;+1", "Trams\n'-2+3;'+1"),
        ("Trams\t\uff1d1", "Trams\t'\uff1d1"),
        ("\tTrams", "'\tTrams"),
        ("A+B; C-D, -5 %; x=1", "A+B; C-D, -5 %; x=1"),
    ],
)
def test_no_part_of_a_cell_begins_a_formula(text, cell):
    assert spreadsheet_text(text) == cell
    assert spreadsheet_text(cell) == cell


@pytest.mark.parametrize(
    ("url", "safe"),
    [
        ("https://ft.example/a", "https://ft.example/a"),
        ("https://a.example/ä b>c", "https://a.example/%C3%A4%20b%3Ec"),
        ("javascript:alert(1)", None),
        ("JaVaScRiPt:x", None),
        ("https://a.example/\u202ex", None),
        ("https://a.example/" + "x" * 3000, None),
        ("http://[", None),
        ("http:", None),
        ("data:text/html,x", None),
        ("//x", None),
        ("\x01javascript:x", None),
        ("ftp://x/", None),
        ("", None),
        (None, None),
    ],
)
def test_only_http_urls_become_links(url, safe):
    assert safe_url(url) == safe


@given(st.text(max_size=30), st.lists(st.tuples(st.integers(-5, 40), st.integers(-5, 40))))
def test_marked_text_keeps_every_character_once(text, marks):
    assert "".join(piece for piece, _ in marked_pieces(text, marks)) == text
