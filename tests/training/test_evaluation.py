"""Evaluation: scores of pages, their means, the commands."""

import json
import os
import re
from functools import partial
from pathlib import Path
from shutil import copytree

import pytest

from newscrawl.extraction.methods import METHODS
from newscrawl.training.corpus import SEALED, Corpus, CorpusError, GoldPage, load_corpus, map_pages
from newscrawl.training.evaluation import (
    MEASURES,
    PageScore,
    evaluate,
    mean,
    score_page,
    worst,
)

BUNDLED = Path(__file__).parents[1] / "corpus"


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return load_corpus(BUNDLED)


@pytest.fixture(scope="module")
def bundled_scores(corpus: Corpus) -> list[PageScore]:
    measures = ("word", "voc", "similarity", "kl", "euclidean", "cosine", "phrases")
    return evaluate(corpus.pages, tuple(METHODS), measures, workers=1)


def score(number: int, site: str = "a.com", method: str = "fe", **values: float) -> PageScore:
    return PageScore(
        method=method,
        id=f"p{number}",
        set="news",
        lang="en",
        site=site,
        page_type="article",
        length="0-59 words",
        path=f"p{number}.html",
        seconds=0.001,
        values={name.replace("_", ".", 1): value for name, value in values.items()},
    )


def test_every_page_gets_a_score_by_every_method(corpus, bundled_scores):
    assert [(s.id, s.method) for s in bundled_scores] == [
        (page.id, method) for page in corpus for method in METHODS
    ]
    assert all(0 <= s.values["word.f1"] <= 1 for s in bundled_scores)


def test_several_processes_give_equal_scores(corpus, bundled_scores, monkeypatch):
    monkeypatch.setattr("newscrawl.training.corpus.FEW_PAGES", 1)
    steps: list[int] = []
    shared = evaluate(corpus.pages, ["fe"], ["word"], workers=2, on_page=lambda: steps.append(1))
    alone = [s for s in bundled_scores if s.method == "fe"]
    assert [s.values["word.f1"] for s in shared] == [s.values["word.f1"] for s in alone]
    assert len(steps) == len(corpus)


def exit_at_page(page: GoldPage, number: str) -> str | None:
    """Return nothing; the page of this id ends the process."""
    if page.id == number:
        os._exit(1)
    return None


@pytest.mark.thorough
def test_page_that_crashes_its_process_is_named(corpus, monkeypatch):
    # One part of the work with two pages, which is done again in halves.
    monkeypatch.setattr("newscrawl.training.corpus.FEW_PAGES", 1)
    monkeypatch.setattr("newscrawl.training.corpus._BATCH", 2)
    pages = corpus.pages[:2]
    crashing = pages[1]
    with pytest.raises(CorpusError, match=f"{crashing.path}: crashes the process that reads it"):
        map_pages(partial(exit_at_page, number=crashing.id), pages, workers=2)


def test_f1_of_means_differs_from_mean_of_f1():
    scores = [
        score(1, word_precision=1.0, word_recall=0.5, word_f1=2 / 3),
        score(2, word_precision=0.5, word_recall=1.0, word_f1=2 / 3),
    ]
    of_pages, of_means = mean(scores, "word.f1"), mean(scores, "word.f1_of_means")
    assert of_means is not None
    assert of_pages.value == pytest.approx(2 / 3)
    assert of_means.value == pytest.approx(0.75)


def test_interval_is_bootstrapped_over_sites():
    one_site = [score(n, "a.com", word_f1=n % 2) for n in range(10)]
    many_sites = [score(n, f"{n}.com", word_f1=n % 2) for n in range(10)]
    narrow, wide = mean(one_site, "word.f1"), mean(many_sites, "word.f1")
    assert wide is not None
    assert narrow.low == narrow.value == narrow.high == 0.5
    assert 0.1 <= wide.low < 0.5 < wide.high <= 0.9
    assert mean(many_sites, "word.f1") == wide


def test_pages_without_the_measure_are_ignored():
    reached = mean([score(1, phrases=1.0), score(2, word_f1=0.5)], "phrases")
    assert (reached.value, reached.pages) == (1.0, 1)
    assert mean([score(1, phrases=1.0)], "word.f1") is None


def test_mentions_are_summed_over_all_pages():
    def counts(found: int, wanted: int, common: int, count: int, gold: int) -> dict[str, float]:
        return {
            "mentions_found": found,
            "mentions_wanted": wanted,
            "mentions_common": common,
            "mentions_count": count,
            "mentions_gold_count": gold,
        }

    scores = [
        score(1, "a.com", **counts(3, 1, 1, 6, 2)),
        score(2, "b.com", **counts(1, 3, 1, 3, 4)),
        score(3, "c.com", **counts(0, 0, 0, 0, 0)),
    ]
    expected = {
        "mentions.precision": 2 / 4,
        "mentions.recall": 2 / 4,
        "mentions.f1": 0.5,
        "mentions.count_ratio": 9 / 6,
    }
    for measure, value in expected.items():
        reached = mean(scores, measure)
        assert reached.value == pytest.approx(value)


def test_worst_page_depends_on_the_direction_of_the_measure():
    scores = [score(1, kl=0.1, word_f1=0.9), score(2, kl=3.0, word_f1=0.1)]
    assert [s.id for s in worst(scores, "word.f1", 1)] == ["p2"]
    assert [s.id for s in worst(scores, "kl", 1)] == ["p2"]


def test_evaluate_shows_methods_by_set(newscrawl):
    ran = newscrawl("evaluate", "--corpus", str(BUNDLED), "--method", "fe", "--method", "pr")
    assert ran.code == 0
    assert re.search(r"mini +fe +12 +0\.\d{3}±\.\d\d", ran.out)
    longest = newscrawl("evaluate", "--corpus", str(BUNDLED), "--method", "combined-precision")
    assert re.search(r"mini +combined-precision +12( +[01]\.\d{3}±\.\d\d){4}", longest.out)
    assert ran.fits
    assert longest.fits


def test_evaluate_writes_json_with_intervals(newscrawl):
    ran = newscrawl(
        "evaluate", "--corpus", str(BUNDLED), "--method", "fe", "--by", "lang", "--format", "json"
    )
    rows = json.loads(ran.out)
    assert [row["group"] for row in rows] == sorted(row["group"] for row in rows)
    assert all(row["word.f1.low"] <= row["word.f1"] <= row["word.f1.high"] for row in rows)
    assert {"word.f1_of_means", "similarity", "seconds_per_page"} <= set(rows[0])


def test_evaluate_scores_the_sealed_sites_apart(newscrawl):
    command = ("evaluate", "--corpus", str(BUNDLED), "--method", "fe", "--format", "json")
    rows = json.loads(newscrawl(*command, "--sealed", "--by", "length").out)
    sealed = load_corpus(BUNDLED).part(SEALED)
    assert sum(row["pages"] for row in rows) == len(sealed) > 0
    assert {row["group"] for row in rows} == {page.length for page in sealed}


def test_evaluate_lists_the_worst_pages_with_the_explain_command(newscrawl):
    ran = newscrawl(
        "evaluate", "--corpus", str(BUNDLED), "--method", "pr", "--lang", "en", "--worst", "2"
    )
    lines = re.findall(r"^  0\.\d{3}  mini/\S+  newscrawl explain (\S+) -o", ran.err, re.MULTILINE)
    assert len(lines) == 2
    assert all(Path(line).is_file() for line in lines)


TRAIN = ("train", "--particles", "20", "--generations", "10", "--corpus")


def test_repeated_training_writes_equal_limits(newscrawl, tmp_path):
    files = [tmp_path / "one.json", tmp_path / "two.json"]
    for file in files:
        ran = newscrawl(*TRAIN, str(BUNDLED), "--output", str(file))
        assert ran.code == 0
        assert "similarity 0." in ran.err
    one, two = (json.loads(file.read_text())["html5"] for file in files)
    assert one["limits"] == two["limits"]
    assert one["provenance"]["fingerprint"] == load_corpus(BUNDLED).fingerprint


def test_train_keeps_better_limits_unless_forced(newscrawl, tmp_path):
    file = tmp_path / "limits.json"
    newscrawl(*TRAIN, str(BUNDLED), "--output", str(file))
    before = file.read_text()
    poor = ("train", "--generations", "0", "--particles", "1", "--seed", "3")
    poor = (*poor, "--corpus", str(BUNDLED))
    ran = newscrawl(*poor, "--output", str(file))
    assert ran.code == 2
    assert "give --force to overwrite" in ran.err
    assert file.read_text() == before
    ran = newscrawl(*poor, "--output", str(file), "--force")
    assert ran.code == 0
    assert file.read_text() != before


def test_train_scores_by_folds_without_writing(newscrawl, tmp_path):
    file = tmp_path / "limits.json"
    ran = newscrawl(*TRAIN, str(BUNDLED), "--folds", "2", "-f", "json", "--output", str(file))
    rows = {row["group"]: row for row in json.loads(ran.out)}
    assert rows["all"]["pages"] == 12
    assert rows["all"]["fe"] > rows["all"]["pr"]
    assert not file.exists()


def test_train_needs_more_than_one_site(newscrawl, tmp_path):
    copytree(BUNDLED / "mini", tmp_path / "mini")
    gold = tmp_path / "mini" / "gold.jsonl"
    gold.write_text(gold.read_text(encoding="utf-8").splitlines()[0] + "\n", encoding="utf-8")
    ran = newscrawl(*TRAIN, str(tmp_path / "mini"), "--output", str(tmp_path / "limits.json"))
    assert ran.code == 2
    assert "a split is by site, so add pages of other sites" in ran.err


def gold_page(set_name: str = "news", **fields: object) -> GoldPage:
    base: dict[str, object] = {
        "id": "p",
        "set": set_name,
        "lang": "en",
        "site": "paper.com",
        "path": Path("p.html"),
        "line": "{}",
        "text": "Bank cuts rates\n\nThe central bank has cut its rates.",
    }
    return GoldPage(**(base | fields))  # type: ignore[arg-type]


BODY = "The central bank has cut its rates."


def word_f1(page: GoldPage, text: str, title: str | None) -> float:
    return score_page(page, text, title, ["word"])["word.f1"]


def test_title_is_prepended_if_golds_begin_with_it():
    page = gold_page("daniel")
    assert word_f1(page, BODY, "Bank cuts rates") == 1.0
    assert word_f1(page, f"Bank cuts rates\n\n{BODY}", "Bank cuts rates") == 1.0


def test_tool_without_titles_is_scored_on_its_text():
    assert word_f1(gold_page("daniel"), BODY, None) == pytest.approx(2 * 0.7 / 1.7)


@pytest.mark.parametrize(
    "text", [BODY, f"  Bank cuts rates!\n{BODY}"], ids=["body", "headline and body"]
)
def test_known_title_is_removed_from_text_and_gold(text):
    assert word_f1(gold_page(title="Bank Cuts Rates"), text, "anything") == 1.0


def test_line_longer_than_the_title_is_kept():
    page = gold_page(title="Bank cuts", text=BODY)
    assert word_f1(page, f"Bank cuts rates\n{BODY}", None) < 1.0


def test_page_with_phrases_only_has_one_score():
    page = gold_page(text=None, with_=("central bank",), without=("Subscribe",))
    assert score_page(page, BODY, None, MEASURES) == {"phrases": 1.0}
