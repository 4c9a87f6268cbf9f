"""The combined method: a network weighs all evidence, then the page is judged as a whole."""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from newscrawl.extraction.evidence import Evidence
from newscrawl.extraction.network import Network

# A block is kept from this probability on: for the balance of a news reader, for little that is
# not content, for little content that is lost (ours; `newscrawl train-network --folds 5` prints
# what each brings on unseen sites).
BALANCED: Final = 0.5
FOR_PRECISION: Final = 0.7
FOR_RECALL: Final = 0.3


@dataclass(frozen=True, slots=True)
class Choice:
    """Which blocks are content; `confidence` is the F1 that the probabilities let expect."""

    kept: NDArray[np.bool_]
    confidence: float


def combine(
    evidence: Evidence, words: NDArray[np.int64], network: Network, threshold: float = BALANCED
) -> Choice:
    """Choose the blocks of a page; `words[i]` are the words of block i."""
    probabilities = network.probabilities(evidence)
    kept = (probabilities >= threshold) & ~evidence.is_title
    return Choice(kept=kept, confidence=_expected_f1(kept, probabilities, words))


def _expected_f1(
    kept: NDArray[np.bool_], probabilities: NDArray[np.float32], words: NDArray[np.int64]
) -> float:
    found = float(words[kept].sum())
    wanted = float((words * probabilities).sum())
    common = float((words * probabilities)[kept].sum())
    return min(2 * common / (found + wanted), 1.0) if found else 0.0
