"""The bench of ingestion, on the pages of the test site."""

import json
import subprocess
import sys

from benchmarks.ingest import Result, Run, show
from tests.site import content
from tests.site.crawling import PROJECT


def test_ingestion_is_timed_beside_one_process():
    command = [sys.executable, "-m", "benchmarks.ingest", "--workers", "2", "--rounds", "2"]
    command.append("--json")
    done = subprocess.run(
        command, cwd=PROJECT, capture_output=True, text=True, check=False, timeout=200, env={}
    )
    assert done.returncode == 0, done.stderr
    figures = json.loads(done.stdout)
    runs = [figures[name] for name in ("extraction", "line", "start", "ingestion")]
    pages = len(content.facts())
    assert [run["pages"] for run in runs] == [pages, pages, 1, 2 * pages]
    assert all(run["seconds"] > 0 and run["processor"] > 0 for run in runs)


def test_shares_are_those_of_all_workers():
    result = Result(
        2, Run(100, 1.0, 1.0), Run(100, 1.25, 1.25), Run(1, 0.5, 0.7), Run(100, 0.8, 1.4)
    )
    assert round(result.share(result.extraction), 3) == 0.625
    assert round(result.efficiency(result.line), 3) == 0.893
    assert "Of 2 × the same line: 78% (by processor time 89%)" in show(result)
    assert "The start takes 0.7 s of processor, 50% of this ingestion." in show(result)
