"""Training the network; needs PyTorch, which is no part of the development environment."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not here: pip install '.[network]'")

from newscrawl.extraction.network import DILATIONS  # noqa: E402
from newscrawl.training.ablation_table import as_csv, as_markdown  # noqa: E402
from newscrawl.training.corpus import load_corpus  # noqa: E402
from newscrawl.training.explain_reasons import columns_of  # noqa: E402
from newscrawl.training.network.ablation import (  # noqa: E402
    SOURCES,
    ablate,
    leave_out,
)
from newscrawl.training.network.encoding import Encoder, batch  # noqa: E402
from newscrawl.training.network.examples import Example, read_example  # noqa: E402
from newscrawl.training.network.export import as_runtime  # noqa: E402
from newscrawl.training.network.fit import Epoch, Recipe, fit  # noqa: E402
from newscrawl.training.network.labels import believed, of_gold  # noqa: E402
from newscrawl.training.network.teaching import beliefs, train  # noqa: E402
from newscrawl.training.splits import folds_by_site  # noqa: E402

RECIPE = Recipe(epochs=2, pages_at_once=4, teachers=2)


@pytest.fixture(scope="module")
def examples() -> list[Example]:
    """The pages of our own corpus."""
    corpus = load_corpus(Path(__file__).parent / "corpus" / "mini")
    return [example for page in corpus if (example := read_example(page)) is not None]


def test_numpy_gives_what_pytorch_gives(examples: list[Example]) -> None:
    fitted = fit(examples, RECIPE)
    encoder = Encoder(fitted.vocabulary)
    inputs, _ = batch([encoder.encode(example, of_gold(example)) for example in examples])
    with torch.no_grad():
        expected = torch.sigmoid(fitted.network(inputs)).numpy()
    network = as_runtime(fitted)
    assert len(DILATIONS) == len(fitted.network.context)
    for example, row in zip(examples, expected, strict=True):
        found = network.probabilities(example.evidence)
        np.testing.assert_allclose(found, row[: example.blocks], atol=0.02)


def test_same_seed_same_network(examples: list[Example]) -> None:
    epochs: list[Epoch] = []
    first, second = (as_runtime(train(examples, RECIPE, epochs.append)) for _ in range(2))
    assert len(epochs) == 2 * RECIPE.all_epochs
    assert epochs[: RECIPE.all_epochs] == epochs[RECIPE.all_epochs :]
    for name, weights in first.weights.items():
        np.testing.assert_array_equal(weights, second.weights[name])


@pytest.mark.parametrize("source", SOURCES)
def test_a_source_left_out_says_the_same_of_all_blocks(
    source: str, examples: list[Example]
) -> None:
    example = examples[0]
    bare = leave_out(example, source)
    values = bare.evidence.values
    wanted = [k for kind in SOURCES[source] for k in columns_of(kind, example.evidence.names)]
    silent = [k for k in wanted if example.evidence.names[k] != "is_title"]
    assert not values[:, silent].any()
    others = [k for k in range(values.shape[1]) if k not in silent]
    assert (values[:, others] == example.evidence.values[:, others]).all()
    if source == "names of elements":
        assert not any(bare.evidence.hints)
    if source == "first words":
        assert not any(bare.openings)


def test_ablation_scores_each_source_and_tells_the_change(examples: list[Example]) -> None:
    pages = load_corpus(Path(__file__).parent / "corpus" / "mini")
    rows = list(ablate(examples, folds_by_site(pages, k=2)[:1], Recipe(epochs=1, teachers=0)))
    assert [row.source for row in rows] == list(SOURCES)
    table = as_markdown(as_csv(rows))
    assert table.count("\n") == len(SOURCES) + 1
    assert "| nothing |" in table


def test_teachers_are_believed_by_the_mean_of_their_odds(examples: list[Example]) -> None:
    one, other = (as_runtime(fit(examples, replace(RECIPE, seed=seed))) for seed in (1, 2))
    for example in examples:
        said = [network.probabilities(example.evidence) for network in (one, other)]
        both = beliefs(example, [one, other])
        assert (both >= np.minimum(*said) - 1e-6).all()
        assert (both <= np.maximum(*said) + 1e-6).all()
        np.testing.assert_allclose(beliefs(example, [one, one]), said[0], atol=1e-5)


def test_labels_lie_between_gold_text_and_teachers(examples: list[Example]) -> None:
    example = examples[0]
    gold, doubt = of_gold(example), np.full(example.blocks, 0.5)
    np.testing.assert_array_equal(believed(example, doubt, 0.0).content, gold.content)
    half = believed(example, doubt, 0.5)
    silent = example.evidence.is_title
    np.testing.assert_allclose(half.content[~silent], (gold.content[~silent] + 0.5) / 2)
    assert half.gold_words >= half.matched.sum()


def test_a_page_without_gold_text_is_labelled_by_the_teachers_alone(
    examples: list[Example],
) -> None:
    page = replace(examples[0].page, text=None)
    example = read_example(page)
    assert example is not None
    assert not example.labelled
    assert not example.matched.any()
    sure = np.ones(example.blocks)
    labels = believed(example, sure, 0.5)
    silent = example.evidence.is_title
    np.testing.assert_array_equal(labels.content, np.where(silent, 0.0, 1.0))
    assert labels.gold_words == example.words[~silent].sum()


def test_pages_without_gold_text_teach_and_are_not_scored(examples: list[Example]) -> None:
    without = read_example(replace(examples[-1].page, text=None))
    assert without is not None
    alone = as_runtime(train(examples[:-1], RECIPE))
    taught = as_runtime(train([*examples[:-1], without], RECIPE))
    assert any(
        not np.array_equal(taught.weights[name], weights) for name, weights in alone.weights.items()
    )
