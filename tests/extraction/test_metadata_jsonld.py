"""JSON-LD as publishers write it."""

import json
import re

import pytest
from hypothesis import given, strategies as st

from newscrawl.extraction.metadata import jsonld, lenient_json

ARTICLE = '{"@type": "NewsArticle", "headline": "Rates rise"}'


@pytest.mark.parametrize(
    "script",
    [
        ARTICLE,
        f"[{ARTICLE}]",
        f'{{"@graph": [{{"@type": "WebSite"}}, {ARTICLE}]}}',
        f'{{"@type": "WebPage", "mainEntity": {ARTICLE}}}',
        f"<!-- {ARTICLE} -->",
        f"//<![CDATA[\n{ARTICLE}\n//]]>",
        f"/* data */ {ARTICLE} // end",
        f"{ARTICLE};",
        '{"@type": "NewsArticle", "headline": "Rates rise",}',
        '{"@type": ["NewsArticle"], "headline": "Rates rise", "tags": ["a", "b",],}',
        '{"@type": "http://schema.org/NewsArticle", "headline": "Rates rise"}',
        '{"@type": "NewsArticle", "text": "one\ntwo\x01", "headline": "Rates rise"}',
        '{"@type": "NewsArticle", "text": "don\\\'t", "headline": "Rates rise"}',
        f"{ARTICLE}{ARTICLE}",
        '{"@type": "NewsArticle", "text": "he said "no"", "headline": "Rates rise"}',
        ARTICLE.replace('"', "&quot;"),
    ],
    ids=["plain", "list", "graph", "main entity", "HTML comment", "CDATA", "comments", "semicolon",
         "trailing comma", "trailing commas", "type as address", "control characters",
         "wrong escape", "twice", "quotes within quotes", "escaped"],
)  # fmt: skip
def test_article_is_found_in_json_ld(script):
    article = next(jsonld.read([script]).articles)
    assert article["headline"] == "Rates rise"


def test_comment_before_an_article_loses_no_field_of_it():
    script = '/* data */ {"@type": "NewsArticle", "author": {"name": "Jane Doe"}}'
    assert next(jsonld.read([script]).articles)["author"] == {"name": "Jane Doe"}


AUTHOR = '"author": {"@type": "Person", "name": "Jane Doe"}'


@pytest.mark.parametrize(
    "script",
    [
        f'{{"@type": "NewsArticle", "headline": "A "big" day", "and" more", {AUTHOR}}}',
        f'{{"@type": "NewsArticle", "keywords": , {AUTHOR}}}',
        f'{{"@type": "NewsArticle", "keywords": undefined, {AUTHOR}}}',
        f'{{"@type": "NewsArticle", "wordCount": {{{{ page.words }}}}, {AUTHOR}}}',
        f'{{"@type": "NewsArticle", "wordCount": 007, {AUTHOR}}}',
        f'{{"@type": "NewsArticle" {AUTHOR}}}',
        f'{{"@type": "NewsArticle", {AUTHOR}',
        f'{{"@type": "NewsArticle", {AUTHOR}, "articleBody": "The harbour reop',
        f'{{"@type": "NewsArticle", {AUTHOR}}}'.replace('"', "'"),
        re.sub(r'"([\w@]+)":', r"\1:", f'{{"@type": "NewsArticle", {AUTHOR}}}'),
        f'var data = {{"@type": "NewsArticle", {AUTHOR}}};',
        f'\ufeff{{"@type": "NewsArticle", {AUTHOR}}}',
        f'{{"@type": "schema:NewsArticle", {AUTHOR}}}'.replace('"author', '"schema:author'),
        f'{{"@type": "NewsArticle", {AUTHOR}}}'.replace('"author', '"Author'),
        json.dumps(f'{{"@type": "NewsArticle", {AUTHOR}}}'),
        f'{{"@type": "NewsArticle", {AUTHOR}}}'.replace('"', "&quot;"),
        f'{{"@type": "NewsArticle", {AUTHOR}}}'.replace('"', "”"),
    ],
    ids=["quotes within quotes", "no value", "undefined", "template", "leading zero", "no comma",
         "no brace", "cut", "single quotes", "bare keys", "assignment", "byte-order mark",
         "prefix", "capital", "JSON in JSON", "HTML", "word processor"],
)  # fmt: skip
def test_author_is_found_in_invalid_json_ld(script):
    assert next(jsonld.read([script]).articles)["author"]["name"] == "Jane Doe"


@given(
    st.dictionaries(
        st.text("ab@_", min_size=1),
        st.recursive(
            st.none()
            | st.booleans()
            | st.integers(-(10**15), 10**15)
            | st.text(",:\"'\\\\{}[]é \n"),
            lambda inner: st.lists(inner) | st.dictionaries(st.text("ab", min_size=1), inner),
            max_leaves=10,
        ),
    )
)
def test_valid_json_is_read_as_it_is(value):
    assert lenient_json.parse(json.dumps(value)) == value


@pytest.mark.parametrize(
    "script",
    ["", "no JSON", "{", "[" * 100_000, '{"@graph":' * 5_000, '"text"', "null", "[1, 2]",
     '{"@type": 5}', '{"@type": "Product", "isRelatedTo": ' + ARTICLE + "}"],
    ids=["empty", "text", "cut", "deep lists", "deep objects", "string", "null", "numbers",
         "type no text", "article of another page"],
)  # fmt: skip
def test_json_ld_without_an_article_has_none(script):
    assert list(jsonld.read([script]).articles) == []


def test_references_are_resolved():
    person = '{"@type": "Person", "@id": "#a", "name": "Jane Doe"}'
    data = jsonld.read([f'[{{"@type": "Article", "author": {{"@id": "#a"}}}}, {person}]'])
    author = data.resolve(next(data.articles)["author"])
    assert isinstance(author, dict)
    assert author["name"] == "Jane Doe"


@pytest.mark.parametrize(
    ("value", "wanted"),
    [(True, True), (False, False), ("False", False), ("http://schema.org/True", True), (0, False),
     ({"@value": "true"}, True), ("perhaps", None), (None, None), ([], None)],
)  # fmt: skip
def test_boolean_values_are_parsed(value, wanted):
    assert jsonld.truth_of(value) is wanted
