"""Measures between a found and a gold text."""

import math
from collections import Counter

import pytest
from hypothesis import given, strategies as st

from newscrawl.training import metrics

WORDS = st.lists(st.sampled_from(metrics.words("the cat sat on a mat 中 国 news")), max_size=30)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Hello, World!", ["hello", "world"]),
        ("Ο Τσίπρας είπε", ["ο", "τσίπρας", "είπε"]),
        ("中国 news", ["中", "国", "news"]),
        ("東京タワー", ["東", "京", "タ", "ワ", "ー"]),
        ("สวย", ["ส", "ว", "ย"]),
        ("한국어 뉴스", ["한국어", "뉴스"]),
        ("3.5 %", ["3", "5"]),
        ("", []),
    ],
)
def test_words_are_split_by_script(text, expected):
    assert metrics.words(text) == expected


@given(WORDS)
def test_text_has_full_score_against_itself(text):
    bag = Counter(text)
    for overlap in (
        metrics.occ_eval(bag, bag),
        metrics.voc_eval(bag, bag),
        metrics.shingle_eval(text, text),
        metrics.clean_eval(text, text),
    ):
        assert (overlap.precision, overlap.recall, overlap.f1) == (1.0, 1.0, 1.0)
    assert metrics.similarity(bag, bag) == pytest.approx(1.0)
    assert metrics.kl_eval(bag, bag) == pytest.approx(0.0)
    assert metrics.euclidean(bag, bag) == pytest.approx(0.0)
    assert metrics.cosine_distance(bag, bag) == pytest.approx(0.0)


@given(WORDS, WORDS)
def test_swapping_texts_swaps_precision_and_recall(one, other):
    forth = metrics.occ_eval(Counter(one), Counter(other))
    back = metrics.occ_eval(Counter(other), Counter(one))
    assert (forth.precision, forth.recall) == (back.recall, back.precision)


@given(WORDS, WORDS)
def test_every_measure_is_in_its_range(one, other):
    found, gold = Counter(one), Counter(other)
    assert 0 <= metrics.similarity(found, gold) <= 1 + 1e-12
    assert -1e-12 <= metrics.cosine_distance(found, gold) <= 1
    assert 0 <= metrics.euclidean(found, gold) <= math.sqrt(2) + 1e-12
    for overlap in (metrics.occ_eval(found, gold), metrics.voc_eval(found, gold)):
        assert 0 <= overlap.precision <= 1
        assert 0 <= overlap.recall <= 1


def test_doubled_text_has_similarity_one_half():
    gold = Counter(metrics.words("news about companies"))
    doubled = Counter({word: 2 * count for word, count in gold.items()})
    assert metrics.similarity(doubled, gold) == pytest.approx(0.5)


def test_similarity_equals_hand_computed_value():
    found = Counter(metrics.words("bank cuts rates bank"))
    gold = Counter(metrics.words("bank cuts jobs"))
    cosine = (2 * 1 + 1 * 1) / (math.sqrt(4 + 1 + 1) * math.sqrt(3))
    assert metrics.similarity(found, gold) == pytest.approx(3 / 4 * cosine)


def test_similarity_ignores_single_letters_but_not_ideographs():
    assert metrics.similarity(Counter({"a": 9, "bank": 1}), Counter({"bank": 1})) == 1.0
    assert metrics.similarity(Counter({"中": 1}), Counter({"国": 1})) == 0.0


def test_occurrence_and_vocabulary_scores_differ():
    found, gold = (
        Counter(metrics.words("bank bank bank cuts")),
        Counter(metrics.words("bank cuts jobs")),
    )
    assert metrics.occ_eval(found, gold) == metrics.Overlap(2 / 4, 2 / 3)
    assert metrics.voc_eval(found, gold) == metrics.Overlap(2 / 2, 2 / 3)


def test_alignment_and_shingles_depend_on_order():
    gold = metrics.words("one two three four five six")
    turned = metrics.words("four five six one two three")
    assert metrics.occ_eval(Counter(turned), Counter(gold)).f1 == 1.0
    assert metrics.clean_eval(turned, gold) == metrics.Overlap(0.5, 0.5)
    assert metrics.shingle_eval(turned, gold).f1 == 0.0


def test_text_shorter_than_a_shingle_is_one_shingle():
    assert metrics.shingle_eval(["bank", "cuts"], ["bank", "cuts"]).f1 == 1.0
    assert metrics.shingle_eval(["bank"], ["bank", "cuts"]).f1 == 0.0


def test_kl_replaces_zero_by_a_small_number():
    expected = 0.5 * math.log(0.5 / 1.0) + 0.5 * math.log(0.5 / 1e-5)
    assert metrics.kl_eval(Counter(["bank"]), Counter(["bank", "cuts"])) == pytest.approx(expected)


def test_distances_equal_hand_computed_values():
    found, gold = Counter(["bank"]), Counter(["bank", "cuts"])
    assert metrics.euclidean(found, gold) == pytest.approx(math.sqrt(0.5**2 + 0.5**2))
    assert metrics.cosine_distance(found, gold) == pytest.approx(1 - 1 / math.sqrt(2))


def test_empty_text_has_precision_zero():
    assert metrics.occ_eval(Counter(), Counter(["bank"])) == metrics.Overlap(0.0, 0.0)
    assert metrics.occ_eval(Counter(), Counter()) == metrics.Overlap(1.0, 1.0)


def test_phrase_score_counts_both_kinds_of_right_decisions():
    text = "The bank\n cut rates."
    assert metrics.phrase_score(text, ["bank cut", "jobs"], ["Subscribe", "rates"]) == 0.5
