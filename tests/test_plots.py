"""The figures: drawn from result files alone, the same files from the same results."""

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import matplotlib as mpl
import pytest
from matplotlib.figure import Figure

from newscrawl.extraction.features import NAMES
from newscrawl.training import experiments, plots
from newscrawl.training.benchmark import Benchmark, Row
from newscrawl.training.corpus import Corpus, load_corpus

ROOT = Path(__file__).parent.parent
MINI = Path(__file__).parent / "corpus" / "mini"
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
    for group in ("daniel en", "daniel el", "daniel pl", "daniel ru", "daniel zh", "fundus")
}
ROW = Row(
    name="newscrawl fe", package="newscrawl", paper="", scores=SCORES,
    speed={"ratio": 2.0, "milliseconds": 4.0, "parse": 2.0, "pages_per_second": 250.0},
)  # fmt: skip
RESULT = Benchmark(
    corpus="c", fingerprint="f" * 64, pages={"daniel": 5}, made_at="2026-01-01", machine="m",
    rows=(ROW, replace(ROW, name="goose3", package="goose3"),
          Row(name="dragnet", package="dragnet", paper="DRAGNET", reason="gone")),
)  # fmt: skip

FIGURES: dict[str, tuple[Callable[[], Figure], int]] = {
    "swarm": (lambda: plots.swarm(SWARM), 2),
    "single features": (lambda: plots.single_features(SWEEP), len(NAMES)),
    "cetr page": (lambda: plots.cetr_page(CETR_PAGE), 4),
    "cetr lambda": (lambda: plots.cetr_lambda(LAMBDA), 1),
    "languages": (lambda: plots.languages(RESULT), 1),
    "quality and speed": (lambda: plots.quality_and_speed(RESULT), 1),
}


@pytest.fixture(scope="module")
def mini() -> Corpus:
    return load_corpus(MINI)


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_has_its_panels_each_with_a_title(name: str) -> None:
    draw, panels = FIGURES[name]
    axes = draw().axes
    assert len(axes) == panels
    assert all(axis.get_title(loc="left") for axis in axes)


@pytest.mark.parametrize("name", FIGURES)
def test_the_same_results_give_the_same_files(name: str, tmp_path: Path) -> None:
    draw, _ = FIGURES[name]
    first = [path.read_bytes() for path in plots.save(draw(), tmp_path / "a", "x")]
    second = [path.read_bytes() for path in plots.save(draw(), tmp_path / "b", "x")]
    assert first == second
    assert first[1].startswith(b"\x89PNG")


def test_drawing_leaves_the_style_of_others_alone() -> None:
    before = dict(mpl.rcParams)
    plots.swarm(SWARM)
    assert dict(mpl.rcParams) == before


def test_the_swarm_shows_best_and_mean_of_each_run() -> None:
    for axis in plots.swarm(SWARM).axes:
        lines = {line.get_label(): list(line.get_ydata()) for line in axis.get_lines()}
        assert lines["best particle"] == [generation["best"] for generation in HISTORY]
        assert lines["mean"] == [generation["mean"] for generation in HISTORY]


def test_languages_leave_out_tools_without_figures() -> None:
    (axis,) = plots.languages(RESULT).axes
    assert [label.get_text() for label in axis.get_yticklabels()] == ["goose3", "newscrawl fe"]


def test_a_greater_lambda_costs_recall(mini: Corpus) -> None:
    found = experiments.cetr_lambda(mini.pages)
    assert found["recall"] == sorted(found["recall"], reverse=True)
    assert found["recall"][0] > found["recall"][-1]
    assert found["precision"][10] > found["precision"][0]
    assert found["pages"] == len(mini)


def test_content_lines_have_the_greater_tag_ratios() -> None:
    (page,) = load_corpus(TAG_RATIOS).pages
    found = experiments.cetr_page(page)
    content = [r for r, c in zip(found["ratios"], found["content"], strict=True) if c]
    rest = [r for r, c in zip(found["ratios"], found["content"], strict=True) if not c]
    assert len(content) >= len(page.text.split("\n\n"))
    assert sorted(content)[1] > max(rest)  # the headline, which the list holds too, aside
    lengths = {len(found[key]) for key in ("ratios", "smoothed", "derivatives", "content")}
    assert len(lengths) == 1


def run_command(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "newscrawl.cli", "plots", *arguments],
        cwd=folder, capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip


def test_the_command_draws_what_has_a_result_file(tmp_path: Path) -> None:
    data = tmp_path / "docs" / "data"
    data.mkdir(parents=True)
    (data / "figure3.json").write_text(json.dumps(SWARM))
    done = run_command("--page", str(TAG_RATIOS), folder=tmp_path)
    assert done.returncode == 0, done.stderr
    drawn = {path.name for path in (tmp_path / "docs" / "img").iterdir()}
    assert drawn == {"swarm.svg", "swarm.png", "cetr-page.svg", "cetr-page.png"}


def test_without_any_result_file_the_command_says_what_makes_one(tmp_path: Path) -> None:
    done = run_command(folder=tmp_path)
    assert done.returncode == 1
    assert "run newscrawl train, newscrawl benchmark" in done.stderr


def test_a_broken_result_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "figure3.json").write_text("{")
    done = run_command("--data", str(tmp_path), folder=tmp_path)
    assert done.returncode == 2
    assert "figure3.json: broken JSON" in done.stderr
