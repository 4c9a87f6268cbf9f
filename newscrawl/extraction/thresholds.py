"""FE: a block is kept when all eight limits hold (Ziegler & Skubacz 2007, section 3.5)."""

import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

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


@cache
def learned_limits(profile: ProfileName = "html5") -> Limits:
    """The limits in `data/thresholds.json`, which `newscrawl train` writes."""
    source = files("newscrawl.extraction").joinpath("data/thresholds.json")
    entry = json.loads(source.read_text("utf-8"))[profile]
    if entry["provenance"]["feature_version"] != VERSION:
        raise ThresholdsError(
            f"data/thresholds.json: the limits of profile {profile} belong to version"
            f" {entry['provenance']['feature_version']} of the features, the code has {VERSION};"
            " run `newscrawl train`"
        )
    return Limits(np.array([entry["limits"][name] for name in NAMES], dtype=np.float64))


def keep(features: Features, limits: Limits) -> NDArray[np.bool_]:
    """Which blocks hold all eight limits."""
    signs = np.array([-1.0 if name in UPPER_LIMITS else 1.0 for name in NAMES])
    return np.asarray(np.all(features.values * signs >= limits.values * signs, axis=1))
