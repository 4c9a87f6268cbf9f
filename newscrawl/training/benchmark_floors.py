"""Quality floors: what each of our methods reached once, and must reach from then on.

A floor belongs to a corpus (its fingerprint), a method, a group of pages and a measure.
`raise_floors` only ever lifts one.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from newscrawl.training import peers
from newscrawl.training.benchmark import Benchmark, Row

FLOORS_FILE = Path(__file__).parent / "floors.json"
MEASURES = ("word.f1", "similarity", "phrases")
# A floor stands this far below what was reached: another lxml or numpy may move a page.
SLACK = 0.002

Floors = dict[str, dict[str, dict[str, dict[str, float]]]]  # corpus, method, group, measure


@dataclass(frozen=True)
class Fall:
    """A method below its floor."""

    method: str
    group: str
    measure: str
    floor: float
    reached: float

    def __str__(self) -> str:
        return (
            f"{self.method}: {self.measure} on {self.group} is {self.reached:.4f}, "
            f"below its floor {self.floor:.4f}"
        )


def load_floors(path: Path = FLOORS_FILE) -> Floors:
    """The floors on file; none where there is no file yet."""
    return dict(json.loads(path.read_text("utf-8"))) if path.is_file() else {}


def falls(result: Benchmark, floors: Floors) -> list[Fall]:
    """Every figure of the result that lies below its floor."""
    known = floors.get(result.fingerprint, {})
    return [
        Fall(row.name, group, measure, floor, reached)
        for row, group, measure, reached in _figures(result)
        if (floor := known.get(row.name, {}).get(group, {}).get(measure)) is not None
        and reached < floor
    ]


def raised(result: Benchmark, floors: Floors) -> Floors:
    """The floors with those of the result's corpus lifted to what was reached, never lowered."""
    lifted: Floors = json.loads(json.dumps(floors))
    for row, group, measure, reached in _figures(result):
        methods = lifted.setdefault(result.fingerprint, {})
        measures = methods.setdefault(row.name, {}).setdefault(group, {})
        measures[measure] = max(measures.get(measure, 0.0), round(reached - SLACK, 4))
    return lifted


def save_floors(floors: Floors, path: Path = FLOORS_FILE) -> None:
    path.write_text(json.dumps(floors, indent=1, sort_keys=True) + "\n", "utf-8")


def _figures(result: Benchmark) -> Iterator[tuple[Row, str, str, float]]:
    for row in result.rows:
        if peers.PEERS[row.name].environment != peers.MAIN_ENV:
            continue
        for group, measures in row.scores.items():
            for measure in MEASURES:
                if measure in measures:
                    yield row, group, measure, measures[measure]
