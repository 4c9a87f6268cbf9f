"""The figures of the papers and of the benchmark, drawn from result files alone.

`python -m benchmarks.figures`; see docs/figures.md. Each function takes the content of a result
file and returns a matplotlib figure. `save` writes it as SVG and PNG without dates, so that the
same results give the same files.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.transforms import Bbox

from benchmarks.extraction.comparison import UNSEEN, Benchmark, Row
from benchmarks.extraction.tables import LANGUAGES, LEARNED, kind_mean, ranked

# Okabe & Ito 2008: distinguishable with every kind of colour vision.
BLUE, ORANGE, GREEN, RED, GREY = "#0072B2", "#E69F00", "#009E73", "#D55E00", "#6B7280"
STYLE: Any = {
    "figure.facecolor": "white",
    "font.size": 11,
    "axes.titlesize": 12,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": "#9CA3AF",
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#E5E7EB",
    "legend.frameon": False,
    "svg.hashsalt": "newscrawl",
    "svg.fonttype": "path",
}
_styled = mpl.rc_context(STYLE)  # as a decorator, so that matplotlib's global style is not changed

BEHIND = {"facecolor": "white", "edgecolor": "none", "pad": 0.5, "alpha": 0.8}
LEAST_SHOWN = 0.7  # word F1 below which a tool is not an extractor of articles
LABEL_PLACES = [(x, y, "left" if x > 0 else "right") for y in (0, 9, -9, 18, -18) for x in (8, -8)]
RUNS = {"cognition": "Cognition over society", "equal": "Both alike"}
FEATURE_TITLES = {
    "sentence_length": "average sentence length ≥",
    "sentences": "number of sentences ≥",
    "characters": "character distribution ≥",
    "stop_words": "stop-word ratio ≥",
    "anchors": "anchor ratio ≤",
    "formats": "format tag ratio ≥",
    "lists": "list element ratio ≤",
    "structure": "text structuring ratio ≥",
}


@_styled
def swarm(runs: Sequence[Mapping[str, Any]]) -> Figure:
    """Draw Figure 3 of Ziegler & Skubacz: best and mean fitness by generation, a panel a run.

    A run has a `name`, its `settings` and a `history` of generations with `number`, `best` and
    `mean`.
    """
    figure, axes = _figure(1, len(runs), width=4.6 * len(runs), height=3.6, sharey=True)
    for axis, run in zip(axes, runs, strict=True):
        numbers = [generation["number"] for generation in run["history"]]
        for key, colour, label in (("best", BLUE, "best particle"), ("mean", ORANGE, "mean")):
            values = [generation[key] for generation in run["history"]]
            axis.plot(numbers, values, color=colour, label=label, linewidth=1.8)
        settings = run["settings"]
        title = f"{RUNS.get(run['name'], run['name'])} (τ {settings['tau']}, φ {settings['phi']})"
        axis.set(title=title, xlabel="generation", ylim=(0, 1))
    axes[0].set_ylabel("fitness (similarity)")
    axes[0].legend(loc="lower right")
    return figure


@_styled
def single_features(sweep: Mapping[str, Any]) -> Figure:
    """Draw Figure 4 of Ziegler & Skubacz: score against threshold, each feature alone.

    `features` maps a name to `thresholds` and `similarity`; `together` is the score of the
    eight learned limits on the same pages.
    """
    figure, axes = _figure(2, 4, width=11, height=5.4, sharey=True)
    for axis, (name, curve) in zip(axes, sweep["features"].items(), strict=True):
        axis.plot(curve["thresholds"], curve["similarity"], color=BLUE, linewidth=1.8)
        best = int(np.argmax(curve["similarity"]))
        peak = curve["thresholds"][best], curve["similarity"][best]
        axis.plot(*peak, "o", color=BLUE, markersize=5)
        axis.annotate(f"{peak[1]:.2f}", peak, (4, 5), textcoords="offset points", bbox=BEHIND)
        together = axis.axhline(sweep["together"], color=ORANGE, linestyle="--", linewidth=1.5)
        axis.set_title(FEATURE_TITLES[name], fontsize=10)
        axis.set_ylim(0, 1)
    for axis in axes[::4]:
        axis.set_ylabel("similarity")
    label = f"all eight limits together: {sweep['together']:.2f}"
    figure.legend([together], [label], loc="outside lower center")
    return figure


@_styled
def cetr_page(page: Mapping[str, Any]) -> Figure:
    """Draw Figures 2 to 5 of Weninger et al. for one page: ratios, smoothed, derivatives, scatter.

    `ratios`, `smoothed`, `derivatives` and `content` (a person's label) have an entry a line.
    """
    figure, axes = _figure(2, 2, width=10, height=6.4)
    content = np.array(page["content"], dtype=bool)
    lines = np.arange(len(content))
    series = (
        ("ratios", "Tag ratio of each line"),
        ("smoothed", "Smoothed tag ratio"),
        ("derivatives", "Absolute smoothed derivative"),
    )
    for axis, (key, title) in zip(axes, series, strict=False):
        values = np.array(page[key])
        for mask, colour, label in ((content, BLUE, "content"), (~content, ORANGE, "the rest")):
            axis.bar(lines[mask], values[mask], width=1.0, color=colour, label=label)
        axis.set(title=title, xlabel="line of the page", xlim=(-0.5, len(lines) - 0.5))
    axes[0].legend(loc="upper right")
    smoothed, derivatives = np.array(page["smoothed"]), np.array(page["derivatives"])
    scatter = axes[3]
    for mask, colour, mark, label in (
        (content, BLUE, "o", "content"),
        (~content, ORANGE, "+", "the rest"),
    ):
        scatter.scatter(smoothed[mask], derivatives[mask], c=colour, marker=mark, label=label, s=28)
    scatter.set(
        title="Ratio against derivative (● content, + the rest)",
        xlabel="smoothed tag ratio",
        ylabel="absolute derivative",
    )
    return figure


@_styled
def cetr_lambda(sweep: Mapping[str, Any]) -> Figure:
    """Draw Figure 6 of Weninger et al.: precision and recall of CETR-TM against lambda.

    `lambda`, `precision`, `recall` and `f1` are lists of equal length.
    """
    figure, (axis,) = _figure(1, 1, width=6.4, height=4)
    for key, colour in (("precision", BLUE), ("recall", ORANGE), ("f1", GREEN)):
        axis.plot(sweep["lambda"], sweep[key], color=colour, linewidth=1.8)
        label = {"f1": "F1"}.get(key, key)
        axis.annotate(label, (sweep["lambda"][-1], sweep[key][-1]), (6, 0), color=colour,
                      textcoords="offset points", va="center")  # fmt: skip
    axis.set(title="CETR-TM: words against threshold coefficient", xlabel="λ", ylim=(0, 1))
    axis.margins(x=0.01)
    return figure


@_styled
def languages(result: Benchmark) -> Figure:
    """Draw word F1 on DANIEL, a column for each language. Our method is scored on sites that it
    was not trained on."""
    rows = [
        row
        for row in ranked(result)
        if not row.name.startswith(LEARNED) and all(group in row.scores for group in LANGUAGES)
    ]
    table = np.array([[row.scores[g]["word.f1"] for g in LANGUAGES] for row in rows])
    figure, (axis,) = _figure(1, 1, width=7.4, height=0.3 * len(rows) + 1.0)
    axis.imshow(table, cmap="Blues", vmin=0, vmax=1, aspect="auto")
    names = {"en": "English", "el": "Greek", "pl": "Polish", "ru": "Russian", "zh": "Chinese"}
    axis.set_xticks(range(len(LANGUAGES)), [names[g.split()[1]] for g in LANGUAGES])
    axis.set_yticks(range(len(rows)), [row.name for row in rows])
    axis.tick_params(length=0)
    axis.grid(visible=False)
    for (i, j), value in np.ndenumerate(table):
        colour = "white" if value > 0.6 else "black"
        axis.text(j, i, f"{value:.2f}", ha="center", va="center", color=colour, fontsize=10)
    for label, row in zip(axis.get_yticklabels(), rows, strict=True):
        if row.package == "newscrawl":
            label.set_fontweight("bold")
    axis.set_title("Word F1 by language (DANIEL, 2011–12)")
    return figure


@_styled
def quality_and_speed(result: Benchmark) -> Figure:
    """Draw mean word F1 on articles against cost; the upper left is best. Our combined method is
    scored on sites that it was not trained on."""
    figure, (axis,) = _figure(1, 1, width=9, height=5.6)
    unseen = next((row for row in result.rows if row.name == UNSEEN), None)
    points = {}
    for row in ranked(result):
        if row.name.startswith(f"{LEARNED}-"):
            continue  # its variants, which have no such scores
        scored = unseen if unseen and row.name == LEARNED else row
        score = kind_mean(result, scored, "all", "word.f1")
        if row.speed and score is not None and score >= LEAST_SHOWN:
            points[row.name] = row.speed["ratio"], score
            axis.plot(*points[row.name], "o", color=_colour(row), markersize=7)
    axis.set_xscale("log")
    axis.xaxis.set_major_formatter(lambda value, _: f"{value:g}×")
    axis.xaxis.set_minor_formatter(
        lambda value, _: f"{value:g}×" if f"{value:g}"[0] in "25" else ""
    )
    axis.set(title="Quality and cost", xlabel="CPU time, as a multiple of a bare lxml parse",
             ylabel="word F1, mean of articles")  # fmt: skip
    axis.margins(x=0.15, y=0.08)
    colours = {row.name: _colour(row) for row in result.rows}
    # Name each point at the first of ten places around it where no name is yet.
    canvas = FigureCanvasAgg(figure)
    canvas.draw()  # type: ignore[no-untyped-call]
    renderer = canvas.get_renderer()  # type: ignore[no-untyped-call]
    dots = [axis.transData.transform(point) for point in points.values()]
    boxes = [Bbox.from_bounds(x - 6, y - 6, 12, 12) for x, y in dots]
    for name, point in points.items():
        for x, y, side in LABEL_PLACES:
            text = axis.annotate(
                name, point, (x, y), textcoords="offset points", ha=side, va="center",
                fontsize=9, color=colours[name],
            )  # fmt: skip
            box = text.get_window_extent(renderer)
            if not any(box.overlaps(placed) for placed in boxes):
                break
            text.remove()
        else:
            text = axis.annotate(name, point, (7, 0), textcoords="offset points", fontsize=9)
            box = text.get_window_extent(renderer)
        boxes.append(box)
    return figure


def _colour(row: Row) -> str:
    return BLUE if row.package == "newscrawl" else GREY


@_styled
def save(figure: Figure, folder: Path, name: str) -> list[Path]:
    """Write `name`.svg and `name`.png; returns their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"{name}.svg", folder / f"{name}.png"]
    figure.savefig(paths[0], metadata={"Date": None})
    figure.savefig(paths[1], dpi=144, metadata={"Software": None})
    return paths


def _figure(
    rows: int, columns: int, *, width: float, height: float, sharey: bool = False
) -> tuple[Figure, list[Axes]]:
    """Return a figure without pyplot, which would keep it in a global list."""
    figure = Figure(figsize=(width, height), layout="constrained")
    axes = figure.subplots(rows, columns, sharey=sharey, squeeze=False)
    return figure, list(axes.flat)
