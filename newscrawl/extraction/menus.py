"""Blocks that no method needs to weigh: runs of short links, one after the other.

A third of a page's blocks stand in such runs, and a quarter of a percent of the words that are
content. What is left are the candidates, each knowing how long a run was left out beside it.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from newscrawl.extraction.blocks import BlockPage
from newscrawl.extraction.characters import LINK_END, LINK_START

# Ours, fitted on the development corpus: shorter runs hold 0.5 % of the words that are content.
SHORTEST_RUN: Final = 3
LONGEST_LINK: Final = 60  # characters


@dataclass(frozen=True, slots=True)
class Candidates:
    """The blocks of a page that may be content.

    `places` are their places among all blocks. `left_out_before[i]` blocks were left out right
    before candidate i, `left_out_after[i]` right after it; `words_left_out` are those of all.
    """

    page: BlockPage
    places: NDArray[np.int64]
    left_out_before: NDArray[np.int64]
    left_out_after: NDArray[np.int64]
    words_left_out: int


def candidates_of(page: BlockPage) -> Candidates:
    """Leave out the runs of short links of a page."""
    links = np.fromiter(map(_is_short_link, page.raw), dtype=bool, count=len(page))
    in_run = links & (_run_lengths(links) >= SHORTEST_RUN)
    places = np.flatnonzero(~in_run)
    bounds = np.concatenate(([-1], places, [len(page)]))
    gaps = bounds[1:] - bounds[:-1] - 1
    return Candidates(
        page=page.select(places),
        places=places,
        left_out_before=gaps[:-1],
        left_out_after=gaps[1:],
        words_left_out=sum(page.raw[place].count(" ") + 1 for place in np.flatnonzero(in_run)),
    )


def _is_short_link(raw: str) -> bool:
    last = len(raw) - 1
    return raw[0] == LINK_START and last <= LONGEST_LINK and raw.find(LINK_END) == last


def _run_lengths(flags: NDArray[np.bool_]) -> NDArray[np.int64]:
    """For each place the length of the run of equal flags that it stands in."""
    starts = np.flatnonzero(flags[1:] != flags[:-1]) + 1
    bounds = np.concatenate(([0], starts, [len(flags)]))
    lengths = bounds[1:] - bounds[:-1]
    return np.repeat(lengths, lengths)
