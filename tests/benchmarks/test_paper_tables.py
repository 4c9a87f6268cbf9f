"""The tables of the papers, over our own pages."""

import re
from pathlib import Path

import pytest

from benchmarks.paper_tables import paper_table, paper_tables
from newscrawl.extraction.methods import METHODS
from newscrawl.training.corpus import CorpusError, load_corpus
from newscrawl.training.evaluation import PageScore, evaluate

BUNDLED = Path(__file__).parents[1] / "corpus"


@pytest.fixture(scope="module")
def bundled_scores() -> list[PageScore]:
    measures = ("word", "similarity", "kl", "euclidean", "cosine")
    return evaluate(load_corpus(BUNDLED).pages, tuple(METHODS), measures, workers=1)


def test_table_1_has_the_papers_strategies_in_order(bundled_scores):
    (row,) = paper_table(1, bundled_scores)
    assert list(row)[1:] == ["FE", "PR", "TB"]
    assert float(row["FE"]) > float(row["PR"]) > float(row["TB"])


def test_table_7_is_sorted_by_f_score_of_means(bundled_scores):
    rows = paper_table(7, bundled_scores)
    f_scores = [float(row["f-score"]) for row in rows]
    assert f_scores == sorted(f_scores, reverse=True)
    assert {row["Tool"] for row in rows} == set(METHODS)
    assert re.fullmatch(r"\d+\.\d\d \(± \d+\)", rows[0]["precision"])


def test_table_8_is_sorted_by_divergence(bundled_scores):
    divergences = [float(row["KL div."].split()[0]) for row in paper_table(8, bundled_scores)]
    assert divergences == sorted(divergences)


def test_language_tables_take_their_language_only(bundled_scores):
    chinese = [s for s in bundled_scores if s.lang == "zh"]
    assert paper_table(14, bundled_scores) == paper_table(7, chinese)
    with pytest.raises(CorpusError, match="table 14: no page in zh"):
        paper_table(14, [s for s in bundled_scores if s.lang == "en"])


def test_command_prints_the_requested_tables(run_benchmark):
    ran = run_benchmark(
        paper_tables, "--corpus", BUNDLED, "--table", "1", "--table", "10", "--method", "fe"
    )
    assert ran.code == 0
    assert "Table 1: Performance benchmark scores" in ran.out
    assert re.search(r"fe +\d\d\.\d\d +\d\d\.\d\d \(± \d+\)", ran.out)
