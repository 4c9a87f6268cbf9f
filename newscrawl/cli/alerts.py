"""newscrawl alerts, recipients and digest: news of watched companies, as alerts or as a letter."""

import sys
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from newscrawl import config, storage
from newscrawl.answers.names import company_of, match_one
from newscrawl.cli.arguments import Format, InputError, companies_from, parse_day
from newscrawl.cli.output import Column, exit_if, exit_without, for_files, render, write_note
from newscrawl.items import CompanyStructure
from newscrawl.text import count_of

if TYPE_CHECKING:
    from newscrawl.monitoring.digests import Digest
    from newscrawl.reports import ReportFormat
    from newscrawl.storage import Database
    from newscrawl.storage.company_alerts import Recipient


app = typer.Typer(
    help="Get alerts for spikes of a company, and for first mentions of it or of a pair.",
    no_args_is_help=True,
)

DIGEST_EXAMPLE = "Example: newscrawl digest --weekly --send"


@app.command(epilog="Example: newscrawl alerts watch Siemens --with Alstom")
def watch(
    store: "Database", company: str, other: str | None = None, companies: Path | None = None
) -> None:
    """Watch a company or group for its first article and its spikes, or a pair for its first
    article.

    There is one alert for a pair, for the first article that mentions both.

    company: The company, by name or alias, a group of your file, or a query.
    other --with COMPANY: A second company: alert when both are mentioned together.
    """
    name, beside = _names(store, company, other, companies)
    fresh = storage.company_alerts.watch_company(store, name, beside, config.user_name())
    names = f"{name} and {beside}" if beside else name
    write_note(f"{names}: {'watched from now on' if fresh else 'already watched'}.")


@app.command(epilog="Example: newscrawl alerts unwatch Siemens --with Alstom")
def unwatch(
    store: "Database", company: str, other: str | None = None, companies: Path | None = None
) -> None:
    """Stop watching a company or a pair; while a recipient gets alerts about a company, it stays
    watched.

    Exit code 1 if it was not watched.

    company: The company, by name or alias, a group of your file, or a query.
    other --with COMPANY: A second company: alert when both are mentioned together.
    """
    name, beside = _names(store, company, other, companies)
    removed = storage.company_alerts.unwatch_company(store, name, beside)
    watched = storage.company_alerts.watched_companies(store)
    names = f"{name} and {beside}" if beside else name
    if (name, beside) in {(pair.company, pair.other) for pair in watched}:
        write_note(f"{names}: still watched for the recipients of alerts about it.")
        return
    write_note(f"{names}: {'no longer watched' if removed else 'was not watched'}.")
    exit_if(not removed)


@app.command(epilog="Example: newscrawl alerts watched --format csv")
def watched(store: "Database", output_format: Format = "table") -> None:
    """List the companies and pairs that are watched.

    Exit code 1 if there are none.
    """
    companies = storage.company_alerts.watched_companies(store)
    columns = (
        Column("company", wide=True),
        Column("with", wide=True, of=lambda watch: watch.other),
        Column("since", of=lambda watch: watch.added_at.date()),
        Column("by", of=lambda watch: "recipients" if watch.for_recipient else watch.added_by),
    )
    render(companies, columns, output_format)
    exit_without(companies, "Nothing is watched: newscrawl alerts watch COMPANY")


@app.command(epilog="Example: newscrawl alerts run --all")
def run(
    store: "Database",
    everyone: bool = False,
    day: str | None = None,
    retry: bool = False,
    companies: Path | None = None,
) -> None:
    """Find new alerts, and deliver them by log, e-mail and webhook (NEWSCRAWL_SMTP_URL,
    NEWSCRAWL_WEBHOOKS); each alert is sent once.

    It says which alert went to whom. Run it every few minutes. Exit code 1 if a channel failed;
    runs after 5 minutes, 15 minutes, and then each hour try it again. With --retry a run does so at
    once, as after the mail server was mended.

    everyone --all: Look for spikes of every company, watched or not.
    --day DAY: Evaluate as of this day, as in 2026-11-20.
    --retry: Try alerts that failed again at once.
    """
    from newscrawl.monitoring.alerts import find_alerts, pending_alerts
    from newscrawl.monitoring.delivery import (
        configured_channels,
        deliver_pending,
        recipient_channels,
    )

    today = parse_day(day, option="--day") if day else datetime.now(UTC).date()
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
    exit_if(report.failed)


@app.command("list", epilog="Example: newscrawl alerts list --limit 20")
def list_alerts(store: "Database", limit: int = 50, output_format: Format = "table") -> None:
    """List the alerts, the newest first, and whether they were delivered.

    Exit code 1 if there were none.
    """
    alerts = storage.company_alerts.list_alerts(
        store, kinds=storage.company_alerts.ALERTS_SHOWN, limit=limit
    )
    columns = (
        Column("day", of=lambda row: row.alert.day),
        Column("kind", of=lambda row: row.alert.kind),
        Column("company", of=lambda row: row.alert.company, wide=True),
        Column("with", of=lambda row: row.alert.other, wide=True),
        Column("articles", of=lambda row: row.alert.facts.get("articles"), number=True),
        Column("expected", of=lambda row: row.alert.facts.get("expected"), number=True),
        Column("chance", of=lambda row: row.alert.facts.get("chance"), table=False),
        *for_files("raised_at", "delivered_at"),
        Column("delivered_by", of=lambda row: ", ".join(row.delivered_by), table=False),
        Column(
            "delivered",
            "sent",
            of=lambda row: row.delivered_at is not None,
            show=lambda done: "yes" if done else "no",
        ),
    )
    render(alerts, columns, output_format)
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


def digest(
    store: "Database",
    weekly: bool = False,
    day: str | None = None,
    output_format: DigestFormat = "markdown",
    send: bool = False,
    again: bool = False,
    report: Literal["html", "xlsx"] | None = None,
    companies: Path | None = None,
) -> None:
    """Summarise which companies were in the news, with alerts, articles and stories.

    It covers the companies of `newscrawl alerts watched`, or else those mentioned most, compared
    with the period before. With --send it is sent as Markdown and HTML, and once: a second --send
    for the same days only repeats what failed.

    Exit code 1 if no source was crawled on these days, or it could not be sent.

    --weekly/--daily: The last full week, or the last full day.
    --day DAY: The last day of the digest, as in 2026-11-20.
    output_format --format, -f: Markdown, or an HTML page.
    --send: Send it (NEWSCRAWL_SMTP_URL, NEWSCRAWL_WEBHOOKS) instead of showing it.
    --again: Send it again if it was sent before.
    --report: With --send: e-mails carry a report on the digest's first six companies.
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
    structure = _structure(companies)
    letter = make_digest(store, span, last, structure)
    days = f"on {letter.last}" if span == "daily" else f"from {letter.first} to {letter.last}"
    note = f"No source was crawled {days}: choose another last day by --day."
    exit_if(letter.reading.completeness.level == "none", note)
    if send:
        _send(store, letter, structure, report, again=again)
        return
    sys.stdout.write(html_digest(letter) if output_format == "html" else markdown_digest(letter))


def _send(
    store: "Database",
    digest: "Digest",
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
        storage.company_alerts.delete_alert(store, digest.cause)
    sent = send_digest(store, digest, channels, structure, report)
    if sent is None:
        title = digest_title(digest)
        write_note(f"{title}: sent before, or just now by another process (--again repeats it).")
        return
    for failure in sent.failed:
        write_note(f"{failure.channel} failed: {failure.reason}")
    exit_if(sent.failed)
    write_note(f"{digest_title(digest)}: sent.")


recipients = typer.Typer(
    help="Address alerts and digests to people and programs, by company or group.",
    no_args_is_help=True,
)
app.add_typer(recipients, name="recipients")
_NameArgument = Annotated[str, typer.Argument(help="A name for the recipient, as in 'desk'.")]


@recipients.command(
    epilog="Example: newscrawl alerts recipients add desk desk@example.org -c Siemens -c Bosch"
)
def add(
    store: "Database",
    name: _NameArgument,
    address: str,
    kind: Literal["e-mail", "webhook", "slack", "teams"] | None = None,
    company: list[str] | None = None,
    only: Literal["alerts", "digests"] | None = None,
    companies: Path | None = None,
) -> None:
    """Add a recipient to those of NEWSCRAWL_MAIL_TO and NEWSCRAWL_WEBHOOKS, who get everything.

    If it gets alerts, its companies and groups are watched from now on, and recipients about all
    get alerts about them, too. A recipient of a group also gets notices about its companies. E-mail
    is sent through NEWSCRAWL_SMTP_URL. URLs of webhooks must begin with https and lead to public
    addresses, unless NEWSCRAWL_WEBHOOK_PRIVATE=yes.

    address: An e-mail address, or the https URL of a webhook.
    --kind: The format; else that of the address. A webhook gets JSON, slack an incoming webhook's
        blocks, teams the Adaptive Card of a workflow.
    --company, -c NAME: Only notices about this company, group or saved query; may be repeated; else
        about all.
    --only: Only alerts, or only digests.
    """
    from newscrawl.monitoring.delivery import save_recipient
    from newscrawl.storage.company_alerts import NOTICE_KINDS, Recipient, kind_of

    recipient = Recipient(
        name=name,
        kind=kind or kind_of(address.strip()),
        address=address,
        companies=tuple(company or ()),
        gets=(only,) if only else NOTICE_KINDS,
        added_by=config.user_name(),
    )
    _write_saved(store, *save_recipient(store, companies_from(companies), recipient))


@recipients.command(
    epilog="Example: newscrawl alerts recipients edit desk --address news@example.org "
    "--gets digests -c Bosch"
)
def edit(
    store: "Database",
    name: _NameArgument,
    address: str | None = None,
    kind: Literal["e-mail", "webhook", "slack", "teams"] | None = None,
    company: list[str] | None = None,
    everything: bool = False,
    gets: Literal["alerts", "digests", "both"] | None = None,
    companies: Path | None = None,
) -> None:
    """Change the address of a recipient, what it gets, or about which companies; the rest stays.

    The companies given replace its former ones, which stay watched if it got alerts about them.

    --address ADDRESS: Another e-mail address or URL of a webhook.
    --kind: The format; else that of the address. A webhook gets JSON, slack an incoming webhook's
        blocks, teams the Adaptive Card of a workflow.
    --company, -c NAME: Only notices about this company, group or saved query; may be repeated; else
        about all.
    everything --all: About all that is watched, not certain companies.
    --gets: What it gets from now on.
    """
    from newscrawl.monitoring.delivery import save_recipient
    from newscrawl.storage.company_alerts import NOTICE_KINDS, kind_of, list_recipients

    if everything and company:
        raise InputError("--all and --company exclude each other: give one of them")
    if not (address or kind or company or everything or gets):
        raise InputError("nothing to change: give an option, as in --gets digests")
    recipients = {recipient.name: recipient for recipient in list_recipients(store)}
    chosen = match_one(name, list(recipients), "recipient", "newscrawl alerts recipients list")
    former = recipients[chosen]
    changed = replace(
        former,
        address=address or former.address,
        kind=kind or (kind_of(address.strip()) if address else former.kind),
        companies=() if everything else tuple(company or former.companies),
        gets=former.gets if gets is None else NOTICE_KINDS if gets == "both" else (gets,),
        added_by=config.user_name(),
    )
    _write_saved(store, *save_recipient(store, companies_from(companies), changed, former))


def _write_saved(store: "Database", saved: "Recipient", fresh: "list[str]") -> None:
    from newscrawl.monitoring.delivery import configured_recipients
    from newscrawl.storage.company_alerts import describe_repeats, list_recipients

    gets = " and ".join(saved.gets)
    about = ", ".join(saved.companies) or "all watched companies"
    write_note(f"{saved.name}: gets {gets} about {about}.")
    if fresh:
        write_note(f"Watched from now on: {', '.join(fresh)}.")
    recipients = list_recipients(store)
    with suppress(config.SettingError):  # newscrawl alerts recipients list says which is invalid
        recipients += configured_recipients()
    for sentence in describe_repeats(saved, recipients):
        write_note(sentence)


@recipients.command("list", epilog="Example: newscrawl alerts recipients list --format json")
def list_all(store: "Database", output_format: Format = "table") -> None:
    """List the recipients, with what they get; first those of the settings. Of the URLs of webhooks
    only the host is shown.

    Exit code 1 if there are none.
    """
    from newscrawl.monitoring.delivery import configured_recipients
    from newscrawl.storage.company_alerts import list_recipients

    of_settings: list[Recipient] = []
    stored = list_recipients(store)
    try:
        of_settings = configured_recipients()
    except config.SettingError as error:
        write_note(f"{error}; the recipients of the settings are not listed.")
    incidents = {"settings": ", incidents"}
    columns = (
        Column("name", wide=True),
        Column("kind"),
        Column("address", of=lambda row: row.shown_address, wide=True),
        Column("companies", "about", of=lambda row: ", ".join(row.companies) or "all", wide=True),
        Column("gets", of=lambda row: ", ".join(row.gets) + incidents.get(row.added_by, "")),
        Column("added_at", table=False),
        Column("added_by", "by", wide=True),
    )
    rows = [*(replace(setting, added_by="settings") for setting in of_settings), *stored]
    render(rows, columns, output_format)
    exit_without(rows, "No recipients: newscrawl alerts recipients add NAME ADDRESS")


@recipients.command(epilog="Example: newscrawl alerts recipients remove desk")
def remove(store: "Database", name: _NameArgument) -> None:
    """Remove a recipient. Its companies stay watched.

    Exit code 1 if there is none of this name.
    """
    from newscrawl.storage.company_alerts import remove_recipient

    removed = remove_recipient(store, name)
    write_note(f"{name}: {'removed' if removed else 'not a recipient'}.")
    exit_if(not removed)


@recipients.command("test", epilog="Example: newscrawl alerts recipients test desk")
def send_test_message(store: "Database", name: _NameArgument) -> None:
    """Send a test message to a recipient, and record it like all others.

    Exit code 1 if it could not be delivered.
    """
    from newscrawl.monitoring.alerts import send_test
    from newscrawl.storage.company_alerts import list_recipients

    recipients = {recipient.name: recipient for recipient in list_recipients(store)}
    chosen = match_one(name, list(recipients), "recipient", "newscrawl alerts recipients list")
    fault = send_test(store, recipients[chosen])
    write_note(f"{chosen}: {fault or 'delivered'}.")
    exit_if(fault)


@recipients.command(epilog="Example: newscrawl alerts recipients sent --limit 20")
def sent(store: "Database", limit: int = 50, output_format: Format = "table") -> None:
    """List what was sent to whom, the newest first, and why it failed; also to the recipients of
    the settings.

    Exit code 1 if nothing was sent.
    """
    from newscrawl.storage.company_alerts import sent_notices

    notices = sent_notices(store, limit)
    columns = (
        Column("sent_at", "at", of=lambda sent: sent.sent_at and f"{sent.sent_at:%Y-%m-%d %H:%M}"),
        Column("recipient", wide=True),
        Column("subject", wide=True),
        Column("result", of=lambda sent: sent.fault or "delivered", wide=True),
        Column("cause", table=False),
    )
    render(notices, columns, output_format)
    exit_without(notices, "Nothing was sent yet.")
