"""Pages that went wrong once, or could: what must hold of the article in each."""

import os
import re
from functools import cache
from html import unescape
from pathlib import Path

import pytest

from newscrawl import Article, extract
from newscrawl.extraction.blocks import MIN_ONCE
from newscrawl.extraction.html import decode
from newscrawl.training.corpus import load_corpus
from tests.pages import Expected, article_of, pages

_TAG = re.compile(r"<[^>]+>")


@cache
def read(page: Path) -> tuple[Article, Expected]:
    expected = Expected.of(page)
    return article_of(page, expected.url), expected


@pytest.fixture(params=pages(), ids=lambda page: page.stem)
def both(request: pytest.FixtureRequest) -> tuple[Article, Expected]:
    """A page's article, and what is expected of it."""
    return read(request.param)


def test_title_language_and_kind_are_as_expected(both):
    article, expected = both
    assert (article.title, article.language, article.kind) == (
        expected.title,
        expected.language,
        expected.kind,
    )


def test_expected_phrases_are_extracted(both):
    article, expected = both
    text = " ".join(article.text.split())
    assert [phrase for phrase in expected.must if phrase not in text] == []


def test_boilerplate_phrases_are_not_extracted(both):
    article, expected = both
    text = " ".join(article.text.split())
    assert [phrase for phrase in expected.must_not if phrase in text] == []


def test_no_paragraph_comes_out_twice(both):
    long = [text for text in both[0].paragraphs if len(text.split()) >= MIN_ONCE]
    assert sorted(long) == sorted(set(long))


@pytest.mark.corpus
def test_no_article_of_the_corpus_is_empty_and_no_page_says_a_paragraph_twice():
    folder = os.environ.get("NEWSCRAWL_CORPUS")
    if not folder:
        pytest.skip("no development corpus: set NEWSCRAWL_CORPUS")
    empty, twice = [], []
    for page in load_corpus(Path(folder)):
        article = extract(page.html, page.url)
        long = [text for text in article.paragraphs if len(text.split()) >= MIN_ONCE]
        if len(long) > len(set(long)):
            twice.append((page.set, page.id))
        if page.page_type == "article" and not article.text:
            empty.append((page.set, page.id))
    assert (empty, twice) == ([], [])


def test_known_shortcomings_are_marked(both):
    article, expected = both
    if still := [phrase for phrase in expected.shortcomings if phrase in article.text]:
        pytest.xfail(f"taken for the article: {', '.join(still)}")


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.stem)
def test_expected_phrases_are_on_the_page(page):
    """A phrase with a slip of the pen would never be missed."""
    source = " ".join(unescape(_TAG.sub("", decode(page.read_bytes()).decode())).split())
    expected = Expected.of(page)
    phrases = [*expected.must, *expected.must_not, *expected.shortcomings]
    assert [phrase for phrase in phrases if phrase not in source] == []
