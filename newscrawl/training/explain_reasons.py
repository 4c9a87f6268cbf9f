"""Which evidence moved the network, block by block, told by leaving it out.

For each kind of evidence, the network is asked again with that kind made unremarkable for
all blocks of the page; what the log-odds of a block lose by it is what that kind said for
the block (occlusion: crude, for evidence hangs together, but true to the network as it is).
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from newscrawl.extraction.block_features import OPENERS, BlockFeatures
from newscrawl.extraction.blocks import Candidates
from newscrawl.extraction.classifier import Network

# Kinds of evidence as a person would name them, by the names of their columns; a name that
# ends in "_" stands for all that begin so.
KINDS: Mapping[str, tuple[str, ...]] = {
    "length": ("words", "unlinked_words", "chars"),
    "sentences": ("sentence_length", "sentences", "commas", "quotes", "ends_sentence",
                  "ends_colon"),
    "characters": ("characters", "capitals", "digits", "separators", "others", "word_length"),
    "stop words": ("stop_words", "stop_words_of_page"),
    "links": ("anchors", "link_share_"),
    "tags inside": ("formats", "lists", "structure", "after_break", "images"),
    "tag ratio": ("tags", "ratio", "smoothed", "smoothed_over_deviation", "derivative"),
    "prose around": ("depth", "prose_share_", "prose_per_block_", "blocks_", "same_place",
                     "same_parent"),
    "landmark": ("in_",),
    "place": ("place", "words_before"),
    "menus beside": ("left_out_",),
    "JSON-LD": ("has_data", "data_"),
    "headline": ("is_title", "from_headline", "after_headline", "has_headline"),
    "repetition": ("repeated",),
    "page": ("page_words", "page_blocks", "page_unlinked_share"),
}  # fmt: skip
NAMES, OPENING = "class names", "first words"  # of elements around the block; of the block itself
IN_MENU = "run of short links"  # why a block is no candidate
MAX_REASONS = 3
MIN_MOVE = 0.5  # of the log-odds: less than this is no reason to tell
MAX_LOG_ODDS = 12.0  # log-odds are cut here: beyond, a probability is 0 or 1


@dataclass(frozen=True, slots=True)
class Reason:
    """A kind of evidence and by how much it raised the block's log-odds."""

    kind: str
    move: float


def reasons_of_all(
    network: Network, candidates: Candidates, evidence: BlockFeatures, blocks: int
) -> list[tuple[Reason, ...]]:
    """The reasons of all blocks of a page: those that are no candidates stand in menus."""
    found: list[tuple[Reason, ...]] = [(Reason(IN_MENU, -MAX_LOG_ODDS),)] * blocks
    for place, why in zip(candidates.places.tolist(), reasons(network, evidence), strict=True):
        found[place] = why
    return found


def reasons(network: Network, evidence: BlockFeatures) -> list[tuple[Reason, ...]]:
    """For each candidate the kinds of evidence that moved it most, the strongest first."""
    whole = _log_odds(network, evidence)
    kinds = [*KINDS, NAMES, OPENING]
    moves = np.array([whole - _log_odds(network, _without(network, evidence, k)) for k in kinds])
    result = []
    for column in moves.T:
        order = np.argsort(-np.abs(column), kind="stable")[:MAX_REASONS]
        strong = (i for i in order if abs(column[i]) >= MIN_MOVE)
        result.append(tuple(Reason(kinds[i], float(column[i])) for i in strong))
    return result


def columns_of(kind: str, names: tuple[str, ...]) -> list[int]:
    """The columns of the evidence that belong to a kind."""
    wanted = KINDS[kind]
    starts = tuple(name for name in wanted if name.endswith("_"))
    return [
        i for i, name in enumerate(names) if name in wanted or (starts and name.startswith(starts))
    ]


def _without(network: Network, evidence: BlockFeatures, kind: str) -> BlockFeatures:
    """The evidence with one kind unremarkable: at its mean over all training pages, or unknown."""
    if kind == NAMES:
        return replace(
            evidence,
            hints=[()] * len(evidence.hints),
            tags=np.zeros_like(evidence.tags),
            openers=np.full_like(evidence.openers, len(OPENERS)),
        )
    if kind == OPENING:
        return replace(
            evidence, words=evidence.words[:0], word_counts=np.zeros_like(evidence.word_counts)
        )
    values = evidence.values.copy()
    columns = columns_of(kind, evidence.names)
    values[:, columns] = network.weights["mean"][columns]
    return replace(evidence, values=values)


def _log_odds(network: Network, evidence: BlockFeatures) -> NDArray[np.float64]:
    probabilities = network.probabilities(evidence).astype(np.float64)
    with np.errstate(divide="ignore"):
        odds = np.log(probabilities) - np.log1p(-probabilities)
    return np.asarray(np.clip(odds, -MAX_LOG_ODDS, MAX_LOG_ODDS))
