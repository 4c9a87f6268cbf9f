"""The features of blocks that the network weighs."""

import json
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, strategies as st

import newscrawl
from newscrawl.extraction.block_features import MAX_HINTS, OPENERS, BlockFeatures, opening_words
from newscrawl.extraction.extract import parse_page
from newscrawl.extraction.tokens import number_words
from tests.extraction.samples import PAGE


def features_of(html: str) -> BlockFeatures:
    return parse_page(html).block_features


def column(features: BlockFeatures, name: str) -> list[float]:
    return features.values[:, features.names.index(name)].tolist()


def test_columns_have_names_and_rows_are_blocks():
    page = parse_page(PAGE)
    assert page.block_features.values.shape == (len(page.blocks), len(page.block_features.names))
    assert len(set(page.block_features.names)) == len(page.block_features.names)


def test_landmark_covers_all_blocks_inside_it():
    features = features_of(PAGE)
    assert column(features, "in_nav") == [1, 0, 0, 0, 0, 0]
    assert column(features, "in_article") == [0, 1, 1, 1, 0, 0]
    assert column(features, "in_ul") == [0, 0, 0, 1, 0, 0]


def test_headline_and_blocks_after_it_are_flagged():
    features = features_of(PAGE)
    assert column(features, "is_title") == [0, 1, 0, 0, 0, 0]
    assert column(features, "after_headline") == [0, 0, 1, 1, 1, 1]


def test_repeated_text_is_flagged():
    assert column(features_of(PAGE), "repeated") == [0, 0, 0, 0, 1, 1]


def test_prose_share_is_that_of_the_enclosing_elements():
    features = features_of(PAGE)
    paragraph = 2
    assert column(features, "prose_share_0")[paragraph] == pytest.approx(17 / 24)
    assert column(features, "prose_share_1")[paragraph] == pytest.approx(1.0)


def test_class_and_id_names_are_split_into_words():
    features = features_of(PAGE)
    around = [features.hints[row] for row in features.paths[2]]
    assert around[0] == ()
    assert around[1] == ("c:article", "c:body", "c:big", "p:articlebody")
    hidden = [features.hints[row] for row in features.paths[4]]
    assert hidden[1] == ("hidden",)


def test_block_has_its_opening_words_and_length():
    page = parse_page(PAGE)
    openings = opening_words(page.candidate_features)
    assert openings[4] == ["subscribe", "now", "<short>"]
    assert openings[2][0] == "the"
    assert openings[2][-1] == "<long>"
    words = [word for opening in openings for word in opening]
    assert page.block_features.words.tolist() == number_words(words).tolist()
    assert page.block_features.word_counts.tolist() == [len(opening) for opening in openings]


def test_block_in_the_json_ld_text_is_flagged():
    body = "The bridge was opened on Monday, and the town was glad of it. " * 4
    data = json.dumps({"@type": "NewsArticle", "headline": "A bridge", "articleBody": body})
    script = f'<script type="application/ld+json">{data}</script></head>'
    features = features_of(
        PAGE.replace("</head>", script).replace("It had waited long", "More here")
    )
    assert column(features, "has_data") == [1] * 6
    assert column(features, "data_begins") == [0, 0, 1, 0, 0, 0]
    assert column(features, "data_ends") == [0] * 6
    assert column(features_of(PAGE), "has_data") == [0] * 6


def test_page_without_blocks_has_no_features():
    features = features_of("")
    assert features.values.shape == (0, len(features.names))


@given(
    st.lists(
        st.sampled_from(
            ["<p>", "</p>", "<div class='a b'>", "</div>", "<x-y>", "word. ", "<a>", "</a>",
             "<td>", "<table>", "<li>", "<h1>", "<br><br>", "中文。", "<nav>", "<article id=q>"]
        ),
        max_size=60,
    )
)  # fmt: skip
def test_features_of_tag_soup_are_finite_and_in_range(parts):
    page = parse_page("".join(parts))
    features = page.block_features
    assert np.isfinite(features.values).all()
    assert features.paths.shape[0] == len(features.word_counts) == len(page.candidates.page)
    assert features.paths.min(initial=0) >= 0
    assert features.paths.max(initial=0) < len(features.hints) == len(features.tags)
    assert features.openers.max(initial=0) <= len(OPENERS)
    assert all(len(names) <= MAX_HINTS for names in features.hints)


def test_long_class_names_are_dropped():
    def page(number: int) -> str:
        names = f"{number}-date-{'x' * 100_000}"
        attributes = f'class="a{names}" id="b{names}" role="c{names}" itemprop="d{names}"'
        return f"<h1>News</h1><div {attributes}><p>Some text of an article.</p></div>"

    newscrawl.extract(page(0))
    tracemalloc.start()
    try:
        for number in range(1, 21):
            newscrawl.extract(page(number))
        kept, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert kept < 1_000_000, "20 pages brought 8 million characters of names"
