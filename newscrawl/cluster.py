"""Run work on a Dask cluster, with the interface and the limits of local worker processes.

Each thread of a Dask worker has a process of its own that does the work (`WorkerProcess`), so a
page that crashes it, or takes too much memory or time, ends that process and not the Dask worker.
Parts and results are sent as bytes; the client stores results, so that a part that was read twice,
because a worker died, is stored once.
"""

import asyncio
import logging
import os
import pickle
import platform
import re
import threading
import time
import warnings
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import CancelledError, Future, wait
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final, Self, TypeVar

from newscrawl.workers import (
    PART_LIMITS,
    QUEUED_PER_WORKER,
    LocalPool,
    Part,
    Result,
    Task,
    WorkerPool,
    WorkerProcess,
    WorkExceededError,
    WorkStoppedError,
    do_in,
    submitted,
    task_of,
)

Answer = TypeVar("Answer")

_LOCAL = re.compile(r"local:([1-9][0-9]{0,3})", re.ASCII)
_SCHEDULER = re.compile(
    r"(?:(?:tcp|tls|wss?)://)?(?!local:)(?:\[[0-9a-f:.]+\]|[^\s/:@\[\]]+):[1-9][0-9]{0,4}",
    re.IGNORECASE,
)
_CONNECT_SECONDS = 10
# Ours: a worker that a service manager starts again is back within this time.
_MAX_SECONDS_WITHOUT_WORKER = 120.0
_POLL_SECONDS = 5.0
# Ours: tasks of which a worker keeps processes; more than one where several commands share it.
_MAX_TASKS = 3
# The files of the package that results depend on.
_SUFFIXES: Final = {".py", ".json", ".jsonl", ".toml", ".csv", ".npz", ".txt"}


class ClusterError(ValueError):
    """A cluster can't be used; the message is one line with address, reason and what to do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The pickled result of a part, if it has one; a `difference` of the worker's environment; or
    that the worker `lacks` the task."""

    worker: str
    seconds: float = 0.0
    result: bytes | None = None
    difference: str = ""
    lacks: bool = False


@dataclass(slots=True)
class WorkerStats:
    """The work of a worker: parts, seconds, and parts without result."""

    parts: int = 0
    seconds: float = 0.0
    failures: int = 0


# On the workers -----------------------------------------------------------------------------------


@dataclass
class _Host:
    """The tasks of a Dask worker, and their processes, one for each thread."""

    tasks: OrderedDict[str, Task] = field(default_factory=OrderedDict)
    processes: dict[tuple[str, int], WorkerProcess] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, task: Task) -> None:
        with self.lock:
            self.tasks[task.key] = task
            self.tasks.move_to_end(task.key)
            old = list(self.tasks)[:-_MAX_TASKS]
        for key in old:
            self.remove(key)

    def remove(self, key: str) -> None:
        with self.lock:
            self.tasks.pop(key, None)
            mine = [place for place in self.processes if place[0] == key]
            processes = [self.processes.pop(place) for place in mine]
        for process in processes:
            process.stop()

    def process(self, key: str) -> WorkerProcess:
        with self.lock:
            place = (key, threading.get_ident())
            if place not in self.processes:
                self.processes[place] = WorkerProcess(PART_LIMITS)
            return self.processes[place]


# One for each Dask worker; only a module's variable outlives a call of its functions.
_HOST: Final = _Host()


def receive_task(task: Task) -> str:
    """Store a task for later parts; return how this worker's environment differs."""
    here = environment(task.environment)
    for name, value in task.environment.items():
        if here[name] == value:
            continue
        if os.sep in name:
            return f"{'has no' if not here[name] else 'has another'} {name}"
        if "'s " in name:
            return f"has other versions of {name}"
        return f"has {name} {here[name]}, not {value}"
    _HOST.add(task)
    return ""


def remove_task(key: str) -> None:
    """End the processes of a task."""
    _HOST.remove(key)


def do_part(key: str, part: bytes, task: Task | None = None) -> Outcome:
    """Do a part in a process of its own; `task` is sent to a worker that lacks it."""
    from distributed import get_worker  # noqa: PLC0415 - an extra

    worker = str(get_worker().address)
    if task is not None and (difference := receive_task(task)):
        return Outcome(worker=worker, difference=difference)
    task_here = _HOST.tasks.get(key)
    if task_here is None:
        return Outcome(worker=worker, lacks=True)
    began = time.monotonic()
    result = None
    try:
        with suppress(WorkExceededError):
            result = do_in(_HOST.process(key), task_here, part)
    except WorkStoppedError:
        return Outcome(worker=worker, lacks=True)
    return Outcome(worker=worker, seconds=time.monotonic() - began, result=result)


# Environments -------------------------------------------------------------------------------------


def environment(files: Iterable[str] = ()) -> dict[str, str]:
    """Return versions, a digest of newscrawl's code and data, and digests of files by their path;
    names without a slash are not paths and are ignored."""
    digests = dict.fromkeys((name for name in files if os.sep in name), "")
    for name in digests:
        with suppress(OSError):
            digests[name] = sha256(Path(name).read_bytes()).hexdigest()[:16]
    return {
        "Python": platform.python_version(),
        "newscrawl": version("newscrawl"),
        "distributed": version("distributed"),
        "newscrawl's code and data": _package_digest(),
        **digests,
    }


@cache
def _package_digest() -> str:
    """Return a digest of the files that results depend on."""
    digest = sha256()
    folder = Path(__file__).parent
    for path in sorted(folder.rglob("*")):
        if path.suffix in _SUFFIXES:
            digest.update(path.relative_to(folder).as_posix().encode() + b"\0")
            digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


# On the client ------------------------------------------------------------------------------------


class Cluster:
    """A connection to the scheduler of a Dask cluster, or to a cluster of `local:N` processes.

    Raises ClusterError.
    """

    def __init__(self, address: str) -> None:
        try:
            import dask  # noqa: PLC0415 - an extra
            import distributed  # noqa: PLC0415 - an extra
        except ImportError as error:
            raise ClusterError(
                f"--cluster {address} needs Dask: pip install 'newscrawl[cluster]'"
            ) from error
        local = _LOCAL.fullmatch(address)
        if local is None and _SCHEDULER.fullmatch(address) is None:
            raise ClusterError(
                f"--cluster {address} is not the address of a scheduler: write, for example, "
                "tcp://10.0.0.5:8786, or local:4 for four workers on this machine"
            )
        # Its warnings and reports of lost connections take several lines each; ours take one.
        logging.getLogger("distributed").setLevel(logging.CRITICAL)
        dask.config.set({"distributed.comm.timeouts.connect": f"{_CONNECT_SECONDS}s"})
        self.address = address
        self.stats: dict[str, WorkerStats] = {}
        # Keys of the tasks whose processes are kept until the end, with the data that they loaded.
        self.tasks: set[str] = set()
        self._local: Any = None
        if local:
            options = {"threads_per_worker": 1, "dashboard_address": "127.0.0.1:0"}
            cluster_class: Any = distributed.LocalCluster  # has no types
            self._local = cluster_class(n_workers=int(local[1]), **options)
        self._began = time.monotonic()
        self.client = self._connect(distributed)

    def _connect(self, distributed: Any) -> Any:
        here = there = distributed.__version__
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                if self._local is None:
                    there = asyncio.run(_version_of_scheduler(distributed, self.address))
                if there == here:
                    return distributed.Client(
                        self._local or self.address, timeout=_CONNECT_SECONDS, set_as_default=False
                    )
            except (OSError, ValueError, TypeError, RuntimeError) as error:
                raise ClusterError(
                    f"no scheduler answers at {self.address} ({_first_line(error)}): start one "
                    "with dask scheduler, of the same version, and workers with dask worker"
                ) from error
        raise ClusterError(
            f"the scheduler at {self.address} has distributed {there}, this machine {here}: "
            "install the same version on both"
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(ClusterError):
            for key in self.tasks:
                self.check()
                self.ask_workers(remove_task, key)
        self.client.close(timeout=_POLL_SECONDS)
        if self._local is not None:
            self._local.close(timeout=_POLL_SECONDS)

    @property
    def dashboard(self) -> str:
        """Return the address of Dask's dashboard."""
        return str(self.client.dashboard_link)

    def threads(self) -> int:
        """Return the number of threads of all workers."""
        self.check()
        with self._named_errors():
            return sum(self.client.nthreads().values())

    def check(self) -> None:
        """Raise ClusterError if the connection is lost; a request would wait for its timeout."""
        if self.client.status != "running":
            raise self.lost()

    def ask_workers(
        self, function: Callable[..., Answer], *arguments: object
    ) -> dict[str, Answer | Exception]:
        """Return the answer of each worker, or its error."""
        with self._named_errors():
            answers: dict[str, Answer | Exception] = self.client.run(
                function, *arguments, on_error="return"
            )
        return answers

    def report(self) -> list[str]:
        """Return a line for each worker: parts, speed and failures."""
        try:
            self.check()
            with self._named_errors():
                present = set(self.client.nthreads())
        except ClusterError:
            present = set(self.stats)
        took = max(time.monotonic() - self._began, 0.001)
        return [
            f"{worker}: {stats.parts:,} parts, {stats.parts / took:,.1f} a second, "
            f"{stats.failures:,} failed{'' if worker in present else ', lost'}"
            for worker, stats in sorted(self.stats.items())
        ]

    def lost(self, cause: str = "") -> ClusterError:
        """Return the error for a scheduler that is gone."""
        return ClusterError(
            f"lost the scheduler at {self.address}{cause and f' ({cause})'}: start it again; the "
            "same command then continues where it stopped"
        )

    @contextmanager
    def _named_errors(self) -> Iterator[None]:
        """Raise errors of the connection as ClusterErrors."""
        try:
            yield
        except (OSError, CancelledError, RuntimeError) as error:
            raise self.lost(_first_line(error)) from error


async def _version_of_scheduler(distributed: Any, address: str) -> str:
    """Return the version of Dask's scheduler, before a client connects that it may not understand.

    A client that fails to connect would also print a traceback when it is deleted.
    """
    secured = distributed.Security().get_connection_args("client")
    async with distributed.rpc(
        address, timeout=_CONNECT_SECONDS, connection_args=secured
    ) as scheduler:
        versions: dict[str, Any] = await scheduler.versions()
    return str(versions["packages"]["distributed"])


Workers = int | Cluster


def open_pool(
    work: Callable[[Part], Result],
    workers: Workers,
    *,
    preload: str | None = None,
    files: Sequence[Path] = (),
) -> WorkerPool[Part, Result]:
    """Return a pool of local processes or of a cluster, which must have the same `files`."""
    if isinstance(workers, int):
        return LocalPool(work, workers, preload=preload)
    return ClusterPool(work, workers, preload=preload, files=files)


class ClusterPool(WorkerPool[Part, Result]):
    """Do the parts of a task on a cluster.

    The result of a part is None if it exceeds the limits of a worker's process, or if it ends
    several Dask workers one after the other. If a part's worker is lost, another one does the part.
    Workers must have the client's versions of newscrawl, Python, Dask and of `files`.
    """

    def __init__(
        self,
        work: Callable[[Part], Result],
        cluster: Cluster,
        *,
        preload: str | None,
        files: Sequence[Path],
    ) -> None:
        self._cluster = cluster
        needed = environment(str(file.absolute()) for file in files)
        self._task = task_of(work, preload, needed)
        self._executor = cluster.client.get_executor(pure=False)

    def results(self, parts: Iterable[Part]) -> Iterator[tuple[Part, Result | None]]:
        """Yield each part with its result, in the order of the parts. Raises ClusterError."""
        # The workers get the task, and their environment may not differ.
        self._wait_for_worker()
        self._cluster.tasks.add(self._task.key)
        for worker, answer in self._cluster.ask_workers(receive_task, self._task).items():
            if isinstance(answer, Exception):
                raise ClusterError(
                    f"the worker {worker} can't run newscrawl ({_first_line(answer)}): install "
                    "newscrawl there"
                )
            if answer:
                raise self._differs(worker, answer)

        def room() -> int:
            return self._cluster.threads() * QUEUED_PER_WORKER

        with closing(submitted(parts, self._submit, room)) as futures:
            for part, future in futures:
                yield part, self._result(part, future)

    def run_alone(self, part: Part) -> Result | None:
        """Return the result of a part; None if it exceeds its limits. Raises ClusterError."""
        return self._result(part, self._submit(part))

    def _differs(self, worker: str, difference: str) -> ClusterError:
        return ClusterError(
            f"the worker {worker} {difference}: workers need the same versions and files as the "
            "machine of the command"
        )

    def _submit(self, part: Part, *, with_task: bool = False) -> "Future[Outcome]":
        task = self._task if with_task else None
        future: Future[Outcome] = self._executor.submit(
            do_part, self._task.key, pickle.dumps(part), task
        )
        return future

    def _result(self, part: Part, future: "Future[Outcome]") -> Result | None:
        from distributed import KilledWorker  # noqa: PLC0415 - an extra

        while True:
            while not wait([future], timeout=_POLL_SECONDS).done:
                self._wait_for_worker()
            try:
                outcome = future.result()
            except CancelledError as error:
                raise self._cluster.lost() from error
            except KilledWorker as error:
                worker = str(getattr(error.last_worker, "address", error.last_worker))
                self._stats(worker).failures += 1
                return None
            if outcome.difference:
                raise self._differs(outcome.worker, outcome.difference)
            if not outcome.lacks:
                break
            future = self._submit(part, with_task=True)  # the worker is new
        stats = self._stats(outcome.worker)
        stats.parts += 1
        stats.seconds += outcome.seconds
        if outcome.result is None:
            stats.failures += 1
            return None
        result: Result = pickle.loads(outcome.result)  # noqa: S301 - from a worker of the user
        return result

    def _stats(self, worker: str) -> WorkerStats:
        return self._cluster.stats.setdefault(worker, WorkerStats())

    def _wait_for_worker(self) -> None:
        """Wait until the cluster has a worker. Raises ClusterError."""
        end = time.monotonic() + _MAX_SECONDS_WITHOUT_WORKER
        while not self._cluster.threads():
            if time.monotonic() > end:
                raise ClusterError(
                    f"the scheduler at {self._cluster.address} has had no worker for "
                    f"{_MAX_SECONDS_WITHOUT_WORKER:g} seconds: start one with dask worker "
                    f"{self._cluster.address}; the same command then continues"
                )
            time.sleep(0.2)


def _first_line(error: BaseException) -> str:
    text = str(error).strip() or type(error).__name__
    return text.splitlines()[0][:200]
