"""FE: a block is kept when all eight limits hold (Ziegler & Skubacz 2007, section 3.5)."""

import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final

import numpy as np
from numpy.typing import NDArray

from newscrawl.extraction.features import NAMES, UPPER_LIMITS, VERSION, Features
from newscrawl.extraction.profiles import ProfileName


class ThresholdsError(ValueError):
    """The file of learned limits does not fit the code."""


@dataclass(frozen=True, slots=True)
class Limits:
    """The eight limits in the order of `features.NAMES`."""

    values: NDArray[np.float64]


# Ours: the mean length of a word. Scripts without blanks count each character as one and have
# 1.0 to 1.5 on news pages, all others more than 3.
UNSPACED_BELOW: Final = 2.0


@cache
def learned_limits(profile: ProfileName = "html5", *, unspaced: bool = False) -> Limits:
    """The limits in `data/thresholds.json`, which `newscrawl train` writes.

    Scripts without blanks between words have limits of their own where they were learned.
    """
    source = files("newscrawl.extraction").joinpath("data/thresholds.json")
    content = json.loads(source.read_text("utf-8"))
    own = f"{profile} unspaced"
    name = own if unspaced and own in content else profile
    entry = content[name]
    if entry["provenance"]["feature_version"] != VERSION:
        raise ThresholdsError(
            f"data/thresholds.json: the limits of {name} belong to version"
            f" {entry['provenance']['feature_version']} of the features, the code has {VERSION};"
            " run `newscrawl train`"
        )
    return Limits(np.array([entry["limits"][name] for name in NAMES], dtype=np.float64))


def limits_for(features: Features, profile: ProfileName = "html5") -> Limits:
    """The learned limits for the script that a page is written in."""
    words = int(features.tokens.words.sum())
    letters = int(features.tokens.letters_in_words.sum())
    return learned_limits(profile, unspaced=letters < UNSPACED_BELOW * words)


def keep(features: Features, limits: Limits) -> NDArray[np.bool_]:
    """Which blocks hold all eight limits."""
    signs = np.array([-1.0 if name in UPPER_LIMITS else 1.0 for name in NAMES])
    return np.asarray(np.all(features.values * signs >= limits.values * signs, axis=1))
