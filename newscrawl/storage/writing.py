"""One thread for the writes of a crawl: two would only wait for each other's locks."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Final, Generic, ParamSpec, TypeVar

from newscrawl.storage.errors import StorageError, UnstorableDocument

Given = ParamSpec("Given")
Result = TypeVar("Result")
Part = TypeVar("Part")

# Ours: seconds that the first part of a batch waits for more parts, and the number of parts after
# which it waits no longer. A polite crawl writes each page by itself; an unthrottled one reads
# about ten in that time. After a batch of BUSY_BATCH parts or more the next one waits longer, which
# reduces the cost of each part by an eighth (make bench-crawl).
PAUSE: Final = 0.1
LONG_PAUSE: Final = 0.3
BUSY_BATCH: Final = 5
MAX_PARTS: Final = 32


class Writer:
    """Writes in order, in a thread beside the event loop.

    `on_failure` is called, in the event loop, with each StorageError except those of single
    documents, which are raised to the caller.
    """

    def __init__(self, on_failure: Callable[[StorageError], None]) -> None:
        self._on_failure = on_failure
        self._worker = ThreadPoolExecutor(1, "storage")

    async def do(
        self, work: Callable[Given, Result], *args: Given.args, **kwargs: Given.kwargs
    ) -> Result:
        """Return the result of the work; raise its exception."""
        return await self.begin(work, *args, **kwargs)

    def begin(
        self, work: Callable[Given, Result], *args: Given.args, **kwargs: Given.kwargs
    ) -> asyncio.Future[Result]:
        """Start the work; the future has its result or its exception."""
        begun = asyncio.wrap_future(self._worker.submit(work, *args, **kwargs))

        def done(future: asyncio.Future[Result]) -> None:
            error = _error_of(future)
            if isinstance(error, StorageError) and not isinstance(error, UnstorableDocument):
                self._on_failure(error)

        begun.add_done_callback(done)
        return begun

    def later(
        self, work: Callable[Given, object], *args: Given.args, **kwargs: Given.kwargs
    ) -> None:
        """Do the work without waiting for it; only a failure is reported."""

        def done(future: asyncio.Future[object]) -> None:
            error = _error_of(future)
            if isinstance(error, UnstorableDocument):
                self._on_failure(error)
            elif error is not None and not isinstance(error, StorageError):
                raise error  # the event loop logs it

        self.begin(work, *args, **kwargs).add_done_callback(done)

    def close(self) -> None:
        """Wait until everything is written."""
        self._worker.shutdown()


class Batches(Generic[Part, Result]):
    """Collects parts that arrive within a moment, which a Writer writes together.

    `write` takes the parts of a batch in their order, and returns a result for each.
    """

    def __init__(self, writer: Writer, write: Callable[[Sequence[Part]], Sequence[Result]]) -> None:
        self._writer = writer
        self._write = write
        self._parts: list[Part] = []
        self._waiting: dict[int, asyncio.Future[Result]] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._pause = PAUSE

    async def do(self, part: Part) -> Result:
        """Return the result of the part; raise the exception of its batch."""
        future: asyncio.Future[Result] = asyncio.get_running_loop().create_future()
        self._waiting[len(self._parts)] = future
        self.later(part)
        return await future

    def later(self, part: Part) -> None:
        """Write the part without waiting for it; only a failure is reported."""
        self._parts.append(part)
        if len(self._parts) >= MAX_PARTS:
            self.flush()
        elif self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(self._pause, self.flush)

    def flush(self) -> None:
        """Start writing the parts collected so far."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._parts:
            batch = self._writer.begin(self._write, self._parts)
            batch.add_done_callback(partial(_share, self._waiting))
            self._pause = LONG_PAUSE if len(self._parts) >= BUSY_BATCH else PAUSE
            self._parts, self._waiting = [], {}


def _share(
    waiting: Mapping[int, asyncio.Future[Result]], batch: asyncio.Future[Sequence[Result]]
) -> None:
    """Set the results of a batch on the futures of its parts."""
    error = _error_of(batch)
    for place, future in waiting.items():
        if future.done():
            continue
        if error is None:
            future.set_result(batch.result()[place])
        else:
            future.set_exception(error)
    if error is not None and not waiting and not isinstance(error, StorageError):
        raise error  # the event loop logs it


def _error_of(future: asyncio.Future[Result]) -> BaseException | None:
    return None if future.cancelled() else future.exception()
