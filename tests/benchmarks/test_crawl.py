"""The bench of whole crawls, on a world small enough for a test."""

import json
import subprocess
import sys

from tests.site.crawling import PROJECT


def test_benchmark_crawls_twice_and_downloads_once():
    command = [sys.executable, "-m", "benchmarks.crawl", "--sites", "5", "--articles", "60"]
    done = subprocess.run(
        [*command, "--json"], cwd=PROJECT, capture_output=True, text=True, check=False, timeout=250
    )
    assert done.returncode == 0, done.stderr
    figures = json.loads(done.stdout)
    first, second, bare = figures["first"], figures["second"], figures["bare"]
    assert first["pages"] >= 60
    assert bare["pages"] >= 60
    assert figures["stored"] >= 30  # some pages of tests/pages hold no article
    # An unchanged world costs next to nothing the second time.
    assert second["pages"] == 0
    assert figures["again"] < 0.05  # the small world's robots.txt weigh more than a large one's
    assert figures["share"] > 0
