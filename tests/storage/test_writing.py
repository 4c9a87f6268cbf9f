"""The one thread that writes for a crawl."""

import asyncio
import threading
from collections.abc import Callable, Sequence
from typing import Never

import pytest

from newscrawl.storage import StorageError, UnstorableDocument
from newscrawl.storage.batch import BUSY_BATCH, LONG_PAUSE, MAX_PARTS, Batches, Writer


def fail(error: Exception) -> Never:
    raise error


def test_work_is_done_in_order_in_one_thread():
    threads: list[int] = []
    done: list[int] = []

    def work(number: int) -> int:
        threads.append(threading.get_ident())
        done.append(number)
        return number * 2

    async def scenario() -> int:
        writer = Writer(fail)
        for number in range(5):
            writer.later(work, number)
        result = await writer.do(work, 5)
        writer.close()
        return result

    assert asyncio.run(scenario()) == 10
    assert done == [0, 1, 2, 3, 4, 5]
    assert set(threads) != {threading.get_ident()}
    assert len(set(threads)) == 1


@pytest.mark.parametrize("put_off", [False, True], ids=["waited for", "put off"])
@pytest.mark.parametrize(
    ("error", "heard"),
    [(StorageError("the disk is full"), True), (UnstorableDocument("no URL"), False)],
    ids=["database", "document"],
)
def test_failure_is_reported_unless_its_caller_receives_it(error, heard, put_off):
    reported: list[StorageError] = []

    async def scenario() -> None:
        writer = Writer(reported.append)
        if put_off:
            writer.later(fail, error)
        else:
            with pytest.raises(StorageError, match=str(error)):
                await writer.do(fail, error)
        await writer.do(int)
        await asyncio.sleep(0)
        writer.close()

    asyncio.run(scenario())
    assert reported == ([error] if heard or put_off else [])


def logged(begin: Callable[[Writer], None]) -> list[type[BaseException]]:
    """What the event loop logs of work that nobody waits for."""
    kinds: list[type[BaseException]] = []

    async def scenario() -> None:
        asyncio.get_running_loop().set_exception_handler(
            lambda _, context: kinds.append(type(context["exception"]))
        )
        writer = Writer(fail)
        begin(writer)
        await writer.do(int)
        await asyncio.sleep(0)
        writer.close()

    asyncio.run(scenario())
    return kinds


def test_bug_in_deferred_work_is_logged():
    assert logged(lambda writer: writer.later(fail, KeyError("oops"))) == [KeyError]


def test_concurrent_parts_are_written_in_one_batch():
    batches_written: list[list[int]] = []

    def write(parts: Sequence[int]) -> list[int]:
        batches_written.append(list(parts))
        return [part * 2 for part in parts]

    async def scenario() -> list[int]:
        writer = Writer(fail)
        batches = Batches(writer, write)
        batches.later(0)
        first = await asyncio.gather(batches.do(1), batches.do(2))
        second = await batches.do(3)
        writer.close()
        return [*first, second]

    assert asyncio.run(scenario()) == [2, 4, 6]
    assert batches_written == [[0, 1, 2], [3]]


def test_full_batch_is_written_at_once():
    sizes: list[int] = []

    def write(parts: Sequence[int]) -> Sequence[int]:
        sizes.append(len(parts))
        return parts

    async def scenario() -> list[int]:
        writer = Writer(fail)
        batches = Batches(writer, write)
        results = await asyncio.gather(*map(batches.do, range(2 * MAX_PARTS + 1)))
        writer.close()
        return results

    assert asyncio.run(scenario()) == list(range(2 * MAX_PARTS + 1))
    assert sizes == [MAX_PARTS, MAX_PARTS, 1]


def test_waiting_callers_receive_the_error_of_their_batch():
    reported: list[StorageError] = []
    error = StorageError("the disk is full")

    async def scenario() -> list[int | BaseException]:
        writer = Writer(reported.append)
        batches: Batches[int, int] = Batches(writer, lambda _: fail(error))
        batches.later(0)
        results = await asyncio.gather(batches.do(1), batches.do(2), return_exceptions=True)
        writer.close()
        return results

    assert asyncio.run(scenario()) == [error, error]
    assert reported == [error]


def test_bug_in_a_deferred_batch_is_logged():
    def begin(writer: Writer) -> None:
        batches: Batches[int, int] = Batches(writer, lambda _: fail(KeyError("oops")))
        batches.later(1)
        batches.flush()

    assert logged(begin) == [KeyError]


def test_pending_parts_are_written_on_close():
    parts_written: list[int] = []

    def write(parts: Sequence[int]) -> Sequence[int]:
        parts_written.extend(parts)
        return parts

    async def scenario() -> None:
        writer = Writer(fail)
        batches = Batches(writer, write)
        batches.later(1)
        batches.flush()
        writer.close()

    asyncio.run(scenario())
    assert parts_written == [1]


def test_batch_wait_adapts_to_the_load():
    async def seconds(batches: Batches[int, int], parts: int) -> float:
        began = asyncio.get_running_loop().time()
        await asyncio.gather(*(batches.do(part) for part in range(parts)))
        return asyncio.get_running_loop().time() - began

    async def scenario() -> list[float]:
        writer = Writer(fail)
        batches: Batches[int, int] = Batches(writer, list)
        took = [await seconds(batches, parts) for parts in (BUSY_BATCH, 1, 1, 1, 1)]
        writer.close()
        return took

    _, after_crowd, *after_one = asyncio.run(scenario())
    assert after_crowd >= LONG_PAUSE
    assert min(after_one) < LONG_PAUSE
