"""Scores of pages whose blocks were chosen by a model over the evidence (needs no PyTorch)."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from newscrawl.training.network.examples import Example
from newscrawl.training.scores import score_page

MEASURES = ("word", "shingle", "similarity")


@dataclass(frozen=True, slots=True)
class Scored:
    """The scores of one page (`scores.score_page`) at one threshold."""

    example: Example
    threshold: float
    values: dict[str, float]


def score_kept(example: Example, kept: NDArray[np.bool_], threshold: float) -> Scored:
    """Score the text of the blocks that were kept at a threshold."""
    text = "\n\n".join(text for text, taken in zip(example.texts, kept, strict=True) if taken)
    return Scored(example, threshold, score_page(example.page, text, example.title, MEASURES))


def by_group(scored: Iterable[Scored]) -> dict[tuple[float, str], list[Scored]]:
    """By threshold and by set: articles, other pages, and daniel's articles by language."""
    groups: dict[tuple[float, str], list[Scored]] = defaultdict(list)
    for each in scored:
        page = each.example.page
        kind = "article" if page.page_type == "article" else "other"
        groups[each.threshold, f"{page.set} {kind}"].append(each)
        if page.set == "daniel" and kind == "article":
            groups[each.threshold, f"{page.set} {page.lang}"].append(each)
    return dict(sorted(groups.items()))
