"""Run each crawl in a process of its own, renew its lease while it makes progress, and end it at
its limits."""

import json
import logging
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO, Self

from newscrawl.storage import StorageError
from newscrawl.storage.leases import MAX_UNRENEWED, RENEWALS, Leases, Outcome, boot_time

logger = logging.getLogger(__name__)

# Seconds between two checks of a running crawl, and so the longest delay of a stop.
_CHECK_EVERY = 0.5
_STOPPED = "the monitor is stopping"
# Ours: seconds for the report of the end of a killed crawl, which takes milliseconds.
_KILL_SECONDS = 10.0
# Bytes at the end of a log that are searched for the crawl's summary.
_LOG_TAIL = 16384
_SUMMARY = "[pipelines.storage] INFO: "
_LOGGED = re.compile(r"[-\d]{10} [:\d]{8} \[[\w.]+\] (?P<level>[A-Z]+): (?P<text>.*)")
_MAX_LOG_BYTES = 10_000_000
_MAX_NOTE_CHARACTERS = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlCommand:
    """How crawls are started.

    `environment` and `settings` are added to our own; `logs` is the folder for SLUG.log. A crawl
    whose monitor has died ends within `grace` seconds.
    """

    environment: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, str] = field(default_factory=dict)
    arguments: Sequence[str] = ()
    logs: Path | None = None
    grace: float = 40.0

    def line(self, slug: str) -> list[str]:
        """Return the arguments of `scrapy` for a source's crawl."""
        command = ["crawl", slug]
        for argument in self.arguments:
            command += ["-a", argument]
        for name, value in {**self.settings, "NEWSCRAWL_PARENT_GRACE": f"{self.grace:g}"}.items():
            command += ["-s", f"{name}={value}"]
        return command


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlLimits:
    """Maximum seconds of a crawl, of a crawl without progress, and of its end after SIGTERM."""

    longest: float = 7200.0
    stall: float = 600.0
    shutdown: float = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlResult:
    """How a crawl ended. `code` is the exit code, negative for a signal."""

    outcome: Outcome
    code: int | None
    note: str


class CrawlServer:
    """The process from which crawls are forked (newscrawl.crawl.fork_server), for any thread; it
    gets the variables in `environment` added to our own.

    The server is started with the first crawl, and again if it has ended. Crawls that it has
    started continue. A fork saves the more than a second of processor time in which Python,
    Scrapy, the database layer and the extractors are loaded. Multiprocessing's "forkserver" is
    unsuitable: a process has only one, with the process's own environment, and if it is killed,
    the exit codes of its children are lost.
    """

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = environment
        self._lock = threading.Lock()
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


class Supervisor:
    """Runs crawls of leased sources, from any thread; `stopping` returns whether all are to end."""

    def __init__(
        self,
        leases: Leases,
        command: CrawlCommand,
        limits: CrawlLimits,
        stopping: Callable[[], bool],
    ) -> None:
        self._leases = leases
        shown = {
            "NEWSCRAWL_LEASE_HOLDER": leases.holder,
            "NEWSCRAWL_LEASE": f"{leases.terms.length.total_seconds():g}",
        }
        self._command = replace(command, settings={**command.settings, **shown})
        self._limits = limits
        self._stopping = stopping
        self._server = CrawlServer(command.environment)

    def close(self) -> None:
        """End the process that crawls are forked from."""
        self._server.close()

    def run(self, slug: str) -> CrawlResult:
        """Crawl the source, and return how the crawl ended."""
        renewal = _LeaseRenewal(slug, self._leases)
        with CrawlProcess(slug, self._command, self._server) as crawl:
            reason = self._wait(crawl, renewal)
            if reason:
                crawl.stop()
                deadline = time.monotonic() + self._limits.shutdown
                while crawl.wait(_CHECK_EVERY) is None:
                    if not renewal.holds() or time.monotonic() > deadline:
                        crawl.kill()
            code, summary = crawl.wait(0), crawl.summary()
        if code is not None and code < 0 and not reason:
            reason = f"killed by signal {-code}"
        note = "; ".join(filter(None, (reason, summary)))
        if reason == _STOPPED:
            return CrawlResult(outcome="stopped", code=code, note=note)
        return CrawlResult(outcome="failed" if code or reason else "done", code=code, note=note)

    def _wait(self, crawl: "CrawlProcess", renewal: "_LeaseRenewal") -> str:
        """Wait for the crawl's end; return the reason where it must be ended."""
        deadline = time.monotonic() + self._limits.longest
        progressed = time.monotonic()
        while crawl.wait(_CHECK_EVERY) is None:
            if self._stopping():
                return _STOPPED
            if crawl.has_progressed():
                progressed = time.monotonic()
            elif time.monotonic() - progressed > self._limits.stall:
                return f"no progress for {self._limits.stall:g} seconds"
            if not renewal.holds():
                return "the lease was lost"
            if time.monotonic() > deadline:
                return f"still running after {self._limits.longest:g} seconds"
        return ""


class _LeaseRenewal:
    """Renews a lease three times in its length. An unreachable database does no harm until the
    lease is about to expire, even if it never answers: each renewal is made by a thread."""

    def __init__(self, slug: str, leases: Leases) -> None:
        self._slug = slug
        self._leases = leases
        self._length = leases.terms.length.total_seconds()
        self._renewed = self._tried = boot_time()
        self._is_trying = self._lost = False

    def holds(self) -> bool:
        """Begin to renew the lease when it is time, and return whether it is still ours."""
        now = boot_time()
        if now - self._renewed > self._length * MAX_UNRENEWED:
            self._lost = True
        elif (
            not self._lost and not self._is_trying and now - self._tried >= self._length / RENEWALS
        ):
            self._is_trying, self._tried = True, now
            threading.Thread(target=self._renew, args=(now,), daemon=True).start()
        return not self._lost

    def _renew(self, now: float) -> None:
        try:
            if self._leases.renew(self._slug):
                self._renewed = now
            else:
                self._lost = True
        except StorageError as error:
            logger.warning("%s: the lease is not renewed: %s", self._slug, error)
        finally:
            self._is_trying = False


class CrawlProcess:
    """A running crawl: `with CrawlProcess("ft", command, server) as crawl: crawl.wait(1)`.

    Its standard input is a socket to this process: the crawl ends when the socket closes, and
    writes into it when it makes progress. At the end of the block the process has ended in any
    case.
    """

    def __init__(self, slug: str, command: CrawlCommand, server: CrawlServer) -> None:
        if command.logs is None:
            self._log: IO[bytes] = tempfile.TemporaryFile(  # noqa: SIM115 - until its end
                "w+b", prefix=f"newscrawl-{slug}-"
            )
        else:
            file = command.logs / f"{slug}.log"
            if file.exists() and file.stat().st_size > _MAX_LOG_BYTES:
                file.replace(file.with_suffix(".log.1"))
            self._log = file.open("a+b")
            self._log.seek(0, os.SEEK_END)
        self._log_start = self._log.tell()
        self._link, link_end = socket.socketpair()
        self._link.setblocking(False)
        self._report, report_end = socket.socketpair()
        self._reported = b""
        self._code: int | None = None
        with link_end, report_end:
            files = (link_end.fileno(), self._log.fileno(), report_end.fileno())
            server.start(command.line(slug), files)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()
        self._report.close()
        self._log.close()

    def wait(self, seconds: float) -> int | None:
        """Return the exit code, or None if the crawl still runs after these seconds."""
        self._report.settimeout(seconds)
        while self._code is None:
            try:
                received = self._report.recv(64)
            except (TimeoutError, BlockingIOError):
                return None
            self._reported += received
            if not received:
                numbers = [int(line) for line in self._reported.split()]
                # Without a code both the crawl and the server were killed.
                self._code = numbers[-1] if len(numbers) > 1 else -signal.SIGKILL
                if not numbers:
                    message = b"the crawl could not be started: see the monitor's log\n"
                    self._log.write(b"newscrawl: " + message)
                    self._code = 1
        return self._code

    def has_progressed(self) -> bool:
        """Return whether the crawl has reported progress since the last call."""
        try:
            return bool(self._link.recv(4096))
        except OSError:
            return False  # nothing to read, or the crawl has closed the socket and is ending

    def stop(self) -> None:
        """Send SIGTERM: the crawl still stores the pages that it has fetched."""
        self._signal(signal.SIGTERM)

    def kill(self) -> None:
        """Kill the process; what it has stored is complete."""
        self._signal(signal.SIGKILL)
        if self.wait(_KILL_SECONDS) is None:
            self._code = -signal.SIGKILL
        self._link.close()

    def _signal(self, number: signal.Signals) -> None:
        if self.wait(0) is not None:
            return
        if self._reported:
            with suppress(ProcessLookupError):
                os.kill(int(self._reported.split()[0]), number)
        else:  # when it starts, its input is closed, and it ends
            self._link.close()

    def summary(self) -> str:
        """Return the summary of the crawl's log: see `log_summary`."""
        self._log.flush()
        end = self._log.seek(0, os.SEEK_END)
        self._log.seek(max(self._log_start, end - _LOG_TAIL))
        lines = self._log.read().decode(errors="replace").splitlines()
        return log_summary(lines)[:_MAX_NOTE_CHARACTERS]


def log_summary(lines: Sequence[str]) -> str:
    """Return why the crawl was aborted and its last line about stored articles; without these, the
    last line that is a warning or an error."""
    logged = [(line, _LOGGED.match(line)) for line in lines if line.strip()]
    reasons = [match["text"] for _, match in logged if match and match["level"] == "CRITICAL"]
    summaries = [line.partition(_SUMMARY)[2] for line, _ in logged if _SUMMARY in line]
    if reasons or summaries:
        return "; ".join([*reasons[:1], *summaries[-1:]])
    faults = [
        match["text"] if match else line.strip().removeprefix("newscrawl: ")
        for line, match in logged
        if not match or match["level"] not in {"INFO", "DEBUG"}
    ]
    return faults[-1] if faults else ""
