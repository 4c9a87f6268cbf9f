"""Bytes become a tree in linear time, whatever they are."""

import re
import time

import pytest
from hypothesis import given, strategies as st
from selectolax.lexbor import LexborHTMLParser

from newscrawl.extraction.html import parse
from newscrawl.extraction.limits import (
    MAX_DEPTH,
    MAX_ELEMENTS_UNCHECKED,
    MAX_UNCLOSED,
    flatten,
    within_limits,
)

# How often each trick is repeated in a page; the largest of them took minutes, or all memory.
TRICKS = {
    "nested divisions": (b"<div>", b"x"),
    "nested links": (b"<a href=x>", b"x"),
    "formats that each paragraph opens again": (b"<b class=%d><p>x", b""),
    "formats in a table": (b"<table><tr><td><i id=%d>", b"x"),
    "lists in lists": (b"<ul><li>", b"x"),
    "end tags without a start": (b"</p></div></b>", b"x"),
    "endless comments": (b"<!--", b""),
    "endless scripts": (b"<script>", b""),
    "open angle brackets": (b"<", b""),
    "start tags without an end": (b"<p ", b""),
    "formats closed in a title alone": (b'<b id=%d><p title="</b></p>">x', b""),
    "divisions closed in a title alone": (b'<div title="</div>">', b"x"),
    "divisions closed in a comment alone": (b"<div><!-- </div> -->", b"x"),
    "quotes without an end": (b'<p title="', b""),
    "formats of unlike attributes": (b"<font size=%d><em>", b"<p>" * 500),
}


def monster(trick: str, times: int) -> bytes:
    part, end = TRICKS[trick]
    if b"%d" in part:
        return b"".join(part % number for number in range(times)) + end
    return part * times + end


def seconds(html: bytes) -> float:
    started = time.process_time()
    parse(html)
    return time.process_time() - started


@pytest.mark.parametrize("trick", TRICKS)
def test_parsing_time_is_linear(trick):
    """Four times the page may take four times as long; quadratic would be 16 times. Both are large
    enough to be tamed. The quickest of some looks counts: other tests empty the caches."""
    small, large = monster(trick, 13_000), monster(trick, 52_000)
    base = min(seconds(small) for _ in range(3))
    assert min(seconds(large) for _ in range(2)) < 10 * max(base, 0.02)


@pytest.mark.parametrize("trick", TRICKS)
def test_nodes_are_at_most_as_many_as_bytes(trick):
    html = monster(trick, 3_000)
    root = parse(html).root
    assert root is not None
    nodes = sum(1 for _ in root.traverse(include_text=True))
    assert nodes <= len(html) + 5


def depth_of(html: bytes) -> int:
    node, depth = parse(html).body, 0
    while node is not None:
        node, depth = node.first_child, depth + 1
    return depth


@pytest.mark.parametrize("elements", [MAX_UNCLOSED + 1, 2 * MAX_ELEMENTS_UNCHECKED])
def test_nesting_beyond_the_limit_is_flattened(elements):
    assert depth_of(b"<div>" * elements + b"x") <= MAX_DEPTH + 2


@pytest.mark.parametrize(
    "html",
    [
        b"<div>" * (MAX_UNCLOSED - 1) + b"x",
        b"<div><p title='a > b'>one <b>two</b></p><a href=x hidden>y</a></div>" * 50,
        b"<B class='x > y'>one</b><p><i></I><p>" * 700,
    ],
    ids=["nested", "usual", "formats that end behind their text"],
)
def test_page_within_the_limits_is_not_changed(html):
    assert within_limits(html) is html


@pytest.mark.parametrize(
    "html",
    [
        b"<div><p>one<p>two<br></div><p>three",
        b"<ul><li>one<li>two</ul>",
        b"<script>var a = '<b><b><b>';</script><b>bold</b>",
        b"<!-- <div> --><div>x</div>",
        b"<title>a > b</title><textarea>1 < 2</textarea>",
        b"<table><tr><td>1<td>2<tr><td>3</table>",
    ],
)
def test_flattening_does_not_change_usual_markup(html):
    assert LexborHTMLParser(flatten(html)).html == LexborHTMLParser(html).html


def test_reopened_formatting_elements_become_spans():
    html = b"<B class=x><a>one</a></B><p><body><br>" * 800
    tree = parse(html)
    assert not tree.css("b")
    assert len(tree.css("span.x")) == 800
    assert len(tree.css("br")) == 800


def test_attributes_of_formats_that_paragraphs_reopen_are_dropped():
    opened = b"".join(
        b"<b %b>" % b" ".join(b"a%d=%d" % (key, number) for key in range(10))
        for number in range(30)
    )
    html = b"<p class=y>" + opened + b"<p>word" * 6_000
    limited = within_limits(html)
    assert limited.count(b"<b") == 30
    assert b"a0=" not in limited
    assert limited.startswith(b"<p class=y>")
    few = b"<p>" + opened + b"<p>word" * 30
    assert within_limits(few) == few


def test_flattening_matches_end_tags_with_their_starts():
    assert flatten(b"x</b></div>y") == b"x  y"
    assert flatten(b"<div><b><i>x</div></b>") == b"<div><b><i>x</i></b></div> "
    assert flatten(b"<b>x</b>" * 200) == b"<b>x</b>" * 200


@given(
    parts=st.lists(
        st.sampled_from(
            [b"<div>", b"</div>", b"<b>", b"</b>", b"<p>", b"</p>", b"<li>", b"<script>",
             b"</script>", b"<!--", b"-->", b"<td>", b"<br>", b"<i x='", b"'>", b"<", b">"]
        ),
        max_size=80,
    )
)  # fmt: skip
def test_flattening_loses_no_text(parts):
    html = b"".join(part + b" w%d " % number for number, part in enumerate(parts))
    text = LexborHTMLParser(html).html or ""
    kept = LexborHTMLParser(flatten(html)).html or ""
    assert set(re.findall(r"w\d+", text)) <= set(re.findall(r"w\d+", kept))


@given(html=st.binary(max_size=300))
def test_random_bytes_do_not_raise(html):
    flatten(html)
    assert parse(html) is not None


def test_nested_unclosed_attribute_values_take_linear_time():
    """Each of these begins a formatting element whose value ends far behind."""
    html = b"<b a='" + b'<b a="' * 40_000
    started = time.process_time()
    parse(html)
    assert time.process_time() - started < 20


@pytest.mark.parametrize(
    "tag",
    [
        b"<table>", b"<TBODY>", b"<thead class=a>", b"</tfoot>", b"<tr>", b"</TD>", b"</th>",
        b"</caption>", b"<INPUT>", b"<!-- -->", b"<?x?>", b"</1>",
    ],
)  # fmt: skip
def test_many_texts_in_a_table_are_parted_whatever_is_before_them(tag):
    text = b"y" * 100
    assert text + b"<wbr>" in within_limits(b"<table><tr>" + 2_000 * (tag + text))
