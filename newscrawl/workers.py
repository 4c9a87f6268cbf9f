"""Run work in other processes, within limits of memory and processor time.

A parser in C can't be interrupted, and a process that runs out of memory loses all its work:
therefore fetched content is read in a process that can be killed. `WorkerProcess` does one piece of
hostile work after the other; `LocalPool` processes the parts of a large task on all cores, each in
such a process, and `newscrawl.cluster` does the same on a cluster.
"""

import asyncio
import gc
import math
import os
import pickle
import resource
import signal
import subprocess
import sys
import threading
import time
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Awaitable, Callable, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from hashlib import sha256
from importlib import import_module
from itertools import islice
from multiprocessing import get_context
from multiprocessing.connection import Connection, Pipe
from multiprocessing.process import BaseProcess
from pathlib import Path
from queue import SimpleQueue
from typing import Any, Final, Generic, TypeVar

Part = TypeVar("Part")
Result = TypeVar("Result")
Item = TypeVar("Item")

MEBIBYTE = 1024 * 1024


def limit_memory(megabytes: int) -> None:
    """Limit the address space of this process to its present size plus a number of MiB."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    except OSError:
        return  # the size of the address space, which RLIMIT_AS limits, is not known
    limit = pages * resource.getpagesize() + megabytes * MEBIBYTE
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


# A process that Python starts anew, or one that is forked from a server process.
_Process = subprocess.Popen[bytes] | BaseProcess

# Exit code of a worker without memory to send a message (EX_OSERR of sysexits.h).
_OUT_OF_MEMORY = 71
# Ours: seconds for sending a piece of work and its result, which takes milliseconds.
_SEND_SECONDS = 5.0


@contextmanager
def killing(process: _Process, seconds: float) -> Iterator[None]:
    """Kill the process if the block takes longer than these seconds: a stopped process (SIGSTOP)
    neither answers nor ends otherwise."""
    timer = threading.Timer(seconds, process.kill)
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


# Ours: seconds between two checks of whether the crawl is closing. Every long wait checks it, since
# Scrapy sends no signal before all callbacks have ended.
CLOSING_CHECK_SECONDS: Final = 0.5


async def until_closing(
    work: Awaitable[Result],
    is_closing: Callable[[], bool],
    stop: Callable[[], object],
    grace: float = 0.0,
) -> Result:
    """Return the result of work that a closing crawl awaits `grace` seconds at most: then `stop`
    ends it."""
    running = asyncio.ensure_future(work)
    while not (await asyncio.wait({running}, timeout=CLOSING_CHECK_SECONDS))[0]:
        grace -= CLOSING_CHECK_SECONDS if is_closing() else 0.0
        if grace <= 0 and is_closing():
            stop()
    return running.result()


class WorkerProcess:
    """A process that does one piece of work after the other; the first one starts it.

    It isn't forked from this process, whose threads and connections would be copied in any state;
    it only gets sys.path. With `preload` it is forked from a server process that has imported this
    module, so that several processes share the data that it loads. It ends together with the
    parent.
    """

    def __init__(self, limits: Limits, preload: str | None = None) -> None:
        self._limits = limits
        self._preload = preload
        self._lock = threading.Lock()
        self._process: _Process | None = None
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
                with killing(process, self._limits.clock_seconds + _SEND_SECONDS):
                    connection.send((work, arguments))
                    if not connection.poll(self._limits.clock_seconds):
                        self._end()
                        raise WorkExceededError(
                            f"took longer than {self._limits.clock_seconds:g} seconds"
                        )
                    outcome, value = connection.recv()
            except (EOFError, OSError) as error:
                code = _exit_code(self._process) if self._process is not None else None
                self._end()
                if self._stopped.is_set():
                    raise WorkStoppedError("stopped") from error
                if code == _OUT_OF_MEMORY:
                    raise self._out_of_memory() from error
                ended = f"crashed the process that read it (exit code {code})"
                if code == -signal.SIGXCPU:
                    ended = f"took more than {self._limits.seconds} s of a processor"
                raise WorkExceededError(ended) from error
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

    def _connect(self) -> tuple[Connection, _Process]:
        if self._stopped.is_set():
            raise WorkStoppedError("stopped")
        if self._connection is None or self._process is None:
            ours, theirs = Pipe()
            with theirs:
                self._process = self._start(theirs)
            self._connection = ours
            ours.send((sys.path, self._limits))
            if self._stopped.is_set():  # stopped while the process was starting
                self._process.kill()
        return self._connection, self._process

    def _start(self, connection: Connection) -> _Process:
        if self._preload is None:
            number = connection.fileno()
            return subprocess.Popen(  # noqa: S603 - this very module
                [sys.executable, "-m", "newscrawl.workers", str(number)],
                pass_fds=[number],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
            )
        context = get_context("forkserver")
        context.set_forkserver_preload([self._preload])
        process = context.Process(target=serve, args=(connection,), daemon=True)
        process.start()
        return process

    def _end(self) -> None:
        if self._process is not None:
            self._process.kill()
            _exit_code(self._process)
        if self._connection is not None:
            self._connection.close()
        self._process = self._connection = None

    def _out_of_memory(self) -> WorkExceededError:
        return WorkExceededError(f"took more than {self._limits.megabytes} MB of memory")


def _exit_code(process: _Process) -> int | None:
    """Wait for the end of a process and return its exit code."""
    if isinstance(process, subprocess.Popen):
        return process.wait()
    process.join()
    return process.exitcode


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
            outcome: tuple[str, Any]
            try:
                outcome = "returned", work(*arguments)
            except MemoryError:
                outcome = "memory", None
            except Exception as error:  # noqa: BLE001 - the parent raises it again
                outcome = "raised", error
            connection.send(outcome)
    except (EOFError, BrokenPipeError, ConnectionResetError):
        return
    except MemoryError:
        os._exit(_OUT_OF_MEMORY)


# Ours: a page creates about ten thousand short-lived objects, few of them in cycles. Python's
# default of a collection every 700 objects costs a worker 5 % of its time.
_OBJECTS_BETWEEN_COLLECTIONS: Final = 20_000

# Ours: of a part. One of 50 worst-case pages takes 300 MB and two minutes, most half a second;
# it may wait for a store that is busy, and other work may use the processors.
PART_LIMITS: Final = Limits(seconds=600, megabytes=1536, clock_seconds=3600.0)
# Parts enqueued per worker, so that no worker waits while results are stored.
QUEUED_PER_WORKER: Final = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """The work of a pool: a pickled function, the module to import before, the folder of relative
    paths, and the environment that the workers of a cluster must have."""

    key: str
    work: bytes
    preload: str | None
    folder: str
    environment: Mapping[str, str] = field(default_factory=dict)


def task_of(
    work: Callable[[Part], Result],
    preload: str | None = None,
    environment: Mapping[str, str] | None = None,
) -> Task:
    """Return the task of calling a function that can be pickled."""
    pickled = pickle.dumps(work)
    return Task(
        key=sha256(pickled).hexdigest()[:16],
        work=pickled,
        preload=preload,
        folder=str(Path.cwd()),
        environment=environment or {},
    )


class _NoWorkError(Exception):
    """The process is new and has no work yet."""


def do_in(process: WorkerProcess, task: Task, part: bytes) -> bytes:
    """Return the pickled result of a pickled part; the task is sent once instead of with each part.

    Raise what `WorkerProcess.run` does.
    """
    try:
        return process.run(_call_work, task.key, part)
    except _NoWorkError:
        process.run(load_work, task)
        return process.run(_call_work, task.key, part)


# Of a process that does tasks: their functions, by the tasks' keys.
_WORK: Final[dict[str, Callable[[Any], Any]]] = {}


def load_work(task: Task) -> None:
    """Load the function of a task, for its parts."""
    if Path(task.folder).is_dir():
        os.chdir(task.folder)
    if task.preload is not None:
        import_module(task.preload)
    _WORK[task.key] = pickle.loads(task.work)  # noqa: S301 - from the command's own process
    # Collections are rare from now on: the objects loaded until now are permanent.
    gc.freeze()
    gc.set_threshold(_OBJECTS_BETWEEN_COLLECTIONS)


def _call_work(key: str, part: bytes) -> bytes:
    if key not in _WORK:
        raise _NoWorkError
    return pickle.dumps(_WORK[key](pickle.loads(part)))  # noqa: S301 - from the command's process


class WorkerPool(ABC, Generic[Part, Result]):
    """Workers that call `work` (a function that can be pickled) on the parts of a large task."""

    @abstractmethod
    def results(self, parts: Iterable[Part]) -> Iterator[tuple[Part, Result | None]]:
        """Yield each part with its result, in the order of the parts; None if it has none."""

    @abstractmethod
    def run_alone(self, part: Part) -> Result | None:
        """Return the result of a part that is not one of those of `results`."""


def submitted(
    parts: Iterable[Part], submit: Callable[[Part], Future[Item]], room: Callable[[], int]
) -> Generator[tuple[Part, Future[Item]], None, None]:
    """Yield each part with its future, in the order of the parts, of which `room` are submitted at
    a time; at least one."""
    todo, waiting = iter(parts), deque[tuple[Part, Future[Item]]]()
    try:
        while True:
            number = max(room() - len(waiting), 0 if waiting else 1)
            waiting.extend((part, submit(part)) for part in islice(todo, number))
            if not waiting:
                return
            yield waiting.popleft()
    finally:
        for _, future in waiting:
            future.cancel()


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


class WorkerProcesses:
    """Processes that do parts of a task, one for each thread of this process that waits for its
    results."""

    def __init__(
        self, task: Task, number: int, limits: Limits, *, preload: str | None = None
    ) -> None:
        self._task = task
        self._processes = [WorkerProcess(limits, preload) for _ in range(number)]
        self._idle = SimpleQueue[WorkerProcess]()
        for process in self._processes:
            self._idle.put(process)
        self._threads = ThreadPoolExecutor(max(number, 1), "worker")

    def submit(self, *attempts: object) -> Future[Any]:
        """Return the result of a part, of the first of its forms that doesn't crash the process
        that does it, or of None."""
        return self._threads.submit(self._do, attempts)

    def start(self) -> None:
        """Start the processes before their first part."""
        for process in self._processes:
            self._threads.submit(process.run, load_work, self._task)

    def stop(self) -> None:
        """Kill the processes: parts that they do raise WorkStoppedError."""
        for process in self._processes:
            process.stop()

    def close(self) -> None:
        """Stop, and wait for the end of all processes."""
        self.stop()
        self._threads.shutdown(cancel_futures=True)
        for process in self._processes:
            process.close()

    def _do(self, attempts: Sequence[object]) -> Any:
        process = self._idle.get()
        try:
            for attempt in attempts:
                with suppress(WorkExceededError):
                    result = do_in(process, self._task, pickle.dumps(attempt))
                    return pickle.loads(result)  # noqa: S301 - from our own process
            return None
        finally:
            self._idle.put(process)


class LocalPool(WorkerPool[Part, Result]):
    """Processes of this machine.

    If a process crashes on a part (a page crashes a parser, or memory runs out) or is stopped, the
    part is done once more, by a new process; its result is None if this fails too. No other results
    are lost. With one worker, the work is done in this process.
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
        room = self._number * QUEUED_PER_WORKER
        with closing(self._processes(self._number)) as processes:
            twice = submitted(parts, lambda part: processes.submit(part, part), lambda: room)
            with closing(twice) as futures:
                for part, future in futures:
                    yield part, future.result()

    def run_alone(self, part: Part) -> Result | None:
        """Return the result of a part in a process of its own; None if that process crashes."""
        if self._number == 1:
            return self._work(part)
        with closing(self._processes(1)) as process:
            result: Result | None = process.submit(part).result()
            return result

    def _processes(self, number: int) -> WorkerProcesses:
        task = task_of(self._work, self._preload)
        return WorkerProcesses(task, number, PART_LIMITS, preload=self._preload)


if __name__ == "__main__":
    serve(Connection(int(sys.argv[1])))
