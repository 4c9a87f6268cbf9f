"""One thread in which a crawl writes: two would only wait for each other's locks."""

import asyncio
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import ParamSpec, TypeVar

from newscrawl.storage.errors import StorageError, UnstorableDocument

Given = ParamSpec("Given")
Result = TypeVar("Result")


class Writer:
    """Carries out writes in their order, beside the event loop that asks for them.

    `on_failure` hears, in the event loop, of each StorageError but those that concern one document
    alone and are raised to whoever waits.
    """

    def __init__(self, on_failure: Callable[[StorageError], None]) -> None:
        self._on_failure = on_failure
        self._worker = ThreadPoolExecutor(1, "storage")

    async def do(
        self, work: Callable[Given, Result], *args: Given.args, **kwargs: Given.kwargs
    ) -> Result:
        """Return what the work returns; raises what it raises."""
        future = self._worker.submit(work, *args, **kwargs)
        try:
            return await asyncio.wrap_future(future)
        except UnstorableDocument:
            raise
        except StorageError as error:
            self._on_failure(error)
            raise

    def later(
        self, work: Callable[Given, object], *args: Given.args, **kwargs: Given.kwargs
    ) -> None:
        """Have the work done some time; only a failure is heard of."""
        loop = asyncio.get_running_loop()

        def done(future: Future[object]) -> None:
            error = future.exception()
            if isinstance(error, StorageError):
                loop.call_soon_threadsafe(self._on_failure, error)
            elif error is not None:
                loop.call_soon_threadsafe(_raise, error)

        self._worker.submit(work, *args, **kwargs).add_done_callback(done)

    def close(self) -> None:
        """Wait until all is written."""
        self._worker.shutdown()


def _raise(error: BaseException) -> None:
    """Let the event loop log what nobody waits for."""
    raise error
