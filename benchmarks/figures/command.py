"""The command that draws the figures of the papers and of the benchmark from result files."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer
from matplotlib.figure import Figure

from benchmarks import figures
from benchmarks.extraction.comparison import Benchmark
from benchmarks.figures.measurements import cetr_lambda, cetr_page, single_features, swarm_runs
from newscrawl.cli.arguments import InputError, corpus_from
from newscrawl.cli.output import progress, write_note
from newscrawl.training.corpus import Corpus, split_by_site
from newscrawl.training.limits import (
    LIMITS_FILE,
    Plan,
    check_corpus,
    learnable,
    read_limits,
    vectors_of,
)
from newscrawl.training.pso import SwarmSettings

DATA = Path("docs/data")
IMAGES = Path("docs/img")
LAMBDA_PAGES = 200  # pages at even steps through the articles of the corpus


def draw_figures(
    swarm: Annotated[
        bool, typer.Option("--swarm", help="Measure the swarm and each feature on the corpus.")
    ] = False,
    coefficient: Annotated[
        bool, typer.Option("--lambda", help="Measure CETR's lambda on the corpus.")
    ] = False,
    corpus: Path | None = None,
    sets: list[str] | None = None,
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

    --swarm writes figure3.json and figure4.json, --lambda cetr-lambda.json,
    --page cetr-page.json, and `python -m benchmarks.extraction --write-docs` benchmark.json.

    Exit code 1 if no result file exists.
    """
    if swarm:
        _measure_swarm(corpus_from(corpus), sets or [], data)
    if coefficient:
        _measure_lambda(corpus_from(corpus).select(sets=sets or ()), data / "cetr-lambda.json")
    if page is not None:
        longest = max(corpus_from(page).select(with_text=True), key=lambda page: len(page.html))
        _write(data / "cetr-page.json", cetr_page(longest))
    drawn = _figures(data)
    for name, figure in drawn.items():
        for path in figures.save(figure, output, name):
            write_note(f"written: {path}")
    if not drawn:
        write_note(f"no result file in {data}: give --page DIR, or --corpus DIR with --swarm")
        raise typer.Exit(1)


def _figures(data: Path) -> dict[str, Figure]:
    drawn = {}
    if runs := _read_json(data / "figure3.json"):
        drawn["swarm"] = figures.swarm(runs)
    if sweep := _read_json(data / "figure4.json"):
        drawn["single-features"] = figures.single_features(sweep)
    if sweep := _read_json(data / "cetr-lambda.json"):
        drawn["cetr-lambda"] = figures.cetr_lambda(sweep)
    if page := _read_json(data / "cetr-page.json"):
        drawn["cetr-page"] = figures.cetr_page(page)
    if (data / "benchmark.json").is_file():
        result = Benchmark.load(data / "benchmark.json")
        drawn["languages"] = figures.languages(result)
        drawn["quality-and-speed"] = figures.quality_and_speed(result)
    return drawn


def _measure_swarm(everything: Corpus, sets: list[str], data: Path) -> None:
    """Run both swarms of Figure 3, and measure the limits on file and each feature alone."""
    check_corpus(LIMITS_FILE, everything)
    pages = learnable(everything, sets=sets)
    split = split_by_site(everything).only(pages)
    plan = Plan("html5", SwarmSettings())
    limits = read_limits(LIMITS_FILE, plan.name)
    if limits is None:
        raise InputError(f"{LIMITS_FILE}: no limits of {plan.name}; run newscrawl train first")
    with progress("features", len(pages)) as step:
        vectors = vectors_of(pages, plan, lambda: step(""))
    with progress("swarm", 2 * (plan.settings.generations + 1)) as step:
        _write(data / "figure3.json", swarm_runs(split, vectors, plan, lambda: step("")))
    test = [vectors[page] for page in split.test]
    _write(data / "figure4.json", single_features(test, limits))


def _measure_lambda(pages: Corpus, target: Path) -> None:
    corpus = pages.select(page_types=["article"], with_text=True)
    sample = corpus.pages[:: max(len(corpus) // LAMBDA_PAGES, 1)]
    with progress("lambda", len(sample)) as step:
        scores = cetr_lambda(sample, lambda: step(""))
    _write(target, {"corpus": corpus.name, "fingerprint": corpus.fingerprint, **scores})


def _read_json(path: Path) -> Any:
    if not path.is_file():
        return None
    try:
        return json.loads(path.read_text("utf-8"))
    except ValueError as error:
        raise InputError(f"{path}: broken JSON ({error}); measure it again") from error


def _write(path: Path, value: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, indent=1) + "\n", "utf-8")
    write_note(f"measured: {path}")
