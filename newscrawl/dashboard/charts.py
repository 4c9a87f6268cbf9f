"""The numbers of charts: a company's counts over time, paths of small charts, and CSV files."""

import csv
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from io import StringIO
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from newscrawl.dashboard.filters import Count, Filters
from newscrawl.reports.curves import line_paths
from newscrawl.storage import Database, queries
from newscrawl.storage.queries import (
    Completeness,
    CoverageDay,
    Group,
    Hits,
    MentionCount,
    OverviewRow,
)
from newscrawl.storage.scope import today
from newscrawl.templating import spreadsheet_text

SPARK_WIDTH, SPARK_HEIGHT = 120, 28
_PAD = 2
DAY_WIDTH, STRIP_HEIGHT = 8, 20
READ = {"ok", "paywalled"}  # the states of a day on which a source was read
# Ours: the maximum number of distinguishable colours; the rest is drawn as "others".
MAX_PARTS = 6
OTHERS = "others"


@dataclass(frozen=True, slots=True)
class Row:
    """A period of a chart: its first day, and a number for each series; None without coverage.

    `days_left_out` are the days of a week or month that are not counted; `running` says that its
    last day is today.
    """

    first: date
    label: str
    values: tuple[int, ...] | None
    completeness: Completeness
    days_left_out: int = 0
    running: bool = False
    by: str = "day"

    @property
    def is_partial(self) -> bool:
        """Return whether the period is incomplete, so that a smaller number is not a decrease."""
        return bool(self.days_left_out) or self.running

    @property
    def is_unread(self) -> bool:
        """Return whether sources were not read, on a period with numbers."""
        known = self.completeness
        return self.values is not None and (known.covered < known.expected or known.unwatched > 0)

    @property
    def notes(self) -> str:
        """Return in words why its numbers are incomplete."""
        known = self.completeness
        left = self.days_left_out
        notes = [f"{left} {'day' if left == 1 else 'days'} left out"] if left else []
        notes += ["today, so far"] if self.running and not left else []
        if self.is_unread and known.unwatched:
            notes.append("begins before the first crawl")
        if self.is_unread and known.covered < known.expected:
            days = "sources" if self.by == "day" else "days of all sources together"
            notes.append(f"{known.covered:,} of {known.expected:,} {days} read")
        return "; ".join(notes)


@dataclass(frozen=True, slots=True)
class Chart:
    """Series over time, with a row for each period; `undrawn` is the number of parts that are in no
    series."""

    series: tuple[str, ...]
    rows: tuple[Row, ...]
    undrawn: int = 0

    @property
    def total(self) -> int:
        return sum(sum(row.values) for row in self.rows if row.values)

    @property
    def gaps(self) -> int:
        return sum(row.values is None for row in self.rows)

    @property
    def partial(self) -> int:
        return sum(row.is_partial for row in self.rows)

    @property
    def unread(self) -> int:
        return sum(row.is_unread for row in self.rows)

    @property
    def peaks(self) -> tuple[Row, ...]:
        """Return the periods with the highest sum, none if all are 0."""
        highest = max(map(_sum, self.rows), default=0)
        return tuple(row for row in self.rows if highest and _sum(row) == highest)


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
        if day.state in READ:
            height = 3 + (STRIP_HEIGHT - 5) * day.found / top
            bars.append(f"M{x + 0.5} {STRIP_HEIGHT - 1}v{-height:.1f}h6v{height:.1f}z")
        elif day.state is not None:
            crosses.append(f"M{x + 1} 13l5 5m0 -5l-5 5")
        else:
            frames.append(f"M{x + 1} 13h5v5h-5z")
    return Strip("".join(bars), "".join(crosses), "".join(frames), number * DAY_WIDTH)


def over_time(
    database: Database,
    name: str,
    filters: Filters,
    parts_by: Mapping[Group, Sequence[MentionCount]],
) -> Chart:
    """Return the chart of the filters; `parts_by` are the counts by each dimension that splits
    it."""
    whole = _counts(database, name, filters)
    if filters.split == "whole":
        return _whole(whole, filters)
    biggest = sorted(
        parts_by.get(filters.split, ()), key=lambda group: -number(group.hits, filters.count)
    )
    found = [group.key for group in biggest if number(group.hits, filters.count)]
    keys = found[:MAX_PARTS]
    parts = [_counts(database, name, _filters_of_part(filters, key)) for key in keys]
    rows = []
    for i, total in enumerate(whole):
        values = [number(part[i].hits, filters.count) for part in parts]
        left = 0 if filters.overlaps else number(total.hits, filters.count) - sum(values)
        rows.append(_row(total, filters, (*values, max(left, 0))))
    if not any(row.values and row.values[-1] for row in rows):
        rows = [replace(row, values=row.values and row.values[:-1]) for row in rows]
        return Chart(tuple(keys), tuple(rows), len(found) - len(keys))
    return Chart((*keys, OTHERS), tuple(rows))


def chart_columns(chart: Chart, name: str, filters: Filters) -> list[dict[str, object]]:
    """Return the counted quantity of each series of a company's chart, for its proof."""
    if filters.split == "whole":
        counted = chart.series if filters.count == "mentions" else (filters.count,)
        return [{"counted": one, "company": name} for one in counted]
    named = [key for key in chart.series if key != OTHERS]
    columns: list[dict[str, object]] = [
        {"counted": filters.count, "company": name, filters.split: key} for key in named
    ]
    if len(named) < len(chart.series):
        others = {"counted": filters.count, "company": name, "split": filters.split}
        columns.append({**others, "without": named})
    return columns


def total(counts: Sequence[MentionCount]) -> Hits:
    """Return the sum of all groups."""
    return sum((count.hits for count in counts if count.hits), Hits())


def number(hits: Hits | None, count: Count) -> int:
    """Return what is counted; 0 without coverage."""
    return 0 if hits is None else (getattr(hits, count) or 0)


def _whole(counts: Sequence[MentionCount], filters: Filters) -> Chart:
    if filters.count == "mentions":
        rows = [
            _row(each, filters, (each.hits.in_title, each.hits.in_body) if each.hits else ())
            for each in counts
        ]
        return Chart(("headline", "body"), tuple(rows))
    rows = [_row(each, filters, (number(each.hits, filters.count),)) for each in counts]
    return Chart((filters.count,), tuple(rows))


def _row(count: MentionCount, filters: Filters, values: tuple[int, ...]) -> Row:
    return row_of(count, filters, values if count.hits is not None else None)


def row_of(count: MentionCount, filters: Filters, values: tuple[int, ...] | None) -> Row:
    """Return the row of the period of a count."""
    first = first_day(count.key)
    return Row(
        first,
        label(count.key, filters.by),
        values,
        count.completeness,
        count.days_left_out or 0,
        filters.by == "day" and first == today(filters.scope),
        filters.by,
    )


def _filters_of_part(filters: Filters, key: str) -> Filters:
    """Return the filters of one of the parts."""
    part: dict[str, Any] = {filters.split: int(key) if filters.split == "tier" else key}
    return replace(filters, **part)


def _counts(database: Database, name: str, filters: Filters) -> list[MentionCount]:
    return queries.mention_counts(
        database,
        filters.by,
        company=name,
        scope=filters.scope,
        stories=filters.count == "stories",
    )


def wants_csv(request: Request) -> bool:
    """Return whether the request is for the numbers instead of the page."""
    return request.query_params.get("format") == "csv"


def chart_csv(chart: Chart, name: str, filters: Filters) -> Response:
    """Return a row for each period; empty without coverage. The last columns, named as in the
    API, say how complete it is."""
    nothing = ("",) * len(chart.series)
    rows = (
        (
            row.first.isoformat(),
            *(nothing if row.values is None else row.values),
            row.completeness.covered,
            row.completeness.expected,
            row.days_left_out,
        )
        for row in chart.rows
    )
    tiers = filters.split == "tier"
    series = (f"tier {one}" if tiers and one != OTHERS else one for one in chart.series)
    head = (filters.by, *series, "covered", "expected", "days_left_out")
    return _csv(head, rows, name, filters)


def ranking_csv(companies: Sequence[OverviewRow], filters: Filters) -> Response:
    """Return a row for each company, without `before`, `change` and `chance` if nothing was read
    before."""
    rows = (
        (
            each.company,
            each.hits.articles,
            each.before.articles if each.before else "",
            "" if each.change is None else f"{each.change:.4f}",
            "" if each.chance is None else f"{each.chance:.4f}",
            each.hits.in_title,
            each.hits.in_body,
        )
        for each in companies
    )
    head = ("company", "articles", "before", "change", "chance", "headline", "body")
    return _csv(head, rows, "companies", filters)


def _csv(
    head: Sequence[str], rows: Iterable[Sequence[object]], name: str, filters: Filters
) -> Response:
    file = StringIO()
    writer = csv.writer(file)
    writer.writerow([_cell(value) for value in head])
    writer.writerows([_cell(value) for value in row] for row in rows)
    plain = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-") or "company"
    plain += "-with-subsidiaries" if filters.subsidiaries else ""
    called = f"newscrawl-{plain}-{filters.since}-{filters.until}.csv"
    return Response(
        # Without the byte order mark spreadsheets assume an older charset.
        file.getvalue().encode("utf-8-sig"),
        media_type="text/csv; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{called}"'},
    )


def _cell(value: object) -> object:
    return spreadsheet_text(value) if isinstance(value, str) else value
