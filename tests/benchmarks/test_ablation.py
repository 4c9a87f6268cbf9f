"""The worth of each source of evidence; training needs PyTorch, the tables don't."""

from pathlib import Path

import pytest

from benchmarks.ablation import SOURCES, Ablated, ablate, as_csv, as_markdown, leave_out
from benchmarks.recipes.examples import Example, read_example
from newscrawl.extraction.explain import columns_of
from newscrawl.training.corpus import folds_by_site, load_corpus

DOCS = Path(__file__).parents[2] / "docs"
MINI = Path(__file__).parents[1] / "corpus" / "mini"


@pytest.fixture(scope="module")
def examples() -> list[Example]:
    return [example for page in load_corpus(MINI) if (example := read_example(page)) is not None]


def test_document_has_the_table_of_the_data_file():
    text = (DOCS / "algorithms.md").read_text("utf-8")
    _, _, rest = text.partition("<!-- ablation -->\n")
    table, end, _ = rest.partition("\n<!-- end -->")
    assert end, "docs/algorithms.md has no place for the table"
    assert table == as_markdown((DOCS / "data" / "ablation.csv").read_text("utf-8"))


def test_changes_are_relative_to_the_full_model():
    rows = [
        Ablated("nothing", 0.9, 0.8, 0.7),
        Ablated("tree", 0.89, 0.8, 0.71),
        Ablated("x", 0.87, 0.8, 0.7),
    ]
    lines = as_markdown(as_csv(rows)).splitlines()
    assert lines[2] == "| nothing | 0.900 | 0.800 | 0.700 |  |"
    assert lines[3].endswith("| +0.0 |")
    assert lines[4].endswith("| -1.0 |")


@pytest.mark.parametrize("source", SOURCES)
def test_removed_source_is_constant_for_all_blocks(source, examples):
    example = examples[0]
    bare = leave_out(example, source)
    values = bare.block_features.values
    wanted = [k for kind in SOURCES[source] for k in columns_of(kind, example.block_features.names)]
    silent = [k for k in wanted if example.block_features.names[k] != "is_title"]
    assert not values[:, silent].any()
    others = [k for k in range(values.shape[1]) if k not in silent]
    assert (values[:, others] == example.block_features.values[:, others]).all()
    if source == "names of elements":
        assert not any(bare.block_features.hints)
    if source == "first words":
        assert not any(bare.openings)


def test_ablation_scores_each_source_and_shows_the_change(examples):
    fit = pytest.importorskip("benchmarks.recipes.network", reason="needs PyTorch")
    pages = load_corpus(MINI)
    rows = list(ablate(examples, folds_by_site(pages, k=2)[:1], fit.NetworkSettings(epochs=1)))
    assert [row.source for row in rows] == list(SOURCES)
    table = as_markdown(as_csv(rows))
    assert table.count("\n") == len(SOURCES) + 1
    assert "| nothing |" in table
