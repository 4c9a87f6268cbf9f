"""`newscrawl.extract`: whole pages in, articles out, whatever the bytes are."""

import gzip
import json
from html import escape

import pytest
from hypothesis import given, strategies as st

from newscrawl import extract
from newscrawl.extraction.methods import CONFIDENCE_IN_JSON_LD, METHODS

PAGE = """<html lang="en"><head><title>Microsoft opens a laboratory - Daily Lantern</title></head>
<body><nav><ul><li><a href="/">Home</a></li><li><a href="/w">World news</a></li>
<li><a href="/b">Business</a></li></ul></nav>
<h1>Microsoft opens a laboratory</h1>
<p>Microsoft will open a laboratory in the harbour of the town, the company said on Monday, and
it expects to hire some two hundred people in the course of the next three years.</p>
<p>The mayor called it <b>good news</b> for a quarter that had lost its <a href="/s">shipyard</a>,
although she added that the streets around it were not made for that many cars.</p>
<p>Work on the old warehouse is to begin in the spring, when the last of the tenants will have
left it, and the first rooms should be ready by the end of the year.</p>
<aside><h3>Read also</h3><ul><li><a href="/y">Yahoo sells its office</a></li>
<li><a href="/z">Ten places to eat</a></li></ul></aside>
<footer>Copyright The Daily Lantern. <a href="/i">Imprint</a> <a href="/p">Privacy</a></footer>
</body></html>"""

MONSTERS = {
    "empty": b"",
    "not HTML": b"%PDF-1.4\n\x80\x81 stream",
    "truncated": PAGE.encode()[:700],
    "cut in a tag": PAGE.encode()[:-3] + b"<a hr",
    "10,000 nested tags": b"<div>" * 10_000 + b"deep",
    "misnested formats": b"".join(b"<b id=%d><p>x" % i for i in range(5_000)),
    "NUL bytes": PAGE.replace("Microsoft", "Micro\0soft").encode() + b"\0\0",
    "NUL entities": b"<p>a&#0;b&#2;c&#3;d</p>" * 20,
    "wrong charset": PAGE.replace("town", "Städtchen").encode("latin-1"),
    "lone surrogate": "<p>\ud800</p>",
    "only tags": b"<table><tr><td></td></tr></table>",
    "frameset": b"<frameset><frame src=a><frame src=b></frameset>",
    "never closed comment": b"<p>a</p><!-- " + b"<p>x" * 1000,
    "open angle brackets": b"<" * 100_000,
}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("page", MONSTERS.values(), ids=MONSTERS.keys())
def test_random_page_does_not_raise(page, method):
    article = extract(page, "https://example.org/x", method=method)
    assert article.text == "\n\n".join(article.paragraphs)
    assert 0.0 <= article.confidence <= 1.0


@pytest.mark.parametrize("method", METHODS)
@given(page=st.one_of(st.binary(max_size=400), st.text(max_size=400)))
def test_random_bytes_do_not_raise(method, page):
    assert extract(page, method=method).method == method


@given(
    parts=st.lists(
        st.sampled_from(["<p>", "</p>", "<b>", "</b>", "<a href=x>", "</a>", "<table>", "<td>",
                         "</table>", "<br>", "<li>", "text ", "&#2;", "<x-y>", "<form>", "<svg>"]),
        max_size=60,
    )
)  # fmt: skip
def test_tag_soup_does_not_raise(parts):
    assert extract("".join(parts)).method == "combined"


@pytest.mark.parametrize(
    "binary",
    [
        pytest.param(b"%PDF-1.7\n<< /Type /Catalog >>\n" + b"Siemens sold it. " * 40, id="PDF"),
        pytest.param(b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 40, id="picture"),
        pytest.param(gzip.compress(PAGE.encode(), mtime=0), id="gzip"),
    ],
)
def test_binary_file_has_no_article(binary):
    article = extract(binary)
    assert (article.text, article.title) == ("", None)
    assert extract(PAGE.encode()).text


def test_teaser_is_not_the_article():
    article = extract(PAGE)
    assert article.title == "Microsoft opens a laboratory"
    assert "Microsoft" in article.text
    assert "Yahoo" not in article.text
    assert len(article.paragraphs) == 3


def test_result_does_not_depend_on_earlier_pages():
    first = extract(PAGE)
    extract(b"<p>another page</p>")
    assert extract(PAGE) == first


def test_page_of_ten_megabytes_is_read():
    article = extract(
        "<p>Some words stand here in a row, and nobody has counted them.</p>" * 160_000
    )
    assert article.text


def test_unknown_method_is_refused_with_the_known_ones():
    with pytest.raises(ValueError, match=r"combined, .*fe, pr, tb, cetr"):
        extract(PAGE, method="magic")


@pytest.mark.parametrize("kind", [bytearray, memoryview])
def test_bytearray_and_memoryview_are_read_like_bytes(kind):
    page = PAGE if isinstance(PAGE, bytes) else PAGE.encode()
    assert extract(kind(page)) == extract(page)


def test_none_is_read_as_an_empty_page():
    assert extract(None) == extract(b"")


def test_argument_that_is_not_a_page_raises_type_error():
    with pytest.raises(TypeError, match="a page is bytes or str, not int"):
        extract(5)  # type: ignore[arg-type]


def test_empty_page_gives_empty_article():
    article = extract(b"")
    assert (article.text, article.paragraphs, article.title) == ("", (), None)


BODY = [
    "Microsoft will open a laboratory in the harbour of the town, the company said on Monday.",
    "The mayor called it good news for a quarter that had lost its shipyard & its pubs.",
    "Work on the old warehouse is to begin in the spring, with the last of the tenants gone.",
]


def _written_by_a_script(body: str, shown: str = "", **more: object) -> str:
    data = {"@type": "NewsArticle", "headline": "A laboratory", "articleBody": body} | more
    return (
        f'<html><head><script type="application/ld+json">{json.dumps(data)}</script></head>'
        f'<body><div id="root">{shown}</div></body></html>'
    )


@pytest.mark.parametrize(
    "body",
    [
        "\n\n".join(BODY),
        "".join(f"<p>{escape(text)}</p>" for text in BODY),
        escape("".join(f"<p>{escape(text)}</p>" for text in BODY)),
    ],
    ids=["plain", "HTML", "HTML that is escaped"],
)
def test_script_rendered_text_comes_from_json_ld(body):
    article = extract(_written_by_a_script(body))
    assert list(article.paragraphs) == BODY
    assert article.confidence == CONFIDENCE_IN_JSON_LD


@pytest.mark.parametrize(
    "page",
    [
        _written_by_a_script("\n".join(BODY), isAccessibleForFree=False),
        _written_by_a_script("\n".join(BODY), "<p>Subscribe to continue reading.</p>"),
        _written_by_a_script("\n".join(BODY), f"<p>{BODY[0]}</p>"),
    ],
    ids=["behind a paywall", "asks to subscribe", "shows a text of its own"],
)
def test_json_ld_text_is_not_used_behind_a_wall_or_beside_visible_text(page):
    assert BODY[1] not in extract(page).text
