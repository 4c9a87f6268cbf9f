"""How well the network does on sites it was not trained on."""

from collections.abc import Callable, Sequence

from newscrawl.extraction.classifier import Network, combine
from newscrawl.training.block_scores import Scored, score_kept
from newscrawl.training.network.examples import Example, sides
from newscrawl.training.network.export import as_runtime
from newscrawl.training.network.fit import Epoch, Recipe, fit
from newscrawl.training.splits import Split


def cross_validate(
    examples: Sequence[Example],
    splits: Sequence[Split],
    recipe: Recipe,
    thresholds: Sequence[float],
    told: Callable[[Epoch], None] = lambda _: None,
) -> list[Scored]:
    """Train on each split's training sites and score its other pages as the extractor would."""
    scored: list[Scored] = []
    for split in splits:
        train, test = sides(examples, split)
        network = as_runtime(fit(train, recipe, told))
        for threshold in thresholds:
            scored += [score(example, network, threshold) for example in test]
    return scored


def score(example: Example, network: Network, threshold: float) -> Scored:
    """Take the text out of a page with a network, and score it."""
    choice = combine(example.evidence, example.words, network, threshold)
    return score_kept(example, choice.kept, threshold)
