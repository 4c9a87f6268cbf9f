"""The learned network: what is shipped fits the code, and runs as it was trained."""

import json
from importlib.resources import files

import numpy as np
import pytest

from newscrawl.extraction.classifier import (
    BALANCED,
    FOR_PRECISION,
    FOR_RECALL,
    NAME_CACHE_SIZE,
    NameVectors,
    calibrate,
    combine,
    load_network,
)
from newscrawl.extraction.extract import parse_page
from newscrawl.extraction.features import VERSION
from tests.extraction.samples import PAGE


def about() -> dict[str, object]:
    source = files("newscrawl.extraction").joinpath("data/combined.json")
    return dict(json.loads(source.read_text("utf-8")))


def test_shipped_network_has_the_current_features():
    assert about()["evidence"] == list(parse_page(PAGE).block_features.names)


def test_shipped_network_has_a_provenance():
    provenance = about()["provenance"]
    assert isinstance(provenance, dict)
    assert provenance["feature_version"] == VERSION
    assert {"corpus", "fingerprint", "pages", "seed", "command", "date"} <= provenance.keys()
    assert provenance["pages"] > 1000


def test_each_block_has_a_probability():
    view = parse_page(PAGE)
    probabilities = load_network().probabilities(view.block_features)
    assert probabilities.shape == (len(view.candidates.page),)
    assert ((probabilities > 0) & (probabilities < 1)).all()


def test_page_without_blocks_has_no_probabilities():
    assert load_network().probabilities(parse_page("").block_features).shape == (0,)


def test_confidence_is_below_what_the_network_expects_and_never_falls():
    expected = [number / 100 for number in range(101)]
    calibrated = [*map(calibrate, expected)]
    assert calibrated == sorted(calibrated)
    assert 0 < calibrated[0] < calibrated[-1] <= 1
    assert all(
        mean < value for mean, value in zip(calibrated, expected, strict=True) if value > 0.6
    )


def test_headline_is_not_chosen_and_confidence_is_at_most_one():
    view = parse_page(PAGE)
    words = view.candidate_features.tokens.words
    choice = combine(view.probabilities, view.block_features.is_title, words, threshold=0.0)
    assert choice.mask.tolist() == [True, False, True, True, True, True]
    assert 0 < choice.confidence <= 1


def choose(values: list[float], words: list[int], threshold: float) -> list[bool]:
    probabilities = np.array(values, dtype=np.float32)
    is_title = np.zeros(len(values), dtype=bool)
    return combine(probabilities, is_title, np.array(words), threshold).mask.tolist()


@pytest.mark.parametrize("threshold", [FOR_PRECISION, BALANCED, FOR_RECALL])
def test_the_likeliest_blocks_come_out_where_none_is_likely(threshold):
    assert choose([0.05, 0.3, 0.3, 0.1], [5, 40, 30, 80], threshold) == [False, True, True, False]


def test_a_doubtful_block_is_kept_on_a_doubtful_page_and_not_on_a_sure_one():
    assert choose([0.6, 0.45], [50, 50], BALANCED) == [True, True]
    assert choose([1.0, 0.45], [500, 50], BALANCED) == [True, False]


def test_a_page_without_words_gives_none():
    assert choose([0.9, 0.9], [0, 0], BALANCED) == [True, True]
    assert choose([], [], BALANCED) == []


def test_balanced_threshold_is_near_one_half():
    assert 0.3 <= BALANCED <= 0.7


def test_name_vector_is_sum_of_word_vectors_over_root_of_their_count():
    names = NameVectors(["c:body", "c:main"], np.array([[0, 0], [1, 0], [0, 1]], dtype=np.float32))
    vectors = names.vectors([("c:body", "c:main"), (), ("c:strange",), ("c:body", "c:strange")])
    assert vectors == pytest.approx(np.array([[0.5**0.5, 0.5**0.5], [0, 0], [0, 0], [1, 0]]))


@pytest.mark.parametrize("count", [NAME_CACHE_SIZE // 2 + 1, NAME_CACHE_SIZE + 1])
def test_full_cache_of_names_does_not_change_vectors(count):
    names = NameVectors(["c:body"], np.array([[0, 0], [1, 2]], dtype=np.float32))
    for page in range(3):
        asked = [(f"c:{page}-{number}", "c:body") for number in range(count)]
        assert (names.vectors(asked) == [1, 2]).all()
