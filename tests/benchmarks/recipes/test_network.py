"""Training the network; needs PyTorch, which is not part of the development environment."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not here: pip install '.[network]'")

from benchmarks.recipes.examples import Example, read_example  # noqa: E402
from benchmarks.recipes.network import (  # noqa: E402
    Encoder,
    Epoch,
    NetworkSettings,
    Shape,
    as_runtime,
    batch,
    fit,
    read,
)
from newscrawl.extraction.classifier import DILATIONS  # noqa: E402
from newscrawl.training.corpus import load_corpus  # noqa: E402

MINI = Path(__file__).parents[2] / "corpus" / "mini"
RECIPE = NetworkSettings(epochs=2, pages_at_once=4)


@pytest.fixture(scope="module")
def examples() -> list[Example]:
    """The pages of our own corpus."""
    corpus = load_corpus(MINI)
    return [example for page in corpus if (example := read_example(page)) is not None]


def test_numpy_and_pytorch_give_equal_probabilities(examples):
    fitted = fit(examples, RECIPE)
    encoder = Encoder(fitted.vocabulary)
    inputs, _ = batch([encoder.encode(example) for example in examples])
    with torch.no_grad():
        logits = torch.stack([member(inputs) for member in fitted.members])
        expected = torch.sigmoid(logits.mean(0)).numpy()
    network = as_runtime(fitted)
    assert network.members == RECIPE.members == 2
    assert all(len(DILATIONS) == len(member.context) for member in fitted.members)
    for example, row in zip(examples, expected, strict=True):
        found = network.probabilities(example.block_features)
        np.testing.assert_allclose(found, row[: example.blocks], atol=0.02)


def test_equal_seeds_give_equal_networks(examples):
    epochs: list[Epoch] = []
    first, second = (as_runtime(fit(examples, RECIPE, epochs.append)) for _ in range(2))
    assert len(epochs) == 2 * RECIPE.members * RECIPE.epochs
    assert epochs[:4] == epochs[4:]
    assert epochs[:2] != epochs[2:4]
    for name, weights in first.weights.items():
        np.testing.assert_array_equal(weights, second.weights[name])


def test_page_dropout_withholds_names_openings_and_the_headline(examples):
    shape = Shape(dropout=0, names_dropout=0, noise=0, page_dropout=1)
    fitted = fit(examples, replace(RECIPE, shape=shape))
    network, encoder = fitted.members[0], Encoder(fitted.vocabulary)
    inputs, _ = batch([encoder.encode(example) for example in examples])
    values = inputs.values.clone()
    names = examples[0].block_features.names
    values[..., [names.index(name) for name in ("has_headline", "is_title", "has_data")]] = 1
    bare = replace(
        inputs,
        values=values,
        paths=torch.zeros_like(inputs.paths),
        words=torch.zeros_like(inputs.words),
    )
    assert not torch.equal(network(inputs), network(bare))
    assert torch.equal(network.train()(inputs), network.train()(bare))


def test_network_is_written_with_its_origin_and_read_again(run_recipe, tmp_path):
    learn = ("network", "--corpus", MINI, "--epochs", 1, "--include-sealed")
    ran = run_recipe(*learn, "-o", tmp_path / "made")
    assert ran.code == 0, ran.err
    about = json.loads((tmp_path / "made" / "combined.json").read_text("utf-8"))
    assert about["provenance"]["command"] == (
        "python -m benchmarks.recipes network --corpus mini --epochs 1 --include-sealed -o made"
    )
    assert about["provenance"]["pages"] == len(load_corpus(MINI))
    assert len(read(tmp_path / "made").members) == NetworkSettings().members
    ran = run_recipe(*learn, "--folds", 2, "--format", "json")
    assert {row["threshold"] for row in json.loads(ran.out)} == {0.3, 0.4, 0.5, 0.6, 0.7}
