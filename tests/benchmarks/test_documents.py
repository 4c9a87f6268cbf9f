"""Tables in documents: written where they are marked, and equal to the published results."""

import re
from pathlib import Path

import pytest

from benchmarks.documents import fill, marks
from benchmarks.extraction import peers
from benchmarks.extraction.comparison import UNSEEN, Benchmark
from benchmarks.extraction.tables import KIND, TABLES
from newscrawl.training.corpus import CorpusError

ROOT = Path(__file__).parents[2]
DOCUMENTS = [ROOT / "README.md", ROOT / "docs" / "benchmark.md"]
PUBLISHED = ROOT / "docs" / "data" / "benchmark.json"
MARKS = marks(KIND)


def test_marked_places_are_filled_repeatedly(tmp_path):
    document = tmp_path / "README.md"
    document.write_text("before\n<!-- size: pages -->\nstale\n<!-- end -->\nafter\n")
    tables = {"pages": lambda number: f"{number} pages"}
    for number in (5, 5, 6):
        assert fill(document, "size", tables, number) == ["pages"]
        filled = f"before\n<!-- size: pages -->\n{number} pages\n<!-- end -->\nafter\n"
        assert document.read_text() == filled


def test_mark_without_a_table_is_named(tmp_path):
    document = tmp_path / "README.md"
    document.write_text("<!-- size: nonsense -->\n<!-- end -->\n")
    with pytest.raises(CorpusError, match="no size table 'nonsense'"):
        fill(document, "size", {"pages": str}, 5)


@pytest.fixture(scope="module")
def result() -> Benchmark:
    return Benchmark.load(PUBLISHED)


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_table_has_the_figures_of_the_result(document, result):
    found = list(MARKS.finditer(document.read_text("utf-8")))
    assert found
    for mark in found:
        written = mark[0].removeprefix(mark[1]).removesuffix(mark[3])
        assert written == TABLES[mark[2]](result) + "\n", (
            f"{mark[2]}: write it anew with python -m benchmarks.extraction --write-docs"
        )


def test_published_result_has_a_row_for_every_tool(result):
    assert {row.name for row in result.rows} >= {*peers.PEERS, UNSEEN}
    for row in result.rows:
        assert row.reason or row.speed or row.name == UNSEEN, row.name


def test_every_table_is_placed_in_a_document():
    placed = {mark[2] for path in DOCUMENTS for mark in MARKS.finditer(path.read_text("utf-8"))}
    assert placed == set(TABLES)


def test_every_picture_of_a_document_exists():
    for document in (ROOT / "docs").glob("*.md"):
        for target in re.findall(r"!\[[^\]]*\]\(([^)#]+)\)", document.read_text("utf-8")):
            assert (document.parent / target).is_file(), target
