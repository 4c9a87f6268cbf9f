"""Texts that are made to be slow are matched in seconds."""

import time

import pytest

from tests.worlds import bundled_companies


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("Apple " * 20_000, id="one doubtful name"),
        pytest.param("(" * 100_000, id="brackets"),
        pytest.param("苹果" * 30_000, id="no boundaries"),
        pytest.param("a\u0301" * 50_000, id="combining marks"),
        pytest.param("Siemens-" * 20_000, id="hyphens"),
        pytest.param("MOL-" * 40_000, id="hyphens behind capitals"),
        pytest.param("@" + "Siemens/" * 20_000, id="one endless address"),
        pytest.param("Camel" * 20_000 + "X_", id="inner capitals"),
        pytest.param("AAa" * 30_000 + "-", id="runs of capitals"),
    ],
)
def test_hostile_text_takes_seconds_not_minutes(text):
    # Time of this process: the machine may be busy with others. The limit ends a search that hangs.
    companies = bundled_companies()
    start = time.process_time()
    companies.find(text, language="en")
    assert time.process_time() - start < 60
