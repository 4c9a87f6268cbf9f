"""Trees over the features of blocks, and their recipes."""

import json
from pathlib import Path

import pytest

from benchmarks.recipes.examples import Example, by_group, read_example, sides
from benchmarks.recipes.trees import (
    DEPTH,
    TREES,
    TreesName,
    cross_validate,
    fit_trees,
    score_trees,
    table_of,
)
from newscrawl.training.corpus import DEVELOPMENT, folds_by_site, load_corpus, split_by_site

BUNDLED = Path(__file__).parents[2] / "corpus"


@pytest.fixture(scope="module")
def examples() -> list[Example]:
    return [example for page in load_corpus(BUNDLED) if (example := read_example(page))]


def mean_f1(examples: list[Example], name: TreesName) -> float:
    scored = score_trees(examples, fit_trees(examples, name, seed=0))
    return sum(each.values["word.f1"] for each in scored) / len(scored)


@pytest.mark.parametrize("name", TREES)
def test_trees_separate_content_from_boilerplate(examples, name):
    assert mean_f1(examples, name) > 0.8


@pytest.mark.parametrize("name", TREES)
def test_equal_seeds_give_equal_trees(examples, name):
    one, two = (fit_trees(examples, name, seed=3) for _ in range(2))
    table = table_of(examples[0])
    assert one.probabilities(table).tolist() == two.probabilities(table).tolist()


def test_folds_score_each_page_once_with_trees_of_other_sites(examples):
    splits = folds_by_site(load_corpus(BUNDLED), k=2)
    told: list[int] = []
    scored = cross_validate(examples, splits, "tree", 0, lambda: told.append(1))
    assert len(told) == 2
    assert sorted(each.example.page.id for each in scored) == sorted(e.page.id for e in examples)
    pages = {group: len(found) for (_, group), found in by_group(scored).items()}
    assert pages.pop("mini article") == sum(pages.values()) == len(examples)
    for split in splits:
        train, test = sides(examples, split)
        assert {e.page.owner for e in train}.isdisjoint(e.page.owner for e in test)


def test_decision_tree_is_written_for_scikit_learn(run_recipe, tmp_path):
    import joblib  # noqa: PLC0415 - only here: all processes of pytest import this module

    file = tmp_path / "models" / "tree.joblib"
    ran = run_recipe("tree", "--corpus", BUNDLED, "-o", file, "-f", "json")
    assert ran.code == 0
    tested = len(split_by_site(load_corpus(BUNDLED)).test.part(DEVELOPMENT))
    pages = {row["group"]: row["pages"] for row in json.loads(ran.out)}
    assert pages.pop("mini article") == sum(pages.values()) == tested
    assert "written for comparison" in ran.err
    model = joblib.load(file)
    assert model.get_depth() <= DEPTH
    origin = json.loads(file.with_name("tree.joblib.json").read_text())
    assert origin["fingerprint"] == load_corpus(BUNDLED).fingerprint
    assert len(origin["evidence"]) == model.n_features_in_


def test_boosted_trees_are_written_as_text(run_recipe, tmp_path):
    import lightgbm  # noqa: PLC0415 - only here: it takes a second

    file = tmp_path / "boosted.txt"
    ran = run_recipe("boosted", "--corpus", BUNDLED, "-o", file)
    assert ran.code == 0
    assert ran.fits
    assert "…" not in ran.out
    assert lightgbm.Booster(model_file=file).num_trees() > 0
