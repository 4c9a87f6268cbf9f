"""Reports on companies over a period: one HTML page to print, or a workbook.

`make_report` asks the questions, `html_report` and `workbook` write the answers.
`storage.queries.comparisons` decides whether a change is more than chance.
"""

from typing import Literal

from newscrawl.reports.document import chart_svg, html_report, report_policy
from newscrawl.reports.figures import MAX_COMPANIES, Report, make_report, period_of_name
from newscrawl.reports.workbook import (
    MAX_ARTICLES,
    Table,
    article_table,
    table_workbook,
    workbook,
)

__all__ = [
    "MAX_ARTICLES",
    "MAX_COMPANIES",
    "MEDIA_TYPES",
    "Report",
    "ReportFormat",
    "Table",
    "article_table",
    "chart_svg",
    "html_report",
    "make_report",
    "period_of_name",
    "report_file",
    "report_policy",
    "table_workbook",
    "workbook",
]

ReportFormat = Literal["html", "xlsx"]
MEDIA_TYPES: dict[ReportFormat, str] = {
    "html": "text/html",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
}


def report_file(report: Report, kind: ReportFormat, articles: Table | None = None) -> bytes:
    """Return the report as a file, a workbook with the articles that are given; raise SettingError
    if the library for it is missing."""
    return workbook(report, articles) if kind == "xlsx" else html_report(report).encode()
