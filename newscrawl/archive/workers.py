"""Parts of work over all cores, with the results in the order of the parts."""

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

# So many parts for each worker are on their way, so that none waits for the one that stores.
_AHEAD: Final = 4


class Workers(Generic[Part, Result]):
    """Processes that do `work` (importable by its name) on parts.

    A part on which a process dies, by a page that breaks a parser or eats the memory, is tried
    once more by itself; its result is None where that fails too. The others are not lost. A single
    worker is this process itself.
    """

    def __init__(self, work: Callable[[Part], Result], number: int) -> None:
        self._work = work
        self._number = number

    def results(self, parts: Iterable[Part]) -> Iterator[tuple[Part, Result | None]]:
        """Each part with its result, in their order."""
        if self._number == 1:
            yield from ((part, self._work(part)) for part in parts)
            return
        todo = iter(parts)
        waiting: deque[tuple[Part, Future[Result]]] = deque()
        pool = self._pool(self._number)
        try:
            while True:
                for part in _some(todo, self._number * _AHEAD - len(waiting)):
                    waiting.append((part, _submitted(pool, part)))
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

    def alone(self, part: Part) -> Result | None:
        """The result of a part that nobody else's process depends on; None where it dies."""
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
        """The results of parts of which one has killed its process: which one, shows here."""
        for part, future in waiting:
            whole = future.done() and not future.cancelled() and not future.exception()
            yield part, future.result() if whole else self.alone(part)

    def _pool(self, number: int) -> ProcessPoolExecutor:
        return ProcessPoolExecutor(number, _context(), initializer=_hold, initargs=(self._work,))


# Ours: a page makes some ten thousand objects that go with it, few of them in cycles. To look for
# cycles every 700 new ones, as Python does, costs a worker a twentieth of its time.
_OBJECTS_BETWEEN_COLLECTIONS: Final = 20_000

# Ours: MiB that a worker may take beside what it starts with, and seconds of a processor for a
# part. One of 50 pages of the worst kind takes 300 MB and two minutes, a usual one half a second.
_MEGABYTES: Final = 1536
_SECONDS: Final = 600

# A fork of this process would copy its connections and threads in whatever state they are: workers
# are forked from a process that has none, and has read what all of them need.
_WARM: Final = "newscrawl.archive.warming"

# In a worker process: what it does, sent once and not with each part.
_HELD: Final[list[Callable[[Any], Any]]] = []


def _context() -> BaseContext:
    if "forkserver" not in get_all_start_methods():
        return get_context("spawn")
    context = get_context("forkserver")
    context.set_forkserver_preload([_WARM])
    return context


def _hold(work: Callable[[Any], Any]) -> None:
    _HELD.append(work)
    look_rarely_for_garbage()
    limit_memory(_MEGABYTES)


def look_rarely_for_garbage() -> None:
    """For a process that has read what it needs, and will do nothing but take pages."""
    # What was read until now stays for good: nobody needs to look through it.
    gc.freeze()
    gc.set_threshold(_OBJECTS_BETWEEN_COLLECTIONS)


def _do(part: Any) -> Any:
    limit_processor_time(_SECONDS)
    return _HELD[-1](part)


def _submitted(pool: ProcessPoolExecutor, part: Any) -> Future[Any]:
    """The part's future, also where another part has killed the pool meanwhile."""
    try:
        return pool.submit(_do, part)
    except BrokenProcessPool as error:
        broken: Future[Any] = Future()
        broken.set_exception(error)
        return broken


def _some(parts: Iterator[Part], number: int) -> Iterator[Part]:
    for _ in range(number):
        try:
            yield next(parts)
        except StopIteration:
            return
