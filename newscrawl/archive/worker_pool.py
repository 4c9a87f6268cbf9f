"""Process parts of a task on all cores and return the results in the order of the parts."""

import gc
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_all_start_methods, get_context
from multiprocessing.context import BaseContext
from typing import Any, Final, Generic, TypeVar

from newscrawl.process_limits import limit_memory, limit_processor_time

Part = TypeVar("Part")
Result = TypeVar("Result")

# Parts enqueued per worker, so that no worker waits while results are stored.
_QUEUED_PER_WORKER: Final = 4


class WorkerPool(Generic[Part, Result]):
    """Processes that call `work` (a function that can be pickled) on parts.

    If a process crashes on a part (a page crashes a parser, or memory runs out), the part is
    retried alone; its result is None if this fails too. The results of other parts are not lost.
    With one worker, the work is done in this process.
    """

    def __init__(self, work: Callable[[Part], Result], number: int) -> None:
        self._work = work
        self._number = number

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
                for part in _take(todo, self._number * _QUEUED_PER_WORKER - len(waiting)):
                    waiting.append((part, _submit(pool, part)))
                if not waiting:
                    return
                part, future = waiting.popleft()
                try:
                    yield part, future.result()
                except BrokenProcessPool:
                    pool.shutdown(cancel_futures=True)
                    yield from self._one_by_one([(part, future), *waiting])
                    waiting.clear()
                    pool = self._pool(self._number)
        finally:
            pool.shutdown(cancel_futures=True)

    def run_alone(self, part: Part) -> Result | None:
        """Return the result of a part in a process of its own; None if that process crashes."""
        if self._number == 1:
            return self._work(part)
        with self._pool(1) as pool:
            try:
                result: Result = pool.submit(_do, part).result()
            except BrokenProcessPool:
                return None
            return result

    def _one_by_one(
        self, waiting: Iterable[tuple[Part, Future[Result]]]
    ) -> Iterator[tuple[Part, Result | None]]:
        """Yield the results of parts of which one has crashed its process, each computed alone."""
        for part, future in waiting:
            whole = future.done() and not future.cancelled() and not future.exception()
            yield part, future.result() if whole else self.run_alone(part)

    def _pool(self, number: int) -> ProcessPoolExecutor:
        return ProcessPoolExecutor(
            number, _context(), initializer=_initialize, initargs=(self._work,)
        )


# Ours: a page creates about ten thousand short-lived objects, few of them in cycles. Python's
# default of a collection every 700 objects costs a worker 5 % of its time.
_OBJECTS_BETWEEN_COLLECTIONS: Final = 20_000

# Ours: maximum MiB that a worker may allocate, and maximum processor seconds for a part. A part of
# 50 worst-case pages takes 300 MB and two minutes, a usual part half a second.
_MEGABYTES: Final = 1536
_SECONDS: Final = 600

# A fork of this process would copy its connections and threads in any state. Workers are therefore
# forked from a process that has none and has loaded the shared data.
_PRELOAD: Final = "newscrawl.archive.worker_preload"

# In a worker process: its work, sent once instead of with each part.
_WORK: Final[list[Callable[[Any], Any]]] = []


def _context() -> BaseContext:
    if "forkserver" not in get_all_start_methods():
        return get_context("spawn")
    context = get_context("forkserver")
    context.set_forkserver_preload([_PRELOAD])
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


def _do(part: Any) -> Any:
    limit_processor_time(_SECONDS)
    return _WORK[-1](part)


def _submit(pool: ProcessPoolExecutor, part: Any) -> Future[Any]:
    """Return the future of a part, with an exception if another part has broken the pool."""
    try:
        return pool.submit(_do, part)
    except BrokenProcessPool as error:
        broken: Future[Any] = Future()
        broken.set_exception(error)
        return broken


def _take(parts: Iterator[Part], number: int) -> Iterator[Part]:
    for _ in range(number):
        try:
            yield next(parts)
        except StopIteration:
            return
