"""docs/faults.md and SECURITY.md name tests that are there."""

import re
from pathlib import Path

TESTS = Path(__file__).parent
DOCUMENT = (TESTS.parent / "docs" / "faults.md").read_text("utf-8")
NAMED = sorted(set(re.findall(r"`((?:\w+/)*test_\w+\.py)::(test_\w+)`", DOCUMENT)))


PROMISED = re.findall(
    r"`((?:\w+/)+test_\w+\.py)`", (TESTS.parent / "SECURITY.md").read_text("utf-8")
)


def test_named_and_promised_tests_exist():
    named = [*NAMED, *((file, "test_") for file in sorted({*PROMISED}))]
    texts = {file: (TESTS / file).read_text("utf-8") for file, _ in named}
    assert [name for name in named if f"\ndef {name[1]}" not in texts[name[0]]] == []
    assert NAMED
    assert PROMISED
