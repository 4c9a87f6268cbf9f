"""The numbers of charts, which are drawn from a table on the page, and paths of small charts."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from newscrawl.storage.queries import CoverageDay

SPARK_WIDTH, SPARK_HEIGHT = 120, 28
_PAD = 2
DAY_WIDTH, STRIP_HEIGHT = 8, 20
READ = {"ok", "paywalled"}  # the states of a day on which a source was read


@dataclass(frozen=True, slots=True)
class Row:
    """A period of a chart: its first day, and a number for each series; None without coverage."""

    first: date
    label: str
    values: tuple[int, ...] | None


@dataclass(frozen=True, slots=True)
class Chart:
    """Series over time, with a row for each period."""

    series: tuple[str, ...]
    rows: tuple[Row, ...]

    @property
    def total(self) -> int:
        return sum(sum(row.values) for row in self.rows if row.values)

    @property
    def gaps(self) -> int:
        return sum(row.values is None for row in self.rows)

    @property
    def peak(self) -> Row | None:
        """The period with the highest sum, or None where all are 0."""
        highest = max((row for row in self.rows if row.values), key=_sum, default=None)
        return highest if highest and _sum(highest) else None


def _sum(row: Row) -> int:
    return sum(row.values or ())


def first_day(key: str) -> date:
    """Return the first day of the period of a count: a day, a week's Monday or a month."""
    return date.fromisoformat(key if len(key) > 7 else f"{key}-01")


def label(key: str, by: str) -> str:
    """Return the name of a period on the page."""
    first = first_day(key)
    if by == "month":
        return f"{first:%B %Y}"
    name = f"{first:%a} {first.day} {first:%b %Y}"
    return f"week of {name}" if by == "week" else name


def spark(values: Sequence[int | None]) -> list[str]:
    """Return the paths of a line chart of SPARK_WIDTH x SPARK_HEIGHT; gaps separate them."""
    top = max((value for value in values if value is not None), default=0) or 1
    step = (SPARK_WIDTH - 2 * _PAD) / max(len(values) - 1, 1)
    paths: list[list[str]] = [[]]
    for i, value in enumerate(values):
        if value is None:
            paths.append([])
            continue
        height = (SPARK_HEIGHT - 2 * _PAD) * (1 - value / top)
        paths[-1].append(f"{_PAD + i * step:.1f} {_PAD + height:.1f}")
    # A single point is drawn as a short line: a path of one point is invisible.
    return [f"M{' L'.join(path if len(path) > 1 else path * 2)}" for path in paths if path]


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
        if day.state in READ:
            height = 3 + (STRIP_HEIGHT - 5) * day.found / top
            bars.append(f"M{x + 0.5} {STRIP_HEIGHT - 1}v{-height:.1f}h6v{height:.1f}z")
        elif day.state is not None:
            crosses.append(f"M{x + 1} 13l5 5m0 -5l-5 5")
        else:
            frames.append(f"M{x + 1} 13h5v5h-5z")
    return Strip("".join(bars), "".join(crosses), "".join(frames), number * DAY_WIDTH)
