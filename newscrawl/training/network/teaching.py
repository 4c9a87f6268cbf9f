"""Networks that teach another one (distillation): it learns what several of them believe.

Several networks together err less than one, by what chance gave each of them. One network that
learns from their mean takes that over and costs no more than one; and as teachers need no gold
text, pages without one teach it too.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from newscrawl.extraction.network import Network
from newscrawl.training.network.examples import Example
from newscrawl.training.network.export import as_runtime
from newscrawl.training.network.fit import Epoch, Fitted, Recipe, fit
from newscrawl.training.network.labels import believed

SUREST = 1e-6  # ours: no teacher is surer than that, or one alone would decide


def train(
    examples: Sequence[Example], recipe: Recipe, told: Callable[[Epoch], None] = lambda _: None
) -> Fitted:
    """Train the recipe's teachers on the labelled pages, then a network on all pages."""
    labelled = [example for example in examples if example.labelled]
    if not recipe.teachers:
        return fit(labelled, recipe, told=told)
    seeds = range(recipe.seed + 1, recipe.seed + 1 + recipe.teachers)
    teachers = [as_runtime(fit(labelled, replace(recipe, seed=seed), told=told)) for seed in seeds]
    labels = [believed(example, beliefs(example, teachers), recipe.trust) for example in examples]
    return fit(examples, recipe, labels, told)


def beliefs(example: Example, teachers: Sequence[Network]) -> NDArray[np.float64]:
    """The probability of each block to be content, by the mean of the teachers' log odds."""
    each = np.array([teacher.probabilities(example.evidence) for teacher in teachers], np.float64)
    each = each.clip(SUREST, 1 - SUREST)
    return np.asarray(1 / (1 + np.exp(-np.log(each / (1 - each)).mean(axis=0))))
