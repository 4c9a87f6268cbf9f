"""The client of the process from which crawls are forked (newscrawl.crawl.fork_server).

Starting Python and importing Scrapy, the database layer and the extractors takes more than a second
of processor time, which a fork saves. The standard library's fork server (multiprocessing's
"forkserver") is unsuitable: a process has only one, with the process's own environment, and if it
is killed, the exit codes of its children are lost.
"""

import json
import os
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from threading import Lock


class CrawlServer:
    """Starts crawls, from any thread, with the variables in `environment` added to our own.

    The server is started with the first crawl, and again if it has ended. Crawls that it has
    started continue.
    """

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = environment
        self._lock = Lock()
        self._running: tuple[subprocess.Popen[bytes], socket.socket] | None = None

    @property
    def pid(self) -> int | None:
        """Return the id of the server; None if none was started."""
        return self._running[0].pid if self._running else None

    def start(self, arguments: Sequence[str], files: Sequence[int]) -> None:
        """Request a process that runs `scrapy` with these arguments.

        `files` are its standard input, its log and its report. The first line of the report is the
        process id. The exit code follows once or twice: the process writes it, and so does the
        server, which also knows a signal that killed it. The report is closed when the process has
        ended; if it is empty, the process could not be started.
        """
        request = json.dumps(list(arguments)).encode() + b"\n"
        with self._lock:
            if self._running is None:
                self._running = self._start_process()
            try:
                socket.send_fds(self._running[1], [request], files)
            except OSError:  # it has ended
                self._end()
                self._running = self._start_process()
                # Where this one ends at once, too, the report is closed, and empty.
                with suppress(OSError):
                    socket.send_fds(self._running[1], [request], files)

    def close(self) -> None:
        """End the process."""
        with self._lock:
            self._end()

    def _start_process(self) -> tuple[subprocess.Popen[bytes], socket.socket]:
        ours, theirs = socket.socketpair()
        with theirs:
            process = subprocess.Popen(
                [sys.executable, "-m", "newscrawl.crawl.fork_server"],
                stdin=theirs.fileno(),
                env={
                    **os.environ,
                    # A fork would lose the threads that numpy starts; extraction needs only one.
                    "OPENBLAS_NUM_THREADS": "1",
                    "SCRAPY_SETTINGS_MODULE": "newscrawl.settings",
                    **self._environment,
                },
                # Signals of the terminal are for the monitor.
                start_new_session=True,
            )
        return process, ours

    def _end(self) -> None:
        if self._running is not None:
            process, requests = self._running
            requests.close()
            process.kill()
            process.wait()
        self._running = None
