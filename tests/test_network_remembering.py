"""What template memory adds, measured site by site."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from newscrawl.extraction.classifier import learned_network
from newscrawl.training.corpus import load_corpus
from newscrawl.training.network.examples import Example, read_example

pytest.importorskip("torch")

from newscrawl.training.network.fit import Recipe
from newscrawl.training.network.remembering import LEAST_ON_SITE, cross_validate, of_site
from newscrawl.training.splits import folds_by_site
from tests.test_extraction_memory import APPEAL, page, prose

PAGES = LEAST_ON_SITE + 1


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


def test_memory_takes_away_what_neighbours_say_too(examples: list[Example]) -> None:
    for found in of_site(examples[:PAGES], learned_network()):
        assert found.dropped == len(APPEAL.split())
        assert found.dropped_gold == 0
        assert found.without["word.f1"] < found.remembering["word.f1"] == pytest.approx(1.0)


def test_a_page_does_not_remember_itself(examples: list[Example]) -> None:
    for found in of_site([examples[0], *examples[PAGES : PAGES + 2]], learned_network()):
        assert found.dropped == 0
        assert found.without == found.remembering


def test_each_page_of_a_site_with_enough_of_them_is_read_once(
    folder: Path, examples: list[Example]
) -> None:
    splits = folds_by_site(load_corpus(folder), k=2)
    found = cross_validate(examples, splits, Recipe(epochs=1))
    assert sorted(int(each.example.page.id) for each in found) == list(range(2 * PAGES))


def test_memory_is_measured_by_folds_alone(folder: Path) -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "newscrawl.cli", "train-network", "--corpus", str(folder),
         "--memory"],
        capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    assert ran.returncode == 2
    assert "give --folds" in ran.stderr
