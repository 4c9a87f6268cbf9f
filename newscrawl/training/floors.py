"""Quality floors: what each method reached once, and must reach from then on.

A floor belongs to a corpus (its fingerprint), a method, a set and a measure. Evaluation and
benchmark check the same file.
"""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from newscrawl.training.aggregation import group, mean
from newscrawl.training.evaluation import PageScore

FLOORS_FILE = Path(__file__).parent / "floors.json"
MEASURES = ("word.f1", "similarity", "phrases")
# Ours: a floor stands this far below what was reached, as a new parser may move a page.
SLACK = 0.002

Floors = dict[str, dict[str, dict[str, dict[str, float]]]]  # corpus, method, set, measure


@dataclass(frozen=True)
class Reached:
    """A mean that a floor is kept for."""

    method: str
    set: str
    measure: str
    value: float


def load_floors(path: Path = FLOORS_FILE) -> Floors:
    """The floors on file; none where there is no file yet."""
    return dict(json.loads(path.read_text("utf-8"))) if path.is_file() else {}


def save_floors(floors: Floors, path: Path = FLOORS_FILE) -> None:
    path.write_text(json.dumps(floors, indent=1, sort_keys=True) + "\n", "utf-8")


def reached(page_scores: Iterable[PageScore]) -> Iterator[Reached]:
    """The means of an evaluation that floors are kept for."""
    for method, of_method in group(page_scores, "method").items():
        for name, of_set in group(of_method, "set").items():
            for measure in MEASURES:
                if found := mean(of_set, measure):
                    yield Reached(method, name, measure, found.value)


def falls(means: Iterable[Reached], fingerprint: str, floors: Floors) -> list[str]:
    """A line for each mean below its floor."""
    known = floors.get(fingerprint, {})
    return [
        f"{now.method}: {now.measure} on {now.set} is {now.value:.4f}, below its floor {floor:.4f}"
        for now in means
        if (floor := known.get(now.method, {}).get(now.set, {}).get(now.measure)) is not None
        and now.value < floor
    ]


def moved(
    means: Iterable[Reached], fingerprint: str, floors: Floors, *, lower: bool = False
) -> Floors:
    """The floors lifted to what was reached; with `lower`, set to it wherever it lies."""
    result: Floors = json.loads(json.dumps(floors))
    for now in means:
        methods = result.setdefault(fingerprint, {})
        measures = methods.setdefault(now.method, {}).setdefault(now.set, {})
        fresh = round(now.value - SLACK, 4)
        measures[now.measure] = fresh if lower else max(measures.get(now.measure, 0.0), fresh)
    return result
