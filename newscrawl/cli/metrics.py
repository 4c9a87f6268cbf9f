"""newscrawl metrics: the watch for Prometheus."""

import sys
import threading
from typing import Annotated

import typer

from newscrawl.cli.arguments import DatabaseOption, InputError, open_for_reading
from newscrawl.cli.status import slugs_of

EXAMPLE = "Example: newscrawl metrics --serve 9108"


def metrics(
    serve: Annotated[
        int | None,
        typer.Option(min=1, max=65535, help="Serve them over HTTP, until Ctrl-C.", metavar="PORT"),
    ] = None,
    address: Annotated[
        str, typer.Option(help="Address to serve them at, with --serve.", metavar="IP")
    ] = "127.0.0.1",
    source: Annotated[
        list[str] | None,
        typer.Option(help="Only this source, as in 'ft'; can be repeated.", metavar="SLUG"),
    ] = None,
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
        from newscrawl.cli.output import say

        say(f"Metrics at http://{address}:{serve}/metrics")
        try:
            threading.Event().wait()
        except KeyboardInterrupt:
            server.shutdown()
            thread.join()
