"""Tasks for worker processes, which import this module."""

import sys


def is_imported(module: str) -> bool:
    """Return whether this process has imported the module."""
    return module in sys.modules


def allocate(number: int) -> int:
    """Allocate and free a number of bytes; return it."""
    return len(bytearray(number))
