"""How well the network does on sites it was not trained on."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from newscrawl.extraction.combination import combine
from newscrawl.extraction.network import Network
from newscrawl.training.network.examples import Example
from newscrawl.training.network.export import as_runtime
from newscrawl.training.network.fit import Epoch, Recipe, fit
from newscrawl.training.scores import score_page
from newscrawl.training.splits import Split

MEASURES = ("word", "shingle", "similarity")


@dataclass(frozen=True, slots=True)
class Scored:
    """The scores of one page (`scores.score_page`) at one threshold."""

    example: Example
    threshold: float
    values: dict[str, float]


def cross_validate(
    examples: Sequence[Example],
    splits: Sequence[Split],
    recipe: Recipe,
    thresholds: Sequence[float],
    told: Callable[[Epoch], None] = lambda _: None,
) -> list[Scored]:
    """Train on each split's training sites and score its other pages as the extractor would."""
    by_page = {(example.page.set, example.page.id): example for example in examples}
    scored: list[Scored] = []
    for split in splits:
        train, test = (
            [by_page[page.set, page.id] for page in part if (page.set, page.id) in by_page]
            for part in (split.train, split.test)
        )
        network = as_runtime(fit(train, recipe, told))
        for threshold in thresholds:
            scored += [score(example, network, threshold) for example in test]
    return scored


def score(example: Example, network: Network, threshold: float) -> Scored:
    """Take the text out of a page with a network, and score it."""
    choice = combine(example.evidence, example.words, network, threshold)
    text = "\n\n".join(text for text, kept in zip(example.texts, choice.kept, strict=True) if kept)
    return Scored(example, threshold, score_page(example.page, text, example.title, MEASURES))
