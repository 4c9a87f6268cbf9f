"""The side-by-side benchmark: processes, answers kept, scores, floors, tables, the command."""

import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.extraction import peers
from benchmarks.extraction.answers import AnswerStore, Runner, ToolError, request_for
from benchmarks.extraction.command import benchmark
from benchmarks.extraction.comparison import (
    Benchmark,
    Row,
    groups,
    mention_agreement,
    read_unseen,
    score,
)
from benchmarks.extraction.environments import Installed, Missing, find
from benchmarks.extraction.tables import TABLES, kind_mean, provenance
from newscrawl.extraction.methods import METHODS
from newscrawl.mentions import Company
from newscrawl.mentions.registry import Companies
from newscrawl.training.corpus import SEALED, Corpus, CorpusError, GoldPage, load_corpus
from newscrawl.training.metrics import Overlap

MINI = Path(__file__).parents[1] / "corpus" / "mini"

# Table 5 of Barbaresi & Lejeune 2020.
PAPER_ROWS = {
    "BP3", "BP3_Art", "BP3_Larg", "BP3_KeepE", "DRAGNET", "GOOSE", "HTML2T", "INSCRI",
    "JT", "JT_en", "JT_langid", "NPAPER", "NPLEASE", "READ",
}  # fmt: skip

# A tool by the protocol of peers.py that hangs, dies or answers as the page's id tells it.
UNRULY_TOOL = """
import json, os, sys, time
print(json.dumps({"ready": sys.argv[1]}), flush=True)
for line in sys.stdin:
    page = json.loads(line)
    if page["id"] == HANGS:
        time.sleep(60)
    while page["id"] == WORKS_ON:
        pass
    if page["id"] == DIES:
        os._exit(3)
    print(json.dumps({"id": page["id"], "text": "said " + page["id"], "error": None}), flush=True)
"""


@pytest.fixture(scope="module")
def mini() -> Corpus:
    return load_corpus(MINI)


@pytest.fixture
def unruly(tmp_path: Path, mini: Corpus) -> Runner:
    script = tmp_path / "tool.py"
    hangs, dies, works_on = mini.pages[1].id, mini.pages[3].id, mini.pages[5].id
    names = f"HANGS, DIES, WORKS_ON = {hangs!r}, {dies!r}, {works_on!r}"
    script.write_text(f"{names}\n{UNRULY_TOOL}")
    return Runner(peers.PEERS["trafilatura"], Path(sys.executable), "1", script)


def gold_answers(corpus: Corpus) -> dict[tuple[str, str], dict[str, object]]:
    return {(p.set, p.id): {"text": p.text, "title": p.title, "error": None} for p in corpus}


def result_of(corpus: Corpus, **values: float) -> Benchmark:
    """A benchmark with one row of ours, that reached these values on the mini set."""
    row = Row(
        name="newscrawl fe",
        package="newscrawl",
        paper="",
        pages=len(corpus),
        scores={"mini": values},
        days={"mini": "2026-02-03"},
    )
    return Benchmark(
        corpus="mini",
        fingerprint=corpus.fingerprint,
        sets={"mini": corpus.fingerprint},
        pages={"mini": len(corpus)},
        machine="a machine",
        rows=(row,),
    )


def test_rows_of_an_earlier_result_stay_where_tools_were_not_run_again(mini):
    ours, other = result_of(mini, phrases=0.5), Row(name="dragnet", package="dragnet", paper="")
    other = replace(other, days={"mini": "2026-01-02", "speed": "2026-01-03"})
    (fe,) = ours.rows
    timed = replace(fe, speed={"ratio": 2.0}, days={"speed": "2026-01-03"})
    earlier = replace(ours, machine="an older one", rows=(timed, other))
    later = ours.completed_by(earlier)
    days = {"mini": "2026-02-03", "speed": "2026-01-03"}
    assert later.rows == (replace(fe, speed=timed.speed, days=days), other)
    assert later.machine == "an older one"  # the speeds are of it
    assert "Run: mini on 2026-01-02, 2026-02-03; speed on 2026-01-03." in provenance(later)
    gone = replace(later, rows=(fe, replace(other, reason="not installed")))
    assert gone.completed_by(earlier).rows == later.rows
    assert ours.completed_by(replace(earlier, sets={"mini": "of other pages"})) == ours


def test_earlier_results_of_other_sets_are_joined(mini):
    ours = result_of(mini, phrases=0.5)
    (fe,) = ours.rows
    old_scores = {"daniel": {"word.f1": 0.9}, "daniel el": {"word.f1": 0.8}}
    old = replace(fe, pages=5, errors=1, scores=old_scores, days={"daniel": "2026-01-02"})
    earlier = replace(ours, sets={"daniel": "d"}, pages={"daniel": 5}, rows=(old,))
    joined = ours.completed_by(earlier)
    (row,) = joined.rows
    assert (row.pages, row.errors) == (fe.pages + 5, 1)
    assert row.scores == fe.scores | old_scores
    assert row.days == {"mini": "2026-02-03", "daniel": "2026-01-02"}
    assert joined.sets == {"daniel": "d", "mini": mini.fingerprint}
    assert joined.pages == {"daniel": 5, "mini": len(mini)}
    assert TABLES["missing"](joined) == "Every tool could be run."
    assert "| fe2 | – | not run over daniel |" in TABLES["missing"](
        replace(joined, rows=(row, replace(fe, name="fe2")))
    )
    other_version = replace(earlier, rows=(replace(old, version="2"),))
    assert ours.completed_by(other_version).rows == (fe,)
    with pytest.raises(CorpusError, match="run all sets of daniel, mini again"):
        ours.completed_by(joined)


def test_means_of_kinds_weigh_every_page_alike():
    scores = {"daniel": {"word.f1": 0.9}, "l3s": {"word.f1": 0.6}}
    row = Row(name="a", package="a", paper="", scores=scores)
    result = Benchmark(
        corpus="c",
        fingerprint="f",
        sets={},
        pages={"daniel": 2, "l3s": 1},
        machine="m",
        rows=(row,),
    )
    assert kind_mean(result, row, "news of 2008–12", "word.f1") == pytest.approx(0.8)
    assert kind_mean(result, row, "blogs", "word.f1") is None  # not run
    partly = replace(row, scores={"daniel": {"word.f1": 0.9}})
    assert kind_mean(result, partly, "news of 2008–12", "word.f1") is None


def test_tools_get_no_json_ld_that_holds_the_gold_text(tmp_path):
    page = tmp_path / "page.html"
    page.write_text('<script type="application/ld+json">{"articleBody": "x"}</script><p>Text')
    stated = GoldPage(id="1", set="s", lang="en", site="a", path=page, line="", gold="publisher")
    seen: list[str] = []
    for each in (stated, replace(stated, gold="hand")):
        request = request_for(each)
        peers._measure(request, lambda html, _: seen.append(html) or {"text": ""}, None)
    assert seen == [stated.html.decode(), page.read_text()]
    assert "articleBody" not in seen[0]


def test_every_method_of_ours_has_a_row():
    variants = ("combined-precision", "combined-recall")
    assert tuple(name for name in METHODS if name not in variants) == peers.OUR_METHODS


def test_every_row_of_the_paper_has_a_tool():
    assert {peer.paper for peer in peers.PEERS.values() if peer.paper} == PAPER_ROWS


@pytest.mark.parametrize("name", peers.PEERS)
def test_tool_is_installed_or_says_why_not(name, tmp_path):
    peer = peers.PEERS[name]
    match find(peer, tmp_path):
        case Installed(python, version):
            assert peer.environment == peers.MAIN_ENV
            assert python == Path(sys.executable)
            assert version
        case Missing(reason):
            assert "make bench-peers" in reason


@pytest.mark.parametrize(
    ("page", "text"),
    [
        ("<p>Zürich €".encode(), "<p>Zürich €"),
        ('<meta charset="windows-1251"><p>Заря'.encode("cp1251"), "Заря"),
        ('<meta charset="GB2312"><p>朱镕基'.encode("gb18030"), "朱镕基"),
        ("<p>café".encode("cp1252"), "<p>café"),
        (b'<meta charset="no-such-charset"><p>caf\xe9', "café"),
        (b'<?xml version="1.0" encoding="latin-1"?><p>x', "<p>x"),
    ],
    ids=["utf-8", "declared", "wider", "undeclared", "unknown", "xml"],
)
def test_all_tools_receive_equal_pages(page, text):
    assert peers.decode(page).endswith(text)


def test_page_that_hangs_or_crashes_a_tool_loses_no_other_page(unruly, mini):
    pages = mini.pages[:6]
    answers = list(unruly.answers(pages, with_metadata=True, page_seconds=0.3))
    assert [answer["id"] for answer in answers] == [page.id for page in pages]
    assert [answer["error"] for answer in answers] == [
        None, "no answer in 0.3 s", None, "process died", None, "no answer in 0.3 s",
    ]  # fmt: skip
    assert [bool(answer["text"]) for answer in answers] == [True, False, True, False, True, False]


def test_answers_are_stored_and_a_truncated_line_is_repeated(unruly, mini, tmp_path):
    store = AnswerStore(tmp_path / "answers")
    path = store.path(unruly, mini.fingerprint)
    pages = [mini.pages[0], mini.pages[2], mini.pages[4]]
    list(store.complete(unruly, pages, path))
    whole = path.read_text()
    path.write_text(whole[:-10])
    silent = replace(unruly, script=Path("no-such-script.py"))
    with pytest.raises(ToolError):  # the tool is asked for the page that was cut off
        list(store.complete(silent, pages, path))
    path.write_text(whole)
    again = dict(store.complete(silent, pages, path))
    assert [again[page]["text"] for page in pages] == [f"said {page.id}" for page in pages]


def test_gold_texts_score_1(mini):
    company = Company(name="Bramble")
    found = score(mini, gold_answers(mini), Companies([company]))
    assert found["errors"] == 0
    for group, scores in found["scores"].items():
        assert scores["word.f1"] == pytest.approx(1.0), group
        assert scores["mentions.f1"] == 1.0
        assert scores["mentions.count_ratio"] == 1.0


def test_missing_texts_score_0_and_are_counted_as_errors(mini):
    nothing = {(p.set, p.id): {"text": "", "error": "ValueError: no"} for p in mini}
    found = score(mini, nothing, Companies([Company(name="Bramble")]))
    assert found["errors"] == len(mini)
    assert found["scores"]["mini"]["word.f1"] == 0.0
    assert found["scores"]["mini"]["mentions.recall"] == 0.0


def test_pages_whose_gold_text_may_be_wrong_are_in_no_group(mini):
    doubtful = replace(mini.pages[0], doubt="cut short")
    assert groups(Corpus("one", (doubtful, *mini.pages[1:])))["mini"] == list(mini.pages[1:])


def test_command_scores_and_times_our_methods(run_benchmark, tmp_path):
    ran = run_benchmark(
        benchmark,
        "--corpus", MINI, "--tool", "newscrawl fe", "--tool", "newscrawl tb",
        "--tool", "trafilatura", "--tool", peers.BARE_PARSE, "--rounds", "1", "--format", "json",
    )  # fmt: skip
    assert ran.code == 0, ran.err
    by_tool = {line["tool"]: line for line in json.loads(ran.out)}
    assert by_tool["newscrawl fe"]["mini"] > by_tool["newscrawl tb"]["mini"]
    assert by_tool["newscrawl fe"]["ratio"] > 0
    assert "make bench-peers" in by_tool["trafilatura"]["reason"]
    kept = Benchmark.load(tmp_path / "results" / "benchmark.json")
    asked = ["newscrawl fe", "newscrawl tb", "trafilatura", peers.BARE_PARSE]
    assert [row.name for row in kept.rows] == asked


def test_sealed_sites_are_benchmarked_alone(run_benchmark, tmp_path):
    ran = run_benchmark(benchmark, "--corpus", MINI, "--sealed", "--tool", "newscrawl fe")
    assert ran.code == 0, ran.err
    kept = Benchmark.load(tmp_path / "results" / "benchmark.json")
    assert kept.fingerprint == load_corpus(MINI).part(SEALED).fingerprint


UNSEEN_CSV = """threshold,group,pages,word.f1,word.precision,word.recall,shingle.f1,similarity
0.3,fundus article,92,0.1,0.1,0.1,0.1,0.1
0.5,daniel article,718,0.91,0.92,0.93,0.9,0.89
0.5,daniel en,162,0.94,0.95,0.96,0.9,0.9
0.5,wcxb article,667,0.93,0.94,0.95,0.9,0.9
0.5,wcxb other,535,0.71,0.72,0.73,0.7,0.7
"""


def test_scores_on_unseen_sites_are_those_at_our_threshold(tmp_path):
    path = tmp_path / "unseen.csv"
    path.write_text(UNSEEN_CSV)
    scores = read_unseen(path)
    assert {group: values["word.f1"] for group, values in scores.items()} == {
        "daniel": 0.91, "daniel en": 0.94, "wcxb articles": 0.93, "wcxb other": 0.71,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "advice"),
    [
        ((), "give --corpus DIR"),
        (("--corpus", "nowhere"), "nowhere: no such folder"),
        (("--corpus", str(MINI), "--tool", "trafilaturo"), "did you mean trafilatura"),
        (("--corpus", str(MINI), "--unseen", "none.jsonl"), "benchmarks.recipes network --folds 5"),
        (("--write-docs",), "run `make bench`"),
    ],
    ids=["no corpus", "wrong corpus", "unknown tool", "no answers", "no result yet"],
)
def test_invalid_usage_is_one_line_and_exit_code_2(arguments, advice, run_benchmark):
    ran = run_benchmark(benchmark, *arguments)
    assert ran.code == 2
    assert advice in ran.err
    assert ran.err.count("\n") == 1


def test_mention_agreement_counts_pairs_and_totals():
    found = [{"Yahoo": 1, "Microsoft": 3}, {"Apple": 1}]
    gold = [{"Microsoft": 4}, {"Apple": 1, "Nokia": 3}]
    agreement = mention_agreement(found, gold)
    assert agreement.pairs == Overlap(2 / 3, 2 / 3)
    assert agreement.count_ratio == pytest.approx(5 / 8)
