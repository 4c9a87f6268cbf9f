"""newscrawl digest: a day or a week of the companies that are watched, as a letter."""

import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from newscrawl.cli.arguments import DatabaseOption, InputError, open_for_reading, parse_day

if TYPE_CHECKING:
    from newscrawl.monitoring.digest import Digest
    from newscrawl.storage import Database

EXAMPLE = "Example: newscrawl digest --weekly --send"

DigestFormat = Literal["markdown", "html"]


def digest(
    weekly: Annotated[
        bool, typer.Option("--weekly/--daily", help="The last full week, or the last full day.")
    ] = False,
    day: Annotated[
        str | None,
        typer.Option(help="The last day it is about, as in 2026-11-20.", metavar="DAY"),
    ] = None,
    output_format: Annotated[
        DigestFormat, typer.Option("--format", "-f", help="Markdown, or an HTML page.")
    ] = "markdown",
    send: Annotated[
        bool,
        typer.Option(
            "--send", help="Send it (NEWSCRAWL_SMTP_URL, NEWSCRAWL_WEBHOOKS) instead of showing it."
        ),
    ] = False,
    again: Annotated[
        bool, typer.Option("--again", help="Send it though it was sent before.")
    ] = False,
    database: DatabaseOption = None,
) -> None:
    """Write who was in the news, against the week before, with alerts, articles and stories.

    It is about the companies of `newscrawl alerts watched`, or else those named most. Sent it
    is both, Markdown and HTML, and once: a second --send for the same days does nothing, but
    for a channel that failed.

    Exit code 1 where nobody looked on these days, or it could not be sent.
    """
    from newscrawl.cli.output import say
    from newscrawl.monitoring.digest import (
        html_digest,
        last_full_day,
        make_digest,
        markdown_digest,
    )

    if again and not send:
        raise InputError("--again says that it is sent a second time: give --send too")
    today = datetime.now(UTC).date()
    span: Literal["daily", "weekly"] = "weekly" if weekly else "daily"
    last = parse_day(day, option="--day", today=today) if day else last_full_day(span, today)
    with open_for_reading(database) as store:
        made = make_digest(store, span, last)
        if made.completeness.level == "none":
            say(f"No source was crawled from {made.first} to {made.last}.")
            raise typer.Exit(1)
        if send:
            _send(store, made, again=again)
            return
    sys.stdout.write(html_digest(made) if output_format == "html" else markdown_digest(made))


def _send(store: "Database", made: "Digest", *, again: bool) -> None:
    from newscrawl.cli.output import say
    from newscrawl.monitoring.channels import configured_channels
    from newscrawl.monitoring.delivery import LogChannel
    from newscrawl.monitoring.digest import digest_title, send_digest
    from newscrawl.storage import company_alerts

    # A digest is too long for the log.
    channels = [one for one in configured_channels() if not isinstance(one, LogChannel)]
    if not channels:
        raise InputError("nowhere to send it: set NEWSCRAWL_SMTP_URL or NEWSCRAWL_WEBHOOKS")
    if again:
        company_alerts.delete_alert(store, made.cause)
    report = send_digest(store, made, channels)
    if report is None:
        say(f"{digest_title(made)}: sent before (--again sends it again).")
        return
    for failure in report.failed:
        say(f"{failure.channel} failed: {failure.reason}")
    if report.failed:
        raise typer.Exit(1)
    say(f"{digest_title(made)}: sent.")
