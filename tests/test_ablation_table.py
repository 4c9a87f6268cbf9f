"""The table of the documents is that of the published file."""

from pathlib import Path

import pytest

from newscrawl.training.ablation_table import SETS, Left, as_csv, as_markdown

DOCS = Path(__file__).parent.parent / "docs"


def test_the_document_has_the_table_of_the_file() -> None:
    text = (DOCS / "algorithms.md").read_text("utf-8")
    _, _, rest = text.partition("<!-- ablation -->\n")
    table, end, _ = rest.partition("\n<!-- end -->")
    assert end, "docs/algorithms.md has no place for the table"
    assert table == as_markdown((DOCS / "data" / "ablation.csv").read_text("utf-8"))


def test_changes_are_told_against_the_whole() -> None:
    rows = [
        Left("nothing", 0.9, 0.8, 0.7),
        Left("tree", 0.89, 0.8, 0.71),
        Left("x", 0.87, 0.8, 0.7),
    ]
    lines = as_markdown(as_csv(rows)).splitlines()
    assert lines[2] == "| nothing | 0.900 | 0.800 | 0.700 |  |"
    assert lines[3].endswith("| +0.0 |")
    assert lines[4].endswith("| -1.0 |")


@pytest.mark.parametrize("name", SETS)
def test_the_file_has_every_set(name: str) -> None:
    header = (DOCS / "data" / "ablation.csv").read_text("utf-8").splitlines()[0]
    assert name in header.split(",")
