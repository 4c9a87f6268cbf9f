"""The gain of template memory, measured site by site; training needs PyTorch."""

import json
import random
from pathlib import Path

import pytest

from benchmarks.recipes.examples import Example, read_example
from benchmarks.template_memory import LEAST_ON_SITE, cross_validate, of_site
from newscrawl.extraction.classifier import load_network
from newscrawl.training.corpus import folds_by_site, load_corpus

PAGES = LEAST_ON_SITE + 1
APPEAL = "The editors ask all readers of this paper to support it with a gift at the end of a year."
WORDS = ("harbour", "crane", "mayor", "council", "bridge", "ferry", "vote", "budget", "school")


def prose(seed: int) -> str:
    """Return a paragraph that no other seed gives."""
    rng = random.Random(seed)  # noqa: S311  no secret
    return " ".join(
        f"On day {seed} the {' and the '.join(rng.choices(WORDS, k=5))} were debated at length."
        for _ in range(4)
    )


def page(seed: int) -> str:
    """Return a page of four paragraphs and an appeal."""
    paragraphs = "".join(f"<p>{prose(10 * seed + n)}</p>" for n in range(4))
    return (
        f"<html><head><title>Report {seed}</title></head><body><article><h1>Report {seed}</h1>"
        f"{paragraphs}<p>{APPEAL}</p></article></body></html>"
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A corpus of two sites with pages that end in an appeal, and one with a single page."""
    root = tmp_path_factory.mktemp("appeals")
    (root / "pages").mkdir()
    lines = []
    for number in range(2 * PAGES + 1):
        (root / "pages" / f"{number}.html").write_text(page(number))
        text = "\n\n".join(prose(10 * number + n) for n in range(4))
        site = f"site{number // PAGES}.example"
        lines.append({"id": str(number), "lang": "en", "site": site, "text": text})
    (root / "gold.jsonl").write_text("\n".join(map(json.dumps, lines)))
    return root


@pytest.fixture(scope="module")
def examples(folder: Path) -> list[Example]:
    return [example for gold in load_corpus(folder) if (example := read_example(gold))]


def test_memory_removes_paragraphs_repeated_on_other_pages(examples):
    for found in of_site(examples[:PAGES], load_network()):
        assert found.dropped == len(APPEAL.split())
        assert found.dropped_gold == 0
        assert found.without["word.f1"] < found.remembering["word.f1"] == pytest.approx(1.0)


def test_page_is_not_compared_with_itself(examples):
    for found in of_site([examples[0], *examples[PAGES : PAGES + 2]], load_network()):
        assert found.dropped == 0
        assert found.without == found.remembering


def test_each_page_of_a_large_site_is_scored_once(folder, examples):
    fit = pytest.importorskip("benchmarks.recipes.network", reason="needs PyTorch")
    splits = folds_by_site(load_corpus(folder), k=2)
    found = cross_validate(examples, splits, fit.NetworkSettings(epochs=1))
    assert sorted(int(each.example.page.id) for each in found) == list(range(2 * PAGES))
