"""Blocks are aligned with the gold text in order, so that only one of two twins is content."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from benchmarks.recipes.examples import COVERED, label, read_example, read_examples
from newscrawl.training.corpus import GoldPage

FIRST = "The old harbour will not be sold, the council said on Monday after a long meeting."
SECOND = "Boats that lie there now may stay until the end of the year, at the same price."
THIRD = "What comes after that is open, and so is the question of who should pay for it."
GOLD = f"{FIRST}\n\n{SECOND}\n\n{THIRD}"


def content(texts: list[str], gold: str = GOLD) -> list[bool]:
    found = label(texts, gold)
    return [bool(m and m >= COVERED * n) for m, n in zip(found.matched, found.words, strict=True)]


def test_paragraphs_are_content_and_other_blocks_are_not():
    texts = ["Home", "World news", FIRST, SECOND, "Advertisement", THIRD, "Imprint and privacy"]
    assert content(texts) == [False, False, True, True, False, True, False]


def test_teaser_that_repeats_the_first_sentence_is_not_content():
    assert content([FIRST, FIRST, SECOND, THIRD]).count(True) == 3


def test_menu_entry_of_a_word_of_the_article_is_not_content():
    assert content(["Price", FIRST, SECOND, THIRD, "Meeting"]) == [False, True, True, True, False]


def test_short_paragraph_between_content_is_content():
    gold = f"{FIRST}\n\nWhy?\n\n{SECOND}"
    assert content([FIRST, "Why?", SECOND], gold) == [True, True, True]


def test_paragraphs_split_differently_from_the_gold_are_content():
    half, other_half = (
        "The old harbour will not be sold, the council said",
        "on Monday after a long",
    )
    assert content([half, other_half, f"meeting. {SECOND} {THIRD}"]) == [True] * 3


def test_paragraph_with_a_few_words_more_is_content():
    found = label([f"{FIRST} Read more here", SECOND], GOLD)
    assert found.matched.tolist() == [len(FIRST.split()), len(SECOND.split())]


def test_chinese_is_aligned_by_character():
    gold = "市议会表示，他们不会出售这个旧的港口。\n\n现在在那里的船也都可以留到年底。"
    texts = ["新闻", "市议会表示，他们不会出售这个旧的港口。", "现在在那里的船也都可以留到年底。"]
    assert content(texts, gold) == [False, True, True]


@pytest.mark.parametrize(("texts", "gold"), [([], GOLD), ([FIRST], ""), (["", "..."], GOLD)])
def test_empty_texts_are_aligned(texts, gold):
    assert label(texts, gold).matched.tolist() == [0] * len(texts)


FEW = ("the", "old", "harbour", "council", "boats", "stay", "year", "price", "pay", "open")
TEXT = st.lists(st.sampled_from(FEW), max_size=15).map(" ".join)


@given(texts=st.lists(TEXT, max_size=8), gold=TEXT)
def test_block_matches_at_most_its_own_words(texts, gold):
    found = label(texts, gold)
    assert found.words.tolist() == [len(text.split()) for text in texts]
    assert (found.matched <= found.words).all()
    assert found.matched.max(initial=0) <= len(gold.split())


@given(lengths=st.lists(st.integers(1, 30), max_size=8))
def test_page_of_its_gold_text_only_is_all_content(lengths):
    texts = [
        " ".join(f"w{number}x{place}" for place in range(length))
        for number, length in enumerate(lengths)
    ]
    assert label(texts, "\n\n".join(texts)).matched.tolist() == lengths


BYLINE = "By Anna Berg, Monday 3 May"
PARAGRAPH = f"{FIRST} {SECOND}"


def page_of(folder: Path, set_name: str) -> GoldPage:
    path = folder / "page.html"
    lines = ("The harbour stays", BYLINE, PARAGRAPH, THIRD)
    path.write_text("".join(f"<p>{line}</p>" for line in lines), "utf-8")
    text = "\n\n".join(lines)
    return GoldPage(id="1", set=set_name, lang="en", site="port.com", path=path, line="", text=text)


@pytest.mark.parametrize(("set_name", "counts"), [("dragnet", False), ("daniel", True)])
def test_byline_counts_for_neither_side_where_only_one_set_has_it(tmp_path, set_name, counts):
    example = read_example(page_of(tmp_path, set_name))
    at = example.texts.index(BYLINE)
    assert bool(example.words[at]) == bool(example.matched[at]) == counts
    assert example.words[at + 1] == example.matched[at + 1] == len(PARAGRAPH.split())
    assert example.gold_words == example.matched.sum()


def test_page_with_a_doubtful_gold_text_is_not_an_example(tmp_path):
    page = page_of(tmp_path, "daniel")
    assert len(read_examples([page])) == 1
    assert read_examples([replace(page, doubt="paragraphs left out")]) == []
