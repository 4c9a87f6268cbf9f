"""The paths of small charts."""

from collections.abc import Sequence
from dataclasses import dataclass

from newscrawl.reports.curves import line_paths
from newscrawl.storage.queries import CoverageDay
from newscrawl.storage.queries.completeness import COVERED

SPARK_WIDTH, SPARK_HEIGHT = 120, 28
_PAD = 2
DAY_WIDTH, STRIP_HEIGHT = 8, 20


def spark(values: Sequence[int | None]) -> list[str]:
    """Return the paths of a line chart of SPARK_WIDTH x SPARK_HEIGHT; gaps separate them."""
    top = max((value for value in values if value is not None), default=0)
    box = _PAD, _PAD, SPARK_WIDTH - 2 * _PAD, SPARK_HEIGHT - 2 * _PAD
    return line_paths(values, box, top)


@dataclass(frozen=True, slots=True)
class Strip:
    """Paths of a strip of days: bars for what was found, crosses for days that failed, frames
    for days without a crawl."""

    bars: str
    crosses: str
    frames: str
    width: int


def strip(days: Sequence[CoverageDay], number: int) -> Strip:
    """Return the last `number` days of a source, the last one at the right end. All days of a kind
    are one path, since a page may show hundreds of sources."""
    top = max((day.found for day in days), default=0) or 1
    bars, crosses, frames = [], [], []
    for place, day in enumerate(days[-number:], start=number - len(days[-number:])):
        x = place * DAY_WIDTH
        if day.state in COVERED:
            height = 3 + (STRIP_HEIGHT - 5) * day.found / top
            bars.append(f"M{x + 0.5} {STRIP_HEIGHT - 1}v{-height:.1f}h6v{height:.1f}z")
        elif day.state is not None:
            crosses.append(f"M{x + 1} 13l5 5m0 -5l-5 5")
        else:
            frames.append(f"M{x + 1} 13h5v5h-5z")
    return Strip("".join(bars), "".join(crosses), "".join(frames), number * DAY_WIDTH)
