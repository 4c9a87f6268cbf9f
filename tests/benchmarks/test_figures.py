"""The figures: drawn from result files alone, the same files from the same results."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from matplotlib.figure import Figure

from benchmarks import figures
from benchmarks.extraction.comparison import Benchmark, Row
from benchmarks.figures import measurements
from benchmarks.figures.command import draw_figures
from newscrawl.extraction.features import NAMES, load_limits
from newscrawl.training.corpus import Corpus, load_corpus, split_by_site
from newscrawl.training.limits import NO_LIMITS, PageVectors, Plan, page_vectors, score_limits
from newscrawl.training.pso import SwarmSettings

ROOT = Path(__file__).parents[2]
MINI = ROOT / "tests" / "corpus" / "mini"
TAG_RATIOS = ROOT / "docs" / "data" / "tag-ratios"

HISTORY = [{"number": n, "best": 0.5 + n / 10, "mean": 0.3 + n / 10} for n in range(4)]
SETTINGS = {"tau": 2.0, "phi": 2.0}
SWARM = [
    {"name": name, "settings": SETTINGS, "history": HISTORY} for name in ("cognition", "equal")
]
SWEEP = {
    "features": {name: {"thresholds": [0, 1, 2], "similarity": [0.2, 0.6, 0.1]} for name in NAMES},
    "together": 0.8,
}
CETR_PAGE = {
    "ratios": [1, 90, 80, 2], "smoothed": [20, 70, 60, 20], "derivatives": [30, 5, 10, 0],
    "content": [False, True, True, False],
}  # fmt: skip
LAMBDA = {"lambda": [0, 1, 2], "precision": [0.5, 0.7, 0.9], "recall": [1, 0.9, 0.6],
          "f1": [0.67, 0.79, 0.72]}  # fmt: skip
SCORES = {
    group: {"word.f1": 0.8, "word.precision": 0.8, "word.recall": 0.8}
    for group in ("daniel en", "daniel el", "daniel pl", "daniel ru", "daniel zh", "daniel")
}
ROW = Row(
    name="newscrawl fe", package="newscrawl", paper="", scores=SCORES,
    speed={"ratio": 2.0, "milliseconds": 4.0, "parse": 2.0, "pages_per_second": 250.0},
)  # fmt: skip
RESULT = Benchmark(
    corpus="c", fingerprint="f" * 64, sets={"daniel": "f" * 64}, pages={"daniel": 5}, machine="m",
    rows=(ROW, replace(ROW, name="goose3", package="goose3"),
          Row(name="dragnet", package="dragnet", paper="DRAGNET", reason="gone")),
)  # fmt: skip

FIGURES: dict[str, tuple[Callable[[], Figure], int]] = {
    "swarm": (lambda: figures.swarm(SWARM), 2),
    "single features": (lambda: figures.single_features(SWEEP), len(NAMES)),
    "cetr page": (lambda: figures.cetr_page(CETR_PAGE), 4),
    "cetr lambda": (lambda: figures.cetr_lambda(LAMBDA), 1),
    "languages": (lambda: figures.languages(RESULT), 1),
    "quality and speed": (lambda: figures.quality_and_speed(RESULT), 1),
}


@pytest.fixture(scope="module")
def mini() -> Corpus:
    return load_corpus(MINI)


@pytest.fixture(scope="module")
def vectors(mini: Corpus) -> list[PageVectors]:
    return [page_vectors(page, "html5") for page in mini]


@pytest.mark.parametrize("name", FIGURES)
def test_each_panel_of_a_figure_has_a_title(name):
    draw, panels = FIGURES[name]
    axes = draw().axes
    assert len(axes) == panels
    assert all(axis.get_title(loc="left") for axis in axes)


@pytest.mark.parametrize("name", ["swarm", "languages"])
def test_equal_results_give_equal_files(name, tmp_path):
    draw, _ = FIGURES[name]
    first = [path.read_bytes() for path in figures.save(draw(), tmp_path / "a", "x")]
    second = [path.read_bytes() for path in figures.save(draw(), tmp_path / "b", "x")]
    assert first == second
    assert first[1].startswith(b"\x89PNG")


def test_swarm_figure_shows_best_and_mean_of_each_run():
    for axis in figures.swarm(SWARM).axes:
        lines = {line.get_label(): list(line.get_ydata()) for line in axis.get_lines()}
        assert lines["best particle"] == [generation["best"] for generation in HISTORY]
        assert lines["mean"] == [generation["mean"] for generation in HISTORY]


def test_greater_lambda_lowers_recall(mini):
    found = measurements.cetr_lambda(mini.pages)
    assert found["recall"] == sorted(found["recall"], reverse=True)
    assert found["recall"][0] > found["recall"][-1]
    assert found["precision"][10] > found["precision"][0]
    assert found["pages"] == len(mini)


def test_content_lines_have_the_greater_tag_ratios():
    (page,) = load_corpus(TAG_RATIOS).pages
    found = measurements.cetr_page(page)
    content = [r for r, c in zip(found["ratios"], found["content"], strict=True) if c]
    rest = [r for r, c in zip(found["ratios"], found["content"], strict=True) if not c]
    assert len(content) >= len(page.text.split("\n\n"))
    assert sorted(content)[1] > max(rest)  # the headline, which the list holds too, aside
    lengths = {len(found[key]) for key in ("ratios", "smoothed", "derivatives", "content")}
    assert len(lengths) == 1


def test_each_feature_alone_has_a_curve(vectors):
    curves = measurements.single_feature_curves(vectors)
    assert list(curves) == list(measurements.AXES) == list(NAMES)
    everything = score_limits(vectors, NO_LIMITS)
    for name, curve in curves.items():
        free = curve.similarity[-1] if name == "anchors" else curve.similarity[0]
        if name in ("anchors", "sentences", "formats", "structure"):
            assert free == pytest.approx(everything, abs=0.01)
    assert curves["anchors"].best > everything + 0.1


def test_swarm_data_hold_both_runs_and_all_features(mini, vectors):
    settings = SwarmSettings(particles=20, generations=15)
    known = dict(zip(mini, vectors, strict=True))
    runs = measurements.swarm_runs(split_by_site(mini), known, Plan("html5", settings))
    assert [run["name"] for run in runs] == ["cognition", "equal"]
    assert all(len(run["history"]) == settings.generations + 1 for run in runs)
    assert runs[0]["history"] != runs[1]["history"]
    sweep = measurements.single_features(vectors, load_limits().values)
    assert list(sweep["features"]) == list(NAMES)
    assert sweep["together"] > sweep["everything"]


def test_command_draws_figures_with_a_result_file(run_benchmark, tmp_path):
    data = tmp_path / "docs" / "data"
    data.mkdir(parents=True)
    (data / "figure3.json").write_text(json.dumps(SWARM))
    ran = run_benchmark(draw_figures, "--page", TAG_RATIOS, "--lambda", "--corpus", MINI)
    assert ran.code == 0, ran.err
    drawn = {path.stem for path in (tmp_path / "docs" / "img").iterdir()}
    assert drawn == {"swarm", "cetr-page", "cetr-lambda"}
