"""newscrawl plots: the figures of the papers and of the benchmark, from result files."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from newscrawl.cli.arguments import InputError
from newscrawl.cli.labelled import corpus_from, progress
from newscrawl.cli.output import say

if TYPE_CHECKING:
    from matplotlib.figure import Figure

EXAMPLE = "Example: newscrawl plots --corpus corpus"

DATA = Path("docs/data")
IMAGES = Path("docs/img")
LAMBDA_PAGES = 200  # pages at even steps through the articles of the corpus


def plots(
    corpus: Annotated[
        Path | None,
        typer.Option(help="Measure the curve of lambda anew on these first.", metavar="DIR"),
    ] = None,
    page: Annotated[
        Path | None,
        typer.Option(
            help="A set of labelled pages; the tag ratios of its longest are drawn.", metavar="DIR"
        ),
    ] = None,
    data: Annotated[Path, typer.Option(help="Where the result files are.", metavar="DIR")] = DATA,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Where figures are written.", metavar="DIR")
    ] = IMAGES,
) -> None:
    """Draw every figure whose result file is there, as SVG and PNG.

    newscrawl train --figures DIR writes figure3.json and figure4.json, newscrawl benchmark
    benchmark.json; --corpus and --page write cetr-lambda.json and cetr-page.json.

    Exit code 1 where there is no result file at all.
    """
    try:
        from newscrawl.training.plots import save
    except ImportError as error:
        raise InputError(
            f"drawing needs matplotlib ({error}): pip install 'newscrawl[plots]'"
        ) from error
    if corpus is not None:
        _measure_lambda(corpus, data / "cetr-lambda.json")
    if page is not None:
        _measure_page(page, data / "cetr-page.json")
    figures = _figures(data)
    for name, figure in figures.items():
        for path in save(figure, output, name):
            say(f"written: {path}")
    if not figures:
        say(f"no result file in {data}: run newscrawl train, newscrawl benchmark or --corpus DIR")
        raise typer.Exit(1)


def _figures(data: Path) -> "dict[str, Figure]":
    from newscrawl.training import plots
    from newscrawl.training.benchmark import Benchmark

    figures = {}
    if runs := _read(data / "figure3.json"):
        figures["swarm"] = plots.swarm(runs)
    if sweep := _read(data / "figure4.json"):
        figures["single-features"] = plots.single_features(sweep)
    if sweep := _read(data / "cetr-lambda.json"):
        figures["cetr-lambda"] = plots.cetr_lambda(sweep)
    if page := _read(data / "cetr-page.json"):
        figures["cetr-page"] = plots.cetr_page(page)
    if (data / "benchmark.json").is_file():
        result = Benchmark.load(data / "benchmark.json")
        figures["languages"] = plots.languages(result)
        figures["quality-and-speed"] = plots.quality_and_speed(result)
    return figures


def _measure_lambda(folder: Path, target: Path) -> None:
    from newscrawl.training.experiments import cetr_lambda

    corpus = corpus_from(folder).select(page_types=["article"], with_text=True)
    sample = corpus.pages[:: max(len(corpus) // LAMBDA_PAGES, 1)]
    with progress("lambda", len(sample)) as step:
        found = cetr_lambda(sample, lambda: step(""))
    _write(target, {"corpus": corpus.name, "fingerprint": corpus.fingerprint, **found})


def _measure_page(folder: Path, target: Path) -> None:
    from newscrawl.training.experiments import cetr_page

    longest = max(corpus_from(folder).select(with_text=True), key=lambda page: len(page.html))
    _write(target, cetr_page(longest))


def _read(path: Path) -> Any:
    if not path.is_file():
        return None
    try:
        return json.loads(path.read_text("utf-8"))
    except ValueError as error:
        raise InputError(f"{path}: broken JSON ({error}); measure it anew") from error


def _write(path: Path, value: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, indent=1) + "\n", "utf-8")
    say(f"measured: {path}")
