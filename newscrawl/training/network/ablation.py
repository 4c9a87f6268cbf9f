"""What each source of evidence is worth: the network trained anew with one of them left out."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from newscrawl.extraction.block_features import OPENERS
from newscrawl.training.ablation_table import Left
from newscrawl.training.block_scores import Scored, by_group
from newscrawl.training.explain_reasons import columns_of
from newscrawl.training.network.examples import Example
from newscrawl.training.network.fit import Recipe
from newscrawl.training.network.validation import cross_validate
from newscrawl.training.splits import Split

# The sources of evidence by the kinds of `explain_reasons`; an empty list is handled by name.
SOURCES: Final[dict[str, tuple[str, ...]]] = {
    "nothing": (),
    "the eight features and counts": (
        "length", "sentences", "characters", "stop words", "links", "tags inside",
    ),
    "CETR": ("tag ratio",),
    "tree": ("prose around", "landmark"),
    "names of elements": (),
    "first words": (),
    "headline": ("headline",),
    "page and place": ("page", "place", "repetition", "menus beside"),
    "JSON-LD": ("JSON-LD",),
    "neighbours": (),
}  # fmt: skip
GROUPS: Final = ("daniel article", "fundus article", "wcxb article")


def ablate(
    examples: Sequence[Example],
    splits: Sequence[Split],
    recipe: Recipe,
    told: Callable[[], None] = lambda: None,
) -> Iterator[Left]:
    """Train and score once for each source of evidence, on all splits."""
    for source in SOURCES:
        own = replace(recipe, shape=replace(recipe.shape, neighbours=source != "neighbours"))
        without = [leave_out(example, source) for example in examples]
        scored = cross_validate(without, splits, own, [0.5], lambda _: told())
        yield Left(source, *_means(scored))


def leave_out(example: Example, source: str) -> Example:
    """The example with one source of evidence said alike of all blocks."""
    evidence = example.evidence
    if source == "names of elements":
        bare = replace(
            evidence,
            hints=[()] * len(evidence.hints),
            tags=np.zeros_like(evidence.tags),
            openers=np.full_like(evidence.openers, len(OPENERS)),
        )
        return replace(example, evidence=bare)
    if source == "first words":
        counts = np.zeros_like(evidence.word_counts)
        bare = replace(evidence, words=evidence.words[:0], word_counts=counts)
        return replace(example, evidence=bare, openings=[[] for _ in example.openings])
    values = evidence.values.copy()
    for kind in SOURCES[source]:
        columns = columns_of(kind, evidence.names)
        values[:, [k for k in columns if evidence.names[k] != "is_title"]] = 0
    return replace(example, evidence=replace(evidence, values=values))


def _means(scored: Sequence[Scored]) -> Iterator[float]:
    groups = {group: found for (_, group), found in by_group(scored).items()}
    for group in GROUPS:
        found = groups.get(group, [])
        yield float(np.mean([each.values["word.f1"] for each in found])) if found else 0.0
