"""Quality floors: the scores that each method has reached and must not fall below.

`python -m benchmarks.extraction.floors --corpus tests/corpus [--raise-floors]` evaluates all
methods and exits with 1 where a mean is below its floor. A floor belongs to a corpus (its
fingerprint), a method, a set and a measure.
"""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import typer

from benchmarks.command_line import run
from newscrawl.cli.arguments import corpus_from
from newscrawl.cli.output import progress, write_note
from newscrawl.extraction.methods import METHODS
from newscrawl.training.evaluation import PageScore, evaluate, group, mean

FLOORS_FILE = Path(__file__).parent / "floors.json"
MEASURES = ("word.f1", "similarity", "phrases")
MEASURED = ("word", "similarity", "phrases")
# Ours: a floor is this far below the mean, as a new parser may change a page.
SLACK = 0.002

Floors = dict[str, dict[str, dict[str, dict[str, float]]]]  # corpus, method, set, measure


@dataclass(frozen=True)
class MethodMean:
    """A mean that has a floor."""

    method: str
    set: str
    measure: str
    value: float


def load_floors() -> Floors:
    """Return the floors of the file, or an empty list if the file does not exist yet."""
    return dict(json.loads(FLOORS_FILE.read_text("utf-8"))) if FLOORS_FILE.is_file() else {}


def save_floors(floors: Floors) -> None:
    """Write the floors to the file."""
    FLOORS_FILE.write_text(json.dumps(floors, indent=1, sort_keys=True) + "\n", "utf-8")


def reached(page_scores: Iterable[PageScore]) -> Iterator[MethodMean]:
    """Yield the means of an evaluation that have floors."""
    for method, of_method in group(page_scores, "method").items():
        for name, of_set in group(of_method, "set").items():
            for measure in MEASURES:
                if average := mean(of_set, measure):
                    yield MethodMean(method, name, measure, average.value)


def falls(means: Iterable[MethodMean], fingerprint: str, floors: Floors) -> list[str]:
    """Return a line for each mean below its floor."""
    floors_of_corpus = floors.get(fingerprint, {})
    return [
        f"{now.method}: {now.measure} on {now.set} is {now.value:.4f}, below its floor {floor:.4f}"
        for now in means
        if (floor := floors_of_corpus.get(now.method, {}).get(now.set, {}).get(now.measure))
        is not None
        and now.value < floor
    ]


def moved(
    means: Iterable[MethodMean], fingerprint: str, floors: Floors, *, lower: bool = False
) -> Floors:
    """Return the floors raised to the means; with `lower`, also lowered to them."""
    result: Floors = json.loads(json.dumps(floors))
    for now in means:
        methods = result.setdefault(fingerprint, {})
        measures = methods.setdefault(now.method, {}).setdefault(now.set, {})
        fresh = round(now.value - SLACK, 4)
        measures[now.measure] = fresh if lower else max(measures.get(now.measure, 0.0), fresh)
    return result


def check(
    means: Iterable[MethodMean], fingerprint: str, move: Literal["raise", "lower"] | None
) -> None:
    """Report each mean below its floor, and raise or lower the floors if requested.

    Raises:
        typer.Exit: with code 1, where a mean is below its floor and the floors are not lowered.
    """
    floors, means = load_floors(), list(means)
    below = falls(means, fingerprint, floors)
    for line in below:
        write_note(f"below its floor: {line}")
    if not below and fingerprint in floors:
        write_note(f"{len(means)} means, none below its floor")
    if move:
        save_floors(moved(means, fingerprint, floors, lower=move == "lower"))
        write_note(
            f"{FLOORS_FILE.name}: floors {'set' if move == 'lower' else 'raised'} to these scores"
        )
    elif fingerprint not in floors:
        write_note("no floors on file for these pages: --raise-floors sets them")
    if below and move != "lower":
        raise typer.Exit(1)


def check_floors(
    corpus: Path | None = None,
    raise_floors: Annotated[
        bool, typer.Option("--raise-floors", help="Raise the floors to the scores of this run.")
    ] = False,
    lower_floors: Annotated[
        bool, typer.Option("--lower-floors", help="Set the floors even where that lowers one.")
    ] = False,
) -> None:
    """Evaluate every method on labelled pages, and exit with 1 where a mean is below its floor."""
    pages = corpus_from(corpus)
    sure = tuple(page for page in pages if page.doubt is None)
    scores: list[PageScore] = []
    with progress("pages", len(sure)) as step:
        for name in dict.fromkeys(page.set for page in sure):
            of_set = [page for page in sure if page.set == name]
            scores += evaluate(of_set, tuple(METHODS), MEASURED, on_page=lambda: step(""))
            # A line for each set: the bar is shown in terminals alone, and all take many minutes.
            write_note(f"{name}: {len(of_set)} pages, {len(scores) // len(METHODS)} of {len(sure)}")
    move: Literal["raise", "lower"] | None = "lower" if lower_floors else None
    check(reached(scores), pages.fingerprint, move or ("raise" if raise_floors else None))


if __name__ == "__main__":
    run(check_floors)
