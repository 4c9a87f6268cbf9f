"""Template memory: what a site's pages have in common is left out of its articles."""

import random
from collections.abc import Sequence

import pytest
from hypothesis import given, strategies as st

import newscrawl
from newscrawl.extraction.methods import METHODS
from newscrawl.extraction.template_memory import (
    EMPTY,
    HALVED_AT,
    MAX_TEXTS,
    MAX_TEXTS_OF_PAGE,
    MIN_PAGES,
    fingerprints,
    outside_templates,
    templates,
    with_page,
    with_pages,
    without_templates,
)
from newscrawl.items import Memory, Mention

APPEAL = (
    "The editors ask all readers of this paper to support it with a gift at the end of the year."
)
WORDS = (
    *("harbour", "crane", "mayor", "council", "bridge", "ferry"),
    *("vote", "budget", "school", "road", "winter", "market", "river"),
)


def prose(seed: int, sentences: int = 4) -> str:
    """A paragraph that no other seed gives."""
    rng = random.Random(seed)  # noqa: S311  no secret
    return " ".join(
        f"On day {seed} the {' and the '.join(rng.choices(WORDS, k=5))} were debated at length."
        for _ in range(sentences)
    )


def page(seed: int, *, appeal: str = APPEAL) -> str:
    paragraphs = "".join(f"<p>{prose(10 * seed + n)}</p>" for n in range(4))
    return (
        f"<html><head><title>Report {seed}</title></head><body><article><h1>Report {seed}</h1>"
        f"{paragraphs}<p>{appeal}</p></article></body></html>"
    )


def learned(pages: Sequence[Sequence[str]]) -> Memory:
    """The memory of pages with these texts."""
    memory = EMPTY
    for texts in pages:
        memory = with_page(memory, fingerprints(texts))
    return memory


def knowing(text: str, times: int = MIN_PAGES) -> Memory:
    return learned([[text, prose(number)] for number in range(times)])


@pytest.mark.parametrize(
    "method", ["combined", "combined-precision", "combined-recall", "fe", "pr"]
)
def test_paragraphs_repeated_on_other_pages_are_removed(method):
    before = newscrawl.extract(page(1), method=method)
    after = newscrawl.extract(page(1), method=method, memory=knowing(APPEAL))
    assert APPEAL in before.paragraphs
    assert after.paragraphs == tuple(text for text in before.paragraphs if text != APPEAL)
    assert APPEAL not in after.text


@pytest.mark.parametrize("method", METHODS)
def test_empty_memory_changes_nothing(method):
    assert newscrawl.extract(page(1), method=method, memory=EMPTY) == newscrawl.extract(
        page(1), method=method
    )


def test_memory_of_other_texts_changes_nothing():
    other = knowing("Something that this page does not say.")
    assert newscrawl.extract(page(1), memory=other) == newscrawl.extract(page(1))


def test_template_needs_a_minimum_of_pages():
    assert without_templates([APPEAL, "Own words."], knowing(APPEAL, MIN_PAGES - 1)) == [
        APPEAL,
        "Own words.",
    ]


def test_template_needs_a_minimum_share_of_pages():
    rare = learned([[APPEAL]] * MIN_PAGES + [[prose(number)] for number in range(300)])
    assert without_templates([APPEAL, "Own words."], rare) == [APPEAL, "Own words."]


def test_text_of_templates_only_is_kept():
    assert without_templates([APPEAL, APPEAL], knowing(APPEAL)) == [APPEAL, APPEAL]


def test_repeated_paragraph_of_a_page_counts_once():
    assert len(fingerprints([APPEAL, APPEAL, "a", ""])) == 1


def test_adding_a_page_does_not_change_the_old_memory():
    before = knowing(APPEAL)
    copy = Memory(pages=before.pages, seen=dict(before.seen))
    after = with_page(before, fingerprints([APPEAL]))
    assert before == copy
    assert after.pages == before.pages + 1
    assert after.seen[fingerprints([APPEAL])[0]] == MIN_PAGES + 1


def test_pages_added_together_or_one_by_one_are_equal():
    pages = [fingerprints([APPEAL, prose(number)]) for number in range(HALVED_AT + 3)]
    one_by_one = EMPTY
    for page in pages:
        one_by_one = with_page(one_by_one, page)
    assert with_pages(EMPTY, pages) == one_by_one


def test_paragraph_not_seen_any_more_is_forgotten():
    memory = learned([[APPEAL, prose(number)] for number in range(HALVED_AT)])
    assert without_templates([APPEAL, "Own words."], memory) == ["Own words."]
    for number in range(6 * HALVED_AT):
        memory = with_page(memory, fingerprints([prose(10_000 + number)]))
    assert without_templates([APPEAL, "Own words."], memory) == [APPEAL, "Own words."]


def test_memory_is_limited_and_keeps_its_templates():
    memory = EMPTY
    for number in range(3 * MAX_TEXTS // MAX_TEXTS_OF_PAGE):
        own = [f"text {number} {n}" for n in range(2 * MAX_TEXTS_OF_PAGE)]
        memory = with_page(memory, fingerprints([APPEAL, *own]))
        assert len(memory.seen) <= MAX_TEXTS
    assert without_templates([APPEAL, "Own words."], memory) == ["Own words."]


@given(st.lists(st.lists(st.sampled_from(WORDS), max_size=5), max_size=12))
def test_reduced_memory_removes_the_same_paragraphs(pages):
    memory = learned(pages)
    few = templates(memory)
    assert len(few.seen) <= len(memory.seen)
    assert without_templates(WORDS, few) == without_templates(WORDS, memory)


@given(st.lists(st.lists(st.text(), max_size=5), max_size=6), st.lists(st.text()))
def test_random_text_can_be_learned(pages, paragraphs):
    left = without_templates(paragraphs, learned(pages))
    assert not paragraphs or left
    assert [text for text in paragraphs if text in left] == left


def test_order_of_pages_does_not_matter():
    pages = [[APPEAL, prose(number)] for number in range(20)]
    assert learned(pages) == learned(pages[::-1])


def test_fingerprints_do_not_depend_on_the_machine():
    """They stand in databases: neither the process nor the machine may matter."""
    assert f"{fingerprints(['A text.'])[0]:016x}" == "12ea35782a9200ea"


def test_mentions_in_a_repeated_paragraph_of_a_stored_text_are_left_out():
    texts = ("Bosch is the subject.", "Siemens supports this paper.")
    memory = with_pages(EMPTY, [fingerprints(texts[1:])] * 3)
    mentions = [
        Mention(company="Bosch", surface="Bosch", start=0, end=5, section="body"),
        Mention(company="Siemens", surface="Siemens", start=23, end=30, section="body"),
        Mention(company="Siemens", surface="Siemens", start=23, end=30, section="title"),
    ]
    text = "\n\n".join(texts)
    assert text[23:30] == "Siemens"
    assert outside_templates(mentions, text, memory) == [mentions[0], mentions[2]]
    assert outside_templates(mentions, text, EMPTY) == mentions
    # A text of nothing else is the article itself.
    assert outside_templates(mentions[1:2], texts[1], memory) == mentions[1:2]
