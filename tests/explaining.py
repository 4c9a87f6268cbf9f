"""Stand for explanations of pages that take long or too much; imported in processes of their own,
and so without anything that takes long itself."""

import time
from dataclasses import dataclass
from pathlib import Path

from markupsafe import Markup


@dataclass(frozen=True, slots=True)
class WaitsForFile:
    """Ends when a file is there."""

    file: Path

    def __call__(self, *_: object) -> Markup:
        while not self.file.exists():
            time.sleep(0.01)
        return Markup("<p>explained at last</p>")


def compute_for_ever(*_: object) -> Markup:
    while True:
        pass


def take_memory(*_: object) -> Markup:
    return Markup("x") * (2 << 30)
