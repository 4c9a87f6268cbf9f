"""Work of worker processes; a module of its own, since each of them imports it."""

import sys


def is_imported(module: str) -> bool:
    """Whether this process has imported the module."""
    return module in sys.modules


def allocate(number: int) -> int:
    """Take so many bytes of memory, and give them back."""
    return len(bytearray(number))
