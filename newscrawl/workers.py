"""Work on hostile input in a process of its own, within limits of time and memory.

A parser in C listens to nobody while it works, and what eats the memory takes all others along: so
whatever was fetched is read where it can be ended.
"""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection, Pipe
from typing import Any, TypeVar

from newscrawl.process_limits import limit_memory, limit_processor_time

Result = TypeVar("Result")

# Exit code of a worker that has no memory left to say so with (EX_OSERR of sysexits.h).
_OUT_OF_MEMORY = 71


class WorkExceededError(Exception):
    """A piece of work took more than its limits, or the process that did it died of it."""


class WorkStoppedError(Exception):
    """A piece of work was stopped by whoever had wanted it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What a piece of work may take: seconds of a processor, MiB of memory, and seconds by the
    clock, which are more, since other processes want the processors too."""

    seconds: int
    megabytes: int
    patience: float


class WorkerProcess:
    """A process that does one piece of work after the other; it starts with the first one.

    It isn't forked, since a crawl has threads and connections, and knows nothing of ours but where
    modules are. It ends when we do.
    """

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._connection: Connection | None = None
        self._stopped = threading.Event()

    def run(self, work: Callable[..., Result], *arguments: object) -> Result:
        """Return what the work (importable by its name) returns, or raise what it raises.

        Raises WorkExceededError, and WorkStoppedError where `stop` was called.
        """
        with self._lock:
            try:
                connection = self._ready()
                connection.send((work, arguments))
                if not connection.poll(self._limits.patience):
                    self._end()
                    raise WorkExceededError(f"took longer than {self._limits.patience:g} seconds")
                came, value = connection.recv()
            except (EOFError, OSError) as error:
                raise self._why_it_died() from error
        if came == "raised":
            raise value
        if came == "memory":
            self._end()
            raise self._out_of_memory()
        result: Result = value
        return result

    def stop(self) -> None:
        """End the process, whatever it does, and do no more work; from any thread."""
        self._stopped.set()
        process = self._process
        if process is not None:
            process.kill()

    def close(self) -> None:
        """Stop, and wait for the end of it."""
        self.stop()
        with self._lock:
            self._end()

    def _ready(self) -> Connection:
        if self._stopped.is_set():
            raise WorkStoppedError("told to stop")
        if self._connection is None:
            ours, theirs = Pipe()
            command = [sys.executable, "-m", "newscrawl.workers", str(theirs.fileno())]
            with theirs:
                self._process = subprocess.Popen(  # noqa: S603 - this very module
                    command,
                    pass_fds=[theirs.fileno()],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                )
            self._connection = ours
            ours.send((sys.path, self._limits))
            if self._stopped.is_set():  # between our look and the start
                self._process.kill()
        return self._connection

    def _end(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
        if self._connection is not None:
            self._connection.close()
        self._process = self._connection = None

    def _why_it_died(self) -> WorkExceededError | WorkStoppedError:
        code = self._process.wait() if self._process is not None else None
        self._end()
        if self._stopped.is_set():
            return WorkStoppedError("told to stop")
        if code == -signal.SIGXCPU:
            return WorkExceededError(f"took more than {self._limits.seconds} s of a processor")
        if code == _OUT_OF_MEMORY:
            return self._out_of_memory()
        return WorkExceededError(f"killed the process that read it (exit code {code})")

    def _out_of_memory(self) -> WorkExceededError:
        return WorkExceededError(f"took more than {self._limits.megabytes} MB of memory")


def serve(connection: Connection) -> None:
    """Do the work that comes, until nobody is there to send any."""
    # Signals of a terminal or a service manager are for whoever started us.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    try:
        sys.path[:], limits = connection.recv()
        limit_memory(limits.megabytes)
        while True:
            work, arguments = connection.recv()
            limit_processor_time(limits.seconds)
            connection.send(_done(work, arguments))
    except (EOFError, BrokenPipeError, ConnectionResetError):
        return
    except MemoryError:
        os._exit(_OUT_OF_MEMORY)


def _done(work: Callable[..., Any], arguments: tuple[Any, ...]) -> tuple[str, Any]:
    """Return what came of a piece of work, and its result or error."""
    try:
        return "returned", work(*arguments)
    except MemoryError:
        return "memory", None
    except Exception as error:  # noqa: BLE001 - it is raised again, where it was asked for
        return "raised", error


if __name__ == "__main__":
    serve(Connection(int(sys.argv[1])))
