"""newscrawl monitor and metrics: crawl every source when it is due; metrics for Prometheus."""

import logging
import sys
import threading
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from newscrawl import config
from newscrawl.cli.arguments import (
    DatabaseOption,
    InputError,
    SlugsOption,
    match_one,
    open_for_reading,
    sources_by_slug,
)
from newscrawl.cli.status import slugs_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from newscrawl.monitoring.scheduler import MonitorPlan
    from newscrawl.monitoring.supervisor import CrawlCommand
    from newscrawl.sources import Source
    from newscrawl.storage import Database
    from newscrawl.storage.leases import SourceFacts

METRICS_EXAMPLE = "Example: newscrawl metrics --serve 9108"
MONITOR_EXAMPLE = "Example: newscrawl monitor --workers 4 (or, for cron: newscrawl monitor --once)"


ConcurrencyOption = Annotated[
    int, typer.Option("--workers", "-w", min=1, max=64, help="Sources crawled at a time.")
]
LogsOption = Annotated[
    Path | None,
    typer.Option(help="A folder for the log of each source.", file_okay=False, metavar="DIR"),
]
SettingOption = Annotated[
    list[str] | None,
    typer.Option("--set", "-s", help="A setting for all crawls.", metavar="NAME=VALUE"),
]


def monitor(
    workers: ConcurrencyOption = 2,
    once: Annotated[bool, typer.Option("--once", help="Crawl what is due now, then end.")] = False,
    source: SlugsOption = None,
    logs: LogsOption = None,
    setting: SettingOption = None,
    database: DatabaseOption = None,
) -> None:
    """Crawl every source when it is due, each in a process of its own, until stopped.

    Several monitors, on one machine or many, share the work if they share a PostgreSQL database:
    a source is crawled by one of them at a time, and crawls of one that died are continued by
    another. After SIGTERM or Ctrl-C running crawls end in order.

    Exit code 1 where a crawl failed (with --once).
    """
    from newscrawl.monitoring.delivery import configured_channels
    from newscrawl.monitoring.inspection import Inspector
    from newscrawl.monitoring.scheduler import MonitorPlan, same_host_sources
    from newscrawl.monitoring.supervisor import CrawlLimits
    from newscrawl.storage import open_database
    from newscrawl.storage.leases import LeaseTerms

    _log_to_stderr()
    url = database or config.NEWSCRAWL_DATABASE_URL
    command = _crawl_command(url, setting or (), logs)
    known, channels = sources_by_slug(), configured_channels()
    chosen = _selected_sources(source or (), known)
    with open_database(url) as store:
        plan = MonitorPlan(
            sources=chosen,
            same_host=same_host_sources(known.values()),
            workers=workers,
            command=command,
            terms=LeaseTerms(length=timedelta(seconds=_seconds("NEWSCRAWL_LEASE"))),
            limits=CrawlLimits(
                longest=_seconds("NEWSCRAWL_LONGEST_CRAWL"),
                stall=_seconds("NEWSCRAWL_STALL_TIMEOUT"),
            ),
            once=once,
            pause=_seconds("NEWSCRAWL_MONITOR_PAUSE"),
            inspect=Inspector(store, [one.slug for one in chosen], channels),
            prune=_pruning(store),
        )
        failed = _run(store, url, plan)
    if once and failed:
        raise typer.Exit(1)


def _crawl_command(url: str, settings: "Sequence[str]", logs: Path | None) -> "CrawlCommand":
    from newscrawl.monitoring.supervisor import CrawlCommand

    if logs is not None:
        _make_folder(logs)
    return CrawlCommand(
        environment={"NEWSCRAWL_DATABASE_URL": url},
        settings=dict(map(_pair, settings)),
        arguments=("polls=due",),
        logs=logs,
        grace=_seconds("NEWSCRAWL_LEASE") / 3,
    )


def _run(store: "Database", url: str, plan: "MonitorPlan") -> bool:
    """Run a monitor until its end; return whether a crawl failed."""
    from newscrawl.monitoring.scheduler import (
        Monitor,
        QueueError,
        open_queue,
        queue_error_line,
        queue_errors,
    )

    monitor = Monitor(store, open_queue(url, config.NEWSCRAWL_QUEUE_URL), plan)
    try:
        monitor.run()
    except queue_errors() as error:
        raise QueueError(queue_error_line(error)) from error
    return bool(monitor.failed)


def _pruning(store: "Database") -> "Callable[[Callable[[], bool]], None]":
    """Return the daily pruning of the database; raise SettingError for an invalid time."""
    from newscrawl.cli.database import retention_time
    from newscrawl.storage.retention import prune_daily

    keep = retention_time(config.NEWSCRAWL_KEEP)

    def prune(stopping: "Callable[[], bool]") -> None:
        pruned = prune_daily(store, keep, stopping)
        if pruned and any(pruned.counts.values()):
            counts = ", ".join(f"{number} {name}" for name, number in pruned.counts.items())
            logging.getLogger("newscrawl.monitor").info("Pruned: %s", counts)

    return prune


def _selected_sources(slugs: "Sequence[str]", known: "Mapping[str, Source]") -> "list[SourceFacts]":
    """Return the sources asked for, or all active ones."""
    from newscrawl.storage.leases import SourceFacts

    wanted = [match_one(slug, list(known), "source", "newscrawl sources list") for slug in slugs]
    active = [slug for slug, one in known.items() if one.status == "active"]
    return [
        SourceFacts(one.slug, one.name, one.country, one.languages[0], one.home)
        for one in (known[slug] for slug in dict.fromkeys(wanted or active))
    ]


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(
            f"--logs {folder}: {error.strerror}; name a folder that you may write to"
        ) from error


def _pair(text: str) -> tuple[str, str]:
    name, sign, value = text.partition("=")
    if not name or not sign:
        raise InputError(f"--set {text}: write it as NAME=VALUE, as in DOWNLOAD_DELAY=2")
    return name, value


def _seconds(name: str) -> float:
    """Return the setting's value; raise SettingError unless it is above 0."""
    value = config.seconds(name, getattr(config, name))
    if not value:
        raise config.SettingError(f"{name}=0: must be above 0 seconds")
    return value


def _log_to_stderr() -> None:
    from newscrawl.monitoring.scheduler import QueueErrorFilter

    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    root = logging.getLogger("newscrawl")
    root.setLevel(logging.INFO)
    root.handlers = [handler]
    theirs = logging.StreamHandler(sys.stderr)
    theirs.setFormatter(handler.formatter)
    theirs.addFilter(QueueErrorFilter())
    huey = logging.getLogger("huey")
    huey.setLevel(logging.WARNING)
    huey.handlers = [theirs]


def metrics(
    serve: Annotated[
        int | None,
        typer.Option(min=1, max=65535, help="Serve them over HTTP, until Ctrl-C.", metavar="PORT"),
    ] = None,
    address: Annotated[
        str, typer.Option(help="Address to serve them at, with --serve.", metavar="IP")
    ] = "127.0.0.1",
    source: SlugsOption = None,
    database: DatabaseOption = None,
) -> None:
    """Print metrics in Prometheus' text format, or serve them.

    What is printed suits the textfile collector of node_exporter. docs/operations.md lists the
    metrics.
    """
    from newscrawl.monitoring.metrics import exposition, registry

    with open_for_reading(database) as store:
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
