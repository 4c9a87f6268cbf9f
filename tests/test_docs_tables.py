"""The tables of the documents are those of the published result, written by the command."""

import re
from pathlib import Path

import pytest

from newscrawl.training import peers
from newscrawl.training.benchmark import UNSEEN, Benchmark
from newscrawl.training.benchmark_tables import MARK, TABLES

ROOT = Path(__file__).parent.parent
DOCUMENTS = [ROOT / "README.md", ROOT / "docs" / "benchmark.md"]
PUBLISHED = ROOT / "docs" / "data" / "benchmark.json"


@pytest.fixture(scope="module")
def result() -> Benchmark:
    return Benchmark.load(PUBLISHED)


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_a_table_is_what_the_result_says(document: Path, result: Benchmark) -> None:
    marks = list(MARK.finditer(document.read_text("utf-8")))
    assert marks
    for mark in marks:
        written = mark[0].removeprefix(mark[1]).removesuffix(mark[3])
        assert written == TABLES[mark[2]](result) + "\n", (
            f"{mark[2]}: write it anew with newscrawl benchmark --write-docs"
        )


def test_the_published_result_has_a_row_for_every_tool(result: Benchmark) -> None:
    assert {row.name for row in result.rows} >= set(peers.PEERS)
    for row in result.rows:
        assert row.reason or row.speed or row.name == UNSEEN, row.name


def test_the_published_result_tells_of_sites_that_training_did_not_see(result: Benchmark) -> None:
    assert UNSEEN in {row.name for row in result.rows}


def test_every_table_stands_in_a_document() -> None:
    placed = {mark[2] for path in DOCUMENTS for mark in MARK.finditer(path.read_text("utf-8"))}
    assert placed == set(TABLES)


@pytest.mark.parametrize("document", sorted((ROOT / "docs").glob("*.md")), ids=lambda p: p.name)
def test_every_picture_of_a_document_is_there(document: Path) -> None:
    for target in re.findall(r"!\[[^\]]*\]\(([^)#]+)\)", document.read_text("utf-8")):
        assert (document.parent / target).is_file(), target
