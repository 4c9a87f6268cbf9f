"""Charts as paths of SVG: curves with gaps, bars, and small ones beside a name."""

from collections.abc import Sequence
from dataclasses import dataclass

from newscrawl.answers.chart import Chart
from newscrawl.storage.queries import CoverageDay
from newscrawl.storage.queries.completeness import COVERED

WIDTH, HEIGHT = 720, 210
_LEFT, _RIGHT, _TOP, _BOTTOM = 40, 8, 8, 24  # margins for the labels
_LABELS = 6  # dates below a chart
SPARK_WIDTH, SPARK_HEIGHT = 120, 28
_PAD = 2
DAY_WIDTH, STRIP_HEIGHT = 8, 20

Values = Sequence[int | None]
Place = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Tick:
    """A label of an axis, at x or y."""

    at: float
    label: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Curves:
    """A chart: the paths of each series and its axes; gaps, steps that are not whole and steps
    whose sources were not all read, by left edge and width."""

    bars: str
    lines: tuple[tuple[str, ...], ...]
    gaps: tuple[Place, ...]
    partial: tuple[Place, ...]
    unread: tuple[Place, ...]
    rows: tuple[Tick, ...]
    dates: tuple[Tick, ...]
    left: float = _LEFT
    right: float = WIDTH - _RIGHT
    base: float = HEIGHT - _BOTTOM
    top: float = _TOP


def line_paths(values: Values, box: tuple[float, float, float, float], highest: int) -> list[str]:
    """Return the paths of a line within a box (left, top, width, height); gaps separate them."""
    left, top, width, height = box
    step = width / max(len(values) - 1, 1)
    paths: list[list[str]] = [[]]
    for i, value in enumerate(values):
        if value is None:
            paths.append([])
            continue
        y = top + height * (1 - value / (highest or 1))
        paths[-1].append(f"{left + i * step:.1f} {y:.1f}")
    # A single point is drawn as a short line: a path of one point is invisible.
    return [f"M{' L'.join(path if len(path) > 1 else path * 2)}" for path in paths if path]


def curves(chart: Chart) -> Curves:
    """Return the lines of a chart, bars for a single series; its gaps, and its marks."""
    rows = chart.rows
    series = [[row.numbers[place] for row in rows] for place in range(len(chart.series))]
    highest = max((value for values in series for value in values if value is not None), default=0)
    # The axis ends at the next number of the form 1, 2, 4, 6, 8 or 10 times a power of ten.
    power = 1
    while highest > 10 * power:
        power *= 10
    top = next(power * digit for digit in (1, 2, 4, 6, 8, 10) if power * digit >= highest)
    width, height = WIDTH - _LEFT - _RIGHT, HEIGHT - _TOP - _BOTTOM
    slot = width / max(len(rows), 1)
    base = HEIGHT - _BOTTOM
    # Lines go through the middles of the slots of the steps.
    box = _LEFT + slot / 2, _TOP, width - slot, height
    bars = ""
    if len(series) == 1:
        sizes = [(i, height * (value or 0) / top) for i, value in enumerate(series[0])]
        bars = "".join(
            f"M{_LEFT + (i + 0.12) * slot:.1f} {base}v{-size:.1f}h{slot * 0.76:.1f}v{size:.1f}z"
            for i, size in sizes
            if size
        )
    every = -(-len(rows) // _LABELS) or 1
    return Curves(
        bars=bars,
        lines=tuple(tuple(line_paths(values, box, top)) for values in series) if not bars else (),
        gaps=_places(slot, [all(number is None for number in row.numbers) for row in rows]),
        partial=_places(slot, [row.is_partial for row in rows]),
        unread=_places(slot, [row.is_unread for row in rows]),
        rows=tuple(
            Tick(round(base - height * part / 2, 1), f"{top * part // 2:,}")
            for part in ((0, 1, 2) if top % 2 == 0 else (0, 2))
        ),
        dates=tuple(
            Tick(round(_LEFT + (i + 0.5) * slot, 1), f"{row.first.day} {row.first:%b}")
            for i, row in enumerate(rows)
            if i % every == 0
        ),
    )


def _places(slot: float, marked: Sequence[bool]) -> tuple[Place, ...]:
    """Return the left edges and widths of the slots that are marked."""
    places = [i for i, is_marked in enumerate(marked) if is_marked]
    return tuple((round(_LEFT + i * slot, 1), round(slot, 1)) for i in places)


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
