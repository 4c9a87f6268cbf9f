"""Tasks for worker processes, which import this module."""

import os
import sys
from collections.abc import Sequence


def is_imported(module: str) -> bool:
    """Return whether this process has imported the module."""
    return module in sys.modules


def allocate(number: int) -> int:
    """Allocate and free a number of bytes; return it."""
    return len(bytearray(number))


def allocate_or_exit(number: int) -> int:
    """Allocate and free a number of bytes; 7 ends the process."""
    if number == 7:
        os._exit(1)
    return allocate(number)


def allocate_all_or_exit(numbers: Sequence[int]) -> list[int]:
    """Allocate and free some numbers of bytes, one after the other; 7 ends the process."""
    return [allocate_or_exit(number) for number in numbers]


def process_id(_: int) -> int:
    """Return the id of the process that does the work."""
    return os.getpid()
