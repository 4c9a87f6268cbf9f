"""newscrawl alerts and digest: news of watched companies, as alerts or as a letter."""

import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from newscrawl import config, storage
from newscrawl.cli import recipients
from newscrawl.cli.arguments import (
    CompaniesOption,
    DatabaseOption,
    FormatOption,
    InputError,
    companies_from,
    company_of,
    complete_company,
    open_for_reading,
    parse_day,
)
from newscrawl.cli.output import Column, exit_without, render, write_note
from newscrawl.items import CompanyStructure
from newscrawl.text import count_of

if TYPE_CHECKING:
    from pathlib import Path

    from newscrawl.monitoring.digests import Digest
    from newscrawl.reports import ReportFormat
    from newscrawl.storage import Database

app = typer.Typer(
    help="Get alerts for spikes of a company, and for first mentions of it or of a pair.",
    no_args_is_help=True,
)

app.add_typer(recipients.app, name="recipients")

DIGEST_EXAMPLE = "Example: newscrawl digest --weekly --send"

NameArgument = Annotated[
    str,
    typer.Argument(
        help="The company, by name or alias, a group of your file, or a query.",
        autocompletion=complete_company,
    ),
]
PairOption = Annotated[
    str | None,
    typer.Option(
        "--with",
        help="A second company: alert when both are mentioned together.",
        metavar="COMPANY",
        autocompletion=complete_company,
    ),
]


@app.command(epilog="Example: newscrawl alerts watch Siemens --with Alstom")
def watch(
    company: NameArgument,
    other: PairOption = None,
    companies: CompaniesOption = None,
    database: DatabaseOption = None,
) -> None:
    """Watch a company or group for its first article and its spikes, or a pair for its first
    article.

    There is one alert for a pair, for the first article that mentions both.
    """
    with open_for_reading(database) as store:
        name, beside = _names(store, company, other, companies)
        fresh = storage.company_alerts.watch_company(store, name, beside, config.user_name())
    names = f"{name} and {beside}" if beside else name
    write_note(f"{names}: {'watched from now on' if fresh else 'already watched'}.")


@app.command(epilog="Example: newscrawl alerts unwatch Siemens --with Alstom")
def unwatch(
    company: NameArgument,
    other: PairOption = None,
    companies: CompaniesOption = None,
    database: DatabaseOption = None,
) -> None:
    """Stop watching a company or a pair; while a recipient gets alerts about a company, it stays
    watched.

    Exit code 1 if it was not watched.
    """
    with open_for_reading(database) as store:
        name, beside = _names(store, company, other, companies)
        removed = storage.company_alerts.unwatch_company(store, name, beside)
        watched = storage.company_alerts.watched_companies(store)
    names = f"{name} and {beside}" if beside else name
    if (name, beside) in {(pair.company, pair.other) for pair in watched}:
        write_note(f"{names}: still watched for the recipients of alerts about it.")
        return
    write_note(f"{names}: {'no longer watched' if removed else 'was not watched'}.")
    if not removed:
        raise typer.Exit(1)


@app.command(epilog="Example: newscrawl alerts watched --format csv")
def watched(output_format: FormatOption = "table", database: DatabaseOption = None) -> None:
    """List the companies and pairs that are watched.

    Exit code 1 if there are none.
    """
    with open_for_reading(database) as store:
        companies = storage.company_alerts.watched_companies(store)
    columns = (
        Column(key="company", heading="company", wide=True),
        Column(key="with", heading="with", wide=True),
        Column(key="since", heading="since"),
        Column(key="by", heading="by"),
    )
    rows = [
        {
            "company": company.company,
            "with": company.other,
            "since": company.added_at.date(),
            "by": "recipients" if company.for_recipient else company.added_by,
        }
        for company in companies
    ]
    render(rows, columns, output_format)
    exit_without(companies, "Nothing is watched: newscrawl alerts watch COMPANY")


@app.command(epilog="Example: newscrawl alerts run --all")
def run(
    everyone: Annotated[
        bool, typer.Option("--all", help="Look for spikes of every company, watched or not.")
    ] = False,
    day: Annotated[
        str | None, typer.Option(help="Evaluate as of this day, as in 2026-11-20.", metavar="DAY")
    ] = None,
    retry: Annotated[
        bool, typer.Option("--retry", help="Try alerts that failed again at once.")
    ] = False,
    companies: CompaniesOption = None,
    database: DatabaseOption = None,
) -> None:
    """Find new alerts, and deliver them by log, e-mail and webhook (NEWSCRAWL_SMTP_URL,
    NEWSCRAWL_WEBHOOKS); each alert is sent once.

    It says which alert went to whom. Run it every few minutes. Exit code 1 if a channel failed;
    runs after 5 minutes, 15 minutes, and then each hour try it again. With --retry a run does so at
    once, as after the mail server was mended.
    """
    from newscrawl.monitoring.alerts import find_alerts, pending_alerts
    from newscrawl.monitoring.delivery import (
        configured_channels,
        deliver_pending,
        recipient_channels,
    )

    today = parse_day(day, option="--day") if day else datetime.now(UTC).date()
    with open_for_reading(database) as store:
        if not everyone and not storage.company_alerts.watched_companies(store):
            raise InputError("nothing is watched: newscrawl alerts watch COMPANY, or --all")
        structure = _structure(companies)
        recipients = recipient_channels(store, structure.groups)
        channels = (*configured_channels(recipients=bool(recipients)), *recipients)
        fresh = find_alerts(store, today=today, everyone=everyone, structure=structure)
        report = deliver_pending(pending_alerts(store, structure, retry=retry), channels)
        paused = storage.company_alerts.count_paused(store)
    for subject, delivery in report.deliveries:
        if delivery.delivered_by:
            write_note(f"{subject}: sent to {', '.join(delivery.delivered_by)}.")
        for failure in delivery.failed:
            write_note(f"{subject}: {failure.channel} failed: {failure.reason}")
    write_note(f"{len(fresh)} new, {report.delivered} delivered.")
    if paused:
        write_note(
            f"{count_of(paused, 'alert')} to be tried again after a pause; at once by "
            "newscrawl alerts run --retry."
        )
    if report.failed:
        raise typer.Exit(1)


@app.command("list", epilog="Example: newscrawl alerts list --limit 20")
def list_alerts(
    limit: Annotated[int, typer.Option(min=1, help="Maximum number of rows.")] = 50,
    output_format: FormatOption = "table",
    database: DatabaseOption = None,
) -> None:
    """List the alerts, the newest first, and whether they were delivered.

    Exit code 1 if there were none.
    """
    with open_for_reading(database) as store:
        alerts = storage.company_alerts.list_alerts(
            store, kinds=storage.company_alerts.ALERTS_SHOWN, limit=limit
        )
    columns = (
        Column(key="day", heading="day"),
        Column(key="kind", heading="kind"),
        Column(key="company", heading="company", wide=True),
        Column(key="with", heading="with", wide=True),
        Column(key="articles", heading="articles", number=True),
        Column(key="expected", heading="expected", number=True),
        Column(key="chance", heading="chance", table=False),
        Column(key="raised_at", heading="raised", table=False),
        Column(key="delivered_at", heading="delivered at", table=False),
        Column(key="delivered_by", heading="delivered by", table=False),
        Column(key="delivered", heading="sent", show=lambda done: "yes" if done else "no"),
    )
    rows = [
        {
            "day": row.alert.day,
            "kind": row.alert.kind,
            "company": row.alert.company,
            "with": row.alert.other,
            "articles": row.alert.facts.get("articles"),
            "expected": row.alert.facts.get("expected"),
            "chance": row.alert.facts.get("chance"),
            "raised_at": row.raised_at,
            "delivered_at": row.delivered_at,
            "delivered_by": ", ".join(row.delivered_by),
            "delivered": row.delivered_at is not None,
        }
        for row in alerts
    ]
    render(rows, columns, output_format)
    exit_without(alerts, "No alerts.")


def _names(
    store: "Database", company: str, beside_name: str | None, companies: "Path | None"
) -> tuple[str, str]:
    registry, stored = companies_from(companies), storage.queries.company_names(store)
    groups = registry.structure.groups
    name = company_of(company, registry, stored, groups)
    beside = company_of(beside_name, registry, stored, groups) if beside_name else ""
    if name == beside:
        raise InputError(f"{company} and {beside_name} are one company: name two different ones")
    return name, beside


def _structure(companies: "Path | None") -> CompanyStructure:
    """Return the groups of the companies file in use; without one there are none."""
    if companies is None and not config.NEWSCRAWL_COMPANIES:
        return CompanyStructure()
    return companies_from(companies).structure


DigestFormat = Literal["markdown", "html"]


WeeklyOption = Annotated[
    bool, typer.Option("--weekly/--daily", help="The last full week, or the last full day.")
]
DayOption = Annotated[
    str | None,
    typer.Option(help="The last day of the digest, as in 2026-11-20.", metavar="DAY"),
]
DigestFormatOption = Annotated[
    DigestFormat, typer.Option("--format", "-f", help="Markdown, or an HTML page.")
]
SendOption = Annotated[
    bool,
    typer.Option(
        "--send", help="Send it (NEWSCRAWL_SMTP_URL, NEWSCRAWL_WEBHOOKS) instead of showing it."
    ),
]
ReportOption = Annotated[
    Literal["html", "xlsx"] | None,
    typer.Option(
        "--report", help="With --send: e-mails carry a report on the digest's first six companies."
    ),
]
AgainOption = Annotated[bool, typer.Option("--again", help="Send it again if it was sent before.")]


def digest(
    weekly: WeeklyOption = False,
    day: DayOption = None,
    output_format: DigestFormatOption = "markdown",
    send: SendOption = False,
    again: AgainOption = False,
    report: ReportOption = None,
    companies: CompaniesOption = None,
    database: DatabaseOption = None,
) -> None:
    """Summarise which companies were in the news, with alerts, articles and stories.

    It covers the companies of `newscrawl alerts watched`, or else those mentioned most, compared
    with the period before. With --send it is sent as Markdown and HTML, and once: a second --send
    for the same days only repeats what failed.

    Exit code 1 if no source was crawled on these days, or it could not be sent.
    """
    from newscrawl.monitoring.digests import (
        html_digest,
        last_full_day,
        make_digest,
        markdown_digest,
    )

    if (again or report) and not send:
        raise InputError(f"{'--again' if again else '--report'} needs --send: add it")
    today = datetime.now(UTC).date()
    span: Literal["daily", "weekly"] = "weekly" if weekly else "daily"
    last = parse_day(day, option="--day", today=today) if day else last_full_day(span, today)
    with open_for_reading(database) as store:
        structure = _structure(companies)
        letter = make_digest(store, span, last, structure)
        if letter.completeness.level == "none":
            days = (
                f"on {letter.last}" if span == "daily" else f"from {letter.first} to {letter.last}"
            )
            write_note(f"No source was crawled {days}: choose another last day by --day.")
            raise typer.Exit(1)
        if send:
            _send(store, letter, structure, report, again=again)
            return
    sys.stdout.write(html_digest(letter) if output_format == "html" else markdown_digest(letter))


def _send(
    store: "Database",
    made: "Digest",
    structure: CompanyStructure,
    report: "ReportFormat | None",
    *,
    again: bool,
) -> None:
    from newscrawl.monitoring.digests import digest_channels, digest_title, send_digest

    channels = digest_channels(store, structure)
    if not channels:
        raise InputError(
            "nowhere to send it: newscrawl alerts recipients add, or set NEWSCRAWL_SMTP_URL or "
            "NEWSCRAWL_WEBHOOKS"
        )
    if again:
        storage.company_alerts.delete_alert(store, made.cause)
    sent = send_digest(store, made, channels, structure, report)
    if sent is None:
        title = digest_title(made)
        write_note(f"{title}: sent before, or just now by another process (--again repeats it).")
        return
    for failure in sent.failed:
        write_note(f"{failure.channel} failed: {failure.reason}")
    if sent.failed:
        raise typer.Exit(1)
    write_note(f"{digest_title(made)}: sent.")
