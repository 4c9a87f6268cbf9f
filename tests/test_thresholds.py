"""FE: a block is kept when all eight limits hold."""

import json
from importlib.resources import files

import numpy as np
import pytest

from newscrawl.extraction.blocks import ProfileName
from newscrawl.extraction.features import (
    NAMES,
    UPPER_LIMITS,
    VERSION,
    Features,
    Limits,
    keep,
    limits_for,
    load_limits,
)
from newscrawl.extraction.tokens import count

LIMITS = Limits(np.array([5.0, 1.0, 0.5, 0.2, 0.4, 0.0, 0.3, 0.0]))
INSIDE = np.array([6.0, 2.0, 0.6, 0.3, 0.3, 0.1, 0.2, 0.1])


def kept(row: "np.ndarray[tuple[int], np.dtype[np.float64]]") -> bool:
    return bool(keep(Features(values=row[None], tokens=count(("x",))), LIMITS)[0])


def test_block_within_all_limits_is_kept() -> None:
    assert kept(INSIDE)


def test_limits_themselves_are_within() -> None:
    assert kept(LIMITS.values)


@pytest.mark.parametrize("name", [name for name in NAMES if name not in ("formats", "structure")])
def test_one_broken_limit_drops_the_block(name: str) -> None:
    row, place = INSIDE.copy(), NAMES.index(name)
    step = 0.01 if name in UPPER_LIMITS else -0.01
    row[place] = LIMITS.values[place] + step
    assert not kept(row)


@pytest.mark.parametrize("profile", ["html5", "2007"])
def test_learned_limits_tell_where_they_come_from(profile: ProfileName) -> None:
    file = files("newscrawl.extraction").joinpath("data/thresholds.json")
    entry = json.loads(file.read_text("utf-8"))[profile]
    assert entry["provenance"]["corpus"]
    assert entry["provenance"]["feature_version"] == VERSION
    assert entry["provenance"]["command"]
    assert entry["provenance"]["date"]
    assert load_limits(profile).values.tolist() == [entry["limits"][name] for name in NAMES]


@pytest.mark.parametrize(
    ("text", "unspaced"),
    [
        ("银行表示这不是最后一次降息", True),
        ("今日、銀行は Apple と合意した", True),
        ("The bank said so, and 银行 too", False),
        ("Hindi में समाचार", False),
        ("", False),
    ],
)
def test_scripts_without_blanks_have_limits_of_their_own(text: str, unspaced: bool) -> None:
    tokens = count((text,))
    found = limits_for(Features(values=np.zeros((1, len(NAMES))), tokens=tokens))
    own, other = load_limits(unspaced=unspaced), load_limits(unspaced=not unspaced)
    assert found.values.tolist() == own.values.tolist() != other.values.tolist()
