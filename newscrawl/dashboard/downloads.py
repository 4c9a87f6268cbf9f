"""The numbers of a page as CSV, for spreadsheets."""

import csv
import re
from collections.abc import Iterable, Sequence
from io import StringIO

from starlette.requests import Request
from starlette.responses import Response

from newscrawl.dashboard.charts import Chart
from newscrawl.dashboard.filters import Filters
from newscrawl.storage.queries import Standing

# What a spreadsheet takes for the beginning of a formula.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def wants_csv(request: Request) -> bool:
    """Whether the address asks for the numbers and not for the page."""
    return request.query_params.get("format") == "csv"


def chart_csv(chart: Chart, name: str, filters: Filters) -> Response:
    """A row for each period; empty where nobody looked."""
    nothing = ("",) * len(chart.series)
    rows = (
        (row.first.isoformat(), *(nothing if row.values is None else row.values))
        for row in chart.rows
    )
    return _csv((filters.by, *chart.series), rows, name, filters)


def ranking_csv(companies: Sequence[Standing], filters: Filters) -> Response:
    """A row for each company; `before` and `change` are empty where nobody looked before."""
    rows = (
        (
            each.company,
            each.hits.articles,
            each.before.articles if each.before else "",
            "" if each.change is None else f"{each.change:.4f}",
            each.hits.in_title,
            each.hits.in_body,
        )
        for each in companies
    )
    head = ("company", "articles", "before", "change", "headline", "body")
    return _csv(head, rows, "companies", filters)


def _csv(
    head: Sequence[str], rows: Iterable[Sequence[object]], name: str, filters: Filters
) -> Response:
    file = StringIO()
    writer = csv.writer(file)
    writer.writerow([_cell(value) for value in head])
    writer.writerows([_cell(value) for value in row] for row in rows)
    plain = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-") or "company"
    called = f"newscrawl-{plain}-{filters.since}-{filters.until}.csv"
    return Response(
        # Spreadsheets take a file without the mark for one of an older charset.
        file.getvalue().encode("utf-8-sig"),
        media_type="text/csv; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{called}"'},
    )


def _cell(value: object) -> object:
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value
