"""The command of the recipes, and where the files of the package come from."""

import json
import sys
from pathlib import Path

import pytest

from benchmarks.recipes import command_line
from benchmarks.recipes.kinds import MODEL_FILE
from benchmarks.recipes.mention_calibration import SCORE_FILE
from newscrawl.extraction import classifier

BUNDLED = Path(__file__).parents[2] / "corpus"
NETWORK = Path(classifier.__file__).parent / "data" / "combined.json"
MODELS = ("network", "further", "kinds", "mentions", "tree", "boosted")


@pytest.mark.parametrize("model", [(), *((model,) for model in MODELS)], ids=str)
def test_help_fits_the_screen(run_recipe, model):
    ran = run_recipe(*model, "--help")
    assert ran.code == 0
    assert "usage: python -m benchmarks.recipes" in ran.out
    assert ran.fits


@pytest.mark.parametrize(
    ("file", "model"), [(NETWORK, "network"), (MODEL_FILE, "kinds"), (SCORE_FILE, "mentions")]
)
def test_files_of_the_package_name_the_recipe_that_wrote_them(file, model, monkeypatch):
    command = json.loads(file.read_text("utf-8"))["provenance"]["command"]
    words = command.split()
    assert words[:4] == ["python", "-m", "benchmarks.recipes", model]
    commands: list[str] = []
    monkeypatch.setattr(command_line, "_run", lambda _options, command: commands.append(command))
    command_line.main(words[3:])
    assert commands == [command]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["kinds"], "give --corpus DIR or set NEWSCRAWL_CORPUS"),
        (["mentions", "--sealed"], "give --corpus DIR or set NEWSCRAWL_CORPUS"),
        (["mentions", "--sealed", "--corpus", BUNDLED], "holds none of the sealed texts"),
        (["kinds", "--corpus", "nowhere"], "nowhere: no such folder"),
        (["tree", "--corpus", BUNDLED], "give -o FILE, or --folds 5"),
        (["tree", "--corpus", BUNDLED, "--folds", "99"], "can't be split into 99 parts"),
    ],
)
def test_what_a_recipe_lacks_is_one_line(run_recipe, arguments, message):
    ran = run_recipe(*arguments)
    assert ran.code == 2
    assert message in ran.err
    assert len(ran.err.strip().splitlines()) == 1


def test_missing_pytorch_is_named(run_recipe, monkeypatch):
    monkeypatch.delitem(sys.modules, "benchmarks.recipes.network", raising=False)
    monkeypatch.delattr("benchmarks.recipes.network", raising=False)
    monkeypatch.setitem(sys.modules, "torch", None)
    ran = run_recipe("network", "--corpus", BUNDLED)
    assert ran.code == 2
    assert "needs PyTorch: pip install '.[network]'" in ran.err
