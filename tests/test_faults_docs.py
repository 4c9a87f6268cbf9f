"""docs/faults.md and SECURITY.md name tests that are there."""

import re
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
DOCUMENT = (TESTS.parent / "docs" / "faults.md").read_text("utf-8")
NAMED = sorted(set(re.findall(r"`((?:\w+/)*test_\w+\.py)::(test_\w+)`", DOCUMENT)))


@pytest.mark.parametrize(("file", "test"), NAMED, ids=[test for _, test in NAMED])
def test_named_test_exists(file: str, test: str) -> None:
    assert f"\ndef {test}(" in (TESTS / file).read_text("utf-8")


PROMISED = sorted(
    set(re.findall(r"`((?:\w+/)+test_\w+\.py)`", (TESTS.parent / "SECURITY.md").read_text("utf-8")))
)


@pytest.mark.parametrize("file", PROMISED)
def test_promised_test_exists(file: str) -> None:
    assert "\ndef test_" in (TESTS / file).read_text("utf-8")
