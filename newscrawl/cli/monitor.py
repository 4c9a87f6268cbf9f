"""newscrawl monitor, status and metrics: crawl every source when it is due; what ran, runs or is
late, and incidents; metrics for Prometheus."""

import logging
import sys
import threading
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Group
from rich.text import Text

from newscrawl import config, storage
from newscrawl.answers.names import match_one
from newscrawl.cli.arguments import (
    Format,
    InputError,
    chosen_sources,
    open_for_reading,
    sources_by_slug,
)
from newscrawl.cli.output import (
    Column,
    exit_if,
    for_files,
    printable,
    render,
    source_columns,
    table_of,
    terminal,
    write_json,
)
from newscrawl.items import Origin
from newscrawl.text import count_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from newscrawl.cli.output import Column
    from newscrawl.storage import Database
    from newscrawl.storage.status import SourceStatus, WatchStatus


STATUS_EXAMPLE = "Example: newscrawl status --watch"
METRICS_EXAMPLE = "Example: newscrawl metrics --serve 9108"
MONITOR_EXAMPLE = "Example: newscrawl monitor --workers 4 (or, for cron: newscrawl monitor --once)"


def monitor(
    workers: Annotated[int, typer.Option(min=1, max=64)] = 2,
    once: bool = False,
    source: list[str] | None = None,
    logs: Annotated[Path | None, typer.Option(file_okay=False)] = None,
    setting: list[str] | None = None,
    database: str | None = None,
) -> None:
    """Crawl every source when it is due, each in a process of its own, until stopped; report
    incidents, send alerts, and digests at the time of NEWSCRAWL_DIGEST.

    Several monitors, on one machine or many, share the work if they share a PostgreSQL database:
    a source is crawled by one of them at a time, and crawls of one that died are continued by
    another. After SIGTERM or Ctrl-C, running crawls store their fetched pages and end.

    Exit code 1 if a crawl failed (with --once).

    --workers, -w: Sources crawled at a time.
    --once: Crawl what is due now, then end.
    --source SLUG: Only this source, as in 'ft'; can be repeated.
    --logs DIR: A folder for the log of each source.
    setting --set, -s NAME=VALUE: A setting for all crawls.
    """
    from newscrawl.cli.database import retention_time
    from newscrawl.monitoring.delivery import configured_channels
    from newscrawl.monitoring.health_checks import Inspector
    from newscrawl.monitoring.scheduler import Monitor, MonitorPlan, same_host_sources
    from newscrawl.monitoring.supervisor import CrawlCommand, CrawlLimits
    from newscrawl.storage.company_alerts import list_recipients
    from newscrawl.storage.deletion import prune_daily
    from newscrawl.storage.frontier.listings import reschedule, schedule_of
    from newscrawl.storage.leases import LeaseTerms

    _log_to_stderr()
    url = database or config.NEWSCRAWL_DATABASE_URL
    if logs is not None:
        try:
            logs.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"--logs {logs}: {error.strerror}; name a writable folder") from error
    settings = crawl_settings(setting or ())
    command = CrawlCommand(
        environment={"NEWSCRAWL_DATABASE_URL": url},
        settings=settings,
        arguments=("polls=due",),
        logs=logs,
        grace=_seconds("NEWSCRAWL_LEASE") / 3,
    )
    registry = sources_by_slug()
    chosen = [Origin(*entry.stored_facts) for entry in chosen_sources(source, registry)]
    schedule = schedule_of({**vars(config), **settings})
    with storage.open_database(url) as store:
        channels = configured_channels(recipients=bool(list_recipients(store)))
        keep = retention_time(config.NEWSCRAWL_KEEP)

        def prune(stopping: "Callable[[], bool]") -> None:
            pruned = prune_daily(store, keep, stopping)
            if pruned and any(pruned.values()):
                counts = ", ".join(f"{number} {name}" for name, number in pruned.items())
                logging.getLogger("newscrawl.monitor").info("Pruned: %s", counts)

        plan = MonitorPlan(
            sources=chosen,
            same_host=same_host_sources(registry.values()),
            workers=workers,
            command=command,
            terms=LeaseTerms(length=timedelta(seconds=_seconds("NEWSCRAWL_LEASE"))),
            limits=CrawlLimits(
                longest=_seconds("NEWSCRAWL_LONGEST_CRAWL"),
                stall=_seconds("NEWSCRAWL_STALL_TIMEOUT"),
            ),
            once=once,
            pause=_seconds("NEWSCRAWL_MONITOR_PAUSE"),
            inspect=Inspector(store, [facts.slug for facts in chosen], channels),
            prune=prune,
            send_digests=_scheduled_digests(store),
            digests=config.NEWSCRAWL_DIGEST,
        )
        reschedule(store, [facts.slug for facts in chosen], schedule)
        exit_if(Monitor(store, plan).run() and once)


def crawl_settings(texts: "Sequence[str]") -> dict[str, str]:
    """Return the settings of --set; raise InputError for one that is not NAME=VALUE."""
    settings = {}
    for text in texts:
        name, sign, value = text.partition("=")
        if not name or not sign:
            raise InputError(f"--set {text}: write it as NAME=VALUE, as in DOWNLOAD_DELAY=2")
        settings[name] = value
    return settings


def _scheduled_digests(store: "Database") -> "Callable[[Callable[[], bool]], None]":
    """Return the sending of digests that are due; raise SettingError for an invalid schedule."""
    from newscrawl.monitoring.digests import digest_plan, send_due_digests

    plan = digest_plan()

    def send(stopping: "Callable[[], bool]") -> None:
        for failure in send_due_digests(store, plan, datetime.now(UTC), stopping):
            logging.getLogger("newscrawl.monitor").error(
                "No digest by %s: %s", failure.channel, failure.reason
            )

    return send


def _seconds(name: str) -> float:
    return config.seconds(name, getattr(config, name), above_zero=True)


def _log_to_stderr() -> None:
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    root = logging.getLogger("newscrawl")
    root.setLevel(logging.INFO)
    root.handlers = [handler]


def metrics(
    store: "Database",
    serve: Annotated[int | None, typer.Option(min=1, max=65535)] = None,
    address: str = "127.0.0.1",
    source: list[str] | None = None,
) -> None:
    """Print metrics in Prometheus' text format, or serve them.

    node_exporter's textfile collector reads the printed form. docs/operations.md lists the metrics.

    --serve PORT: Serve them over HTTP, until Ctrl-C.
    --address IP: Address to serve them at, with --serve.
    --source SLUG: Only this source, as in 'ft'; can be repeated.
    """
    from newscrawl.monitoring.metrics import exposition, registry

    slugs = slugs_of(source or (), store)
    if serve is None:
        sys.stdout.write(exposition(store, slugs))
        return
    from prometheus_client import start_http_server

    try:
        server, thread = start_http_server(serve, address, registry(store, slugs))
    except OSError as error:
        raise InputError(f"can't serve at {address}:{serve}: {error.strerror}") from error
    from newscrawl.cli.output import write_note

    write_note(f"Metrics at http://{address}:{serve}/metrics")
    try:
        threading.Event().wait()
    except KeyboardInterrupt:
        server.shutdown()
        thread.join()


_HEALTH_COLOURS = {
    "failing": "red",
    "blocked": "red",
    "stale": "yellow",
    "degraded": "yellow",
    "late": "yellow",
    "never_crawled": "dim",
    "healthy": "green",
}
_MAX_ROWS = 25
_MIN_REFRESH = 0.2  # ours: shorter pauses only flicker
_MAX_NEXT = 3  # ours: the crawls that are due next, in one line of a terminal


def status(
    watch: bool = False,
    every: str = "5s",
    everything: bool = False,
    check: bool = False,
    source: list[str] | None = None,
    output_format: Format = "table",
    database: str | None = None,
) -> None:
    """Show crawls that ran, run or are late, articles per hour, errors and gaps by source.

    "1 h" and "24 h" count new articles, "pages" those that couldn't be fetched in 24 hours,
    "gaps" full days of the last seven on which the source wasn't read. The remark has the number of
    quarantined revisions. docs/operations.md explains the health of a source.

    Exit code 1 if no source was ever crawled.

    --watch: Refresh every few seconds, until Ctrl-C.
    --every TIME: Time between refreshes, with --watch, as in 5s or 2m.
    everything --all: Also show sources with nothing to report.
    --check: Exit code 1 if something is wrong: an incident, or no worker.
    --source SLUG: Only this source, as in 'ft'; can be repeated.
    """
    if watch and output_format != "table":
        raise InputError(
            f"--watch shows a table, --format {output_format} is for programs: choose one"
        )
    pause = config.seconds("--every", every)
    if pause < _MIN_REFRESH:
        raise InputError(f"--every {every}: must be {_MIN_REFRESH:g}s or longer")
    everything = everything or bool(source)  # a source that was named is always shown
    with open_for_reading(database) as store:
        slugs = slugs_of(source or (), store)
        if watch:
            refresh(lambda: _screen(_status(store, slugs), everything=everything), pause)
            return
        current = _status(store, slugs)
    if output_format == "json":
        write_json(
            {
                "moment": current.moment,
                "queued": current.queued,
                "articles_hour": sum(source.new_hour for source in current.sources),
                "articles_day": sum(source.new_day for source in current.sources),
                "quarantined": sum(source.quarantined for source in current.sources),
                "digests": [asdict(digest) for digest in current.digests],
                "workers": [asdict(worker) for worker in current.workers],
                "sources": [_row(source) for source in current.sources],
                "incidents": [
                    {name: getattr(incident, name) for name in _OF_INCIDENTS}
                    for incident in current.incidents
                ],
            }
        )
    elif output_format == "csv":
        render([_row(source) for source in current.sources], _columns(current.moment), "csv")
    else:
        terminal().print(_screen(current, everything=everything))
    exit_if(not any(source.last_start for source in current.sources))
    exit_if(check and (current.incidents or all(worker.silent for worker in current.workers)))


def _status(database: "Database", slugs: Sequence[str] | None) -> "WatchStatus":
    from newscrawl.storage.status import next_digests, watch_status

    digests = next_digests(database, config.NEWSCRAWL_DIGEST)
    return replace(watch_status(database, slugs), digests=digests)


def slugs_of(slugs: Sequence[str], database: "Database") -> list[str] | None:
    """Return the slugs of the sources asked for; None if none are, so that all in the database
    are meant."""
    if not slugs:
        return None
    names = list(dict.fromkeys([*sources_by_slug(), *storage.queries.source_names(database)]))
    return [match_one(slug, names, "source", "newscrawl sources list") for slug in slugs]


def refresh(screen: "Callable[[], Group]", pause: float) -> None:
    """Show a screen again and again, until Ctrl-C."""
    from rich.live import Live

    console = terminal()
    with suppress(KeyboardInterrupt), Live(screen(), console=console, auto_refresh=False) as live:
        while True:
            time.sleep(pause)
            live.update(screen(), refresh=True)


def _screen(current: "WatchStatus", *, everything: bool) -> "Group":
    hour = sum(source.new_hour for source in current.sources)
    day = sum(source.new_day for source in current.sources)
    due = sorted(
        (source.next_at, source.source)
        for source in current.sources
        if source.next_at and not source.is_paused
    )
    next_crawls = ", ".join(f"{slug} {_moment(at)}" for at, slug in due[:_MAX_NEXT])
    numbers = Counter(
        source.health for source in sorted(current.sources, key=lambda source: source.severity)
    )
    counts = ", ".join(f"{number} {_words(health)}" for health, number in numbers.items())
    alive = [worker for worker in current.workers if not worker.silent]
    silent = len(current.workers) - len(alive)
    if not current.workers:
        workers = "No worker is running: newscrawl monitor starts one."
    else:
        busy = sum(worker.running for worker in alive)
        slots = sum(worker.slots for worker in alive)
        hosts = len({worker.host for worker in alive})
        workers = (
            f"{count_of(len(alive), 'worker')} on {count_of(hosts, 'machine')}: "
            f"{busy} of {count_of(slots, 'slot')} busy, {count_of(current.queued, 'source')} queued"
            + (f"; {count_of(silent, 'worker')} not responding." if silent else ".")
        )
    parts: list[object] = [
        Text(f"Monitoring at {current.moment:%Y-%m-%d %H:%M:%S} UTC", style="bold"),
        Text(workers),
        Text(f"New articles: {hour:,} in 1 h, {day:,} in 24 h. Sources: {counts or 'none'}."),
        Text(f"Next crawls due: {next_crawls or 'none'} (UTC)."),
        Text(
            f"Next digest: {'; '.join(map(str, current.digests))}."
            if current.digests
            else "No digest is scheduled: NEWSCRAWL_DIGEST='monday 07:00' does, for newscrawl "
            "monitor."
        ),
    ]
    if number := sum(source.quarantined for source in current.sources):
        note = f"{count_of(number, 'revision')} {'is' if number == 1 else 'are'} in the quarantine"
        parts.append(Text(f"{note}: newscrawl articles --quarantined lists what was not applied."))
    chosen = [
        source
        for source in current.sources
        if everything
        or source.health not in {"healthy", "never_crawled"}
        or any((source.running_since, source.gaps, source.pages_failed_day, source.quarantined))
    ]
    chosen.sort(key=lambda source: source.severity)
    shown = chosen if everything else chosen[:_MAX_ROWS]
    if shown:
        names = [replace(column, show=_one_line) for column in source_columns()]
        columns = [*names, *_columns(current.moment)[1:]]
        table = table_of([_row(source) for source in shown], columns)
        table.padding = (0, 1, 0, 0)
        parts.append(table)
    if number := len(current.sources) - len(shown):
        note = f"{count_of(number, 'source')} {'is' if number == 1 else 'are'} not shown "
        parts.append(Text(f"{note}(--all shows all).", style="dim"))
    if current.incidents:
        incident_columns = (
            Column("opened_at", "since", show=lambda at: _ago(at, current.moment)),
            Column("source", wide=True),
            Column("kind", "incident", wide=True),
            Column("note", "", wide=True),
        )
        parts.append(table_of(current.incidents[:_MAX_ROWS], incident_columns))
    return Group(*parts)  # type: ignore[arg-type]


def _columns(moment: datetime) -> "tuple[Column, ...]":
    return (
        Column("source", wide=True),
        Column(
            "health", show=lambda value: Text(_words(str(value)), style=_HEALTH_COLOURS[str(value)])
        ),
        Column("last_start", "crawled", show=lambda at: _ago(at, moment)),
        Column("new_hour", "1 h", number=True),
        Column("new_day", "24 h", number=True),
        Column("pages_failed_day", "pages", number=True),
        Column("gap_days", "gaps", number=True),
        Column("remark", wide=True, show=_one_line),
        *for_files(*_FOR_PROGRAMS),
    )


_OF_INCIDENTS = ("source", "kind", "note", "opened_at")
_FOR_PROGRAMS = (
    "name",
    "reason",
    "coverage",
    "running_since",
    "worker",
    "last_end",
    "last_success",
    "due_at",
    "next_at",
    "waiting",
    "failures",
    "runs_day",
    "gaps",
    "quarantined",
)


def _row(source: "SourceStatus") -> dict[str, object]:
    if source.failures:
        remark = source.reason
    else:
        causes = ", ".join(f"{cause} {number}" for cause, number in list(source.causes.items())[:3])
        parts = [
            "" if source.incidents else source.reason,  # the table of incidents has their notes
            f"running since {_moment(source.running_since)}" if source.running_since else "",
            f"due since {_moment(source.due_at)}" if source.late and source.due_at else "",
            "paused" if source.is_paused else "",
            f"{source.quarantined:,} quarantined" if source.quarantined else "",
            causes,
        ]
        remark = "; ".join(filter(None, parts))
    return {**asdict(source), "gap_days": len(source.gaps), "remark": remark}


def _one_line(value: object) -> "Text":
    """Return a cell whose end is cut off where it has no room, so that a source has one line."""
    return Text(printable(str(value or "")), no_wrap=True, overflow="ellipsis")


def _moment(moment: datetime) -> str:
    """Return the time of a moment, with the date of an earlier day."""
    form = "%H:%M" if moment.date() == datetime.now(UTC).date() else "%Y-%m-%d %H:%M"
    return moment.strftime(form)


def _ago(value: object, moment: datetime) -> str:
    if not isinstance(value, datetime):
        return "–"
    seconds = max((moment - value).total_seconds(), 0)
    for size, unit in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds // size:.0f} {unit} ago"
    return f"{seconds:.0f} s ago"


def _words(health: str) -> str:
    return health.replace("_", " ")
