"""Run work in other processes, within limits of memory and processor time.

A parser in C can't be interrupted, and a process that runs out of memory loses all its work:
therefore fetched content is read in a process that can be killed. `WorkerProcess` does one piece of
hostile work after the other; `LocalPool` processes the parts of a large task on all cores,
`newscrawl.cluster` on a cluster.
"""

import gc
import math
import os
import resource
import signal
import subprocess
import sys
import threading
import time
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import get_all_start_methods, get_context
from multiprocessing.connection import Connection, Pipe
from multiprocessing.context import BaseContext
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any, Final, Generic, Protocol, TypeVar

Part = TypeVar("Part")
Result = TypeVar("Result")
Item = TypeVar("Item")

MEBIBYTE = 1024 * 1024


def limit_memory(megabytes: int) -> None:
    """Limit the address space of this process to its present size plus a number of MiB."""
    mapped = _mapped_bytes()
    if mapped is None:
        return
    limit = mapped + megabytes * MEBIBYTE
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    if hard != resource.RLIM_INFINITY:
        limit = min(limit, hard)
    resource.setrlimit(resource.RLIMIT_AS, (limit, hard))


def limit_processor_time(seconds: int) -> None:
    """Let SIGXCPU end this process after a number of further processor seconds.

    Call it before each piece of work: the limit counts from the start of the process.
    """
    used = math.ceil(time.process_time())
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    limit = used + seconds if hard == resource.RLIM_INFINITY else min(used + seconds, hard)
    resource.setrlimit(resource.RLIMIT_CPU, (limit, hard))


def _mapped_bytes() -> int | None:
    """Return the size of the address space, which RLIMIT_AS limits; None if it is not known."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    except OSError:
        return None
    return pages * resource.getpagesize()


class Killable(Protocol):
    """A process of subprocess or of multiprocessing."""

    def kill(self) -> None:
        """End the process with SIGKILL."""


# Exit code of a worker without memory to send a message (EX_OSERR of sysexits.h).
_OUT_OF_MEMORY = 71
# Ours: seconds for sending a piece of work and its result, which takes milliseconds.
_SEND_SECONDS = 5.0


@contextmanager
def killing(processes: Iterable[Killable], seconds: float) -> Iterator[None]:
    """Kill the processes if the block takes longer than these seconds: a stopped process (SIGSTOP)
    neither answers nor ends otherwise."""

    def kill() -> None:
        for process in processes:
            process.kill()

    timer = threading.Timer(seconds, kill)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


class WorkExceededError(Exception):
    """A piece of work exceeded its limits or crashed its process."""


class WorkStoppedError(Exception):
    """A piece of work was stopped by `WorkerProcess.stop`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Limits of a piece of work: processor seconds, MiB of memory, and wall-clock seconds, which
    are more because other processes use the processors too."""

    seconds: int
    megabytes: int
    clock_seconds: float


class WorkerProcess:
    """A process that does one piece of work after the other; the first one starts it.

    It isn't forked, because a crawl has threads and connections; it only gets sys.path. It ends
    together with the parent.
    """

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._connection: Connection | None = None
        self._stopped = threading.Event()

    def run(self, work: Callable[..., Result], *arguments: object) -> Result:
        """Return the result of a function that can be pickled, or raise its exception.

        Raises WorkExceededError, and WorkStoppedError after `stop`.
        """
        with self._lock:
            try:
                connection, process = self._connect()
                # A message that is larger than the pipe is sent while it is being read.
                with killing([process], self._limits.clock_seconds + _SEND_SECONDS):
                    connection.send((work, arguments))
                    if not connection.poll(self._limits.clock_seconds):
                        self._end()
                        raise WorkExceededError(
                            f"took longer than {self._limits.clock_seconds:g} seconds"
                        )
                    outcome, value = connection.recv()
            except (EOFError, OSError) as error:
                raise self._exit_error() from error
        if outcome == "raised":
            raise value
        if outcome == "memory":
            self._end()
            raise self._out_of_memory()
        result: Result = value
        return result

    def stop(self) -> None:
        """Kill the process and accept no more work; from any thread."""
        self._stopped.set()
        process = self._process
        if process is not None:
            process.kill()

    def close(self) -> None:
        """Stop and wait for the end of the process."""
        self.stop()
        with self._lock:
            self._end()

    def _connect(self) -> tuple[Connection, subprocess.Popen[bytes]]:
        if self._stopped.is_set():
            raise WorkStoppedError("stopped")
        if self._connection is None or self._process is None:
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
            if self._stopped.is_set():  # stopped while the process was starting
                self._process.kill()
        return self._connection, self._process

    def _end(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
        if self._connection is not None:
            self._connection.close()
        self._process = self._connection = None

    def _exit_error(self) -> WorkExceededError | WorkStoppedError:
        code = self._process.wait() if self._process is not None else None
        self._end()
        if self._stopped.is_set():
            return WorkStoppedError("stopped")
        if code == -signal.SIGXCPU:
            return WorkExceededError(f"took more than {self._limits.seconds} s of a processor")
        if code == _OUT_OF_MEMORY:
            return self._out_of_memory()
        return WorkExceededError(f"crashed the process that read it (exit code {code})")

    def _out_of_memory(self) -> WorkExceededError:
        return WorkExceededError(f"took more than {self._limits.megabytes} MB of memory")


def serve(connection: Connection) -> None:
    """Do the work that the parent sends, until the parent closes the connection."""
    # Signals of a terminal or a service manager are for the parent.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    try:
        sys.path[:], limits = connection.recv()
        limit_memory(limits.megabytes)
        while True:
            work, arguments = connection.recv()
            limit_processor_time(limits.seconds)
            connection.send(_outcome(work, arguments))
    except (EOFError, BrokenPipeError, ConnectionResetError):
        return
    except MemoryError:
        os._exit(_OUT_OF_MEMORY)


def _outcome(work: Callable[..., Any], arguments: tuple[Any, ...]) -> tuple[str, Any]:
    """Return the outcome of a piece of work, and its result or error."""
    try:
        return "returned", work(*arguments)
    except MemoryError:
        return "memory", None
    except Exception as error:  # noqa: BLE001 - the parent raises it again
        return "raised", error


# Parts enqueued per worker, so that no worker waits while results are stored.
QUEUED_PER_WORKER: Final = 4


class WorkerPool(ABC, Generic[Part, Result]):
    """Workers that call `work` (a function that can be pickled) on the parts of a large task."""

    @abstractmethod
    def results(self, parts: Iterable[Part]) -> Iterator[tuple[Part, Result | None]]:
        """Yield each part with its result, in the order of the parts; None if it has none."""

    @abstractmethod
    def run_alone(self, part: Part) -> Result | None:
        """Return the result of a part that is not one of those of `results`."""


def results_by_item(
    pool: WorkerPool[Sequence[Item], list[Result]], batches: Iterable[Sequence[Item]]
) -> Iterator[tuple[Sequence[Item], list[Result | None]]]:
    """Yield each batch with the result of each of its items.

    A batch without result is done again in halves, so that only an item that crashes its process,
    or exceeds its limits, has none.
    """
    for batch, results in pool.results(batches):
        yield batch, _in_halves(pool, batch, results)


def _in_halves(
    pool: WorkerPool[Sequence[Item], list[Result]],
    batch: Sequence[Item],
    results: list[Result] | None,
) -> list[Result | None]:
    if results is not None:
        return list(results)
    if len(batch) < 2:
        return [None for _ in batch]
    middle = len(batch) // 2
    return [
        result
        for half in (batch[:middle], batch[middle:])
        for result in _in_halves(pool, half, pool.run_alone(half))
    ]


class LocalPool(WorkerPool[Part, Result]):
    """Processes of this machine.

    If a process crashes on a part (a page crashes a parser, or memory runs out) or is stopped, the
    part is retried alone; its result is None if this fails too. No other results are lost.
    With one worker, the work is done in this process. Workers are not forked from this process,
    whose connections and threads would be copied in any state, but from a server process that has
    imported the module `preload`, so that they share the data that it loads.
    """

    def __init__(
        self, work: Callable[[Part], Result], number: int, *, preload: str | None = None
    ) -> None:
        self._work = work
        self._number = number
        self._preload = preload

    def results(self, parts: Iterable[Part]) -> Iterator[tuple[Part, Result | None]]:
        """Yield each part with its result, in the order of the parts."""
        if self._number == 1:
            yield from ((part, self._work(part)) for part in parts)
            return
        todo = iter(parts)
        waiting: deque[tuple[Part, Future[Result]]] = deque()
        pool = self._pool(self._number)
        try:
            while True:
                for part in next_parts(todo, self._number * QUEUED_PER_WORKER - len(waiting)):
                    waiting.append((part, _submit(pool, part)))
                if not waiting:
                    return
                part, future = waiting.popleft()
                try:
                    yield part, _result(pool, future)
                except BrokenProcessPool:
                    shut_down(pool)
                    yield from self._one_by_one([(part, future), *waiting])
                    waiting.clear()
                    pool = self._pool(self._number)
        finally:
            shut_down(pool)

    def run_alone(self, part: Part) -> Result | None:
        """Return the result of a part in a process of its own; None if that process crashes."""
        if self._number == 1:
            return self._work(part)
        pool = self._pool(1)
        try:
            result: Result = _result(pool, pool.submit(_do_part, part))
        except BrokenProcessPool:
            return None
        finally:
            shut_down(pool)
        return result

    def _one_by_one(
        self, waiting: Iterable[tuple[Part, Future[Result]]]
    ) -> Iterator[tuple[Part, Result | None]]:
        """Yield the results of parts of which one has crashed its process, each computed alone."""
        for part, future in waiting:
            is_done = future.done() and not future.cancelled() and not future.exception()
            yield part, future.result() if is_done else self.run_alone(part)

    def _pool(self, number: int) -> ProcessPoolExecutor:
        return ProcessPoolExecutor(
            number, _context(self._preload), initializer=_initialize, initargs=(self._work,)
        )


# Ours: a page creates about ten thousand short-lived objects, few of them in cycles. Python's
# default of a collection every 700 objects costs a worker 5 % of its time.
_OBJECTS_BETWEEN_COLLECTIONS: Final = 20_000

# Ours: maximum MiB that a worker may allocate, and maximum processor seconds for a part. A part of
# 50 worst-case pages takes 300 MB and two minutes, a usual part half a second.
_MEGABYTES: Final = 1536
_SECONDS: Final = 600
# Ours: a part may wait for a store that is busy, and other work may use the processors.
_CLOCK_SECONDS: Final = 3600.0

# In a worker process: its work, sent once instead of with each part.
_WORK: Final[list[Callable[[Any], Any]]] = []


def part_limits() -> Limits:
    """Return the limits of a part for a `WorkerProcess`."""
    return Limits(seconds=_SECONDS, megabytes=_MEGABYTES, clock_seconds=_CLOCK_SECONDS)


def _context(preload: str | None) -> BaseContext:
    if "forkserver" not in get_all_start_methods():
        return get_context("spawn")
    context = get_context("forkserver")
    if preload is not None:
        context.set_forkserver_preload([preload])
    return context


def _initialize(work: Callable[[Any], Any]) -> None:
    _WORK.append(work)
    reduce_garbage_collection()
    limit_memory(_MEGABYTES)


def reduce_garbage_collection() -> None:
    """Make garbage collections rare, in a process that has loaded its data and only reads pages."""
    # The objects loaded until now are permanent.
    gc.freeze()
    gc.set_threshold(_OBJECTS_BETWEEN_COLLECTIONS)


def _do_part(part: Any) -> Any:
    limit_processor_time(_SECONDS)
    return _WORK[-1](part)


def _submit(pool: ProcessPoolExecutor, part: Any) -> Future[Any]:
    """Return the future of a part, with an exception if another part has broken the pool."""
    try:
        return pool.submit(_do_part, part)
    except BrokenProcessPool as error:
        broken: Future[Any] = Future()
        broken.set_exception(error)
        return broken


def _result(pool: ProcessPoolExecutor, future: Future[Result]) -> Result:
    """Return the result of the part that has waited longest; raise BrokenProcessPool if it takes
    longer than a part may."""
    with killing(_processes(pool), _CLOCK_SECONDS):
        return future.result()


def shut_down(pool: ProcessPoolExecutor, grace: float = _SEND_SECONDS) -> None:
    """End the processes of a pool, whose results nobody waits for, after a number of seconds."""
    with killing(_processes(pool), grace):
        pool.shutdown(cancel_futures=True)


def _processes(pool: ProcessPoolExecutor) -> list[BaseProcess]:
    return list((pool._processes or {}).values())


def next_parts(parts: Iterator[Part], number: int) -> Iterator[Part]:
    """Yield a number of further parts, or all that are left."""
    for _ in range(number):
        try:
            yield next(parts)
        except StopIteration:
            return


if __name__ == "__main__":
    serve(Connection(int(sys.argv[1])))
