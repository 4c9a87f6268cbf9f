"""What the menu Export saves: tables as CSV, Excel or JSON, charts as SVG."""

import csv
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from io import StringIO

from starlette.requests import Request
from starlette.responses import Response

from newscrawl.answers.chart import Chart
from newscrawl.dashboard.filters import Filters
from newscrawl.reports import MEDIA_TYPES, Table, article_table, chart_svg, table_workbook
from newscrawl.storage import Database, queries
from newscrawl.storage.queries import OverviewRow, Proof
from newscrawl.templating import spreadsheet_text

FORMATS = {
    "csv": "text/csv; charset=utf-8",
    "json": "application/json",
    "xlsx": MEDIA_TYPES["xlsx"],
    "svg": "image/svg+xml",
}


def export_format(request: Request) -> str:
    """Return the format in which the numbers are asked for; nothing if the page is."""
    file_format = request.query_params.get("format", "")
    return file_format if file_format in FORMATS else ""


def chart_file(
    kind: str, database: Database, chart: Chart, names: Sequence[str], filters: Filters
) -> Response:
    """Return the chart of companies, or a row for each period, empty without coverage, whose last
    columns, named as in the API, say how complete it is; a workbook has their articles, too."""
    name = names[0] if len(names) == 1 else "compare"
    if kind == "svg":
        title = f"{', '.join(names)}: {filters.count} by {filters.by}"
        return _file(kind, chart_svg(chart, title).encode(), name, filters)
    rows = [
        (
            row.first,
            *row.numbers,
            row.completeness.covered,
            row.completeness.expected,
            row.days_left_out,
        )
        for row in chart.rows
    ]
    head = (filters.by, *chart.series, "covered", "expected", "days_left_out")
    tables = {"Table": Table(head, rows)}
    if kind == "xlsx":
        tables["Articles"] = article_table(database, names, filters.scope)
    return table_file(kind, tables, name, filters)


def ranking_file(kind: str, companies: Sequence[OverviewRow], filters: Filters) -> Response:
    """Return a row for each company, without `before`, `change` and `chance` if nothing was read
    before."""
    rows = [
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
    ]
    head = ("company", "articles", "before", "change", "chance", "headline", "body")
    return table_file(kind, {"Table": Table(head, rows)}, "companies", filters)


def proof_file(kind: str, database: Database, proof: Proof, filters: Filters) -> Response:
    """Return the articles of a proof, with the sentences that count."""
    listed = [
        (each.article, [sentence.snippet for sentence in each.sentences]) for each in proof.articles
    ]
    return articles_file(kind, database, listed, f"{proof.company or ''} {proof.counted}", filters)


def articles_file(
    kind: str,
    database: Database,
    listed: Iterable[tuple[queries.ArticleRow, Sequence[queries.Snippet]]],
    name: str,
    filters: Filters,
) -> Response:
    """Return articles, each with its sentences."""
    table = Table.of_articles(listed, queries.source_names(database))
    return table_file(kind, {"Articles": table}, name, filters)


def table_file(kind: str, tables: Mapping[str, Table], name: str, filters: Filters) -> Response:
    """Return tables as the sheets of a workbook, or the first one as another file."""
    table = next(iter(tables.values()))
    match kind:
        case "xlsx":
            content = table_workbook(tables)
        case "json":
            answers = [dict(zip(table.head, row, strict=True)) for row in table.rows]
            content = json.dumps(answers, ensure_ascii=False, indent=1, default=str).encode()
        case _:
            file = StringIO()
            writer = csv.writer(file)
            writer.writerows(
                [spreadsheet_text(value) if isinstance(value, str) else value for value in row]
                for row in (table.head, *table.rows)
            )
            # Without the byte order mark spreadsheets assume an older charset.
            content = file.getvalue().encode("utf-8-sig")
    return _file(kind, content, name, filters)


def _file(kind: str, content: bytes, name: str, filters: Filters) -> Response:
    plain = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-") or "company"
    plain += "-with-subsidiaries" if filters.scope.subsidiaries else ""
    called = f"newscrawl-{plain}-{filters.since}-{filters.until}.{kind}"
    return Response(
        content,
        media_type=FORMATS.get(kind, FORMATS["csv"]),
        headers={"Content-Disposition": f'attachment; filename="{called}"'},
    )
