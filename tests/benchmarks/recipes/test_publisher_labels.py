"""Labels that publishers state in JSON-LD, and training on those of an archive."""

import json
from pathlib import Path

import pytest

from benchmarks.recipes.publisher_labels import (
    CUT_OFF,
    NO_ARTICLE,
    NO_TEXT,
    NOT_SHOWN,
    SHORT,
    UnusableError,
    read_publisher_page,
    write_set,
)
from newscrawl.training.corpus import load_corpus
from tests.archives import capture, written
from tests.publishers import TOPICS, page, paragraphs

URL = "https://pier.example/news/harbour-reopens-after-the-storm"


def test_text_of_json_ld_becomes_the_label():
    found = read_publisher_page(page(), URL)
    assert found.text == "\n\n".join(paragraphs("harbour"))
    assert (found.site, found.language, found.title) == (
        "pier.example",
        "en",
        "The harbour reopens",
    )


def test_markup_in_the_text_is_no_part_of_the_label():
    body = "".join(f"&lt;p&gt;{one}&lt;/p&gt;" for one in paragraphs("harbour"))
    assert read_publisher_page(page(articleBody=body), URL).text == "\n\n".join(
        paragraphs("harbour")
    )


@pytest.mark.parametrize(
    ("html", "reason"),
    [
        (b"<p>Ships sail again.</p>", NO_TEXT),
        (page(articleBody="Ships sail again."), SHORT),
        (page(isAccessibleForFree=False), NO_ARTICLE),
        (page(shown=paragraphs("railway station of another town")), NOT_SHOWN),
        (page(articleBody=" ".join(paragraphs("harbour")) + " ..."), CUT_OFF),
        (page(shown=[*paragraphs("harbour"), *paragraphs("market")]), CUT_OFF),
    ],
    ids=["none", "short", "paywall", "another text", "teaser", "first part"],
)
def test_texts_that_are_no_labels_are_left_out_with_the_reason(html, reason):
    with pytest.raises(UnusableError) as raised:
        read_publisher_page(html, URL)
    assert str(raised.value) == reason


def test_set_has_each_text_once_and_pages_come_without_json_ld(tmp_path):
    first, copy = (read_publisher_page(page(), URL + end) for end in ("", "?copy=1"))
    other = read_publisher_page(page("market"), "https://square.example/market-reopens-today")
    assert write_set(tmp_path / "own", [first, copy, other]) == 2
    corpus = load_corpus(tmp_path / "own")
    assert [gold.site for gold in corpus] == ["pier.example", "square.example"]
    assert all(b"articleBody" not in gold.html for gold in corpus)
    assert corpus.pages[0].text == first.text


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    """An archive of a story and a page without a label on each of eight sites."""
    folder = tmp_path / "archive"
    captures = [
        capture(f"https://{topic}.example/{name}", html)
        for topic in TOPICS
        for name, html in ((f"the-{topic}-reopens", page(topic)), ("about", b"<p>About us.</p>"))
    ]
    written(folder, *captures)
    return folder


def test_network_is_trained_further_on_an_archive(run_recipe, archive, tmp_path):
    pytest.importorskip("torch", reason="PyTorch is not here: pip install '.[network]'")
    train = ("further", archive, "--epochs", 1)
    ran = run_recipe(*train, "--force", "-o", tmp_path / "network", "--format", "json")
    assert ran.code == 0
    assert "8 of 16 pages have a label; 8 no articleBody" in ran.err
    ours, further = json.loads(ran.out)
    assert (ours["network"], further["network"]) == ("ours", "trained further")
    assert 0 < ours["pages"] == further["pages"] < 8
    about = json.loads((tmp_path / "network" / "combined.json").read_text("utf-8"))
    assert about["provenance"]["labels"] == "articleBody of JSON-LD"
    assert about["provenance"]["pages"] == 8 - ours["pages"]
    assert about["provenance"]["trained_further"]["corpus"] == "corpus"
    ran = run_recipe(*train, "--folds", 2, "--format", "json")
    assert {row["pages"] for row in json.loads(ran.out)} == {8}
    assert "written" not in ran.err


def test_archive_without_labels_is_one_line_of_advice(run_recipe, tmp_path):
    pytest.importorskip("torch", reason="PyTorch is not here: pip install '.[network]'")
    written(tmp_path / "archive", capture(URL, b"<p>Ships sail again.</p>"))
    ran = run_recipe("further", tmp_path / "archive")
    assert ran.code == 2
    assert "no page has a text in its JSON-LD (articleBody)" in ran.err
    ran = run_recipe("further", tmp_path / "nowhere")
    assert ran.code == 2
    assert "no folder" in ran.err
