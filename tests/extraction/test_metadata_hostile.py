"""Pages made to break a reader: bounded time, no error."""

import json
import time

import pytest
from hypothesis import given, strategies as st
from selectolax.lexbor import LexborHTMLParser

from newscrawl.extraction.extract import parse_page
from newscrawl.extraction.html import MAX_VALUE
from newscrawl.extraction.kinds import decide_kind
from newscrawl.extraction.metadata.reader import read_metadata


def ld(script: str) -> str:
    return f'<script type="application/ld+json">{script}</script>'


PAGES = {
    "10,000 nested elements": "<div class='author date'>" * 10_000 + "By Jane Doe 2026-01-01",
    "megabytes within 200 bylines": "<div class='author date'>" * 200 + "a b " * 2_000_000,
    "nested headline": "<h1>" + "<b>" * 9_000 + "x",
    "megabyte author": f'<meta name=author content="{"By a, " * 200_000}">',
    "megabyte title": f"<title>{' | x' * 300_000}</title>",
    "megabyte of blanks": f"<title>{' ' * 1_000_000}</title><h1>{' - ' * 300_000}</h1>",
    "50,000 metas": '<meta name=author content="Jane Doe">' * 50_000,
    "50,000 names of metas": "".join(f"<meta name=n{i} content=x>" for i in range(50_000)),
    "50,000 headlines": "<h1>a b c</h1>" * 50_000,
    "20,000 dates": "<time class='date author'>x 2026</time>" * 20_000,
    "megabyte of years": "<body>" + " posted 2026 " * 80_000,
    "deep lists": ld("[" * 500_000),
    "deep graphs": ld('{"@graph":' * 50_000),
    "main entities": ld('{"@type":"Article","mainEntity":' * 900 + "1" + "}" * 900),
    "100,000 articles": ld("[" + '{"@type":"Article","headline":"a b"},' * 100_000 + "{}]"),
    "100,000 authors": ld('{"@type":"Article","author":[' + '{"name":"Jo Li"},' * 100_000 + "1]}"),
    "quotes without end": ld('{"a":' + '"' * 199_000),
    "escapes without end": ld("\\" * 199_000),
    "comments without end": ld("{" + "/*" * 99_000),
    "commas": ld("{" + (", " + " " * 500) * 390),
    "digits": ld('{"@type":"Article","datePublished":' + "9" * 190_000 + "}"),
    "fields within strings": ld('{"@type":"Article" "headline":"' + '"headline":"a' * 14_000),
    "50,000 scripts": ld('{"@type":"Article"}') * 50_000,
    "bad addresses": '<link rel=canonical href="http://["><meta property=og:image content="http://[">',
    "megabyte of reporters in one line": f"<p>{'記者' * 160_000}",
    "NUL": "\0<h1>\0</h1>\0",
}


@pytest.mark.parametrize("html", PAGES.values(), ids=PAGES.keys())
def test_hostile_metadata_is_read_in_limited_time_and_size(html):
    tree = LexborHTMLParser(html)
    # Time of this process, with much to spare: each takes below a second, a square of it hours.
    started = time.process_time()
    found = read_metadata(tree, "http://[::1")
    assert time.process_time() - started < 30
    assert len(found.title or "") <= MAX_VALUE
    assert len(found.authors) <= 20


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=30),
    lambda inner: st.lists(inner, max_size=4)
    | st.dictionaries(
        st.sampled_from(
            ["@type", "@id", "@graph", "@value", "headline", "author", "name", "image", "url",
             "datePublished", "dateModified", "publisher", "isAccessibleForFree", "hasPart",
             "articleSection", "inLanguage", "mainEntity", "articleBody"]
        ),
        inner,
        max_size=6,
    ),
    max_leaves=20,
)  # fmt: skip


FIELDS = (
    "headline", "author", "image", "datePublished", "publisher", "hasPart", "isAccessibleForFree",
    "articleSection", "inLanguage", "articleBody", "@id",
)  # fmt: skip


@given(values)
def test_random_json_in_an_article_does_not_raise(value):
    node = {"@type": "NewsArticle"} | dict.fromkeys(FIELDS, value)
    for data in (value, node):
        page = parse_page(ld(json.dumps(data)), "https://a.example/x")
        assert decide_kind(page, [])


@given(st.text(max_size=300), st.text(max_size=50), st.none() | st.text(max_size=10))
def test_random_text_in_every_field_does_not_raise(text, url, language):
    quoted = text.replace('"', "&quot;")
    html = (
        f'<html lang="{quoted}"><meta name=author content="{quoted}"><title>{text}</title>'
        f'<meta name=date content="{quoted}"><meta property="og:locale" content="{quoted}">'
        f'<meta property="og:image" content="{quoted}"><h1>{text}</h1><p class=byline>{text}</p>'
        f"<time datetime='{text}'>{text}</time>{text}{ld(text)}"
    )
    assert decide_kind(parse_page(html, url, language=language), [text])
