"""`newscrawl evaluate`."""

import re
from pathlib import Path

import pytest

from tests.conftest import Newscrawl

BUNDLED = Path(__file__).parents[1] / "corpus"


def test_scores_with_their_intervals_fit_a_screen(newscrawl: Newscrawl) -> None:
    longest = ("--method", "combined-precision", "--method", "pr")
    ran = newscrawl("evaluate", "--corpus", BUNDLED, *longest)
    lines = ran.out.splitlines()
    assert max(map(len, lines)) <= 80
    assert "pages" in ran.out
    assert "combined-precision" in ran.out
    (pr,) = (line for line in lines if line.startswith(" mini  pr "))
    assert len(re.findall(r"0\.\d{3}±\.\d\d\b", pr)) == 4


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--sealed", "--unseen", "--corpus", str(BUNDLED)], "--sealed is not for --unseen"),
        ([], "give --corpus DIR or set NEWSCRAWL_CORPUS"),
    ],
    ids=["unseen", "no corpus"],
)
def test_meaningless_options_are_refused(
    newscrawl: Newscrawl, arguments: list[str], message: str
) -> None:
    ran = newscrawl("evaluate", *arguments)
    assert ran.code == 2
    assert message in ran.err
    assert len(ran.err.strip().splitlines()) == 1
