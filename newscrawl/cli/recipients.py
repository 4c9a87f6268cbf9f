"""newscrawl alerts recipients: who gets alerts and digests about which companies."""

from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from newscrawl import config, storage
from newscrawl.cli.arguments import (
    CompaniesOption,
    DatabaseOption,
    FormatOption,
    InputError,
    LimitOption,
    companies_from,
    company_of,
    complete_company,
    match_one,
    open_for_reading,
)
from newscrawl.cli.output import Column, exit_without, render, write_note

if TYPE_CHECKING:
    from newscrawl.mentions import Companies
    from newscrawl.storage import Database
    from newscrawl.storage.company_alerts import Recipient

app = typer.Typer(
    help="Address alerts and digests to people and programs, by company or group.",
    no_args_is_help=True,
)
_NameArgument = Annotated[str, typer.Argument(help="A name for the recipient, as in 'desk'.")]
_AddressArgument = Annotated[
    str, typer.Argument(help="An e-mail address, or the https URL of a webhook.")
]
_KindOption = Annotated[
    Literal["e-mail", "webhook", "slack", "teams"] | None,
    typer.Option(
        help="The format; else that of the address. A webhook gets JSON, slack an "
        "incoming webhook's blocks, teams the Adaptive Card of a workflow.",
    ),
]
_AboutOption = Annotated[
    list[str] | None,
    typer.Option(
        "--company",
        "-c",
        help="Only notices about this company, group or saved query; may be repeated; else about "
        "all.",
        metavar="NAME",
        autocompletion=complete_company,
    ),
]
_OnlyOption = Annotated[
    Literal["alerts", "digests"] | None, typer.Option(help="Only alerts, or only digests.")
]
_NewAddressOption = Annotated[
    str | None,
    typer.Option(help="Another e-mail address or URL of a webhook.", metavar="ADDRESS"),
]
_GetsOption = Annotated[
    Literal["alerts", "digests", "both"] | None, typer.Option(help="What it gets from now on.")
]
_MAX_NAME = 60


@app.command(
    epilog="Example: newscrawl alerts recipients add desk desk@example.org -c Siemens -c Bosch"
)
def add(
    name: _NameArgument,
    address: _AddressArgument,
    kind: _KindOption = None,
    company: _AboutOption = None,
    only: _OnlyOption = None,
    companies: CompaniesOption = None,
    database: DatabaseOption = None,
) -> None:
    """Add a recipient to those of NEWSCRAWL_MAIL_TO and NEWSCRAWL_WEBHOOKS, who get everything.

    If it gets alerts, its companies and groups are watched from now on, and recipients about all
    get alerts about them, too. A recipient of a group also gets notices about its companies. E-mail
    is sent through NEWSCRAWL_SMTP_URL. URLs of webhooks must begin with https and lead to public
    addresses, unless NEWSCRAWL_WEBHOOK_PRIVATE=yes.
    """
    from newscrawl.storage.company_alerts import NOTICE_KINDS, Recipient, kind_of

    recipient = Recipient(
        name=name,
        kind=kind or kind_of(address.strip()),
        address=address,
        companies=tuple(company or ()),
        gets=(only,) if only else NOTICE_KINDS,
        added_by=config.user_name(),
    )
    with open_for_reading(database) as store:
        _write_saved(store, *save_recipient(store, companies_from(companies), recipient))


@app.command(
    epilog="Example: newscrawl alerts recipients edit desk --address news@example.org "
    "--gets digests -c Bosch"
)
def edit(
    name: _NameArgument,
    address: _NewAddressOption = None,
    kind: _KindOption = None,
    company: _AboutOption = None,
    everything: Annotated[
        bool, typer.Option("--all", help="About all that is watched, not certain companies.")
    ] = False,
    gets: _GetsOption = None,
    companies: CompaniesOption = None,
    database: DatabaseOption = None,
) -> None:
    """Change the address of a recipient, what it gets, or about which companies; the rest stays.

    The companies given replace its former ones, which stay watched if it got alerts about them.
    """
    from newscrawl.storage.company_alerts import NOTICE_KINDS, kind_of, list_recipients

    if everything and company:
        raise InputError("--all and --company exclude each other: give one of them")
    if not (address or kind or company or everything or gets):
        raise InputError("nothing to change: give an option, as in --gets digests")
    with open_for_reading(database) as store:
        recipients = {recipient.name: recipient for recipient in list_recipients(store)}
        chosen = match_one(name, list(recipients), "recipient", "newscrawl alerts recipients list")
        former = recipients[chosen]
        given = replace(
            former,
            address=address or former.address,
            kind=kind or (kind_of(address.strip()) if address else former.kind),
            companies=() if everything else tuple(company or former.companies),
            gets=former.gets if gets is None else NOTICE_KINDS if gets == "both" else (gets,),
            added_by=config.user_name(),
        )
        _write_saved(store, *save_recipient(store, companies_from(companies), given, former))


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


def save_recipient(
    store: "Database", registry: "Companies", given: "Recipient", former: "Recipient | None" = None
) -> "tuple[Recipient, list[str]]":
    """Store a recipient, whose companies are given by name or alias, in the place of its `former`
    state; return it, and the companies that are newly watched, for alerts. Raise InputError,
    SettingError or RecipientError."""
    from newscrawl.monitoring.delivery import check_address
    from newscrawl.storage.company_alerts import add_recipient, edit_recipient, watch_company

    name = given.name.strip()
    if not name or len(name) > _MAX_NAME or not name.isprintable() or name == "log":
        raise InputError(f"{name!r} can't be a name: write up to {_MAX_NAME} letters, as in desk")
    stored, groups = storage.queries.company_names(store), registry.structure.groups
    # A group that the companies file has no longer may stay.
    former_companies = former.companies if former else ()
    about = [
        company if company in former_companies else company_of(company, registry, stored, groups)
        for company in given.companies
    ]
    recipient = replace(
        given,
        name=name,
        address=given.address.strip(),
        companies=tuple(dict.fromkeys(about)),
    )
    check_address(recipient)
    if former is None:
        add_recipient(store, recipient)
    else:
        edit_recipient(store, recipient)
    watches = recipient.companies if "alerts" in recipient.gets else ()
    return recipient, [watch for watch in watches if watch_company(store, watch, by=given.added_by)]


def save_from_form(
    store: "Database", registry: "Companies", given: "Recipient", former: "Recipient | None"
) -> None:
    """Store a recipient for the dashboard, as `save_recipient` does; every error is a
    RecipientError."""
    from newscrawl.storage.company_alerts import RecipientError

    try:
        save_recipient(store, registry, given, former)
    except (InputError, config.SettingError) as error:
        raise RecipientError(str(error)) from error


def _row(recipient: "Recipient", *further: str) -> dict[str, object]:
    return {
        "name": recipient.name,
        "kind": recipient.kind,
        "address": recipient.shown_address,
        "companies": ", ".join(recipient.companies) or "all",
        "gets": ", ".join((*recipient.gets, *further)),
        "added_at": recipient.added_at,
        "added_by": recipient.added_by,
    }


@app.command("list", epilog="Example: newscrawl alerts recipients list --format json")
def list_all(output_format: FormatOption = "table", database: DatabaseOption = None) -> None:
    """List the recipients, with what they get; first those of the settings. Of the URLs of webhooks
    only the host is shown.

    Exit code 1 if there are none.
    """
    from newscrawl.monitoring.delivery import configured_recipients
    from newscrawl.storage.company_alerts import list_recipients

    of_settings: list[Recipient] = []
    with open_for_reading(database) as store:
        stored = list_recipients(store)
    try:
        of_settings = configured_recipients()
    except config.SettingError as error:
        write_note(f"{error}; the recipients of the settings are not listed.")
    columns = (
        Column(key="name", heading="name", wide=True),
        Column(key="kind", heading="kind"),
        Column(key="address", heading="address", wide=True),
        Column(key="companies", heading="about", wide=True),
        Column(key="gets", heading="gets"),
        Column(key="added_at", heading="added", table=False),
        Column(key="added_by", heading="by", wide=True),
    )
    rows = [
        *(_row(replace(setting, added_by="settings"), "incidents") for setting in of_settings),
        *map(_row, stored),
    ]
    render(rows, columns, output_format)
    exit_without(rows, "No recipients: newscrawl alerts recipients add NAME ADDRESS")


@app.command(epilog="Example: newscrawl alerts recipients remove desk")
def remove(name: _NameArgument, database: DatabaseOption = None) -> None:
    """Remove a recipient. Its companies stay watched.

    Exit code 1 if there is none of this name.
    """
    from newscrawl.storage.company_alerts import remove_recipient

    with open_for_reading(database) as store:
        removed = remove_recipient(store, name)
    write_note(f"{name}: {'removed' if removed else 'not a recipient'}.")
    if not removed:
        raise typer.Exit(1)


@app.command("test", epilog="Example: newscrawl alerts recipients test desk")
def send_test_message(name: _NameArgument, database: DatabaseOption = None) -> None:
    """Send a test message to a recipient, and record it like all others.

    Exit code 1 if it could not be delivered.
    """
    from newscrawl.monitoring.alerts import send_test
    from newscrawl.storage.company_alerts import list_recipients

    with open_for_reading(database) as store:
        recipients = {recipient.name: recipient for recipient in list_recipients(store)}
        chosen = match_one(name, list(recipients), "recipient", "newscrawl alerts recipients list")
        fault = send_test(store, recipients[chosen])
    write_note(f"{chosen}: {fault or 'delivered'}.")
    if fault:
        raise typer.Exit(1)


@app.command(epilog="Example: newscrawl alerts recipients sent --limit 20")
def sent(
    limit: LimitOption = 50, output_format: FormatOption = "table", database: DatabaseOption = None
) -> None:
    """List what was sent to whom, the newest first, and why it failed; also to the recipients of
    the settings.

    Exit code 1 if nothing was sent.
    """
    from newscrawl.storage.company_alerts import sent_notices

    with open_for_reading(database) as store:
        notices = sent_notices(store, limit)
    columns = (
        Column(key="sent_at", heading="at"),
        Column(key="recipient", heading="recipient", wide=True),
        Column(key="subject", heading="subject", wide=True),
        Column(key="result", heading="result", wide=True),
        Column(key="cause", heading="cause", table=False),
    )
    rows = [
        {
            "sent_at": notice.sent_at and f"{notice.sent_at:%Y-%m-%d %H:%M}",
            "recipient": notice.recipient,
            "subject": notice.subject,
            "result": notice.fault or "delivered",
            "cause": notice.cause,
        }
        for notice in notices
    ]
    render(rows, columns, output_format)
    exit_without(notices, "Nothing was sent yet.")
