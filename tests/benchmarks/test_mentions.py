"""The bench of loading the companies and matching an article."""

import json
import subprocess
import sys

from benchmarks.mentions import MENTIONS, article
from tests.worlds import bundled_companies


def test_article_has_a_thousand_words_and_known_mentions():
    assert 950 < len(article().split()) < 1050
    assert len(bundled_companies().find(article(), language="en")) == MENTIONS


def test_loading_memory_and_matching_are_measured():
    command = [sys.executable, "-m", "benchmarks.mentions", "--format", "json"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    rows = {row["measure"]: row["value"] for row in json.loads(done.stdout)}
    assert rows["companies"] > 20_000
    assert rows["names and aliases"] > rows["companies"]
    assert rows["memory with Python"] > 10
    assert rows["loading, processor time"] > 0
    assert rows["matching by splitting into words"] > 1
