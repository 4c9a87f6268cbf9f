"""What labels from JSON-LD are worth; training needs PyTorch."""

import json

import pytest

from benchmarks.publisher_labels import publisher_labels
from benchmarks.recipes.publisher_labels import read_publisher_page, write_set
from newscrawl.training.corpus import DEVELOPMENT, part_of
from tests.publishers import TOPICS, page


def test_labels_of_a_corpus_are_worth_something_on_unseen_sites(run_benchmark, tmp_path):
    pytest.importorskip("torch", reason="PyTorch is not here: pip install '.[network]'")
    sites = [topic for topic in TOPICS if part_of(f"{topic}.example") == DEVELOPMENT]
    stories = [
        read_publisher_page(page(topic), f"https://{topic}.example/story") for topic in sites
    ]
    write_set(tmp_path / "own", stories)
    options = ("--folds", "2", "--epochs", "1", "--format", "json")
    ran = run_benchmark(publisher_labels, "--corpus", str(tmp_path / "own"), *options)
    assert f"{len(sites)} pages state their text" in ran.err
    rows = {row["learned"]: row for row in json.loads(ran.out)}
    assert list(rows) == ["gold texts", "these, then JSON-LD", "JSON-LD alone"]
    assert all(row["pages"] == len(sites) and row["f1"] > 0.5 for row in rows.values())
