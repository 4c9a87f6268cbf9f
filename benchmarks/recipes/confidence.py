"""Calibrate the confidence of the combined method: the F1 that pages of unseen sites have, for the
F1 that the network expects of them."""

import json
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

import newscrawl.extraction
from benchmarks.recipes.examples import Example, score_kept, sides
from newscrawl.extraction.classifier import BALANCED, combine
from newscrawl.training.corpus import Split

if TYPE_CHECKING:
    from benchmarks.recipes.network import Epoch, NetworkSettings

CONFIDENCE_FILE: Final = Path(newscrawl.extraction.__file__).parent / "data" / "confidence.json"
FOLDS: Final = 2  # ours: two networks are trained, each from half of the sites
MIN_PAGES: Final = 60  # ours: of a step
DIGITS: Final = 4


class Expectation(NamedTuple):
    """The word F1 that a network expects of a page of a site that it has not seen, and what it
    is."""

    expected: float
    f1: float


def expectations(
    examples: Sequence[Example],
    splits: Sequence[Split],
    settings: "NetworkSettings",
    on_epoch: "Callable[[Epoch], None]" = lambda _: None,
) -> list[Expectation]:
    """Train on each split's training sites, and return what is expected of its other pages."""
    from benchmarks.recipes.network import as_runtime, fit  # noqa: PLC0415 - needs PyTorch

    pairs = []
    for split in splits:
        train, test = sides(examples, split)
        network = as_runtime(fit(train, settings, on_epoch))
        for example in test:
            features = example.block_features
            probabilities = network.probabilities(features)
            choice = combine(probabilities, features.is_title, example.words)
            f1 = score_kept(example, choice.mask, BALANCED).values["word.f1"]
            pairs.append(Expectation(choice.confidence, f1))
    return pairs


def fit_steps(pairs: Sequence[Expectation]) -> list[Expectation]:
    """Return the means of groups of pages, in which the F1 never falls where more is expected
    (isotonic regression, by pooling adjacent violators)."""
    ordered = sorted(pairs)
    count = max(len(ordered) // MIN_PAGES, 1)
    ends = [len(ordered) * number // count for number in range(count + 1)]
    groups: list[list[Expectation]] = []
    for start, end in pairwise(ends):
        groups.append(ordered[start:end])
        while len(groups) > 1 and _mean(groups[-2]).f1 >= _mean(groups[-1]).f1:
            groups[-2:] = [groups[-2] + groups[-1]]
    return [_mean(group) for group in groups]


def _mean(group: Sequence[Expectation]) -> Expectation:
    return Expectation(
        *(round(sum(each) / len(group), DIGITS) for each in zip(*group, strict=True))
    )


def write_steps(steps: Sequence[Expectation], path: Path, provenance: dict[str, object]) -> None:
    """Write the steps with their provenance."""
    expected, f1 = zip(*steps, strict=True)
    stored = {"provenance": provenance, "expected": expected, "f1": f1}
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(stored, indent=1) + "\n", encoding="utf-8")
