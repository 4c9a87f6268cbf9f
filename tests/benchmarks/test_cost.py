"""What extraction costs: the measures, the command, and the document that shows them."""

import csv
import io
import re
from pathlib import Path

import pytest

import newscrawl
from benchmarks import cost
from benchmarks.cost import LINEAR
from benchmarks.cost.command import TABLES, cost as cost_command
from benchmarks.cost.generated_pages import generated_page, generated_pages
from benchmarks.cost.once import BARE, OURS, cost_once

DOCUMENT = Path(__file__).parents[2] / "docs" / "performance.md"


def test_generated_page_is_extracted_as_an_article():
    article = newscrawl.extract(generated_page(30_000))
    assert article.kind == "article"
    assert article.language == "en"
    assert len(article.text) > 3000


def test_stages_add_up_to_the_total():
    found = {stage.name: stage for stage in cost.stages(list(generated_pages(20_000, 3)), rounds=2)}
    assert list(found) == [cost.BARE_PARSE, cost.WHOLE, *cost.STAGES]
    assert found[cost.BARE_PARSE].times_parse == 1
    parts = sum(found[name].milliseconds for name in cost.STAGES)
    assert parts == pytest.approx(found[cost.WHOLE].milliseconds)
    assert all(found[name].milliseconds > 0 for name in cost.STAGES if name != cost.REST)


def test_time_grows_as_the_page_does():
    """A KB of a page ten times as long costs about the same; a square would cost ten times more.
    Another look is taken where the machine was busy with something else."""
    looks = (cost.growth(cost.sizes((300, 100, 1000), rounds=2)) for _ in range(5))
    assert any(growth < LINEAR for growth in looks)


def test_memory_is_measured_in_a_separate_process():
    hog = bytearray(300 << 20)
    few, all_of_them = cost.memory(first=5, pages=25)
    assert (few.pages, all_of_them.pages) == (5, 25)
    assert 10 < few.megabytes <= all_of_them.megabytes < len(hog) >> 20


def marked(name: str) -> str:
    found = re.search(rf"<!-- cost: {name} -->\n(.*?)<!-- end -->", DOCUMENT.read_text(), re.DOTALL)
    assert found, name
    return found[1]


def rows(name: str) -> list[list[str]]:
    """The cells of a table of the document, below its head."""
    lines = [line for line in marked(name).splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


@pytest.mark.parametrize("name", TABLES)
def test_document_has_the_table_of_the_result(name):
    assert marked(name).strip()


def test_document_lists_every_stage():
    assert [row[0] for row in rows("stages")] == [cost.BARE_PARSE, cost.WHOLE, *cost.STAGES]


def test_document_shows_linear_time_and_constant_memory():
    sizes = [float(row[0].replace(",", "")) for row in rows("sizes")]
    assert sizes == pytest.approx(list(cost.SIZES), rel=0.3)
    sentence = re.search(r"costs ([\d.]+) times", marked("sizes"))
    assert sentence
    assert float(sentence[1]) <= LINEAR
    (first, before), (last, after) = rows("memory")
    assert (first, last) == (f"{cost.FIRST_PAGES:,}", f"{cost.PAGES:,}")
    assert float(after) <= cost.FLAT * float(before) + 1  # whole megabytes


def test_command_measures_generated_pages_without_a_corpus(run_benchmark):
    sizes = ("--largest", "100", "--pages", "20", "--rounds", "1")
    ran = run_benchmark(cost_command, *sizes, "--format", "csv")
    assert ran.code in {0, 1}, ran.err  # so few pages may still fill caches
    found = list(csv.DictReader(io.StringIO(ran.out)))
    assert [row["what"] for row in found if row["part"] == "memory"] == ["4 pages", "20 pages"]
    assert {row["part"] for row in found} == {"stage", "size", "memory"}


def test_command_measures_pages_that_are_seen_once(run_benchmark):
    ran = run_benchmark(cost_once, "--pages", "2", "--tools", "", "--format", "csv")
    assert ran.code == 0, ran.err
    measured = {row["tool"]: row for row in csv.DictReader(io.StringIO(ran.out))}
    assert float(measured[BARE]["ratio"]) == 1
    assert float(measured[OURS]["ms"]) > 0
