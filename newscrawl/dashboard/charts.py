"""The numbers of charts: counts over time, paths of small charts, and files of tables."""

import csv
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from io import StringIO

from starlette.requests import Request
from starlette.responses import Response

from newscrawl.answers.chart import Chart
from newscrawl.dashboard.filters import Filters
from newscrawl.reports import MEDIA_TYPES, table_workbook
from newscrawl.reports.curves import line_paths
from newscrawl.storage.queries import CoverageDay, OverviewRow
from newscrawl.templating import spreadsheet_text

SPARK_WIDTH, SPARK_HEIGHT = 120, 28
_PAD = 2
DAY_WIDTH, STRIP_HEIGHT = 8, 20
FORMATS = {
    "csv": "text/csv; charset=utf-8",
    "json": "application/json",
    "xlsx": MEDIA_TYPES["xlsx"],
}
READ = {"ok", "paywalled"}  # the states of a day on which a source was read


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


def export_format(request: Request) -> str:
    """Return the format in which the numbers are asked for; nothing if the page is."""
    file_format = request.query_params.get("format", "")
    return file_format if file_format in FORMATS else ""


def chart_file(kind: str, chart: Chart, name: str, filters: Filters) -> Response:
    """Return a row for each period; empty without coverage. The last columns, named as in the
    API, say how complete it is."""
    rows = (
        (
            row.first.isoformat(),
            *row.numbers,
            row.completeness.covered,
            row.completeness.expected,
            row.days_left_out,
        )
        for row in chart.rows
    )
    head = (filters.by, *chart.series, "covered", "expected", "days_left_out")
    return _table_file(kind, head, [*rows], name, filters)


def ranking_file(kind: str, companies: Sequence[OverviewRow], filters: Filters) -> Response:
    """Return a row for each company, without `before`, `change` and `chance` if nothing was read
    before."""
    rows = (
        (
            each.company,
            each.hits.articles,
            each.before and each.before.articles,
            None if each.change is None else round(each.change, 4),
            None if each.chance is None else round(each.chance, 4),
            each.hits.in_title,
            each.hits.in_body,
        )
        for each in companies
    )
    head = ("company", "articles", "before", "change", "chance", "headline", "body")
    return _table_file(kind, head, [*rows], "companies", filters)


def _table_file(
    kind: str, head: Sequence[str], rows: Sequence[Sequence[object]], name: str, filters: Filters
) -> Response:
    match kind:
        case "xlsx":
            content = table_workbook(head, rows)
        case "json":
            answers = [dict(zip(head, row, strict=True)) for row in rows]
            content = json.dumps(answers, ensure_ascii=False, indent=1).encode()
        case _:
            file = StringIO()
            writer = csv.writer(file)
            writer.writerow([_cell(value) for value in head])
            writer.writerows([_cell(value) for value in row] for row in rows)
            # Without the byte order mark spreadsheets assume an older charset.
            content = file.getvalue().encode("utf-8-sig")
    plain = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-") or "company"
    plain += "-with-subsidiaries" if filters.scope.subsidiaries else ""
    called = f"newscrawl-{plain}-{filters.since}-{filters.until}.{kind}"
    return Response(
        content,
        media_type=FORMATS[kind],
        headers={"Content-Disposition": f'attachment; filename="{called}"'},
    )


def _cell(value: object) -> object:
    return spreadsheet_text(value) if isinstance(value, str) else value
