"""newscrawl report: companies over a period, as a page to print or a workbook."""

import sys
from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from newscrawl import storage
from newscrawl.cli.arguments import (
    CompaniesOption,
    CountryOption,
    DatabaseOption,
    InputError,
    LanguageOption,
    SinceOption,
    SourceOption,
    SubsidiariesOption,
    TierOption,
    UntilOption,
    companies_from,
    company_of,
    complete_company,
    complete_group,
    match_one,
    open_for_reading,
    parse_day,
    scope_of,
)
from newscrawl.cli.output import write_file, write_note

if TYPE_CHECKING:
    from newscrawl.mentions import Companies
    from newscrawl.reports import Report
    from newscrawl.storage import Database

EXAMPLE = "Example: newscrawl report -c Siemens -c Bosch --period last-month -o report.html"
ReportFormat = Literal["html", "xlsx"]

CompaniesToReport = Annotated[
    list[str] | None,
    typer.Option(
        "--company",
        "-c",
        help="A company, by name or alias, a group or a saved query; may be repeated.",
        metavar="NAME",
        autocompletion=complete_company,
    ),
]
GroupOption = Annotated[
    str | None,
    typer.Option(help="A group of your companies file, and each of its companies.", metavar="NAME"),
]
SourceGroupOption = Annotated[
    str | None,
    typer.Option(
        "--source-group",
        help="Only sources of this group, as in 'business' or a list of your sources file.",
        metavar="NAME",
        autocompletion=complete_group,
    ),
]
PeriodOption = Annotated[
    str | None,
    typer.Option(
        help="this-week, this-month, last-week, last-month, last-quarter, last-year, or 30d for "
        "the last thirty days; else last-month.",
        metavar="PERIOD",
    ),
]
OutputOption = Annotated[
    Path | None,
    typer.Option("--output", "-o", help="File to write; else standard output.", metavar="FILE"),
]
ReportFormatOption = Annotated[
    ReportFormat | None,
    typer.Option("--format", "-f", help="A page to print, or a workbook; else as FILE ends."),
]


def report(
    company: CompaniesToReport = None,
    group: GroupOption = None,
    period: PeriodOption = None,
    since: SinceOption = None,
    until: UntilOption = None,
    source: SourceOption = None,
    source_group: SourceGroupOption = None,
    tier: TierOption = None,
    country: CountryOption = None,
    language: LanguageOption = None,
    subsidiaries: SubsidiariesOption = False,
    output: OutputOption = None,
    output_format: ReportFormatOption = None,
    companies: CompaniesOption = None,
    database: DatabaseOption = None,
) -> None:
    """Report on one to six companies: key figures with their change and its significance, curves,
    share of voice, top stories with excerpts, sources, coverage and method.

    The period is compared with the same number of days before. HTML is one file that loads nothing
    and prints well; XLSX has tables and charts.

    Exit code 1 if nothing was crawled in the period.
    """
    from newscrawl.reports import make_report, report_file

    kind = _format(output, output_format)
    first, last = _period(period, since, until)
    registry = companies_from(companies)
    with open_for_reading(database) as store:
        scope = scope_of(
            store, source=source, country=country, language=language, group=source_group, tier=tier
        )
        scope = replace(
            scope, since=first, until=last, subsidiaries=subsidiaries, structure=registry.structure
        )
        made = make_report(store, _names(store, registry, company or [], group), scope)
    _refuse_unread(made)
    write_file(report_file(made, kind), output)
    if output:
        write_note(f"{_about(made)}: {output}")


def _refuse_unread(made: "Report") -> None:
    """Exit with code 1 if nothing was crawled in the report's period."""
    if made.completeness.level == "none":
        write_note(
            f"No source was crawled from {made.scope.since} to {made.scope.until}: choose other "
            "days by --period or --since."
        )
        raise typer.Exit(1)


def _about(made: "Report") -> str:
    return f"{made.title}, {made.scope.since} to {made.scope.until}"


def _format(output: Path | None, given: ReportFormat | None) -> ReportFormat:
    """Return the format that was given, or the one in which the name of the file ends."""
    ending = output.suffix.lower() if output else ".html"
    if given is None and ending not in {".html", ".htm", ".xlsx"}:
        raise InputError(f"-o {output}: end it in .html or .xlsx, or give --format")
    kind: ReportFormat = given or ("xlsx" if ending == ".xlsx" else "html")
    if kind == "xlsx" and output is None and sys.stdout.isatty():
        raise InputError("a workbook is not for the terminal: give -o report.xlsx")
    return kind


def _period(period: str | None, since: str | None, until: str | None) -> tuple[date, date]:
    from newscrawl.reports import period_of_name

    today = datetime.now(UTC).date()
    if period and (since or until):
        raise InputError("--period sets both days: leave --since and --until out")
    if until and not since:
        raise InputError("--until needs a first day: add --since, or give --period")
    if since:
        last = parse_day(until, option="--until", today=today) if until else today
        return parse_day(since, option="--since", today=today), last
    if period and period[:1].isdigit():
        return parse_day(period, option="--period", today=today), today
    return period_of_name(period or "last-month", today)


def _names(
    store: "Database", registry: "Companies", given: list[str], group: str | None
) -> list[str]:
    groups, stored = registry.structure.groups, storage.queries.company_names(store)
    names = [company_of(name, registry, stored, groups) for name in given]
    if group is not None:
        name = match_one(group, list(groups), "group", "newscrawl companies list")
        names += [name, *groups[name]]
    if not names:
        raise InputError("a report on which companies? give -c NAME, or --group NAME")
    return names
