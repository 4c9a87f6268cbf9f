"""newscrawl report: companies over a period, as a page to print or a workbook."""

import sys
from dataclasses import replace
from datetime import date
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from newscrawl.answers.names import match_one
from newscrawl.cli.arguments import (
    InputError,
    QueryContext,
    company_names_of,
    parse_day,
    takes_companies,
)
from newscrawl.cli.output import exit_if, write_file, write_note

if TYPE_CHECKING:
    from newscrawl.storage.queries import Scope

EXAMPLE = "Example: newscrawl report -c Siemens -c Bosch --period last-month -o report.html"
ReportFormat = Literal["html", "xlsx"]


@partial(takes_companies, always_read=True)
def report(
    query: QueryContext,
    company: list[str] | None = None,
    each_of: str | None = None,
    period: str | None = None,
    output: Path | None = None,
    output_format: ReportFormat | None = None,
) -> None:
    """Report on one to six companies: key figures with their change and its significance, curves,
    share of voice, top stories with excerpts, sources, coverage and method.

    The period is compared with the same number of days before. HTML is one file that loads nothing
    and prints well; XLSX has tables and charts.

    Exit code 1 if nothing was crawled in the period.

    --company, -c NAME: A company, by name or alias, a group or a saved query; may be repeated.
    --each-of NAME: A group of your companies file, and each of its companies.
    --period PERIOD: this-week, this-month, last-week, last-month, last-quarter, last-year, or 30d
        for the last thirty days; else last-month.
    --output, -o FILE: File to write; else standard output.
    output_format --format, -f: A page to print, or a workbook; else as FILE ends.
    """
    from newscrawl.reports import article_table, make_report, report_file

    ending = output.suffix.lower() if output else ".html"
    if output_format is None and ending not in {".html", ".htm", ".xlsx"}:
        raise InputError(f"-o {output}: end it in .html or .xlsx, or give --format")
    kind: ReportFormat = output_format or ("xlsx" if ending == ".xlsx" else "html")
    if kind == "xlsx" and output is None and sys.stdout.isatty():
        raise InputError("a workbook is not for the terminal: give -o report.xlsx")
    first, last = _period(period, query.scope)
    names = company_names_of(company or [], query)
    if each_of is not None:
        groups = query.scope.structure.groups
        name = match_one(each_of, list(groups), "group", "newscrawl companies list")
        names += [name, *groups[name]]
    if not names:
        raise InputError("a report on which companies? give -c NAME, or --each-of GROUP")
    document = make_report(query.database, names, replace(query.scope, since=first, until=last))
    exit_if(
        document.reading.completeness.level == "none",
        f"No source was crawled from {document.scope.since} to {document.scope.until}: choose "
        "other days by --period or --since.",
    )
    articles = article_table(query.database, names, document.scope) if kind == "xlsx" else None
    write_file(report_file(document, kind, articles), output)
    if output:
        scope = document.scope
        write_note(f"{document.title}, {scope.since} to {scope.until}: {output}")


def _period(period: str | None, scope: "Scope") -> tuple[date, date]:
    """Return the first and the last day of the options; raise InputError."""
    from newscrawl.reports import period_of_name
    from newscrawl.storage.scope import today

    now = today(scope)
    if period and (scope.since or scope.until):
        raise InputError("--period sets both days: leave --since and --until out")
    if scope.until and not scope.since:
        raise InputError("--until needs a first day: add --since, or give --period")
    if scope.since:
        return scope.since, scope.until or now
    if period and period[:1].isdigit():
        return parse_day(period, option="--period", today=now), now
    return period_of_name(period or "last-month", now)
